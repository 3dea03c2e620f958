//! What can go wrong between a command and a run.

use std::io;
use std::path::PathBuf;

use fathom_core::episode::program::ProgramError;
use fathom_core::id::RunId;
use fathom_local::engine::EngineError;
use fathom_local::weights::WeightsError;
use fathom_material::{MaterialError, SkippedFile};
use fathom_models::ModelsError;
use fathom_sandbox::SandboxError;
use fathom_store::StoreError;
use fathom_store::channels::ChannelStoreError;
use fathom_store::history::HistoryError;
use fathom_store::records::RecordStoreError;
use fathom_store::symbols::SymbolStoreError;

use crate::charter::CharterError;
use crate::effects::RunGatewayError;
use crate::governance::identity::IdentityError;
use crate::governance::people::PeopleError;
use crate::governance::rfc::RfcError;
use crate::learning::LearnError;
use crate::view::run::RecordRef;

/// Everything the host can fail with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// The configuration file cannot be read.
    #[error("cannot read `{}`", file.display())]
    ConfigUnreadable {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The configuration file says something that it cannot mean.
    #[error("{}:{line}:{} {message}", file.display(), key.as_ref().map(|key| format!(" `{key}`:")).unwrap_or_default())]
    ConfigSyntax {
        /// The file.
        file: PathBuf,
        /// The line, counted from one.
        line: usize,
        /// The key on that line.
        key: Option<String>,
        /// What is wrong.
        message: String,
    },
    /// A configured value is above its hard cap.
    #[error("{}:{line}: `{key}` is {value}, but the maximum is {cap}", file.display())]
    OverCap {
        /// The file.
        file: PathBuf,
        /// The line, counted from one.
        line: usize,
        /// The key.
        key: &'static str,
        /// What was asked for.
        value: u64,
        /// The most there may be.
        cap: u64,
    },
    /// The charter cannot be used.
    #[error(transparent)]
    Charter(#[from] CharterError),
    /// The identity does not count, or may not be changed.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// A change of a charter does not go on.
    #[error(transparent)]
    Rfc(#[from] RfcError),
    /// Nothing could be learned from past councils.
    #[error(transparent)]
    Learning(#[from] LearnError),
    /// A person's word does not count.
    #[error(transparent)]
    People(#[from] PeopleError),
    /// The material cannot be used.
    #[error(transparent)]
    Material(#[from] MaterialError),
    /// There is nothing to work on.
    #[error("the context contains no readable text")]
    NoMaterial {
        /// What is there, and why it cannot be read.
        skipped: Vec<SkippedFile>,
    },
    /// A file is not what it was when the run began.
    #[error("`{name}` has changed since the run began")]
    MaterialChanged {
        /// As the user named it.
        name: String,
    },
    /// A text without a file is too large to be kept with a run.
    #[error(
        "`{name}` is too large to store with the run: the maximum is {bytes_max} bytes as JSON"
    )]
    TextTooLarge {
        /// The name it goes by.
        name: String,
        /// What it may have.
        bytes_max: u64,
    },
    /// Code cannot be run.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// The program cannot be made.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The symbols cannot be used.
    #[error(transparent)]
    Symbols(#[from] SymbolStoreError),
    /// The history of a session cannot be used.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// The records cannot be used.
    #[error(transparent)]
    Records(#[from] RecordStoreError),
    /// What is kept of channels cannot be used.
    #[error(transparent)]
    Channels(#[from] ChannelStoreError),
    /// A run asked a domain for something that it does not know.
    #[error("invalid request to domain `{domain}`: {cause}")]
    BadRequest {
        /// The domain.
        domain: &'static str,
        /// Why.
        cause: String,
    },
    /// The charter has no phases.
    #[error("charter `{name}` has no phases")]
    NoPhases {
        /// Its name.
        name: String,
    },
    /// The charter has no section for the program.
    #[error("charter `{name}` has no `[{section}]` section")]
    NoSection {
        /// Its name.
        name: String,
        /// The section.
        section: String,
    },
    /// The charter has no agency, or not all of it.
    #[error("charter `{name}` has no {what}")]
    NoAgency {
        /// Its name.
        name: String,
        /// What it lacks.
        what: String,
    },
    /// The tools of a charter cannot be used.
    #[error("cannot use the tools of charter `{name}`: {cause}")]
    Tools {
        /// Its name.
        name: String,
        /// Why.
        cause: Box<RunGatewayError>,
    },
    /// A brand's folder cannot be used.
    #[error("invalid brand `{}`: {cause}", path.display())]
    Brand {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        cause: String,
    },
    /// A model cannot be used.
    #[error(transparent)]
    Models(#[from] ModelsError),
    /// An embedded model cannot be loaded.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Weights cannot be had.
    #[error(transparent)]
    Weights(#[from] WeightsError),
    /// The weights are no language model.
    #[error("`{name}` is not a language model")]
    NoLanguageModel {
        /// What was asked for.
        name: String,
    },
    /// No run has such an id.
    #[error("run `{prefix}` not found")]
    NoSuchRun {
        /// What was asked for.
        prefix: String,
    },
    /// More than one run has such an id.
    #[error("run ID `{prefix}` is ambiguous: {count} runs match")]
    AmbiguousRun {
        /// What was asked for.
        prefix: String,
        /// How many fit.
        count: usize,
    },
    /// Another process works on the run.
    #[error("run `{run}` is in use by another process")]
    Owned {
        /// The run.
        run: RunId,
    },
    /// The run is over.
    #[error("run `{run}` has already finished")]
    Finished {
        /// The run.
        run: RunId,
    },
    /// There is no such record.
    #[error("run `{run}` has no record {}:{}", place.episode, place.seq)]
    NoSuchPlace {
        /// The run.
        run: RunId,
        /// The place.
        place: RecordRef,
    },
    /// The run's content is gone, so it cannot be folded.
    #[error("the content of run `{run}` was shredded")]
    Shredded {
        /// The run.
        run: RunId,
    },
    /// A fold of the journal does not give what the journal says.
    #[error("replay of run `{run}` failed: {count} records differ")]
    Differs {
        /// The run.
        run: RunId,
        /// How many.
        count: usize,
    },
}

impl HostError {
    /// The error's code, as its page in `docs/errors` is called.
    pub fn code(&self) -> &'static str {
        match self {
            Self::ConfigUnreadable { .. } => "F0110",
            Self::ConfigSyntax { .. } => "F0111",
            Self::OverCap { .. } => "F0112",
            Self::Charter(error) => error.code(),
            Self::Identity(error) => error.code(),
            Self::Rfc(error) => error.code(),
            Self::Learning(error) => error.code(),
            Self::People(error) => error.code(),
            Self::Material(error) => error.code(),
            Self::NoMaterial { .. } => "F0409",
            Self::MaterialChanged { .. } => "F0410",
            Self::TextTooLarge { .. } => "F0416",
            Self::Sandbox(error) => error.code(),
            Self::Program(_) => "F0113",
            Self::Store(error) => error.code(),
            Self::Symbols(error) => error.code(),
            Self::History(error) => error.code(),
            Self::Records(error) => error.code(),
            Self::Channels(error) => error.code(),
            Self::BadRequest { .. } => "F0411",
            Self::NoPhases { .. } => "F0412",
            Self::NoAgency { .. } => "F0413",
            Self::NoSection { .. } => "F0417",
            Self::Brand { .. } => "F0414",
            Self::Tools { .. } => "F0415",
            Self::Models(error) => error.code(),
            Self::Engine(error) => error.code(),
            Self::Weights(error) => error.code(),
            Self::NoLanguageModel { .. } => "F0408",
            Self::NoSuchRun { .. } => "F0401",
            Self::AmbiguousRun { .. } => "F0402",
            Self::Owned { .. } => "F0403",
            Self::Finished { .. } => "F0404",
            Self::NoSuchPlace { .. } => "F0405",
            Self::Shredded { .. } => "F0406",
            Self::Differs { .. } => "F0407",
        }
    }

    /// What the user may do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::ConfigUnreadable { .. } => {
                "check the path and its permissions, or run without `--config`".into()
            }
            Self::ConfigSyntax { .. } => "see the keys of `fathom.toml` in docs/cli.md".into(),
            Self::OverCap { key, cap, .. } => format!("set `{key}` to at most {cap}"),
            Self::Charter(error) => error.hint(),
            Self::Identity(error) => error.hint(),
            Self::Rfc(error) => error.hint(),
            Self::Learning(error) => error.hint(),
            Self::People(error) => error.hint(),
            Self::Material(error) => error.hint(),
            Self::NoMaterial { .. } => "pass files or folders that contain text, or `-` for stdin".into(),
            Self::MaterialChanged { .. } => {
                "restore the file or start a new run".into()
            }
            Self::TextTooLarge { .. } => {
                "write it to a file and pass the file, which may be far larger".into()
            }
            Self::Sandbox(error) => error.hint(),
            Self::Program(_) => {
                "use one of the programs of this build: direct, council, motion, rlm, phases, tools, agency, stages".into()
            }
            Self::Store(error) => error.hint(),
            Self::Symbols(error) => error.hint(),
            Self::History(error) => error.hint(),
            Self::Records(error) => error.hint(),
            Self::Channels(error) => error.hint(),
            Self::BadRequest { .. } => "this is a bug in Fathom; please report it".into(),
            Self::NoPhases { .. } => {
                "use a charter with phases, such as `--charter signalzero`; see docs/charters.md".into()
            }
            Self::NoSection { section, .. } => format!(
                "add the section, or use a built-in charter that has it, such as `--charter {section}`; see docs/charters.md"
            ),
            Self::NoAgency { .. } => {
                "use a charter with an agency, such as `--charter agency`; see docs/charters.md".into()
            }
            Self::Tools { .. } => {
                "fix the problem named above; `fathom charter check` finds what can be checked without a run".into()
            }
            Self::Brand { .. } => {
                "a brand folder contains brand.toml, brand.md and knowledge/*.md; see examples/brand".into()
            }
            Self::Models(error) => error.hint(),
            Self::Engine(error) => error.hint(),
            Self::Weights(error) => error.hint(),
            Self::NoLanguageModel { .. } => {
                "list the language models with `fathom models list`".into()
            }
            Self::NoSuchRun { .. } => "list runs with `fathom runs`, and check `--home`".into(),
            Self::AmbiguousRun { .. } => "use a longer prefix".into(),
            Self::Owned { run } => {
                format!("wait for it to finish, or stop it with `fathom cancel {run}`")
            }
            Self::Finished { run } => {
                format!(
                    "run `fathom show {run}` to show it, or `fathom fork {run} --at SEQ` to fork it"
                )
            }
            Self::NoSuchPlace { run, .. } => format!("list the records with `fathom show {run} -v`"),
            Self::Shredded { .. } => {
                "the content cannot be recovered; check the hash chain with `fathom verify`".into()
            }
            Self::Differs { run, .. } => {
                format!("check whether the journal was altered with `fathom verify {run}`")
            }
        }
    }
}
