//! Choice of the next token.

use fathom_core::model::ModelRequest;
use llama_cpp_2::token::LlamaToken;
use llguidance::toktrie::SimpleVob;

/// Below this the choice is greedy in effect.
const TEMPERATURE_MIN: f32 = 0.01;

/// Default sampling of a model family.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SamplingDefaults {
    pub(crate) temperature: f32,
    pub(crate) top_p: f32,
    pub(crate) top_k: usize,
}

impl SamplingDefaults {
    /// The recommendation of the family's publisher; a cautious choice for unknown families.
    pub(crate) fn of(architecture: &str) -> Self {
        if architecture.starts_with("qwen") {
            return Self {
                temperature: 0.7,
                top_p: 0.8,
                top_k: 20,
            };
        }
        Self {
            temperature: 0.2,
            top_p: 0.9,
            top_k: 40,
        }
    }
}

/// Chooses the tokens of one reply.
#[derive(Clone, Debug)]
pub(crate) enum TokenSampler {
    /// Always the likeliest token.
    Greedy,
    /// A random choice among the likeliest tokens.
    Chance {
        habit: SamplingDefaults,
        dice: SamplerRng,
    },
}

impl TokenSampler {
    /// The sampler for `request`. A constrained reply is greedy unless a temperature is given: chance does not
    /// improve forms.
    pub(crate) fn of(request: &ModelRequest, habit: SamplingDefaults, dice: SamplerRng) -> Self {
        let constrained = request.schema.is_some() || request.pattern.is_some();
        let temperature = match request.temperature_milli {
            Some(milli) => f32::from(milli) / 1000.0,
            None if constrained => 0.0,
            None => habit.temperature,
        };
        if temperature < TEMPERATURE_MIN {
            return Self::Greedy;
        }
        Self::Chance {
            habit: SamplingDefaults {
                temperature,
                ..habit
            },
            dice,
        }
    }

    /// The next token among those that `allowed` permits. `None` if there is none.
    pub(crate) fn choose(
        &mut self,
        logits: &[f32],
        allowed: Option<&SimpleVob>,
    ) -> Option<LlamaToken> {
        match self {
            Self::Greedy => {
                let mut best: Option<(usize, f32)> = None;
                each_candidate(logits, allowed, |token, logit| {
                    if best.is_none_or(|(_, most)| logit > most) {
                        best = Some((token, logit));
                    }
                });
                best.and_then(|(token, _)| token_of(token))
            }
            Self::Chance { habit, dice } => {
                let likeliest = likeliest(logits, allowed, habit.top_k);
                throw(&likeliest, *habit, dice).and_then(token_of)
            }
        }
    }
}

fn token_of(index: usize) -> Option<LlamaToken> {
    i32::try_from(index).ok().map(LlamaToken)
}

fn each_candidate(logits: &[f32], allowed: Option<&SimpleVob>, mut visit: impl FnMut(usize, f32)) {
    match allowed {
        None => {
            for (token, &logit) in logits.iter().enumerate() {
                if logit.is_finite() {
                    visit(token, logit);
                }
            }
        }
        Some(allowed) => allowed.iter_set_entries(|token| {
            if let Some(&logit) = logits.get(token)
                && logit.is_finite()
            {
                visit(token, logit);
            }
        }),
    }
}

/// Maximum number of first tokens that count as a choice among a few.
const FEW: usize = 64;

/// Margin of the first token `chosen` over those that lead elsewhere, in thousandths of a natural logarithm.
/// `None` if there is no alternative, or if there are too many for a choice.
pub(crate) fn margin_milli(
    logits: &[f32],
    allowed: &SimpleVob,
    chosen: LlamaToken,
    piece: impl Fn(LlamaToken) -> Vec<u8>,
) -> Option<i32> {
    if allowed.num_set() > FEW {
        return None;
    }
    let chosen = piece(chosen);
    let (mut alike, mut others) = (Vec::new(), Vec::new());
    each_candidate(logits, Some(allowed), |token, logit| {
        let Some(token) = token_of(token) else { return };
        let piece = piece(token);
        // `y` and `yes` start the same word.
        let is_alike = piece.starts_with(&chosen) || chosen.starts_with(&piece);
        if is_alike { &mut alike } else { &mut others }.push(logit);
    });
    let difference = together(&alike)? - together(&others)?;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a conversion to an integer keeps to its bounds"
    )]
    Some((difference * 1e3).round() as i32)
}

/// The logit of any of several tokens coming next.
fn together(logits: &[f32]) -> Option<f32> {
    let most = logits.iter().copied().reduce(f32::max)?;
    let sum: f32 = logits.iter().map(|logit| (logit - most).exp()).sum();
    Some(most + sum.ln())
}

/// The `count` candidates with the highest logits, highest first.
fn likeliest(logits: &[f32], allowed: Option<&SimpleVob>, count: usize) -> Vec<(usize, f32)> {
    let mut best: Vec<(usize, f32)> = Vec::with_capacity(count + 1);
    each_candidate(logits, allowed, |token, logit| {
        if best.len() == count && best.last().is_some_and(|&(_, least)| logit <= least) {
            return;
        }
        let at = best.partition_point(|&(_, other)| other >= logit);
        best.insert(at, (token, logit));
        best.truncate(count);
    });
    best
}

fn throw(
    likeliest: &[(usize, f32)],
    habit: SamplingDefaults,
    dice: &mut SamplerRng,
) -> Option<usize> {
    let &(first, most) = likeliest.first()?;
    let weights: Vec<f32> = likeliest
        .iter()
        .map(|&(_, logit)| ((logit - most) / habit.temperature).exp())
        .collect();
    let total: f32 = weights.iter().sum();
    let mut kept = 0.0;
    let mut count = 0;
    // At least the likeliest one, however small `top_p` is.
    while count < weights.len() && (count == 0 || kept < total * habit.top_p) {
        kept += weights[count];
        count += 1;
    }
    let mut point = dice.unit() * kept;
    for (&(token, _), &weight) in likeliest.iter().zip(&weights).take(count) {
        if point < weight {
            return Some(token);
        }
        point -= weight;
    }
    // Rounding may leave a rest beyond the last weight.
    Some(first)
}

/// A random generator seeded by the system or the request.
#[derive(Clone, Debug)]
pub(crate) struct SamplerRng(u64);

impl SamplerRng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number from zero up to, but not including, one.
    fn unit(&mut self) -> f32 {
        // SplitMix64: one addition and three rounds of mixing; more than enough to choose among twenty words.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^= bits >> 31;
        let top = u16::try_from(bits >> 48).unwrap_or(0);
        f32::from(top) / 65_536.0
    }
}

#[cfg(test)]
#[path = "sampling_tests.rs"]
mod tests;
