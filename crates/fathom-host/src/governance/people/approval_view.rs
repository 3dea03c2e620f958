//! Information that a person needs for a decision, read from the sealed record.

use std::collections::BTreeMap;

use fathom_core::contract::AgentRole;
use fathom_core::effect::undo::Reversibility;
use fathom_core::effect::{DryRun, EffectRequest, PolicyDecision};
use fathom_core::episode::result::{HandoffTicket, NextAction};
use fathom_core::id::{EpisodeId, RunId};
use fathom_core::journal::command::Command;
use fathom_core::journal::event::{EpisodeSpec, EventKind, JournalRecord};
use fathom_core::text::Text;
use fathom_store::ApprovalRecord;

use crate::error::HostError;
use crate::runtime::Runtime;

/// Most runs, the newest ones, that are looked through for tickets.
const TICKET_RUNS_MAX: usize = 1_000;

/// An approval with what a person needs to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalView {
    pub approval: ApprovalRecord,
    /// Goal of the run; none when its content is gone.
    pub goal: Option<String>,
    /// Goal of the asking episode, if it differs from the run's.
    pub task: Option<String>,
    /// The role of the asking episode.
    pub role: Option<AgentRole>,
    /// The person who started the run.
    pub started_by: Option<String>,
    /// The request; none when the record lacks it or cannot be read.
    pub asked: Option<ApprovalRequest>,
}

/// A request for approval, as the record has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalRequest {
    /// The effect, with its literal arguments and what of them is tainted.
    pub request: EffectRequest,
    /// The rule that wants a person.
    pub rule: String,
    /// Dry run of the tool, if there was one.
    pub dry_run: Option<DryRun>,
    /// Reversibility of the effect, if known.
    pub undo: Option<Reversibility>,
}

/// Something that a run leaves to a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TicketView {
    pub run: RunId,
    pub episode: EpisodeId,
    /// Goal of the run.
    pub goal: Option<String>,
    /// The ticket: attempts, findings, question and deadline.
    pub ticket: HandoffTicket,
}

impl Runtime {
    /// An approval with what the record says about it.
    pub(super) fn view(&self, approval: ApprovalRecord) -> Result<ApprovalView, HostError> {
        let owner = approval.owner.clone();
        let info = self.info(owner.run)?;
        let records = self.records(owner.run)?;
        let started = |episode: &EpisodeId| {
            let own = records.iter().filter(|(id, _)| id == episode);
            own.into_iter().find_map(|(_, record)| started(record))
        };
        let root = started(&EpisodeId::root());
        let asking = started(&owner.episode);
        let task = asking.filter(|_| !owner.episode.is_root());
        let own = records.iter().filter(|(id, _)| *id == owner.episode);
        let asked = asked(own.map(|(_, record)| record), &approval);
        Ok(ApprovalView {
            goal: root.and_then(|root| readable(&root.goal)),
            task: task.and_then(|task| readable(&task.goal)),
            role: asking.map(|asking| asking.role),
            started_by: info.started_by,
            asked,
            approval,
        })
    }

    /// Tickets of the newest runs, newest first.
    pub fn tickets(&self) -> Result<Vec<TicketView>, HostError> {
        let mut tickets: Vec<TicketView> = Vec::new();
        for info in self.runs(TICKET_RUNS_MAX)? {
            // A run that came to its end well may leave something, too.
            if !info.state.is_finished() {
                continue;
            }
            let story = self.story(info.run)?;
            let goal = story.root().and_then(|root| readable(&root.started.goal));
            let mut own: BTreeMap<EpisodeId, Vec<HandoffTicket>> = BTreeMap::new();
            for (episode, chapter) in &story.chapters {
                let actions = chapter
                    .result
                    .iter()
                    .flat_map(|result| &result.next_actions);
                for action in actions {
                    // A parent hands on what its children hand on; the root comes first.
                    if let NextAction::Handoff(ticket) = action
                        && !own.values().flatten().any(|known| known == ticket)
                    {
                        own.entry(episode.clone()).or_default().push(ticket.clone());
                    }
                }
            }
            for (episode, found) in own {
                tickets.extend(found.into_iter().map(|ticket| TicketView {
                    run: info.run,
                    episode: episode.clone(),
                    goal: goal.clone(),
                    ticket,
                }));
            }
        }
        Ok(tickets)
    }
}

fn started(record: &JournalRecord) -> Option<&EpisodeSpec> {
    match &record.event.kind {
        EventKind::Started(started) => Some(started),
        _ => None,
    }
}

fn readable(text: &Text) -> Option<String> {
    (!text.is_closed()).then(|| text.as_str().to_owned())
}

/// The effect and the decision about it, when the last decision is the one that the approval is about.
fn asked<'a>(
    records: impl Iterator<Item = &'a JournalRecord>,
    approval: &ApprovalRecord,
) -> Option<ApprovalRequest> {
    let mut request = None;
    let mut decided = None;
    for record in records {
        if let EventKind::EffectDecided {
            ask,
            decision,
            grounds,
        } = &record.event.kind
            && *ask == approval.owner.ask
        {
            decided = Some((decision, grounds));
        }
        for command in &record.commands {
            if let Command::Propose { ask, effect } = command
                && *ask == approval.owner.ask
            {
                request = Some(effect);
            }
        }
    }
    // Nobody can approve what cannot be shown.
    let request = request.filter(|request| !request.arguments.is_closed())?;
    match decided? {
        (PolicyDecision::NeedsApproval { rule, terms }, grounds)
            // The record may hold an earlier question under the same ask; showing that one would have people approve
            // another.
            if terms.binding == approval.terms.binding =>
        {
            Some(ApprovalRequest {
                request: request.clone(),
                rule: rule.clone(),
                dry_run: grounds.as_ref().and_then(|grounds| grounds.dry_run.clone()),
                undo: grounds.as_ref().and_then(|grounds| grounds.undo.clone()),
            })
        }
        _ => None,
    }
}
