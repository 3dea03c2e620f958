//! What a driver has done that costs no budget: shorter texts, cells, domains, and what is shown.

use std::collections::VecDeque;
use std::sync::Arc;

use fathom_core::channel::delivery::{self, TRACE_CHANNEL};
use fathom_core::contract::AgentRole;
use fathom_core::contract::stop::Refusal;
use fathom_core::domain::DomainRequest;
use fathom_core::id::{AskId, EpisodeId};
use fathom_core::journal::command::{Command, OutputBlock};
use fathom_core::journal::event::EventKind;
use fathom_core::run::step::HostStep;
use fathom_core::text::Text;
use fathom_models::Model;
use tokio::sync::oneshot;

use crate::channels::DeliveryAsk;
use crate::domains::DomainCaller;
use crate::driver::{DriverEvent, RunDriver};

impl RunDriver {
    /// Does what costs no budget: a shorter text, a cell, something of a domain.
    pub(crate) fn host(
        &mut self,
        (episode, ask): (EpisodeId, AskId),
        command: Command,
        steps: &mut VecDeque<HostStep>,
    ) {
        match command {
            Command::Summarise {
                model,
                text,
                tokens_max,
                round,
                ..
            } => {
                let model = Arc::clone(self.models.get(model));
                self.summarise((episode, ask, round), model, text, tokens_max);
            }
            Command::RunCell { .. } | Command::AnswerCell { .. } => {
                self.cells.carry_out(&episode, command, &self.events);
            }
            Command::Domain { request, .. } => self.ask_domain(episode, ask, request),
            _ => {
                let reason = Refusal::Unavailable {
                    what: "something that can carry it out".to_owned(),
                };
                let kind = EventKind::Refused { ask, reason };
                self.deliver(DriverEvent { episode, kind }, steps);
            }
        }
    }

    /// Asks a domain, on a thread that may wait for a disk or a server.
    fn ask_domain(&mut self, episode: EpisodeId, ask: AskId, request: DomainRequest) {
        if request.domain == delivery::DOMAIN {
            return self.say(episode, ask, request);
        }
        let (domains, events) = (Arc::clone(&self.domains), self.events.clone());
        let live = self.run.live().find(|(id, _)| **id == episode);
        let asking = DomainCaller {
            run: self.id,
            role: live.map_or(AgentRole::Orchestrator, |(_, live)| live.started().role),
            episode,
            ask,
            at: self.clock.now(),
        };
        tokio::task::spawn_blocking(move || {
            let kind = match domains.carry_out(&asking, &request) {
                Some(answer) => EventKind::DomainAnswered { ask, answer },
                None => EventKind::Refused {
                    ask,
                    reason: Refusal::Unavailable {
                        what: format!("domain `{}`", request.domain),
                    },
                },
            };
            let episode = asking.episode;
            // Nobody listens to a run that was let go.
            let _ = events.blocking_send(DriverEvent { episode, kind });
        });
    }

    /// Delivers a block, after the one before it.
    fn say(&mut self, episode: EpisodeId, ask: AskId, request: DomainRequest) {
        let (outlets, events) = (Arc::clone(&self.domains.outlets), self.events.clone());
        let said = DeliveryAsk {
            run: self.id,
            episode,
            ask,
            at: self.clock.now(),
        };
        let (done, after_this) = oneshot::channel();
        let before = self.state.speaking.replace(after_this);
        // Those that are over are of no use any more.
        while self.state.deliveries.try_join_next().is_some() {}
        self.state.deliveries.spawn(async move {
            if let Some(before) = before {
                // Nobody sends anything: it is over when its sender is gone.
                let _: Result<(), _> = before.await;
            }
            let answer = outlets.deliver(&said, request.request.as_str()).await;
            drop(done);
            let episode = said.episode;
            let kind = EventKind::DomainAnswered { ask, answer };
            let _ = events.send(DriverEvent { episode, kind }).await;
        });
    }

    /// Shortens a text on a thread that may take its time.
    fn summarise(
        &self,
        (episode, ask, round): (EpisodeId, AskId, u16),
        model: Arc<dyn Model>,
        text: Text,
        tokens_max: u32,
    ) {
        let embedded = Arc::clone(&self.embedded);
        let events = self.events.clone();
        tokio::task::spawn_blocking(move || {
            let count = |text: &str| model.count(text);
            let kind = match embedded.shorten(text.as_str(), tokens_max, &count) {
                Ok(shorter) => EventKind::Summarised {
                    ask,
                    text: Text::new(shorter),
                    round,
                },
                Err(what) => EventKind::Refused {
                    ask,
                    reason: Refusal::Incompressible {
                        why: what.to_string(),
                    },
                },
            };
            let _ = events.blocking_send(DriverEvent { episode, kind });
        });
    }
}

/// Says that something was shown. What the phase loop tells on its way names things and never says what they hold, so it
/// stands in the log as it is.
pub(crate) fn note(episode: &EpisodeId, block: &OutputBlock) {
    let channel = block.channel.as_str();
    if channel == TRACE_CHANNEL {
        let trace = block.text.as_str();
        tracing::info!(%episode, channel, trace, "the phase loop continued");
    } else {
        tracing::info!(%episode, channel, "emitted a block");
    }
}
