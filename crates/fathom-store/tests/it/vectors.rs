use std::fs;

use fathom_store::{VectorCache, VectorHash};

fn hash(number: u8) -> VectorHash {
    [number; 32]
}

fn vector(number: u8) -> Vec<f32> {
    vec![f32::from(number), -0.5, 1.0e-7]
}

fn put(cache: &VectorCache, numbers: std::ops::Range<u8>) {
    let vectors: Vec<_> = numbers
        .map(|number| (hash(number), vector(number)))
        .collect();
    cache.put("minilm", &vectors);
}

fn has(cache: &VectorCache, number: u8) -> bool {
    cache.get("minilm", &[hash(number)]) == [Some(vector(number))]
}

#[test]
fn vectors_outlive_the_process_under_their_model() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("cache.db");
    put(&VectorCache::open(&file), 0..3);
    let cache = VectorCache::open(&file);
    let found = cache.get("minilm", &[hash(2), hash(9), hash(0)]);
    assert_eq!(found, [Some(vector(2)), None, Some(vector(0))]);
    assert_eq!(cache.get("another", &[hash(2)]), [None]);
}

#[test]
fn vectors_unused_for_longest_make_room() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("cache.db");
    put(&VectorCache::bounded(&file, 10), 0..10);
    for _ in 0..10 {
        VectorCache::bounded(&file, 10);
    }
    let cache = VectorCache::bounded(&file, 10);
    assert!(has(&cache, 0), "it is used again");
    put(&cache, 10..11);
    assert!(has(&cache, 0) && has(&cache, 10), "both were used last");
    assert!(!has(&cache, 1), "it was not");
    let left = (0..11).filter(|number| has(&cache, *number)).count();
    assert_eq!(left, 9, "a tenth is left free");
}

#[test]
fn vectors_in_a_damaged_file_are_set_aside() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("cache.db");
    fs::write(
        &file,
        b"this is no database, and it is longer than a header of one hundred bytes: ".repeat(9),
    )
    .unwrap();
    let cache = VectorCache::open(&file);
    put(&cache, 0..1);
    assert!(has(&cache, 0));
    assert!(home.path().join("cache.damaged").is_file());
    assert!(has(&VectorCache::open(&file), 0));
}

#[test]
fn vectors_damaged_while_open_are_begun_anew() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("cache.db");
    put(&VectorCache::open(&file), 0..200);
    // The tables stay readable, the rows do not.
    let mut bytes = fs::read(&file).unwrap();
    let pages = bytes.len() / 4096;
    assert!(pages > 4);
    bytes[3 * 4096..].fill(0xaa);
    fs::write(&file, bytes).unwrap();
    let cache = VectorCache::open(&file);
    let all: Vec<_> = (0..200).map(hash).collect();
    assert_eq!(cache.get("minilm", &all).len(), 200);
    put(&cache, 0..200);
    put(&cache, 0..200);
    assert!((0..200).all(|number| has(&cache, number)));
}

#[test]
fn vectors_without_a_usable_place_are_not_kept() {
    let home = tempfile::tempdir().unwrap();
    let cache = VectorCache::open(&home.path().join("no/such/folder/cache.db"));
    put(&cache, 0..1);
    assert_eq!(cache.get("minilm", &[hash(0), hash(1)]), [None, None]);
}

#[test]
fn vectors_are_written_by_several_at_once() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("cache.db");
    std::thread::scope(|scope| {
        for writer in 0..4_u8 {
            let file = &file;
            scope.spawn(move || {
                let cache = VectorCache::open(file);
                for number in 0..20 {
                    put(&cache, writer * 20 + number..writer * 20 + number + 1);
                }
            });
        }
    });
    let cache = VectorCache::open(&file);
    assert!((0..80).all(|number| has(&cache, number)));
}
