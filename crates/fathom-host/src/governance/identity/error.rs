//! Reasons why an identity is not accepted or may not be changed.

use std::io;
use std::path::PathBuf;

use fathom_core::council_bus::CouncilRole;
use fathom_core::id::RunId;
use fathom_core::unit::Millis;

use super::stability::{SCORE_MIN_MILLI, WINDOW};
use crate::charter::PROTOCOL;

/// The rule of the governance session that the stack does not meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StabilityRule {
    /// It has not been watched for long enough.
    #[error("rule `24-hours`: only {} of {} observed", hours(*covered), hours(WINDOW))]
    TooShort {
        /// For how long it was, without a gap.
        covered: Millis,
    },
    /// The stack was not watched for a while.
    #[error("rule `no-gap`: no stability sample for {}", seconds(*gap))]
    Gap {
        /// For how long.
        gap: Millis,
    },
    /// The score was too low.
    #[error("rule `score`: the stability score was {}, but at least {} is required throughout", share(*milli), share(SCORE_MIN_MILLI))]
    Score {
        /// The lowest one.
        milli: u16,
    },
    /// A role was not heard for too long.
    #[error("rule `online`: {role} did not respond for {}", seconds(*silent))]
    Offline {
        role: CouncilRole,
        /// For how long.
        silent: Millis,
    },
    /// A cycle of the initiative loop failed.
    #[error("rule `loop`: a cycle of the initiative loop failed")]
    LoopFailed,
    /// The initiative loop did not run.
    #[error("rule `loop`: the initiative loop was off")]
    LoopOff,
}

impl StabilityRule {
    /// The rule's name.
    pub const fn rule(&self) -> &'static str {
        match self {
            Self::TooShort { .. } => "24-hours",
            Self::Gap { .. } => "no-gap",
            Self::Score { .. } => "score",
            Self::Offline { .. } => "online",
            Self::LoopFailed | Self::LoopOff => "loop",
        }
    }
}

fn hours(span: Millis) -> String {
    format!("{} h {} min", span.0 / 3_600_000, span.0 / 60_000 % 60)
}

fn seconds(span: Millis) -> String {
    format!("{} s", span.0 / 1_000)
}

fn share(milli: u16) -> String {
    format!("0.{milli:03}")
}

/// Everything that can be wrong with an identity or a change of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IdentityError {
    /// The signature is not of this identity.
    #[error("the identity signature of `{charter}` is invalid")]
    BadSignature { charter: String },
    /// Somebody else signed it.
    #[error(
        "the identity of `{charter}` is signed by `key:{signer}`, but the creator is `key:{creator}`"
    )]
    NotCreator {
        charter: String,
        /// Fingerprint of the key that signed.
        signer: String,
        /// Fingerprint of the creator's key.
        creator: String,
    },
    /// It must be signed and is not.
    #[error(
        "the identity of `{charter}` must be signed by the creator (`required = true` in [identity])"
    )]
    Required { charter: String },
    /// It was signed, and is not any more.
    #[error("the identity of `{charter}` was signed by the creator earlier, but this one is not")]
    UnsignedChange { charter: String },
    /// It was replaced by a later one.
    #[error("this identity of `{charter}` was replaced by a newer one")]
    RolledBack { charter: String },
    /// The configuration names another creator than the home knows.
    #[error(
        "the configuration names `key:{configured}` as the creator, but this home has `key:{known}`"
    )]
    OtherCreator {
        /// That of the configuration.
        configured: String,
        /// That of the home.
        known: String,
    },
    /// The charter has another identity than the run began with.
    #[error("the identity of `{charter}` has changed since run `{run}` started")]
    ChangedSince { charter: String, run: RunId },
    /// The packets of a run are of another major version.
    #[error("run `{run}` uses protocol {said}, but this build supports {PROTOCOL}")]
    OtherProtocol {
        run: RunId,
        /// Identity of the run.
        said: String,
    },
    /// The home does not know a creator.
    #[error("this home has no creator key")]
    NoCreator,
    /// The stack is not as a governance session needs it.
    #[error("a governance session requires a stable stack: {why}")]
    NotStable {
        /// The rule that is not met.
        why: StabilityRule,
    },
    /// The stack is stable, so it has a say.
    #[error(
        "the stack has been stable for 24 h: changing the identity of `{charter}` requires a council vote"
    )]
    StackIsStable { charter: String },
    /// An emergency needs Prime.
    #[error("an emergency patch requires Prime's signature: {why}")]
    NeedsPrime { why: &'static str },
    /// The charter comes with the program.
    #[error("`{charter}` is built in and cannot be changed")]
    BuiltIn { charter: String },
    /// A file cannot be read or written.
    #[error("cannot change `{}`", file.display())]
    File { file: PathBuf, source: io::Error },
    /// The identity stays as it is.
    #[error("the identity of `{charter}` is unchanged")]
    Unchanged { charter: String },
}

impl IdentityError {
    /// The error's code, as its page in `docs/errors` is called.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::BadSignature { .. } => "F1050",
            Self::NotCreator { .. } => "F1051",
            Self::Required { .. } => "F1052",
            Self::UnsignedChange { .. } => "F1053",
            Self::RolledBack { .. } => "F1054",
            Self::OtherCreator { .. } => "F1055",
            Self::ChangedSince { .. } => "F1056",
            Self::OtherProtocol { .. } => "F1057",
            Self::NoCreator => "F1060",
            Self::NotStable { .. } => "F1061",
            Self::StackIsStable { .. } => "F1062",
            Self::NeedsPrime { .. } => "F1063",
            Self::BuiltIn { .. } => "F1064",
            Self::File { .. } => "F1065",
            Self::Unchanged { .. } => "F1066",
        }
    }

    /// Next step for the user, as an imperative sentence.
    pub fn hint(&self) -> String {
        match self {
            Self::BadSignature { .. } => {
                "restore identity.toml, or have the creator sign it with `fathom identity sign DIR --key FILE`".into()
            }
            Self::NotCreator { .. } | Self::Required { .. } => {
                "have the creator sign it with `fathom identity sign DIR --key FILE`".into()
            }
            Self::UnsignedChange { charter } => format!(
                "restore the signed identity, have the creator sign this one, or rename the charter if it is not `{charter}`"
            ),
            Self::RolledBack { .. } => {
                "restore the newer identity, or have the creator sign this one again with `fathom identity sign DIR --key FILE`".into()
            }
            Self::OtherCreator { .. } => {
                "fix `creator` of [identity] in fathom.toml; a home keeps its first creator".into()
            }
            Self::ChangedSince { .. } => {
                "restore the identity or start a new run".into()
            }
            Self::OtherProtocol { .. } => {
                "continue with a version of Fathom that supports its protocol, or start a new run; see docs/charters.md for migrating a charter".into()
            }
            Self::NoCreator => {
                "set `creator = \"ed25519:…\"` in [identity] of fathom.toml, or sign an identity first".into()
            }
            Self::NotStable { .. } => {
                "check the stability with `fathom identity show`; until the stack is stable, the creator changes the identity with `fathom identity sign`".into()
            }
            Self::StackIsStable { .. } => {
                "propose the change with `fathom identity propose DIR --key FILE`; in an emergency, sign with `--prime-key FILE --reason TEXT`".into()
            }
            Self::NeedsPrime { .. } => {
                "set `prime = \"ed25519:…\"` in [identity] of fathom.toml, and pass `--prime-key FILE --reason TEXT`".into()
            }
            Self::BuiltIn { .. } => {
                "create your own with `fathom charter new NAME` and pass its folder".into()
            }
            Self::File { .. } => "check the path and its permissions".into(),
            Self::Unchanged { .. } => {
                "change traits or rules in identity.toml first; propose other changes with `fathom rfc propose`".into()
            }
        }
    }
}
