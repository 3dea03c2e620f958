use proptest::prelude::*;

use super::*;

/// Fences that are open after a message.
fn is_open(message: &str) -> bool {
    let mut fences = FenceTracker::default();
    fences.push(&format!("{message}\n"));
    fences.open().is_some()
}

#[test]
fn g09_a_short_text_is_one_message() {
    assert_eq!(split("Hello.", 10, ""), ["Hello."]);
    assert_eq!(split("Hello.\n\n", 10, ""), ["Hello."]);
    assert_eq!(split("Hello.", 10, "\n(x)"), ["Hello.\n(x)"]);
    assert_eq!(split(" \n", 10, "\n(x)"), [""; 0]);
    assert_eq!(split("```\nlet x", 10, ""), ["```\nlet x\n```"]);
}

#[test]
fn g09_long_texts_are_cut_where_a_reader_would() {
    let paragraph = "a".repeat(1_500);
    let text = format!("{paragraph}\n\n{paragraph}\nb");
    assert_eq!(
        split(&text, 10, ""),
        [paragraph.clone(), format!("{paragraph}\nb")]
    );

    let lines = "one line of text\n".repeat(300);
    for message in split(&lines, 10, "") {
        assert!(message.lines().all(|line| line == "one line of text"));
    }
    let words = "word ".repeat(900);
    for message in split(&words, 10, "") {
        assert!(message.split_whitespace().all(|word| word == "word"));
    }
    let crabs = "🦀".repeat(3_000);
    let messages = split(&crabs, 10, "");
    assert_eq!(messages.concat(), crabs);
}

#[test]
fn g09_code_stays_code_across_messages() {
    let code = "let x = 1;\n".repeat(400);
    let text = format!("Here:\n```rust\n{code}```\nDone.");
    let messages = split(&text, 10, "");
    assert!(messages.len() > 2);
    for (index, message) in messages.iter().enumerate() {
        assert!(!is_open(message), "{message}");
        if index > 0 {
            assert!(message.starts_with("```rust\nlet x"), "{message}");
        }
    }
    assert!(messages.last().unwrap().ends_with("```\nDone."));
}

#[test]
fn g09_a_block_without_end_fills_no_channel() {
    let messages = split(&"word ".repeat(1_000_000), 10, "");
    assert_eq!(messages.len(), 10);
    assert!(messages[9].ends_with("*(cut: there is more)*"));
    for hostile in [
        "`",
        "~",
        "```\n",
        "\n",
        "\n ",
        "~~~~~~~~~~~~~~\n",
        "``` a\n",
    ] {
        let text = hostile.repeat(100_000) + "x";
        for message in split(&text, 10, "") {
            assert!(units(&message) <= MESSAGE_UNITS_MAX, "{hostile:?}");
        }
    }
}

proptest! {
    #[test]
    fn g09_messages_fit_and_lose_nothing(
        parts in prop::collection::vec("```\n|~~~ 77\n|[a-z🦀 ]{0,40}\n|[a-zé]{0,900}|\n\n|\r\n", 0..60),
    ) {
        let text = parts.concat();
        let messages = split(&text, usize::MAX, "");
        for message in &messages {
            prop_assert!(units(message) <= MESSAGE_UNITS_MAX);
            prop_assert!(!message.trim().is_empty());
            prop_assert!(!is_open(message), "{:?}", message);
        }
        // Fences are added and doubled; what they enclose is there once.
        let letters = |text: &str| {
            text.chars().filter(|c| c.is_alphabetic() || *c == '🦀').collect::<String>()
        };
        prop_assert_eq!(letters(&messages.concat()), letters(&text));
    }
}
