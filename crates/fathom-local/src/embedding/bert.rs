//! The network of all-MiniLM-L6-v2: six layers of attention between the word pieces of a text.
//!
//! The texts of a batch are stacked as rows, without padding. Only attention knows where one ends, and nothing
//! else mixes rows; so a text's numbers are the same to the last bit whatever is above and below it.

use rten_gemm::{BiasVector, GemmExecutor, GemmInputA, GemmInputB, GemmOptions, PackedBMatrix};
use rten_simd::{SimdOp as _, SimdUnaryOp as _};
use rten_tensor::{Matrix, NdTensorView};
use rten_vecmath::{Gelu, Normalize, NormalizeOptions, Softmax, Sum, SumSquareSub};

use super::error::ModelFault;
use super::safetensors::TensorFile;
use super::vector::{DIMENSIONS, Embedding};

// The shape of all-MiniLM-L6-v2. Loading compares every tensor with it.
const LAYERS: usize = 6;
const HEADS: usize = 12;
const HEAD: usize = DIMENSIONS / HEADS;
const INNER: usize = 4 * DIMENSIONS;
const WORD_PIECES: usize = 30_522;
const POSITIONS: usize = 512;
const KINDS: usize = 2;
/// Keeps a division from being one by zero; the value that the model was trained with.
const EPSILON: f32 = 1e-12;

/// The weights in the layout for multiplication.
pub(super) struct BertModel {
    words: Vec<f32>,
    /// The vector of each position plus that of the first text kind: there is only one kind here.
    positions: Vec<f32>,
    norm: LayerNorm,
    layers: Vec<BertLayer>,
}

struct BertLayer {
    /// Query, key and value side by side.
    look: DenseWeights,
    attended: DenseWeights,
    attended_norm: LayerNorm,
    inner: DenseWeights,
    outer: DenseWeights,
    outer_norm: LayerNorm,
}

struct DenseWeights {
    weights: PackedBMatrix<f32>,
    bias: Vec<f32>,
}

struct LayerNorm {
    scale: Vec<f32>,
    bias: Vec<f32>,
}

impl BertModel {
    pub(super) fn load(tensors: &TensorFile<'_>) -> Result<Self, ModelFault> {
        let gemm = GemmExecutor::new();
        let mut positions = tensors.floats(
            "embeddings.position_embeddings.weight",
            &[POSITIONS, DIMENSIONS],
        )?;
        let kinds = tensors.floats(
            "embeddings.token_type_embeddings.weight",
            &[KINDS, DIMENSIONS],
        )?;
        for position in positions.chunks_exact_mut(DIMENSIONS) {
            add(position, &kinds[..DIMENSIONS]);
        }
        Ok(Self {
            words: tensors.floats(
                "embeddings.word_embeddings.weight",
                &[WORD_PIECES, DIMENSIONS],
            )?,
            positions,
            norm: LayerNorm::load(tensors, "embeddings.LayerNorm")?,
            layers: (0..LAYERS)
                .map(|layer| BertLayer::load(tensors, &gemm, &format!("encoder.layer.{layer}")))
                .collect::<Result<_, _>>()?,
        })
    }

    /// Embeds texts, given as word pieces. No text may be empty.
    pub(super) fn embed(&self, texts: &[&[u32]]) -> Result<Vec<Embedding>, ModelFault> {
        // Not shareable between threads, and choosing the processor's kernel again costs next to nothing.
        let gemm = GemmExecutor::new();
        let mut rows = Vec::new();
        for text in texts {
            for (position, &piece) in text.iter().enumerate() {
                let mut row = self.word(piece)?.to_vec();
                add(
                    &mut row,
                    &self.positions[position * DIMENSIONS..][..DIMENSIONS],
                );
                rows.extend(row);
            }
        }
        self.norm.apply(&mut rows);
        for layer in &self.layers {
            layer.apply(&gemm, texts, &mut rows)?;
        }
        let mut rest = rows.as_slice();
        texts
            .iter()
            .map(|text| {
                let (rows, after) = rest.split_at(text.len() * DIMENSIONS);
                rest = after;
                Embedding::mean(rows).ok_or(ModelFault::Infinite)
            })
            .collect()
    }

    fn word(&self, piece: u32) -> Result<&[f32], ModelFault> {
        let start = piece as usize * DIMENSIONS;
        self.words
            .get(start..start + DIMENSIONS)
            .ok_or(ModelFault::NoPiece(piece))
    }
}

impl BertLayer {
    fn load(
        tensors: &TensorFile<'_>,
        gemm: &GemmExecutor,
        layer: &str,
    ) -> Result<Self, ModelFault> {
        let one = |name: &str, inputs, outputs| {
            DenseWeights::load(
                tensors,
                gemm,
                &[&format!("{layer}.{name}")],
                inputs,
                outputs,
            )
        };
        let look = ["query", "key", "value"].map(|name| format!("{layer}.attention.self.{name}"));
        Ok(Self {
            look: DenseWeights::load(
                tensors,
                gemm,
                &look.each_ref().map(String::as_str),
                DIMENSIONS,
                DIMENSIONS,
            )?,
            attended: one("attention.output.dense", DIMENSIONS, DIMENSIONS)?,
            attended_norm: LayerNorm::load(
                tensors,
                &format!("{layer}.attention.output.LayerNorm"),
            )?,
            inner: one("intermediate.dense", DIMENSIONS, INNER)?,
            outer: one("output.dense", INNER, DIMENSIONS)?,
            outer_norm: LayerNorm::load(tensors, &format!("{layer}.output.LayerNorm"))?,
        })
    }

    fn apply(
        &self,
        gemm: &GemmExecutor,
        texts: &[&[u32]],
        rows: &mut [f32],
    ) -> Result<(), ModelFault> {
        let count = rows.len() / DIMENSIONS;
        let mut looks = vec![0.0; count * 3 * DIMENSIONS];
        self.look
            .apply(gemm, rows, &mut looks, Accumulate::Nothing)?;
        let mut attended = Vec::with_capacity(rows.len());
        let mut rest = looks.as_slice();
        for text in texts {
            let (looks, after) = rest.split_at(text.len() * 3 * DIMENSIONS);
            rest = after;
            attended.extend(attend(gemm, looks, text.len())?);
        }
        // Onto the rows themselves: the residual connections of the network.
        self.attended
            .apply(gemm, &attended, rows, Accumulate::WhatIsThere)?;
        self.attended_norm.apply(rows);

        let mut inner = vec![0.0; count * INNER];
        self.inner
            .apply(gemm, rows, &mut inner, Accumulate::Nothing)?;
        Gelu {}.map_mut(&mut inner);
        self.outer
            .apply(gemm, &inner, rows, Accumulate::WhatIsThere)?;
        self.outer_norm.apply(rows);
        Ok(())
    }
}

/// Initial value of a product's output.
#[derive(Clone, Copy)]
enum Accumulate {
    Nothing,
    WhatIsThere,
}

impl DenseWeights {
    /// Loads layers that share their input, side by side.
    fn load(
        tensors: &TensorFile<'_>,
        gemm: &GemmExecutor,
        names: &[&str],
        inputs: usize,
        outputs: usize,
    ) -> Result<Self, ModelFault> {
        let (mut weights, mut bias) = (Vec::new(), Vec::new());
        for name in names {
            weights.extend(tensors.floats(&format!("{name}.weight"), &[outputs, inputs])?);
            bias.extend(tensors.floats(&format!("{name}.bias"), &[outputs])?);
        }
        let weights = matrix(&weights, names.len() * outputs, inputs)?;
        Ok(Self {
            weights: gemm.prepack_b(weights.transposed()),
            bias,
        })
    }

    fn apply(
        &self,
        gemm: &GemmExecutor,
        rows: &[f32],
        output: &mut [f32],
        onto: Accumulate,
    ) -> Result<(), ModelFault> {
        let count = output.len() / self.bias.len();
        let input = matrix(rows, count, rows.len() / count.max(1))?;
        let options = GemmOptions {
            beta: match onto {
                Accumulate::Nothing => 0.0,
                Accumulate::WhatIsThere => 1.0,
            },
            bias: Some(BiasVector::Row(&self.bias)),
            ..GemmOptions::default()
        };
        gemm.gemm(
            output,
            GemmInputA::Unpacked(input),
            GemmInputB::Packed(&self.weights),
            options,
        )
        .map_err(ModelFault::engine)
    }
}

impl LayerNorm {
    fn load(tensors: &TensorFile<'_>, name: &str) -> Result<Self, ModelFault> {
        Ok(Self {
            scale: tensors.floats(&format!("{name}.weight"), &[DIMENSIONS])?,
            bias: tensors.floats(&format!("{name}.bias"), &[DIMENSIONS])?,
        })
    }

    #[expect(clippy::cast_precision_loss, reason = "384 is exact")]
    fn apply(&self, rows: &mut [f32]) {
        for row in rows.chunks_exact_mut(DIMENSIONS) {
            let mean = Sum::new(row).dispatch() / DIMENSIONS as f32;
            let variance = SumSquareSub::new(row, mean).dispatch() / DIMENSIONS as f32;
            let options = NormalizeOptions {
                pre_scale_bias: mean,
                scale: (variance + EPSILON).sqrt().recip(),
                element_scale: Some(&self.scale),
                bias: 0.0,
                element_bias: Some(&self.bias),
            };
            Normalize::new_mut(row, options).dispatch();
        }
    }
}

/// Attention within one text: each row takes from the others' values according to how well its query matches
/// their keys.
fn attend(gemm: &GemmExecutor, looks: &[f32], count: usize) -> Result<Vec<f32>, ModelFault> {
    let looks = matrix(looks, count, 3 * DIMENSIONS)?;
    let mut attended = vec![0.0; count * DIMENSIONS];
    let mut fits = vec![0.0; count * count];
    let mut taken = vec![0.0; count * HEAD];
    for head in 0..HEADS {
        let part = |which: usize| {
            let start = which * DIMENSIONS + head * HEAD;
            looks.slice((.., start..start + HEAD))
        };
        multiply(gemm, part(0), part(1).transposed(), &mut fits, scale())?;
        for row in fits.chunks_exact_mut(count) {
            Softmax::new_mut(row).dispatch();
        }
        multiply(gemm, matrix(&fits, count, count)?, part(2), &mut taken, 1.0)?;
        for (row, taken) in attended
            .chunks_exact_mut(DIMENSIONS)
            .zip(taken.chunks_exact(HEAD))
        {
            row[head * HEAD..][..HEAD].copy_from_slice(taken);
        }
    }
    Ok(attended)
}

fn multiply(
    gemm: &GemmExecutor,
    a: Matrix<'_>,
    b: Matrix<'_>,
    output: &mut [f32],
    alpha: f32,
) -> Result<(), ModelFault> {
    let options = GemmOptions {
        alpha,
        ..GemmOptions::default()
    };
    gemm.gemm(
        output,
        GemmInputA::Unpacked(a),
        GemmInputB::Unpacked(b),
        options,
    )
    .map_err(ModelFault::engine)
}

/// Keeps the products of queries and keys in a range where attention is neither uniform nor on a single piece.
#[expect(clippy::cast_precision_loss, reason = "32 is exact")]
fn scale() -> f32 {
    (HEAD as f32).sqrt().recip()
}

fn matrix(numbers: &[f32], rows: usize, columns: usize) -> Result<Matrix<'_>, ModelFault> {
    NdTensorView::try_from_data([rows, columns], numbers).map_err(ModelFault::engine)
}

fn add(to: &mut [f32], what: &[f32]) {
    for (to, what) in to.iter_mut().zip(what) {
        *to += what;
    }
}
