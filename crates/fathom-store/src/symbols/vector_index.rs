//! Search by meaning: the vectors nearest to another.
//!
//! Every vector is compared, first with one byte per dimension, then the best candidates exactly. At a hundred
//! thousand vectors that takes milliseconds, is as good as exact, needs no file and never has to be built:
//! `docs/decisions/0011-symbol-search.md`.

use rayon::iter::{IndexedParallelIterator as _, ParallelIterator as _};
use rayon::slice::ParallelSlice as _;

/// Number of vectors in one unit of work of a thread.
const BLOCK: usize = 4_096;

/// Number of candidates compared exactly, in addition to the requested number.
const SPARE: usize = 64;

/// A hit: its slot, and its similarity of at most one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct VectorHit {
    pub(super) slot: u32,
    pub(super) near: f32,
}

/// The best hits, best first; of equals the one that came first.
pub(super) fn best(mut hits: Vec<VectorHit>, limit: usize) -> Vec<VectorHit> {
    let order = |a: &VectorHit, b: &VectorHit| b.near.total_cmp(&a.near).then(a.slot.cmp(&b.slot));
    // Most of the list is dropped, so only the rest is sorted.
    if hits.len() > limit {
        hits.select_nth_unstable_by(limit, order);
        hits.truncate(limit);
    }
    hits.sort_unstable_by(order);
    hits
}

/// Vectors of one length in consecutive slots.
#[derive(Default)]
pub(super) struct VectorIndex {
    /// Each of length one.
    exact: Vec<f32>,
    /// The same with a byte per dimension.
    coarse: Vec<i8>,
    /// Value of a byte's unit in each slot; zero if the slot is empty.
    scales: Vec<f32>,
}

impl VectorIndex {
    /// Slots so far.
    pub(super) fn len(&self) -> usize {
        self.scales.len()
    }

    /// Puts a vector into the next slot. A zero vector is never found.
    pub(super) fn add(&mut self, vector: &[f32]) {
        let unit = unit(vector);
        let (coarse, scale) = coarse(&unit);
        self.exact.extend(unit);
        self.coarse.extend(coarse);
        self.scales.push(scale);
    }

    /// Empties a slot, if it was filled.
    pub(super) fn remove(&mut self, slot: u32) {
        if let Some(scale) = self.scales.get_mut(slot as usize) {
            *scale = 0.0;
        }
    }

    /// Similarity of two vectors: the cosine.
    pub(super) fn near(&self, slot: u32, query: &[f32]) -> f32 {
        let place = slot as usize * query.len();
        dot(&self.exact[place..place + query.len()], query)
    }

    /// The slots most similar to a unit vector, best first.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "a product of bytes is exact in an f32, and there are fewer slots than a u32 counts"
    )]
    pub(super) fn search(&self, query: &[f32], limit: usize) -> Vec<VectorHit> {
        let (sought, _) = coarse(query);
        // Widened once instead of for every vector.
        let sought: Vec<i16> = sought.into_iter().map(i16::from).collect();
        let candidates = limit + SPARE;
        let block = |(number, block): (usize, &[i8])| {
            let first = number * BLOCK;
            let hits = block.chunks_exact(query.len()).enumerate();
            let hits = hits.filter_map(|(index, bytes)| {
                let scale = self.scales[first + index];
                (scale > 0.0).then(|| VectorHit {
                    slot: (first + index) as u32,
                    near: dot_of_bytes(bytes, &sought) as f32 * scale,
                })
            });
            best(hits.collect(), candidates)
        };
        let hits: Vec<VectorHit> = self
            .coarse
            .par_chunks(BLOCK * query.len().max(1))
            .enumerate()
            .flat_map_iter(block)
            .collect();
        let mut hits = best(hits, candidates);
        for hit in &mut hits {
            hit.near = self.near(hit.slot, query);
        }
        best(hits, limit)
    }
}

/// The vector with length one, or all zeros.
pub(super) fn unit(vector: &[f32]) -> Vec<f32> {
    let length = dot(vector, vector).sqrt();
    let factor = if length > 0.0 { length.recip() } else { 0.0 };
    vector.iter().map(|number| number * factor).collect()
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "numbers are within a byte once they are divided by the largest of them"
)]
fn coarse(unit: &[f32]) -> (Vec<i8>, f32) {
    let largest = unit
        .iter()
        .fold(0.0_f32, |most, number| most.max(number.abs()));
    let scale = largest / 127.0;
    // Of a zero vector every quotient is NaN, which casts to 0; its scale of 0 keeps it out of every search.
    let bytes = unit.iter().map(|number| (number / scale).round() as i8);
    (bytes.collect(), scale)
}

/// Written so that the compiler adds up several products at once.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let (a, a_rest) = a.as_chunks::<16>();
    let (b, b_rest) = b.as_chunks::<16>();
    let mut sums = [0.0_f32; 16];
    for (a, b) in a.iter().zip(b) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}

/// Cannot overflow; the wrapping operations spare checks that would keep the compiler from taking several at once.
fn dot_of_bytes(bytes: &[i8], sought: &[i16]) -> i32 {
    bytes.iter().zip(sought).fold(0, |sum: i32, (a, b)| {
        sum.wrapping_add(i32::from(*a).wrapping_mul(i32::from(*b)))
    })
}

#[cfg(test)]
#[path = "vector_index_tests.rs"]
mod tests;
