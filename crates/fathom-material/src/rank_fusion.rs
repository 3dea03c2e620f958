//! Ranking by scores, and fusion of rankings.

/// Decay of a rank's weight. The customary value.
const FUSION_K: f32 = 60.0;

/// The passages that count, best first. Equal scores keep the order of the documents.
pub(crate) fn order(scores: &[f32], counts: impl Fn(usize) -> bool) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).filter(|&at| counts(at)).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
    order
}

/// Reciprocal rank fusion: a high rank in several orders wins.
#[expect(
    clippy::cast_precision_loss,
    reason = "ranks are far below what an f32 counts exactly"
)]
pub(crate) fn fuse(orders: &[&[usize]], passages: usize) -> Vec<usize> {
    let mut scores = vec![0.0; passages];
    for order in orders {
        for (rank, &passage) in order.iter().enumerate() {
            scores[passage] += 1.0 / (FUSION_K + rank as f32 + 1.0);
        }
    }
    order(&scores, |at| scores[at] > 0.0)
}
