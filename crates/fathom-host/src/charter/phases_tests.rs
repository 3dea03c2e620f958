//! The phase loop of a charter.

use super::*;
use crate::charter::built_in;

fn files(of: &[(&str, &str)]) -> (Option<PhasesCharter>, FindingList) {
    let mut findings = FindingList::default();
    let mut read = PhaseFiles::new();
    for (file, text) in of {
        assert!(read.take(file, text, &mut findings), "{file}");
    }
    let mut phases = Some(PhasesCharter::default());
    read.join(&mut phases, &mut findings);
    (phases, findings)
}

#[test]
fn p01_phases_come_in_the_order_of_their_names_under_both_names() {
    let (phases, findings) = files(&[
        ("phases/01-later.txt", "do the rest"),
        (
            "phases/00-first.txt",
            "phase: begin\ntitle: Begin\ncommands: 2\n\nsay what it is\nphase: not a head",
        ),
    ]);
    assert!(findings.problems.is_empty(), "{:?}", findings.problems);
    let phases = phases.unwrap_or_default().phases;
    let names: Vec<_> = phases
        .iter()
        .map(|one| (one.id.as_str(), one.aliases[0].as_str()))
        .collect();
    assert_eq!(names, [("begin", "00-first"), ("01-later", "01-later")]);
    assert_eq!(phases[0].title, "Begin");
    assert_eq!(phases[0].commands_min, 2);
    assert_eq!(phases[0].template, "say what it is\nphase: not a head");
}

#[test]
fn p10_the_built_in_charter_says_what_a_session_begins_with() {
    let files = built_in::files("signalzero").unwrap_or_default();
    let mut findings = FindingList::default();
    let mut read = PhaseFiles::new();
    for (file, content) in &files {
        let text = String::from_utf8(content.clone().unwrap_or_default()).unwrap_or_default();
        read.take(file, &text, &mut findings);
    }
    let mut phases = Some(PhasesCharter::default());
    read.join(&mut phases, &mut findings);
    assert!(findings.problems.is_empty(), "{:?}", findings.problems);
    let phases = phases.unwrap_or_default();
    assert_eq!(phases.phases.len(), 5);
    assert!(phases.catalogue.symbols.len() >= 40);
    // The least worth first: what comes last stays longest where room is short.
    let ids = SessionSeed::ids(&phases.beginning.symbols);
    assert_eq!(ids.last().map(String::as_str), Some("SYM-017"));
}

#[test]
fn x08_files_that_do_not_fit_are_all_named() {
    let (_, findings) = files(&[
        ("phases/00-a.txt", "phase: same\n\nx"),
        ("phases/01-b.txt", "phase: same\n\n"),
        ("symbols.json", "[{\"id\": \"A\"}, {\"id\": \"A\"}]"),
        ("kits.json", "[\n  {\"kit\" 1}\n]"),
        (
            "context.json",
            "{\"symbols\": [{\"id\": \"B\", \"weight\": 2.0}]}",
        ),
    ]);
    let said: Vec<String> = findings.problems.iter().map(ToString::to_string).collect();
    let all = said.join("\n");
    for part in [
        "phases/01-b.txt: the prompt is empty",
        "phases/01-b.txt: duplicate id `same`, first used in phases/00-a.txt",
        "symbols.json: duplicate id `A`",
        "kits.json:2:",
        "context.json: unknown name `B`",
        "context.json: invalid value for `B`: a weight is a number from 0 to 1",
    ] {
        assert!(all.contains(part), "`{part}` is not in:\n{all}");
    }
}
