use fathom_core::model::{ModelRequest, ReplyMode};
use fathom_core::text::Text;
use fathom_core::unit::Millis;
use llama_cpp_2::token::LlamaToken;
use llguidance::toktrie::SimpleVob;
use proptest::prelude::*;

use super::{SamplerRng, SamplingDefaults, TokenSampler, likeliest, margin_milli};

fn request(temperature_milli: Option<u16>, pattern: Option<&str>) -> ModelRequest {
    ModelRequest {
        messages: Vec::new(),
        output_tokens_max: 8,
        temperature_milli,
        schema: None,
        pattern: pattern.map(Text::from),
        tools: Vec::new(),
        seed: None,
        delivery: ReplyMode::Whole,
        timeout: Millis(1000),
    }
}

fn sampler(temperature_milli: Option<u16>, pattern: Option<&str>) -> TokenSampler {
    TokenSampler::of(
        &request(temperature_milli, pattern),
        SamplingDefaults::of("qwen2"),
        SamplerRng::new(7),
    )
}

#[test]
fn zero_and_forms_are_greedy() {
    assert!(matches!(sampler(Some(0), None), TokenSampler::Greedy));
    assert!(matches!(sampler(None, Some("a+")), TokenSampler::Greedy));
    assert!(matches!(
        sampler(Some(700), Some("a+")),
        TokenSampler::Chance { .. }
    ));
    assert!(matches!(sampler(None, None), TokenSampler::Chance { .. }));
}

#[test]
fn greed_passes_over_what_is_not_a_number_or_not_allowed() {
    let logits = [1.0, f32::NAN, 9.0, f32::INFINITY, 3.0];
    let mut greedy = TokenSampler::Greedy;
    assert_eq!(greedy.choose(&logits, None), Some(LlamaToken(2)));
    let mut allowed = SimpleVob::alloc(logits.len());
    allowed.set(0, true);
    allowed.set(4, true);
    assert_eq!(greedy.choose(&logits, Some(&allowed)), Some(LlamaToken(4)));
    let none = SimpleVob::alloc(logits.len());
    assert_eq!(greedy.choose(&logits, Some(&none)), None);
    assert_eq!(greedy.choose(&[f32::NAN], None), None);
}

#[test]
fn chance_reaches_more_than_one_token_and_never_an_unlikely_one() {
    let logits = [2.0, 2.0, -30.0, 2.0];
    let mut chance = sampler(Some(1000), None);
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..200 {
        seen.extend(chance.choose(&logits, None).map(|token| token.0));
    }
    assert!(seen.len() > 1, "{seen:?}");
    assert!(!seen.contains(&2), "{seen:?}");
}

proptest! {
    #[test]
    fn the_likeliest_are_those_of_a_full_sort(
        logits in prop::collection::vec(-50.0_f32..50.0, 1..200),
        count in 1_usize..30,
    ) {
        let mut sorted: Vec<f32> = logits.clone();
        sorted.sort_by(|a, b| b.total_cmp(a));
        sorted.truncate(count);
        let found: Vec<f32> = likeliest(&logits, None, count).into_iter().map(|(_, logit)| logit).collect();
        prop_assert_eq!(found, sorted);
    }
}

/// `y` counts for `yes`: both begin the same word.
#[test]
fn a_choice_is_weighed_against_what_leads_elsewhere() {
    let pieces = ["yes", "y", "no", "maybe"];
    let piece = |token: LlamaToken| {
        pieces[usize::try_from(token.0).unwrap()]
            .as_bytes()
            .to_vec()
    };
    let margin = |logits: &[f32], allowed: &[u32]| {
        let mut set = SimpleVob::alloc(logits.len());
        for token in allowed {
            set.allow_token(*token);
        }
        margin_milli(logits, &set, LlamaToken(0), piece)
    };
    let even = std::f32::consts::LN_2;
    assert_eq!(margin(&[2.0, 2.0, 2.0, 9.0], &[0, 1, 2]), Some(693));
    assert_eq!(margin(&[2.0, 2.0, 2.0 + even, 9.0], &[0, 1, 2]), Some(0));
    assert_eq!(margin(&[2.0, 2.0, 9.0, 9.0], &[0, 1]), None);
    assert_eq!(margin(&[0.0; 100], &(0..100).collect::<Vec<_>>()), None);
}
