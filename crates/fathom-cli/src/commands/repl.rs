//! `fathom repl`: the sandbox by hand.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _};

use fathom_core::budget::amounts::Amounts;
use fathom_core::sandbox::{
    CellAnswer, CellBudget, CellCall, CellException, CellExceptionKind, CellLimits, CellOutcome,
    CellOutput, CellQuestion, CellReply, CellResult,
};
use fathom_core::text::Text;
use fathom_core::unit::Millis;
use fathom_host::HostError;
use fathom_host::programs::rlm::load;
use fathom_sandbox::{CellEvent, SandboxError, SandboxSession, SessionCell};
use serde::Serialize;

use super::rlm::has_stdin;
use crate::args::ReplArgs;
use crate::error::CliError;
use crate::exit_code::ExitStatus;
use crate::run::launch::{left_out, warn};
use crate::settings::{OutputFormat, RunSettings, Verbosity};
use crate::terminal::output;
use crate::terminal::styled_line::{LineStyle, StyledLine};

/// A line of these alone ends a cell.
const BETWEEN: &str = "---";

/// Most bytes of one cell.
// Stdin could be endless, and no cell that a person or a program writes is this long.
const CELL_BYTES_MAX: usize = 1 << 20;

/// One cell as programs read it.
#[derive(Serialize)]
struct CellJson {
    ok: bool,
    stdout: String,
    error: Option<ErrorJson>,
    submitted: Option<String>,
    ms: u64,
}

#[derive(Serialize)]
struct ErrorJson {
    kind: &'static str,
    message: String,
}

pub(crate) async fn repl(asked: ReplArgs, settings: RunSettings) -> Result<ExitStatus, CliError> {
    if has_stdin(&asked.context) {
        return Err(CliError::Arguments {
            message: "stdin cannot be both the cells and the context".to_owned(),
            hint: "pass a file or folder as the context: `fathom repl --context PATH`".to_owned(),
        });
    }
    let sandbox = settings.sandbox();
    let isolation = sandbox.isolation().await.map_err(HostError::from)?;
    let (context, skipped) = load(&sandbox, asked.context).await?;
    if settings.loudness != Verbosity::Quiet {
        warn(&left_out(&skipped));
    }
    if settings.loudness != Verbosity::Quiet && settings.form == OutputFormat::Human {
        let mut lines = vec![StyledLine::new().with(LineStyle::Faint, isolation.to_string())];
        if io::stdin().is_terminal() {
            let how =
                format!("enter `{BETWEEN}` on a line of its own to run a cell; Ctrl-D to quit");
            lines.push(StyledLine::new().with(LineStyle::Faint, how));
        }
        output::say(&lines);
    }
    let limits = CellLimits {
        time: asked.cell_time.unwrap_or(CellLimits::default().time),
        ..CellLimits::default()
    };
    let mut session = sandbox.session(&context, Vec::new());
    let mut exit = ExitStatus::Ok;
    while let Some(code) = next_cell()? {
        if code.trim().is_empty() {
            continue;
        }
        let end = run(&mut session, code, limits).await?;
        // Whatever ran after it: a script must not go on as if every cell had done its work.
        if end.error.is_some() {
            exit = ExitStatus::Failed;
        }
        show(&end, settings.form)?;
    }
    Ok(exit)
}

/// The next cell of stdin; none at its end.
fn next_cell() -> Result<Option<String>, CliError> {
    let mut code = Vec::new();
    let mut stdin = io::stdin().lock();
    loop {
        let before = code.len();
        // No line is longer than a cell, so that one without an end is not waited for.
        let read = stdin
            .by_ref()
            .take(CELL_BYTES_MAX as u64 + 1)
            .read_until(b'\n', &mut code)
            .map_err(|source| CliError::Unreadable {
                what: "stdin".to_owned(),
                source,
            })?;
        let is_between = code[before..].trim_ascii_end() == BETWEEN.as_bytes();
        if is_between {
            code.truncate(before);
        }
        if code.len() > CELL_BYTES_MAX {
            return Err(CliError::TooLarge {
                what: "a cell".to_owned(),
                bytes_max: CELL_BYTES_MAX as u64,
            });
        }
        if is_between || read == 0 {
            let code = String::from_utf8(code).map_err(|_| CliError::NotText {
                what: "stdin".to_owned(),
            })?;
            return Ok((is_between || !code.is_empty()).then_some(code));
        }
    }
}

async fn run(
    session: &mut SandboxSession,
    code: String,
    limits: CellLimits,
) -> Result<CellResult, CliError> {
    let failed = |error: SandboxError| CliError::from(HostError::from(error));
    let cell = SessionCell {
        code: Text::new(code),
        limits,
        asked: Vec::new(),
    };
    session.run(cell).await.map_err(failed)?;
    loop {
        match session.next().await {
            CellEvent::Asked(question) => session.answer(nobody(&question)).map_err(failed)?,
            CellEvent::Ended(end) => return Ok(end),
        }
    }
}

/// Refuses a question: a sandbox that is used by hand has no model to ask, and spends nothing.
fn nobody(question: &CellQuestion) -> CellAnswer {
    let id = question.id;
    let count = match &question.call {
        CellCall::Query { prompts, .. } => prompts.len(),
        CellCall::Recurse { tasks } => tasks.len(),
        CellCall::Budget => {
            let reply = CellReply::Budget(CellBudget {
                // No model can be asked here, so there is nothing that a budget could limit.
                left: Amounts::MAX,
                time_left: Millis(u64::MAX),
            });
            return CellAnswer { id, reply };
        }
    };
    // An exception in the cell instead of an error of the command, so that the session survives it.
    let fault = CellOutcome::Fault(CellException {
        kind: CellExceptionKind::Refused,
        message: Text::from("`fathom repl` has no model to ask; use `fathom rlm`"),
        partial: None,
    });
    let reply = CellReply::Each(vec![fault; count]);
    CellAnswer { id, reply }
}

fn show(end: &CellResult, form: OutputFormat) -> Result<(), CliError> {
    let error = end.error.as_ref();
    let submitted = end.submitted.as_ref().map(|value| value.text.as_str());
    match form {
        OutputFormat::Json => output::print_json(&CellJson {
            ok: error.is_none(),
            stdout: whole(&end.output),
            error: error.map(|error| ErrorJson {
                kind: error.kind.name(),
                message: error.message.as_str().to_owned(),
            }),
            submitted: submitted.map(str::to_owned),
            ms: end.took.0,
        }),
        OutputFormat::Human => {
            let printed = whole(&end.output);
            if !printed.is_empty() {
                output::print_answer(&printed)?;
            }
            if let Some(error) = error {
                let message = crate::terminal::plain_text::safe(error.message.as_str());
                let lines = message.trim_end().lines();
                let lines: Vec<StyledLine> = lines
                    .map(|line| StyledLine::new().with(LineStyle::Odd, line.to_owned()))
                    .collect();
                output::say(&lines);
            }
            match submitted {
                Some(answer) => output::print_answer(answer),
                None => Ok(()),
            }
        }
    }
}

/// Printed output, with a mark for omitted parts.
fn whole(output: &CellOutput) -> String {
    let head = output.head.as_str();
    let Some(tail) = &output.tail else {
        return head.to_owned();
    };
    let shown = (head.len() + tail.as_str().len()) as u64;
    let left_out = output.bytes.saturating_sub(shown);
    format!(
        "{head}\n[… {left_out} of {} bytes left out …]\n{}",
        output.bytes,
        tail.as_str()
    )
}
