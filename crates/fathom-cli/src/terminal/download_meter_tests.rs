use super::*;
use fathom_local::weights::WeightsSource;

fn moving(done_bytes: u64) -> MovingAverage {
    MovingAverage {
        file: "a.gguf".to_owned(),
        verb: "from wheels".to_owned(),
        done_bytes,
        total_bytes: 1_117_320_768,
        per_second: per_second(done_bytes, Millis(2_000)),
    }
}

#[test]
fn x05_a_bar_shows_bytes_rate_and_source() {
    assert_eq!(
        moving(558_660_384).bar().plain(),
        "████████████░░░░░░░░░░░░  a.gguf   558 MB of 1.1 GB   279 MB/s   from wheels"
    );
    assert_eq!(
        moving(558_660_384).words().plain(),
        "a.gguf: 50 %   558 MB of 1.1 GB   279 MB/s   from wheels"
    );
    // More than there is, or nothing at all, is no reason to fail.
    let bar = |done, total| {
        MovingAverage {
            total_bytes: total,
            ..moving(done)
        }
        .bar()
        .plain()
    };
    assert!(bar(2_000, 1_000).starts_with(&"█".repeat(24)));
    assert!(bar(0, 0).starts_with(&"░".repeat(24)));
}

#[test]
fn a_rate_is_shown_once_there_is_something_to_measure() {
    assert_eq!(per_second(1_000, Millis(499)), None);
    assert_eq!(per_second(1_000, Millis(500)), Some(2_000));
}

#[test]
fn x05_a_source_that_did_not_help_is_named() {
    let skipped = InstallProgress::Skipped {
        file: "a.gguf".to_owned(),
        source: WeightsSource::Wheels,
        why: "it is \u{1b}[1mnot there".to_owned(),
    };
    let line = said(&skipped).unwrap().plain();
    assert!(
        line.starts_with("a.gguf: cannot download from wheels: it is"),
        "{line}"
    );
    assert!(!line.contains('\u{1b}'));
}
