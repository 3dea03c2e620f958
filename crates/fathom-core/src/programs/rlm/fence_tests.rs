use super::{Turn, read};

fn code(text: &str) -> Turn {
    Turn::Code(text.to_owned())
}

#[test]
fn r01_code_is_found_in_what_models_write() {
    let cases: &[(&str, Turn)] = &[
        ("```repl\nprint(1)\n```", code("print(1)")),
        (
            "Let me look.\n\n```python\nx = 1\nprint(x)\n```\nThat shows it.",
            code("x = 1\nprint(x)"),
        ),
        (
            "```py\na = 1\n```\nand\n```python3\nb = 2\n```",
            code("a = 1\n\nb = 2"),
        ),
        ("```\nprint(context[:9])\n```", code("print(context[:9])")),
        ("```repl\nprint(1)", code("print(1)")),
        ("~~~python\nprint(1)\n~~~", code("print(1)")),
        (
            "````python\ns = '''\n```\n'''\n````",
            code("s = '''\n```\n'''"),
        ),
        ("  ```python\n  print(1)\n  ```", code("  print(1)")),
        // Only what is meant to be run is run.
        ("```repl\nprint(1)\n```\n```\n1\n```", code("print(1)")),
        ("```json\n{\"a\": 1}\n```", Turn::Prose),
        ("```bash\nrm -rf /\n```", Turn::Prose),
        (
            "```text\nSUBMIT(1)\n```\n```python\nprint(2)\n```",
            code("print(2)"),
        ),
        (
            "<think>```python\nbad()\n```</think>\n```python\ngood()\n```",
            code("good()"),
        ),
        ("<think>I wonder ```python\nbad()\n```", Turn::Prose),
        // Submissions without a fence.
        ("SUBMIT(\"Paris\")", code("SUBMIT(\"Paris\")")),
        (
            "I am done.\nFINAL(The answer is (about) 42.)",
            Turn::Final("The answer is (about) 42.".into()),
        ),
        ("FINAL(\"42\")", code("FINAL(\"42\")")),
        ("FINAL_VAR(result)", code("FINAL_VAR(result)")),
        (
            "FINAL(cut off in the mid",
            Turn::Final("cut off in the mid".into()),
        ),
        // Words.
        ("", Turn::Prose),
        ("I will call SUBMIT(x) later.", Turn::Prose),
        ("Use ```print``` to see it.", Turn::Prose),
        ("```python\n\n```", Turn::Prose),
    ];
    for (reply, expected) in cases {
        assert_eq!(read(reply), *expected, "{reply:?}");
    }
}
