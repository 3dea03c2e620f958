//! The loop of `tools`: from one turn to the next.

use super::config::ToolsConfig;
use super::report::ToolsReport;
use jsonschema::Validator;

use fathom_core::budget::amounts::Dimension;
use fathom_core::contract::stop::{Refusal, StopReason};
use fathom_core::episode::program::{
    Ask, ModelAsk, OnOutage, Program, ProgramError, ProgramInput, ProgramView,
};
use fathom_core::episode::result::{EpisodeStatus, ProgramVerdict};
use fathom_core::id::AskId;
use fathom_core::journal::event::ProgramSpec;
use fathom_core::model::failure::{FailureKind, ModelFailure};
use fathom_core::model::tool_call::{ToolCall, ToolReply, read_reply};
use fathom_core::model::{ChatMessage, FinishReason, ModelReply, Speaker};
use fathom_core::packet::{Packet, PacketShare};
use fathom_core::text::Text;

use super::calls::CallHistory;
use crate::conclusion::Conclusion;
use crate::reply::{after_thoughts, unfenced};

/// Name of the program in specifications and journals.
pub const NAME: &str = "tools";

/// Turns in a row with nothing but calls that could not be made.
const INVALID_TURNS_MAX: u32 = 3;

/// The `tools` program: asks the model which tools to call, requests each call as an effect, and feeds back its result.
pub struct ToolsProgram {
    params: ToolsConfig,
    schema: Option<Validator>,
    goal: String,
    standing: Text,
    /// The model's turn that is awaited, if it is the model's.
    awaited: Option<AskId>,
    calls: CallHistory,
    /// Messages so far, oldest first.
    history: Vec<ChatMessage>,
    /// Next message to the model.
    next: String,
    turns: u32,
    invalid_turns: u32,
    is_last_turn: bool,
    /// The last words of the model.
    best: Option<Text>,
}

impl ToolsProgram {
    /// Builds the program from the parameters in `spec`.
    pub fn new(spec: &ProgramSpec) -> Result<Self, ProgramError> {
        let params = ToolsConfig::read(spec)?;
        Ok(Self {
            schema: params.answer_validator()?,
            calls: CallHistory::new(params.validators()?),
            params,
            goal: String::new(),
            standing: Text::default(),
            awaited: None,
            history: Vec::new(),
            next: super::prompts::BEGIN.to_owned(),
            turns: 0,
            invalid_turns: 0,
            is_last_turn: false,
            best: None,
        })
    }

    fn turn(&mut self, view: &ProgramView<'_>) -> Vec<Ask> {
        self.turns += 1;
        self.is_last_turn = view.closing.is_some()
            || self.calls.ran_out.is_some()
            || self.turns == self.params.turns_max;
        let mut said = std::mem::take(&mut self.next);
        let allowed = &view.contract.allowed_tools;
        let offered = self.params.tools.iter().map(|offered| &offered.spec);
        let mut tools: Vec<_> = offered
            .filter(|spec| allowed.contains(&spec.name))
            .cloned()
            .collect();
        // The model was told that no tool can be called any more, so a call in this turn is only text.
        if self.is_last_turn {
            said = format!("{said}\n\n{}", super::prompts::LAST);
            tools.clear();
        }
        said.push_str(&super::prompts::footing(self.turns, &self.params, view));
        let said = ChatMessage::new(Speaker::User, said);
        let packet = Packet {
            standing: self.standing.clone(),
            shares: vec![PacketShare::history(self.history.clone())],
            prompt: vec![said.clone()],
            ..Packet::default()
        };
        self.history.push(said);
        self.awaited = Some(view.next_ask);
        // A reply that may be a call cannot be held to the schema of an answer.
        let schema = self.params.schema.as_ref().filter(|_| tools.is_empty());
        vec![Ask::Model(Box::new(ModelAsk {
            output_tokens_max: self.params.output_tokens_max,
            output_tokens_min: self.params.output_tokens_max.min(64),
            temperature_milli: self.params.temperature_milli,
            schema: schema.map(|schema| Text::new(schema.to_string())),
            tools,
            timeout: self.params.timeout,
            on_outage: if view.depth == 0 {
                OnOutage::Wait
            } else {
                OnOutage::Fail
            },
            ..ModelAsk::new(view.model, packet)
        }))]
    }

    /// Another turn if there is one.
    fn go_on(&mut self, next: String, view: &ProgramView<'_>) -> Vec<Ask> {
        if self.is_last_turn {
            let why = "the last turn brought no answer";
            return self.finish(EpisodeStatus::NeedsReview, self.exhausted(view), why);
        }
        self.next = next;
        self.turn(view)
    }

    /// The limit that made this turn the last one.
    fn exhausted(&self, view: &ProgramView<'_>) -> StopReason {
        let dimension = view.closing.or(self.calls.ran_out);
        StopReason::BudgetExhausted {
            dimension: dimension.unwrap_or(Dimension::Calls),
        }
    }

    fn on_turn(&mut self, reply: &ModelReply, view: &ProgramView<'_>) -> Vec<Ask> {
        self.awaited = None;
        let wanted = self.wanted(reply);
        let words = after_thoughts(reply.text.as_str());
        // Kept even beside calls: should the budget end before another answer, these words are better than nothing.
        if !words.trim().is_empty() {
            self.best = Some(Text::from(words.trim()));
        }
        // Where calls were written as words, the words are the call.
        let said = Some(words).filter(|_| wanted == reply.tool_calls);
        let said = said.unwrap_or_default();
        let said = super::prompts::turn(said, &wanted, self.params.result_bytes_max);
        self.history
            .push(ChatMessage::new(Speaker::Assistant, said));
        if wanted.is_empty() {
            return self.on_answer(words, reply, view);
        }
        let asks = self.calls.begin(&wanted, &self.params, view);
        if asks.is_empty() {
            self.after_calls(view)
        } else {
            asks
        }
    }

    /// The calls that a reply wants. Some models write them as words.
    fn wanted(&self, reply: &ModelReply) -> Vec<ToolCall> {
        if self.is_last_turn {
            return Vec::new();
        }
        if !reply.tool_calls.is_empty() {
            return reply.tool_calls.clone();
        }
        match read_reply(&unfenced(reply.text.as_str())) {
            Ok(ToolReply::Call(call)) if self.params.find(call.name.as_str()).is_some() => {
                vec![call]
            }
            _ => Vec::new(),
        }
    }

    /// All calls of the turn came to something.
    fn after_calls(&mut self, view: &ProgramView<'_>) -> Vec<Ask> {
        let round = self.calls.end();
        // Checked before the invalid turns: a call that can be made but leads nowhere is the more telling reason.
        if round.repeats {
            return self.finish(
                EpisodeStatus::NeedsReview,
                StopReason::NoNewInformation,
                "the same call had the same outcome again and again",
            );
        }
        // One valid call resets the count, because the model has then understood the form of a call.
        self.invalid_turns = if round.all_invalid {
            self.invalid_turns + 1
        } else {
            0
        };
        if self.invalid_turns == INVALID_TURNS_MAX {
            return self.finish(
                EpisodeStatus::NeedsReview,
                StopReason::NoNewInformation,
                "the model wanted nothing but calls that cannot be made",
            );
        }
        self.go_on(format!("{}\n{}", super::prompts::RESULTS, round.told), view)
    }

    fn on_answer(&mut self, words: &str, reply: &ModelReply, view: &ProgramView<'_>) -> Vec<Ask> {
        if reply.ending == FinishReason::Truncated && !reply.text.is_blank() {
            return self.go_on(super::prompts::CUT.to_owned(), view);
        }
        if words.trim().is_empty() {
            return self.go_on(super::prompts::NUDGE.to_owned(), view);
        }
        if self.schema.is_some() {
            // A fence around the JSON that was asked for is no part of it.
            self.best = Some(Text::new(unfenced(words).into_owned()));
        }
        if let Some(problems) = self.mismatch(&unfenced(words)) {
            if self.is_last_turn {
                let said = format!("the answer does not meet its schema: {problems}");
                return self.finish(EpisodeStatus::NeedsReview, StopReason::ReviewFailed, &said);
            }
            return self.go_on(super::prompts::mismatch(&problems), view);
        }
        if self.is_last_turn {
            let why = "a limit ended the work before the model did";
            return self.finish(EpisodeStatus::NeedsReview, self.exhausted(view), why);
        }
        // An answer may rest on an effect that perhaps did not happen; only a person can settle that.
        let (status, said) = if self.calls.is_in_doubt {
            (
                EpisodeStatus::NeedsReview,
                "answered, with an effect in doubt",
            )
        } else {
            (EpisodeStatus::Ok, "answered")
        };
        self.finish(status, StopReason::Success, said)
    }

    /// The reason that a text is not an answer.
    fn mismatch(&self, answer: &str) -> Option<String> {
        let schema = self.schema.as_ref()?;
        let json = match serde_json::from_str(answer) {
            Ok(json) => json,
            Err(error) => return Some(format!("it is no JSON: {error}")),
        };
        super::calls::problems(schema, &json)
    }

    fn on_failed(&mut self, failure: &ModelFailure, view: &ProgramView<'_>) -> Vec<Ask> {
        self.awaited = None;
        if failure.kind == FailureKind::Empty {
            return self.go_on(super::prompts::NUDGE.to_owned(), view);
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

    fn on_call_refused(
        &mut self,
        ask: AskId,
        reason: &Refusal,
        view: &ProgramView<'_>,
    ) -> Vec<Ask> {
        // Every other call of the episode would be refused as well, so the model cannot work around these.
        if let Refusal::Killed { .. } | Refusal::Stopping = reason {
            return self.on_refused(reason);
        }
        if self.calls.refused(ask, reason) {
            return self.after_calls(view);
        }
        Vec::new()
    }

    fn finish(&self, status: EpisodeStatus, stop: StopReason, said: &str) -> Vec<Ask> {
        let close = Conclusion {
            status,
            stop,
            goal: &self.goal,
            answer: self.partial(),
            said,
            work: format!("{} turns, {}", self.turns, self.calls.tally()),
            decisions: &[],
            notes: Vec::new(),
        };
        vec![Ask::Finish(Box::new(ProgramVerdict {
            report: self.report(),
            ..close.verdict()
        }))]
    }
}

impl Program for ToolsProgram {
    fn on(&mut self, input: ProgramInput<'_>, view: &ProgramView<'_>) -> Vec<Ask> {
        match input {
            ProgramInput::Start(started) => {
                started.goal.as_str().clone_into(&mut self.goal);
                self.standing = Text::new(super::prompts::standing(&self.params, &self.goal));
                self.turn(view)
            }
            ProgramInput::Reply { ask, reply } if self.awaited == Some(ask) => {
                self.on_turn(reply, view)
            }
            ProgramInput::Failed { ask, failure } if self.awaited == Some(ask) => {
                self.on_failed(failure, view)
            }
            ProgramInput::Refused { ask, reason } if self.awaited == Some(ask) => {
                self.on_refused(reason)
            }
            ProgramInput::Refused { ask, reason } => self.on_call_refused(ask, reason, view),
            ProgramInput::Effect { ask, outcome } if self.calls.settled(ask, outcome) => {
                self.after_calls(view)
            }
            ProgramInput::Effect { .. }
            | ProgramInput::Delta { .. }
            | ProgramInput::Reply { .. }
            | ProgramInput::Failed { .. }
            | ProgramInput::Child { .. }
            | ProgramInput::Host { .. }
            | ProgramInput::Cell { .. }
            | ProgramInput::CellEnded { .. }
            | ProgramInput::Signal(_)
            | ProgramInput::Tick => Vec::new(),
        }
    }

    fn partial(&self) -> Option<Text> {
        self.best.clone()
    }

    fn report(&self) -> Option<Text> {
        let report = ToolsReport {
            turns: self.turns,
            ..self.calls.report.clone()
        };
        serde_json::to_string(&report).ok().map(Text::new)
    }
}
