//! One table of replies with what each way of reading makes of them.

use serde_json::Value;

use super::error::ReplyError;
use super::labels::{self, LabelValue};
use super::{after_thoughts, blocks, form, passes};
use crate::council::{self, VoteError};
use crate::motion::reply;
use crate::phases;
use crate::rlm::reply::{self as turn, RlmAction};
use fathom_core::channel::marker::FenceTracker;

/// A reply, and in words what it is as each of these. `-` is nothing.
#[derive(Clone, Copy)]
struct Case {
    reply: &'static str,
    /// A seat's vote, with its confidence in thousandths.
    vote: &'static str,
    /// A role's vote on a motion.
    ballot: &'static str,
    /// A critique's verdict.
    verdict: &'static str,
    /// A phase's payload.
    payload: &'static str,
    /// The form that a role of the agency fills in, and a recipe.
    form: &'static str,
    /// What a turn in a session wants.
    turn: &'static str,
    /// Its labels.
    labels: &'static str,
}

/// A reply that is nothing but words.
const WORDS: Case = Case {
    reply: "",
    vote: "no vote",
    ballot: "-",
    verdict: "-",
    payload: "-",
    form: "no object",
    turn: "words",
    labels: "",
};

/// What models write before they speak. None of it may count.
const THOUGHTS: [&str; 9] = [
    "<think>So?</think>",
    "\u{feff} <think>\nFAIL.\nVOTE: APPROVE\n{\"vote\":\"APPROVE\",\"confidence\":1}\n</think>\n\n",
    "<Thinking>PASS {\"next_phase\":\"x\"} {\"vote\":\"yes\"}</Thinking>\n",
    "[THINK]```python\nprint(0)\n```[/THINK]",
    "<reasoning>{</reasoning>",
    "<think>one</think><scratchpad>FINAL(two)</scratchpad> ",
    // Templates begin the thought themselves, and the reply goes on with it.
    "PASS? No: {\"vote\":\"APPROVE\"} is too much.\n</think>\n\n",
    "Is it {\"vote\": \"APPROVE</think>",
    "`</think>` ends it, I think.</think>\n",
];

fn vote(reply: &str) -> String {
    match council::read(reply) {
        Ok(said) => {
            let sure = said
                .confidence
                .map_or(String::new(), |sure| format!(" {}", sure.get()));
            format!("{}{sure}", said.vote)
        }
        Err(VoteError::Empty) => "empty".to_owned(),
        Err(VoteError::NoVote) => "no vote".to_owned(),
        Err(VoteError::Contradiction) => "contradiction".to_owned(),
        Err(VoteError::Confidence) => "no confidence".to_owned(),
    }
}

fn ballot(reply: &str) -> String {
    let said = reply::read(reply);
    said.map_or("-".to_owned(), |said| {
        format!("{} {}", said.ballot, said.confidence.get())
    })
}

fn verdict(reply: &str) -> String {
    let passes = passes(reply);
    passes
        .map_or("-", |passes| if passes { "PASS" } else { "FAIL" })
        .to_owned()
}

fn payload(reply: &str) -> String {
    let reading = phases::read(reply);
    match reading.payload {
        Some(payload) => Value::Object(payload).to_string(),
        None if reading.is_cut => "cut".to_owned(),
        None => "-".to_owned(),
    }
}

fn filled(reply: &str) -> String {
    match form::<Value>(reply) {
        Ok(value) => value.to_string(),
        Err(ReplyError::NoObject) => "no object".to_owned(),
        Err(ReplyError::Cut) => "cut".to_owned(),
        Err(ReplyError::Several) => "several".to_owned(),
        Err(ReplyError::Form(why)) => why,
    }
}

fn turn(reply: &str) -> String {
    match turn::read(reply).turn {
        RlmAction::Code(code) => format!("code: {code}"),
        RlmAction::Final(words) => format!("answer: {words}"),
        RlmAction::Prose => "words".to_owned(),
    }
}

fn labelled(reply: &str) -> String {
    let label = |stated| match stated {
        LabelValue::Vote(vote) => format!("vote {vote}"),
        LabelValue::Confidence(Ok(sure)) => format!("confidence {}", sure.get()),
        LabelValue::Confidence(Err(_)) => "no confidence".to_owned(),
        LabelValue::Source(number) => format!("source {number}"),
        LabelValue::Reasoning => "reasoning".to_owned(),
    };
    let labels = labels::all(after_thoughts(reply)).map(|found| label(found.stated));
    labels.collect::<Vec<_>>().join(", ")
}

/// A way of reading, and what a case says of it.
type Way = (&'static str, fn(&str) -> String, fn(&Case) -> &'static str);

const WAYS: [Way; 7] = [
    ("vote", vote, |case| case.vote),
    ("ballot", ballot, |case| case.ballot),
    ("verdict", verdict, |case| case.verdict),
    ("payload", payload, |case| case.payload),
    ("form", filled, |case| case.form),
    ("turn", turn, |case| case.turn),
    ("labels", labelled, |case| case.labels),
];

fn in_words() -> Vec<Case> {
    vec![
        Case {
            reply: "I have looked at it.",
            ..WORDS
        },
        Case {
            reply: "",
            vote: "empty",
            ..WORDS
        },
        Case {
            reply: "VOTE: REJECT\nCONFIDENCE: 80%",
            vote: "REJECT 800",
            labels: "vote REJECT, confidence 800",
            ..WORDS
        },
        Case {
            reply: "**Vote:** reject. **Confidence:** 0.8",
            vote: "REJECT 800",
            labels: "vote REJECT, confidence 800",
            ..WORDS
        },
        Case {
            reply: "APPROVE\nIt pays.",
            vote: "APPROVE",
            ..WORDS
        },
        Case {
            reply: "PASS. It is right.",
            verdict: "PASS",
            ..WORDS
        },
        Case {
            reply: "**FAIL**: it says nothing of the price.",
            verdict: "FAIL",
            ..WORDS
        },
        Case {
            reply: "Failed, for it is too long.",
            verdict: "FAIL",
            ..WORDS
        },
        Case {
            reply: "I think it should PASS.",
            ..WORDS
        },
        // Of two candidates the first word is the verdict, unless the two are a choice.
        Case {
            reply: "FAIL. It would PASS if it were shorter.",
            verdict: "FAIL",
            ..WORDS
        },
        Case {
            reply: "PASS or FAIL",
            ..WORDS
        },
        Case {
            reply: "PASS/FAIL: FAIL",
            ..WORDS
        },
        // Two votes that differ are none.
        Case {
            reply: "VOTE: APPROVE\nVOTE: REJECT",
            vote: "contradiction",
            labels: "vote APPROVE, vote REJECT",
            ..WORDS
        },
        Case {
            reply: "I cannot APPROVE this; VOTE: REJECT",
            vote: "REJECT",
            labels: "vote REJECT",
            ..WORDS
        },
        Case {
            reply: "FINAL(It is web-3.)",
            turn: "answer: It is web-3.",
            ..WORDS
        },
        Case {
            reply: "import re\nprint(len(context))",
            turn: "code: import re\nprint(len(context))",
            ..WORDS
        },
        // A mark of thoughts that is a word, or stands in quotes, ends none.
        Case {
            reply: "PASS: it tells what the </think> tag is for.",
            verdict: "PASS",
            ..WORDS
        },
        Case {
            reply: "PASS: `</think>` is told of.",
            verdict: "PASS",
            ..WORDS
        },
        // Thoughts that do not end say nothing, whatever stands in them.
        Case {
            reply: "<think>VOTE: REJECT\nPASS {\"vote\":\"REJECT\"}\n```python\nprint(1)\n```",
            ..WORDS
        },
        Case {
            reply: "[THINK]FAIL",
            ..WORDS
        },
    ]
}

fn in_json() -> Vec<Case> {
    const YES: &str = r#"{"reason":"It pays.","vote":"yes","confidence":87}"#;
    const YES_READ: Case = Case {
        ballot: "yes 870",
        payload: YES,
        form: YES,
        ..WORDS
    };
    const REJECT: &str = r#"{"vote":"REJECT","confidence":80}"#;
    const REJECT_READ: Case = Case {
        vote: "REJECT 800",
        payload: REJECT,
        form: REJECT,
        ..WORDS
    };
    const NEXT: &str = r#"{"reply":"On.","next_phase":"b"}"#;
    const NEXT_READ: Case = Case {
        payload: NEXT,
        form: NEXT,
        ..WORDS
    };
    vec![
        Case {
            reply: YES,
            ..YES_READ
        },
        Case {
            reply: "```json\n{\"reason\":\"It pays.\",\"vote\":\"yes\",\"confidence\":87}\n```",
            ..YES_READ
        },
        Case {
            reply: "Sure!\n\n{\"reason\":\"It pays.\",\"vote\":\"yes\",\"confidence\":87}\n\nThat is {my} vote.",
            ..YES_READ
        },
        Case {
            reply: "```\n{\"reason\":\"It pays.\",\"vote\":\"yes\",\"confidence\":87,}",
            turn: "code: {\"reason\":\"It pays.\",\"vote\":\"yes\",\"confidence\":87,}",
            ..YES_READ
        },
        Case {
            reply: REJECT,
            ..REJECT_READ
        },
        Case {
            reply: "~~~json\n{\"vote\":\"REJECT\",\"confidence\":80}\n~~~\nI hope this helps.",
            ..REJECT_READ
        },
        Case {
            reply: NEXT,
            ..NEXT_READ
        },
        Case {
            reply: "Here it is: {\"reply\":\"On.\",\"next_phase\":\"b\"} and so on.",
            ..NEXT_READ
        },
        Case {
            reply: "[{\"reply\":\"On.\",\"next_phase\":\"b\"}]",
            ..NEXT_READ
        },
        Case {
            reply: "{\"reply\":\"It ends </think> there.\",\"next_phase\":\"b\"}",
            payload: "{\"reply\":\"It ends </think> there.\",\"next_phase\":\"b\"}",
            form: "{\"reply\":\"It ends </think> there.\",\"next_phase\":\"b\"}",
            ..WORDS
        },
        Case {
            reply: "{\"reply\":\"<think>no</think>\nOn.\"}",
            payload: "{\"reply\":\"<think>no</think>\\nOn.\"}",
            form: "{\"reply\":\"<think>no</think>\\nOn.\"}",
            ..WORDS
        },
        Case {
            reply: "{'vote': 'REJECT'}",
            ..WORDS
        },
    ]
}

fn cut_or_twice() -> Vec<Case> {
    const REJECT: &str = r#"{"vote":"REJECT","confidence":80}"#;
    vec![
        // Cut.
        Case {
            reply: "{\"vote\":\"REJECT\",\"confidence\":8",
            payload: "cut",
            form: "cut",
            ..WORDS
        },
        Case {
            reply: "```json\n{\"reply\":\"the </think>",
            payload: "cut",
            form: "cut",
            ..WORDS
        },
        Case {
            reply: "VOTE: REJECT\n{\"reply\":\"the",
            vote: "REJECT",
            labels: "vote REJECT",
            payload: "cut",
            form: "cut",
            ..WORDS
        },
        // Of two objects a phase takes the first; votes must agree, and a form is none.
        Case {
            reply: "{\"vote\":\"REJECT\",\"confidence\":80}\n{\"vote\":\"APPROVE\",\"confidence\":80}",
            vote: "contradiction",
            payload: REJECT,
            form: "several",
            ..WORDS
        },
        Case {
            reply: "{\"vote\":\"REJECT\",\"confidence\":80} {\"vote\":\"REJECT\",\"confidence\":80}",
            form: "several",
            vote: "REJECT 800",
            payload: REJECT,
            ..WORDS
        },
        Case {
            reply: "{\"reason\":\"\",\"vote\":\"no\",\"confidence\":5} {\"reason\":\"\",\"vote\":\"yes\",\"confidence\":5}",
            payload: "{\"reason\":\"\",\"vote\":\"no\",\"confidence\":5}",
            form: "several",
            ..WORDS
        },
        // Of a name that comes twice a phase takes the last; the votes must agree, and the form of a ballot has it once.
        Case {
            reply: "{\"vote\":\"APPROVE\",\"vote\":\"REJECT\"}",
            vote: "contradiction",
            payload: "{\"vote\":\"REJECT\"}",
            form: "{\"vote\":\"REJECT\"}",
            ..WORDS
        },
        Case {
            reply: "{\"reason\":\"\",\"vote\":\"no\",\"vote\":\"yes\",\"confidence\":5}",
            payload: "{\"reason\":\"\",\"vote\":\"yes\",\"confidence\":5}",
            form: "{\"reason\":\"\",\"vote\":\"yes\",\"confidence\":5}",
            ..WORDS
        },
    ]
}

fn in_blocks() -> Vec<Case> {
    vec![
        Case {
            reply: "Let me look.\n```python\nprint(1)\n```\nThat shows it.",
            turn: "code: print(1)",
            ..WORDS
        },
        Case {
            reply: "~~~repl\nprint(1)\n~~~",
            turn: "code: print(1)",
            ..WORDS
        },
        Case {
            reply: "1. ```python\n   print(1)",
            turn: "code: print(1)",
            ..WORDS
        },
        // All blocks that name Python are run, in order.
        Case {
            reply: "```py\na = 1\n```\n```py\nprint(a)\n```",
            turn: "code: a = 1\n\nprint(a)",
            ..WORDS
        },
        Case {
            reply: "```text\nVOTE: REJECT\n```",
            vote: "REJECT",
            labels: "vote REJECT",
            ..WORDS
        },
        Case {
            reply: "```\nFAIL\n```",
            verdict: "FAIL",
            turn: "code: FAIL",
            ..WORDS
        },
    ]
}

fn cases() -> Vec<Case> {
    [in_words(), in_json(), cut_or_twice(), in_blocks()].concat()
}

#[test]
fn h04_each_reply_is_read_alike_by_all() {
    for case in cases() {
        for (way, read, expected) in WAYS {
            assert_eq!(
                read(case.reply),
                expected(&case),
                "{way} of {:?}",
                case.reply
            );
        }
    }
}

#[test]
fn h04_thoughts_before_a_reply_change_nothing() {
    for case in cases().iter().filter(|case| !case.reply.is_empty()) {
        for thoughts in THOUGHTS {
            let reply = format!("{thoughts}{}", case.reply);
            for (way, read, expected) in WAYS {
                assert_eq!(read(&reply), expected(case), "{way} of {reply:?}");
            }
        }
    }
}

#[test]
fn h04_a_reply_of_thoughts_alone_says_nothing() {
    for thoughts in THOUGHTS {
        for (way, read, expected) in WAYS {
            assert_eq!(read(thoughts), expected(&WORDS), "{way} of {thoughts:?}");
        }
    }
}

/// What stands in fences, for the parser of markers.
fn marked(text: &str) -> Vec<String> {
    let mut fences = FenceTracker::default();
    let mut found: Vec<String> = Vec::new();
    for line in text.split_inclusive('\n') {
        let was_open = fences.open();
        fences.push(line);
        match (was_open, fences.open()) {
            (None, Some(_)) => found.push(String::new()),
            (Some(_), Some(_)) => {
                if let Some(code) = found.last_mut() {
                    code.push_str(line);
                }
            }
            (_, None) => {}
        }
    }
    found
}

/// The two that follow fences agree on what Markdown calls one. What models write beside that is code for a session all the
/// same, and no fence for who streams text to people.
#[test]
fn h04_fences_are_one_table() {
    let both = |text: &'static str, code: &'static [&'static str]| (text, code, code);
    for (text, of_markers, of_blocks) in [
        both("```\na\n```\n", &["a\n"]),
        both("```python\na\n```\nb\n", &["a\n"]),
        both("~~~\na\n~~~\n", &["a\n"]),
        both("   ```\na\n   ```\n", &["a\n"]),
        both("````\n```\n````\n", &["```\n"]),
        both("~~~\n```\n~~~\n", &["```\n"]),
        both("```\na\n``` \t\n", &["a\n"]),
        both("```rust ignore\na\n```\n", &["a\n"]),
        both("```\na\n", &["a\n"]),
        both("```\r\na\n```\r\n", &["a\n"]),
        both("```\na\n```\n```\nb\n```\n", &["a\n", "b\n"]),
        both("``\na\n``\n", &[]),
        both("```a``` b\n", &[]),
        both("a ```\n", &[]),
        both("words\n", &[]),
        // In a list, in a quote, or deep within a line's spaces.
        ("- ```\n  a\n- ```\n", &[], &["a\n"]),
        ("> ```\n> a\n> ```\n", &[], &["a\n"]),
        ("     ```\n     a\n     ```\n", &[], &["a\n"]),
        // After words, where it names Python.
        ("Look: ```python\na\n```\n", &[""], &["a\n"]),
        // At the end of a line of code.
        ("```python\na```\nb\n", &["a```\nb\n"], &["a\n"]),
        // Where the next one begins.
        (
            "```python\na\n```python\nb\n```\n",
            &["a\n```python\nb\n"],
            &["a\n", "b\n"],
        ),
    ] {
        assert_eq!(marked(text), of_markers, "markers in {text:?}");
        let blocks: Vec<String> = blocks(text).into_iter().map(|block| block.code).collect();
        assert_eq!(blocks, of_blocks, "blocks of {text:?}");
    }
}

/// Each would take many minutes if a step of any reader looked at all the rest of the reply.
#[test]
fn h04_hostile_patterns_are_read_in_linear_time_by_all() {
    const MEGABYTE: usize = 1_000_000;
    for pattern in [
        "<think>",
        "</think>",
        "</think> a ",
        "\"</think>\"",
        "a </think> a {",
        "{\"</think>\":\"",
        "<think></think>",
        "<think>{</think>",
        "{\"a\":",
        "{",
        "{}",
        "{\"a\":1,",
        "[{\"",
        "{\"a\":[1,],",
        "\u{25c1}think\u{25b7}",
        "vote: ",
        "confidence: 1 ",
        "PASS/FAIL ",
        "reasoning:\n",
        "```\n",
        "```python\n",
        "~~~\n'''",
        "x = '''\n",
        "FINAL(",
        "FINAL(\n",
        "`FINAL(`\n",
        "*SUBMIT(\n",
        "print(\n",
        "# a\n",
        "\u{27d0}CMD {",
        "\u{27d0}CMD\n",
    ] {
        let reply = pattern.repeat(MEGABYTE / pattern.len());
        for (way, read, _) in WAYS {
            assert!(read(&reply).len() <= 4 * reply.len(), "{way} of {pattern}");
        }
    }
}

proptest::proptest! {
    /// Whatever a model writes after its thoughts is read as if it had not written them.
    #[test]
    fn h04_what_follows_thoughts_is_read_as_it_is(
        thoughts in proptest::sample::select(&THOUGHTS[..6]),
        parts in proptest::collection::vec(proptest::sample::select(PARTS), 1..20),
    ) {
        let said = format!("PASS {}", parts.concat());
        for reply in [format!("{thoughts}{said}"), format!("<think>\n{said}\n</think>\n{said}")] {
            for (way, read, _) in WAYS {
                proptest::prop_assert_eq!(read(&reply), read(&said), "{} of {:?}", way, reply);
            }
        }
    }
}

/// What replies are made of, without marks of thoughts.
const PARTS: &[&str] = &[
    " ",
    "\n",
    "```",
    "~~~",
    "json",
    "python",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "'",
    ":",
    ",",
    "\\",
    "(",
    ")",
    "*",
    "`",
    "vote",
    "VOTE: ",
    "REJECT",
    "PASS",
    "FAIL",
    "or",
    "\"vote\":\"no\"",
    "{\"reply\":\"a\"}",
    "print(1)",
    "FINAL(",
    "x = 1",
    "80%",
    "é",
];
