//! Everything an episode must have before it starts.

use serde::{Deserialize, Serialize};

use crate::budget::amounts::Budget;
use crate::contract::spawn::{SpawnClass, SpawnTrigger};
use crate::contract::{AgentRole, ChildType, Contract};
use crate::id::{Digest, EpisodeId, RunId, Seq};
use crate::model::{ModelRole, ModelSet};
use crate::packet::PacketFrame;
use crate::text::{Text, VisitTexts};

/// A program's name and its parameters as JSON text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramSpec {
    /// Name of the program, as `direct`.
    pub name: String,
    pub params: Text,
}

impl VisitTexts for ProgramSpec {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        f(&mut self.params);
    }
}

/// The origin of an episode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EpisodeOrigin {
    Asked,
    /// Another episode spawned it.
    Spawned {
        child_type: ChildType,
        class: SpawnClass,
        trigger: SpawnTrigger,
        why: Text,
        /// The information or work that is expected.
        fetch: Text,
        /// The form its result must have.
        return_format: Text,
    },
    /// It continues another run from one of its events.
    Forked {
        run: RunId,
        /// The episode that was forked.
        episode: EpisodeId,
        /// The last event taken over.
        seq: Seq,
        head: Digest,
    },
}

impl VisitTexts for EpisodeOrigin {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        match self {
            Self::Spawned {
                why,
                fetch,
                return_format,
                ..
            } => {
                f(why);
                f(fetch);
                f(return_format);
            }
            Self::Asked | Self::Forked { .. } => {}
        }
    }
}

/// All an episode must have before it may start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EpisodeSpec {
    pub goal: Text,
    pub role: AgentRole,
    pub program: ProgramSpec,
    pub contract: Contract,
    pub budget: Budget,
    /// Its depth below the root.
    pub depth: u8,
    /// The role of the model it speaks to.
    pub model: ModelRole,
    /// The models of the run.
    pub models: ModelSet,
    /// The frame of every packet.
    #[serde(default)]
    pub frame: PacketFrame,
    /// Untrusted content that its goal may come from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    pub origin: EpisodeOrigin,
}

impl VisitTexts for EpisodeSpec {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        f(&mut self.goal);
        self.program.each_text(f);
        self.frame.each_text(f);
        self.origin.each_text(f);
    }
}
