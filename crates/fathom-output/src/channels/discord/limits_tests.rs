use super::*;

/// A plan in one line.
fn plan(status: u16, headers: &[(&str, &str)], body: &str) -> String {
    let header = |name: &str| {
        let found = headers.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| *value)
    };
    let NextAttempt { fate, wait, scope } = read(status, header, body);
    let scope = match scope {
        WaitScope::Global => "global".to_owned(),
        WaitScope::Bucket(name) => name.unwrap_or("-".to_owned()),
    };
    format!("{fate:?} {} ms {scope}", wait.as_millis())
}

#[test]
fn g09_answers_say_when_the_next_message_may_go() {
    let bucket = ("x-ratelimit-bucket", "b1");
    let left = |count| ("x-ratelimit-remaining", count);
    let reset = |seconds| ("x-ratelimit-reset-after", seconds);
    for (status, headers, body, expected) in [
        (200, vec![], "{}", "Sent 0 ms -"),
        (204, vec![], "", "Sent 0 ms -"),
        (
            200,
            vec![bucket, left("4"), reset("1.5")],
            "{}",
            "Sent 0 ms b1",
        ),
        (
            200,
            vec![bucket, left("0"), reset("1.5")],
            "{}",
            "Sent 1500 ms b1",
        ),
        // A part of a millisecond is a whole one.
        (200, vec![left("0"), reset("0.0001")], "{}", "Sent 1 ms -"),
        (
            429,
            vec![bucket],
            r#"{"message": "You are being rate limited.", "retry_after": 64.57, "global": false}"#,
            "TooEarly 64570 ms b1",
        ),
        (
            429,
            vec![bucket, ("retry-after", "65")],
            r#"{"retry_after": 64.57, "global": true}"#,
            "TooEarly 65000 ms global",
        ),
        (
            429,
            vec![("x-ratelimit-global", "true"), ("retry-after", "3")],
            "",
            "TooEarly 3000 ms global",
        ),
        (
            429,
            vec![("x-ratelimit-scope", "global"), ("retry-after", "3")],
            "",
            "TooEarly 3000 ms global",
        ),
        (
            429,
            vec![("x-ratelimit-scope", "shared"), reset("2")],
            "",
            "TooEarly 2000 ms -",
        ),
        // Not from Discord itself, and nothing told.
        (429, vec![], "<html>", "TooEarly 5000 ms -"),
        (500, vec![], "", "Unknown 0 ms -"),
        (502, vec![left("0"), reset("1")], "", "Unknown 1000 ms -"),
        (400, vec![], r#"{"code": 50006}"#, "Refused 0 ms -"),
        (401, vec![], "", "Refused 0 ms -"),
        (404, vec![], "", "Refused 0 ms -"),
    ] {
        assert_eq!(
            plan(status, &headers, body),
            expected,
            "{status} {headers:?} {body}"
        );
    }
}

#[test]
fn g09_no_wait_is_absurd() {
    for (told, expected) in [
        ("1e300", "TooEarly 3600000 ms -"),
        ("inf", "TooEarly 3600000 ms -"),
        ("NaN", "TooEarly 5000 ms -"),
        ("-1", "TooEarly 5000 ms -"),
        ("soon", "TooEarly 5000 ms -"),
        ("", "TooEarly 5000 ms -"),
    ] {
        assert_eq!(plan(429, &[("retry-after", told)], ""), expected, "{told}");
    }
    assert_eq!(
        plan(429, &[], r#"{"retry_after": "x"}"#),
        "TooEarly 5000 ms -"
    );
    assert_eq!(
        plan(429, &[], r#"{"retry_after": 1e300}"#),
        "TooEarly 3600000 ms -"
    );
}
