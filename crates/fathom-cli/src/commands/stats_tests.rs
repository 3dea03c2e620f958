use super::*;
use crate::view::run_tests::{finished, forest};

#[test]
fn c09_figures_add_up_over_runs() {
    let mut figures = RunStats::default();
    figures.add("ok".into(), &finished().story);
    figures.add("ok".into(), &finished().story);
    figures.add("unfinished".into(), &forest().story);
    figures.latencies.sort_unstable();
    let lines: Vec<String> = figures.lines(30).iter().map(StyledLine::plain).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_percentile_is_a_latency_that_was_measured() {
    let figures = |millis: &[u64]| RunStats {
        latencies: millis.iter().map(|ms| Millis(*ms)).collect(),
        ..RunStats::default()
    };
    assert_eq!(figures(&[]).latency(50), None);
    assert_eq!(figures(&[7]).latency(95), Some(Millis(7)));
    let hundred: Vec<u64> = (1..=100).collect();
    assert_eq!(figures(&hundred).latency(50), Some(Millis(50)));
    assert_eq!(figures(&hundred).latency(95), Some(Millis(95)));
}
