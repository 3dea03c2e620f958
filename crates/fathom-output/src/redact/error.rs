//! Errors of redaction rules.

use super::entity::EntityKind;

/// A file of rules or its key cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RedactError {
    /// The file is malformed.
    #[error("invalid redaction rules: {what}")]
    Syntax {
        /// Description and position of the mistake.
        what: String,
    },
    /// The file has another format.
    #[error("the rules have format {found}; this version supports format {known}")]
    Format {
        /// The file's format.
        found: u32,
        /// The supported format.
        known: u32,
    },
    /// A list is too long.
    #[error("the rules have {found} {what}, but the maximum is {max}")]
    TooMany {
        what: &'static str,
        /// Number found.
        found: usize,
        /// Maximum number.
        max: usize,
    },
    /// A word, phrase or prefix is invalid.
    #[error("invalid search term `{word}`: {what}")]
    Word { word: String, what: &'static str },
    /// A pattern of the content policy is invalid.
    #[error("invalid pattern `{pattern}` in rule `{rule}`: {what}")]
    Pattern {
        rule: String,
        pattern: String,
        what: String,
    },
    /// The format of a service's keys is invalid.
    #[error("invalid key format for `{service}`: {what}")]
    Service { service: String, what: &'static str },
    /// Two rules of the content policy have the same name, or a name that a mark cannot show.
    #[error("invalid rule name `{rule}`: {what}")]
    Rule { rule: String, what: &'static str },
    /// An action needs a key, and none was given.
    #[error("`{entity}` needs a key to be hashed or tokenised, and none was given")]
    NoKey { entity: EntityKind },
    /// Tokens are to be opened, and no key was given.
    #[error("no key was given to open tokens")]
    NoTokenKey,
    /// An action that is not possible for content or profanity.
    #[error("invalid action `{action}` for {what}")]
    Action {
        /// The rule or filter.
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

    /// Advice for the user.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Syntax { .. } => "check the line; `docs/redaction.md` lists the supported keys",
            Self::Format { .. } => {
                "write `format = 1`, or use a version of Fathom that supports this format"
            }
            Self::TooMany { .. } => "shorten the list, or use separate files for different texts",
            Self::Word { .. } => {
                "use words of 2 to 64 bytes and phrases of up to 200, without surrounding spaces"
            }
            Self::Pattern { .. } => {
                "correct the pattern; it must not match the empty text or be too large"
            }
            Self::Service { .. } => {
                "use a prefix of 3 to 32 bytes, and write `length` as `[least, most]`"
            }
            Self::Rule { .. } => "use each name once, with lower-case letters, digits and `-`",
            Self::NoKey { .. } => "pass a key with `--key-file FILE`, or write `action = \"mask\"`",
            Self::NoTokenKey => "pass the key that sealed the tokens with `--key-file FILE`",
            Self::Action { .. } => "use `mask`, `drop` or `review`",
        }
    }
}
