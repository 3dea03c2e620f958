//! The acting model and the observer who reads along.

use super::program::{StagesProgram, after, raised};
use super::prompts::{self, PromptStage};
use super::state::StageState;
use crate::reply::after_thoughts;
use fathom_core::channel::marker::{BlockKind, Marker};
use fathom_core::contract::stop::StopReason;
use fathom_core::episode::program::{Ask, ProgramInput, ProgramView};
use fathom_core::episode::result::{EpisodeStatus, clip};
use fathom_core::id::AskId;
use fathom_core::model::failure::FailureKind;
use fathom_core::packet::PacketRisk;
use fathom_core::text::Text;

/// Characters of what was said that the next attempt is shown.
const SHOWN_CHARS: usize = 2_000;

/// An attempt at acting.
pub(super) struct ActAttempt {
    /// The acting model's call, until it is over.
    ask: Option<AskId>,
    attempt: u16,
    /// Text streamed so far.
    said: String,
    /// The observer's call that is out, and how much of the text it sees.
    look: Option<(AskId, usize)>,
    /// Length of the text that the observer has seen.
    seen: usize,
}

impl StagesProgram {
    /// Starts an attempt.
    pub(super) fn act(&mut self, asks: Vec<Ask>, view: &ProgramView<'_>) -> Vec<Ask> {
        let mut asks = asks;
        if self.acts == self.params.acts_max {
            let why = "no attempt at acting was let through";
            asks.extend(self.finish(
                EpisodeStatus::NeedsReview,
                StopReason::NoNewInformation,
                why,
            ));
            return asks;
        }
        self.acts += 1;
        let mut parts = vec![format!("Task:\n{}", self.goal)];
        if !self.plan.is_empty() {
            parts.push(format!("Plan:\n{}", self.plan));
        }
        parts.extend(self.report.commands.iter().map(prompts::tried));
        if let Some((why, said)) = &self.stopped {
            parts.push(format!(
                "You had begun, and were stopped: {why}\nYou had said:\n---\n{said}\n---\nBegin anew and mend it."
            ));
        }
        let prompt = parts.join("\n\n");
        let ask = after(view, &asks);
        asks.push(self.call(PromptStage::Act, prompt, view));
        self.now = StageState::Acting(ActAttempt {
            ask: Some(ask),
            attempt: 0,
            said: String::new(),
            look: None,
            seen: 0,
        });
        asks
    }

    pub(super) fn on_acting(
        &mut self,
        input: ProgramInput<'_>,
        view: &ProgramView<'_>,
    ) -> Vec<Ask> {
        let StageState::Acting(acting) = &mut self.now else {
            return Vec::new();
        };
        match input {
            ProgramInput::Delta { ask, attempt, text } if acting.ask == Some(ask) => {
                if acting.attempt != attempt {
                    // The call was made anew, and so are its words.
                    acting.attempt = attempt;
                    acting.said.clear();
                    acting.unsee();
                }
                acting.said.push_str(text.as_str());
                self.look(view)
            }
            ProgramInput::Reply { ask, reply } if acting.ask == Some(ask) => {
                acting.ask = None;
                // Deltas may be missing, as in a reply that was not streamed: then the observer starts from the whole
                // text.
                if acting.said != reply.text.as_str() {
                    reply.text.as_str().clone_into(&mut acting.said);
                    acting.unsee();
                }
                self.look(view)
            }
            ProgramInput::Reply { ask, reply } if acting.is_looking(ask) => {
                acting.seen = acting.look.take().map_or(0, |(_, upto)| upto);
                match prompts::interrupt(after_thoughts(reply.text.as_str())) {
                    Some(why) => self.interrupt(&why, view),
                    None => self.look(view),
                }
            }
            ProgramInput::Failed { ask, failure } if acting.ask == Some(ask) => {
                if failure.kind == FailureKind::Empty {
                    return self.interrupt("nothing was said", view);
                }
                self.finish(
                    EpisodeStatus::Failed,
                    failure.as_stop(),
                    &failure.to_string(),
                )
            }
            // What nobody watches does not go on.
            ProgramInput::Failed { ask, failure } if acting.is_looking(ask) => {
                let why = format!("the observer could not look: {failure}");
                acting.look = None;
                self.interrupt(&why, view)
            }
            ProgramInput::Refused { ask, reason }
                if acting.ask == Some(ask) || acting.is_looking(ask) =>
            {
                let given_up = acting.ask.filter(|open| *open != ask);
                let mut asks: Vec<Ask> = given_up.into_iter().map(Ask::Cancel).collect();
                asks.extend(self.on_refused(reason));
                asks
            }
            _ => Vec::new(),
        }
    }

    /// Has the observer look, when there is enough to see; what has been seen to its end is taken.
    fn look(&mut self, view: &ProgramView<'_>) -> Vec<Ask> {
        let StageState::Acting(acting) = &self.now else {
            return Vec::new();
        };
        // One look at a time: two verdicts on overlapping text could arrive in either order.
        if acting.look.is_some() {
            return Vec::new();
        }
        let upto = acting.said.len();
        let unseen = acting.said.get(acting.seen..).unwrap_or_default();
        let is_over = acting.ask.is_none();
        if is_over && unseen.is_empty() {
            let said = acting.said.clone();
            return self.accept(&said, view);
        }
        // At the end even a short rest is looked at, so that nothing is taken unseen.
        if !is_over && unseen.chars().count() < self.params.look_every as usize {
            return Vec::new();
        }
        let state = if is_over { "whole" } else { "so far" };
        let prompt = format!(
            "Task:\n{}\n\nThe answer, {state}:\n---\n{}\n---",
            self.goal, acting.said
        );
        let call = self.call(PromptStage::Observe, prompt, view);
        if let StageState::Acting(acting) = &mut self.now {
            acting.look = Some((view.next_ask, upto));
        }
        vec![call]
    }

    /// Stops the acting model. The third time the council is asked whether to go on; after that, nobody goes on.
    pub(super) fn interrupt(&mut self, why: &str, view: &ProgramView<'_>) -> Vec<Ask> {
        let mut asks = Vec::new();
        let mut said = String::new();
        if let StageState::Acting(acting) = std::mem::replace(&mut self.now, StageState::Over) {
            let open = acting
                .ask
                .into_iter()
                .chain(acting.look.map(|(ask, _)| ask));
            asks.extend(open.map(Ask::Cancel));
            said = acting.said;
        }
        let why = clip(why, 400);
        self.report.interrupts += 1;
        // The next attempt sees what it had said, or it would make the same start again.
        self.stopped = Some((why.clone(), prompts::bounded(&said, SHOWN_CHARS)));
        self.show(BlockKind::Marked(Marker::Interrupt), &why, &mut asks, view);
        let count = self.report.interrupts;
        if count < self.params.interrupts_max {
            self.report.risk_level = raised(PacketRisk::Low);
            return self.act(asks, view);
        }
        self.report.risk_level = PacketRisk::High;
        if count > self.params.interrupts_max {
            let said = format!("interrupted again after the council let it go on: {why}");
            asks.extend(self.finish(EpisodeStatus::NeedsReview, StopReason::ReviewFailed, &said));
            return asks;
        }
        let proposal = format!(
            "The answer was interrupted {count} times, the last time because: {why}\nLet the model try once more?"
        );
        self.escalate(proposal, asks, view)
    }

    /// Takes what the acting model said and the observer let through.
    fn accept(&mut self, said: &str, view: &ProgramView<'_>) -> Vec<Ask> {
        let spoken = prompts::spoken(after_thoughts(said));
        let mut commands = Vec::new();
        let mut response: Option<Text> = None;
        let mut shown = Vec::new();
        for block in spoken {
            match block.kind() {
                Some(BlockKind::Unmarked | BlockKind::Marked(Marker::Response)) => {
                    let text = match response.take() {
                        Some(before) => {
                            let parts = [before.as_str(), block.text.as_str()];
                            Text::new(parts.join("\n\n"))
                        }
                        None => block.text.clone(),
                    };
                    response = Some(text);
                    shown.push(block);
                }
                Some(BlockKind::Marked(Marker::ThoughtSeed)) => shown.push(block),
                Some(BlockKind::Marked(Marker::Execute)) => {
                    commands.push(block.text.as_str().to_owned());
                    shown.push(block);
                }
                // Nobody plans, interrupts or verifies in another one's name.
                _ => {}
            }
        }
        if response.is_none() && commands.is_empty() {
            return self.interrupt("nothing was said to the user", view);
        }
        let commands = match self.read_commands(&commands) {
            Ok(commands) => commands,
            Err(why) => return self.interrupt(&why, view),
        };
        self.response = response.or_else(|| self.response.take());
        let mut asks = Vec::new();
        for block in shown {
            let kind = block.kind().unwrap_or(BlockKind::Unmarked);
            self.show(kind, block.text.as_str(), &mut asks, view);
        }
        self.stopped = None;
        if commands.is_empty() {
            return self.speak(PromptStage::Verify, asks, view);
        }
        self.run(commands, asks, view)
    }
}

impl ActAttempt {
    /// The text is another one: nothing of it was seen, not even by a look that is out.
    fn unsee(&mut self) {
        self.seen = 0;
        if let Some((_, upto)) = &mut self.look {
            *upto = 0;
        }
    }

    fn is_looking(&self, ask: AskId) -> bool {
        self.look.is_some_and(|(look, _)| look == ask)
    }
}
