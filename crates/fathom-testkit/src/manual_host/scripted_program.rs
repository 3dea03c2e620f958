//! A program that asks what a test wrote down, round by round, and notes what it hears.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use fathom_core::contract::stop::Refusal;
use fathom_core::effect::EffectOutcome;
use fathom_core::episode::program::{
    Ask, Program, ProgramError, ProgramFactory, ProgramInput, ProgramView,
};
use fathom_core::episode::result::EpisodeResult;
use fathom_core::id::AskId;
use fathom_core::journal::event::{ProgramSpec, Signal};
use fathom_core::model::failure::FailureKind;
use fathom_core::text::Text;
use fathom_programs::BuiltInPrograms;

use super::samples::verdict;

/// Signal that a script received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    Delta(AskId, u16, String),
    Reply(AskId, String),
    Failed(AskId, FailureKind),
    Child(AskId, Box<EpisodeResult>),
    Effect(AskId, EffectOutcome),
    Host(AskId, String),
    /// With the question's number.
    Cell(AskId, u32),
    /// With what it printed.
    CellEnded(AskId, String),
    Refused(AskId, Refusal),
    Signal(Signal),
    Tick(Option<AskId>),
}

impl Heard {
    /// The ask that this answers; deltas and signals answer none.
    fn answers(&self) -> Option<AskId> {
        match self {
            Self::Reply(ask, _)
            | Self::Failed(ask, _)
            | Self::Child(ask, _)
            | Self::Effect(ask, _)
            | Self::Host(ask, _)
            | Self::CellEnded(ask, _)
            | Self::Refused(ask, _) => Some(*ask),
            Self::Tick(ask) => *ask,
            Self::Delta(..) | Self::Cell(..) | Self::Signal(_) => None,
        }
    }
}

type Notes = Arc<Mutex<Vec<(String, Heard)>>>;

/// The scripts of a test by name. Any other name is looked up among the core's own programs.
#[derive(Clone, Default)]
pub struct Scripts {
    rounds: BTreeMap<String, Vec<Vec<Ask>>>,
    notes: Notes,
}

impl Scripts {
    /// One script, for the root.
    pub fn root(rounds: Vec<Vec<Ask>>) -> Self {
        Self::default().with("root", rounds)
    }

    /// Adds a script. Each round is asked once all of the round before is answered; after the last one the
    /// script finishes. A round with nothing in it leaves the script idle.
    #[must_use]
    pub fn with(mut self, name: &str, rounds: Vec<Vec<Ask>>) -> Self {
        self.rounds.insert(name.to_owned(), rounds);
        self
    }

    /// Signals received so far by all episodes that run the script `name`.
    pub fn heard(&self, name: &str) -> Vec<Heard> {
        let notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes
            .iter()
            .filter(|(who, _)| who == name)
            .map(|(_, heard)| heard.clone())
            .collect()
    }

    /// The refusals that the script `name` heard.
    pub fn refusals(&self, name: &str) -> Vec<Refusal> {
        self.heard(name)
            .into_iter()
            .filter_map(|heard| match heard {
                Heard::Refused(_, reason) => Some(reason),
                _ => None,
            })
            .collect()
    }
}

impl ProgramFactory for Scripts {
    fn build(&self, spec: &ProgramSpec) -> Result<Box<dyn Program>, ProgramError> {
        match self.rounds.get(&spec.name) {
            Some(rounds) => Ok(Box::new(Script {
                name: spec.name.clone(),
                rounds: rounds.clone().into(),
                open: BTreeSet::new(),
                waking: None,
                said: String::new(),
                speaking: String::new(),
                notes: Arc::clone(&self.notes),
            })),
            None => BuiltInPrograms.build(spec),
        }
    }
}

struct Script {
    name: String,
    rounds: VecDeque<Vec<Ask>>,
    open: BTreeSet<AskId>,
    /// The ask for a moment, until it comes.
    waking: Option<AskId>,
    said: String,
    speaking: String,
    notes: Notes,
}

impl Script {
    fn next_round(&mut self, view: &ProgramView<'_>) -> Vec<Ask> {
        let Some(asks) = self.rounds.pop_front() else {
            let answer = self.partial();
            let answer = answer.as_ref().map(Text::as_str);
            return vec![Ask::Finish(Box::new(verdict(answer)))];
        };
        let mut id = view.next_ask;
        for ask in &asks {
            if is_answered(ask) {
                self.open.insert(id);
            }
            if let Ask::Wake(_) = ask {
                self.waking = Some(id);
            }
            if let Ask::Cancel(cancelled) = ask {
                self.open.remove(cancelled);
            }
            id = id.next();
        }
        asks
    }

    fn note(&mut self, heard: &Heard) {
        match heard {
            Heard::Delta(_, _, text) => self.speaking.push_str(text),
            Heard::Reply(_, text) => {
                self.said.push_str(text);
                self.speaking.clear();
            }
            _ => {}
        }
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.push((self.name.clone(), heard.clone()));
    }
}

impl Program for Script {
    fn on(&mut self, input: ProgramInput<'_>, view: &ProgramView<'_>) -> Vec<Ask> {
        let text = |text: &Text| text.as_str().to_owned();
        let heard = match input {
            ProgramInput::Start(_) => return self.next_round(view),
            ProgramInput::Delta {
                ask,
                attempt,
                text: words,
            } => Heard::Delta(ask, attempt, text(words)),
            ProgramInput::Reply { ask, reply } => Heard::Reply(ask, text(&reply.text)),
            ProgramInput::Failed { ask, failure } => Heard::Failed(ask, failure.kind),
            ProgramInput::Child { ask, result, .. } => Heard::Child(ask, Box::new(result.clone())),
            ProgramInput::Effect { ask, outcome } => Heard::Effect(ask, outcome.clone()),
            ProgramInput::Host { ask, text: words } => Heard::Host(ask, text(words)),
            ProgramInput::Cell { ask, question } => Heard::Cell(ask, question.id),
            ProgramInput::CellEnded { ask, end } => Heard::CellEnded(ask, text(&end.output.head)),
            ProgramInput::Refused { ask, reason } => Heard::Refused(ask, reason.clone()),
            ProgramInput::Signal(signal) => Heard::Signal(signal.clone()),
            ProgramInput::Tick => Heard::Tick(self.waking.take()),
        };
        self.note(&heard);
        match heard.answers() {
            Some(ask) if self.open.remove(&ask) && self.open.is_empty() => self.next_round(view),
            _ => Vec::new(),
        }
    }

    fn partial(&self) -> Option<Text> {
        let whole = format!("{}{}", self.said, self.speaking);
        (!whole.is_empty()).then(|| Text::new(whole))
    }
}

fn is_answered(ask: &Ask) -> bool {
    match ask {
        Ask::Model(_)
        | Ask::Spawn(_)
        | Ask::Effect(_)
        | Ask::Summarise { .. }
        | Ask::RunCell { .. }
        | Ask::Domain(_)
        | Ask::Wake(_) => true,
        Ask::Answer { .. } | Ask::Cancel(_) | Ask::Emit(_) | Ask::Finish(_) | Ask::Post(_) => false,
    }
}
