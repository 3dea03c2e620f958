use super::*;

const DIMENSIONS: usize = 24;

/// More than one block, and more than are compared exactly.
const SLOTS: u32 = 9_000;

/// Numbers that look drawn, the same ones every time.
fn vector(seed: u32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(12_345);
    let numbers = (0..DIMENSIONS).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f32::from((state >> 20) as i16) - 2_048.0
    });
    numbers.collect()
}

fn slots(hits: &[VectorHit]) -> Vec<u32> {
    hits.iter().map(|hit| hit.slot).collect()
}

/// By comparing with all of them.
fn truth(query: &[f32], is_there: impl Fn(u32) -> bool) -> Vec<u32> {
    let hits = (0..SLOTS)
        .filter(|slot| is_there(*slot))
        .map(|slot| VectorHit {
            slot,
            near: dot(&unit(&vector(slot)), query),
        });
    slots(&best(hits.collect(), 10))
}

#[test]
fn p06_the_nearest_are_those_that_comparing_with_all_finds() {
    let mut nearest = VectorIndex::default();
    (0..SLOTS).for_each(|slot| nearest.add(&vector(slot)));
    for number in 0..20 {
        let query = unit(&vector(100_000 + number));
        let found = nearest.search(&query, 10);
        assert_eq!(slots(&found), truth(&query, |_| true));
        assert!(found.iter().all(|hit| hit.near <= 1.000_1));
        let itself = unit(&vector(number));
        assert_eq!(nearest.search(&itself, 1)[0].slot, number);
    }
}

#[test]
fn p06_an_empty_slot_is_never_found() {
    let mut nearest = VectorIndex::default();
    (0..SLOTS).for_each(|slot| nearest.add(&vector(slot)));
    let is_there = |slot: u32| !slot.is_multiple_of(3);
    (0..SLOTS)
        .filter(|slot| !is_there(*slot))
        .for_each(|slot| nearest.remove(slot));
    for number in 0..9 {
        let query = unit(&vector(number));
        assert_eq!(slots(&nearest.search(&query, 10)), truth(&query, is_there));
    }
    nearest.add(&[0.0; DIMENSIONS]);
    let all = nearest.search(&unit(&vector(1)), SLOTS as usize + 1);
    assert_eq!(
        all.len(),
        SLOTS as usize * 2 / 3,
        "nor one that points nowhere"
    );
}

#[test]
fn p06_nothing_is_found_in_nothing() {
    assert_eq!(VectorIndex::default().search(&unit(&vector(1)), 10), []);
}
