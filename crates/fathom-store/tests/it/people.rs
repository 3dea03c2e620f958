//! What every backend must do with the words of people: approvals and pins of tools.

use fathom_core::effect::ApprovalTerms;
use fathom_core::id::{AskId, Digest};
use fathom_core::journal::event::Signal;
use fathom_core::unit::Timestamp;
use fathom_store::{
    AcceptOutcome, ApprovalAnswer, ApprovalFilter, ApprovalRecord, ApprovalState, ApprovalWord,
    ApproverKey, ClaimOwner, DecideError, DecideOutcome, Journal, MemoryJournal, PinOutcome,
    PinStanding, SignalId, ToolSighting, UseOutcome,
};

use crate::conformance::Backend;
use crate::sample::{Author, episode, run};
use crate::sqlite::Folder;

/// Runs a case on every backend.
fn check(case: fn(&dyn Backend)) {
    case(&MemoryJournal::new());
    case(&Folder::new());
}

const EXPIRES: Timestamp = Timestamp(1_000);

fn owner(number: u8, ask: u32) -> ClaimOwner {
    ClaimOwner {
        run: run(number),
        episode: episode("0.1"),
        ask: AskId(ask),
    }
}

fn question(owner: ClaimOwner, binding: u8) -> ApprovalRecord {
    let terms = ApprovalTerms {
        roles: vec!["operator".to_owned()],
        expires: EXPIRES,
        second_person: true,
        ..ApprovalTerms::open(Digest([binding; 32]))
    };
    ApprovalRecord::open(owner, terms, Timestamp(10))
}

fn word(answer: ApprovalAnswer, binding: u8, at: u64) -> ApprovalWord {
    ApprovalWord {
        answer,
        by: "os:ada".to_owned(),
        at: Timestamp(at),
        why: "it is fine".to_owned(),
        binding: Digest([binding; 32]),
        signature: None,
    }
}

fn all(journal: &dyn Journal) -> Vec<ApprovalRecord> {
    journal.approvals(ApprovalFilter::All).unwrap()
}

fn open_ids(journal: &dyn Journal) -> Vec<String> {
    let open = journal.approvals(ApprovalFilter::Open).unwrap();
    open.iter().map(|one| one.id.to_string()).collect()
}

#[test]
fn e17_a_word_is_given_once_and_reaches_the_run_with_its_commit() {
    check(|backend| {
        let journal = backend.open();
        let (_author, _log) = Author::start(&*journal, 1);
        let asked = question(owner(1, 4), 7);
        journal.open_approval(&asked).unwrap();
        journal.open_approval(&asked).unwrap();
        drop(journal);

        let journal = backend.open();
        assert_eq!(all(&*journal), std::slice::from_ref(&asked));
        let yes = word(ApprovalAnswer::Yes, 7, 20);
        let decided = journal.decide_approval(&asked.id, &yes).unwrap();
        let granted = ApprovalRecord {
            state: ApprovalState::Granted { word: yes.clone() },
            ..asked.clone()
        };
        assert_eq!(decided, DecideOutcome::Decided(granted.clone()));
        for answer in [ApprovalAnswer::No, ApprovalAnswer::Yes] {
            let second = journal.decide_approval(&asked.id, &word(answer, 7, 21));
            let refused = DecideOutcome::Refused(granted.clone(), DecideError::Settled);
            assert_eq!(second.unwrap(), refused);
        }
        let posted = backend.open().signals(run(1), SignalId(0)).unwrap();
        let signals: Vec<_> = posted.into_iter().map(|posted| posted.signal).collect();
        let told = Signal::Decide {
            episode: episode("0.1"),
            ask: AskId(4),
            allow: true,
            by: "os:ada".to_owned(),
            binding: Digest([7; 32]),
        };
        assert_eq!(signals, [told]);
        // Asked again after a crash, the word stands.
        journal.open_approval(&asked).unwrap();
        assert_eq!(all(&*journal), [granted]);
        assert_eq!(open_ids(&*journal), [""; 0]);
    });
}

#[test]
fn e17_a_yes_is_used_once() {
    check(|backend| {
        let journal = backend.open();
        let (_author, _log) = Author::start(&*journal, 1);
        let at = Timestamp(30);
        let used = |ask| journal.use_approval(&owner(1, ask), at).unwrap();
        assert_eq!(used(4), UseOutcome::NotAsked);
        let asked = question(owner(1, 4), 7);
        journal.open_approval(&asked).unwrap();
        assert_eq!(used(4), UseOutcome::Refused(ApprovalState::Open));
        let yes = word(ApprovalAnswer::Yes, 7, 20);
        journal.decide_approval(&asked.id, &yes).unwrap();
        assert_eq!(used(5), UseOutcome::NotAsked, "another ask");
        assert_eq!(used(4), UseOutcome::Used);
        let state = ApprovalState::Used { word: yes, at };
        assert_eq!(used(4), UseOutcome::Refused(state.clone()));
        assert_eq!(all(&*backend.open())[0].state, state);

        let other = question(owner(1, 6), 7);
        journal.open_approval(&other).unwrap();
        let no = word(ApprovalAnswer::No, 7, 20);
        journal.decide_approval(&other.id, &no).unwrap();
        let denied = ApprovalState::Denied { word: no };
        assert_eq!(used(6), UseOutcome::Refused(denied));
    });
}

#[test]
fn e17_a_word_about_something_else_or_too_late_is_none() {
    check(|backend| {
        let journal = backend.open();
        let (_author, _log) = Author::start(&*journal, 1);
        let asked = question(owner(1, 4), 7);
        let unknown = journal.decide_approval(&asked.id, &word(ApprovalAnswer::Yes, 7, 20));
        assert_eq!(unknown.unwrap(), DecideOutcome::Unknown);
        journal.open_approval(&asked).unwrap();
        let other = journal.decide_approval(&asked.id, &word(ApprovalAnswer::Yes, 8, 20));
        let refused = DecideOutcome::Refused(asked.clone(), DecideError::OtherBinding);
        assert_eq!(other.unwrap(), refused);
        let late = journal.decide_approval(&asked.id, &word(ApprovalAnswer::Yes, 7, EXPIRES.0));
        let expired = ApprovalRecord {
            state: ApprovalState::Expired,
            ..asked
        };
        let refused = DecideOutcome::Refused(expired, DecideError::Expired);
        assert_eq!(late.unwrap(), refused);
        assert_eq!(journal.signals(run(1), SignalId(0)).unwrap(), []);
    });
}

#[test]
fn e17_another_question_of_the_same_ask_takes_the_place_of_the_first() {
    check(|backend| {
        let journal = backend.open();
        let (_author, _log) = Author::start(&*journal, 1);
        let (_other, _other_log) = Author::start(&*journal, 2);
        let first = question(owner(1, 4), 7);
        let second = question(owner(1, 4), 8);
        let elsewhere = question(owner(2, 4), 7);
        assert_ne!(first.id, second.id);
        assert_ne!(first.id, elsewhere.id);
        for asked in [&first, &elsewhere, &second] {
            journal.open_approval(asked).unwrap();
        }
        let open = [elsewhere.id.to_string(), second.id.to_string()];
        assert_eq!(open_ids(&*journal), open);
        let late = journal.decide_approval(&first.id, &word(ApprovalAnswer::Yes, 7, 20));
        assert!(matches!(
            late,
            Ok(DecideOutcome::Refused(_, DecideError::Settled))
        ));

        journal.withdraw_approvals(run(2), Timestamp(50)).unwrap();
        assert_eq!(open_ids(&*journal), [second.id.to_string()]);
        let withdrawn = ApprovalState::Withdrawn { at: Timestamp(50) };
        assert_eq!(all(&*journal)[1].state, withdrawn);
    });
}

#[test]
fn e18_a_changed_tool_stays_out_until_a_person_accepts_it() {
    check(|backend| {
        let journal = backend.open();
        let seen = |digest, at| ToolSighting {
            charter: "agency".to_owned(),
            tool: "files/read".to_owned(),
            digest: Digest([digest; 32]),
            at: Timestamp(at),
        };
        let quarantined = |pinned| PinOutcome::Quarantined {
            pinned: Digest([pinned; 32]),
        };
        let pin = |digest, at| journal.pin(&seen(digest, at)).unwrap();
        assert_eq!(pin(1, 1), PinOutcome::Pinned);
        assert_eq!(pin(1, 2), PinOutcome::Pinned);
        assert_eq!(pin(2, 3), quarantined(1));
        assert_eq!(pin(2, 4), quarantined(1), "asking again does not help");
        let elsewhere = ToolSighting {
            charter: "other".to_owned(),
            ..seen(2, 4)
        };
        assert_eq!(journal.pin(&elsewhere).unwrap(), PinOutcome::Pinned);
        let accept = |digest, at| journal.accept_pin(&seen(digest, at), "os:ada").unwrap();
        assert_eq!(accept(3, 5), AcceptOutcome::NeverMet);
        assert_eq!(accept(2, 5), AcceptOutcome::Now);
        assert_eq!(pin(2, 6), PinOutcome::Pinned);
        assert_eq!(pin(1, 7), quarantined(2), "what it was before is out");
        assert_eq!(accept(1, 8), AcceptOutcome::Now);
        assert_eq!(backend.open().pin(&seen(1, 9)).unwrap(), PinOutcome::Pinned);
        assert_eq!(pin(3, 9), quarantined(1));
        let pins = journal.pins("agency").unwrap();
        let standings: Vec<_> = pins.into_iter().map(|pin| pin.standing).collect();
        let accepted = |at| PinStanding::Accepted {
            by: "os:ada".to_owned(),
            at: Timestamp(at),
        };
        let wanted = [accepted(8), accepted(5), PinStanding::Quarantined];
        assert_eq!(standings, wanted);
    });
}

#[test]
fn e17_a_signature_says_one_answer_to_one_question() {
    let folder = tempfile::tempdir().unwrap();
    let key = |name: &str, byte| {
        let path = folder.path().join(name);
        std::fs::write(&path, [byte; 32]).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(&path, mode).unwrap();
        ApproverKey::read(&path).unwrap()
    };
    let asked = question(owner(1, 4), 7);
    let elsewhere = question(owner(2, 4), 7);
    let binding = &asked.terms.binding;
    let signed = key("ada", 1).sign(&asked.id, binding, ApprovalAnswer::Yes);
    assert!(signed.says(&asked.id, binding, ApprovalAnswer::Yes));
    assert!(!signed.says(&asked.id, binding, ApprovalAnswer::No));
    assert!(!signed.says(&elsewhere.id, binding, ApprovalAnswer::Yes));
    assert!(!signed.says(&asked.id, &Digest([8; 32]), ApprovalAnswer::Yes));
    let other = key("eve", 2).sign(&asked.id, binding, ApprovalAnswer::Yes);
    assert_ne!(signed.fingerprint(), other.fingerprint());
    let forged = fathom_store::SignedWord {
        key: signed.key,
        ..other
    };
    assert!(!forged.says(&asked.id, binding, ApprovalAnswer::Yes));
}

#[test]
fn a_key_that_others_can_read_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("open.key");
    assert_eq!(ApproverKey::read(&path).unwrap_err().code(), "F0201");
    std::fs::write(&path, [1; 32]).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    std::fs::set_permissions(&path, mode).unwrap();
    assert_eq!(ApproverKey::read(&path).unwrap_err().code(), "F0219");
}
