//! Why a person's word does not count.

use fathom_store::ApprovalId;

/// Everything that can be wrong with a person's word.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PeopleError {
    /// No approval has such a name.
    #[error("there is no approval `{prefix}`")]
    NoSuchApproval {
        /// What was asked for.
        prefix: String,
    },
    /// More than one approval has such a name.
    #[error("`{prefix}` fits {count} approvals")]
    Ambiguous {
        /// What was asked for.
        prefix: String,
        /// How many fit.
        count: usize,
    },
    /// It was decided, or is not asked any more.
    #[error("approval `{id}` is {state}; a word is given once")]
    Settled {
        /// The approval.
        id: ApprovalId,
        /// How it stands.
        state: &'static str,
    },
    /// The word came too late.
    #[error("approval `{id}` has expired")]
    Expired {
        /// The approval.
        id: ApprovalId,
    },
    /// The run asks something else now.
    #[error("approval `{id}` is not what the run asks")]
    OtherQuestion {
        /// The approval.
        id: ApprovalId,
    },
    /// The person has no role that may decide.
    #[error("`{person}` may not decide this{}", needed(roles))]
    NoRole {
        /// Who it is.
        person: String,
        /// The roles that may; any role when none is named.
        roles: Vec<String>,
    },
    /// The signature is not the key's, or not about this.
    #[error("the signature does not fit approval `{id}`")]
    BadSignature {
        /// The approval.
        id: ApprovalId,
    },
    /// The rule wants someone else than the person whose run it is.
    #[error("rule `{rule}` wants a second person, and `{person}` started the run")]
    SecondPerson {
        /// Who it is.
        person: String,
        /// The rule.
        rule: String,
    },
    /// What is asked cannot be shown, so nobody can say yes to it.
    #[error("what approval `{id}` asks cannot be read")]
    Unreadable {
        /// The approval.
        id: ApprovalId,
    },
    /// Nothing was sent under the key.
    #[error("nothing was sent under the key `{key}`")]
    NothingSent {
        /// The key.
        key: String,
    },
}

fn needed(roles: &[String]) -> String {
    if roles.is_empty() {
        String::new()
    } else {
        format!("; it takes the role {}", roles.join(" or "))
    }
}

impl PeopleError {
    /// The error's code, as its page in `docs/errors` is called.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoSuchApproval { .. } => "F0990",
            Self::Ambiguous { .. } => "F0991",
            Self::Settled { .. } => "F0992",
            Self::Expired { .. } => "F0993",
            Self::OtherQuestion { .. } => "F0994",
            Self::NoRole { .. } => "F0995",
            Self::BadSignature { .. } => "F0996",
            Self::SecondPerson { .. } => "F0997",
            Self::Unreadable { .. } => "F0998",
            Self::NothingSent { .. } => "F0999",
        }
    }

    /// What the user may do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::NoSuchApproval { .. } => "`fathom approvals` lists what is asked; check `--home`".into(),
            Self::Ambiguous { .. } => "give more characters of it".into(),
            Self::Settled { .. } => "`fathom approvals --all` tells who decided, and when".into(),
            Self::Expired { .. } => {
                "`fathom resume RUN` lets the run go on without it; it may ask again".into()
            }
            Self::OtherQuestion { .. } => "look again with `fathom approvals`".into(),
            Self::NoRole { person, .. } => format!(
                "someone who may decide does it, or `[people]` in fathom.toml gives `{person}` the role"
            ),
            Self::BadSignature { .. } => {
                "sign what `fathom approvals` shows now, with a key that `[people]` names".into()
            }
            Self::SecondPerson { .. } => {
                "someone else approves it, as another user or with `--key FILE`; anyone who may decide can deny it".into()
            }
            Self::Unreadable { .. } => {
                "`fathom verify RUN` tells what is wrong with its record; `fathom deny` is possible".into()
            }
            Self::NothingSent { .. } => "`fathom show RUN -v` shows the key of a denied effect".into(),
        }
    }
}
