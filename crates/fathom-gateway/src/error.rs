//! Errors of policies and of the settings beside them.

/// A bundle of policies, or the settings beside it, cannot be used.
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
    NoId { file: String, line: usize },
    /// Two policies have the same id.
    #[error("`{file}`, line {line}: duplicate policy id `{policy}`")]
    DuplicateId {
        /// The file of the second.
        file: String,
        line: usize,
        policy: String,
    },
    /// A policy does not fit the schema.
    #[error("`{file}`, line {line}: policy `{policy}` does not match the schema: {what}")]
    Invalid {
        file: String,
        line: usize,
        policy: String,
        what: String,
    },
    /// An annotation is unknown or has an invalid value.
    #[error("`{file}`, line {line}: {what}")]
    Annotation {
        file: String,
        line: usize,
        what: String,
    },
    /// The schema cannot be used.
    #[error("invalid schema, line {line}: {what}")]
    Schema { line: usize, what: String },
    /// The entities cannot be used.
    #[error("invalid entities: {what}")]
    Entities { what: String },
    /// The settings cannot be used.
    #[error("invalid gateway settings: {what}")]
    Settings { what: String },
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

    /// Advice for the user.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Syntax { .. } => "check the line: a policy is `permit (…);` or `forbid (…);`",
            Self::NoId { .. } => "write `@id(\"what-it-does\")` above the policy",
            Self::DuplicateId { .. } => "change one of the ids",
            Self::Invalid { .. } => {
                "check the names of roles, actions and attributes; list every action in `gateway.toml`"
            }
            Self::Annotation { .. } => {
                "use `@id` on any policy, and `@approval`, `@expires` and `@second_person` on a permit"
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
