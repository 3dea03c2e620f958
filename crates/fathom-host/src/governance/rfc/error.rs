//! Reasons why a proposal cannot proceed.

use std::io;
use std::path::PathBuf;

use fathom_core::council_bus::{CouncilRole, MessageRejection, MotionOutcome};

use super::diff::VersionBump;
use crate::charter::CharterVersion;

/// Everything that keeps a proposal from becoming the charter.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RfcError {
    /// No proposal has such a name.
    #[error("proposal `{prefix}` not found")]
    NoSuchRfc { prefix: String },
    /// More than one proposal has such a name.
    #[error("proposal ID `{prefix}` is ambiguous: {count} proposals match")]
    Ambiguous { prefix: String, count: usize },
    /// The charter says the same as before.
    #[error("charter `{charter}` is unchanged")]
    NothingChanged { charter: String },
    /// The version does not move far enough.
    #[error("version {to} is too low: a {bump} change from {from} needs at least {needed}")]
    Version {
        /// The version that it has.
        from: CharterVersion,
        /// The version that it would get.
        to: CharterVersion,
        /// Required version bump.
        bump: VersionBump,
        /// The least version.
        needed: CharterVersion,
    },
    /// The folder holds another charter.
    #[error("the proposal is for charter `{said}`, not for `{charter}`")]
    OtherCharter {
        /// The charter that is to change.
        charter: String,
        /// The one in the folder.
        said: String,
    },
    /// The key does not belong to a role.
    #[error("`key:{key}` does not belong to a role")]
    NoRole { key: String },
    /// The role has spoken already, or too late.
    #[error("vote or review by {role} rejected: {why}")]
    NotTaken {
        role: CouncilRole,
        why: MessageRejection,
    },
    /// The role has reviewed it already.
    #[error("{role} has already reviewed this proposal")]
    Reviewed { role: CouncilRole },
    /// Not everyone has reviewed it.
    #[error("proposal `{id}` still needs a review by {}", names(missing))]
    NotReviewed {
        id: String,
        /// Roles that are missing.
        missing: Vec<CouncilRole>,
    },
    /// The vote does not carry it.
    #[error("proposal `{id}` did not pass: {outcome}")]
    NotCarried {
        id: String,
        /// State of the votes.
        outcome: Box<MotionOutcome>,
    },
    /// The charter is not what it was when the change was proposed.
    #[error("charter `{charter}` has changed since proposal `{id}` was made")]
    BaseChanged { charter: String, id: String },
    /// It was merged.
    #[error("proposal `{id}` is already merged")]
    Merged { id: String },
    /// An emergency patch that is more than one.
    #[error("not an emergency patch: {why}")]
    NoPatch { why: String },
    /// The files cannot be put in place.
    #[error("cannot install the charter in `{}`", folder.display())]
    Folder { folder: PathBuf, source: io::Error },
    /// The record cannot be read.
    #[error("proposal `{id}` is damaged or was altered")]
    Damaged { id: String },
}

fn names(roles: &[CouncilRole]) -> String {
    let names: Vec<&str> = roles.iter().map(|role| role.as_str()).collect();
    names.join(" and ")
}

impl RfcError {
    /// The error's code, as its page in `docs/errors` is called.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoSuchRfc { .. } => "F1070",
            Self::Ambiguous { .. } => "F1071",
            Self::NothingChanged { .. } => "F1072",
            Self::Version { .. } => "F1073",
            Self::OtherCharter { .. } => "F1074",
            Self::NoRole { .. } => "F1075",
            Self::NotTaken { .. } | Self::Reviewed { .. } => "F1076",
            Self::NotReviewed { .. } => "F1077",
            Self::NotCarried { .. } => "F1078",
            Self::BaseChanged { .. } => "F1079",
            Self::Merged { .. } => "F1080",
            Self::NoPatch { .. } => "F1081",
            Self::Folder { .. } => "F1082",
            Self::Damaged { .. } => "F1083",
        }
    }

    /// Next step for the user, as an imperative sentence.
    pub fn hint(&self) -> String {
        match self {
            Self::NoSuchRfc { .. } => "list proposals with `fathom rfc list`, and check `--home`".into(),
            Self::Ambiguous { .. } => "use a longer prefix".into(),
            Self::NothingChanged { .. } => {
                "change a copy of the folder and propose that; compare the two with `fathom charter diff`".into()
            }
            Self::Version { needed, .. } => {
                format!("set `version = \"{needed}\"` in charter.toml of the changed folder")
            }
            Self::OtherCharter { .. } => {
                "keep `name` in charter.toml, or name the charter to replace with `--onto NAME|DIR`".into()
            }
            Self::NoRole { .. } => {
                "list the public keys of prime, lite and codemind in [identity] of fathom.toml".into()
            }
            Self::NotTaken { .. } | Self::Reviewed { .. } => {
                "see all reviews and votes with `fathom rfc show ID`".into()
            }
            Self::NotReviewed { id, .. } => {
                format!("have each of them run `fathom rfc review {id} --key FILE --text TEXT`")
            }
            Self::NotCarried { id, .. } => {
                format!("vote with `fathom rfc vote {id} yes --key FILE`; two roles and a majority are needed, and Prime breaks a tie")
            }
            Self::BaseChanged { .. } => "make the change again in the current charter and propose that".into(),
            Self::Merged { .. } => "propose a further change".into(),
            Self::NoPatch { .. } => {
                "an emergency patch raises the patch number by one and changes only the identity or texts; put other changes to a vote".into()
            }
            Self::Folder { .. } => "check the folder's permissions; the charter was not changed".into(),
            Self::Damaged { .. } => "propose the change again".into(),
        }
    }
}
