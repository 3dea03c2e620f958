use super::*;

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn tidy_is_asked_in_these_ways_only() {
    let loosen = words("--write-ratchets --loosen");
    assert_eq!(mode(&loosen).unwrap(), Mode::Write(Direction::Any));
    let show = words("--show phrase fathom-cli");
    assert_eq!(
        mode(&show).unwrap(),
        Mode::Show {
            check: Some("phrase"),
            key: Some("fathom-cli")
        }
    );
    assert!(mode(&words("--loosen")).is_err());
    assert!(mode(&words("--show a b c")).is_err());
}

#[test]
fn a_list_is_of_one_check_and_maybe_one_key() {
    let violation =
        |check, key: &str, line| Violation::new(check, key, Finding::new("a.rs", line, "bad"));
    let violations = [
        violation("one", "x", 2),
        violation("one", "y", 1),
        violation("two", "x", 3),
    ];
    assert_eq!(
        listed(&violations, "one", None),
        "a.rs:1: bad\na.rs:2: bad\none: 2 found"
    );
    assert_eq!(
        listed(&violations, "one", Some("x")),
        "a.rs:2: bad\none: 1 found"
    );
}
