//! Output so far of a running cell.

use fathom_core::sandbox::{CellError, CellOutput, CellResult, CellValue};
use fathom_core::unit::Millis;

/// Most bytes of an answer that goes with a question. A larger one is heard when its cell ends.
const NEWS_BYTES_MAX: u64 = 64 << 10;

/// Content of the cell's end.
#[derive(Debug, Default)]
pub(crate) struct CellProgress {
    submitted: Option<CellValue>,
    draft: Option<CellValue>,
    /// Set while one of them has not gone with a question.
    is_new: bool,
    printed: CellOutput,
}

impl CellProgress {
    /// The first answer counts.
    pub(crate) fn submit(&mut self, value: CellValue) {
        self.is_new |= self.submitted.is_none();
        self.submitted.get_or_insert(value);
        self.draft = None;
    }

    pub(crate) fn draft(&mut self, value: CellValue) {
        if self.submitted.is_none() {
            self.is_new |= self.draft.as_ref() != Some(&value);
            self.draft = Some(value);
        }
    }

    pub(crate) fn print(&mut self, output: CellOutput) {
        self.printed = output;
    }

    /// The answer so far, once, where it has no more bytes than this: for those who would not hear of it
    /// should the cell come to no end.
    pub(crate) fn news(&mut self, bytes_max: u64) -> Option<CellValue> {
        let answer = self.submitted.as_ref().or(self.draft.as_ref());
        let answer = answer.filter(|_| self.is_new)?;
        if answer.text.as_str().len() as u64 > bytes_max.min(NEWS_BYTES_MAX) {
            return None;
        }
        self.is_new = false;
        Some(answer.clone())
    }

    /// Bytes of what is kept.
    pub(crate) fn bytes(&self) -> usize {
        let kept = [&self.submitted, &self.draft].into_iter().flatten();
        kept.map(|value| value.text.as_str().len()).sum()
    }

    pub(crate) fn end(&mut self, error: Option<CellError>, took: Millis) -> CellResult {
        let Self {
            submitted,
            draft,
            printed,
            ..
        } = std::mem::take(self);
        CellResult {
            draft: draft.filter(|_| submitted.is_none()),
            submitted,
            error,
            took,
            output: printed,
        }
    }
}
