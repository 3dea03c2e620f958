//! Why a change of a charter does not go on.

use std::io;
use std::path::PathBuf;

use fathom_core::protocol::{CouncilRole, NotTaken, Outcome};

use super::diff::Bump;
use crate::charter::Version;

/// Everything that keeps a proposal from becoming the charter.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RfcError {
    /// No proposal has such a name.
    #[error("there is no proposal `{prefix}`")]
    NoSuchRfc {
        /// What was asked for.
        prefix: String,
    },
    /// More than one proposal has such a name.
    #[error("`{prefix}` fits {count} proposals")]
    Ambiguous {
        /// What was asked for.
        prefix: String,
        /// How many fit.
        count: usize,
    },
    /// The charter says the same as before.
    #[error("the charter `{charter}` says the same as before")]
    NothingChanged {
        /// The charter.
        charter: String,
    },
    /// The version does not move far enough.
    #[error("{from} → {to} is too small a step for a {bump} change: it needs {needed} at least")]
    Version {
        /// The version that it has.
        from: Version,
        /// The version that it would get.
        to: Version,
        /// How far it must move.
        bump: Bump,
        /// The least version.
        needed: Version,
    },
    /// The folder holds another charter.
    #[error("`{said}` is another charter than `{charter}`")]
    OtherCharter {
        /// The charter that is to change.
        charter: String,
        /// The one in the folder.
        said: String,
    },
    /// The key is no role's.
    #[error("`key:{key}` is no role's key")]
    NoRole {
        /// Its fingerprint.
        key: String,
    },
    /// The role has spoken already, or too late.
    #[error("the word of {role} does not count: {why}")]
    NotTaken {
        /// The role.
        role: CouncilRole,
        /// Why not.
        why: NotTaken,
    },
    /// The role has reviewed it already.
    #[error("{role} has reviewed it already")]
    Reviewed {
        /// The role.
        role: CouncilRole,
    },
    /// Not everyone has reviewed it.
    #[error("proposal `{id}` is not reviewed by {}", names(missing))]
    NotReviewed {
        /// The proposal.
        id: String,
        /// Who is missing.
        missing: Vec<CouncilRole>,
    },
    /// The vote does not carry it.
    #[error("proposal `{id}` is not carried: {outcome}")]
    NotCarried {
        /// The proposal.
        id: String,
        /// How the votes stand.
        outcome: Box<Outcome>,
    },
    /// The charter is not what it was when the change was proposed.
    #[error("the charter `{charter}` has changed since proposal `{id}` was made")]
    BaseChanged {
        /// The charter.
        charter: String,
        /// The proposal.
        id: String,
    },
    /// It was merged.
    #[error("proposal `{id}` was merged already")]
    Merged {
        /// The proposal.
        id: String,
    },
    /// An emergency patch that is more than one.
    #[error("this is no emergency patch: {why}")]
    NoPatch {
        /// Why.
        why: String,
    },
    /// The files cannot be put in place.
    #[error("cannot put the charter in place at `{}`", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// What was written down cannot be read.
    #[error("proposal `{id}` cannot be read, or is not what was written down")]
    Damaged {
        /// The proposal.
        id: String,
    },
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

    /// What the user may do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::NoSuchRfc { .. } => "`fathom rfc list` lists them; check `--home`".into(),
            Self::Ambiguous { .. } => "give more characters of it".into(),
            Self::NothingChanged { .. } => {
                "change a copy of the folder, then propose that; `fathom charter diff` compares two".into()
            }
            Self::Version { needed, .. } => {
                format!("write `version = \"{needed}\"` in charter.toml of the changed folder")
            }
            Self::OtherCharter { .. } => {
                "keep `name` in charter.toml, or say what it is to replace with `--onto NAME|DIR`".into()
            }
            Self::NoRole { .. } => {
                "[identity] in fathom.toml names the public keys of prime, lite and codemind".into()
            }
            Self::NotTaken { .. } | Self::Reviewed { .. } => {
                "`fathom rfc show ID` tells who said what, and when".into()
            }
            Self::NotReviewed { id, .. } => {
                format!("`fathom rfc review {id} --key FILE --text TEXT`, by each of them")
            }
            Self::NotCarried { id, .. } => {
                format!("`fathom rfc vote {id} yes --key FILE`; two roles and a majority carry it, and Prime breaks a tie")
            }
            Self::BaseChanged { .. } => "make the change again on what stands there now, and propose that".into(),
            Self::Merged { .. } => "propose a further change".into(),
            Self::NoPatch { .. } => {
                "an emergency moves the patch number by one and changes the identity or words; all else is voted on".into()
            }
            Self::Folder { .. } => "check the folder's permissions; the charter stands as it was".into(),
            Self::Damaged { .. } => "propose the change again".into(),
        }
    }
}
