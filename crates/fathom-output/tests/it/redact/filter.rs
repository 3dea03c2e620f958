//! A redactor as the filter of a channel, and of single lines.

use std::borrow::Cow;

use fathom_output::channels::{OutputChannel, OutputFilter};

use super::corpus;
use super::redactor;

#[test]
fn g10_a_channel_gets_what_the_redactor_gives() {
    let redactor = redactor();
    let text = "Write to ann@example.org. My card is 4111 1111 1111 1111, what a load of bullsh1t";
    let shown = redactor.redact(text).text;
    assert_eq!(
        shown,
        "Write to [email]. My card is [card], what a load of [profanity]"
    );
    for channel in OutputChannel::ALL {
        assert_eq!(
            OutputFilter::whole(&redactor, channel, text).as_str(),
            shown
        );
        for size in 1..text.len() {
            let mut sieve = OutputFilter::open(&redactor, channel);
            let mut passed = OutputFilter::whole(&redactor, channel, "");
            for piece in text.as_bytes().chunks(size) {
                passed.append(&sieve.push(str::from_utf8(piece).unwrap_or_default()));
            }
            passed.append(&sieve.finish());
            assert_eq!(passed.as_str(), shown, "{channel} in pieces of {size}");
        }
    }
}

#[test]
fn what_a_channel_gets_does_not_wait_for_the_end() {
    let redactor = redactor();
    let mut sieve = OutputFilter::open(&redactor, OutputChannel::Cli);
    let first = sieve.push("mail ann@example.org\nand then");
    assert_eq!(first.as_str(), "mail [email]\n");
    assert_eq!(sieve.finish().as_str(), "and then");
}

#[test]
fn a_line_in_which_nothing_is_found_is_not_copied() {
    let redactor = redactor();
    for line in [
        "",
        "run 12 took 4 ms",
        "Two sentences. One line.\n",
        "Köln: 12 Uhr",
    ] {
        assert!(
            matches!(redactor.masked(line), Cow::Borrowed(same) if same == line),
            "{line:?}"
        );
    }
    assert_eq!(
        redactor.masked("a. B: ann@example.org.\nc"),
        "a. B: [email].\nc"
    );
}

#[test]
fn a_masked_line_is_what_the_whole_filter_gives() {
    let redactor = redactor();
    let long = format!("{}ann@example.org", "x ".repeat(20_000));
    for sample in corpus::labelled(12) {
        assert_eq!(
            redactor.masked(&sample.text),
            redactor.redact(&sample.text).text
        );
    }
    assert!(redactor.masked(&long).ends_with("x [email]"));
}
