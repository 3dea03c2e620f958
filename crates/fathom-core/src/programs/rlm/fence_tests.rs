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
        ("```python\na = 1\n\n```repl\nb = 2", code("a = 1\n\nb = 2")),
        // Other languages in it are its text.
        (
            "```python\ns = \"\"\"\n```json\n\"\"\"\n```",
            code("s = \"\"\"\n```json\n\"\"\""),
        ),
        ("~~~python\nprint(1)\n~~~", code("print(1)")),
        (
            "````python\ns = '''\n```\n'''\n````",
            code("s = '''\n```\n'''"),
        ),
        ("  ```python\n  print(1)\n  ```", code("print(1)")),
        (
            "1. Look:\n   ```python\n   if x:\n       print(1)\n\n   print(2)\n   ```\n2. Then more.",
            code("if x:\n    print(1)\n\nprint(2)"),
        ),
        (
            "   ```python\n x = '''\na'''\n   ```",
            code("x = '''\na'''"),
        ),
        (
            "\t```python\n\tif x:\n\t\tprint(1)\n\t```",
            code("if x:\n\tprint(1)"),
        ),
        (
            "> ```python\n> print(1)\n>\n> print(2)\n> ```",
            code("print(1)\n\nprint(2)"),
        ),
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
        (
            "<think>Hm.</think>```python\nx = t.split(\"</think>\")[1]\n```",
            code("x = t.split(\"</think>\")[1]"),
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
        // What is said after them is no part of them.
        (
            "SUBMIT(\"Paris\")\n\nThat is (as I said) it.",
            code("SUBMIT(\"Paris\")"),
        ),
        ("SUBMIT(len(x)) # (done)", code("SUBMIT(len(x))")),
        (
            "SUBMIT({\n  'a)': [\"it's :)\", '''don't)''', \"\\\")\"],\n})\nDone :)",
            code("SUBMIT({\n  'a)': [\"it's :)\", '''don't)''', \"\\\")\"],\n})"),
        ),
        ("SUBMIT(\"cut off", code("SUBMIT(\"cut off")),
        ("FINAL_VAR(result)\nThe end.", code("FINAL_VAR(result)")),
        ("FINAL(\"42\") (see above)", code("FINAL(\"42\")")),
        ("FINAL(42)\n(see above)", Turn::Final("42".into())),
        ("FINAL(42) (see above)", Turn::Final("42".into())),
        (
            "FINAL(It's web-3. They don't know.)\nThat's all (for now).",
            Turn::Final("It's web-3. They don't know.".into()),
        ),
        ("FINAL('tis web-3)\nDone.", Turn::Final("'tis web-3".into())),
        (
            "FINAL(There are two: 1) disk 2) fan)",
            Turn::Final("There are two: 1) disk 2) fan".into()),
        ),
        (
            "FINAL(A sad :( answer)",
            Turn::Final("A sad :( answer".into()),
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
