//! Convening a council: the given material is searched, and each seat gets the passages that matter to it.

use std::path::PathBuf;

use fathom_core::contract::{Contract, RecursionPolicy};
use fathom_core::id::{EpisodeId, RunId};
use fathom_core::model::{ModelRole, ModelSet};
use fathom_core::unit::PerMille;
use fathom_material::{MaterialDocument, Passage, PassageIndex, PassageQuery, gather};
use fathom_models::count_o200k;
use fathom_programs::council::complexity::ComplexityAssessment;
use fathom_programs::council::{
    self, ChiefsOnlyResult, CouncilConfig, CouncilReport, CouncilSeat, ReusePolicy, ReusedAnswer,
    SampledVotes, SeatFailure, SeatReport, SeatVote, Vote, voters,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::setup::{
    PrepareFuture, PrepareProgress, PrepareWarning, PreparedRun, ProgramSetup, ResultKeys,
    ResultSource, RunContext, RunRequest, keys, report,
};
use crate::charter::ModelProfile;
use crate::error::HostError;
use crate::material::meaning;
use crate::runtime::Runtime;

pub use fathom_material::{EmbedProgress, MaterialError, SkippedFile};

/// The charter of a council for which none is named.
pub const CHARTER: &str = "council";

/// The setup of `council`. Its options are [`CouncilOptions`].
#[derive(Clone, Copy, Debug)]
pub struct CouncilSetup;

/// What a council may be told over what its charter says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CouncilOptions {
    /// Levels of sub-chiefs below the chiefs.
    pub depth: Option<u8>,
    /// Whether chiefs that ask their sub-chiefs also vote by themselves.
    pub compare: bool,
    /// Whether earlier answers are left alone.
    pub no_reuse: bool,
}

impl CouncilOptions {
    /// Puts what was wanted over what the charter says.
    pub const fn settle(&self, params: &mut CouncilConfig) {
        if let Some(depth) = self.depth {
            params.depth_max = depth;
        }
        if self.compare {
            params.compare = true;
        }
        if self.no_reuse {
            params.reuse = ReusePolicy::Off;
        }
    }
}

impl ProgramSetup for CouncilSetup {
    fn name(&self) -> &str {
        council::NAME
    }

    fn default_charter(&self) -> &str {
        CHARTER
    }

    fn charter_section(&self) -> Option<&str> {
        Some("council")
    }

    fn prepare<'a>(
        &'a self,
        runtime: &'a Runtime,
        mut request: RunRequest<'a>,
    ) -> PrepareFuture<'a> {
        Box::pin(async move {
            let options: CouncilOptions = request.take_options()?;
            let charter = request.charter;
            let missing = || HostError::NoSection {
                name: charter.name.clone(),
                section: council::NAME.to_owned(),
            };
            let council = charter.council.as_ref().ok_or_else(missing)?;
            let profile = ModelProfile::of(&request.models.sub);
            let mut params = council.params(profile);
            options.settle(&mut params);
            let RunContext { paths, text } = std::mem::take(&mut request.context);
            let context = CouncilContext {
                paths,
                text,
                tokens_max: council.passage_tokens(profile),
            };
            let (question, models) = (request.goal.clone(), request.models.clone());
            let mut progress = |EmbedProgress { done, total }: EmbedProgress| {
                request.report(PrepareProgress::Passages { done, total });
            };
            let question = question.as_str();
            let convened =
                runtime.convene(&mut params, question, &context, &models, &mut progress)?;
            let base = std::mem::take(&mut request.contract);
            let contract = Contract {
                // A chief is at depth 0 of the council and at depth 1 of the engine.
                recursion: RecursionPolicy {
                    max_depth: params.depth_max.saturating_add(1),
                    ..base.recursion
                },
                ..base
            };
            let PreparedCouncil {
                skipped,
                words_only,
                ..
            } = convened;
            let mut warnings: Vec<PrepareWarning> =
                skipped.into_iter().map(PrepareWarning::Skipped).collect();
            warnings.extend(words_only.map(PrepareWarning::WordsOnly));
            let new = request.into_run(params.spec(), contract);
            Ok(PreparedRun {
                warnings,
                ..PreparedRun::new(council::NAME, new)
            })
        })
    }

    fn result(&self, source: &ResultSource<'_>) -> ResultKeys {
        let is_council = source.root().map(|root| &root.started.program.name);
        if is_council.is_none_or(|name| name != council::NAME) {
            return ResultKeys::new();
        }
        let report = source.root().and_then(report::<CouncilReport>);
        keys(&report.map(CouncilJson::from).unwrap_or_default())
    }
}

/// What a council is to look at.
#[derive(Clone, Debug, Default)]
pub struct CouncilContext {
    /// Files and folders.
    pub paths: Vec<PathBuf>,
    /// A text without a file.
    pub text: Option<MaterialDocument>,
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
        gathered.documents.extend(context.text.clone());
        let (by_meaning, words_only) = match self.embedded().embedder() {
            Ok(embedder) => {
                let kept = self.home().open_vectors();
                (Some(meaning(embedder, Some(kept))), None)
            }
            Err(error) => (None, Some(error.to_string())),
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
            seat.passages = found.into_iter().map(|passage| quoted(&passage)).collect();
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
fn quoted(passage: &Passage) -> council::QuotedPassage {
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

/// What a result says beyond the usual when a council decided: always all keys.
#[derive(Default, Serialize)]
struct CouncilJson {
    vote: Option<Vote>,
    confidence: Option<f64>,
    agreement: Option<f64>,
    tied: bool,
    partial: bool,
    dissent: Vec<String>,
    reasoning: Option<String>,
    votes: Vec<SeatJson>,
    complexity: ComplexityAssessment,
    depth_reached: u8,
    spawns: u32,
    reused_calls: u64,
    without_recursion: Option<AloneJson>,
}

/// A seat with all below it.
#[derive(Serialize)]
struct SeatJson {
    chief: String,
    vote: Option<Vote>,
    confidence: Option<f64>,
    reasoning: Option<String>,
    failure: Option<FailureJson>,
    /// As `docs/a.md:41`.
    source: Option<String>,
    agreement: Option<f64>,
    samples: Option<SampledVotes>,
    reused: Option<ReusedJson>,
    without_recursion: Option<AloneJson>,
    episode: Option<EpisodeId>,
    tokens: u64,
    calls: u64,
    elapsed_ms: u64,
    children: Vec<SeatJson>,
}

/// Why a seat has no vote.
#[derive(Serialize)]
struct FailureJson {
    kind: &'static str,
    message: String,
    /// How the call failed, or what is wrong with the reply, in one word.
    detail: Option<Value>,
}

#[derive(Serialize)]
struct ReusedJson {
    run: RunId,
    similarity: f64,
}

/// What would have come of it without sub-chiefs.
#[derive(Serialize)]
struct AloneJson {
    vote: Vote,
    confidence: f64,
    /// Of the whole council only.
    agreement: Option<f64>,
    elapsed_ms: Option<u64>,
}

impl From<CouncilReport> for CouncilJson {
    fn from(report: CouncilReport) -> Self {
        let has_vote = report.vote.is_some();
        Self {
            vote: report.vote,
            confidence: has_vote.then(|| report.confidence.fraction()),
            agreement: has_vote.then(|| report.agreement.fraction()),
            tied: report.tied,
            partial: report.partial,
            dissent: report.dissent,
            reasoning: has_vote.then_some(report.reasoning),
            votes: report.votes.into_iter().map(SeatJson::from).collect(),
            complexity: report.complexity,
            depth_reached: report.depth,
            spawns: report.spawns,
            reused_calls: report.reused_calls,
            without_recursion: report.alone.map(AloneJson::from),
        }
    }
}

impl From<SeatReport> for SeatJson {
    fn from(seat: SeatReport) -> Self {
        let alone = seat.alone.map(|cast| AloneJson {
            vote: cast.vote,
            confidence: cast.confidence.fraction(),
            agreement: None,
            elapsed_ms: seat.alone_ms.map(|elapsed| elapsed.0),
        });
        let (vote, confidence, reasoning, source) = match seat.cast {
            Some(SeatVote {
                vote,
                confidence,
                reasoning,
                source,
            }) => {
                let source = source.map(|source| format!("{}:{}", source.source, source.line));
                (
                    Some(vote),
                    Some(confidence.fraction()),
                    Some(reasoning),
                    source,
                )
            }
            None => (None, None, None, None),
        };
        Self {
            chief: seat.seat,
            vote,
            confidence,
            reasoning,
            failure: seat.failure.as_ref().map(FailureJson::from),
            source,
            agreement: seat.agreement.map(PerMille::fraction),
            samples: seat.samples,
            reused: seat
                .reused
                .map(|ReusedAnswer { run, similarity }| ReusedJson {
                    run,
                    similarity: similarity.fraction(),
                }),
            without_recursion: alone,
            episode: seat.episode,
            tokens: seat.tokens,
            calls: seat.calls,
            elapsed_ms: seat.elapsed.0,
            children: seat.children.into_iter().map(Self::from).collect(),
        }
    }
}

impl From<&SeatFailure> for FailureJson {
    fn from(failure: &SeatFailure) -> Self {
        let (kind, detail) = match failure {
            SeatFailure::Call { failure, .. } => ("call", serde_json::to_value(failure).ok()),
            SeatFailure::Unreadable(why) => {
                let why = serde_json::to_value(why).ok();
                ("unreadable", why.and_then(|why| why.get("why").cloned()))
            }
            SeatFailure::Refused { .. } => ("refused", None),
            SeatFailure::Late => ("late", None),
            SeatFailure::NoVotes => ("no_votes", None),
            SeatFailure::Stopped { .. } => ("stopped", None),
        };
        Self {
            kind,
            message: failure.to_string(),
            detail,
        }
    }
}

impl From<ChiefsOnlyResult> for AloneJson {
    fn from(alone: ChiefsOnlyResult) -> Self {
        Self {
            vote: alone.vote,
            confidence: alone.confidence.fraction(),
            agreement: Some(alone.agreement.fraction()),
            elapsed_ms: Some(alone.elapsed.0),
        }
    }
}
