//! Symbols on a real Redis server.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use fathom_core::domain::symbols::{SearchBy, SymbolFaultKind};
use fathom_store::symbols::{
    Embed, RedisAddress, SymbolStore as _, SymbolStoreError, VersionedSymbols,
};

use crate::redis_server::RedisServer;
use crate::symbols_suite::{self as suite, Place, Toy, ask, get, ids, key, put, search};

struct OnRedis(RedisServer);

impl OnRedis {
    fn new() -> Self {
        Self(RedisServer::start())
    }
}

impl Place for OnRedis {
    fn open(&self, embed: Option<Arc<dyn Embed>>) -> VersionedSymbols {
        VersionedSymbols::on_redis(&self.0.address("test"), embed).unwrap()
    }
}

#[test]
fn p06_on_redis_every_write_is_a_version() {
    suite::every_write_is_a_version(&OnRedis::new());
}

#[test]
fn p06_on_redis_a_write_that_comes_again_changes_nothing() {
    suite::a_write_that_comes_again_changes_nothing(&OnRedis::new());
}

#[test]
fn p06_on_redis_an_update_merges_facets_and_replaces_the_rest() {
    suite::an_update_merges_facets_and_replaces_the_rest(&OnRedis::new());
}

#[test]
fn p06_on_redis_what_cannot_be_kept_is_refused() {
    suite::what_cannot_be_kept_is_refused(&OnRedis::new());
}

#[test]
fn p06_on_redis_links_are_followed_once_each() {
    suite::links_are_followed_once_each(&OnRedis::new());
}

#[test]
fn p06_on_redis_kits_and_personas_come_with_their_symbols() {
    suite::kits_and_personas_come_with_their_symbols(&OnRedis::new());
}

#[test]
fn p06_on_redis_words_are_words_and_no_syntax() {
    suite::words_are_words_and_no_syntax(&OnRedis::new());
}

#[test]
fn p06_on_redis_meaning_follows_every_write() {
    suite::meaning_follows_every_write(&OnRedis::new());
}

#[test]
fn p06_on_redis_without_a_model_nothing_stands_in_for_it() {
    suite::without_a_model_nothing_stands_in_for_it(&OnRedis::new());
}

#[test]
fn p06_on_redis_a_model_that_fails_changes_nothing() {
    suite::a_model_that_fails_changes_nothing(&OnRedis::new());
}

#[test]
fn p06_on_redis_a_bad_entry_stops_a_whole_import() {
    suite::a_bad_entry_stops_a_whole_import(&OnRedis::new());
}

#[test]
fn p06_on_redis_an_import_adds_what_is_new_and_says_how_far_it_is() {
    suite::an_import_adds_what_is_new_and_says_how_far_it_is(&OnRedis::new());
}

#[test]
fn p06_on_redis_writers_at_once_lose_nothing() {
    suite::writers_at_once_lose_nothing(&OnRedis::new());
}

/// One of several stores on a server, apart by their prefixes.
struct Prefixed(RedisAddress);

impl Place for Prefixed {
    fn open(&self, embed: Option<Arc<dyn Embed>>) -> VersionedSymbols {
        VersionedSymbols::on_redis(&self.0, embed).unwrap()
    }
}

#[test]
fn p06_on_redis_a_catalogue_comes_out_as_it_went_in() {
    let server = RedisServer::start();
    let count = AtomicU32::new(0);
    suite::a_catalogue_comes_out_as_it_went_in(&|| {
        let prefix = format!("case{}", count.fetch_add(1, Ordering::Relaxed));
        Box::new(Prefixed(server.address(&prefix)))
    });
}

#[test]
fn p06_redis_may_be_restarted_in_the_middle() {
    let mut place = OnRedis::new();
    let store = place.open(Some(Toy::new("toy")));
    let first = ask(&store, 1, &put("A", "the automobile"));
    place.0.kill();
    place.0.start_again();
    assert_eq!(
        ask(&store, 1, &put("A", "the automobile")),
        first,
        "applied before"
    );
    assert_eq!(ask(&store, 2, &put("A", "a car")).symbols[0].version, 2);
    place.0.kill();
    place.0.start_again();
    let answer = ask(&store, 3, &search("automobile", SearchBy::Meaning));
    assert_eq!(ids(&answer), ["A"]);
    assert_eq!(store.versions("A").unwrap().len(), 2);
}

#[test]
fn p06_redis_that_refuses_writes_is_an_error_and_keeps_nothing_of_them() {
    let place = OnRedis::new();
    let store = place.open(None);
    ask(&store, 1, &put("A", "x"));
    for (refusal, end) in [
        (
            ["CONFIG", "SET", "min-replicas-to-write", "1"],
            ["CONFIG", "SET", "min-replicas-to-write", "0"],
        ),
        (
            ["CONFIG", "SET", "maxmemory", "1"],
            ["CONFIG", "SET", "maxmemory", "0"],
        ),
    ] {
        place.0.say(&refusal);
        let error = store.carry_out(&key(2), &put("A", "y")).unwrap_err();
        assert_eq!(error.code(), "F0903", "{error}");
        assert!(error.hint().contains("memory, disk, replicas"));
        assert_eq!(error.fault().kind, SymbolFaultKind::Unavailable);
        let catalogue = store.export().unwrap();
        assert_eq!(catalogue.symbols.len(), 1, "reading goes on");
        let mut more = catalogue;
        more.symbols.push(suite::symbol("B", "z"));
        let error = store.import(&more, &mut |_| {}).unwrap_err();
        assert_eq!(error.code(), "F0903");
        place.0.say(&end);
        assert_eq!(ids(&ask(&store, 3, &get(&["A", "B"]))), ["A"]);
        assert_eq!(store.versions("A").unwrap().len(), 1);
    }
    assert_eq!(ask(&store, 2, &put("A", "y")).symbols[0].version, 2);
}

#[test]
fn p06_a_redis_replica_can_be_read() {
    let place = OnRedis::new();
    let store = place.open(None);
    ask(&store, 1, &put("A", "x"));
    // Of a server that is not there: it keeps what it has and takes no writes.
    place
        .0
        .say(&["CONFIG", "SET", "replica-serve-stale-data", "yes"]);
    place.0.say(&["REPLICAOF", "127.0.0.1", "1"]);
    assert_eq!(ids(&ask(&store, 2, &get(&["A"]))), ["A"]);
    let error = store.carry_out(&key(3), &put("A", "y")).unwrap_err();
    assert_eq!(error.code(), "F0903", "{error}");
}

#[test]
fn p06_a_lost_redis_is_an_error_and_never_an_empty_answer() {
    let mut place = OnRedis::new();
    let store = place.open(None);
    ask(&store, 1, &put("A", "x"));
    place.0.kill();
    let lost = |error: SymbolStoreError| {
        assert_eq!(error.code(), "F0902", "{error}");
        assert!(error.hint().contains("check that the server is running"));
        assert!(error.to_string().contains("127.0.0.1"), "{error}");
    };
    for request in [
        get(&["A"]),
        search("x", SearchBy::Words),
        put("A", "y"),
        fathom_core::domain::symbols::SymbolRequest::Kit { id: "K".to_owned() },
    ] {
        lost(store.carry_out(&key(2), &request).unwrap_err());
    }
    lost(store.kits().unwrap_err());
    lost(store.count().unwrap_err());
    lost(store.export().unwrap_err());
    lost(store.versions("A").unwrap_err());
    lost(VersionedSymbols::on_redis(&place.0.address("test"), None).unwrap_err());
    place.0.start_again();
    assert_eq!(
        ids(&ask(&store, 3, &get(&["A"]))),
        ["A"],
        "the same store goes on"
    );
}

#[test]
fn p06_passwords_of_redis_are_never_told() {
    let place = OnRedis::new();
    place.0.say(&["CONFIG", "SET", "requirepass", "right-word"]);
    let open = |login: &str| {
        let address = RedisAddress::parse(&place.0.url(login), "test").unwrap();
        let shown = format!("{address:?} {}", address.place());
        assert!(!shown.contains("word"), "{shown}");
        VersionedSymbols::on_redis(&address, None)
    };
    for login in ["", ":wrong-word@", "nobody:wrong-word@"] {
        let error = open(login).unwrap_err();
        assert_eq!(error.code(), "F0904", "{error}");
        let shown = format!("{error} {error:?} {}", error.hint());
        assert!(!shown.contains("wrong-word"), "{shown}");
    }
    assert_eq!(open(":right-word@").unwrap().count().unwrap(), 0);
    for (url, prefix) in [
        ("redis//user:wrong-word@host", "test"),
        ("http://:wrong-word@host", "test"),
        ("redis://:wrong-word@host:port", "test"),
        ("redis://:wrong-word@host/x", "test"),
        ("redis://host", ""),
        ("redis://host", "a\nb"),
    ] {
        let error = RedisAddress::parse(url, prefix).unwrap_err();
        assert_eq!(error.code(), "F0905", "{url}");
        assert!(!format!("{error} {error:?}").contains("wrong-word"));
    }
}

#[test]
fn p06_foreign_data_under_the_prefix_is_damage() {
    let place = OnRedis::new();
    let store = place.open(None);
    ask(&store, 1, &put("A", "x"));
    place.0.say(&["HSET", "test:rows", "1", "no row"]);
    let error = store.carry_out(&key(2), &get(&["A"])).unwrap_err();
    assert_eq!(error.code(), "F0907", "{error}");
    place.0.say(&["SET", "test:format", "2"]);
    let error = VersionedSymbols::on_redis(&place.0.address("test"), None).unwrap_err();
    assert_eq!(error.code(), "F0908");
}
