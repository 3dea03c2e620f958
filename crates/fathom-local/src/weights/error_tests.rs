use super::*;

fn tried(failures: Vec<SourceFailure>) -> WeightsError {
    let tried = failures.into_iter().map(|failure| SourceAttempt {
        from: WeightsSource::Wheels,
        failure,
    });
    WeightsError::after("f".to_owned(), tried.collect())
}

#[test]
fn the_gravest_attempt_decides_what_the_error_is() {
    let cut = || SourceFailure::Cut {
        bytes: 1,
        cause: "reset".to_owned(),
    };
    let no_pip = || SourceFailure::NoPip {
        program: "python3".to_owned(),
    };
    let wrong = || SourceFailure::WrongHash {
        sha256: "00".to_owned(),
    };
    assert_eq!(tried(vec![cut()]).code(), "F0524");
    assert_eq!(tried(vec![cut(), no_pip()]).code(), "F0526");
    assert_eq!(tried(vec![wrong(), no_pip()]).code(), "F0525");
    assert_eq!(
        tried(vec![cut(), no_pip()]).to_string(),
        "cannot download `f`: wheels: interrupted after 1 bytes: reset; wheels: `python3` was not found or has no pip"
    );
}

#[test]
fn distances_count_letters() {
    for (a, b, expected) in [
        ("", "", 0),
        ("small", "small", 0),
        ("smal", "small", 1),
        ("smoke", "small", 3),
        ("", "abc", 3),
        ("kitten", "sitting", 3),
    ] {
        assert_eq!(distance(a, b), expected, "{a} {b}");
    }
}
