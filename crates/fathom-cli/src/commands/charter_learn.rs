//! `fathom charter learn`: what a detector learned from past councils, and how well it tells what it has not seen.

use std::path::{Path, PathBuf};

use fathom_core::unit::{PerMille, Timestamp};
use fathom_host::HostError;
use fathom_host::charter::{Charter, LEARNED_FILE};
use fathom_host::learning::examples::examples;
use fathom_host::learning::{self, TrainedRule, train};
use fathom_host::view::council_stats::fraction;
use fathom_models::count_o200k;
use serde::Serialize;

use super::stats::DAY_MS;
use crate::app::App;
use crate::args::LearnArgs;
use crate::atomic_file::{self, Existing};
use crate::error::CliError;
use crate::exit_code::ExitStatus;
use crate::settings::{OutputFormat, RunSettings};
use crate::terminal::masking::Unmasked;
use crate::terminal::output;
use crate::terminal::plain_text::safe;
use crate::terminal::styled_line::{LineStyle, StyledLine};
use crate::terminal::table::{self, ColumnSide, TableColumn};
use crate::view::units::{self, many};

/// Learns from past councils and writes it where the charter will find it.
pub(super) fn learn(
    asked: &LearnArgs,
    folder: &Path,
    settings: RunSettings,
) -> Result<ExitStatus, CliError> {
    let out = match (&asked.out, asked.dry_run) {
        (_, true) => None,
        (Some(file), false) => Some(folder.join(file)),
        // Settled before the councils are read, so that a wrong target fails at once.
        (None, false) => Some(beside_charter(asked, folder, &settings)?),
    };
    let app = App::open(settings)?;
    let since = app.now().0.saturating_sub(u64::from(asked.days) * DAY_MS);
    let councils = app.runtime.past_councils(Timestamp(since))?;
    let trained = train(&examples(&councils)).map_err(HostError::from)?;
    if let Some(file) = &out {
        save(file, &trained.toml())?;
    }
    let learning = LearnedJson::of(asked.days, &trained, out);
    match app.settings.form {
        OutputFormat::Json => output::print_json(&learning)?,
        OutputFormat::Human => output::print(&learning.lines(output::stdout_columns()))?,
    }
    Ok(ExitStatus::Ok)
}

/// The file in the folder of the charter that is to go by it.
fn beside_charter(
    asked: &LearnArgs,
    folder: &Path,
    settings: &RunSettings,
) -> Result<PathBuf, CliError> {
    let charter = match &asked.which {
        Some(said) => {
            Charter::find(said, folder, &settings.home, &count_o200k).map_err(HostError::from)?
        }
        None => settings.charter()?,
    };
    match &charter.folder {
        Some(folder) => Ok(folder.join(LEARNED_FILE)),
        None => Err(CliError::Arguments {
            message: format!("charter `{}` is built in and has no folder", charter.name),
            hint: "name a charter of your own, or an output file with `--out FILE`".to_owned(),
        }),
    }
}

/// Writes the file. An earlier one of its kind is replaced, nothing else is.
fn save(file: &Path, text: &str) -> Result<(), CliError> {
    let unwritable = |source| CliError::Unwritable {
        file: file.to_owned(),
        source,
    };
    let is_ours = match atomic_file::look(file).map_err(unwritable)? {
        Existing::Nothing => true,
        Existing::File => {
            let there = std::fs::read_to_string(file).map_err(unwritable)?;
            // Only a learned rule is replaced. A mistyped `--out` must not destroy another file.
            learning::read(&there).is_ok()
        }
        Existing::Other => false,
    };
    if !is_ours {
        return Err(CliError::NotReplaced {
            file: file.to_owned(),
            why: "the file is not a learned rule",
        });
    }
    atomic_file::write_original(Unmasked::Learned, file, text.as_bytes()).map_err(unwritable)
}

/// The learned rule.
#[derive(Debug, Serialize)]
pub(crate) struct LearnedJson {
    /// Days that were looked back on.
    pub(crate) days: u32,
    /// Questions that it was learned from.
    pub(crate) questions: u64,
    /// Those of them on which recursion changed the decision.
    pub(crate) changed: u64,
    /// Score of each part under a rule learned from the others.
    pub(crate) folds: Vec<FoldJson>,
    /// The same on the average.
    pub(crate) mean: ScoresJson,
    /// Weights of the features.
    pub(crate) weights: Vec<TermJson>,
    /// Log-odds of a question whose every feature is at its mean.
    pub(crate) bias: f64,
    /// Log-odds from which on sub-chiefs are asked.
    pub(crate) threshold: f64,
    /// The file it was written to; none when it was only tried.
    pub(crate) written: Option<PathBuf>,
}

/// A part of the questions, told by a detector that had not seen them.
#[derive(Debug, Serialize)]
pub(crate) struct FoldJson {
    /// Questions in it.
    pub(crate) questions: u64,
    /// Those of them on which recursion changed the decision.
    pub(crate) changed: u64,
    #[serde(flatten)]
    pub(crate) scores: ScoresJson,
}

/// Scores of a rule.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct ScoresJson {
    /// Share that was told right.
    #[serde(serialize_with = "fraction")]
    pub(crate) accuracy: Option<PerMille>,
    /// Of those told to change, the share that did.
    #[serde(serialize_with = "fraction")]
    pub(crate) precision: Option<PerMille>,
    /// Of those that did change, the share that was told.
    #[serde(serialize_with = "fraction")]
    pub(crate) recall: Option<PerMille>,
    /// Share that is right when always the commoner answer is given.
    #[serde(serialize_with = "fraction")]
    pub(crate) baseline: Option<PerMille>,
}

/// Weight of one feature.
#[derive(Debug, Serialize)]
pub(crate) struct TermJson {
    pub(crate) feature: String,
    /// Description of the feature.
    pub(crate) meaning: String,
    /// By how much the log-odds grow with one standard deviation of it.
    pub(crate) weight: f64,
    pub(crate) mean: f64,
    /// Its standard deviation.
    pub(crate) scale: f64,
}

impl From<&learning::FoldScore> for ScoresJson {
    fn from(fold: &learning::FoldScore) -> Self {
        Self {
            accuracy: Some(fold.accuracy()),
            precision: fold.precision(),
            recall: fold.recall(),
            baseline: Some(fold.baseline()),
        }
    }
}

/// Millionths as a number.
fn micro(micro: i64) -> f64 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "it is printed with three digits"
    )]
    let number = micro as f64;
    number / 1_000_000.0
}

impl LearnedJson {
    fn of(days: u32, trained: &TrainedRule, written: Option<PathBuf>) -> Self {
        let learned = &trained.learned;
        Self {
            days,
            questions: learned.trained_on.into(),
            changed: learned.changed.into(),
            folds: trained
                .folds
                .iter()
                .map(|fold| FoldJson {
                    questions: fold.count().into(),
                    changed: (fold.hits + fold.misses).into(),
                    scores: fold.into(),
                })
                .collect(),
            mean: (&trained.whole).into(),
            weights: learned
                .weights
                .iter()
                .map(|weight| TermJson {
                    feature: weight.feature.name().to_owned(),
                    meaning: weight.feature.meaning().to_owned(),
                    weight: micro(weight.weight_micro),
                    mean: micro(weight.mean_micro),
                    scale: micro(weight.scale_micro),
                })
                .collect(),
            bias: micro(learned.bias_micro),
            threshold: micro(learned.threshold_micro),
            written,
        }
    }

    /// As a person reads it, in at most `width` columns.
    pub(crate) fn lines(&self, width: usize) -> Vec<StyledLine> {
        let share = (self.questions > 0).then(|| PerMille::share(self.changed, self.questions));
        let head = format!(
            "{} from {}   sub-chiefs changed the decision on {} ({})",
            many(self.questions, "question", "questions"),
            many(u64::from(self.days), "day", "days"),
            units::count(self.changed),
            percent(share),
        );
        let mut lines = vec![StyledLine::from(head).clipped(width), StyledLine::new()];
        lines.extend(self.folds(width));
        lines.push(self.verdict().clipped(width));
        lines.push(StyledLine::new());
        lines.extend(self.weights(width));
        lines.push(StyledLine::new());
        lines.push(match &self.written {
            Some(file) => StyledLine::from(format!("wrote {}", safe(&file.display().to_string()))),
            None => StyledLine::from("no file written"),
        });
        lines
    }

    fn folds(&self, width: usize) -> Vec<StyledLine> {
        let scores = |score: fn(&ScoresJson) -> Option<PerMille>| {
            let folds = self.folds.iter().map(|fold| &fold.scores);
            let all = folds.chain([&self.mean]);
            all.map(|scores| percent(score(scores))).collect()
        };
        let numbers = |number: fn(&FoldJson) -> u64| {
            let folds = self.folds.iter();
            folds.map(|fold| units::count(number(fold))).collect()
        };
        let names = (1..=self.folds.len()).map(|number| number.to_string());
        let names = names.chain(["mean".to_owned()]).collect();
        let right = |head: &str, cells| TableColumn::new(head, ColumnSide::Right, cells);
        let table = [
            TableColumn::new("fold", ColumnSide::Left, names),
            right("questions", numbers(|fold| fold.questions)),
            right("changed", numbers(|fold| fold.changed)),
            right("accuracy", scores(|scores| scores.accuracy)),
            right("precision", scores(|scores| scores.precision)),
            right("recall", scores(|scores| scores.recall)),
            right("baseline", scores(|scores| scores.baseline)),
        ];
        table::lines(&table, width)
    }

    /// Says whether the rule is worth using.
    fn verdict(&self) -> StyledLine {
        if self.mean.accuracy > self.mean.baseline {
            StyledLine::from("it beats always predicting the majority class")
        } else {
            let said = "it is no better than always predicting the majority class";
            StyledLine::new().with(LineStyle::Odd, said)
        }
    }

    fn weights(&self, width: usize) -> Vec<StyledLine> {
        let cells = |cell: &dyn Fn(&TermJson) -> String| self.weights.iter().map(cell).collect();
        let mut names: Vec<String> = cells(&|term| safe(&term.feature));
        let mut weights: Vec<String> = cells(&|term| format!("{:+.3}", term.weight));
        names.extend(["bias".to_owned(), "threshold".to_owned()]);
        weights.extend([self.bias, self.threshold].map(|odds| format!("{odds:+.3}")));
        let mut table = vec![
            TableColumn::new("feature", ColumnSide::Left, names),
            TableColumn::new("weight", ColumnSide::Right, weights),
            TableColumn::new(
                "mean",
                ColumnSide::Right,
                cells(&|term| format!("{:.1}", term.mean)),
            ),
            TableColumn::new(
                "spread",
                ColumnSide::Right,
                cells(&|term| format!("{:.1}", term.scale)),
            ),
            TableColumn::new(
                "counts",
                ColumnSide::Left,
                cells(&|term| safe(&term.meaning)),
            ),
        ];
        table::fit(&mut table, &["counts", "spread", "mean"], width);
        table::lines(&table, width)
    }
}

fn percent(share: Option<PerMille>) -> String {
    share.map_or_else(|| "–".to_owned(), |share| format!("{} %", share.percent()))
}

#[cfg(test)]
#[path = "charter_learn_tests.rs"]
mod tests;
