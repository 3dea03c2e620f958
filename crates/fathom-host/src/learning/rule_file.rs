//! A learned rule as a file: TOML, with a line for each feature that says what it does.

use std::collections::BTreeMap;
use std::fmt::Write;

use fathom_core::unit::PerMille;
use fathom_programs::council::complexity::{FeatureWeight, LearnedRule, QuestionFeature};
use serde::Deserialize;

use super::logistic_regression::{MICRO, NUMBER_MAX, to_micro};
use super::{LearnError, TrainedRule};

/// The file as it is read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    version: u32,
    threshold: f64,
    bias: f64,
    trained: TrainedOn,
    features: BTreeMap<QuestionFeature, RuleLine>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TrainedOn {
    runs: u32,
    changed: u32,
    accuracy: f64,
    baseline: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleLine {
    weight: f64,
    mean: f64,
    scale: f64,
}

impl TrainedRule {
    /// The rule as a file for a charter.
    pub fn toml(&self) -> String {
        let learned = &self.learned;
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = write(&mut text, self, learned);
        text
    }
}

fn write(text: &mut String, trained: &TrainedRule, learned: &LearnedRule) -> std::fmt::Result {
    writeln!(
        text,
        "# When are sub-chiefs worth asking? Learned from {} runs; in {} of them they changed the decision.",
        learned.trained_on, learned.changed
    )?;
    writeln!(text, "#")?;
    writeln!(
        text,
        "# log-odds = bias + the sum of weight * (value - mean) / scale over all features"
    )?;
    writeln!(
        text,
        "# Sub-chiefs are asked when the log-odds reach the threshold. At 0 a change is as likely as not; a lower threshold asks more often."
    )?;
    writeln!(text, "version = {}", learned.version)?;
    writeln!(text, "threshold = {}", decimal(learned.threshold_micro))?;
    writeln!(text, "bias = {}", decimal(learned.bias_micro))?;
    writeln!(text)?;
    write_folds(text, trained)?;
    writeln!(text, "[trained]")?;
    writeln!(text, "runs = {}", learned.trained_on)?;
    writeln!(text, "changed = {}", learned.changed)?;
    writeln!(text, "accuracy = {}", thousandths(learned.accuracy))?;
    writeln!(text, "baseline = {}", thousandths(learned.baseline))?;
    writeln!(text)?;
    writeln!(text, "[features]")?;
    for weight in &learned.weights {
        writeln!(
            text,
            "{} = {{ weight = {}, mean = {}, scale = {} }} # {}",
            weight.feature,
            decimal(weight.weight_micro),
            decimal(weight.mean_micro),
            decimal(weight.scale_micro),
            effect(weight)
        )?;
    }
    Ok(())
}

fn write_folds(text: &mut String, trained: &TrainedRule) -> std::fmt::Result {
    writeln!(
        text,
        "# Cross-validated in {} folds; the baseline always predicts the majority class:",
        trained.folds.len()
    )?;
    let parts = trained.folds.iter().map(|fold| ("part", fold));
    for (name, fold) in parts.chain([("all", &trained.whole)]) {
        writeln!(
            text,
            "#   {name:<4} {:>6} runs: accuracy {}, baseline {}, precision {}, recall {}",
            fold.count(),
            thousandths(fold.accuracy()),
            thousandths(fold.baseline()),
            fold.precision().map_or("none".to_owned(), thousandths),
            fold.recall().map_or("none".to_owned(), thousandths),
        )?;
    }
    if !trained.beats_baseline() {
        writeln!(
            text,
            "# The rule is no better than the baseline; the detector's signals are as good."
        )?;
    }
    Ok(())
}

/// Describes the effect of a feature for people.
fn effect(weight: &FeatureWeight) -> String {
    let meaning = weight.feature.meaning();
    if weight.scale_micro == 0 {
        return format!("{meaning}: constant in all runs, so without effect");
    }
    #[expect(clippy::cast_precision_loss, reason = "it is shown with two digits")]
    let (log, scale) = (
        weight.weight_micro as f64 / MICRO,
        weight.scale_micro as f64 / MICRO,
    );
    format!(
        "{meaning}: {scale:.2} more multiply the odds by {:.2}",
        log.exp()
    )
}

fn decimal(micro: i64) -> String {
    let sign = if micro < 0 { "-" } else { "" };
    let size = micro.unsigned_abs();
    format!("{sign}{}.{:06}", size / 1_000_000, size % 1_000_000)
}

fn thousandths(milli: PerMille) -> String {
    format!("{}.{:03}", milli.get() / 1000, milli.get() % 1000)
}

/// Reads a rule as [`TrainedRule::toml`] writes it. Whatever a rule cannot mean is refused.
pub fn read(text: &str) -> Result<LearnedRule, LearnError> {
    let file: RuleFile = toml::from_str(text).map_err(|error| LearnError::Unreadable {
        line: error.span().map_or(1, |span| line(text, span.start)),
        message: error.message().lines().collect::<Vec<_>>().join(", "),
    })?;
    // A rule of another version weighs other features, so its numbers would be misread.
    if file.version != LearnedRule::VERSION {
        let why = format!(
            "is {}, but this build reads {}",
            file.version,
            LearnedRule::VERSION
        );
        return Err(senseless("version", why));
    }
    if file.trained.changed > file.trained.runs {
        return Err(senseless("changed", "exceeds `runs`".to_owned()));
    }
    let weights = file.features.iter().map(|(feature, line)| {
        let key = |part: &str| format!("{feature}.{part}");
        if line.scale < 0.0 {
            return Err(senseless(&key("scale"), "is negative".to_owned()));
        }
        Ok(FeatureWeight {
            feature: *feature,
            weight_micro: number(&key("weight"), line.weight)?,
            mean_micro: number(&key("mean"), line.mean)?,
            scale_micro: number(&key("scale"), line.scale)?,
        })
    });
    Ok(LearnedRule {
        version: file.version,
        weights: weights.collect::<Result<_, _>>()?,
        bias_micro: number("bias", file.bias)?,
        threshold_micro: number("threshold", file.threshold)?,
        trained_on: file.trained.runs,
        changed: file.trained.changed,
        accuracy: part("accuracy", file.trained.accuracy)?,
        baseline: part("baseline", file.trained.baseline)?,
    })
}

fn number(key: &str, number: f64) -> Result<i64, LearnError> {
    to_micro(number).ok_or_else(|| {
        senseless(
            key,
            format!("is {number}, which is not a number or exceeds {NUMBER_MAX}"),
        )
    })
}

fn part(key: &str, share: f64) -> Result<PerMille, LearnError> {
    let milli = to_micro(share).and_then(|micro| u16::try_from((micro + 500) / 1000).ok());
    let share = (share >= 0.0).then_some(milli).flatten();
    share
        .and_then(|milli| PerMille::new(milli).ok())
        .ok_or_else(|| senseless(key, "is not a number from 0 to 1".to_owned()))
}

fn senseless(key: &str, why: String) -> LearnError {
    LearnError::Senseless {
        key: key.to_owned(),
        why,
    }
}

fn line(text: &str, at: usize) -> usize {
    1 + text
        .get(..at)
        .map_or(0, |before| before.matches('\n').count())
}
