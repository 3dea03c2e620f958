use super::*;
use crate::view::run_tests::{after, finished, forest};
use fathom_core::contract::stop::Refusal;
use fathom_core::journal::event::ReleaseReason;

#[test]
fn x01_records_are_told_in_one_line_each() {
    let mut teller = finished();
    teller.refuse("0", 4, 5_000, Refusal::VerifyFirst);
    teller.release(5_100, ReleaseReason::Interrupted);
    let began = after(0);
    let lines: Vec<String> = teller
        .records
        .iter()
        .map(|(id, record)| line(id, record, began, 80).plain())
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn x08_records_carry_no_control_characters() {
    for (id, record) in &forest().records {
        let line = line(id, record, after(0), 200).plain();
        assert!(!line.chars().any(char::is_control), "{line:?}");
    }
}

#[test]
fn news_are_told_once_and_without_the_stream() {
    let teller = finished();
    let mut chronicle = RecordPrinter::default();
    let half = teller.records.len() / 2;
    let first = chronicle.news(&teller.records[..half], 80).len();
    let second = chronicle.news(&teller.records, 80).len();
    let kept = teller.records.iter().filter(|(_, record)| {
        !matches!(
            record.event.kind,
            EventKind::ModelDelta { .. } | EventKind::Tick
        )
    });
    assert_eq!(first + second, kept.count());
    assert!(chronicle.news(&teller.records, 80).is_empty());
}
