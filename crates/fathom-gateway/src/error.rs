//! Why policies or settings cannot be used.

/// What is wrong with a bundle of policies or with the settings beside it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GatewayError {
    /// A file of policies cannot be read.
    #[error("`{file}`, line {line}: {what}")]
    Syntax {
        file: String,
        line: usize,
        what: String,
    },
    /// A policy has no id.
    #[error("`{file}`, line {line}: the policy has no `@id`")]
    NoId {
        file: String,
        line: usize,
    },
    /// Two policies have the same id.
    #[error("`{file}`, line {line}: there is another policy `{policy}`")]
    DuplicateId {
        /// The file of the second.
        file: String,
        line: usize,
        policy: String,
    },
    /// A policy does not fit the schema.
    #[error("`{file}`, line {line}: policy `{policy}` does not fit the schema: {what}")]
    Invalid {
        file: String,
        line: usize,
        /// The policy's id.
        policy: String,
        /// What does not fit.
        what: String,
    },
    /// An annotation says nothing that is known.
    #[error("`{file}`, line {line}: {what}")]
    Annotation {
        file: String,
        line: usize,
        what: String,
    },
    /// The schema cannot be used.
    #[error("line {line} of the schema: {what}")]
    Schema {
        line: usize,
        what: String,
    },
    /// The entities cannot be used.
    #[error("the entities do not fit the schema: {what}")]
    Entities {
        what: String,
    },
    /// The settings cannot be used.
    #[error("the settings of the gateway cannot be used: {what}")]
    Settings {
        what: String,
    },
}

impl GatewayError {
    /// The error's stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Syntax { .. } => "F0950",
            Self::NoId { .. } => "F0951",
            Self::DuplicateId { .. } => "F0952",
            Self::Invalid { .. } => "F0953",
            Self::Annotation { .. } => "F0954",
            Self::Schema { .. } => "F0955",
            Self::Entities { .. } => "F0956",
            Self::Settings { .. } => "F0957",
        }
    }

    /// What the user may do about it.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Syntax { .. } => "check the line: a policy is `permit (…);` or `forbid (…);`",
            Self::NoId { .. } => "write `@id(\"what-it-does\")` above the policy",
            Self::DuplicateId { .. } => "give one of them another id",
            Self::Invalid { .. } => {
                "check the names of roles, actions and attributes; an action must stand in `gateway.toml`"
            }
            Self::Annotation { .. } => {
                "a policy may have `@id`, and a permit `@approval`, `@expires` and `@second_person`"
            }
            Self::Schema { .. } => "check the names of actions in `gateway.toml`",
            Self::Entities { .. } => {
                "list tenants, platforms and accounts as a JSON array of `uid`, `attrs` and `parents`"
            }
            Self::Settings { .. } => {
                "check `gateway.toml`: `actions`, `[flags]`, `[autonomy]` and `[trip]`"
            }
        }
    }
}
