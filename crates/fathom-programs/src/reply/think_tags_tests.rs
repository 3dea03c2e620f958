use super::after_thoughts;

#[test]
fn h04_thoughts_end_where_the_reply_begins() {
    let code = "```python\nx = re.sub(r'<think>.*?</think>', '', t)\n```";
    let cases = [
        ("<think>Hm.</think>Yes.", "Yes."),
        ("\n <think>Hm.</think><think>So.</think>Yes.", "Yes."),
        ("Hm.</think>Yes.", "Yes."),
        ("<think>It never ends", ""),
        (
            "<Thinking>\nMaybe:\nFINAL(bad)\n</Thinking>\nYes.",
            "\nYes.",
        ),
        ("<think>Hm.</think> Yes.", "Yes."),
        ("<think>Hm.</think>  - Yes.", "  - Yes."),
        ("\u{feff}<think>Hm.</think>Yes.", "Yes."),
        ("<think>\u{130} \u{212a}</think>Yes.", "Yes."),
        ("[THINK]Hm.[/THINK]<scratchpad>x</scratchpad>Yes.", "Yes."),
        ("Yes.", "Yes."),
        ("Yes. <think>Or no", "Yes. <think>Or no"),
        (code, code),
        (
            "t = re.sub(r'(<think>.*?</think>)', '', t)",
            "t = re.sub(r'(<think>.*?</think>)', '', t)",
        ),
        ("<think>I split at \"</think>\".</think>a = 1", "a = 1"),
        ("x = t.split('</think>')[1]", "x = t.split('</think>')[1]"),
        ("<think>It is `</think>`, I think.</think>Yes.", "Yes."),
        ("<think>Hm.</think>```repl\nx\n```", "```repl\nx\n```"),
    ];
    for (reply, said) in cases {
        assert_eq!(after_thoughts(reply), said, "{reply:?}");
    }
    let reply = format!("<think>How?</think>{code}");
    assert_eq!(after_thoughts(&reply), code);
}

/// Templates of chats begin the first thought, and the reply has its end alone.
#[test]
fn h04_a_reply_may_begin_inside_a_thought() {
    for (reply, said) in [
        ("Hm. </think> Yes.", "Yes."),
        ("so it is\n</think>\n\nYes.", "\n\nYes."),
        ("Is it {\"vote\":\"no\"}?</think>Yes.", "Yes."),
        (
            "Is it {\"vote\":\"n</think>{\"vote\":\"yes\"}",
            "{\"vote\":\"yes\"}",
        ),
        ("{\"a\":\"</think>\"} it is.</think>Yes.", "Yes."),
        ("{so}</think><thinking>Hm.</thinking>Yes.", "Yes."),
    ] {
        assert_eq!(after_thoughts(reply), said, "{reply:?}");
    }
    // A word of a sentence, a part of an object, and of one that was cut.
    for reply in [
        "Write </think> at the end.",
        "It begins with <think> and ends with</think>.",
        "{\"reply\":\"so</think>it is\",\"next_phase\":\"b\"}",
        "Here:\n{\"reply\":\"so</think>it is\"}",
        "{\"reply\":\"so</think>it",
        "```json\n{\"reply\":\"so</think>it",
        "Hm.</thinking>Yes.",
    ] {
        assert_eq!(after_thoughts(reply), reply);
    }
}
