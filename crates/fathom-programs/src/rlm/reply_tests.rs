use super::{RlmAction, read};

fn code(text: &str) -> RlmAction {
    RlmAction::Code(text.to_owned())
}

#[test]
fn r01_code_is_found_in_what_models_write() {
    let cases: &[(&str, RlmAction)] = &[
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
        // So are fences in a string, if a later one closes the block.
        (
            "```repl\np = f\"\"\"Read:\n```\n{x}\n```\nReply JSON.\"\"\"\nllm_query(p)\n```\nThat asks.",
            code("p = f\"\"\"Read:\n```\n{x}\n```\nReply JSON.\"\"\"\nllm_query(p)"),
        ),
        (
            "```python\np = '''Write:\n```python\nx = 1\n```\n'''\nprint(p)```",
            code("p = '''Write:\n```python\nx = 1\n```\n'''\nprint(p)"),
        ),
        (
            "```python\ns = \"\"\"not closed\n```\nand\n```python\nprint(2)\n```",
            code("s = \"\"\"not closed\n\nprint(2)"),
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
        // A fence that closes at the end of a line of code.
        ("```repl\nprint(1)```\nThat shows it.", code("print(1)")),
        (
            "```repl\nx = 1\nprint(x)```\nand\n```repl\nprint(2)\n```",
            code("x = 1\nprint(x)\n\nprint(2)"),
        ),
        (
            "```python\ns = \"\"\"# it's\nprint(1)```\n\"\"\"\n```",
            code("s = \"\"\"# it's\nprint(1)```\n\"\"\""),
        ),
        (
            "```text\nUse ```x```\nprint(1)\n```\nSUBMIT(1)",
            code("SUBMIT(1)"),
        ),
        ("```json\n{\"a\": 1}\n```", RlmAction::Prose),
        ("```bash\nrm -rf /\n```", RlmAction::Prose),
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
        ("<think>I wonder ```python\nbad()\n```", RlmAction::Prose),
    ];
    for (reply, expected) in cases {
        assert_eq!(read(reply).turn, *expected, "{reply:?}");
    }
}

#[test]
fn r02_submissions_are_found_outside_of_any_block() {
    let cases: &[(&str, RlmAction)] = &[
        // Submissions without a fence.
        ("SUBMIT(\"Paris\")", code("SUBMIT(\"Paris\")")),
        (
            "I am done.\nFINAL(The answer is (about) 42.)",
            RlmAction::Final("The answer is (about) 42.".into()),
        ),
        ("FINAL(\"42\")", code("FINAL(\"42\")")),
        ("FINAL_VAR(result)", code("FINAL_VAR(result)")),
        (
            "FINAL(cut off in the mid",
            RlmAction::Final("cut off in the mid".into()),
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
        ("FINAL(42)\n(see above)", RlmAction::Final("42".into())),
        ("FINAL(42) (see above)", RlmAction::Final("42".into())),
        (
            "FINAL(It's web-3. They don't know.)\nThat's all (for now).",
            RlmAction::Final("It's web-3. They don't know.".into()),
        ),
        (
            "FINAL('tis web-3)\nDone.",
            RlmAction::Final("'tis web-3".into()),
        ),
        (
            "FINAL(There are two: 1) disk 2) fan)",
            RlmAction::Final("There are two: 1) disk 2) fan".into()),
        ),
        (
            "FINAL(A sad :( answer)",
            RlmAction::Final("A sad :( answer".into()),
        ),
        (
            "FINAL(The causes are: 1) disk, 2) fan)",
            RlmAction::Final("The causes are: 1) disk, 2) fan".into()),
        ),
        (
            "```answer\nSUBMIT(\"web-3\")\n```",
            code("SUBMIT(\"web-3\")"),
        ),
        // Words.
        ("", RlmAction::Prose),
        ("I will call SUBMIT(x) later.", RlmAction::Prose),
        ("Use ```print``` to see it.", RlmAction::Prose),
        ("```python\n\n```", RlmAction::Prose),
    ];
    for (reply, expected) in cases {
        assert_eq!(read(reply).turn, *expected, "{reply:?}");
    }
}

/// Code that submits the value of a variable, if there is one.
fn variable(name: &str) -> String {
    format!(
        "try:\n    if type({name}) not in (type(print), type(list), type(FINAL)):\n        FINAL({name})\nexcept NameError:\n    pass"
    )
}

#[test]
fn r02_what_is_code_in_a_final_answer_is_run() {
    for inner in [
        "f\"It is {x}\"",
        "rf'{x}: {y}'",
        "f\"{data[\"host\"]}\"",
        "str(result)",
        "data[\"host\"]",
        "data['a'][0].strip()",
        "\", \".join(names)",
        "\"%s is %d\" % (name, 3)",
        "\"It is \" + host",
        "'a' 'b'.upper()",
        "\"\\n\".join(f\"{k}: {v}\" for k, v in sorted(counts.items(), key=lambda p: -p[1]) if v >= 2)",
        "len(rows) // 2 + 1",
        "answers[0] if answers else 'none'",
        "max(\n    rows,\n    key=len,\n)",
        "[\"a\", b]",
    ] {
        let call = format!("FINAL({inner})");
        assert_eq!(read(&call).turn, code(&call), "{inner}");
        let then = format!("{call}\nThat is it.");
        assert_eq!(read(&then).turn, code(&call), "{inner}");
    }
    for inner in [
        "f(x) is what they call it",
        "web-3",
        "42",
        "e.g. web-3",
        "Paris (France)",
        "O(n log n)",
        "disk.",
        "\"Yes\" she said",
        "\"Yes\". She said so.",
        "\"A\" (in the log)",
        "None",
        "True",
        "3.5 % of them",
        "Zürich",
        "a = b",
        "x, y",
        "f'tis so",
    ] {
        let words = RlmAction::Final(inner.to_owned());
        assert_eq!(read(&format!("FINAL({inner})")).turn, words, "{inner}");
    }
    for word in ["result", "Paris", "_x1", "example.com", "result.host"] {
        let expected = code(&format!("{}\nFINAL(\"{word}\")", variable(word)));
        assert_eq!(read(&format!("FINAL({word})")).turn, expected, "{word}");
    }
}

#[test]
fn r02_a_submission_below_code_is_run_with_it() {
    let block = "```repl\nresult = 3\n```\n\n";
    let with = |submission: &str| format!("result = 3\n\n{submission}");
    for submission in ["FINAL_VAR(result)", "SUBMIT(result)", "FINAL(str(result))"] {
        let reply = format!("Here:\n{block}{submission}\nDone.");
        assert_eq!(read(&reply).turn, code(&with(submission)), "{reply}");
    }
    let reply = format!("{block}FINAL(result)");
    assert_eq!(read(&reply).turn, code(&with(&variable("result"))));
    // Nobody has seen yet what the code prints.
    for submission in [
        "FINAL(It is web-3.)",
        "FINAL(\"web-3\")",
        "FINAL(cut off",
        "SUBMIT(result) comes next.",
    ] {
        let heard = read(&format!("Look:\n{block}{submission}"));
        assert_eq!(heard.turn, code("result = 3"), "{submission}");
        assert_eq!(heard.words, "", "{submission}");
    }
    let before = format!("SUBMIT(result)\n{block}");
    assert_eq!(read(&before).turn, code("result = 3"));
}

#[test]
fn r02_a_block_without_a_name_may_be_what_an_answer_rests_on() {
    let block = "```\n12:01 web-3 is down\n```\n";
    for (reply, expected) in [
        (
            format!("{block}SUBMIT(\"web-3\")"),
            code("SUBMIT(\"web-3\")"),
        ),
        (
            format!("SUBMIT(\"web-3\")\nas here:\n{block}"),
            code("SUBMIT(\"web-3\")"),
        ),
        (
            format!("{block}FINAL(It is web-3.)"),
            RlmAction::Final("It is web-3.".into()),
        ),
        (
            format!("FINAL(The log says:\n{block}So it is web-3.)"),
            RlmAction::Final(format!("The log says:\n{block}So it is web-3.")),
        ),
        // Code all the same.
        (
            "```\nresult = 3\n```\nFINAL_VAR(result)".to_owned(),
            code("result = 3\n\nFINAL_VAR(result)"),
        ),
        (
            "```\nprint(context[:9])\n```\nFINAL(It is web-3.)".to_owned(),
            code("print(context[:9])"),
        ),
    ] {
        assert_eq!(read(&reply).turn, expected, "{reply}");
    }
    let said = format!("It was web-3:\n{block}");
    let heard = read(&said);
    assert_eq!(heard.turn, code("12:01 web-3 is down"));
    assert_eq!(heard.words, said.trim());
    assert_eq!(read(block).words, "");
    assert_eq!(
        read("<think>Hm.</think>It was web-3.").words,
        "It was web-3."
    );
}

/// Each of these lines could end the block if the string before it were closed; looking anew each time would take hours.
#[test]
fn r03_a_reply_of_nothing_but_fences_is_read_all_the_same() {
    for line in ["a```\n", "```python\n", "```\n"] {
        let reply = format!("```python\ns = '''\n{}", line.repeat(300_000));
        let RlmAction::Code(code) = read(&reply).turn else {
            panic!("it is code");
        };
        assert!(code.starts_with("s = '''"), "{line}");
    }
}

#[test]
fn r01_blocks_are_found_however_models_begin_them() {
    let cases = [
        (
            "```tool_code\nx = 1\nprint(x)\n```",
            code("x = 1\nprint(x)"),
        ),
        (
            "```Python3.11\nx = 1\nprint(x)\n```",
            code("x = 1\nprint(x)"),
        ),
        ("```solution\nx = 1\nprint(x)\n```", code("x = 1\nprint(x)")),
        ("```mermaid\ngraph TD\n```", RlmAction::Prose),
        ("```output\nprint(1)\n```", RlmAction::Prose),
        (
            "- ```python\n  x = 1\n  print(x)\n  ```",
            code("x = 1\nprint(x)"),
        ),
        (
            "2. ```repl\n   x = 1\n   print(x)\n   ```",
            code("x = 1\nprint(x)"),
        ),
        ("\u{feff}```repl\nprint(1)\n```", code("print(1)")),
        (
            "\u{a0}```repl\n\u{a1} = 1\nif x:\n    print(1)\n```",
            code("\u{a1} = 1\nif x:\n    print(1)"),
        ),
        ("**Step 1:** ```python\nprint(1)\n```", code("print(1)")),
        ("Put it into ```python``` blocks.", RlmAction::Prose),
        (
            "```repl\nx = a -b\n- c\nprint(x)\n```",
            code("x = a -b\n- c\nprint(x)"),
        ),
    ];
    for (reply, expected) in cases {
        assert_eq!(read(reply).turn, expected, "{reply:?}");
    }
}

#[test]
fn r01_code_without_a_fence_is_run_as_a_whole() {
    let cases = [
        (
            "import re\nn = len(re.findall('o', context))\nSUBMIT(n)",
            code("import re\nn = len(re.findall('o', context))\nSUBMIT(n)"),
        ),
        (
            "I count the lines:\n\n<execute>\nn = 0\nfor line in context.splitlines():\n    if 'x' in line:\n        n += 1\nprint(n)\n</execute>\nThat shows it.",
            code(
                "n = 0\nfor line in context.splitlines():\n    if 'x' in line:\n        n += 1\nprint(n)",
            ),
        ),
        (
            "python\nif 'web-3' in context:\n    SUBMIT('web-3')\nelse:\n    SUBMIT('none')",
            code("if 'web-3' in context:\n    SUBMIT('web-3')\nelse:\n    SUBMIT('none')"),
        ),
        (
            "rows = [\nline\nfor line in context\n]\nprompt = '''\nRead this.\n'''\nprint(llm_query(prompt))",
            code(
                "rows = [\nline\nfor line in context\n]\nprompt = '''\nRead this.\n'''\nprint(llm_query(prompt))",
            ),
        ),
        // Words, though some of them stand in code.
        ("The total = 5 in the log.\nSUBMIT(5)", code("SUBMIT(5)")),
        ("x = 42 because it says so.\nSUBMIT(42)", code("SUBMIT(42)")),
        (
            "x = 42\nFINAL(The answer is 42.)",
            RlmAction::Final("The answer is 42.".into()),
        ),
        ("for example:\nthe log is empty", RlmAction::Prose),
        ("It was web-3 (see above).", RlmAction::Prose),
    ];
    for (reply, expected) in cases {
        assert_eq!(read(reply).turn, expected, "{reply:?}");
    }
}

#[test]
fn r02_words_in_final_are_an_answer_wherever_it_stands() {
    let words = |text: &str| RlmAction::Final(text.to_owned());
    let cases = [
        (
            "```repl\nFINAL(The total is 12.)\n```",
            words("The total is 12."),
        ),
        ("```repl\nFINAL(42)\n```", code("FINAL(42)")),
        ("```repl\nFINAL(total)\n```", code("FINAL(total)")),
        (
            "FINAL(Write it so:\n```python\nprint(1)\n```\nand run it.)",
            words("Write it so:\n```python\nprint(1)\n```\nand run it."),
        ),
        ("```repl\nx\n```\nFINAL(x is what I found.)", code("x")),
        ("**FINAL(It is web-3.)**", words("It is web-3.")),
        ("`SUBMIT(\"web-3\")`", code("SUBMIT(\"web-3\")")),
        ("`SUBMIT(x)` is what I would call.", RlmAction::Prose),
        ("`FINAL(` ends the work.", RlmAction::Prose),
    ];
    for (reply, expected) in cases {
        assert_eq!(read(reply).turn, expected, "{reply:?}");
    }
}

proptest::proptest! {
    /// Whatever a model writes, its reply is read, and what is run of it stands in it.
    #[test]
    fn r01_any_reply_is_read(parts in proptest::collection::vec(proptest::sample::select(PARTS), 0..40)) {
        let reply = parts.concat();
        let heard = read(&reply);
        if let RlmAction::Code(code) = &heard.turn {
            let letters = |text: &str| text.split_whitespace().collect::<String>();
            let said = letters(&reply);
            // What a submission becomes below is made here.
            for line in code.lines().take_while(|line| !line.starts_with("try:")) {
                let line = letters(line);
                proptest::prop_assert!(said.contains(line.trim_end_matches(')')), "{line:?} of {code:?}");
            }
        }
        proptest::prop_assert!(heard.words.len() <= reply.len());
    }
}

/// What replies are made of.
const PARTS: &[&str] = &[
    "\n",
    "\n",
    "\n",
    "```",
    "```",
    "````",
    "~~~",
    "repl",
    "python",
    "json",
    "\"\"\"",
    "'''",
    "\"",
    "'",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "\\",
    "#",
    "*",
    "`",
    "- ",
    "1. ",
    "> ",
    " ",
    "    ",
    "\t",
    "\u{feff}",
    "\u{a0}",
    "\u{a1}",
    "é",
    "日本",
    "x",
    " = ",
    "x = 1",
    "print(",
    "FINAL(",
    "FINAL_VAR(",
    "SUBMIT(",
    "<think>",
    "</think>",
    "<Thinking>",
    "for x in context:",
    "import re",
    "if x:",
    "The answer is 42.",
    "f\"{x}\"",
    ",",
    ":",
    "=",
    "==",
    "\r\n",
];
