//! Commands: effects that the gateway and people decide about, and what takes them back.

use std::collections::BTreeMap;

use serde_json::json;

use super::report::{CommandNote, Fate};
use super::words::{self, Stage};
use super::{Now, Stages, after};
use crate::argv::{self, Argv};
use crate::effect::{EffectOutcome, EffectRequest};
use crate::id::AskId;
use crate::marker::{BlockKind, Marker};
use crate::outcome::{Status, clip};
use crate::program::{Ask, View};
use crate::stop::StopReason;
use crate::text::Text;
use crate::tool::canonical;

/// Characters of what a command printed that are kept.
const SAID_CHARS: usize = 2_000;

/// Commands that are out: their asks, and their places in the report.
pub(super) struct Running {
    open: BTreeMap<AskId, usize>,
}

impl Stages {
    /// The commands of blocks; all of them can be run, or none is.
    pub(super) fn read_commands(&self, blocks: &[String]) -> Result<Vec<Argv>, String> {
        let mut commands = Vec::new();
        for block in blocks {
            for read in argv::commands(block) {
                let command = read.map_err(|refusal| format!("no command was run: {refusal}"))?;
                if self.params.action(command.program()).is_none() {
                    let line = words::line(&command);
                    return Err(format!("no command was run: `{line}` is none that can be"));
                }
                commands.push(command);
            }
        }
        Ok(commands)
    }

    fn effect(&self, tool: &str, args: &[String], number: usize) -> Option<EffectRequest> {
        let offered = &self.params.action(tool)?.offered;
        Some(EffectRequest {
            tool: tool.to_owned(),
            target: offered.target.clone(),
            event: format!("{}/{tool}/{number}", self.params.event),
            arguments: Text::new(canonical(&json!({ "args": args }))),
            class: offered.class,
            taint: Vec::new(),
        })
    }

    pub(super) fn run(&mut self, commands: Vec<Argv>, asks: Vec<Ask>, view: &View<'_>) -> Vec<Ask> {
        let mut asks = asks;
        let mut open = BTreeMap::new();
        for command in commands {
            let place = self.report.commands.len();
            let Some(effect) = self.effect(command.program(), command.args(), place) else {
                continue;
            };
            let action = self.params.action(command.program());
            self.report.commands.push(CommandNote {
                argv: command.words().map(str::to_owned).collect(),
                fate: Fate::Open,
                reversible: action.is_some_and(|action| action.inverse.is_some()),
                said: String::new(),
            });
            open.insert(after(view, &asks), place);
            asks.push(Ask::Effect(effect));
        }
        self.now = Now::Running(Running { open });
        asks
    }

    /// A command came to its end. All of them are waited for.
    pub(super) fn on_ran(
        &mut self,
        mut running: Running,
        ask: AskId,
        outcome: &EffectOutcome,
        view: &View<'_>,
    ) -> Vec<Ask> {
        let Some(place) = running.open.remove(&ask) else {
            self.now = Now::Running(running);
            return Vec::new();
        };
        let (fate, said) = match outcome {
            EffectOutcome::Confirmed { receipt } => (Fate::Done, receipt),
            EffectOutcome::Failed { detail } => (Fate::Failed, detail),
            EffectOutcome::Unknown { detail } => (Fate::Unknown, detail),
        };
        if let Some(note) = self.report.commands.get_mut(place) {
            note.fate = fate;
            note.said = words::bounded(said.as_str(), SAID_CHARS);
        }
        if !running.open.is_empty() {
            self.now = Now::Running(running);
            return Vec::new();
        }
        let line = |note: &CommandNote| format!("`{}`: {}", note.argv.join(" "), note.said);
        let last = |fate| {
            self.report
                .commands
                .iter()
                .rev()
                .find(|note| note.fate == fate)
        };
        if let Some(note) = last(Fate::Unknown) {
            // What nobody knows is not gone on from.
            let why = format!("nobody knows whether it was run: {}", line(note));
            return self.finish(Status::NeedsReview, StopReason::ReviewFailed, &why);
        }
        if fate == Fate::Failed {
            let why = format!(
                "a command failed: {}",
                last(fate).map(line).unwrap_or_default()
            );
            return self.interrupt(&why, view);
        }
        self.speak(Stage::Verify, Vec::new(), view)
    }

    /// Takes back what can be taken back, the last first.
    pub(super) fn revert(&mut self, why: String, asks: Vec<Ask>, view: &View<'_>) -> Vec<Ask> {
        let mut asks = asks;
        let mut open = BTreeMap::new();
        for (place, note) in self.report.commands.iter().enumerate().rev() {
            let Some((program, args)) = note.argv.split_first() else {
                continue;
            };
            let inverse = self
                .params
                .action(program)
                .and_then(|action| action.inverse.as_deref());
            let Some(inverse) = inverse.filter(|_| note.fate == Fate::Done) else {
                continue;
            };
            if let Some(effect) = self.effect(inverse, args, place) {
                open.insert(after(view, &asks), place);
                asks.push(Ask::Effect(effect));
            }
        }
        if open.is_empty() {
            asks.extend(self.alert(&why));
            return asks;
        }
        self.now = Now::Reverting(Running { open }, why);
        asks
    }

    pub(super) fn on_reverted(
        &mut self,
        mut running: Running,
        why: String,
        ask: AskId,
        outcome: &EffectOutcome,
    ) -> Vec<Ask> {
        if let Some(place) = running.open.remove(&ask)
            && let EffectOutcome::Confirmed { .. } = outcome
            && let Some(note) = self.report.commands.get_mut(place)
        {
            note.fate = Fate::Reverted;
        }
        if !running.open.is_empty() {
            self.now = Now::Reverting(running, why);
            return Vec::new();
        }
        self.alert(&why)
    }

    /// Tells everyone that the result did not verify, and what stands nevertheless.
    fn alert(&mut self, why: &str) -> Vec<Ask> {
        let notes = self.report.commands.iter();
        let lines = |fate: Fate| -> Vec<String> {
            let of_fate = notes.clone().filter(|note| note.fate == fate);
            of_fate
                .map(|note| format!("`{}`", note.argv.join(" ")))
                .collect()
        };
        let mut said = vec![format!("the result did not verify: {}", clip(why, 300))];
        for (fate, word) in [
            (Fate::Reverted, "taken back"),
            (Fate::Done, "NOT taken back"),
        ] {
            let of_fate = lines(fate);
            if !of_fate.is_empty() {
                said.push(format!("{word}: {}", of_fate.join(", ")));
            }
        }
        let said = said.join("; ");
        let mut asks = Vec::new();
        self.show(BlockKind::Marked(Marker::Interrupt), &said, &mut asks);
        asks.extend(self.finish(Status::NeedsReview, StopReason::ReviewFailed, &said));
        asks
    }
}
