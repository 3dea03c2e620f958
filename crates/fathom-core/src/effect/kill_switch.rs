//! The reach of a kill switch.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::EffectTarget;

/// The reach of a kill switch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KillScope {
    Global,
    Tenant(String),
    Platform(String),
    Account(String),
    Action(String),
}

impl KillScope {
    /// True if an effect on `target` must not happen.
    pub fn covers(&self, target: &EffectTarget) -> bool {
        match self {
            Self::Global => true,
            Self::Tenant(name) => *name == target.tenant,
            Self::Platform(name) => *name == target.platform,
            Self::Account(name) => *name == target.account,
            Self::Action(name) => *name == target.action,
        }
    }
}

impl fmt::Display for KillScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Global => f.write_str("global"),
            Self::Tenant(name) => write!(f, "tenant:{name}"),
            Self::Platform(name) => write!(f, "platform:{name}"),
            Self::Account(name) => write!(f, "account:{name}"),
            Self::Action(name) => write!(f, "action:{name}"),
        }
    }
}
