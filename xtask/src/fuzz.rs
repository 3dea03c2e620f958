//! Builds and runs the fuzz targets: libFuzzer, guided by coverage, with the toolchain that builds the rest.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use serde_json::Value;

use crate::Report;
use crate::finding::Finding;
use crate::tree::{self, Tree};

const SECONDS_DEFAULT: u32 = 15;
/// Longest input that is made up. Replies are short; what length does is the business of the tests.
const INPUT_BYTES_MAX: u32 = 4_096;
/// Time after which one input is taken for an endless loop.
const INPUT_SECONDS_MAX: u32 = 10;
const MEMORY_MEBIBYTES_MAX: u32 = 2_048;

/// Counters at every edge and traces of every comparison, which need no unstable option of the compiler.
const COMPILER_FLAGS: [&str; 7] = [
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Clink-dead-code",
];

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
struct Plan {
    seconds: u32,
    /// Some targets, or all when none is named.
    names: Vec<String>,
}

pub(crate) fn run(arguments: &[String]) -> anyhow::Result<Report> {
    let plan = parse(arguments)?;
    let top = tree::top_folder()?;
    let names = chosen(&plan, &targets(&Tree::read(&top)?))?;
    let workshop = Workshop::set_up(&top)?;
    workshop.build()?;
    let mut findings = Vec::new();
    let mut lines = Vec::new();
    for name in names {
        match workshop.fuzz(&name, plan.seconds)? {
            Outcome::Clean { figures } => lines.push(format!("fuzz: {name}: {figures}")),
            Outcome::Crash { report } => {
                let message = format!(
                    "an input breaks it; it is in {}\n{report}",
                    workshop.artifacts(&name).display()
                );
                findings.push(Finding::whole(&source(&name), message));
            }
        }
    }
    let summary = lines.join("\n");
    Ok(Report { findings, summary })
}

fn parse(arguments: &[String]) -> anyhow::Result<Plan> {
    let mut plan = Plan {
        seconds: SECONDS_DEFAULT,
        names: Vec::new(),
    };
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--seconds" => {
                let seconds = arguments.next().context("`--seconds` needs a number")?;
                plan.seconds = seconds
                    .parse()
                    .with_context(|| format!("`{seconds}` is no number of seconds"))?;
            }
            option if option.starts_with('-') => {
                bail!("`fuzz` takes `--seconds N` and names of targets, not `{option}`")
            }
            name => plan.names.push(name.to_owned()),
        }
    }
    Ok(plan)
}

/// The targets that there are.
fn targets(tree: &Tree) -> Vec<String> {
    tree.rust_texts()
        .filter(|(path, _)| tree::folder(path) == "fuzz/src/bin")
        .map(|(path, _)| tree::file_name(path).trim_end_matches(".rs").to_owned())
        .collect()
}

/// The targets that the plan means.
fn chosen(plan: &Plan, targets: &[String]) -> anyhow::Result<Vec<String>> {
    if plan.names.is_empty() {
        return Ok(targets.to_vec());
    }
    if let Some(unknown) = plan.names.iter().find(|name| !targets.contains(name)) {
        bail!(
            "no fuzz target is called `{unknown}`; there are: {}",
            targets.join(", ")
        );
    }
    Ok(plan.names.clone())
}

fn source(name: &str) -> String {
    format!("fuzz/src/bin/{name}.rs")
}

enum Outcome {
    Clean { figures: String },
    Crash { report: String },
}

/// Where targets are built, and where they keep what they find.
struct Workshop {
    crate_folder: PathBuf,
    /// In the ignored target folder: nothing that a run leaves behind is committed by accident.
    folder: PathBuf,
    /// Flags reach the targets only, and no build script, when the compiler's target is named.
    triple: String,
}

impl Workshop {
    fn set_up(top: &Path) -> anyhow::Result<Self> {
        let metadata = ["metadata", "--format-version", "1", "--no-deps"];
        let metadata: Value = serde_json::from_str(&tree::output_of(top, "cargo", &metadata)?)?;
        let target_folder = metadata.get("target_directory").and_then(Value::as_str);
        let version = tree::output_of(top, "rustc", &["-vV"])?;
        let triple = version.lines().find_map(|line| line.strip_prefix("host: "));
        Ok(Self {
            crate_folder: top.join("fuzz"),
            folder: Path::new(target_folder.context("cargo names no target folder")?).join("fuzz"),
            triple: triple.context("rustc names no host")?.to_owned(),
        })
    }

    fn artifacts(&self, name: &str) -> PathBuf {
        self.folder.join("artifacts").join(name)
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the developer's tool builds with cargo; nothing of the product runs here"
    )]
    fn build(&self) -> anyhow::Result<()> {
        let status = Command::new("cargo")
            .args(["build", "--quiet", "--locked", "--release", "--bins"])
            .args(["--target", &self.triple])
            .arg("--target-dir")
            .arg(&self.folder)
            .current_dir(&self.crate_folder)
            .env("CARGO_ENCODED_RUSTFLAGS", COMPILER_FLAGS.join("\u{1f}"))
            .status()
            .context("cannot start `cargo`")?;
        if !status.success() {
            bail!(
                "the fuzz targets do not build; where their lock file is behind, \
                 `cargo update --workspace --manifest-path fuzz/Cargo.toml` brings it along"
            );
        }
        Ok(())
    }

    /// Runs the inputs that are kept, then makes up others for a time.
    #[expect(
        clippy::disallowed_methods,
        reason = "the developer's tool starts what it has just built; nothing of the product runs here"
    )]
    fn fuzz(&self, name: &str, seconds: u32) -> anyhow::Result<Outcome> {
        let found = self.folder.join("corpus").join(name);
        let kept = self.crate_folder.join("corpus").join(name);
        let dictionary = self
            .crate_folder
            .join("dictionaries")
            .join(format!("{name}.dict"));
        let artifacts = self.artifacts(name);
        for folder in [&found, &artifacts] {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot make `{}`", folder.display()))?;
        }
        let program = self.folder.join(&self.triple).join("release").join(name);
        let mut command = Command::new(&program);
        // libFuzzer takes 0 seconds for no end.
        command.arg(match seconds {
            0 => "-runs=0".to_owned(),
            seconds => format!("-max_total_time={seconds}"),
        });
        command
            .arg(format!("-max_len={INPUT_BYTES_MAX}"))
            .arg(format!("-timeout={INPUT_SECONDS_MAX}"))
            .arg(format!("-rss_limit_mb={MEMORY_MEBIBYTES_MAX}"))
            .arg(format!("-artifact_prefix={}/", artifacts.display()));
        if dictionary.exists() {
            command.arg(format!("-dict={}", dictionary.display()));
        }
        // The panic's message is enough: the input is kept and can be run again.
        command.env("RUST_BACKTRACE", "0");
        // What is new is written to the first folder.
        command.arg(found);
        if kept.exists() {
            command.arg(kept);
        }
        let output = command
            .output()
            .with_context(|| format!("cannot start `{}`", program.display()))?;
        let report = String::from_utf8_lossy(&output.stderr);
        Ok(match figures(&report) {
            Some(figures) if output.status.success() => Outcome::Clean { figures },
            _ => Outcome::Crash {
                report: tail(&report),
            },
        })
    }
}

/// The line with which libFuzzer closes.
fn figures(report: &str) -> Option<String> {
    let closing = report.lines().rev().find(|line| line.contains("DONE "))?;
    let words: Vec<&str> = closing.split_whitespace().collect();
    Some(words.join(" "))
}

/// The end of a report, which names the cause.
fn tail(report: &str) -> String {
    let is_progress = |line: &&str| line.starts_with('#') && line.contains(" cov: ");
    let lines: Vec<&str> = report.lines().filter(|line| !is_progress(line)).collect();
    let start = lines.len().saturating_sub(40);
    lines.get(start..).unwrap_or_default().join("\n")
}

#[cfg(test)]
#[path = "fuzz_tests.rs"]
mod tests;
