//! Convening a council: the given material is searched, and each seat gets the passages that matter to it.

use std::path::PathBuf;

use fathom_core::model::{ModelRole, ModelSet};
use fathom_material::{MaterialDocument, Passage, PassageIndex, PassageQuery, gather};
use fathom_models::count_o200k;
use fathom_programs::council::{self, CouncilConfig, CouncilSeat, voters};

use crate::error::HostError;
use crate::material::meaning;
use crate::runtime::Runtime;

pub use fathom_material::{EmbedProgress, MaterialError, SkippedFile};

/// What a council is to look at.
#[derive(Clone, Debug, Default)]
pub struct CouncilContext {
    /// Files and folders.
    pub paths: Vec<PathBuf>,
    /// A text without a file, with the name it goes by.
    pub text: Option<(String, String)>,
    /// Most tokens of the passages that one seat is given.
    pub tokens_max: u32,
}

/// What became of the material.
#[derive(Clone, Debug, Default)]
pub struct PreparedCouncil {
    /// Passages that were searched.
    pub passages: usize,
    /// What was left out, and why.
    pub skipped: Vec<SkippedFile>,
    /// Why the search went by words alone.
    pub words_only: Option<String>,
}

impl Runtime {
    /// Gives every seat that the question concerns its passages of the material. It takes a while.
    pub fn convene(
        &self,
        params: &mut CouncilConfig,
        question: &str,
        context: &CouncilContext,
        models: &ModelSet,
        progress: &mut dyn FnMut(EmbedProgress),
    ) -> Result<PreparedCouncil, HostError> {
        if context.paths.is_empty() && context.text.is_none() {
            return Ok(PreparedCouncil::default());
        }
        let mut gathered = gather(&context.paths)?;
        if let Some((name, text)) = &context.text {
            gathered
                .documents
                .push(MaterialDocument::new(name.as_str(), text.as_str()));
        }
        let (by_meaning, words_only) = match self.embedded().embedder() {
            Ok(embedder) => {
                let kept = self.home().open_vectors();
                (Some(meaning(embedder, Some(kept))), None)
            }
            Err(why) => (None, Some(why.to_string())),
        };
        let library = PassageIndex::index(&gathered, by_meaning, progress)?;
        let model = self.connect(models)?;
        let model = model.get(ModelRole::Sub);
        let count = |text: &str| {
            // A count of bytes is the bound for a tokenizer that is not known. It would leave room for a quarter of what
            // may be given; what the budget sets aside is the bound all the same.
            let tokens = match model.count(text) {
                bound if bound == text.len() as u64 => count_o200k(text),
                tokens => tokens,
            };
            usize::try_from(tokens).unwrap_or(usize::MAX)
        };
        let concerned = voters(params, question);
        let search = |seat: &mut CouncilSeat| -> Result<(), HostError> {
            let query = PassageQuery {
                question,
                focus: &seat.focus,
                lexicon: &seat.lexicon,
            };
            let tokens_max = usize::try_from(context.tokens_max).unwrap_or(usize::MAX);
            let found = library.find(&query, tokens_max, &count)?;
            seat.passages = found.into_iter().map(quoted).collect();
            Ok(())
        };
        for chief in &mut params.chiefs {
            let path = chief.id.clone();
            hand_out(chief, &path, &concerned, &search)?;
        }
        params.material = library.digest().to_string();
        Ok(PreparedCouncil {
            passages: library.passages().len(),
            skipped: library.skipped().to_vec(),
            words_only,
        })
    }
}

/// Turns a passage of the material into one that a seat is shown.
fn quoted(passage: Passage) -> council::QuotedPassage {
    council::QuotedPassage {
        source: passage.source.as_ref().to_owned(),
        line: passage.first_line,
        text: passage.said(),
    }
}

/// Searches for a seat and those below it, as far as they are concerned.
fn hand_out(
    seat: &mut CouncilSeat,
    path: &str,
    concerned: &[String],
    search: &dyn Fn(&mut CouncilSeat) -> Result<(), HostError>,
) -> Result<(), HostError> {
    if concerned.iter().any(|other| other == path) {
        search(seat)?;
    }
    for sub in &mut seat.sub_chiefs {
        let path = format!("{path}/{}", sub.id);
        hand_out(sub, &path, concerned, search)?;
    }
    Ok(())
}
