//! Commands: effects that the gateway and people decide about, and what takes them back.

use std::collections::VecDeque;

use serde::Deserialize;
use serde_json::json;

use super::program::{StagesProgram, after};
use super::prompts::{self, PromptStage};
use super::report::{CommandFate, CommandNote};
use super::state::StageState;
use fathom_core::channel::shell_words::{self, ArgumentVector};
use fathom_core::contract::stop::StopReason;
use fathom_core::effect::{EffectOutcome, EffectRequest};
use fathom_core::episode::program::{Ask, ProgramView};
use fathom_core::episode::result::{EpisodeStatus, clip};
use fathom_core::id::AskId;
use fathom_core::model::tool_call::canonical;
use fathom_core::packet::PacketRisk;
use fathom_core::text::Text;

/// Characters of what a command printed that are kept.
const SAID_CHARS: usize = 2_000;

/// The command that is out, its place in the report, and those that come after it.
pub(super) struct CommandRun {
    open: AskId,
    place: usize,
    next: VecDeque<usize>,
}

/// The command that takes another back, and those that come after it.
pub(super) struct RevertRun {
    step: CommandRun,
    why: String,
}

impl StagesProgram {
    /// The commands of blocks; all of them can be run, or none is.
    pub(super) fn read_commands(&self, blocks: &[String]) -> Result<Vec<ArgumentVector>, String> {
        let mut commands = Vec::new();
        for block in blocks {
            for read in shell_words::commands(block) {
                let command = read.map_err(|refusal| format!("no command was run: {refusal}"))?;
                if self.params.action(command.program()).is_none() {
                    let line = prompts::line(&command);
                    // All or none: the commands before it may only make sense together with it.
                    return Err(format!("no command was run: `{line}` is none that can be"));
                }
                commands.push(command);
            }
        }
        Ok(commands)
    }

    /// An effect with a key of its own.
    fn effect(&self, tool: &str, args: &[String], key: &str) -> Option<EffectRequest> {
        let offered = &self.params.action(tool)?.offered;
        Some(EffectRequest {
            tool: tool.to_owned(),
            target: offered.target.clone(),
            // The place of a command in the report is part of the key: the same words twice are two effects.
            event: format!("{}/{tool}/{key}", self.params.event),
            arguments: Text::new(canonical(&json!({ "args": args }))),
            class: offered.class,
            taint: Vec::new(),
        })
    }

    /// Runs commands one after the other: a later one may need an earlier one.
    pub(super) fn run(
        &mut self,
        commands: Vec<ArgumentVector>,
        asks: Vec<Ask>,
        view: &ProgramView<'_>,
    ) -> Vec<Ask> {
        let first = self.report.commands.len();
        for command in commands {
            let action = self.params.action(command.program());
            self.report.commands.push(CommandNote {
                argv: command.words().map(str::to_owned).collect(),
                fate: CommandFate::Open,
                reversible: action.is_some_and(|action| action.inverse.is_some()),
                said: String::new(),
            });
        }
        let next = (first..self.report.commands.len()).collect();
        self.run_next(next, asks, view)
    }

    fn run_next(
        &mut self,
        mut next: VecDeque<usize>,
        mut asks: Vec<Ask>,
        view: &ProgramView<'_>,
    ) -> Vec<Ask> {
        let Some(place) = next.pop_front() else {
            return self.speak(PromptStage::Verify, asks, view);
        };
        let effect = self.report.commands.get(place).and_then(|note| {
            let (program, args) = note.argv.split_first()?;
            self.effect(program, args, &place.to_string())
        });
        let open = after(view, &asks);
        asks.extend(effect.map(Ask::Effect));
        self.now = StageState::Running(CommandRun { open, place, next });
        asks
    }

    /// A command came to its end. The next one is run, unless something is wrong.
    pub(super) fn on_ran(
        &mut self,
        running: CommandRun,
        ask: AskId,
        outcome: &EffectOutcome,
        view: &ProgramView<'_>,
    ) -> Vec<Ask> {
        if running.open != ask {
            self.now = StageState::Running(running);
            return Vec::new();
        }
        let (fate, said) = match outcome {
            EffectOutcome::Confirmed { receipt } => (CommandFate::Done, receipt),
            EffectOutcome::Failed { detail } => (CommandFate::Failed, detail),
            EffectOutcome::Unknown { detail } => (CommandFate::Unknown, detail),
        };
        let mut line = String::new();
        if let Some(note) = self.report.commands.get_mut(running.place) {
            note.fate = fate;
            // Bounded because it goes into the prompts of the acting model and the verifier, and into the report.
            note.said = prompts::bounded(&printed(said.as_str()), SAID_CHARS);
            line = format!("`{}`: {}", note.argv.join(" "), note.said);
        }
        if fate == CommandFate::Done {
            return self.run_next(running.next, Vec::new(), view);
        }
        for place in running.next {
            if let Some(note) = self.report.commands.get_mut(place) {
                note.fate = CommandFate::Skipped;
            }
        }
        if fate == CommandFate::Unknown {
            // What nobody knows is not gone on from.
            let why = format!("nobody knows whether it was run: {line}");
            return self.finish(EpisodeStatus::NeedsReview, StopReason::ReviewFailed, &why);
        }
        self.interrupt(&format!("a command failed: {line}"), view)
    }

    /// Takes back what can be taken back, the last first.
    pub(super) fn revert(
        &mut self,
        why: String,
        asks: Vec<Ask>,
        view: &ProgramView<'_>,
    ) -> Vec<Ask> {
        // Last first, because a later command may build on what an earlier one made.
        let notes = self.report.commands.iter().enumerate().rev();
        let done = notes.filter(|(_, note)| note.fate == CommandFate::Done && note.reversible);
        let next = done.map(|(place, _)| place).collect();
        self.revert_next(next, why, asks, view)
    }

    fn revert_next(
        &mut self,
        mut next: VecDeque<usize>,
        why: String,
        mut asks: Vec<Ask>,
        view: &ProgramView<'_>,
    ) -> Vec<Ask> {
        while let Some(place) = next.pop_front() {
            if let Some(effect) = self.inverse(place) {
                let open = after(view, &asks);
                asks.push(Ask::Effect(effect));
                let step = CommandRun { open, place, next };
                self.now = StageState::Reverting(RevertRun { step, why });
                return asks;
            }
        }
        self.alert(&why, asks, view)
    }

    /// The command that undoes this one; `None` if its output names nothing to undo.
    fn inverse(&self, place: usize) -> Option<EffectRequest> {
        let note = self.report.commands.get(place)?;
        let (program, args) = note.argv.split_first()?;
        let inverse = self.params.action(program)?.inverse.as_ref()?;
        // What was clipped names nothing any more.
        let whole = note.said.chars().count() < SAID_CHARS;
        let words = inverse.words(args, if whole { &note.said } else { "" })?;
        self.effect(&inverse.tool, &words, &format!("{place}/back"))
    }

    pub(super) fn on_reverted(
        &mut self,
        reverting: RevertRun,
        ask: AskId,
        outcome: &EffectOutcome,
        view: &ProgramView<'_>,
    ) -> Vec<Ask> {
        if reverting.step.open != ask {
            self.now = StageState::Reverting(reverting);
            return Vec::new();
        }
        let RevertRun { mut step, why } = reverting;
        let fate = match outcome {
            EffectOutcome::Confirmed { .. } => CommandFate::Reverted,
            // The undoing failed, so the command stands as it was, and the alert says so.
            EffectOutcome::Failed { .. } => CommandFate::Done,
            EffectOutcome::Unknown { .. } => {
                // What nobody knows is not gone on from.
                step.next.clear();
                CommandFate::PerhapsReverted
            }
        };
        if let Some(note) = self.report.commands.get_mut(step.place) {
            note.fate = fate;
        }
        self.revert_next(step.next, why, Vec::new(), view)
    }

    /// Tells everyone that the result did not verify, and what stands nevertheless.
    fn alert(&mut self, why: &str, mut asks: Vec<Ask>, view: &ProgramView<'_>) -> Vec<Ask> {
        let lines = |is_meant: &dyn Fn(&CommandNote) -> bool| -> Vec<String> {
            let meant = self.report.commands.iter().filter(|note| is_meant(note));
            meant
                .map(|note| format!("`{}`", note.argv.join(" ")))
                .collect()
        };
        let stands = |note: &CommandNote| note.fate == CommandFate::Done;
        let groups: [(&str, Vec<String>); 4] = [
            (
                "taken back",
                lines(&|note| note.fate == CommandFate::Reverted),
            ),
            (
                "perhaps taken back",
                lines(&|note| note.fate == CommandFate::PerhapsReverted),
            ),
            (
                "NOT taken back",
                lines(&|note| stands(note) && note.reversible),
            ),
            (
                "cannot be taken back",
                lines(&|note| stands(note) && !note.reversible),
            ),
        ];
        let mut said = vec![format!("the result did not verify: {}", clip(why, 300))];
        let told = groups.into_iter().filter(|(_, of_it)| !of_it.is_empty());
        said.extend(told.map(|(word, of_it)| format!("{word}: {}", of_it.join(", "))));
        let said = said.join("; ");
        self.report.risk_level = PacketRisk::High;
        self.alarm(&said, &mut asks, view);
        asks.extend(self.finish(EpisodeStatus::NeedsReview, StopReason::ReviewFailed, &said));
        asks
    }
}

/// Output of a program with its exit code unless zero; the whole text if it is not a program's receipt.
fn printed(receipt: &str) -> String {
    #[derive(Deserialize)]
    struct CommandReceipt {
        code: i32,
        output: String,
    }
    match serde_json::from_str::<CommandReceipt>(receipt) {
        Ok(CommandReceipt { code: 0, output }) => output,
        Ok(CommandReceipt { code, output }) => format!("code {code}: {output}"),
        Err(_) => receipt.to_owned(),
    }
}
