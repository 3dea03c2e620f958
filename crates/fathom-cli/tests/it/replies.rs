//! Models that think aloud, as a user meets them: every program reads what comes after the thoughts, and nothing of them.

use serde_json::{Value, json};

use crate::session::{Done, Session};

const MODEL: [&str; 2] = ["--model", "script/answers.jsonl"];

/// Thoughts that say the opposite of what comes after them, in every form that a program reads.
const THOUGHTS: &str = "<think>\nPASS? FAIL? VOTE: APPROVE\nINTERRUPT: I am not sure.\n\
    {\"vote\":\"APPROVE\",\"confidence\":99,\"reply\":\"no\",\"next_phase\":null}\n\
    {\"reason\":\"\",\"vote\":\"no\",\"confidence\":99}\n```repl\nSUBMIT('web-9')\n```\n</think>\n\n";

/// The same without their beginning, which the template of a chat may have written.
const BEGUN: &str =
    "PASS? FAIL? {\"vote\":\"APPROVE\",\"confidence\":99} VOTE: APPROVE\n</think>\n\n";

fn thinking(reply: &str) -> String {
    format!("{THOUGHTS}{reply}")
}

fn done(session: &Session, arguments: &[&str]) -> Done {
    session.run(&[arguments, &MODEL].concat())
}

/// The result of a run that ends well.
fn result(session: &Session, arguments: &[&str]) -> Value {
    let arguments = [arguments, &["--json"]].concat();
    done(session, &arguments).exits(0).json()
}

#[test]
fn h04_a_judge_that_begins_with_its_thoughts_gives_its_verdict() {
    for thoughts in [
        THOUGHTS,
        BEGUN,
        "[THINK]FAIL[/THINK]",
        "<thinking>PASS or FAIL?</thinking>",
    ] {
        let judge = |verdict: &str| json!({"match": "judge an answer", "reply": format!("{thoughts}{verdict}"), "times": 9});
        let answer = json!({"reply": format!("{thoughts}a kind answer"), "times": 9});
        let session = Session::scripted(&[judge("PASS it is kind"), answer.clone()]);
        let result = result(&session, &["ask", "q", "--review", "be kind"]);
        assert_eq!(result["answer"], "a kind answer", "{thoughts}");
        assert_eq!(
            result["decisions"][0]["what"], "review passed",
            "{thoughts}"
        );
        assert_eq!(
            result["decisions"][0]["rationale"], "PASS it is kind",
            "{thoughts}"
        );

        let session = Session::scripted(&[judge("**FAIL** it is rude"), answer]);
        let asked = ["ask", "q", "--review", "be kind", "--json"];
        let result = done(&session, &asked).exits(3).json();
        assert_eq!(result["stop_reason"], "review_failed", "{thoughts}");
        assert_eq!(
            result["decisions"][0]["what"], "review failed",
            "{thoughts}"
        );
        assert_eq!(result["answer"], "a kind answer", "{thoughts}");
    }
}

#[test]
fn h04_an_answer_is_what_comes_after_the_thoughts() {
    let session = Session::scripted(&[json!({"reply": thinking("forty-two")})]);
    let asked = done(&session, &["ask", "what is it?"]);
    asked.exits(0);
    assert_eq!(asked.stdout, "forty-two\n");
    // One that is nothing but thoughts is asked for again, and is no answer in the end.
    let session = Session::scripted(&[json!({"reply": THOUGHTS}), json!({"reply": "forty-two"})]);
    assert_eq!(result(&session, &["ask", "q"])["answer"], "forty-two");
    let session = Session::scripted(&[json!({"reply": THOUGHTS, "times": 9})]);
    let result = done(&session, &["ask", "q", "--json"]).exits(3).json();
    assert_eq!(result["answer"], Value::Null);
    assert_eq!(result["model_calls"], 3);
}

#[test]
fn h04_a_council_whose_seats_think_aloud_decides() {
    let vote = json!({"reasoning": "too dear", "source": 0, "vote": "REJECT", "confidence": 80});
    for reply in [
        thinking(&vote.to_string()),
        thinking("VOTE: REJECT\nCONFIDENCE: 80%\nREASONING: too dear"),
        format!("{BEGUN}{vote}"),
    ] {
        let session = Session::scripted(&[json!({"reply": reply, "times": 99})]);
        let result = result(&session, &["council", "Should we move to the new cluster?"]);
        assert_eq!(result["vote"], "REJECT", "{reply}");
        assert_eq!(result["confidence"], 0.8, "{reply}");
        assert_eq!(result["agreement"], 1.0, "{reply}");
    }
}

#[test]
fn h04_phases_that_think_aloud_are_walked_to_the_end() {
    let next = [
        json!("recurse_thought"),
        json!("synthesize_symbols"),
        json!("validate_symbols"),
        json!("build_output"),
        Value::Null,
    ];
    let lines: Vec<Value> = next
        .iter()
        .enumerate()
        .map(|(at, next)| {
            let payload = json!({"reply": format!("thought {at}"), "next_phase": next});
            json!({"reply": thinking(&format!("```json\n{payload:#}\n```"))})
        })
        .collect();
    let session = Session::scripted(&lines);
    let result = result(&session, &["phases", "Is it so?"]);
    assert_eq!(result["answer"], "thought 4");
    assert_eq!(result["phases"].as_array().map(Vec::len), Some(5));
}

#[test]
fn h04_rlm_runs_the_code_after_the_thoughts_and_nothing_in_them() {
    let lines: Vec<String> = (0..9_000)
        .map(|n| match n {
            7_777 => "web-3 FAILED disk is gone".to_owned(),
            n => format!("web-{} ok, {n} requests", n % 7),
        })
        .collect();
    let code = "hits = [l for l in context.splitlines() if 'FAILED' in l]\nsaid = llm_query('Which? ' + hits[0])";
    let session = Session::scripted(&[
        json!({"match": "Which\\? web-3", "reply": thinking("web-3")}),
        json!({"reply": thinking(&format!("```repl\n{code}\n```"))}),
        json!({"reply": thinking("SUBMIT(said)")}),
    ]);
    session.write("hosts.log", &lines.join("\n"));
    let asked = ["rlm", "Which host failed?", "--context", "hosts.log"];
    let result = result(&session, &asked);
    assert_eq!(result["answer"], "web-3");
    assert_eq!(result["iterations"], 2);
    assert_eq!(result["subcalls"], 1);
}

#[test]
fn h04_stages_that_think_aloud_are_read_and_so_are_the_roles_that_vote() {
    let said =
        |asked: &str, reply: &str| json!({"match": asked, "reply": thinking(reply), "times": 9});
    let stop =
        |reply: &str| json!({"match": "You read along", "reply": thinking(reply), "times": 9});
    let session = Session::scripted(&[
        said("Plan how to do", "PLAN:\n- look\n- answer"),
        said("Judge the plan", "PLAN:\n- look\n- answer\nconfidence=0.2"),
        said("Look whether the task", "VERIFY: success"),
        said(
            "put to the vote",
            r#"{"reason":"fair","vote":"yes","confidence":80}"#,
        ),
        stop("OK"),
        said("Do the task by the plan", "RESPONSE: The desk."),
    ]);
    let result = result(&session, &["think", "Whom do I ask?"]);
    assert_eq!(result["answer"], "The desk.");
    assert_eq!(result["interrupts"], 0);
    assert_eq!(result["verified"], true);
    let ruling = result["votes"][0]["ruling"].as_str().expect("a vote");
    assert!(ruling.contains("carried"), "{ruling}");
}
