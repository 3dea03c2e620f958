//! Command line as typed. [`crate::settings`] resolves its meaning, once.

mod agency;
mod charter;
mod governance;
mod help;
mod people;
mod redact;
mod show;
mod think;
pub(crate) mod usage_error;
mod value_error;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgAction, Args, FromArgMatches as _, Parser, Subcommand, ValueEnum};
use fathom_core::unit::Millis;
use fathom_host::view::run::RecordRef;

use self::value_error::ArgumentValueError;

pub(crate) use self::agency::AgencyArgs;
pub(crate) use self::charter::{CharterCommand, LearnArgs};
pub(crate) use self::governance::{IdentityCommand, ProposalArgs, RfcCommand};
pub(crate) use self::help::command;
pub(crate) use self::people::{KillArgs, PeopleCommand};
pub(crate) use self::redact::RedactArgs;
pub(crate) use self::show::ShowArgs;
pub(crate) use self::think::{SeedsCommand, ThinkArgs};

const AFTER_HELP: &str = "\
Each global flag can also be set as an environment variable (`--max-depth` is
FATHOM_MAX_DEPTH), and those that configure runs as a key of fathom.toml in the
current folder or the data folder. Flags override variables, variables the file.

Exit codes: 0 ok, 1 bug, 2 bad usage or configuration, 3 needs review, 4 failed,
5 store or model unreachable, 130 interrupted (resumable).";

/// Run language models within limits you set, with a verifiable record of every step.
#[derive(Parser, Debug)]
#[command(name = "fathom", version, after_help = AFTER_HELP, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) flags: GlobalFlags,
    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

/// Reads the arguments of the process, the name of the program first.
pub(crate) fn parse(
    arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>,
) -> Result<Cli, clap::Error> {
    let mut command = command();
    let mut matches = command.try_get_matches_from_mut(arguments)?;
    Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
}

/// Reads a number that cannot be negative.
fn whole(text: &str) -> Result<u64, ArgumentValueError> {
    let digits = text.replace('_', "");
    digits.parse().map_err(|_| ArgumentValueError::NotWhole)
}

/// Reads seconds, from a tenth of one to an hour.
fn seconds(text: &str) -> Result<Millis, ArgumentValueError> {
    let seconds: f64 = text.parse().map_err(|_| ArgumentValueError::NotANumber)?;
    if !(0.1..=3600.0).contains(&seconds) {
        return Err(ArgumentValueError::SecondsOutOfRange);
    }
    let span = std::time::Duration::from_secs_f64(seconds);
    Ok(Millis(u64::try_from(span.as_millis()).unwrap_or(u64::MAX)))
}

/// Flags of every command.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Global flags")]
pub(crate) struct GlobalFlags {
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        help = "Data folder (journal, keys, charters) [default: $XDG_DATA_HOME/fathom]"
    )]
    pub(crate) home: Option<PathBuf>,
    /// Charter to run under: a built-in one, one in the data folder, or a path [default: the command's own]
    #[arg(long, global = true, value_name = "NAME|DIR")]
    pub(crate) charter: Option<String>,
    /// Model: local/…, openai/…, anthropic/…, ollama/… or script/FILE [default: local/default]
    #[arg(long, global = true, value_name = "PROVIDER/NAME")]
    pub(crate) model: Option<String>,
    /// Model for sub-questions [default: the charter's, else the one of `--model`]
    #[arg(long, global = true, value_name = "PROVIDER/NAME")]
    pub(crate) sub_model: Option<String>,
    /// Base URL of the model's server, such as `http://127.0.0.1:8000/v1`
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// Environment variable that holds the API key
    #[arg(long, global = true, value_name = "VAR")]
    pub(crate) api_key_env: Option<String>,
    /// Header for the API key, if not `Authorization: Bearer`
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) api_key_header: Option<String>,
    /// Limits of the run: tokens, calls, tools, time (30s, 5m), cost (0.25 dollars), episodes
    #[arg(long, global = true, value_name = "k=v,…")]
    pub(crate) budget: Option<String>,
    /// Maximum recursion depth; 0 disables recursion
    #[arg(long, global = true, value_name = "N", value_parser = whole)]
    pub(crate) max_depth: Option<u64>,
    /// Maximum children per episode
    #[arg(long, global = true, value_name = "N", value_parser = whole)]
    pub(crate) max_children: Option<u64>,
    /// Maximum concurrent model calls per run
    #[arg(long, global = true, value_name = "N", value_parser = whole)]
    pub(crate) concurrency: Option<u64>,
    /// Python interpreter for the code of `rlm`: auto, cpython or monty [default: auto]
    #[arg(long, global = true, value_name = "WHICH")]
    pub(crate) interpreter: Option<String>,
    /// Print one JSON object to stdout
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print only errors to stderr
    #[arg(long, global = true)]
    pub(crate) quiet: bool,
    /// Print journal records to stderr as they are written
    #[arg(short = 'v', long, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Configuration file [default: ./fathom.toml, else fathom.toml in the data folder]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Do not resume other unfinished runs in the background
    #[arg(long, global = true)]
    pub(crate) no_resume: bool,
}

#[derive(Subcommand, Debug)]
pub(crate) enum CliCommand {
    /// Ask a question and get one answer
    Ask(AskArgs),
    /// Decide a yes/no question by weighted votes of chiefs and sub-chiefs
    Council(CouncilArgs),
    /// Answer a question about large files by running code in a sandbox
    Rlm(RlmArgs),
    /// Run sandbox cells from stdin, separated by `---` lines
    Repl(ReplArgs),
    /// Plan, refine, act with an observer watching, and verify
    Think(ThinkArgs),
    /// Manage thought seeds (ideas saved for later)
    #[command(subcommand)]
    Seeds(SeedsCommand),
    /// Think a question through in phases using stored symbols, or chat
    Phases(PhasesArgs),
    /// Plan, create, publish and reply on behalf of a brand
    #[command(after_help = "Nothing is sent without a person's approval.")]
    Agency(AgencyArgs),
    /// Look up, search, edit, import and export symbols
    #[command(subcommand)]
    Symbols(SymbolsCommand),
    /// List the kits of symbols, or show one with its symbols
    Kits {
        /// Kit to show
        #[arg(value_name = "ID")]
        id: Option<String>,
    },
    /// List the personas available to phases, or show one with its symbols
    Personas {
        /// Persona to show
        #[arg(value_name = "ID")]
        id: Option<String>,
    },
    /// Show, re-key or export a session
    #[command(subcommand)]
    Session(SessionCommand),
    /// List runs, newest first
    Runs {
        /// Maximum number of runs
        #[arg(long, value_name = "N", default_value_t = 20)]
        limit: u32,
    },
    /// Show a run's tree, budget and answer, or the records of a domain
    #[command(after_help = "With -v the run's journal records are listed too.")]
    Show(ShowArgs),
    /// Replay a run's journal and report differences, without model calls
    Replay(RunArg),
    /// Start a new run from a record of another
    Fork {
        #[command(flatten)]
        run: RunArg,
        /// Last record to keep, as SEQ or EPISODE:SEQ
        #[arg(long, value_name = "[EPISODE:]SEQ")]
        at: RecordRef,
    },
    /// Resume an unfinished run, or all of them
    Resume {
        /// Run ID or a unique prefix
        #[arg(value_name = "RUN")]
        run: Option<String>,
    },
    /// Stop a run and keep its partial result
    Cancel(RunArg),
    #[command(flatten)]
    People(PeopleCommand),
    /// Check the hash chains, signatures and contents of one run or of all
    Verify {
        /// Run ID or a unique prefix
        #[arg(value_name = "RUN")]
        run: Option<String>,
    },
    /// Show statistics for recent runs
    Stats {
        /// Number of days to cover
        #[arg(long, value_name = "N", default_value_t = 30)]
        days: u32,
    },
    /// List configured models and prices; download weights
    #[command(subcommand)]
    Models(ModelsCommand),
    /// Check, show, compare and create charters
    #[command(subcommand)]
    Charter(CharterCommand),
    /// Redact personal data, secrets and custom terms from text
    Redact(RedactArgs),
    /// Check the data folder, journal, keys and models
    Doctor,
    /// Destroy a run's encryption key; its hash chain stays verifiable
    Shred {
        #[command(flatten)]
        run: RunArg,
        /// Confirm: the content cannot be recovered
        #[arg(long)]
        yes: bool,
    },
}

impl CliCommand {
    /// The charter of a run for which none is named.
    pub(crate) const fn usual_charter(&self) -> &'static str {
        match self {
            Self::Council(_) => crate::commands::council::CHARTER,
            Self::Rlm(_) => crate::commands::rlm::CHARTER,
            Self::Think(_) => crate::commands::think::CHARTER,
            Self::Agency(_) => crate::commands::agency::CHARTER,
            Self::Phases(_) | Self::Symbols(_) | Self::Kits { .. } | Self::Personas { .. } => {
                crate::commands::phases::CHARTER
            }
            _ => fathom_host::charter::DEFAULT,
        }
    }
}

#[derive(Args, Debug)]
pub(crate) struct AskArgs {
    /// The question; `-` or no argument reads it from stdin
    #[arg(value_name = "QUESTION")]
    pub(crate) question: Option<String>,
    /// Files or folders to include in the prompt; `-` reads stdin
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub(crate) context: Vec<PathBuf>,
    /// Criteria for the answer; a second episode reviews it
    #[arg(long, value_name = "RUBRIC|@FILE")]
    pub(crate) review: Option<String>,
    /// System instructions for the model
    #[arg(long, value_name = "TEXT")]
    pub(crate) system: Option<String>,
    /// Maximum tokens per reply; longer answers are continued
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_output: Option<u32>,
    /// Do not stream the reply
    #[arg(long)]
    pub(crate) no_stream: bool,
}

#[derive(Args, Debug)]
pub(crate) struct CouncilArgs {
    /// The question to decide; `-` or no argument reads it from stdin
    #[arg(value_name = "QUESTION")]
    pub(crate) question: Option<String>,
    /// Files or folders to search; each seat gets the passages relevant to it; `-` reads stdin
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub(crate) context: Vec<PathBuf>,
    /// Also record each chief's vote without its sub-chiefs, for comparison
    #[arg(long)]
    pub(crate) compare: bool,
    /// Always call the model, even when an earlier answer could be reused
    #[arg(long)]
    pub(crate) no_reuse: bool,
}

#[derive(Args, Debug)]
pub(crate) struct RlmArgs {
    /// The question; `-` or no argument reads it from stdin
    #[arg(value_name = "QUESTION")]
    pub(crate) question: Option<String>,
    /// Files or folders to work on, plain or compressed (.gz, .zst); `-` reads stdin
    #[arg(long, value_name = "PATH", num_args = 1.., required = true)]
    pub(crate) context: Vec<PathBuf>,
    /// JSON schema the answer must match
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: Option<PathBuf>,
    /// Use the sandbox even if the material fits in the context window
    #[arg(long)]
    pub(crate) repl: bool,
    /// How the model may use the built-in recipes [default: chosen for local models, offered otherwise]
    #[arg(long, value_enum, value_name = "WHICH")]
    pub(crate) recipes: Option<RecipeChoice>,
    /// Maximum turns of the model
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) turns: Option<u32>,
    /// Time limit per cell in seconds, not counting time spent waiting for models
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) cell_time: Option<Millis>,
    /// Reuse replies from earlier runs for identical leaf prompts
    #[arg(long)]
    pub(crate) reuse: bool,
}

#[derive(Args, Debug)]
pub(crate) struct PhasesArgs {
    /// The question; `-` reads it from stdin, no argument starts a chat on a terminal
    #[arg(value_name = "QUESTION")]
    pub(crate) question: Option<String>,
    /// Session to continue; later questions see this one [default: none; `chat` in a conversation]
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
}

#[derive(Subcommand, Debug)]
pub(crate) enum SymbolsCommand {
    /// Show symbols by ID
    Get {
        /// Symbol IDs
        #[arg(value_name = "ID", required = true)]
        ids: Vec<String>,
    },
    /// Create or update a symbol from a JSON file or stdin
    Put {
        /// JSON file; `-` reads stdin
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Delete a symbol; its past versions are kept
    Delete {
        /// Symbol ID
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Search for symbols
    Search {
        /// Text to search for
        #[arg(value_name = "TEXT")]
        text: String,
        /// Search by meaning, by words, or both
        #[arg(long, value_enum, value_name = "WHICH", default_value = "both")]
        by: SearchChoice,
        /// Maximum number of results
        #[arg(long, value_name = "N", default_value_t = 10)]
        limit: u16,
    },
    /// List symbols linked from the given ones
    Links {
        /// Symbol IDs to start from
        #[arg(value_name = "ID", required = true)]
        ids: Vec<String>,
        /// Maximum number of links to follow
        #[arg(long, value_name = "N", default_value_t = 1)]
        depth: u8,
        /// Maximum number of symbols
        #[arg(long, value_name = "N", default_value_t = 100)]
        limit: u16,
    },
    /// List all versions of a symbol
    Versions {
        /// Symbol ID
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Import catalogues of symbols, kits and agents from JSON
    Import {
        /// Catalogue files
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
        /// What a bare JSON list contains
        #[arg(
            long = "as",
            value_enum,
            value_name = "WHAT",
            default_value = "symbols"
        )]
        list: ListChoice,
    },
    /// Export all symbols, kits and agents as one catalogue
    Export {
        /// Output file [default: stdout]
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
    },
}

/// Contents of a list of a catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListChoice {
    /// Symbols
    Symbols,
    /// Kits
    Kits,
    /// Agents
    Agents,
}

/// By what symbols are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SearchChoice {
    /// Meaning and words
    Both,
    /// Meaning only
    Meaning,
    /// Words only
    Words,
}

#[derive(Subcommand, Debug)]
pub(crate) enum SessionCommand {
    /// Show the session's entries
    Show {
        /// Session name
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Re-encrypt a session under a new key and destroy the old one
    Rotate {
        /// Session name
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Export a session, encrypted with age
    Export {
        /// Session name
        #[arg(value_name = "ID")]
        id: String,
        /// Recipient, such as `age1…`
        #[arg(long, value_name = "RECIPIENT", required = true, num_args = 1..)]
        to: Vec<String>,
        /// Output file
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
}

/// Use of ready-made cells by a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RecipeChoice {
    /// The model only picks a recipe and fills it in
    Chosen,
    /// The model may call recipes from its own code
    Offered,
    /// No recipes
    Off,
}

#[derive(Args, Debug)]
pub(crate) struct ReplArgs {
    /// Files or folders exposed to cells as `context`
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub(crate) context: Vec<PathBuf>,
    /// Time limit per cell in seconds, not counting time spent waiting for models
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) cell_time: Option<Millis>,
}

#[derive(Args, Debug)]
pub(crate) struct RunArg {
    /// Run ID or a unique prefix
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
}

#[derive(Subcommand, Debug)]
pub(crate) enum ModelsCommand {
    /// List configured models, known models with windows and prices, and weights
    List,
    /// Download weights for the embedded models
    Pull {
        /// `default`, `small`, `smoke`, `embeddings`, or a name shown by `models list`
        #[arg(value_name = "NAME", required = true)]
        names: Vec<String>,
    },
}
