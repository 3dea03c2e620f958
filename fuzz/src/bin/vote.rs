//! Any reply is a vote or a failure, within bounds. A vote that is written as JSON is read as the same vote.
#![no_main]

use fathom_core::unit::PerMille;
use fathom_programs::council::{REASONING_CHARS_MAX, read};
use libfuzzer_sys::fuzz_target;
use serde_json::json;

fuzz_target!(|reply: &[u8]| {
    let Ok(said) = read(&String::from_utf8_lossy(reply)) else {
        return;
    };
    assert!(said.reasoning.chars().count() <= REASONING_CHARS_MAX);
    assert!(!said.reasoning.contains(char::is_control));
    assert!(said.confidence <= Some(PerMille::ALL));
    assert_ne!(said.passage, Some(0));

    let percent = said
        .confidence
        .map(|share| format!("{}.{} %", share.get() / 10, share.get() % 10));
    let written = json!({
        "reasoning": said.reasoning,
        "source": said.passage,
        "vote": said.vote,
        "confidence": percent,
    });
    let fenced = format!("Here it is:\n```json\n{written:#}\n```\n");
    assert_eq!(read(&written.to_string()).as_ref(), Ok(&said));
    assert_eq!(read(&fenced).as_ref(), Ok(&said));
});
