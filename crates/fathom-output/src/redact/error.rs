//! Why rules cannot be used.

use super::entity::Entity;

/// What is wrong with a file of rules, or with what it needs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RedactError {
    /// The file is not what a file of rules is.
    #[error("the rules cannot be read: {what}")]
    Syntax {
        /// What is wrong, and where.
        what: String,
    },
    /// Another program wrote the file.
    #[error("the rules have format {found}; this program knows format {known}")]
    Format {
        /// The format of the file.
        found: u32,
        /// The format that is known.
        known: u32,
    },
    /// There is more of something than is allowed.
    #[error("the rules have {found} {what}, the limit is {max}")]
    TooMany {
        what: &'static str,
        /// How much there is.
        found: usize,
        /// How much there may be.
        max: usize,
    },
    /// A word, phrase or prefix cannot be looked for.
    #[error("`{word}` cannot be looked for: {what}")]
    Word {
        word: String,
        what: &'static str,
    },
    /// A pattern of the content policy cannot be used.
    #[error("the pattern `{pattern}` of rule `{rule}` cannot be used: {what}")]
    Pattern {
        rule: String,
        pattern: String,
        /// What is wrong with it.
        what: String,
    },
    /// The form of a service's keys makes no sense.
    #[error("keys of `{service}` cannot be recognised: {what}")]
    Service {
        service: String,
        what: &'static str,
    },
    /// Two rules of the content policy have the same name, or a name that a mark cannot show.
    #[error("`{rule}` cannot be the name of a rule: {what}")]
    Rule {
        rule: String,
        what: &'static str,
    },
    /// An action needs a key and there is none.
    #[error("`{entity}` is to be hashed or tokenised, and there is no key")]
    NoKey {
        /// What is to be hashed or tokenised.
        entity: Entity,
    },
    /// Tokens are to be opened and there is no key.
    #[error("there is no key to open tokens with")]
    NoTokenKey,
    /// An entity can never be a token.
    #[error("the action of {what} cannot be `{action}`")]
    Action {
        /// What it was written for.
        what: String,
        action: &'static str,
    },
}

impl RedactError {
    /// The error's stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Syntax { .. } => "F1000",
            Self::Format { .. } => "F1001",
            Self::TooMany { .. } => "F1002",
            Self::Word { .. } => "F1003",
            Self::Pattern { .. } => "F1004",
            Self::Service { .. } => "F1005",
            Self::Rule { .. } => "F1006",
            Self::NoKey { .. } => "F1007",
            Self::NoTokenKey => "F1008",
            Self::Action { .. } => "F1009",
        }
    }

    /// What the user may do about it.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Syntax { .. } => {
                "check the line; `docs/redaction.md` lists every key that a file of rules may have"
            }
            Self::Format { .. } => "write `format = 1`, or use a Fathom that knows the format",
            Self::TooMany { .. } => "shorten the list, or use another file for other texts",
            Self::Word { .. } => "words have between 2 and 64 bytes, phrases up to 200",
            Self::Pattern { .. } => {
                "check the pattern: it must match something, and may not be very large"
            }
            Self::Service { .. } => {
                "a prefix has between 3 and 32 bytes, and `length` is `[least, most]`"
            }
            Self::Rule { .. } => "name each rule once, with small letters, digits and `-`",
            Self::NoKey { .. } => "give a key with `--key-file FILE`, or write `action = \"mask\"`",
            Self::NoTokenKey => "give the key that the tokens were sealed with: `--key-file FILE`",
            Self::Action { .. } => "use `mask`, `drop` or `review`",
        }
    }
}
