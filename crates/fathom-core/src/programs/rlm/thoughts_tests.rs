use super::after_thoughts;

#[test]
fn r01_thoughts_end_where_the_reply_begins() {
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
    ];
    for (reply, said) in cases {
        assert_eq!(after_thoughts(reply), said, "{reply:?}");
    }
    let reply = format!("<think>How?</think>{code}");
    assert_eq!(after_thoughts(&reply), code);
}
