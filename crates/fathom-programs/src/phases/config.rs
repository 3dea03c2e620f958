//! Configuration of `phases`.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::program::NAME;
use fathom_core::domain::session::SessionSpeaker;
use fathom_core::domain::symbols::{AgentProfile, Symbol};
use fathom_core::episode::program::ProgramError;
use fathom_core::journal::event::ProgramSpec;
use fathom_core::unit::Millis;

/// Most phases of a loop.
pub const PHASES_MAX: usize = 32;

/// One phase: a step of thought with a prompt of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhaseSpec {
    /// Its id, as the prompt declares it.
    pub id: String,
    /// Other names of it, such as the stem of its file.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Name by which payloads refer to it.
    #[serde(default)]
    pub title: String,
    /// Prompt of the phase.
    pub template: String,
    /// Fewest commands of its reply where the form is held to: a small model is glad to leave them all out.
    #[serde(default)]
    pub commands_min: u8,
}

impl PhaseSpec {
    /// Its id and its other names.
    fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.id.as_str()).chain(self.aliases.iter().map(String::as_str))
    }
}

/// One entry of a session's history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionEntry {
    pub who: SessionSpeaker,
    pub text: String,
}

/// Program and limits of dispatched tasks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TaskConfig {
    pub system: String,
    /// Output cap of a call.
    pub output_tokens_max: u32,
    /// Most calls of one task.
    pub calls_max: u64,
}

impl Default for TaskConfig {
    fn default() -> Self {
        Self {
            system: String::new(),
            output_tokens_max: 512,
            calls_max: 2,
        }
    }
}

/// Configuration of the `phases` program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PhasesConfig {
    /// The phases in their order.
    pub phases: Vec<PhaseSpec>,
    /// Prompts that every phase is told.
    pub shared: Vec<String>,
    /// Agents that are there from the beginning, in the order of their worth, the least first.
    pub agents: Vec<AgentProfile>,
    /// Symbols that are there from the beginning, in the order of their worth, the least first.
    pub symbols: Vec<Symbol>,
    /// Earlier entries of the session, oldest first.
    pub history: Vec<SessionEntry>,
    /// The session that the reply and the commands are added to; none when nothing is to be kept.
    pub session: Option<String>,
    /// True if replies are constrained to the form of a payload while they are generated.
    pub structured: bool,
    /// Most characters of a phase's words where the form is held to; more only where it is not.
    pub reply_chars_max: u32,
    /// Output cap of a phase.
    pub output_tokens_max: u32,
    /// Longest time of one attempt at a phase.
    pub timeout: Millis,
    /// Sampling temperature in thousandths.
    pub temperature_milli: Option<u16>,
    /// Handling of dispatched tasks.
    pub task: TaskConfig,
}

impl Default for PhasesConfig {
    fn default() -> Self {
        Self {
            phases: Vec::new(),
            shared: Vec::new(),
            agents: Vec::new(),
            symbols: Vec::new(),
            history: Vec::new(),
            session: None,
            structured: false,
            reply_chars_max: 1200,
            output_tokens_max: 1024,
            timeout: Millis(60_000),
            temperature_milli: None,
            task: TaskConfig::default(),
        }
    }
}

impl PhasesConfig {
    /// The specification of a `phases` program with these parameters.
    pub fn spec(&self) -> ProgramSpec {
        ProgramSpec::new(NAME, self)
    }

    /// Reads and checks the parameters of a specification.
    pub fn read(spec: &ProgramSpec) -> Result<Self, ProgramError> {
        let params: Self = spec.read()?;
        match params.problem() {
            Some(problem) => Err(ProgramError::params(NAME, problem)),
            None => Ok(params),
        }
    }

    /// The first fault of the configuration, if any.
    fn problem(&self) -> Option<String> {
        let count = self.phases.len();
        if !(1..=PHASES_MAX).contains(&count) {
            return Some(format!("there are 1 to {PHASES_MAX} phases, not {count}"));
        }
        let mut taken = BTreeSet::new();
        for phase in &self.phases {
            // A phase may be given the same name twice; two phases may not share one.
            let names: BTreeSet<String> = phase.names().map(canonical).collect();
            for name in names {
                if name.is_empty() {
                    return Some("a phase has an empty name".to_owned());
                }
                if !taken.insert(name.clone()) {
                    return Some(format!("two phases are called `{name}`"));
                }
            }
        }
        let is_blank = |session: &String| session.trim().is_empty();
        if self.session.as_ref().is_some_and(is_blank) {
            return Some("the session has no name".to_owned());
        }
        (self.output_tokens_max == 0).then(|| "`output_tokens_max` is 0".to_owned())
    }

    /// The phase that a name means: its id or an alias, however it is spelt, or one of them without its leading number where
    /// only one phase fits.
    pub fn find(&self, name: &str) -> Option<usize> {
        let name = canonical(name);
        let exactly = |phase: &PhaseSpec| phase.names().any(|known| canonical(known) == name);
        if let Some(index) = self.phases.iter().position(exactly) {
            return Some(index);
        }
        let bare = unnumbered(&name);
        let about = |phase: &PhaseSpec| {
            let mut names = phase.names().map(canonical);
            names.any(|known| unnumbered(&known) == bare)
        };
        let mut fitting = (0..self.phases.len()).filter(|&index| about(&self.phases[index]));
        fitting.next().filter(|_| fitting.next().is_none())
    }
}

/// A name without what spellings differ in: case, and what stands between words.
fn canonical(name: &str) -> String {
    let words = name
        .split(|c: char| c.is_whitespace() || matches!(c, '-' | '_'))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase);
    words.collect::<Vec<_>>().join("_")
}

/// A canonical name without a leading number, unless that is all there is.
fn unnumbered(name: &str) -> &str {
    match name
        .trim_start_matches(|c: char| c.is_ascii_digit())
        .strip_prefix('_')
    {
        Some(rest) => rest,
        None => name,
    }
}
