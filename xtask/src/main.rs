//! Developer tasks of the workspace: `cargo xtask <task>`.
#![expect(
    clippy::print_stderr,
    reason = "a developer's tool talks to the terminal"
)]

mod api;
mod config_keys;
mod conformance;
mod figures;
mod finding;
mod fuzz;
mod generated;
mod pattern;
mod ratchet;
mod rust_source;
mod sources;
mod tidy;
mod tree;
mod type_names;

use std::io::{self, Write as _};
use std::process::ExitCode;

use finding::Finding;

/// One subcommand. A new task is a module and a row in [`TASKS`].
struct Task {
    name: &'static str,
    usage: &'static str,
    about: &'static str,
    run: fn(&[String]) -> anyhow::Result<Report>,
}

const TASKS: &[Task] = &[
    Task {
        name: "tidy",
        usage: "tidy [--show [CHECK [KEY]] | --write-ratchets [--loosen]]",
        about: "check the rules that the compiler does not know",
        run: tidy::run,
    },
    Task {
        name: "figures",
        usage: "figures [-v | --check | --write-ceilings [--loosen]]",
        about: "count names, comments, lines and crates, and hold them to their limits",
        run: figures::run,
    },
    Task {
        name: "conformance",
        usage: "conformance [--check]",
        about: "write docs/conformance.md from the tests, or check that it is current",
        run: conformance::run,
    },
    Task {
        name: "config-keys",
        usage: "config-keys",
        about: "write docs/dev/config-keys.md: configuration keys and the journeys that show each",
        run: config_keys::run,
    },
    Task {
        name: "api",
        usage: "api [--check]",
        about: "write crates/fathom/api.txt, the library's public items, or check that it is current",
        run: api::run,
    },
    Task {
        name: "fuzz",
        usage: "fuzz [--seconds N] [TARGET…]",
        about: "run the fuzz targets, each over its corpus and then for N seconds (15)",
        run: fuzz::run,
    },
];

/// What a task has to say: findings make it fail, the summary closes it.
pub(crate) struct Report {
    findings: Vec<Finding>,
    summary: String,
}

impl Report {
    /// A report without findings.
    pub(crate) fn of(summary: String) -> Self {
        Self {
            findings: Vec::new(),
            summary,
        }
    }
}

/// Findings were printed.
const EXIT_FINDINGS: u8 = 1;
/// The task could not be run as asked.
const EXIT_USAGE: u8 = 2;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, rest)) = arguments.split_first() else {
        print_usage();
        return ExitCode::from(EXIT_USAGE);
    };
    let Some(task) = TASKS.iter().find(|task| task.name == name) else {
        eprintln!("error: no task is called `{name}`");
        print_usage();
        return ExitCode::from(EXIT_USAGE);
    };
    match (task.run)(rest) {
        Ok(report) => print_report(&report),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(EXIT_USAGE)
        }
    }
}

fn print_report(report: &Report) -> ExitCode {
    let lines = report.findings.iter().map(ToString::to_string);
    for line in lines.chain([report.summary.clone()]) {
        if print_line(&line).is_err() {
            // The reader has seen enough, as `head` has.
            break;
        }
    }
    if report.findings.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(EXIT_FINDINGS)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a developer's tool talks to the terminal, and `println!` panics once nobody reads on"
)]
fn print_line(line: &str) -> io::Result<()> {
    writeln!(io::stdout(), "{line}")
}

fn print_usage() {
    eprintln!("usage: cargo xtask <task>\n");
    for task in TASKS {
        eprintln!("  {}\n      {}", task.usage, task.about);
    }
}
