//! What was typed. What it means is settled in [`crate::settings`], once.

mod agency;
mod charter;
mod governance;
mod people;
mod redact;
mod show;
mod think;

use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use fathom_core::unit::Millis;
use fathom_host::story::Place;

pub(crate) use self::agency::Agency;
pub(crate) use self::charter::{CharterCommand, Learn};
pub(crate) use self::governance::{About, IdentityCommand, RfcCommand};
pub(crate) use self::people::{Kill, PeopleCommand};
pub(crate) use self::redact::Redact;
pub(crate) use self::show::Show;
pub(crate) use self::think::{SeedsCommand, Think};

const AFTER_HELP: &str = "\
Every global flag is also a variable (`--max-depth` is FATHOM_MAX_DEPTH) and, where it configures runs, a key of
fathom.toml in this folder or in the home; a flag beats a variable, a variable beats the file.

Exit codes: 0 ok, 2 bad usage or configuration, 3 needs review, 4 failed, 5 store or model out of reach,
130 interrupted (resumable), 1 a bug.";

/// Governed recursive inference: a question in, a bounded tree of model calls, an answer with its record out.
#[derive(Parser, Debug)]
#[command(name = "fathom", version, after_help = AFTER_HELP, disable_help_subcommand = true)]
pub(crate) struct Typed {
    #[command(flatten)]
    pub(crate) flags: Flags,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Reads a number that cannot be negative.
fn whole(text: &str) -> Result<u64, String> {
    let digits = text.replace('_', "");
    digits
        .parse()
        .map_err(|_| "it is not a whole number".to_owned())
}

/// Reads seconds, from a tenth of one to an hour.
fn seconds(text: &str) -> Result<Millis, String> {
    let seconds: f64 = text.parse().map_err(|_| "it is not a number".to_owned())?;
    if !(0.1..=3600.0).contains(&seconds) {
        return Err("it lies between 0.1 and 3600".to_owned());
    }
    let span = std::time::Duration::from_secs_f64(seconds);
    Ok(Millis(u64::try_from(span.as_millis()).unwrap_or(u64::MAX)))
}

/// Flags of every command.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Global flags")]
pub(crate) struct Flags {
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        help = "Data folder (journal, keys, charters) [default: $XDG_DATA_HOME/fathom]"
    )]
    pub(crate) home: Option<PathBuf>,
    /// A built-in charter, one of the home, or a folder [default: default; `council`, `rlm`, `signalzero` and `agency` for theirs]
    #[arg(long, global = true, value_name = "NAME|DIR")]
    pub(crate) charter: Option<String>,
    /// local/… (weights or a GGUF file), openai/…, anthropic/…, ollama/… or script/FILE [default: local/default]
    #[arg(long, global = true, value_name = "PROVIDER/NAME")]
    pub(crate) model: Option<String>,
    /// Model of children and leaf calls [default: that of `--model`]
    #[arg(long, global = true, value_name = "PROVIDER/NAME")]
    pub(crate) sub_model: Option<String>,
    /// Server of the model, as <http://127.0.0.1:8000/v1>
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// Variable that holds the API key; a key is never a flag
    #[arg(long, global = true, value_name = "VAR")]
    pub(crate) api_key_env: Option<String>,
    /// Header that carries the key when it is not Bearer
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) api_key_header: Option<String>,
    /// tokens, calls, tools, time (30s, 5m), cost (0.25), episodes
    #[arg(long, global = true, value_name = "k=v,…")]
    pub(crate) budget: Option<String>,
    /// Deepest episode below the root; 0 means no recursion
    #[arg(long, global = true, value_name = "N", value_parser = whole)]
    pub(crate) max_depth: Option<u64>,
    /// Most children of one episode
    #[arg(long, global = true, value_name = "N", value_parser = whole)]
    pub(crate) max_children: Option<u64>,
    /// Model calls of a run in flight at once
    #[arg(long, global = true, value_name = "N", value_parser = whole)]
    pub(crate) concurrency: Option<u64>,
    /// What runs the code of `rlm`: auto, cpython or monty [default: auto]
    #[arg(long, global = true, value_name = "WHICH")]
    pub(crate) interpreter: Option<String>,
    /// One JSON object on stdout
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Nothing on stderr but errors
    #[arg(long, global = true)]
    pub(crate) quiet: bool,
    /// More on stderr: records as they come
    #[arg(short = 'v', long, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Configuration file [default: ./fathom.toml, else fathom.toml in the home]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Leave other unfinished runs alone
    #[arg(long, global = true)]
    pub(crate) no_resume: bool,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Get one answer
    Ask(Ask),
    /// Have a council of chiefs and sub-chiefs decide a yes-or-no question
    Council(Council),
    /// Answer a question about material of any size, with code in a sandbox
    Rlm(Rlm),
    /// Use the sandbox by hand: cells from stdin, with a line `---` between them
    Repl(Repl),
    /// Plan, refine, act under an observer, and verify
    Think(Think),
    /// Thought seeds: ideas that were kept for later
    #[command(subcommand)]
    Seeds(SeedsCommand),
    /// Think a question through in phases, with symbols that are kept; without a question, a conversation
    Phases(Phases),
    /// Have seven roles plan, make, publish and answer for a brand; nothing goes out without a yes
    Agency(Agency),
    /// Symbols: look them up, search, follow links, change, import and export them
    #[command(subcommand)]
    Symbols(SymbolsCommand),
    /// List the kits, or show one with its symbols
    Kits {
        /// The kit
        #[arg(value_name = "ID")]
        id: Option<String>,
    },
    /// List the agents that a phase may look as, or show one with its symbols
    Agents {
        /// The agent
        #[arg(value_name = "ID")]
        id: Option<String>,
    },
    /// Sessions: what was said, a new key, an export
    #[command(subcommand)]
    Session(SessionCommand),
    /// List the runs, newest first
    Runs {
        /// How many
        #[arg(long, value_name = "N", default_value_t = 20)]
        limit: u32,
    },
    /// Show a run's tree, budget and answer; with -v its records too; with --domain what was written down
    Show(Show),
    /// Fold a run's journal again and compare, without any model call
    Replay(RunName),
    /// Begin a new run that goes on from a record of another
    Fork {
        #[command(flatten)]
        run: RunName,
        /// The last record to take over, given as SEQ or EPISODE:SEQ
        #[arg(long, value_name = "[EPISODE:]SEQ")]
        at: Place,
    },
    /// Go on with one unfinished run, or with all of them
    Resume {
        /// The run's id, or enough of its beginning
        #[arg(value_name = "RUN")]
        run: Option<String>,
    },
    /// Stop a run; its partial result is kept
    Cancel(RunName),
    #[command(flatten)]
    People(PeopleCommand),
    /// Check chains, signed heads and contents of one run or of all
    Verify {
        /// The run's id, or enough of its beginning
        #[arg(value_name = "RUN")]
        run: Option<String>,
    },
    /// Figures over the runs of the last days
    Stats {
        /// How many days
        #[arg(long, value_name = "N", default_value_t = 30)]
        days: u32,
    },
    /// Models: what is configured, prices, and weights for the embedded model
    #[command(subcommand)]
    Models(ModelsCommand),
    /// Charters: check one, show one, begin a new one
    #[command(subcommand)]
    Charter(CharterCommand),
    /// Take personal data, secrets and what the rules name out of a text
    Redact(Redact),
    /// Check home, journal, keys and models
    Doctor,
    /// Destroy the key of a run's content; its chain can still be verified
    Shred {
        #[command(flatten)]
        run: RunName,
        /// Really: the content cannot be had again
        #[arg(long)]
        yes: bool,
    },
}

impl Command {
    /// The charter of a run for which none is named.
    pub(crate) const fn usual_charter(&self) -> &'static str {
        match self {
            Self::Council(_) => crate::commands::council::CHARTER,
            Self::Rlm(_) => crate::commands::rlm::CHARTER,
            Self::Think(_) => crate::commands::think::CHARTER,
            Self::Agency(_) => crate::commands::agency::CHARTER,
            Self::Phases(_) | Self::Symbols(_) | Self::Kits { .. } | Self::Agents { .. } => {
                crate::commands::phases::CHARTER
            }
            _ => fathom_host::charter::DEFAULT,
        }
    }
}

#[derive(Args, Debug)]
pub(crate) struct Ask {
    /// The question; `-` or nothing reads it from stdin
    #[arg(value_name = "QUESTION")]
    pub(crate) question: Option<String>,
    /// Files or folders that go into the prompt; `-` is stdin
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub(crate) context: Vec<PathBuf>,
    /// What a good answer must meet; a second episode judges it
    #[arg(long, value_name = "RUBRIC|@FILE")]
    pub(crate) review: Option<String>,
    /// Standing instructions for the model
    #[arg(long, value_name = "TEXT")]
    pub(crate) system: Option<String>,
    /// Most tokens of one reply; a longer answer is continued
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_output: Option<u32>,
    /// Take the reply in one piece
    #[arg(long)]
    pub(crate) no_stream: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Council {
    /// What to decide; `-` or nothing reads it from stdin
    #[arg(value_name = "QUESTION")]
    pub(crate) question: Option<String>,
    /// Files or folders from which each seat gets the passages that concern it; `-` is stdin
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub(crate) context: Vec<PathBuf>,
    /// Have every chief that asks its sub-chiefs vote by itself too, for comparison
    #[arg(long)]
    pub(crate) compare: bool,
    /// Ask the model even where an earlier answer could be used again
    #[arg(long)]
    pub(crate) no_reuse: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Rlm {
    /// The question; `-` or nothing reads it from stdin
    #[arg(value_name = "QUESTION")]
    pub(crate) question: Option<String>,
    /// Files or folders to work on, also compressed (.gz, .zst); `-` is stdin
    #[arg(long, value_name = "PATH", num_args = 1.., required = true)]
    pub(crate) context: Vec<PathBuf>,
    /// JSON schema that the answer must meet
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: Option<PathBuf>,
    /// Use the sandbox even where the material fits into the model's window
    #[arg(long)]
    pub(crate) repl: bool,
    /// Ready-made cells: the model chooses one, is offered them, or has none [default: chosen for local models, else offered]
    #[arg(long, value_enum, value_name = "WHICH")]
    pub(crate) recipes: Option<RecipeChoice>,
    /// Most turns of the model
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) turns: Option<u32>,
    /// Longest time that one cell may compute, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) cell_time: Option<Millis>,
    /// Answer leaf calls with what earlier runs were told, where the prompt is the same
    #[arg(long)]
    pub(crate) reuse: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Phases {
    /// The question; `-` reads it from stdin, nothing begins a conversation where there is a terminal
    #[arg(value_name = "QUESTION")]
    pub(crate) question: Option<String>,
    /// The session that it belongs to: later questions in it see this one [default: none is kept; `chat` in a conversation]
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
}

#[derive(Subcommand, Debug)]
pub(crate) enum SymbolsCommand {
    /// Show symbols
    Get {
        /// Their ids
        #[arg(value_name = "ID", required = true)]
        ids: Vec<String>,
    },
    /// Keep a symbol that a JSON file or stdin describes; one of its id gets a new version
    Put {
        /// The file, or `-`
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Take a symbol away; its versions stay in the record
    Delete {
        /// Its id
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Search for symbols
    Search {
        /// What they are about
        #[arg(value_name = "TEXT")]
        text: String,
        /// By meaning, by words, or by both
        #[arg(long, value_enum, value_name = "WHICH", default_value = "both")]
        by: SearchWay,
        /// How many
        #[arg(long, value_name = "N", default_value_t = 10)]
        limit: u16,
    },
    /// Symbols that others lead to
    Links {
        /// Where to begin
        #[arg(value_name = "ID", required = true)]
        ids: Vec<String>,
        /// Over so many links
        #[arg(long, value_name = "N", default_value_t = 1)]
        depth: u8,
        /// How many
        #[arg(long, value_name = "N", default_value_t = 100)]
        limit: u16,
    },
    /// All versions of a symbol
    Versions {
        /// Its id
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Take in catalogues: symbols, kits and agents as JSON
    Import {
        /// The files
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
        /// What a list without a name holds
        #[arg(
            long = "as",
            value_enum,
            value_name = "WHAT",
            default_value = "symbols"
        )]
        list: ListChoice,
    },
    /// Write everything down as a catalogue
    Export {
        /// Where to [default: stdout]
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
    },
}

/// What a list of a catalogue holds.
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
pub(crate) enum SearchWay {
    /// Meaning and words
    Both,
    /// Meaning alone
    Meaning,
    /// Words alone
    Words,
}

#[derive(Subcommand, Debug)]
pub(crate) enum SessionCommand {
    /// What was said in it
    Show {
        /// The session
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Seal it anew under a new key, and destroy the old one
    Rotate {
        /// The session
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Write it down for others, encrypted with age
    Export {
        /// The session
        #[arg(value_name = "ID")]
        id: String,
        /// Who may read it: an age recipient, as `age1…`
        #[arg(long, value_name = "RECIPIENT", required = true, num_args = 1..)]
        to: Vec<String>,
        /// Where to
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
}

/// What a model has of ready-made cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RecipeChoice {
    /// It only chooses one and fills it in
    Chosen,
    /// It may use them in its own code
    Offered,
    /// It has none
    Off,
}

#[derive(Args, Debug)]
pub(crate) struct Repl {
    /// Files or folders that the cells find as `context`
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub(crate) context: Vec<PathBuf>,
    /// Longest time that one cell may compute, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) cell_time: Option<Millis>,
}

#[derive(Args, Debug)]
pub(crate) struct RunName {
    /// The run's id, or enough of its beginning
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
}

#[derive(Subcommand, Debug)]
pub(crate) enum ModelsCommand {
    /// List what is configured, known models with windows and prices, and weights
    List,
    /// Fetch weights: `default`, `small`, `smoke`, `embeddings`, or a name that `models list` shows
    Pull {
        /// What to fetch
        #[arg(value_name = "NAME", required = true)]
        names: Vec<String>,
    },
}
