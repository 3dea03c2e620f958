//! Problems of charters, with their places.

use fathom_output::routes::MatrixError;
use fathom_programs::council::DEPTH_MAX;

use super::version::{CharterVersion, PROTOCOL, migration};
use crate::governance::identity::persona_check::PersonaRule;
use crate::learning::LearnError;

/// Kind of a finding. Warnings are among them: such a charter can be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CharterProblem {
    /// A file that must be there is not.
    #[error("missing file `{file}`")]
    MissingFile { file: &'static str },
    /// The rule learned from past councils cannot be used.
    #[error(transparent)]
    NotLearned(LearnError),
    /// Routes that lead nowhere.
    #[error(transparent)]
    Routes(MatrixError),
    /// The file is not TOML.
    #[error("{message}")]
    Syntax {
        /// Message of the parser.
        message: String,
    },
    /// A key that the file cannot have.
    #[error("unknown key `{key}`")]
    UnknownKey {
        key: String,
        /// The known key that is most similar.
        nearest: Option<String>,
        /// The keys there are.
        known: Vec<String>,
    },
    /// A value of another type than the key has.
    #[error("`{key}` has the wrong type: {message}")]
    WrongType {
        key: String,
        /// Value that was found and value that was expected.
        message: String,
    },
    /// A key that must be there is not.
    #[error("missing key `{key}`")]
    MissingKey {
        key: String,
        /// A valid example.
        example: &'static str,
    },
    /// The protocol is of another major version.
    #[error("protocol {said} is not supported; this build supports {PROTOCOL}")]
    OtherMajor {
        /// The version of the charter.
        said: CharterVersion,
    },
    /// A number above its hard cap.
    #[error("`{key}` is {value}, but the maximum is {cap}")]
    OverCap {
        key: String,
        value: u64,
        /// The most there may be.
        cap: u64,
    },
    /// A value that does not mean anything.
    #[error("invalid value for `{key}`: {why}")]
    BadValue { key: String, why: String },
    /// The file is not UTF-8.
    #[error("the file is not UTF-8 text")]
    NotText,
    /// The file is too large.
    #[error("the file is larger than {bytes_max} bytes")]
    TooLarge {
        /// The most there may be.
        bytes_max: u64,
    },
    /// There is more of something than there may be.
    #[error("too many {what}: the maximum is {count_max}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// The most there may be.
        count_max: usize,
    },
    /// A link that leads out of the charter's folder.
    #[error("symlink points outside the charter folder")]
    LeavesFolder,
    /// Two things have one id.
    #[error("duplicate id `{id}`, first used in {first}")]
    DuplicateId {
        id: String,
        /// Place of the first occurrence.
        first: String,
    },
    /// A word that is not among those allowed.
    #[error("unknown name `{word}`")]
    UnknownWord {
        word: String,
        /// The allowed word that is most similar.
        nearest: Option<String>,
        /// The words there are.
        known: Vec<String>,
    },
    /// A text that is empty.
    #[error("{what} is empty")]
    Empty { what: String },
    /// A text with more tokens than it may have.
    #[error("`{key}` has {tokens} tokens, but the maximum is {tokens_max}")]
    TooManyTokens {
        key: String,
        tokens: u64,
        /// The most there may be.
        tokens_max: u64,
    },
    /// The head of a Markdown file cannot be read.
    #[error("{why}")]
    FrontMatter { why: String },
    /// One of the five initial instructions is missing.
    #[error("missing instruction `{key}`")]
    MissingInstruction {
        key: &'static str,
        /// The stage it belongs to.
        stage: &'static str,
    },
    /// One of the five initial instructions has another stage.
    #[error("instruction `{key}` must have the stage `{stage}`")]
    WrongStage {
        key: &'static str,
        /// The stage it belongs to.
        stage: &'static str,
    },
    /// The file cannot be read.
    #[error("cannot read the file: {cause}")]
    Unreadable { cause: String },
    /// A file that no charter has. A warning.
    #[error("unexpected file; ignored")]
    UnknownFile,
    /// The protocol is of a newer minor version. A warning.
    #[error("protocol {said} is newer than {PROTOCOL}, which this build supports")]
    NewerMinor {
        /// The version of the charter.
        said: CharterVersion,
    },
    /// A text that every packet will have to shorten. A warning.
    #[error(
        "{what} has {tokens} tokens, but a packet has room for {tokens_max}; it will be shortened"
    )]
    WillBeShortened {
        what: &'static str,
        tokens: u64,
        /// The most that a packet takes.
        tokens_max: u64,
    },
    /// A council with more levels than any may have.
    #[error("the council has {levels} levels of sub-chiefs, but the maximum is {DEPTH_MAX}")]
    TooDeep {
        /// The levels it would have.
        levels: u64,
    },
    /// A bound of the run that is too small for the council.
    #[error("`{key}` of [{table}] is {value}, but the council needs at least {needed}")]
    NoRoom {
        /// The table that sets the bound.
        table: &'static str,
        /// Its key there.
        key: &'static str,
        value: u64,
        needed: u64,
    },
    /// A list of what may be spawned that leaves out what the council needs.
    #[error("the council needs `{word}` in `{key}` of [recursion]")]
    NotAllowed {
        /// The child type or the class.
        word: &'static str,
        key: &'static str,
    },
    /// A child type of the council that may not be spawned.
    #[error(
        "the council needs `{child_type}`, which `forbidden_child_types` of [recursion] forbids"
    )]
    Forbidden {
        /// The child type.
        child_type: &'static str,
    },
    /// A word that is twice in its list. A warning.
    #[error("duplicate word `{word}` in `{list}`")]
    RepeatedWord { word: String, list: &'static str },
    /// A budget with fewer calls than the council may make. A warning.
    #[error("{calls} calls may not be enough for every vote; {needed} are")]
    FewCalls {
        /// Calls that the budget allows.
        calls: u64,
        /// Calls that a vote of every seat needs.
        needed: u64,
    },
    /// The signature is not of this identity.
    #[error("the identity signature is invalid")]
    Signature,
    /// A persona that would overrule the identity.
    #[error("the persona conflicts with the identity: rule `{}` forbids {}: `{words}`", rule.name(), rule.forbids())]
    Overrules {
        /// The rule that it breaks.
        rule: PersonaRule,
        /// The words that break it, or the core rule that they are against.
        words: String,
    },
    /// A key that goes with the next minor version. A warning.
    #[error("`{key}` is deprecated since protocol {since}; use `{instead}`")]
    Deprecated {
        key: String,
        /// Since when.
        since: CharterVersion,
        /// The key to write instead.
        instead: &'static str,
    },
    /// Tools or policies that cannot be used.
    #[error("{cause}")]
    Gate { cause: String },
    /// A detector that calls no question complex. A warning.
    #[error(
        "sub-chiefs are never asked: a question can give only {signals} of the {signals_min} signals needed"
    )]
    NeverComplex {
        /// Signals that a question can give.
        signals: u32,
        /// Signals that are needed.
        signals_min: u32,
    },
}

impl CharterProblem {
    /// The flaw's code, as its page in `docs/errors` is called.
    pub fn code(&self) -> &'static str {
        match self {
            Self::MissingFile { .. } => "F0604",
            Self::NotLearned(error) => error.code(),
            Self::Routes(error) => error.code(),
            Self::Syntax { .. } => "F0605",
            Self::UnknownKey { .. } => "F0606",
            Self::WrongType { .. } => "F0607",
            Self::MissingKey { .. } => "F0608",
            Self::OtherMajor { .. } => "F0609",
            Self::OverCap { .. } => "F0610",
            Self::BadValue { .. } => "F0611",
            Self::NotText => "F0612",
            Self::TooLarge { .. } => "F0613",
            Self::TooMany { .. } => "F0614",
            Self::LeavesFolder => "F0615",
            Self::DuplicateId { .. } => "F0616",
            Self::UnknownWord { .. } => "F0617",
            Self::Empty { .. } => "F0618",
            Self::TooManyTokens { .. } => "F0619",
            Self::FrontMatter { .. } => "F0620",
            Self::MissingInstruction { .. } | Self::WrongStage { .. } => "F0621",
            Self::Unreadable { .. } => "F0622",
            Self::UnknownFile => "F0623",
            Self::NewerMinor { .. } => "F0624",
            Self::WillBeShortened { .. } => "F0625",
            Self::TooDeep { .. } => "F0629",
            Self::NoRoom { .. } => "F0630",
            Self::NotAllowed { .. } | Self::Forbidden { .. } => "F0631",
            Self::RepeatedWord { .. } => "F0632",
            Self::FewCalls { .. } => "F0633",
            Self::NeverComplex { .. } => "F0634",
            Self::Gate { .. } => "F0635",
            Self::Deprecated { .. } => "F0636",
            Self::Signature => "F1050",
            Self::Overrules { .. } => "F1058",
        }
    }

    /// Next step for the user, as an imperative sentence.
    pub fn hint(&self) -> String {
        match self {
            Self::MissingFile { .. } => {
                "create a complete charter with `fathom charter new NAME`".into()
            }
            Self::NotLearned(error) => error.hint(),
            Self::Routes(error) => error.hint().into(),
            Self::Syntax { .. } => {
                "quote strings, put lists in [ ], and put each table's name in [ ] on its own line"
                    .into()
            }
            Self::UnknownKey { nearest, known, .. } | Self::UnknownWord { nearest, known, .. } => {
                match nearest {
                    Some(nearest) => format!("did you mean `{nearest}`?"),
                    None if known.is_empty() => "remove it".into(),
                    None => format!("use one of {}", known.join(", ")),
                }
            }
            Self::WrongType { .. } => "see docs/charters.md for every key and its type".into(),
            Self::MissingKey { example, .. } => format!("add `{example}`"),
            Self::OtherMajor { said } => migration(*said),
            Self::OverCap { key, cap, .. } => format!("set `{key}` to at most {cap}"),
            Self::BadValue { .. } => "see docs/charters.md for the values of each key".into(),
            Self::NotText => "save the file as UTF-8".into(),
            Self::TooLarge { .. } => "split the file or shorten it".into(),
            Self::TooMany { what, count_max } => {
                format!("keep at most {count_max} {what} in one charter")
            }
            Self::LeavesFolder => "copy the file into the folder".into(),
            Self::DuplicateId { .. } => "give one of them another `id`".into(),
            Self::Empty { .. } => "fill it in or remove it".into(),
            Self::TooManyTokens { tokens_max, .. } => {
                format!("shorten it to {tokens_max} tokens, about {} words", tokens_max * 3 / 4)
            }
            Self::FrontMatter { .. } => {
                "start the file with a line `---`, YAML such as `role: planner`, and another line `---`, then the text"
                    .into()
            }
            Self::MissingInstruction { key, stage } => {
                format!("add a table [{key}] with `stage = \"{stage}\"`, `text` and `last_updated`")
            }
            Self::WrongStage { stage, .. } => format!("set `stage = \"{stage}\"`"),
            Self::Unreadable { .. } => "check that it is a regular file and its permissions".into(),
            Self::UnknownFile => {
                "a charter has charter.toml, identity.toml, persona.toml, instructions.toml, agents/*.md and prompts/*.md; for phases also phases/*.txt, shared/*.txt, symbols.json, kits.json, agents.json and context.json; for effects tools.toml, gateway.toml, entities.json and policies/*.cedar"
                    .into()
            }
            Self::NewerMinor { .. } => "update Fathom to use the newer features".into(),
            Self::WillBeShortened { tokens_max, .. } => {
                format!("shorten it to {tokens_max} tokens")
            }
            Self::TooDeep { .. } => {
                format!("set `depth` to at most {DEPTH_MAX} and nest sub-chiefs at most as deep")
            }
            Self::NoRoom { table, key, needed, .. } => {
                format!("set `{key} = {needed}` in [{table}], or use fewer seats")
            }
            Self::NotAllowed { word, key } => format!("add \"{word}\" to `{key}`"),
            Self::Forbidden { .. } => "remove it from `forbidden_child_types`".into(),
            Self::RepeatedWord { .. } => "remove one of them; upper and lower case are treated alike".into(),
            Self::FewCalls { needed, .. } => {
                format!("set `calls = {needed}` in [budget], or ask for fewer votes")
            }
            Self::Gate { .. } => {
                "see docs/charters.md for tools.toml, gateway.toml, entities.json and policies/*.cedar".into()
            }
            Self::Signature => {
                "restore the signed identity, or have the creator sign this one with `fathom identity sign DIR --key FILE`".into()
            }
            Self::Overrules { .. } => {
                "describe only tone and style in the persona; permissions belong in the identity, the contract and the policies".into()
            }
            Self::Deprecated { instead, .. } => {
                format!("use `{instead}`; the old key is removed in the next minor version")
            }
            Self::NeverComplex { .. } => {
                "fill the lists of [council.detector], or set `depth = 0`".into()
            }
        }
    }
}
