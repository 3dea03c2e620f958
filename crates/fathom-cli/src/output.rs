//! The two ways out: data to stdout, everything else to stderr.

use std::io::{self, IsTerminal as _, Write as _};

use serde::Serialize;

use crate::environment;
use crate::error::CliError;
use crate::line::Line;
use crate::plain_text::safe;

/// Columns of a table that goes into a pipe.
const PIPE_COLUMNS: usize = 120;

/// Columns of stdout.
pub(crate) fn stdout_columns() -> usize {
    let size = terminal_size::terminal_size_of(io::stdout());
    size.map_or(PIPE_COLUMNS, |(width, _)| usize::from(width.0))
}

/// Columns and rows of stderr, when it is a terminal.
pub(crate) fn stderr_size() -> Option<(usize, usize)> {
    let (width, height) = terminal_size::terminal_size_of(io::stderr())?;
    Some((usize::from(width.0), usize::from(height.0)))
}

/// Whether stderr is a terminal in which lines can be drawn anew.
pub(crate) fn stderr_can_redraw() -> bool {
    let is_dumb = environment::look_up("TERM").is_none_or(|term| term == "dumb");
    io::stderr().is_terminal() && stderr_size().is_some() && !is_dumb
}

/// Whether stderr takes colour.
pub(crate) fn stderr_has_colour() -> bool {
    anstream::AutoStream::choice(&io::stderr()) != anstream::ColorChoice::Never
}

/// Prints lines that are the answer to the command.
pub(crate) fn print(lines: &[Line]) -> Result<(), CliError> {
    let mut out = anstream::stdout().lock();
    let written = lines
        .iter()
        .try_for_each(|line| writeln!(out, "{}", line.styled()))
        .and_then(|()| out.flush());
    heard(written)
}

/// Prints a piece of a longer text as it is; nothing is added at its end.
pub(crate) fn print_piece(text: &str) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    let shown = if out.is_terminal() {
        safe(text)
    } else {
        text.to_owned()
    };
    heard(write!(out, "{shown}").and_then(|()| out.flush()))
}

/// Prints what a model said: as it is into a pipe, without anything that steers a terminal into one.
pub(crate) fn print_answer(answer: &str) -> Result<(), CliError> {
    // Not anstream: it would take escape codes out of data that goes into a file.
    let mut out = io::stdout().lock();
    let shown = if out.is_terminal() {
        safe(answer)
    } else {
        answer.to_owned()
    };
    let end = if shown.ends_with('\n') { "" } else { "\n" };
    let written = write!(out, "{shown}{end}").and_then(|()| out.flush());
    heard(written)
}

/// Prints the one JSON object, on one line in a pipe.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    let text = if out.is_terminal() {
        serde_json::to_string_pretty(value)
    } else {
        serde_json::to_string(value)
    };
    let written = text
        .map_err(io::Error::from)
        .and_then(|text| writeln!(out, "{text}"))
        .and_then(|()| out.flush());
    heard(written)
}

/// A reader that went away has seen what it wanted.
fn heard(written: io::Result<()>) -> Result<(), CliError> {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(CliError::Output(error)),
        _ => Ok(()),
    }
}

/// Says something on stderr. When even that fails there is nobody left to tell.
pub(crate) fn say(lines: &[Line]) {
    let mut out = anstream::stderr().lock();
    for line in lines {
        let _ = writeln!(out, "{}", line.styled());
    }
}

/// Text that holds its own escape codes, as clap's help does.
pub(crate) fn print_help(text: &str) -> Result<(), CliError> {
    heard(write!(anstream::stdout().lock(), "{text}"))
}

/// The same to stderr.
pub(crate) fn say_help(text: &str) {
    let _ = write!(anstream::stderr().lock(), "{text}");
}

/// Whether a person sees stdout and stderr in one place.
pub(crate) fn both_are_terminals() -> bool {
    io::stdout().is_terminal() && io::stderr().is_terminal()
}
