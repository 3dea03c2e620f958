//! The episode of `direct`, from the question to the verdict.

use super::config::DirectConfig;
use super::prompts::{CONTINUE, question};
use super::review::critique;
use crate::conclusion::Conclusion;
use crate::reply::{AnswerSchema, after_thoughts, passes, unfenced};
use fathom_core::budget::amounts::Dimension;
use fathom_core::contract::stop::{Refusal, StopReason};
use fathom_core::episode::program::{
    Ask, ModelAsk, OnOutage, Program, ProgramError, ProgramInput, ProgramView,
};
use fathom_core::episode::result::{Decision, EpisodeResult, EpisodeStatus, ProgramVerdict, clip};
use fathom_core::id::AskId;
use fathom_core::journal::event::ProgramSpec;
use fathom_core::model::failure::{FailureKind, ModelFailure};
use fathom_core::model::{ChatMessage, FinishReason, ModelReply, ReplyMode, Speaker};
use fathom_core::packet::Packet;
use fathom_core::text::Text;

/// Name of the program in specifications and journals.
pub const NAME: &str = "direct";

/// Rewrites asked for when the answer does not meet its schema.
// Each rewrite costs a whole answer, and the schema is repeated with every call.
const SENT_BACK_MAX: u32 = 2;

/// The `direct` program: asks the model once, continues cut replies, and has the answer judged where a rubric is given.
pub struct DirectProgram {
    params: DirectConfig,
    schema: AnswerSchema,
    goal: String,
    /// The ask whose answer moves things on.
    awaited: AskId,
    /// Messages of the present call after the question.
    more: Vec<ChatMessage>,
    /// Text of the replies so far, thoughts included.
    draft: String,
    /// The last whole answer, without thoughts; it stands until another one is whole.
    answer: Option<String>,
    /// Number and text of the present attempt, as streamed so far.
    speaking: (u16, String),
    continuations: u32,
    revisions: u32,
    sent_back: u32,
    calls: u32,
    decisions: Vec<Decision>,
}

impl DirectProgram {
    /// Builds the program from the parameters in `spec`.
    pub fn new(spec: &ProgramSpec) -> Result<Self, ProgramError> {
        let params: DirectConfig = spec.read_or_usual()?;
        Ok(Self {
            schema: AnswerSchema::new(params.schema.as_ref(), spec)?,
            params,
            goal: String::new(),
            awaited: AskId::default(),
            more: Vec::new(),
            draft: String::new(),
            answer: None,
            speaking: (0, String::new()),
            continuations: 0,
            revisions: 0,
            sent_back: 0,
            calls: 0,
            decisions: Vec::new(),
        })
    }

    fn call(&mut self, more: Vec<ChatMessage>, view: &ProgramView<'_>) -> Vec<Ask> {
        self.more = more;
        self.call_again(view)
    }

    fn call_again(&mut self, view: &ProgramView<'_>) -> Vec<Ask> {
        self.awaited = view.next_ask;
        self.speaking = (0, String::new());
        self.calls += 1;
        let mut prompt = vec![ChatMessage::new(
            Speaker::User,
            question(&self.params.material, &self.goal),
        )];
        prompt.extend(self.more.iter().cloned());
        let packet = Packet {
            standing: Text::from(self.params.system.as_str()),
            prompt,
            ..Packet::default()
        };
        let schema = self.params.schema.as_ref();
        vec![Ask::Model(Box::new(ModelAsk {
            output_tokens_max: self.params.output_tokens_max,
            output_tokens_min: self.params.output_tokens_min,
            temperature_milli: self.params.temperature_milli,
            schema: schema.map(|schema| Text::new(schema.to_string())),
            delivery: if self.params.stream {
                ReplyMode::Streamed
            } else {
                ReplyMode::Whole
            },
            timeout: self.params.timeout,
            // Nobody can mend a child's outage without its parent noticing; the root can wait for a person.
            on_outage: if view.depth == 0 {
                OnOutage::Wait
            } else {
                OnOutage::Fail
            },
            ..ModelAsk::new(view.model, packet)
        }))]
    }

    fn on_reply(&mut self, reply: &ModelReply, view: &ProgramView<'_>) -> Vec<Ask> {
        // Thoughts stay in the draft until the answer is whole: a thought may be cut off and end in a continuation.
        self.draft.push_str(reply.text.as_str());
        self.speaking = (0, String::new());
        if reply.ending == FinishReason::Complete {
            return self.on_answer(view);
        }
        if self.continuations == self.params.continuations_max {
            let dimension = Dimension::Tokens;
            return self.finish(
                EpisodeStatus::NeedsReview,
                StopReason::BudgetExhausted { dimension },
                "the answer is cut off at its output cap",
            );
        }
        self.continuations += 1;
        let so_far = ChatMessage::new(Speaker::Assistant, self.draft.as_str());
        self.call(
            vec![so_far, ChatMessage::new(Speaker::User, CONTINUE)],
            view,
        )
    }

    fn on_answer(&mut self, view: &ProgramView<'_>) -> Vec<Ask> {
        let draft = std::mem::take(&mut self.draft);
        let mut answer = without_thoughts(&draft).to_owned();
        if answer.trim().is_empty() {
            return self.on_thoughts_alone(view);
        }
        if let Some(problems) = self.schema.mismatch(answer.trim(), true) {
            // A fence around the JSON that was asked for is no part of it.
            let json = unfenced(&answer).into_owned();
            if self.schema.mismatch(&json, true).is_some() {
                return self.send_back(answer, &problems, view);
            }
            answer = json;
        }
        let judged = answer.clone();
        self.answer = Some(answer);
        let Some(review) = &self.params.review else {
            return self.finish(EpisodeStatus::Ok, StopReason::Success, "answered");
        };
        self.awaited = view.next_ask;
        vec![critique(
            review,
            &self.goal,
            &judged,
            self.params.timeout,
            view,
        )]
    }

    /// A reply that is nothing but thoughts: the model is asked once more what it was asked.
    fn on_thoughts_alone(&mut self, view: &ProgramView<'_>) -> Vec<Ask> {
        if self.sent_back == SENT_BACK_MAX {
            let said = "the model thought and gave no answer";
            return self.finish(
                EpisodeStatus::NeedsReview,
                StopReason::NoNewInformation,
                said,
            );
        }
        self.sent_back += 1;
        let is_continued = |message: &ChatMessage| message.text.as_str() == CONTINUE;
        if self.more.last().is_some_and(is_continued) {
            // The draft was nothing but thoughts, so there is nothing to continue: the question is asked afresh.
            self.more.clear();
        }
        self.call_again(view)
    }

    fn send_back(&mut self, answer: String, problems: &str, view: &ProgramView<'_>) -> Vec<Ask> {
        self.answer = Some(answer);
        if self.sent_back == SENT_BACK_MAX {
            let said = format!("the answer does not meet its schema: {problems}");
            return self.finish(EpisodeStatus::NeedsReview, StopReason::ReviewFailed, &said);
        }
        self.sent_back += 1;
        let why = format!("This does not meet the schema: {problems}\nReply with the JSON alone.");
        self.rewrite(why, view)
    }

    /// Has the whole answer written again.
    fn rewrite(&mut self, why: String, view: &ProgramView<'_>) -> Vec<Ask> {
        let answer = self.answer.clone().unwrap_or_default();
        let more = vec![
            ChatMessage::new(Speaker::Assistant, answer),
            ChatMessage::new(Speaker::User, why),
        ];
        self.call(more, view)
    }

    fn on_judged(&mut self, result: &EpisodeResult, view: &ProgramView<'_>) -> Vec<Ask> {
        let said = result.answer.as_ref().map_or("", Text::as_str);
        // A judge that did not finish may have meant to say more: its pass counts for nothing.
        let verdict = passes(said).filter(|pass| !pass || result.status == EpisodeStatus::Ok);
        self.decisions.push(Decision {
            what: Text::from(match verdict {
                Some(true) => "review passed",
                Some(false) => "review failed",
                None => "review gave no verdict",
            }),
            rationale: Text::new(clip(said, 300)),
        });
        let may_revise = self
            .params
            .review
            .as_ref()
            .is_some_and(|review| self.revisions < review.revisions_max);
        match verdict {
            Some(true) => self.finish(
                EpisodeStatus::Ok,
                StopReason::Success,
                "answered and reviewed",
            ),
            Some(false) if may_revise => {
                self.revisions += 1;
                let why =
                    format!("A reviewer found: {said}\nWrite the whole answer anew and mend that.");
                self.rewrite(why, view)
            }
            _ => self.finish(
                EpisodeStatus::NeedsReview,
                StopReason::ReviewFailed,
                "the answer did not pass its review",
            ),
        }
    }

    fn on_failed(&mut self, failure: &ModelFailure, view: &ProgramView<'_>) -> Vec<Ask> {
        if failure.kind == FailureKind::Empty {
            // The governor counts: the third empty reply in a row ends the episode.
            return self.call_again(view);
        }
        if !failure.partial.is_blank() {
            failure.partial.as_str().clone_into(&mut self.speaking.1);
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

    fn finish(&self, status: EpisodeStatus, stop: StopReason, said: &str) -> Vec<Ask> {
        let close = Conclusion {
            status,
            stop,
            goal: &self.goal,
            answer: self.partial(),
            said,
            work: format!("{} calls", self.calls),
            decisions: &self.decisions,
            notes: Vec::new(),
        };
        vec![Ask::Finish(Box::new(ProgramVerdict {
            verification_needed: status != EpisodeStatus::Ok && self.params.review.is_some(),
            ..close.verdict()
        }))]
    }
}

impl Program for DirectProgram {
    fn on(&mut self, input: ProgramInput<'_>, view: &ProgramView<'_>) -> Vec<Ask> {
        match input {
            ProgramInput::Start(started) => {
                started.goal.as_str().clone_into(&mut self.goal);
                self.call(Vec::new(), view)
            }
            ProgramInput::Delta { ask, attempt, text } if ask == self.awaited => {
                // A retry streams from its beginning again; keeping both would show the start twice.
                if self.speaking.0 != attempt {
                    self.speaking = (attempt, String::new());
                }
                self.speaking.1.push_str(text.as_str());
                Vec::new()
            }
            ProgramInput::Reply { ask, reply } if ask == self.awaited => self.on_reply(reply, view),
            ProgramInput::Failed { ask, failure } if ask == self.awaited => {
                self.on_failed(failure, view)
            }
            ProgramInput::Child { ask, result, .. } if ask == self.awaited => {
                self.on_judged(result, view)
            }
            ProgramInput::Refused { ask, reason } if ask == self.awaited => self.on_refused(reason),
            ProgramInput::Delta { .. }
            | ProgramInput::Reply { .. }
            | ProgramInput::Failed { .. }
            | ProgramInput::Child { .. }
            | ProgramInput::Refused { .. }
            | ProgramInput::Effect { .. }
            | ProgramInput::Host { .. }
            | ProgramInput::Cell { .. }
            | ProgramInput::CellEnded { .. }
            | ProgramInput::Signal(_)
            | ProgramInput::Tick => Vec::new(),
        }
    }

    fn partial(&self) -> Option<Text> {
        let so_far = || {
            let reply = format!("{}{}", self.draft, self.speaking.1);
            without_thoughts(&reply).to_owned()
        };
        let answer = self.answer.clone().unwrap_or_else(so_far);
        (!answer.trim().is_empty()).then(|| Text::new(answer))
    }
}

/// The text after the thoughts and the blank lines that follow them; all of it, unchanged, if there are no thoughts.
fn without_thoughts(reply: &str) -> &str {
    let said = after_thoughts(reply);
    if said.len() < reply.len() {
        said.trim_start()
    } else {
        said
    }
}
