//! Tools that are programs: an argv from the charter with placeholders, run by a confining runner.

use std::sync::Arc;
use std::time::Duration;

use fathom_core::effect::{DryRun, EffectClass, EffectPermit, EffectRequest};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::argument_schema::{ArgumentSchema, key_token};
use crate::error::ToolsError;
use crate::http::declaration::{timeout, wrong};
use crate::text_template::{TemplateValues, TextTemplate};
use crate::tool::{RetryHint, Tool, ToolFacts, ToolFuture, ToolOutcome};

/// Maximum number of characters of a program's output that are kept.
const OUTPUT_KEPT_CHARS: usize = 64 * 1024;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProgramToml {
    program: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    timeout_ms: Option<u64>,
}

/// A program, as a charter declares it.
#[derive(Clone, Debug)]
pub struct ProgramDeclaration {
    program: String,
    args: Vec<TextTemplate>,
    timeout: Duration,
}

impl ProgramDeclaration {
    pub(crate) fn read(tool: &str, table: toml::Table) -> Result<Self, ToolsError> {
        let written: ProgramToml = table
            .try_into()
            .map_err(|error: toml::de::Error| wrong(tool, error.message()))?;
        // A placeholder here would let a model choose the program.
        if written.program.is_empty() || written.program.contains(['{', '\0']) {
            return Err(wrong(tool, "has an invalid program name"));
        }
        Ok(Self {
            program: written.program,
            args: written
                .args
                .iter()
                .map(|arg| TextTemplate::parse(arg))
                .collect(),
            timeout: timeout(tool, written.timeout_ms)?,
        })
    }

    pub(crate) fn places(&self) -> Vec<&str> {
        self.args.iter().flat_map(TextTemplate::places).collect()
    }
}

/// A program to be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramCall {
    /// The program, as named by the charter.
    pub program: String,
    /// Its arguments, each passed as one, whatever it contains.
    pub args: Vec<String>,
    /// Time limit.
    pub timeout: Duration,
}

/// The end of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramExit {
    /// It exited.
    Ended {
        /// Its exit code.
        code: i32,
        /// Its output.
        output: String,
    },
    /// It never started.
    NotStarted { cause: String },
    /// It was stopped at a limit.
    Stopped { cause: String },
}

/// Runs programs in confinement.
pub trait ProgramRunner: Send + Sync {
    /// Runs a program to its end.
    fn run(&self, invocation: ProgramCall) -> ToolFuture<'_, ProgramExit>;
}

/// A tool that is a program.
pub struct ShellTool {
    facts: ToolFacts,
    arguments: ArgumentSchema,
    declaration: ProgramDeclaration,
    runner: Arc<dyn ProgramRunner>,
}

impl ShellTool {
    /// A tool from its declaration.
    pub fn new(
        facts: ToolFacts,
        declaration: ProgramDeclaration,
        runner: Arc<dyn ProgramRunner>,
    ) -> Result<Self, ToolsError> {
        Ok(Self {
            arguments: ArgumentSchema::new(&facts)?,
            facts,
            declaration,
            runner,
        })
    }

    fn invocation(&self, effect: &EffectRequest) -> Result<ProgramCall, ToolsError> {
        let arguments = self.arguments.read(&self.facts, effect)?;
        let key = key_token(effect);
        let filling = TemplateValues {
            arguments: &arguments,
            key: &key,
        };
        let mut args: Vec<String> = Vec::new();
        for template in &self.declaration.args {
            if let Some((name, words)) = list(template, &arguments) {
                // After `--` no argument is an option.
                let is_past_options = args.iter().any(|arg| arg == "--");
                args.extend(spread(name, words, is_past_options)?);
                continue;
            }
            let Some(arg) = template.fill(filling, str::to_owned)? else {
                continue;
            };
            // Only the charter may write options, so a filled placeholder must not become one.
            let is_place = template.places().next().is_some() && !template.begins_literally();
            if is_place && arg.starts_with('-') || arg.contains('\0') {
                return Err(ToolsError::Argument {
                    name: template.places().next().unwrap_or_default().to_owned(),
                    cause: "it would be read as an option",
                });
            }
            args.push(arg);
        }
        Ok(ProgramCall {
            program: self.declaration.program.clone(),
            args,
            timeout: self.declaration.timeout,
        })
    }
}

/// The list argument of a placeholder that is an argument of its own.
fn list<'a>(
    template: &'a TextTemplate,
    arguments: &'a Map<String, Value>,
) -> Option<(&'a str, &'a [Value])> {
    let name = template.alone()?;
    Some((name, arguments.get(name)?.as_array()?))
}

/// The words of a list, each as an argument of its own, whatever it contains.
fn spread(name: &str, words: &[Value], is_past_options: bool) -> Result<Vec<String>, ToolsError> {
    let wrong = |cause| ToolsError::Argument {
        name: name.to_owned(),
        cause,
    };
    let word = |word: &Value| {
        let word = word.as_str().ok_or_else(|| wrong("its words are texts"))?;
        if word.starts_with('-') && !is_past_options || word.contains('\0') {
            return Err(wrong("it would be read as an option"));
        }
        Ok(word.to_owned())
    };
    words.iter().map(word).collect()
}

impl Tool for ShellTool {
    fn facts(&self) -> &ToolFacts {
        &self.facts
    }

    fn rehearse<'a>(&'a self, effect: &'a EffectRequest) -> ToolFuture<'a, Option<DryRun>> {
        Box::pin(async move {
            Some(match self.invocation(effect) {
                Ok(ProgramCall { program, args, .. }) => DryRun {
                    ok: true,
                    report: json!({"program": program, "args": args}).to_string().into(),
                },
                Err(error) => DryRun {
                    ok: false,
                    report: error.to_string().into(),
                },
            })
        })
    }

    fn call<'a>(&'a self, permit: &'a EffectPermit) -> ToolFuture<'a, ToolOutcome> {
        Box::pin(async move {
            let invocation = match self.invocation(permit.effect()) {
                Ok(invocation) => invocation,
                Err(error) => return ToolOutcome::refused(&error),
            };
            match self.runner.run(invocation).await {
                ProgramExit::Ended { code, output } => {
                    let kept: String = output.chars().take(OUTPUT_KEPT_CHARS).collect();
                    let told = json!({"code": code, "bytes": output.len(), "output": kept});
                    match code {
                        0 => ToolOutcome::confirmed(told.to_string()),
                        _ => ToolOutcome::failed(told.to_string(), RetryHint::Never),
                    }
                }
                ProgramExit::NotStarted { cause } => ToolOutcome::failed(cause, RetryHint::NotSent),
                ProgramExit::Stopped { cause } => match self.facts.class {
                    EffectClass::Read => ToolOutcome::failed(cause, RetryHint::Never),
                    EffectClass::Effect => ToolOutcome::unknown(cause, RetryHint::Never),
                },
            }
        })
    }

    fn check<'a>(&'a self, _: &'a EffectRequest) -> ToolFuture<'a, ToolOutcome> {
        Box::pin(async {
            ToolOutcome::unknown("a program cannot be asked what it did", RetryHint::Never)
        })
    }
}

#[cfg(test)]
#[path = "program_tests.rs"]
mod tests;
