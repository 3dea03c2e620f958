//! A vector that stands for a text.

/// Numbers in a vector.
pub const DIMENSIONS: usize = 384;

/// A direction in [`DIMENSIONS`] dimensions: a vector of length one, or all zeros where there is none.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedding(Box<[f32; DIMENSIONS]>);

impl Embedding {
    /// The direction of a vector. `None` when a number in it is infinite or none at all.
    pub fn towards(vector: &[f32; DIMENSIONS]) -> Option<Self> {
        if !vector.iter().all(|x| x.is_finite()) {
            return None;
        }
        let length = vector
            .iter()
            .map(|&x| f64::from(x) * f64::from(x))
            .sum::<f64>()
            .sqrt();
        let scale = if length > 0.0 { length.recip() } else { 0.0 };
        let mut unit = Box::new([0.0; DIMENSIONS]);
        for (unit, &x) in unit.iter_mut().zip(vector) {
            *unit = narrow(f64::from(x) * scale);
        }
        Some(Self(unit))
    }

    /// The direction of the mean of several vectors, one after the other.
    pub(super) fn mean(vectors: &[f32]) -> Option<Self> {
        Self::middle(vectors.chunks_exact(DIMENSIONS))
    }

    /// The direction in between several, as far as there is one.
    pub fn centre(embeddings: &[Self]) -> Option<Self> {
        Self::middle(embeddings.iter().map(Self::as_slice))
    }

    fn middle<'a>(vectors: impl Iterator<Item = &'a [f32]>) -> Option<Self> {
        let mut sum = [0.0_f64; DIMENSIONS];
        let mut count = 0.0_f64;
        for vector in vectors {
            count += 1.0;
            for (sum, &x) in sum.iter_mut().zip(vector) {
                *sum += f64::from(x);
            }
        }
        Self::towards(&sum.map(|sum| narrow(sum / count)))
    }

    /// The numbers.
    pub fn as_slice(&self) -> &[f32] {
        self.0.as_slice()
    }

    /// How much two texts say the same: 1 for the same direction, 0 for nothing in common, −1 for opposite ones.
    pub fn cosine(&self, other: &Self) -> f32 {
        self.0.iter().zip(other.0.iter()).map(|(a, b)| a * b).sum()
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the model's own numbers have no more than 32 bits"
)]
fn narrow(x: f64) -> f32 {
    x as f32
}
