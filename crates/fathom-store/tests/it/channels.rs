//! Deliveries, feeds and seeds: there once, readable by nobody without the key of the run.

use std::fs;

use fathom_core::unit::{Millis, Timestamp};
use fathom_store::HomeFolder;
use fathom_store::channels::{
    ChannelStore, ChannelStoreError, DeliveryId, DeliveryProgress, NewSeed, SEEDS_LISTED_MAX,
    SeedKind, SeedState,
};

use crate::sample::run;
use crate::sqlite::raw;

const NOW: Timestamp = Timestamp(1_700_000_000_000);

fn home() -> (tempfile::TempDir, HomeFolder) {
    let folder = tempfile::tempdir().unwrap();
    let home = HomeFolder::open(folder.path()).unwrap();
    for number in 1..=2 {
        home.keys().create_run_key(run(number)).unwrap();
    }
    (folder, home)
}

fn web(id: &str) -> DeliveryId<'_> {
    DeliveryId { id, channel: "web" }
}

fn said(channels: &ChannelStore, after: u64) -> Vec<(u64, Option<String>)> {
    let entries = channels.feed("web", after, 100).unwrap();
    entries
        .into_iter()
        .map(|entry| (entry.seq, entry.body))
        .collect()
}

fn texts(of: &[&str]) -> Vec<String> {
    of.iter().map(|&text| text.to_owned()).collect()
}

#[test]
fn g09_what_is_delivered_again_is_in_the_feed_once() {
    let (_folder, home) = home();
    let channels = home.open_channels().unwrap();
    let publish = |id: &str, bodies: &[&str]| {
        let bodies = texts(bodies);
        channels.publish(web(id), run(1), &bodies, NOW).unwrap();
    };
    publish("1/0/0", &["begin", "end"]);
    publish("1/0/1", &["more"]);
    publish("1/0/0", &["begin", "end"]);
    let some = |text: &str| Some(text.to_owned());
    let all = vec![(1, some("begin")), (2, some("end")), (3, some("more"))];
    assert_eq!(said(&channels, 0), all);
    assert_eq!(
        said(&channels, 2),
        all[2..],
        "reading goes on after a number"
    );
    assert!(channels.feed("council", 0, 100).unwrap().is_empty());
    assert!(channels.progress(web("1/0/0")).unwrap().is_over);
    assert_eq!(
        channels.progress(web("1/0/9")).unwrap(),
        DeliveryProgress::default()
    );
    drop(channels);
    let again = home.open_channels().unwrap();
    assert_eq!(said(&again, 0), all, "it outlives the process");
}

#[test]
fn g09_how_far_a_delivery_is_outlives_the_process() {
    let (_folder, home) = home();
    let begun = DeliveryProgress {
        is_over: false,
        begun: 2,
        begun_at: NOW.plus(Millis(1)),
        sent: 1,
    };
    let before = DeliveryProgress {
        begun: 1,
        begun_at: NOW,
        ..begun
    };
    let channels = home.open_channels().unwrap();
    for progress in [before, begun] {
        channels.note(web("1/0/0"), progress).unwrap();
    }
    drop(channels);
    let channels = home.open_channels().unwrap();
    assert_eq!(channels.progress(web("1/0/0")).unwrap(), begun);
}

#[test]
fn g13_seeds_are_kept_once_and_come_in_order() {
    let (_folder, home) = home();
    let seeds = home.open_channels().unwrap().seeds();
    let add = |id: &str, kind, text: &str| {
        let seed = NewSeed {
            id,
            run: run(1),
            kind,
            text,
            created: NOW,
        };
        seeds.add(&seed).unwrap();
    };
    add("1/0/0", SeedKind::Verify, "success");
    add("1/0/1", SeedKind::ThoughtSeed, "buy a shelf");
    add("1/0/2", SeedKind::ThoughtSeed, "paint it");
    let next = || seeds.next().unwrap().map(|seed| seed.id);
    assert_eq!(next().as_deref(), Some("1/0/1"), "a result is no idea");
    assert!(seeds.mark("1/0/1", SeedState::Reviewed).unwrap());
    assert!(!seeds.mark("1/0/7", SeedState::Reviewed).unwrap());
    add("1/0/1", SeedKind::ThoughtSeed, "another text");
    let first = seeds.get("1/0/1").unwrap().unwrap();
    assert_eq!(first.text.as_deref(), Some("buy a shelf"));
    assert_eq!(first.state, SeedState::Reviewed, "it stays as it is");
    assert_eq!(next().as_deref(), Some("1/0/2"));
    seeds.mark("1/0/2", SeedState::Deferred).unwrap();
    assert_eq!(next(), None);
    let ids = |state| -> Vec<String> {
        let listed = seeds.list(state).unwrap().into_iter();
        listed.map(|seed| seed.id).collect()
    };
    assert_eq!(ids(None), ["1/0/0", "1/0/1", "1/0/2"]);
    assert_eq!(ids(Some(SeedState::Deferred)), ["1/0/2"]);
}

#[test]
fn g10_nothing_stands_in_clear_and_a_shredded_run_says_nothing() {
    let (folder, home) = home();
    let channels = home.open_channels().unwrap();
    let secret = "the fox is in the henhouse";
    let bodies = texts(&[secret]);
    channels
        .publish(web("1/0/0"), run(1), &bodies, NOW)
        .unwrap();
    let memory = DeliveryId {
        id: "1/0/1",
        channel: "memory",
    };
    let seed = NewSeed {
        id: "1/0/1",
        run: run(1),
        kind: SeedKind::ThoughtSeed,
        text: secret,
        created: NOW,
    };
    channels.remember(memory, &seed).unwrap();
    assert!(channels.progress(memory).unwrap().is_over);
    for name in ["channels.db", "channels.db-wal"] {
        let bytes = fs::read(folder.path().join(name)).unwrap_or_default();
        let found = bytes
            .windows(secret.len())
            .any(|window| window == secret.as_bytes());
        assert!(!found, "{name}");
    }
    home.shred(run(1)).unwrap();
    assert_eq!(said(&channels, 0), [(1, None)]);
    assert_eq!(channels.seeds().next().unwrap(), None);
    assert_eq!(channels.seeds().list(None).unwrap()[0].text, None);
    let after = channels.publish(web("1/0/2"), run(1), &bodies, NOW);
    assert!(after.is_err(), "nobody makes its key anew");
    channels
        .publish(web("2/0/0"), run(2), &bodies, NOW)
        .unwrap();
}

#[test]
fn a_newer_file_is_not_touched() {
    let (folder, home) = home();
    drop(home.open_channels().unwrap());
    let connection = raw(&folder.path().join("channels.db"));
    connection.pragma_update(None, "user_version", 9).unwrap();
    let found = home.open_channels().unwrap_err();
    assert_eq!(found.code(), "F1031");
    assert!(matches!(
        found,
        ChannelStoreError::NewerFormat { found: 9, .. }
    ));
}

#[test]
fn g13_the_newest_seeds_are_listed_where_there_are_too_many() {
    let (_folder, home) = home();
    let seeds = home.open_channels().unwrap().seeds();
    for number in 0..=SEEDS_LISTED_MAX {
        let id = format!("1/0/{number}");
        let seed = NewSeed {
            id: &id,
            run: run(1),
            kind: SeedKind::ThoughtSeed,
            text: "an idea",
            created: NOW,
        };
        seeds.add(&seed).unwrap();
    }
    let listed = seeds.list(None).unwrap();
    assert_eq!(
        listed.first().unwrap().id,
        "1/0/1",
        "the oldest is left out"
    );
    assert_eq!(listed.last().unwrap().id, format!("1/0/{SEEDS_LISTED_MAX}"));
    assert_eq!(seeds.next().unwrap().unwrap().id, "1/0/0", "and still next");
}

#[test]
fn g13_an_idea_that_was_taken_up_is_put_off_until_something_came_of_it() {
    let (_folder, home) = home();
    let seeds = home.open_channels().unwrap().seeds();
    let seed = NewSeed {
        id: "1/0/0",
        run: run(1),
        kind: SeedKind::ThoughtSeed,
        text: "an idea",
        created: NOW,
    };
    seeds.add(&seed).unwrap();
    assert!(seeds.take("1/0/0").unwrap());
    assert!(!seeds.take("1/0/0").unwrap(), "it is the first one's");
    // Whoever took it may be killed before anything was thought.
    let left = seeds.get("1/0/0").unwrap().unwrap();
    assert_eq!(left.state, SeedState::Deferred);
}
