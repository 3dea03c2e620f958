//! The episode of `rlm`, turn by turn.

use super::config::{RecipeMode, RlmConfig};
use super::report::{CellNote, RlmReport};
use fathom_core::budget::amounts::Dimension;
use fathom_core::contract::stop::{ErrorClass, Refusal, StopReason};
use fathom_core::episode::program::{
    Ask, ModelAsk, OnOutage, Program, ProgramError, ProgramInput, ProgramView,
};
use fathom_core::episode::result::{EpisodeStatus, ProgramVerdict};
use fathom_core::id::AskId;
use fathom_core::journal::event::ProgramSpec;
use fathom_core::model::failure::{FailureKind, ModelFailure};
use fathom_core::model::{ChatMessage, FinishReason, ModelReply, Speaker};
use fathom_core::packet::{Packet, PacketShare};
use fathom_core::sandbox::{CellErrorKind, CellResult, CellValue, ValueFormat};
use fathom_core::text::Text;

use super::cell_questions::CellQuestions;
use super::recipe_selection::RecipeSelection;
use super::reply::{ParsedTurn, RlmAction};
use super::state::RlmState;
use crate::conclusion::Conclusion;
use crate::reply::AnswerSchema;

/// The program's name, and the type of its children.
pub const NAME: &str = "rlm";

/// Characters of material that are kept as a preview.
pub const PREVIEW_CHARS: usize = 600;

/// Turns in a row without code after which the episode ends.
const PROSE_MAX: u32 = 4;

/// Most bytes that a child may answer with: its parent may have a thousand of them.
const CHILD_ANSWER_BYTES_MAX: usize = 256 << 10;

/// Times in a row that the same code may have the same outcome.
const SAME_MAX: u32 = 2;

/// Cells that the report lists.
// The report is part of one journal record, so it must not grow with the number of turns.
const NOTES_MAX: usize = 200;

/// The `rlm` program: runs the model's code in cells, answers their questions, and takes the answer they submit.
pub struct RlmProgram {
    pub(super) params: RlmConfig,
    schema: AnswerSchema,
    pub(super) goal: String,
    pub(super) standing: Text,
    pub(super) waiting: RlmState,
    /// Set while a recipe is chosen and tried.
    pub(super) choosing: Option<RecipeSelection>,
    questions: CellQuestions,
    /// Messages so far, oldest first.
    history: Vec<ChatMessage>,
    /// Next message to the model.
    next: String,
    /// The code that runs, and the cell before it with its outcome.
    code: String,
    former: Option<(String, String)>,
    prose: u32,
    same: u32,
    /// True if the last reply ran into its output cap.
    was_cut: bool,
    /// Most bytes of an answer.
    answer_bytes_max: usize,
    /// The best answer so far.
    pub(super) best: Option<CellValue>,
    /// The draft that was told last.
    draft: Option<CellValue>,
    /// Words of the last reply: a fallback if nothing better is submitted.
    words: String,
    /// Last message to the model, without the footing of each turn.
    told: String,
    /// Input tokens of the last turn.
    input_tokens: u64,
    /// Set in the last turn, with the limit that makes it so.
    last: Option<Dimension>,
    pub(super) report: RlmReport,
}

impl RlmProgram {
    /// Builds the program from the parameters in `spec`.
    pub fn new(spec: &ProgramSpec) -> Result<Self, ProgramError> {
        let params = RlmConfig::read(spec)?;
        Ok(Self {
            schema: AnswerSchema::new(params.schema.as_ref(), spec)?,
            choosing: (params.recipes == RecipeMode::Chosen).then(RecipeSelection::default),
            params,
            goal: String::new(),
            standing: Text::default(),
            waiting: RlmState::Turn(AskId::default()),
            questions: CellQuestions::default(),
            history: Vec::new(),
            next: super::prompts::BEGIN.to_owned(),
            code: String::new(),
            former: None,
            prose: 0,
            same: 0,
            was_cut: false,
            answer_bytes_max: usize::MAX,
            best: None,
            draft: None,
            words: String::new(),
            told: String::new(),
            input_tokens: 0,
            last: None,
            report: RlmReport::default(),
        })
    }

    pub(super) fn turn(&mut self, view: &ProgramView<'_>) -> Vec<Ask> {
        if self.report.iterations >= self.params.turns_max {
            let dimension = Dimension::Calls;
            return self.finish(
                EpisodeStatus::NeedsReview,
                StopReason::BudgetExhausted { dimension },
                "no answer was submitted in the last turn",
            );
        }
        self.report.iterations += 1;
        // Fixed before the call: the reply is judged by what the model was told, not by the budget it leaves.
        self.last = self.limit(view);
        let mut said = std::mem::take(&mut self.next);
        if std::mem::take(&mut self.was_cut) {
            said = format!("{}\n{said}", super::prompts::CUT);
        }
        self.told.clone_from(&said);
        if self.last.is_some() {
            said = format!("{said}\n\n{}", super::prompts::last(self.found().is_some()));
        }
        said.push_str(&super::prompts::footing(
            self.report.iterations,
            &self.params,
            view,
        ));
        let said = ChatMessage::new(Speaker::User, said);
        let packet = Packet {
            standing: self.standing.clone(),
            shares: vec![PacketShare::history(self.history.clone())],
            prompt: vec![said.clone()],
            ..Packet::default()
        };
        self.history.push(said);
        self.waiting = RlmState::Turn(view.next_ask);
        vec![Ask::Model(Box::new(ModelAsk {
            output_tokens_max: self.params.output_tokens_max,
            output_tokens_min: self.params.output_tokens_max.min(64),
            temperature_milli: self.params.temperature_milli,
            timeout: self.params.timeout,
            // Only a root can wait for a person; the parent of a child has to learn of the outage.
            on_outage: if view.depth == 0 {
                OnOutage::Wait
            } else {
                OnOutage::Fail
            },
            ..ModelAsk::new(view.model, packet)
        }))]
    }

    /// The limit that leaves no turn after this one. Whatever comes, the next one costs as much to read as the last.
    fn limit(&self, view: &ProgramView<'_>) -> Option<Dimension> {
        let is_last = self.report.iterations == self.params.turns_max || view.left.calls <= 1;
        let is_dear = view.left.tokens < self.input_tokens.saturating_mul(2);
        let calls = is_last.then_some(Dimension::Calls);
        let tokens = is_dear.then_some(Dimension::Tokens);
        view.closing.or(calls).or(tokens)
    }

    fn on_turn(&mut self, reply: &ModelReply, view: &ProgramView<'_>) -> Vec<Ask> {
        let said = reply.text.as_str();
        if self.choosing.is_some() {
            return self.on_choice(said, view);
        }
        self.history
            .push(ChatMessage::new(Speaker::Assistant, reply.text.clone()));
        // Code of a cut reply is run all the same; the next message says that the reply was cut.
        self.was_cut = reply.ending == FinishReason::Truncated;
        self.input_tokens = reply.usage.input_tokens;
        let ParsedTurn { turn, words } = super::reply::read(said);
        self.words = words;
        match turn {
            RlmAction::Code(code) => {
                self.prose = 0;
                self.run(code, view)
            }
            // Nobody knows how it would have gone on.
            RlmAction::Final(answer) if self.was_cut => {
                self.words = answer;
                self.on_prose(view)
            }
            RlmAction::Final(answer) => {
                let answer = CellValue {
                    form: ValueFormat::Text,
                    text: Text::new(answer),
                };
                match self.mismatch(&answer) {
                    None => self.accept(answer),
                    Some(problems) => self.send_back(answer, &problems, "", view),
                }
            }
            RlmAction::Prose => self.on_prose(view),
        }
    }

    fn on_prose(&mut self, view: &ProgramView<'_>) -> Vec<Ask> {
        self.prose += 1;
        if let Some(dimension) = self.last {
            return self.finish(
                EpisodeStatus::NeedsReview,
                StopReason::BudgetExhausted { dimension },
                "the last turn was words, not a submission",
            );
        }
        if self.prose == PROSE_MAX {
            return self.finish(
                EpisodeStatus::NeedsReview,
                StopReason::NoNewInformation,
                "the model wrote no code",
            );
        }
        super::prompts::NUDGE.clone_into(&mut self.next);
        self.turn(view)
    }

    /// The answer found by code so far.
    fn found(&self) -> Option<Text> {
        let best = self.best.as_ref().map(|value| value.text.clone());
        best.filter(|text| !text.is_blank())
    }

    pub(super) fn run(&mut self, code: String, view: &ProgramView<'_>) -> Vec<Ask> {
        self.waiting = RlmState::Cell(view.next_ask);
        self.questions.begin(view.next_ask);
        self.code.clone_from(&code);
        let mut limits = self.params.limits;
        if self.choosing.is_some() {
            // No model reads what a recipe prints.
            limits.output = limits.output.max(super::material_fields::LOOK_BYTES_MAX);
        }
        vec![Ask::RunCell {
            code: Text::new(code),
            context: self.params.source,
            limits,
        }]
    }

    fn on_cell(&mut self, end: &CellResult, view: &ProgramView<'_>) -> Vec<Ask> {
        if self.report.cells.len() < NOTES_MAX {
            self.report.cells.push(CellNote {
                error: end.error.as_ref().map(|error| error.kind),
                bytes: end.output.bytes,
                took: end.took,
            });
        }
        // Before the submission is looked at, so that a submission overrides a draft of the same cell.
        self.hear_draft(end.draft.as_ref());
        if let Some(submitted) = &end.submitted {
            self.choosing = None;
            return match self.mismatch(submitted) {
                None => self.accept(submitted.clone()),
                Some(problems) => {
                    let printed = super::prompts::printed(&end.output);
                    self.send_back(submitted.clone(), &problems, &printed, view)
                }
            };
        }
        let keeps_session = match &end.error {
            // Without a sandbox every further turn would fail in the same way and still cost a call.
            Some(error) if error.kind == CellErrorKind::Unavailable => {
                let why = format!("no sandbox: {}", error.message.as_str());
                let class = ErrorClass::Cell;
                return self.finish(EpisodeStatus::Failed, StopReason::Failure { class }, &why);
            }
            Some(error) => error.kind.keeps_session(),
            None => true,
        };
        if self.choosing.is_some() {
            return self.on_recipe(end, view);
        }
        self.go_on(super::prompts::after_cell(end, keeps_session), view)
    }

    /// The model's next turn, with what came of this one; the end where that was the same again and again.
    fn go_on(&mut self, said: String, view: &ProgramView<'_>) -> Vec<Ask> {
        let now = (
            std::mem::take(&mut self.code),
            // Errors name the number of their cell, which differs even if the code and the error are the same.
            super::prompts::without_numbers(&said),
        );
        self.same = if self.former.as_ref() == Some(&now) {
            self.same + 1
        } else {
            0
        };
        if self.same == SAME_MAX {
            return self.finish(
                EpisodeStatus::NeedsReview,
                StopReason::NoNewInformation,
                "the same code had the same outcome again and again",
            );
        }
        self.next = said;
        if self.same > 0 {
            self.next = format!("{}\n{}", self.next, super::prompts::SAME);
        }
        self.former = Some(now);
        self.turn(view)
    }

    /// A draft stands in the session until code changes it: told again, it is no newer than what was submitted since.
    fn hear_draft(&mut self, draft: Option<&CellValue>) {
        let draft = draft.filter(|draft| !self.is_too_large(draft));
        if draft.is_some() && self.draft.as_ref() != draft {
            self.draft = draft.cloned();
            self.best = draft.cloned();
        }
    }

    fn accept(&mut self, mut answer: CellValue) -> Vec<Ask> {
        if self.schema.wants_more_than(answer.text.as_str()) {
            answer.form = ValueFormat::Json;
        }
        self.best = Some(answer);
        self.finish(EpisodeStatus::Ok, StopReason::Success, "answered")
    }

    /// Rejects a submission: the model gets the reason with the output of its cell.
    fn send_back(
        &mut self,
        value: CellValue,
        problems: &str,
        printed: &str,
        view: &ProgramView<'_>,
    ) -> Vec<Ask> {
        if !self.is_empty(&value) && !self.is_too_large(&value) {
            self.best = Some(value);
        }
        if self.report.iterations < self.params.turns_max {
            return self.go_on(super::prompts::mismatch(problems, printed), view);
        }
        let said = format!("the answer was not taken: {problems}");
        self.finish(EpisodeStatus::NeedsReview, StopReason::ReviewFailed, &said)
    }

    /// True if a value is empty. Python's `None` is, unless a schema asks for `null`.
    fn is_empty(&self, value: &CellValue) -> bool {
        let is_none = value.form == ValueFormat::Json && value.text.as_str().trim() == "null";
        value.text.is_blank() || (is_none && self.params.schema.is_none())
    }

    fn is_too_large(&self, value: &CellValue) -> bool {
        value.text.as_str().len() > self.answer_bytes_max
    }

    /// The reason that a value is not an answer.
    fn mismatch(&self, value: &CellValue) -> Option<String> {
        if self.is_empty(value) {
            return Some("it is empty".to_owned());
        }
        if self.is_too_large(value) {
            let (bytes, most) = (value.text.as_str().len(), self.answer_bytes_max);
            return Some(format!(
                "it has {bytes} bytes, and you may answer with {most}: be brief"
            ));
        }
        let is_text = value.form == ValueFormat::Text;
        let problems = self.schema.mismatch(value.text.as_str(), is_text);
        problems.map(|problems| format!("it does not meet the schema: {problems}"))
    }

    fn on_failed(&mut self, failure: &ModelFailure, view: &ProgramView<'_>) -> Vec<Ask> {
        if failure.kind == FailureKind::Empty && self.choosing.is_some() {
            return self.on_choice("", view);
        }
        if failure.kind == FailureKind::Empty {
            // The governor counts: the third empty reply in a row ends the episode. Nothing was said between what the model
            // was told and what it is told now, and many templates want turns.
            self.history.pop();
            self.next = std::mem::take(&mut self.told);
            if !self.next.ends_with(super::prompts::NUDGE) {
                self.next = format!("{}\n{}", self.next, super::prompts::NUDGE);
            }
            return self.turn(view);
        }
        self.finish(
            EpisodeStatus::Failed,
            failure.as_stop(),
            &failure.to_string(),
        )
    }

    fn on_refused(&mut self, reason: &Refusal) -> Vec<Ask> {
        self.finish(reason.as_status(), reason.as_stop(), &reason.to_string())
    }

    pub(super) fn finish(
        &mut self,
        status: EpisodeStatus,
        stop: StopReason,
        said: &str,
    ) -> Vec<Ask> {
        let (turns, calls) = (self.report.iterations, self.questions.subcalls);
        let close = Conclusion {
            status,
            stop,
            goal: &self.goal,
            answer: self.partial(),
            said,
            work: super::prompts::work(turns, calls, self.questions.spawned),
            decisions: &[],
            notes: Vec::new(),
        };
        vec![Ask::Finish(Box::new(ProgramVerdict {
            report: self.report(),
            ..close.verdict()
        }))]
    }
}

impl Program for RlmProgram {
    fn on(&mut self, input: ProgramInput<'_>, view: &ProgramView<'_>) -> Vec<Ask> {
        match input {
            ProgramInput::Start(started) => {
                started.goal.as_str().clone_into(&mut self.goal);
                if view.depth > 0 {
                    self.answer_bytes_max = CHILD_ANSWER_BYTES_MAX;
                }
                self.standing = Text::new(super::prompts::standing(&self.params, &self.goal));
                if self.choosing.is_some() {
                    self.run(super::material_fields::LOOK.to_owned(), view)
                } else {
                    self.turn(view)
                }
            }
            ProgramInput::Reply { ask, reply } if self.waiting == RlmState::Turn(ask) => {
                self.on_turn(reply, view)
            }
            ProgramInput::Failed { ask, failure } if self.waiting == RlmState::Turn(ask) => {
                self.on_failed(failure, view)
            }
            ProgramInput::Refused { ask, reason } if self.waiting.is_for(ask) => {
                self.on_refused(reason)
            }
            ProgramInput::Cell { ask, question } if self.waiting == RlmState::Cell(ask) => {
                self.hear_draft(question.draft.as_ref());
                self.questions.ask(question, &self.params, view)
            }
            ProgramInput::CellEnded { ask, end } if self.waiting == RlmState::Cell(ask) => {
                let given_up = self.questions.end(view);
                let mut asks = self.on_cell(end, view);
                // After what comes next, which has the number that it was told.
                asks.extend(given_up);
                asks
            }
            ProgramInput::Reply { ask, reply } => self.questions.on_reply(ask, reply),
            ProgramInput::Failed { ask, failure } => self.questions.on_failed(ask, failure),
            ProgramInput::Refused { ask, reason } => self.questions.on_refused(ask, reason),
            ProgramInput::Child { ask, result, .. } => self.questions.on_child(ask, result),
            ProgramInput::Delta { .. }
            | ProgramInput::Cell { .. }
            | ProgramInput::CellEnded { .. }
            | ProgramInput::Effect { .. }
            | ProgramInput::Host { .. }
            | ProgramInput::Signal(_)
            | ProgramInput::Tick => Vec::new(),
        }
    }

    /// Words are better than nothing, and no better than what code has found.
    fn partial(&self) -> Option<Text> {
        let end = self.words.floor_char_boundary(self.answer_bytes_max);
        let words = Text::from(&self.words[..end]);
        self.found()
            .or(Some(words).filter(|words| !words.is_blank()))
    }

    fn report(&self) -> Option<Text> {
        let report = RlmReport {
            subcalls: self.questions.subcalls,
            memoised: self.questions.memoised,
            children: self.questions.spawned,
            is_json: self
                .best
                .as_ref()
                .is_some_and(|value| value.form == ValueFormat::Json),
            ..self.report.clone()
        };
        serde_json::to_string(&report).ok().map(Text::new)
    }
}
