//! The entries of a packet's shares that fit.

use super::{KeepFrom, PacketShare, ShareLayout, ShareSize};
use crate::model::Speaker;

/// The room for a packet's shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FitLimit {
    /// Tokens that the header leaves.
    pub after_header: u64,
    /// Tokens that header and prompt leave.
    pub after_prompt: u64,
}

/// The entries of one share that stay: a run of them, and what they take together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeptEntries {
    /// The first that stays.
    pub from: usize,
    /// The one after the last that stays.
    pub to: usize,
    /// Tokens of the entries, each counted by itself.
    pub tokens: u64,
}

/// Picks the entries that stay. `tokens` says what each entry of each share takes; `room` is never overdrawn.
///
/// A share gets its portion and cuts at whole entries. What it does not use goes to nobody: the sizes of one share
/// say nothing about those of another.
pub fn fit(shares: &[PacketShare], tokens: &[Vec<u64>], room: FitLimit) -> Vec<KeptEntries> {
    let weights: u64 = shares.iter().map(weight).sum();
    let mut left = room.after_prompt;
    // Capped shares come first, so that weights divide what is really left.
    let mut kept = vec![KeptEntries::default(); shares.len()];
    for ((share, tokens), kept) in shares.iter().zip(tokens).zip(&mut kept) {
        if let ShareSize::AtMost(milli) = share.portion {
            let cap = thousandths(room.after_header, milli.into()).min(left);
            *kept = stays(share, tokens, cap);
            left -= kept.tokens;
        }
    }
    // Fixed before the first of them takes its part, so that their order does not matter.
    let to_divide = left;
    for ((share, tokens), kept) in shares.iter().zip(tokens).zip(&mut kept) {
        if let ShareSize::Weight(_) = share.portion
            && weights > 0
        {
            let part = u128::from(to_divide) * u128::from(weight(share)) / u128::from(weights);
            let part = u64::try_from(part).unwrap_or(u64::MAX);
            *kept = stays(share, tokens, part);
        }
    }
    kept
}

/// The weight of a share among the others: an empty one has none.
fn weight(share: &PacketShare) -> u64 {
    match share.portion {
        ShareSize::Weight(weight) if !share.entries.is_empty() => weight.into(),
        ShareSize::Weight(_) | ShareSize::AtMost(_) => 0,
    }
}

/// The entries of a share that fit. Turns that lost their beginning do not begin with an answer to nothing: many templates
/// refuse that.
fn stays(share: &PacketShare, tokens: &[u64], cap: u64) -> KeptEntries {
    let mut kept = keep(share.keep, tokens, cap);
    let answers = |at: usize| {
        let entry = share.entries.get(at);
        share.form == ShareLayout::Turns && entry.is_some_and(|e| e.speaker == Speaker::Assistant)
    };
    // Only if something was cut: a history that was given with an answer in front keeps it.
    while (1..kept.to).contains(&kept.from) && answers(kept.from) {
        kept.tokens -= tokens.get(kept.from).copied().unwrap_or_default();
        kept.from += 1;
    }
    kept
}

/// As many entries from one end as fit without a gap.
fn keep(which: KeepFrom, tokens: &[u64], cap: u64) -> KeptEntries {
    let mut sum = 0_u64;
    let mut take = |tokens: &u64| {
        let with = sum.saturating_add(*tokens);
        let fits = with <= cap;
        if fits {
            sum = with;
        }
        fits
    };
    let count = match which {
        KeepFrom::First => tokens.iter().take_while(|tokens| take(tokens)).count(),
        KeepFrom::Last => tokens
            .iter()
            .rev()
            .take_while(|tokens| take(tokens))
            .count(),
    };
    let (from, to) = match which {
        KeepFrom::First => (0, count),
        KeepFrom::Last => (tokens.len() - count, tokens.len()),
    };
    KeptEntries {
        from,
        to,
        tokens: sum,
    }
}

fn thousandths(tokens: u64, milli: u64) -> u64 {
    let part = u128::from(tokens) * u128::from(milli) / 1000;
    u64::try_from(part).unwrap_or(u64::MAX)
}
