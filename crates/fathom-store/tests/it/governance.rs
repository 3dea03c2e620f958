//! The record of governance, and keys that sign.

use std::os::unix::fs::PermissionsExt as _;

use fathom_core::unit::Timestamp;
use fathom_store::{
    ApproverKey, GovernanceStore, HomeFolder, InitiativeBudget, NewAct, PublicKey, SAMPLES_KEPT,
    StackSample,
};

use crate::sqlite::raw;

fn act(kind: &str) -> NewAct<'_> {
    NewAct {
        at: Timestamp(7),
        subject: "mine",
        kind,
        by: "os:ada",
        body: "{}",
    }
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "it looks at the file past the store"
)]
fn g12_acts_are_only_ever_added() {
    let dir = tempfile::tempdir().unwrap();
    let home = HomeFolder::open(dir.path()).unwrap();
    assert!(home.governance_if_there().unwrap().is_none());
    let record = home.open_governance().unwrap();
    assert_eq!(record.add(act("signed")).unwrap().seq, 1);
    assert_eq!(record.add(act("seen")).unwrap().seq, 2);
    let file = rusqlite::Connection::open(home.governance_path()).unwrap();
    for change in [
        "UPDATE acts SET by = 'me'",
        "DELETE FROM acts WHERE seq = 1",
        "REPLACE INTO acts SELECT seq, at_ms, subject, 'other', by, body FROM acts WHERE seq = 1",
        "INSERT INTO acts SELECT 9, at_ms, subject, kind, by, body FROM acts WHERE seq = 1",
    ] {
        assert!(file.execute(change, []).is_err(), "{change}");
    }
    let again = home.governance_if_there().unwrap().expect("it is there");
    let kinds = |acts: Vec<fathom_store::GovernanceAct>| -> Vec<String> {
        acts.into_iter().map(|act| act.kind).collect()
    };
    assert_eq!(kinds(again.about("mine").unwrap()), ["signed", "seen"]);
    assert_eq!(kinds(again.of_kind("seen").unwrap()), ["seen"]);
    assert!(again.about("other").unwrap().is_empty());
    assert_eq!(again.path(), home.governance_path());
}

#[test]
fn g06_samples_are_kept_for_a_week_and_read_with_the_one_before() {
    let dir = tempfile::tempdir().unwrap();
    let record = GovernanceStore::open(&dir.path().join("governance.db")).unwrap();
    let sample = |at| StackSample {
        at: Timestamp(at),
        score_milli: 950,
        prime: true,
        lite: at != 20,
        initiative: InitiativeBudget::Active,
    };
    record.note(&[10, 20, 30, 40].map(sample)).unwrap();
    let between = |from, to| record.samples(Timestamp(from), Timestamp(to)).unwrap();
    assert_eq!(between(20, 30), [sample(20), sample(30)]);
    assert_eq!(between(25, 35), [sample(20), sample(30)]);
    assert_eq!(between(5, 15), [sample(10)]);
    assert_eq!(record.last_sample().unwrap(), Some(sample(40)));
    // A second one of the same moment changes nothing.
    let other = StackSample {
        score_milli: 0,
        ..sample(40)
    };
    record.note(&[other]).unwrap();
    assert_eq!(record.last_sample().unwrap(), Some(sample(40)));
    let late = SAMPLES_KEPT.0 + 21;
    record.note(&[sample(late)]).unwrap();
    assert_eq!(between(0, late), [sample(30), sample(40), sample(late)]);
}

#[test]
fn g06_a_key_file_is_new_and_private_and_its_public_part_is_checked() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.key");
    let key = ApproverKey::create(&file).unwrap();
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(ApproverKey::create(&file).is_err());
    let again = ApproverKey::read(&file).unwrap();
    assert_eq!(again.public(), key.public());
    let signature = key.sign_message(b"yes");
    assert!(key.public().signed(b"yes", &signature));
    assert!(!key.public().signed(b"no", &signature));
    let other = ApproverKey::create(&dir.path().join("b.key")).unwrap();
    assert!(!other.public().signed(b"yes", &signature));
    let written = key.public().to_string();
    assert_eq!(written.parse::<PublicKey>(), Ok(key.public()));
    let zeroes = format!("ed25519:{}", "0".repeat(64));
    for wrong in ["", "ed25519:", &written[8..], &written[..20], &zeroes] {
        assert!(wrong.parse::<PublicKey>().is_err(), "{wrong}");
    }
}

#[test]
fn g12_a_newer_record_is_told_as_such_and_not_touched() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("governance.db");
    drop(GovernanceStore::open(&file).unwrap());
    raw(&file).pragma_update(None, "user_version", 9).unwrap();
    let newer = GovernanceStore::open(&file).unwrap_err();
    assert_eq!(newer.code(), "F0205");
    assert!(newer.to_string().contains("governance.db` has format 9"));
    assert!(!newer.hint().contains("backup"), "{}", newer.hint());
}
