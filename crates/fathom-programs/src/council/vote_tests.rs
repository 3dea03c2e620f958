use proptest::prelude::*;

use self::Expect::{Fails, Plain, Sure};
use super::Vote::{Abstain, Approve, Reject};
use super::VoteError::{Confidence, Contradiction, Empty, NoVote};
use super::*;

/// What a reply is.
#[derive(Debug, PartialEq, Eq)]
enum Expect {
    /// A vote that says how sure it is, in thousandths.
    Sure(Vote, u16),
    /// A vote that does not say.
    Plain(Vote),
    Fails(VoteError),
}

#[track_caller]
fn check(table: &[(&str, Expect)]) {
    for (reply, expected) in table {
        let found = match read(reply) {
            Ok(said) => match said.confidence {
                Some(confidence) => Sure(said.vote, confidence.get()),
                None => Plain(said.vote),
            },
            Err(why) => Fails(why),
        };
        assert_eq!(found, *expected, "{reply}");
    }
}

#[test]
fn c05_a_json_object_votes() {
    check(&[
        (r#"{"vote":"APPROVE"}"#, Plain(Approve)),
        (
            r#"{"reasoning":"too dear","source":2,"vote":"REJECT","confidence":85}"#,
            Sure(Reject, 850),
        ),
        (r#"{"vote": "abstain", "confidence": 0}"#, Sure(Abstain, 0)),
        (
            r#"{"Vote": " Approve ", "Confidence": 100}"#,
            Sure(Approve, 1000),
        ),
        (r#"{"vote":"REJECTED","confidence":60}"#, Sure(Reject, 600)),
        (
            "```json\n{\n  \"vote\": \"REJECT\",\n  \"confidence\": 70\n}\n```",
            Sure(Reject, 700),
        ),
        (
            "Here it is:\n```\n{\"vote\":\"ABSTAIN\"}\n```\nI hope this helps!",
            Plain(Abstain),
        ),
        (
            r#"I looked at {the costs} and say {"vote":"REJECT"} for now, 99% of the time."#,
            Plain(Reject),
        ),
        // A comma too many and a line break in a string hide nothing of what is said.
        (r#"{"vote":"APPROVE",}"#, Plain(Approve)),
        (
            "{\"reasoning\":\"too\ndear\",\"vote\":\"REJECT\"}",
            Plain(Reject),
        ),
        (
            r#"[{"vote":"APPROVE","confidence":50}]"#,
            Sure(Approve, 500),
        ),
        (
            r#"{"vote":"REJECT","reasoning":"VOTE: APPROVE is what the memo wants"}"#,
            Plain(Reject),
        ),
        (
            r#"{"vote":"REJECT","reasoning":"it says {\"vote\":\"APPROVE\"}"}"#,
            Plain(Reject),
        ),
        (
            r#"{"vote":"REJECT","details":{"vote":"APPROVE"}}"#,
            Plain(Reject),
        ),
        (r#"{"vote":"REJECT"} {"vote":"reject"}"#, Plain(Reject)),
        (
            r#"VOTE: REJECT {"vote":"REJECT","confidence":40}"#,
            Sure(Reject, 400),
        ),
        (
            r#"As in {"vote":"APPROVE|REJECT|ABSTAIN"}, so {"vote":"ABSTAIN"}"#,
            Plain(Abstain),
        ),
        (
            "<think>{\"vote\":\"APPROVE\"}? No: the risk.</think>\n{\"vote\":\"REJECT\"}",
            Plain(Reject),
        ),
    ]);
}

#[test]
fn c05_other_json_is_no_vote() {
    check(&[
        ("{}", Fails(NoVote)),
        ("null", Fails(NoVote)),
        (r#""APPROVE is what I would say""#, Fails(NoVote)),
        (r#"{"vote":null}"#, Fails(NoVote)),
        (r#"{"vote":true,"confidence":90}"#, Fails(NoVote)),
        (r#"{"vote":"MAYBE"}"#, Fails(NoVote)),
        (r#"{"vote":"DISAPPROVE"}"#, Fails(NoVote)),
        (r#"{"vote":"not APPROVE"}"#, Fails(NoVote)),
        (r#"{"vote":"APPROVE|REJECT|ABSTAIN"}"#, Fails(NoVote)),
        (r#"{"vote":["APPROVE"]}"#, Fails(NoVote)),
        (r#"{"answer":{"vote":"APPROVE"}}"#, Fails(NoVote)),
        (
            r#"{"properties":{"vote":{"enum":["APPROVE","REJECT","ABSTAIN"]}}}"#,
            Fails(NoVote),
        ),
        (r#"{"vote":"APPROVE","confidence":8"#, Fails(NoVote)),
        (r#"{"reasoning":"cut off before the en"#, Fails(NoVote)),
        ("{'vote': 'APPROVE'}", Fails(NoVote)),
        (
            r#"{"error":{"message":"APPROVE this model first","code":429}}"#,
            Fails(NoVote),
        ),
    ]);
}

#[test]
fn c05_a_label_votes() {
    check(&[
        ("VOTE: REJECT", Plain(Reject)),
        ("I cannot APPROVE this; VOTE: REJECT", Plain(Reject)),
        ("**Vote:** Approve", Plain(Approve)),
        ("**Vote**: *Abstain*", Plain(Abstain)),
        (
            "1. VOTE: REJECT\n2. CONFIDENCE: 80%\n3. REASONING: no rollback",
            Sure(Reject, 800),
        ),
        ("1) vote = approve", Plain(Approve)),
        ("- Vote - REJECT", Plain(Reject)),
        (
            "## Vote\n\nAPPROVE\n\n## Confidence\n\n75%",
            Sure(Approve, 750),
        ),
        ("VOTE：ABSTAIN", Plain(Abstain)),
        (
            "<vote>REJECT</vote><confidence>90</confidence>",
            Plain(Reject),
        ),
        (
            "| Vote | APPROVE |\n| Confidence | 65 % |",
            Sure(Approve, 650),
        ),
        ("VOTE: \"APPROVE\"", Plain(Approve)),
        ("VOTE: [REJECT]", Plain(Reject)),
        ("My vote is REJECT.", Plain(Reject)),
        (
            "The costs are known. My final vote: Approved!",
            Plain(Approve),
        ),
        (
            "VOTE: REJECT CONFIDENCE: 85% REASONING: we would APPROVE it cheaper",
            Sure(Reject, 850),
        ),
        ("VOTE: APPROVE, CONFIDENCE: 0.7", Sure(Approve, 700)),
        ("VOTE: REJECT (confidence: 55%)", Sure(Reject, 550)),
        (
            "VOTE: REJECT because nobody could APPROVE such a cost",
            Plain(Reject),
        ),
        ("VOTE: REJECT (not ready)", Plain(Reject)),
        ("VOTE: REJECT. APPROVE would be reckless.", Plain(Reject)),
        (
            "REASONING: 40% of the calls fail.\r\nVOTE: REJECT\r\nCONFIDENCE: 90 %\r\n",
            Sure(Reject, 900),
        ),
        (
            "VOTE: APPROVE/REJECT/ABSTAIN\n\nVOTE: ABSTAIN",
            Plain(Abstain),
        ),
        ("VOTE: REJECT\nVOTE: REJECT", Plain(Reject)),
        (
            "<think>VOTE: APPROVE? Hmm.</think>VOTE: REJECT",
            Plain(Reject),
        ),
        ("{vote: APPROVE, confidence: 60}", Sure(Approve, 600)),
        (
            "Die Kosten sind zu hoch.\nVOTE: REJECT\nCONFIDENCE: 80%",
            Sure(Reject, 800),
        ),
        ("风险太大。\nVOTE: REJECT", Plain(Reject)),
    ]);
}

#[test]
fn c05_a_first_line_that_is_the_word_votes() {
    check(&[
        ("APPROVE", Plain(Approve)),
        ("  reject.\n", Plain(Reject)),
        ("**ABSTAIN**", Plain(Abstain)),
        ("REJECT\nI would APPROVE it next year.", Plain(Reject)),
        ("REJECT\n\nCONFIDENCE: 70%", Sure(Reject, 700)),
        ("\"APPROVE\"", Plain(Approve)),
    ]);
}

#[test]
fn c05_words_in_prose_are_no_vote() {
    check(&[
        ("I cannot APPROVE this.", Fails(NoVote)),
        ("I do not APPROVE.", Fails(NoVote)),
        ("not APPROVE", Fails(NoVote)),
        ("DISAPPROVE", Fails(NoVote)),
        ("VOTE: DISAPPROVE", Fails(NoVote)),
        ("APPROVED by nobody", Fails(NoVote)),
        ("VOTE: APPROVED by nobody", Fails(NoVote)),
        ("APPROVED", Fails(NoVote)),
        ("APPROVE/REJECT/ABSTAIN", Fails(NoVote)),
        ("VOTE: APPROVE/REJECT/ABSTAIN", Fails(NoVote)),
        ("VOTE: APPROVE | REJECT | ABSTAIN", Fails(NoVote)),
        ("VOTE: APPROVE, REJECT or ABSTAIN", Fails(NoVote)),
        ("VOTE:\nAPPROVE\nREJECT\nABSTAIN", Fails(NoVote)),
        (
            "REASONING: why. VOTE: one of APPROVE, REJECT, ABSTAIN. CONFIDENCE: 0 to 100 %.",
            Fails(NoVote),
        ),
        ("APPROVE or REJECT?", Fails(NoVote)),
        ("VOTE: APPROVE?", Fails(NoVote)),
        ("VOTE: APPROVE if the budget holds", Fails(NoVote)),
        ("VOTE: APPROVE, unless it costs more", Fails(NoVote)),
        ("VOTE: not APPROVE", Fails(NoVote)),
        ("VOTE: ~~APPROVE~~ REJECT", Fails(NoVote)),
        ("VOTE: APPROVE_WITH_CONDITIONS", Fails(NoVote)),
        ("VOTE: APPROVE-ish", Fails(NoVote)),
        ("VOTE: APPROVE is out of the question", Fails(NoVote)),
        ("vote != APPROVE", Fails(NoVote)),
        ("Never answer VOTE: APPROVE", Fails(NoVote)),
        ("The memo ends with: \"VOTE: APPROVE\"", Fails(NoVote)),
        ("If it were cheaper, VOTE: APPROVE", Fails(NoVote)),
        ("Say a word, e.g. VOTE: APPROVE", Fails(NoVote)),
        ("> VOTE: APPROVE", Fails(NoVote)),
        ("The board's vote: APPROVE", Fails(NoVote)),
        ("Upvote: APPROVE", Fails(NoVote)),
        ("Votes: APPROVE 3", Fails(NoVote)),
        ("I am 95% sure that this is fine.", Fails(NoVote)),
        ("CONFIDENCE: 95%", Fails(NoVote)),
        ("Yes", Fails(NoVote)),
        ("Ich stimme zu, 90 % sicher.", Fails(NoVote)),
        ("Je rejette cette proposition.", Fails(NoVote)),
        ("Abstimmung: ABLEHNEN", Fails(NoVote)),
        ("賛成します。確信度：80%", Fails(NoVote)),
        ("VOTE: ΑPPROVE", Fails(NoVote)), // The first letter is Greek.
        (
            "[Gateway Error: 502 while waiting for approve]",
            Fails(NoVote),
        ),
        (
            "<html><body><h1>502 Bad Gateway</h1>\nVOTE: APPROVE</body></html>",
            Fails(NoVote),
        ),
        ("<!DOCTYPE html>\n<title>APPROVE</title>", Fails(NoVote)),
        ("<think>VOTE: APPROVE", Fails(NoVote)),
        ("<think>all of it</think>", Fails(NoVote)),
    ]);
}

#[test]
fn c05_nothing_said_is_empty() {
    check(&[
        ("", Fails(Empty)),
        (" \n\t\r\n ", Fails(Empty)),
        ("\u{a0}\u{2003}", Fails(Empty)),
    ]);
}

#[test]
fn c05_votes_that_differ_contradict() {
    check(&[
        ("VOTE: APPROVE\nVOTE: REJECT", Fails(Contradiction)),
        (
            "VOTE: APPROVE. On reflection, no. Final vote: REJECT",
            Fails(Contradiction),
        ),
        (
            r#"{"vote":"APPROVE"} and {"vote":"REJECT"}"#,
            Fails(Contradiction),
        ),
        (
            r#"{"vote":"APPROVE","vote":"REJECT"}"#,
            Fails(Contradiction),
        ),
        (
            r#"[{"vote":"APPROVE"},{"vote":"ABSTAIN"}]"#,
            Fails(Contradiction),
        ),
        (r#"{"vote":"APPROVE"} VOTE: REJECT"#, Fails(Contradiction)),
        ("APPROVE\nREJECT\nABSTAIN", Fails(Contradiction)),
        (
            "VOTE: APPROVE\nCONFIDENCE: 500%\nVOTE: REJECT",
            Fails(Contradiction),
        ),
    ]);
}

#[test]
fn c05_confidence_is_a_share_or_the_reply_is_unreadable() {
    for (confidence, expected) in [
        ("85", Ok(Some(850))),
        ("85.5", Ok(Some(855))),
        ("0.85", Ok(Some(850))),
        ("0.0", Ok(Some(0))),
        ("1", Ok(Some(10))),
        ("1.0", Ok(Some(1000))),
        ("1.1", Ok(Some(11))),
        ("100.0", Ok(Some(1000))),
        ("1e2", Ok(Some(1000))),
        ("0.0000001", Ok(Some(0))),
        ("null", Ok(None)),
        (r#""85%""#, Ok(Some(850))),
        (r#"" 85 % ""#, Ok(Some(850))),
        (r#""85 percent""#, Ok(Some(850))),
        (r#""0.5%""#, Ok(Some(5))),
        (r#""0.5""#, Ok(Some(500))),
        (r#""85/100""#, Ok(Some(850))),
        ("101", Err(Confidence)),
        ("100.01", Err(Confidence)),
        ("-1", Err(Confidence)),
        ("-0.5", Err(Confidence)),
        ("1e300", Err(Confidence)),
        ("18446744073709551615", Err(Confidence)),
        ("true", Err(Confidence)),
        ("[85]", Err(Confidence)),
        (r#""""#, Err(Confidence)),
        (r#""high""#, Err(Confidence)),
        (r#""85% or so""#, Err(Confidence)),
        (r#""8/10""#, Err(Confidence)),
        (r#""80-90%""#, Err(Confidence)),
    ] {
        let reply = format!(r#"{{"vote":"REJECT","confidence":{confidence}}}"#);
        let found = read(&reply).map(|said| said.confidence.map(PerMille::get));
        assert_eq!(found, expected, "{reply}");
    }
}

#[test]
fn c05_confidence_in_text_has_a_label() {
    for (text, expected) in [
        ("I am 90% sure of it.", Ok(None)),
        (
            "The error rate fell by 30% and confidence rose to 80%.",
            Ok(None),
        ),
        ("They have no confidence: 20% left.", Ok(None)),
        ("CONFIDENCE:", Ok(None)),
        ("CONFIDENCE: 80%", Ok(Some(800))),
        ("Confidence: 80", Ok(Some(800))),
        ("**Confidence:** 0.8", Ok(Some(800))),
        ("Confidence level: ~80 %", Ok(Some(800))),
        ("confidence = 80/100", Ok(Some(800))),
        ("Confidence is 80 percent.", Ok(Some(800))),
        ("Confidence: 80. 2 things speak for it.", Ok(Some(800))),
        ("CONFIDENCE: 0 to 100 %\nCONFIDENCE: 80%", Ok(Some(800))),
        ("CONFIDENCE: 70%\nCONFIDENCE: 80%", Ok(Some(800))),
        ("CONFIDENCE: 150%", Err(Confidence)),
        ("CONFIDENCE: -5%", Err(Confidence)),
        ("CONFIDENCE: high", Err(Confidence)),
        ("CONFIDENCE: 80-90%", Err(Confidence)),
        ("CONFIDENCE: 80% to 90%", Err(Confidence)),
        ("CONFIDENCE: 8/10", Err(Confidence)),
        ("CONFIDENCE: 8 out of 10", Err(Confidence)),
        ("CONFIDENCE: 1.2.3", Err(Confidence)),
        ("CONFIDENCE: 80,5", Err(Confidence)),
        ("CONFIDENCE: 80k", Err(Confidence)),
    ] {
        let reply = format!("VOTE: REJECT\n{text}");
        let found = read(&reply).map(|said| said.confidence.map(PerMille::get));
        assert_eq!(found, expected, "{reply}");
    }
}

#[test]
fn c05_the_passage_is_counted_from_one() {
    for (reply, expected) in [
        (r#"{"vote":"REJECT","source":3}"#, Some(3)),
        (r#"{"vote":"REJECT","source":0}"#, None),
        (r#"{"vote":"REJECT","source":-3}"#, None),
        (r#"{"vote":"REJECT","source":"the memo"}"#, None),
        (r#"{"vote":"REJECT"}"#, None),
        ("VOTE: REJECT\nSOURCE: [2]", Some(2)),
        ("VOTE: REJECT, source: 2", Some(2)),
        ("VOTE: REJECT\nSOURCE: 0", None),
        ("VOTE: REJECT\nSOURCE: the memo", None),
    ] {
        let found = read(reply).map(|said| said.passage);
        assert_eq!(found, Ok(expected), "{reply}");
    }
}

#[test]
fn c05_reasoning_is_what_is_said_beside_the_vote() {
    for (reply, expected) in [
        (
            r#"Well: {"vote":"REJECT","reasoning":" too\n\tdear\u0007 "}"#,
            "too dear",
        ),
        (r#"Well: {"vote":"REJECT","reasoning":7}"#, ""),
        (
            "VOTE: REJECT\nREASONING: too dear\nand too late",
            "too dear and too late",
        ),
        (
            "REASONING: too dear\nVOTE: REJECT\nCONFIDENCE: 80%",
            "too dear",
        ),
        (
            "VOTE: REJECT because of\x1b[31m the cost",
            "because of [31m the cost",
        ),
        (
            "I cannot APPROVE this; VOTE: REJECT",
            "I cannot APPROVE this;",
        ),
        ("REJECT\nToo dear.", "Too dear."),
        ("REJECT", ""),
    ] {
        let found = read(reply).map(|said| said.reasoning);
        assert_eq!(found.as_deref(), Ok(expected), "{reply}");
    }
}

#[test]
fn c05_reasoning_is_bounded_in_characters() {
    let chars = |reply: &str| read(reply).map(|said| said.reasoning.chars().count());
    for (length, expected) in [
        (REASONING_CHARS_MAX, REASONING_CHARS_MAX),
        (REASONING_CHARS_MAX + 1, REASONING_CHARS_MAX),
        (100_000, REASONING_CHARS_MAX),
    ] {
        let long = "é".repeat(length);
        assert_eq!(chars(&format!("VOTE: REJECT\n{long}")), Ok(expected));
        assert_eq!(
            chars(&format!(r#"{{"vote":"REJECT","reasoning":"{long}"}}"#)),
            Ok(expected)
        );
    }
    let words = "ab ".repeat(10_000);
    assert_eq!(
        chars(&format!("VOTE: REJECT\n{words}")),
        Ok(REASONING_CHARS_MAX)
    );
}

fn noise(pattern: &str, megabytes: usize) -> String {
    pattern.repeat(megabytes * 1_000_000 / pattern.len())
}

#[test]
fn c05_ten_megabytes_of_noise_are_no_vote() {
    for pattern in ["lorem ipsum 50% dolor ", " \u{0}\u{fffd}é", "{ nothing \n"] {
        assert_eq!(read(&noise(pattern, 10)), Err(NoVote), "{pattern}");
    }
}

/// Each would take many minutes if a step of the reader looked at all the rest of the reply.
#[test]
fn c05_hostile_patterns_are_read_in_linear_time() {
    for (pattern, expected) in [
        ("{", Err(NoVote)),
        ("{}", Err(NoVote)),
        ("{\"a\":[", Err(NoVote)),
        ("{\"vote\":", Err(NoVote)),
        ("{\"vote\":{\"a\":1},", Err(NoVote)),
        ("{\"\\\"", Err(NoVote)),
        ("[[[[", Err(NoVote)),
        ("vote ", Err(NoVote)),
        ("vote: ", Err(NoVote)),
        ("vote\n", Err(NoVote)),
        ("vote: approve\n\n", Ok(Approve)),
        ("vote: approve ", Ok(Approve)),
        ("vote: approve-", Err(NoVote)),
        ("confidence: 1 ", Err(NoVote)),
        ("reasoning: ", Err(NoVote)),
        ("my final ", Err(NoVote)),
        ("****", Err(NoVote)),
        ("APPROVE\n", Ok(Approve)),
        ("9", Err(NoVote)),
    ] {
        let found = read(&noise(pattern, 2)).map(|said| said.vote);
        assert_eq!(found, expected, "{pattern}");
    }
}

#[test]
fn c05_a_vote_is_found_amid_noise_and_so_is_its_opposite() {
    let noise = noise("lorem { ipsum \n", 5);
    let vote = format!("{noise}\nVOTE: REJECT\n{noise}");
    assert_eq!(read(&vote).map(|said| said.vote), Ok(Reject));
    let object = format!("{noise}{{\"vote\":\"REJECT\"}}{noise}");
    assert_eq!(read(&object).map(|said| said.vote), Ok(Reject));
    let both = format!("VOTE: APPROVE\n{noise}{{\"vote\":\"REJECT\"}}");
    assert_eq!(read(&both).map(|said| said.vote), Err(Contradiction));
}

#[test]
fn c05_depth_does_not_reach_the_stack() {
    for (opening, closing) in [("[", "]"), ("{\"a\":", "}")] {
        let depth = 1_000_000;
        let deep = format!("{}1{}", opening.repeat(depth), closing.repeat(depth));
        let beside = format!(r#"{{"vote":"REJECT","deep":{deep}}}"#);
        assert_eq!(read(&beside), Err(NoVote));
        let wanted = format!(r#"{{"vote":{deep}}}"#);
        assert_eq!(read(&wanted), Err(NoVote));
    }
}

proptest! {
    #[test]
    fn c05_any_text_is_a_vote_or_a_failure_within_bounds(reply in ".{0,400}") {
        if let Ok(said) = read(&reply) {
            prop_assert!(said.reasoning.chars().count() <= REASONING_CHARS_MAX);
            prop_assert!(!said.reasoning.contains(char::is_control));
        }
    }

    #[test]
    fn c05_pieces_of_replies_never_approve_without_the_word(
        pieces in prop::collection::vec(
            prop::sample::select(vec![
                "VOTE:", "vote", " ", "\n", "REJECT", "ABSTAIN", "DISAPPROVE", "not", "{", "}", "\"vote\":", "\"REJECT\"",
                ",", "CONFIDENCE:", "80%", "**", "/", "or", "?", "REASONING:", "é",
            ]),
            0..40,
        ),
    ) {
        let approves = read(&pieces.concat()).is_ok_and(|said| said.vote == Approve);
        prop_assert!(!approves);
    }
}
