use std::collections::HashMap;

use fathom_core::id::{AskId, Digest, Epoch};
use fathom_core::journal::event::{EventKind, JournalRecord};
use fathom_core::text::{Text, VisitTexts};
use fathom_store::journal::chain::{decode, encode};
use fathom_store::journal::seal::{SealedBlob, TEXT_BYTES_MAX, address_of};
use fathom_store::{JournalEntry, RecordChain, StoreError, TextSealer};

use crate::sample::{self, Author, key, run};

const CANARY: &str = "xq-canary-xq";

fn texts(record: &JournalRecord) -> Vec<Text> {
    let mut found = Vec::new();
    record
        .clone()
        .each_text(&mut |text| found.push(text.clone()));
    found
}

fn by_address(blobs: Vec<SealedBlob>) -> HashMap<Digest, Vec<u8>> {
    let blobs = blobs.into_iter().map(|blob| (blob.address, blob.bytes));
    blobs.collect()
}

fn says(words: &str) -> JournalRecord {
    let kind = EventKind::ModelDelta {
        ask: AskId(1),
        attempt: 0,
        text: Text::from(words),
    };
    Author::new(1, Epoch(1)).record("0", kind, Vec::new())
}

#[test]
fn x02_every_text_is_sealed_and_opens_again() {
    let sealer = TextSealer::new(run(1), &key(1));
    for mut record in sample::every_record() {
        let mut number = 0;
        record.each_text(&mut |text| {
            number += 1;
            *text = Text::from(format!("{CANARY} {number}"));
        });
        let plain = record.clone();
        let blobs = sealer.seal(&mut record).unwrap();
        assert_eq!(blobs.len(), number);
        let bytes = encode(&record).unwrap();
        assert!(!String::from_utf8(bytes.clone()).unwrap().contains(CANARY));

        let blobs = by_address(blobs);
        let mut read = decode(&bytes).unwrap();
        assert!(texts(&read).iter().all(Text::is_closed));
        sealer
            .open(&mut read, |address| Ok(blobs.get(address).cloned()))
            .unwrap();
        assert_eq!(texts(&read), texts(&plain));
    }
}

#[test]
fn x02_the_same_text_gives_the_same_blob_within_a_run_and_no_other() {
    let blob = |number, key_number, words| {
        let sealer = TextSealer::new(run(number), &key(key_number));
        sealer.seal(&mut says(words)).unwrap().remove(0)
    };
    let base = blob(1, 1, "yes");
    assert_eq!(blob(1, 1, "yes"), base);
    assert_eq!(base.address, address_of(&base.bytes));
    for other in [blob(2, 1, "yes"), blob(1, 2, "yes"), blob(1, 1, "no!")] {
        assert_ne!(other.bytes, base.bytes);
    }
}

/// Blobs are on people's disks: a change here is a new format.
#[test]
fn x02_blobs_stay_what_they_are() {
    let sealer = TextSealer::new(run(1), &key(1));
    let blob = sealer.seal(&mut says("words")).unwrap().remove(0);
    assert_eq!(blob.bytes.len(), 24 + "words".len() + 16);
    assert_eq!(
        blob.address.to_string(),
        "8b40f8e70e058340e6005313518688858d903d60b182ef5e676632c80ff2f5b6"
    );
}

#[test]
fn a_text_that_stands_twice_in_a_record_is_one_blob() {
    let mut author = Author::new(1, Epoch(1));
    let call = || sample::call_model("a question");
    let entry = author.entry("0", EventKind::Tick, vec![call(), call()]);
    assert_eq!(entry.blobs.len(), 3);
}

#[test]
fn x02_a_text_sealed_by_another_run_is_sealed_again() {
    let (first, second) = (
        TextSealer::new(run(1), &key(1)),
        TextSealer::new(run(2), &key(2)),
    );
    let mut record = says("words");
    first.seal(&mut record).unwrap();
    let before = texts(&record)[0].address();
    let blobs = second.seal(&mut record).unwrap();
    let after = texts(&record)[0].address();
    assert_ne!(before, after);
    assert_eq!(after, Some(blobs[0].address));
}

#[test]
fn x08_a_closed_text_cannot_be_sealed() {
    let sealer = TextSealer::new(run(1), &key(1));
    let mut record = says("words");
    sealer.seal(&mut record).unwrap();
    let mut closed = decode(&encode(&record).unwrap()).unwrap();
    let error = sealer.seal(&mut closed).unwrap_err();
    assert!(matches!(error, StoreError::ClosedText), "{error}");
}

#[track_caller]
fn check_open(sealer: &TextSealer, stored: Option<&[u8]>, code: &str) {
    let mut record = says("words");
    TextSealer::new(run(1), &key(1)).seal(&mut record).unwrap();
    let mut closed = decode(&encode(&record).unwrap()).unwrap();
    let error = sealer
        .open(&mut closed, |_| Ok(stored.map(<[u8]>::to_vec)))
        .unwrap_err();
    assert_eq!(error.code(), code, "{error}");
    assert!(texts(&closed)[0].is_closed());
}

#[test]
fn x08_wrong_bytes_and_wrong_keys_are_told_apart() {
    let sealer = TextSealer::new(run(1), &key(1));
    let blob = sealer.seal(&mut says("words")).unwrap().remove(0);
    check_open(&sealer, None, "F0216");
    for at in 0..blob.bytes.len() {
        let mut damaged = blob.bytes.clone();
        damaged[at] ^= 1;
        check_open(&sealer, Some(&damaged), "F0217");
    }
    check_open(&sealer, Some(&[]), "F0217");
    let other_key = TextSealer::new(run(1), &key(2));
    check_open(&other_key, Some(&blob.bytes), "F0218");
    let other_run = TextSealer::new(run(2), &key(1));
    check_open(&other_run, Some(&blob.bytes), "F0218");
}

#[test]
fn x08_a_text_beyond_the_limit_is_refused_and_the_chain_is_as_before() {
    let sealer = TextSealer::new(run(1), &key(1));
    let mut chain = RecordChain::new(run(1), sample::episode("0"));
    let before = chain.clone();
    let mut record = says(&"x".repeat(TEXT_BYTES_MAX + 1));
    let error = JournalEntry::seal(&mut record, &mut chain, &sealer).unwrap_err();
    assert!(matches!(error, StoreError::TooLarge { .. }), "{error}");
    assert_eq!(chain, before);
}

#[test]
fn x08_an_entry_takes_the_next_place_of_its_own_chain_only() {
    let sealer = TextSealer::new(run(1), &key(1));
    let mut record = says("words");
    let mut elsewhere = RecordChain::new(run(2), sample::episode("0"));
    let error = JournalEntry::seal(&mut record, &mut elsewhere, &sealer).unwrap_err();
    assert!(matches!(error, StoreError::OutOfOrder { .. }), "{error}");

    let mut chain = RecordChain::new(run(1), sample::episode("0"));
    JournalEntry::seal(&mut record, &mut chain, &sealer).unwrap();
    let error = JournalEntry::seal(&mut record, &mut chain, &sealer).unwrap_err();
    assert!(matches!(error, StoreError::OutOfOrder { .. }), "{error}");
}

#[test]
fn keys_and_sealers_do_not_show_what_they_hold() {
    let shown = format!("{:?} {:?}", key(0x41), TextSealer::new(run(1), &key(0x41)));
    assert!(!shown.contains("65") && !shown.contains("AAAA"), "{shown}");
}
