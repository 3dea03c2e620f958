//! Reasons why a person's decision is not accepted.

use fathom_store::ApprovalId;

/// Everything that can be wrong with a person's word.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PeopleError {
    /// No approval has such a name.
    #[error("approval `{prefix}` not found")]
    NoSuchApproval { prefix: String },
    /// More than one approval has such a name.
    #[error("approval ID `{prefix}` is ambiguous: {count} approvals match")]
    Ambiguous { prefix: String, count: usize },
    /// It was decided, or is not asked any more.
    #[error("approval `{id}` is already {state}")]
    Settled { id: ApprovalId, state: &'static str },
    /// The word came too late.
    #[error("approval `{id}` has expired")]
    Expired { id: ApprovalId },
    /// The run asks something else now.
    #[error("approval `{id}` no longer matches the run's request")]
    OtherQuestion { id: ApprovalId },
    /// The person has no role that may decide.
    #[error("`{person}` is not allowed to decide this{}", needed(roles))]
    NoRole {
        person: String,
        /// The roles that may; any role when none is named.
        roles: Vec<String>,
    },
    /// The signature is not the key's, or not about this.
    #[error("the signature is not valid for approval `{id}`")]
    BadSignature { id: ApprovalId },
    /// The rule wants someone else than the person whose run it is.
    #[error("rule `{rule}` requires a second person: `{person}` started the run")]
    SecondPerson { person: String, rule: String },
    /// The request cannot be shown, so it cannot be approved.
    #[error("cannot read the request of approval `{id}`")]
    Unreadable { id: ApprovalId },
    /// Nothing was sent under the key.
    #[error("idempotency key `{key}` was never used")]
    NothingSent { key: String },
}

fn needed(roles: &[String]) -> String {
    if roles.is_empty() {
        String::new()
    } else {
        format!("; the role {} is required", roles.join(" or "))
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

    /// Next step for the user, as an imperative sentence.
    pub fn hint(&self) -> String {
        match self {
            Self::NoSuchApproval { .. } => "list pending approvals with `fathom approvals`, and check `--home`".into(),
            Self::Ambiguous { .. } => "use a longer prefix".into(),
            Self::Settled { .. } => "see who decided with `fathom approvals --all`".into(),
            Self::Expired { .. } => {
                "continue the run with `fathom resume RUN`; it may ask again".into()
            }
            Self::OtherQuestion { .. } => "see the current request with `fathom approvals`".into(),
            Self::NoRole { person, .. } => format!(
                "ask someone with the role to decide, or give `{person}` the role in `[people]` of fathom.toml"
            ),
            Self::BadSignature { .. } => {
                "sign the current request with a key listed in `[people]` of fathom.toml".into()
            }
            Self::SecondPerson { .. } => {
                "have someone else approve it, as another user or with `--key FILE`; anyone allowed to decide can deny it".into()
            }
            Self::Unreadable { .. } => {
                "check the record with `fathom verify RUN`, or deny the request with `fathom deny`".into()
            }
            Self::NothingSent { .. } => "find the key of a denied effect with `fathom show RUN -v`".into(),
        }
    }
}
