//! Texts that are made to cost much. The work is counted, not timed.

use fathom_output::redact::TextRedactor;

use super::redactor;

const TEXT_BYTES: usize = 256 << 10;
/// Bytes that may be looked at for each byte that arrives.
const STEPS_PER_BYTE_MAX: u64 = 80;

/// What was looked at in a text of a size, made of a pattern.
fn steps(redactor: &TextRedactor, pattern: &str, size: usize) -> u64 {
    let text = pattern.repeat(size / pattern.len());
    let mut stream = redactor.stream();
    let _shown = stream.push(&text);
    let _rest = stream.finish();
    stream.steps()
}

#[test]
fn g10_no_text_costs_more_than_its_length() {
    let redactor = redactor();
    for pattern in [
        ".",
        "7",
        "@",
        "a.a.a.",
        "a@",
        "a@a.",
        "1.",
        "1 ",
        "1-1.",
        "(1) ",
        "+1",
        "+49 1 ",
        "-",
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY-----\n",
        "-----BEGIN PRIVATE KEY----- ",
        "-----END ",
        "eyJ",
        "eyJ-",
        "eyJ.",
        "://",
        "a://b:",
        "a://",
        "password=",
        "password: \"",
        "token ",
        "tel 1 ",
        "born 1.1.1990 ",
        "dob ",
        "::",
        "1:",
        "f:",
        "ab:",
        "ab-",
        "DE89 ",
        "AB 12 ",
        "X-",
        "\"",
        "0x",
        "sk-",
        "ghp_",
        "é",
        "e\u{301}",
        "\n",
        ". A",
        "a. B",
        "kill yourself ",
        "sh1t ",
        "I will kill ",
        "[",
        "[email~",
    ] {
        let (half, whole) = (
            steps(&redactor, pattern, TEXT_BYTES / 2),
            steps(&redactor, pattern, TEXT_BYTES),
        );
        let per_byte = whole / TEXT_BYTES as u64;
        assert!(
            whole <= half * 2 + half / 10,
            "{pattern:?} grows from {half} to {whole}"
        );
        assert!(
            per_byte <= STEPS_PER_BYTE_MAX,
            "{pattern:?} looks at each byte {per_byte} times"
        );
    }
}
