//! The two ways out: data to stdout, everything else to stderr.
//!
//! No other place of the program writes to either, and nothing goes out but through [`crate::terminal::masking`].

use std::io::{self, IsTerminal as _, Stderr, Stdout, Write};

use anstream::AutoStream;
use serde::Serialize;

use crate::error::CliError;
use crate::settings::environment;
use crate::terminal::live_area::{Colour, LiveArea, SHOW_CURSOR};
use crate::terminal::masking::{self, Unmasked, masked, masked_json};
use crate::terminal::plain_text::{harmless, safe};
use crate::terminal::styled_line::{self, StyledLine};

/// Columns of a table that goes into a pipe.
// Wide enough for tables, and fixed, so that output into a file does not depend on the terminal.
const PIPE_COLUMNS: usize = 120;

#[expect(clippy::disallowed_methods, reason = "this is the one way out")]
fn stdout() -> Stdout {
    io::stdout()
}

#[expect(clippy::disallowed_methods, reason = "this is the other")]
fn stderr() -> Stderr {
    io::stderr()
}

/// Columns of stdout.
pub(crate) fn stdout_columns() -> usize {
    let size = terminal_size::terminal_size_of(stdout());
    size.map_or(PIPE_COLUMNS, |(width, _)| usize::from(width.0))
}

/// Columns and rows of stderr, when it is a terminal.
pub(crate) fn stderr_size() -> Option<(usize, usize)> {
    let (width, height) = terminal_size::terminal_size_of(stderr())?;
    Some((usize::from(width.0), usize::from(height.0)))
}

/// True if stderr is a terminal in which lines can be redrawn.
pub(crate) fn stderr_can_redraw() -> bool {
    let is_dumb = environment::look_up("TERM").is_none_or(|term| term == "dumb");
    stderr().is_terminal() && stderr_size().is_some() && !is_dumb
}

/// Lines at the bottom of stderr that are drawn anew, when it is a terminal that can.
pub(crate) fn painter() -> Option<LiveArea<Stderr>> {
    let colour = match AutoStream::choice(&stderr()) {
        anstream::ColorChoice::Never => Colour::No,
        _ => Colour::Yes,
    };
    stderr_can_redraw().then(|| LiveArea::new(stderr(), colour))
}

/// Gives the cursor back where something may have been drawn.
pub(crate) fn show_cursor() {
    if stderr_can_redraw() {
        let _ = stderr().write_all(SHOW_CURSOR.as_bytes());
    }
}

/// Prints lines that are the answer to the command.
pub(crate) fn print(lines: &[StyledLine]) -> Result<(), CliError> {
    let lines = styled_line::masked(lines);
    let mut out = AutoStream::auto(stdout()).lock();
    let written = lines
        .iter()
        .try_for_each(|line| writeln!(out, "{}", line.styled()))
        .and_then(|()| out.flush());
    heard(written)
}

/// Prints a piece of a longer text; nothing is added at its end.
///
/// What is asked for as it is comes out as it is. That is decided here and nowhere else: see [`Unmasked`].
pub(crate) fn print_original(_why: Unmasked, text: &str) -> Result<(), CliError> {
    let mut out = stdout().lock();
    let shown = if out.is_terminal() {
        // A terminal would obey escape codes in data; a file or a program gets the bytes as they are.
        harmless(text)
    } else {
        text.to_owned()
    };
    heard(write!(out, "{shown}").and_then(|()| out.flush()))
}

/// Prints what a model said: all of it into a pipe, without anything that steers a terminal into one.
pub(crate) fn print_answer(answer: &str) -> Result<(), CliError> {
    let shown = if stdout().is_terminal() {
        safe(answer)
    } else {
        masked(answer).into_owned()
    };
    let end = if shown.ends_with('\n') { "" } else { "\n" };
    // Not anstream: it would take escape codes out of data that goes into a file.
    let mut out = stdout().lock();
    let written = write!(out, "{shown}{end}").and_then(|()| out.flush());
    heard(written)
}

/// Prints the one JSON object, on one line in a pipe.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), CliError> {
    let text = if stdout().is_terminal() {
        // Programs get one line, which they can split by.
        serde_json::to_string_pretty(value)
    } else {
        serde_json::to_string(value)
    };
    let written = text
        .map(|text| masked_json(&text))
        .map_err(io::Error::from)
        .and_then(|text| {
            let mut out = stdout().lock();
            writeln!(out, "{text}").and_then(|()| out.flush())
        });
    heard(written)
}

/// A reader that went away has seen what it wanted.
fn heard(written: io::Result<()>) -> Result<(), CliError> {
    match written {
        // A reader that has seen enough, such as `head`, is not a failure.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(CliError::Output(error)),
        _ => Ok(()),
    }
}

/// Writes lines to stderr. Errors are ignored, since there is no other place to report them.
pub(crate) fn say(lines: &[StyledLine]) {
    let lines = styled_line::masked(lines);
    let mut out = AutoStream::auto(stderr()).lock();
    for line in lines.iter() {
        // Without a stderr there is nowhere left to report that to.
        let _ = writeln!(out, "{}", line.styled());
    }
}

/// Clap's help, which holds its own escape codes and nothing that was typed.
pub(crate) fn print_help(text: &str) -> Result<(), CliError> {
    heard(write!(AutoStream::auto(stdout()).lock(), "{text}"))
}

/// The same to stderr.
pub(crate) fn say_help(text: &str) {
    let _ = write!(AutoStream::auto(stderr()).lock(), "{text}");
}

/// True if stdout and stderr go to the same terminal.
pub(crate) fn both_are_terminals() -> bool {
    stdout().is_terminal() && stderr().is_terminal()
}

/// Writer of log lines to stderr, one write per event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogWriter;

impl Write for LogWriter {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = harmless(&String::from_utf8_lossy(event));
        stderr().write_all(masking::masked_for_all(&text).as_bytes())?;
        // The length of the input and not of the masked text, or the caller would write the rest again.
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        stderr().flush()
    }
}
