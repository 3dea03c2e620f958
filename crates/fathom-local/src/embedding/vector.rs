//! Vector of a text.

/// Number of dimensions.
pub const DIMENSIONS: usize = 384;

/// A direction in [`DIMENSIONS`] dimensions: a vector of length one, or all zeros for no direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedding(Box<[f32; DIMENSIONS]>);

impl Embedding {
    /// The direction of a vector. `None` if it contains an infinite number or NaN.
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

    /// The direction of the mean of several concatenated vectors.
    pub(super) fn mean(vectors: &[f32]) -> Option<Self> {
        Self::middle(vectors.chunks_exact(DIMENSIONS))
    }

    /// The direction of the mean of several embeddings.
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

    /// The vector's numbers.
    pub fn as_slice(&self) -> &[f32] {
        self.0.as_slice()
    }

    /// Similarity of two texts: 1 for the same direction, 0 for nothing in common, −1 for opposite ones.
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
