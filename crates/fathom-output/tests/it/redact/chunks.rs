//! However a text is cut into pieces, what comes out is the same.

use fathom_output::redact::{EntitySpan, RedactedText, TextRedactor, WINDOW_BYTES};

use super::corpus::{self, Rng};
use super::{redactor, with_rules};

const TEXTS: usize = 500;
const FIXED_MAX: usize = 64;
const RANDOM_SPLITS: usize = 200;
const PIECES: usize = 7;

/// Texts of one to three samples, half of them with something to find, joined in different ways.
fn texts() -> Vec<String> {
    let mut rng = Rng::new(41);
    let labelled = corpus::labelled(5);
    let decoys = corpus::look_alikes(6);
    (0..TEXTS)
        .map(|_| {
            let mut text = String::new();
            for _ in 0..=rng.below(3) {
                let from = if rng.chance(60) { &labelled } else { &decoys };
                text.push_str(&from[rng.below(from.len())].text);
                text.push_str(rng.pick(&["", " ", "\n", ". ", "\r\n", "é", "! You bullsh1t. "]));
            }
            text
        })
        .collect()
}

fn pieces(redactor: &TextRedactor, text: &str, cuts: &[usize]) -> (String, Vec<EntitySpan>) {
    let bytes = text.as_bytes();
    let mut stream = redactor.stream();
    let mut shown = String::new();
    let mut from = 0;
    for &cut in cuts.iter().chain([&bytes.len()]) {
        shown.push_str(&stream.push_bytes(&bytes[from..cut]));
        from = cut;
    }
    shown.push_str(&stream.finish());
    (shown, stream.take_spans())
}

fn check(redactor: &TextRedactor, text: &str, whole: &RedactedText, cuts: &[usize]) {
    let (shown, spans) = pieces(redactor, text, cuts);
    assert_eq!(shown, whole.text, "{text:?} cut at {cuts:?}");
    assert_eq!(spans, whole.spans, "{text:?} cut at {cuts:?}");
}

fn random_cuts(rng: &mut Rng, length: usize) -> Vec<usize> {
    let mut cuts: Vec<usize> = (1..PIECES).map(|_| rng.below(length + 1)).collect();
    cuts.sort_unstable();
    cuts
}

#[test]
fn g10_every_split_into_two_gives_the_same() {
    let redactor = redactor();
    for text in texts() {
        let whole = redactor.redact(&text);
        for cut in 0..=text.len() {
            check(&redactor, &text, &whole, &[cut]);
        }
    }
}

#[test]
fn g10_every_size_of_pieces_gives_the_same() {
    let redactor = redactor();
    for text in texts() {
        let whole = redactor.redact(&text);
        for size in 1..=FIXED_MAX {
            let cuts: Vec<usize> = (size..text.len()).step_by(size).collect();
            check(&redactor, &text, &whole, &cuts);
        }
    }
}

#[test]
fn g10_random_splits_into_seven_give_the_same() {
    let redactor = redactor();
    let mut rng = Rng::new(77);
    for text in texts() {
        let whole = redactor.redact(&text);
        for _ in 0..RANDOM_SPLITS {
            let cuts = random_cuts(&mut rng, text.len());
            check(&redactor, &text, &whole, &cuts);
        }
    }
}

/// Lines of several windows, with something to find every few hundred bytes, and around the places where windows end.
#[test]
fn g10_lines_of_many_windows_give_the_same_and_hide_everything() {
    let redactor = redactor();
    let mut rng = Rng::new(9);
    for filler in ["lorem ipsum ", "abcdefgh", "é,ü;", "0x1f "] {
        let mut line = String::new();
        let mut planted = 0;
        while line.len() < 3 * WINDOW_BYTES {
            line.push_str(&filler.repeat(1 + rng.below(60)));
            line.push_str(" <ann.lee@example.org> ");
            planted += 1;
        }
        let whole = redactor.redact(&line);
        assert!(!whole.text.contains("ann.lee"), "something got through");
        assert_eq!(whole.spans.len(), planted);
        for _ in 0..8 {
            let cuts = random_cuts(&mut rng, line.len());
            check(&redactor, &line, &whole, &cuts);
        }
        let cuts: Vec<usize> = (997..line.len()).step_by(997).collect();
        check(&redactor, &line, &whole, &cuts);
    }
}

#[test]
fn keys_without_an_end_give_the_same() {
    let redactor = redactor();
    let mut rng = Rng::new(3);
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n".repeat(12);
    let open = "-----BEGIN RSA PRIVATE KEY-----";
    for text in [
        format!("a\n{open}\n{body}"),
        format!("a {open}\n{body}and then words. More words\n"),
        format!("{open}\n{body}{}", "more words go on\n".repeat(2_000)),
        format!("{}x\n{open} is how it begins\nb\n", "y ".repeat(9_000)),
        format!("{open}\n").repeat(300),
    ] {
        let whole = redactor.redact(&text);
        assert!(!whole.text.contains("MIIEvQ"), "a key got through");
        for _ in 0..20 {
            let cuts = random_cuts(&mut rng, text.len());
            check(&redactor, &text, &whole, &cuts);
        }
    }
}

/// A web token that is longer than a window goes as a whole.
#[test]
fn a_token_of_many_windows_goes_as_a_whole() {
    let redactor = redactor();
    let part = "Zm9vYmFy".repeat(8_000);
    let text = format!("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.{part} done");
    let whole = redactor.redact(&text);
    assert_eq!(whole.text, "[jwt] done");
    let mut rng = Rng::new(4);
    for _ in 0..20 {
        let cuts = random_cuts(&mut rng, text.len());
        check(&redactor, &text, &whole, &cuts);
    }
}

/// So does a secret, wherever a window ends in it or before it.
#[test]
fn g10_a_secret_of_any_length_goes_as_a_whole() {
    let redactor = redactor();
    let mut rng = Rng::new(5);
    let body = "Zq8mV7tR2xK9pL4w+".repeat(2_500);
    for bytes in [40, 512, 513, 700, 5_000, 40_000] {
        for before in [0, 11_900, 12_200, 12_288, 16_300] {
            let filler = "word ".repeat(before / 5);
            let text = format!("{filler}Bearer {} done", &body[..bytes]);
            let whole = redactor.redact(&text);
            assert_eq!(whole.text, format!("{filler}Bearer [secret] done"));
            for _ in 0..4 {
                let cuts = random_cuts(&mut rng, text.len());
                check(&redactor, &text, &whole, &cuts);
            }
        }
    }
    let long = format!("ghp_{}", "016C7e2fBLAq4XAOVtYvSNlRuCDXWz1ebx9T".repeat(3));
    let whole = redactor.redact(&format!("it is {long}."));
    assert_eq!(whole.text, "it is [secret].");
}

#[test]
fn bytes_that_are_no_text_give_what_a_lossy_reading_gives() {
    let redactor = redactor();
    let bytes = b"ann@example.org \xff\xfe caf\xc3\xa9 \xe2\x82 x \xf0\x9f\x99";
    let whole = redactor.redact(&String::from_utf8_lossy(bytes));
    for size in 1..bytes.len() {
        let mut stream = redactor.stream();
        let mut shown = String::new();
        for piece in bytes.chunks(size) {
            shown.push_str(&stream.push_bytes(piece));
        }
        shown.push_str(&stream.finish());
        assert_eq!(shown, whole.text, "in pieces of {size}");
    }
}

/// A rule of one's own that runs over everything must not change with the pieces either.
#[test]
fn greedy_patterns_give_the_same() {
    let redactor = with_rules(
        "format = 1\nversion = \"1\"\n[[policy]]\nid = \"greedy\"\nreason = \"r\"\naction = \"drop\"\npatterns = ['a.*z', '\\w+@']\n",
    );
    let mut rng = Rng::new(8);
    for text in texts().into_iter().take(60) {
        let whole = redactor.redact(&text);
        for _ in 0..40 {
            let cuts = random_cuts(&mut rng, text.len());
            check(&redactor, &text, &whole, &cuts);
        }
    }
}

/// Each segment begins at the same place, however the text arrives: a rule marks their first characters.
#[test]
fn g10_segments_begin_at_the_same_places() {
    let redactor = with_rules(
        "format = 1\nversion = \"1\"\n[[policy]]\nid = \"begin\"\nreason = \"r\"\naction = \"mask\"\npatterns = ['(?s)^.']\n",
    );
    for text in texts().into_iter().take(150) {
        let whole = redactor.redact(&text);
        for cut in 0..=text.len() {
            check(&redactor, &text, &whole, &[cut]);
        }
    }
}

/// What can be shown is shown: a sentence does not wait for the next one.
#[test]
fn a_sentence_is_shown_when_the_next_one_begins() {
    let redactor = redactor();
    let mut stream = redactor.stream();
    assert_eq!(stream.push("Hello there. "), "");
    assert_eq!(stream.push("M"), "Hello there. ");
    assert_eq!(stream.push("y line\nnext"), "My line\n");
    assert_eq!(stream.finish(), "next");
}
