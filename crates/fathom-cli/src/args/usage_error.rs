//! Mistakes in the arguments, said in the same form as every other error.

use std::num::{IntErrorKind, ParseIntError};

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::args;
use crate::error::CliError;

/// Error of clap, or the help that was requested.
pub(crate) enum UsageError {
    /// Text that was asked for: it goes to stdout, and all is well.
    Help(String),
    /// The help because nothing was asked: it goes to stderr, and that is a mistake.
    Nothing(String),
    /// A mistake.
    Mistake(CliError),
}

/// Reads clap's error.
pub(crate) fn read(error: &clap::Error) -> UsageError {
    let text = |kind| context(error, kind);
    let value = || text(ContextKind::InvalidValue).unwrap_or_default();
    let argument = || argument(error);
    UsageError::Mistake(match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            return UsageError::Help(error.render().ansi().to_string());
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            return UsageError::Nothing(error.render().ansi().to_string());
        }
        ErrorKind::UnknownArgument => unknown_argument(error),
        ErrorKind::InvalidSubcommand => unknown_command(error),
        ErrorKind::InvalidValue if value().is_empty() => CliError::Arguments {
            message: format!("`{}` needs a value", argument()),
            hint: usage(error),
        },
        ErrorKind::InvalidValue => CliError::BadValue {
            what: argument(),
            value: value(),
            why: match text(ContextKind::ValidValue) {
                Some(valid) => format!("expected one of {valid}"),
                None => "not an accepted value".to_owned(),
            },
        },
        ErrorKind::ValueValidation => CliError::BadValue {
            what: argument(),
            value: value(),
            why: std::error::Error::source(error)
                .map_or_else(|| "not an accepted value".to_owned(), plain_reason),
        },
        ErrorKind::MissingRequiredArgument => CliError::Arguments {
            message: missing(error),
            hint: usage(error),
        },
        ErrorKind::ArgumentConflict => CliError::Arguments {
            message: match text(ContextKind::PriorArg) {
                Some(other) if bare(&other) != argument() => {
                    format!("`{}` cannot be used with `{}`", argument(), bare(&other))
                }
                _ => format!("`{}` was given more than once", argument()),
            },
            hint: "remove one of them".to_owned(),
        },
        ErrorKind::TooManyValues => CliError::Arguments {
            message: format!("`{}` does not take a value", argument()),
            hint: "remove the value".to_owned(),
        },
        _ => CliError::Arguments {
            message: first_line(error),
            hint: usage(error),
        },
    })
}

/// The reason for which a value was refused. Those of numbers are Rust's and clap's own words.
fn plain_reason(source: &(dyn std::error::Error + 'static)) -> String {
    if let Some(error) = source.downcast_ref::<ParseIntError>() {
        return match error.kind() {
            IntErrorKind::PosOverflow => "the number is too large".to_owned(),
            IntErrorKind::NegOverflow => "the number is too small".to_owned(),
            _ => "expected a whole number".to_owned(),
        };
    }
    let text = source.to_string();
    match text
        .split_once(" is not in ")
        .and_then(|(_, range)| range.split_once("..="))
    {
        Some((least, most)) => format!("expected a whole number from {least} to {most}"),
        None => text,
    }
}

/// Commands that have another name now, the old one first.
const RENAMED: [(&str, &str); 1] = [("agents", "personas")];

fn unknown_command(error: &clap::Error) -> CliError {
    let command = context(error, ContextKind::InvalidSubcommand).unwrap_or_default();
    if let Some((_, new)) = RENAMED.iter().find(|(old, _)| *old == command) {
        return CliError::UnknownCommand {
            hint: format!("the command was renamed: use `fathom {new}`"),
            command,
        };
    }
    // Clap does not see swapped letters in short words.
    let known = args::command();
    let mut names = known.get_subcommands().map(clap::Command::get_name);
    let swapped = names.find(|name| sorted(name) == sorted(&command));
    let hint = swapped
        .map(|swapped| format!("did you mean `{swapped}`?"))
        .or_else(|| nearest(error, ContextKind::SuggestedSubcommand));
    CliError::UnknownCommand {
        hint: hint.unwrap_or_else(|| "list the commands with `fathom --help`".to_owned()),
        command,
    }
}

fn sorted(word: &str) -> Vec<char> {
    let mut letters: Vec<char> = word.chars().collect();
    letters.sort_unstable();
    letters
}

/// Arguments that are written in words, as clap shows them.
const TEXTS: [&str; 4] = ["QUESTION", "TASK", "GOAL", "<TEXT>"];

fn unknown_argument(error: &clap::Error) -> CliError {
    let flag = context(error, ContextKind::InvalidArg).unwrap_or_default();
    if flag.starts_with('-') {
        return CliError::UnknownFlag {
            flag,
            hint: nearest(error, ContextKind::SuggestedArg)
                .unwrap_or_else(|| "list the flags with `fathom --help`".to_owned()),
        };
    }
    let usage = usage(error);
    // Only what is written in words is likely to have lost its quotes.
    let takes_text = TEXTS.iter().any(|text| usage.contains(text));
    CliError::Arguments {
        message: format!("unexpected argument `{flag}`"),
        hint: if takes_text {
            "put quotes around text that contains spaces".to_owned()
        } else {
            usage
        },
    }
}

fn nearest(error: &clap::Error, kind: ContextKind) -> Option<String> {
    context(error, kind).map(|nearest| format!("did you mean `{nearest}`?"))
}

/// The flag or argument that an error is about.
fn argument(error: &clap::Error) -> String {
    bare(&context(error, ContextKind::InvalidArg).unwrap_or_default())
}

/// A flag or argument without the name of its value.
fn bare(argument: &str) -> String {
    let name = argument.split([' ', '=']).next().unwrap_or_default();
    name.trim_matches(['<', '>', '[', ']', '.']).to_owned()
}

/// The required arguments that were not given.
fn missing(error: &clap::Error) -> String {
    let names = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::Strings(names)) => names.iter().map(|name| bare(name)).collect(),
        _ => vec![argument(error)],
    };
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let noun = if names.len() == 1 {
        "argument"
    } else {
        "arguments"
    };
    format!("missing {noun} {}", names.join(" and "))
}

fn context(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) if !texts.is_empty() => Some(texts.join(", ")),
        ContextValue::StyledStr(text) => Some(text.to_string()),
        ContextValue::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Usage of the command, on one line.
fn usage(error: &clap::Error) -> String {
    let usage = context(error, ContextKind::Usage).unwrap_or_default();
    let usage = usage.trim().trim_start_matches("Usage:").trim();
    if usage.is_empty() {
        "see the usage with `fathom --help`".to_owned()
    } else {
        format!("usage: `{}`", crate::terminal::plain_text::one_line(usage))
    }
}

fn first_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
#[path = "usage_error_tests.rs"]
mod tests;
