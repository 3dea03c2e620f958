//! A text in pieces comes out as it does in one, with the same findings, and every finding is a place in the text.
#![no_main]

use std::sync::LazyLock;

use fathom_output::redact::{RedactRules, TextRedactor};
use libfuzzer_sys::fuzz_target;

static REDACTOR: LazyLock<TextRedactor> = LazyLock::new(|| {
    let rules = RedactRules::builtin().expect("the built-in rules can be read");
    TextRedactor::new(&rules, None).expect("the built-in rules can be used")
});

/// Copies of the text, so that short inputs reach the end of a window too.
const COPIES: [usize; 3] = [1, 2, 40];

fuzz_target!(|input: &[u8]| {
    // The first bytes say how the rest is cut.
    let (sizes, text) = input.split_at(input.len().min(4));
    let copies = COPIES[sizes.first().map_or(0, |size| usize::from(*size)) % COPIES.len()];
    let text = text.repeat(copies);
    let lossy = String::from_utf8_lossy(&text);
    let whole = REDACTOR.redact(&lossy);
    for span in &whole.spans {
        assert!(
            lossy
                .get(span.start..span.end)
                .is_some_and(|found| !found.is_empty())
        );
    }

    let mut stream = REDACTOR.stream();
    let mut shown = String::new();
    let mut rest = text.as_slice();
    let mut sizes = sizes.iter().cycle();
    while let Some(size) = sizes.next().filter(|_| !rest.is_empty()) {
        let (piece, after) = rest.split_at(rest.len().min(usize::from(*size) + 1));
        shown.push_str(&stream.push_bytes(piece));
        rest = after;
    }
    shown.push_str(&stream.finish());
    assert_eq!(shown, whole.text);
    assert_eq!(stream.take_spans(), whole.spans);
});
