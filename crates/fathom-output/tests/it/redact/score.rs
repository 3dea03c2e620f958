//! How well what was found fits what is there.

use std::collections::BTreeMap;

use super::corpus::Sample;

/// Something that a recogniser says it found.
#[derive(Clone, Debug)]
pub(crate) struct Predicted {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) entity: String,
}

/// Counts of one row of the table.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Score {
    /// Values that are there.
    pub(crate) labels: usize,
    /// Of them, those that are covered from end to end under the right name.
    pub(crate) covered: usize,
    /// What was found under this name, right or wrong.
    pub(crate) right: usize,
    pub(crate) wrong: usize,
}

impl Score {
    pub(crate) fn recall(&self) -> f64 {
        share(self.covered, self.labels)
    }

    pub(crate) fn precision(&self) -> f64 {
        share(self.right, self.right + self.wrong)
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        return 1.0;
    }
    #[expect(clippy::cast_precision_loss, reason = "counts of a corpus are small")]
    {
        part as f64 / whole as f64
    }
}

/// Recall by row, precision by entity.
#[derive(Debug, Default)]
pub(crate) struct Table {
    pub(crate) rows: BTreeMap<&'static str, Score>,
    pub(crate) entities: BTreeMap<String, Score>,
    /// What went wrong, for a reader of a failed test.
    pub(crate) misses: Vec<String>,
}

impl Table {
    pub(crate) fn add(&mut self, sample: &Sample, predicted: &[Predicted]) {
        for label in &sample.labels {
            let covered = predicted.iter().any(|found| {
                found.entity == label.entity && found.start <= label.start && found.end >= label.end
            });
            for score in [
                self.rows.entry(label.row).or_default(),
                self.entities.entry(label.entity.to_owned()).or_default(),
            ] {
                score.labels += 1;
                score.covered += usize::from(covered);
            }
            if !covered {
                let value = &sample.text[label.start..label.end];
                self.misses.push(format!(
                    "missed {} `{value}` in {:?}: {predicted:?}",
                    label.row, sample.text
                ));
            }
        }
        for found in predicted {
            let right = sample.labels.iter().any(|label| {
                found.entity == label.entity && found.start < label.end && label.start < found.end
            });
            let score = self.entities.entry(found.entity.clone()).or_default();
            if right {
                score.right += 1;
            } else {
                score.wrong += 1;
                let value = sample.text.get(found.start..found.end).unwrap_or_default();
                self.misses.push(format!(
                    "wrong {} `{value}` in {:?}",
                    found.entity, sample.text
                ));
            }
        }
    }
}
