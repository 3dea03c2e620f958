use fathom_store::HomeFolder;

use super::*;

const AT: Timestamp = Timestamp(1_000);

/// A home whose record holds one act that nobody can read.
fn damaged(subject: &str, kind: &str, body: &str) -> (tempfile::TempDir, GovernanceStore) {
    let folder = tempfile::tempdir().unwrap();
    let home = HomeFolder::open(folder.path()).unwrap();
    let record = home.open_governance().unwrap();
    record
        .add(NewAct {
            at: AT,
            subject,
            kind,
            by: "os:tester",
            body,
        })
        .unwrap();
    (folder, record)
}

#[test]
fn a_creator_who_cannot_be_read_is_not_an_unknown_one() {
    let (_folder, record) = damaged(CREATOR, "creator", "not a key");
    let trust = TrustConfig::default();
    let known = TrustRecord {
        trust: &trust,
        record: Some(&record),
    };
    let error = known.creator().unwrap_err();
    assert!(error.to_string().contains("creator"), "{error}");
    let judged = known.judge("default", Digest([1; 32]), None);
    assert!(judged.is_err(), "an unsigned identity was taken");
}

#[test]
fn an_identity_that_cannot_be_read_stops_the_charter() {
    for kind in KINDS {
        let (_folder, record) = damaged("default", kind, "{}");
        let trust = TrustConfig::default();
        let known = TrustRecord {
            trust: &trust,
            record: Some(&record),
        };
        let judged = known.judge("default", Digest([1; 32]), None);
        assert!(judged.is_err(), "an act `{kind}` was skipped");
        assert!(known.is_newest("default", Digest([1; 32])).is_err());
    }
}
