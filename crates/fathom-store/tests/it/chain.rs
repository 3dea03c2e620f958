use fathom_core::id::{Digest, EpisodeId, Epoch, Seq};
use fathom_core::journal::event::{EventKind, JournalRecord};
use fathom_store::journal::chain::{BreakKind, ChainCheck, decode, encode, genesis, link};

use crate::sample::{self, Author, episode, run};

#[test]
fn x02_every_record_survives_the_way_to_bytes_and_back() {
    for record in sample::every_record() {
        let bytes = encode(&record).unwrap();
        assert_eq!(decode(&bytes).unwrap(), record);
        assert_eq!(encode(&decode(&bytes).unwrap()).unwrap(), bytes);
    }
}

#[test]
fn x08_bytes_that_are_no_record_are_an_error() {
    for bytes in [&b""[..], b"{}", b"[1]", b"\xff", b"{\"seq\":0}"] {
        let error = decode(bytes).unwrap_err();
        assert_eq!(error.code(), "F0213");
        assert!(!error.hint().is_empty());
    }
}

#[test]
fn x02_a_link_covers_all_it_is_made_of() {
    let root = EpisodeId::root();
    let base = link(&genesis(), run(1), &root, b"abc");
    let others = [
        link(&Digest([1; 32]), run(1), &root, b"abc"),
        link(&genesis(), run(2), &root, b"abc"),
        link(&genesis(), run(1), &episode("0.0"), b"abc"),
        link(&genesis(), run(1), &root, b"abd"),
        link(&genesis(), run(1), &root, b"ab"),
    ];
    assert!(others.iter().all(|other| *other != base));
    assert_eq!(link(&genesis(), run(1), &root, b"abc"), base);
}

/// The digests are on people's disks: a change here is a new format.
#[test]
fn x02_links_stay_what_they_are() {
    assert_eq!(
        genesis().to_string(),
        "049eda758c01043e394cb8cf8cc55500042d1c28d6979b470df9e3b534b8d42f"
    );
    assert_eq!(
        link(&genesis(), run(1), &episode("0.1"), b"{}").to_string(),
        "1b814c1be169d8bd2f17f127293fc8c3f5228841d2d52c69b47cb35482767a69"
    );
}

fn entries(count: usize) -> Vec<(Vec<u8>, Digest)> {
    let mut author = Author::new(1, Epoch(1));
    let entries = (0..count).map(|n| author.says("0", &format!("word {n}")));
    entries.map(|entry| (entry.bytes, entry.hash)).collect()
}

#[track_caller]
fn check_break(entries: &[(Vec<u8>, Digest)], seq: u64, why: &BreakKind) {
    let mut check = ChainCheck::new(run(1), EpisodeId::root());
    let found = entries
        .iter()
        .find_map(|(bytes, hash)| check.step(bytes, hash).err())
        .unwrap();
    assert_eq!(found.seq, Seq(seq));
    assert_eq!(&found.why, why);
}

#[test]
fn x02_a_whole_chain_passes_and_can_be_gone_on_from() {
    let mut check = ChainCheck::new(run(1), EpisodeId::root());
    let mut author = Author::new(1, Epoch(3));
    for _ in 0..5 {
        let entry = author.says("0", "word");
        check.step(&entry.bytes, &entry.hash).unwrap();
    }
    assert_eq!(check.chain(), author.chain("0"));
    assert_eq!(check.epoch(), Epoch(3));
}

#[test]
fn x02_a_check_finds_the_first_break() {
    let mut changed = entries(3);
    changed[1].0[5] ^= 1;
    check_break(&changed, 1, &BreakKind::Hash);

    let mut dropped = entries(3);
    dropped.remove(1);
    check_break(&dropped, 1, &BreakKind::Hash);

    let mut swapped = entries(3);
    swapped.swap(0, 1);
    check_break(&swapped, 0, &BreakKind::Hash);
}

/// Someone who can compute digests and cannot keep the rules.
fn forged(records: &[JournalRecord]) -> Vec<(Vec<u8>, Digest)> {
    let mut head = genesis();
    let mut forged = Vec::new();
    for record in records {
        let bytes = encode(record).unwrap();
        head = link(&head, run(1), &EpisodeId::root(), &bytes);
        forged.push((bytes, head));
    }
    forged
}

fn ticks(places: &[(u64, u64)]) -> Vec<JournalRecord> {
    let mut author = Author::new(1, Epoch(1));
    let record = author.record("0", EventKind::Tick, Vec::new());
    let at = |(seq, epoch): &(u64, u64)| JournalRecord {
        seq: Seq(*seq),
        epoch: Epoch(*epoch),
        ..record.clone()
    };
    places.iter().map(at).collect()
}

#[test]
fn x02_a_well_linked_chain_must_still_keep_the_rules() {
    let skipped = forged(&ticks(&[(0, 1), (2, 1)]));
    check_break(&skipped, 1, &BreakKind::Sequence { found: Seq(2) });

    let from = Epoch(2);
    let to = Epoch(1);
    let went_back = forged(&ticks(&[(0, 1), (1, 2), (2, 1)]));
    check_break(&went_back, 2, &BreakKind::EpochWentBack { from, to });

    let bytes = b"nonsense".to_vec();
    let hash = link(&genesis(), run(1), &EpisodeId::root(), &bytes);
    let mut check = ChainCheck::new(run(1), EpisodeId::root());
    let found = check.step(&bytes, &hash).unwrap_err();
    assert!(matches!(found.why, BreakKind::Undecodable { .. }));
}
