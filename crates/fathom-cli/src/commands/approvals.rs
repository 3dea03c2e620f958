//! `fathom approvals`, `approve`, `deny`, `tickets` and `override`: what people are asked, and their word.

use fathom_core::effect::IdempotencyKey;
use fathom_core::episode::result::HandoffTicket;
use fathom_core::run::step::RunWait;
use fathom_host::governance::people::{
    ApprovalDecision, ApprovalView, Approver, OsUser, TicketView,
};
use fathom_host::{HostError, RunEnd};
use fathom_store::{ApprovalAnswer, ApprovalFilter, ApprovalRecord, ApproverKey};
use serde::Serialize;

use super::{identity, kill, resume, rfc, unmasked};
use crate::app::App;
use crate::args::PeopleCommand;
use crate::error::CliError;
use crate::exit_code::ExitStatus;
use crate::run::background_resume::BackgroundResume;
use crate::run::conclude::{conclude, settle};
use crate::run::follow::{FinishedRun, follow};
use crate::settings::{OtherRuns, OutputFormat, Verbosity};
use crate::terminal::masking::{self, Unmasked};
use crate::terminal::output;
use crate::terminal::plain_text::{fold, one_line, visible};
use crate::terminal::styled_line::{LineStyle, StyledLine};
use crate::view::approval::{self, ApprovalJson};
use crate::view::result_json::ResultJson;
use crate::view::units;

/// Widest text: longer lines are hard to read.
// Longer lines are hard to read, however wide the terminal is.
const COLUMNS_MAX: usize = 80;

#[derive(Serialize)]
struct ApprovalsJson {
    approvals: Vec<ApprovalJson>,
    /// Results of the run that the decision was about.
    #[serde(skip_serializing_if = "Option::is_none")]
    results: Option<Vec<ResultJson>>,
}

#[derive(Serialize)]
struct TicketsJson {
    tickets: Vec<TicketJson>,
}

#[derive(Serialize)]
struct TicketJson {
    run: String,
    episode: String,
    goal: Option<String>,
    tried: String,
    known: String,
    asked: String,
    deadline: Option<String>,
}

#[derive(Serialize)]
struct OverrideJson {
    key: String,
    by: String,
    why: String,
}

pub(crate) async fn carry_out(command: PeopleCommand, app: &App) -> Result<ExitStatus, CliError> {
    match command {
        PeopleCommand::Approvals { all, original } => {
            if original {
                unmasked::lift(app, Unmasked::Approvals)?;
            }
            approvals(app, all)
        }
        // An approval may go without a reason; a refusal must have one, for whoever reads the record.
        PeopleCommand::Approve { id, why, key } => {
            let why = why.unwrap_or_default();
            say(app, &id, ApprovalAnswer::Yes, why, key.key.as_deref()).await
        }
        PeopleCommand::Deny { id, why, key } => {
            say(app, &id, ApprovalAnswer::No, why, key.key.as_deref()).await
        }
        PeopleCommand::Tickets => tickets(app),
        PeopleCommand::Identity(command) => identity::carry_out(command, app),
        PeopleCommand::Rfc(command) => rfc::carry_out(command, app),
        PeopleCommand::Kill(order) => kill::kill(app, order),
        PeopleCommand::Override { key, why } => override_send(app, key, &why),
    }
}

fn columns() -> usize {
    output::stdout_columns().min(COLUMNS_MAX)
}

fn approvals(app: &App, all: bool) -> Result<ExitStatus, CliError> {
    let filter = if all {
        ApprovalFilter::All
    } else {
        ApprovalFilter::Open
    };
    let views = app.runtime.approvals(filter)?;
    match app.settings.form {
        OutputFormat::Json => output::print_json(&ApprovalsJson {
            approvals: views.into_iter().map(ApprovalJson::from).collect(),
            results: None,
        })?,
        OutputFormat::Human if views.is_empty() => say_unless_quiet(app, "no pending approvals"),
        OutputFormat::Human => {
            output::print(&pages(app, &views, columns()))?;
            say_masked(app);
        }
    }
    Ok(ExitStatus::Ok)
}

/// Points out masked values, since nobody should approve what they cannot see.
fn say_masked(app: &App) {
    if masking::has_masked() {
        say_unless_quiet(
            app,
            "some values are masked; show them with `fathom approvals --original`",
        );
    }
}

fn say_unless_quiet(app: &App, text: &str) {
    if app.settings.loudness != Verbosity::Quiet {
        output::say(&[StyledLine::from(text)]);
    }
}

/// Approvals one under the other.
fn pages(app: &App, views: &[ApprovalView], width: usize) -> Vec<StyledLine> {
    let mut lines = Vec::new();
    for view in views {
        if !lines.is_empty() {
            lines.push(StyledLine::new());
        }
        let short = app.short(view.approval.owner.run);
        lines.extend(approval::lines(view, &short, app.now(), width));
    }
    lines
}

/// Records a person's decision and continues the run.
async fn say(
    app: &App,
    id: &str,
    answer: ApprovalAnswer,
    why: String,
    key: Option<&std::path::Path>,
) -> Result<ExitStatus, CliError> {
    let approval = app.runtime.find_approval(id)?;
    let person = match key {
        None => Approver::OsUser(OsUser::current()),
        Some(file) => {
            let key = ApproverKey::read(file).map_err(HostError::from)?;
            Approver::Key(key.sign(&approval.id, &approval.terms.binding, answer))
        }
    };
    let said = ApprovalDecision {
        answer,
        person,
        why,
    };
    let decided = app.runtime.decide(&approval, &said)?;
    let state = decided.state.name();
    let short = app.short(decided.owner.run);
    say_unless_quiet(app, &format!("approval {} is {state}", decided.id));
    if app.settings.others == OtherRuns::LeftAlone {
        say_unless_quiet(app, &format!("continue with: fathom resume {short}"));
        return told(app, &decided, None, ExitStatus::Ok);
    }
    match app.runtime.resume(decided.owner.run) {
        Ok(handle) => {
            let followed = follow(app, vec![handle], BackgroundResume::nothing()).await?;
            match followed.into_iter().next() {
                None => Ok(ExitStatus::Bug),
                Some(followed) if app.settings.form == OutputFormat::Human => {
                    conclude(app, followed, Vec::new())
                }
                Some(followed) => {
                    let (followed, exit) = settle(followed)?;
                    let result = resume::told(app, &followed)?;
                    told(app, &decided, Some(result.into_iter().collect()), exit)
                }
            }
        }
        // Another process works on the run and reads the decision from the journal.
        Err(HostError::Owned { .. }) => {
            say_unless_quiet(app, "the run continues in the process that started it");
            told(app, &decided, None, ExitStatus::Ok)
        }
        Err(error) => Err(CliError::Run {
            run: decided.owner.run,
            error,
        }),
    }
}

/// Prints the approval as it stands now.
fn told(
    app: &App,
    decided: &ApprovalRecord,
    results: Option<Vec<ResultJson>>,
    exit: ExitStatus,
) -> Result<ExitStatus, CliError> {
    if app.settings.form == OutputFormat::Json {
        // Read again, because the resumed run may have changed the approval's state.
        let all = app.runtime.approvals(ApprovalFilter::All)?.into_iter();
        let this = all.filter(|view| view.approval.id == decided.id);
        output::print_json(&ApprovalsJson {
            approvals: this.map(ApprovalJson::from).collect(),
            results,
        })?;
    }
    Ok(exit)
}

/// Requests of a run that waits for a person.
pub(crate) fn asked_by(app: &App, followed: &FinishedRun) -> Result<Vec<ApprovalView>, CliError> {
    if !matches!(followed.end, RunEnd::Waiting(RunWait::Approval)) {
        return Ok(Vec::new());
    }
    let mut open = app.runtime.approvals(ApprovalFilter::Open)?;
    open.retain(|view| view.approval.owner.run == followed.run);
    Ok(open)
}

/// Tells what a run that waits asks, and what to type.
pub(crate) fn say_asked(app: &App, followed: &FinishedRun) -> Result<(), CliError> {
    let asked = asked_by(app, followed)?;
    // Quiet hides the pages, but a run that waits must still say how to continue it.
    if app.settings.loudness == Verbosity::Quiet {
        let commands = asked.iter().map(|view| {
            let id = &view.approval.id;
            StyledLine::from(format!(
                "decide with: fathom approve {id}, or fathom deny {id} --why \"…\""
            ))
        });
        output::say(&commands.collect::<Vec<_>>());
    } else if !asked.is_empty() {
        let width = output::stderr_size().map_or(COLUMNS_MAX, |(columns, _)| columns);
        output::say(&[StyledLine::new()]);
        output::say(&pages(app, &asked, width.min(COLUMNS_MAX)));
        say_masked(app);
    }
    Ok(())
}

fn tickets(app: &App) -> Result<ExitStatus, CliError> {
    let tickets = app.runtime.tickets()?;
    match app.settings.form {
        OutputFormat::Json => output::print_json(&TicketsJson {
            tickets: tickets.into_iter().map(TicketJson::from).collect(),
        })?,
        OutputFormat::Human if tickets.is_empty() => say_unless_quiet(app, "no tickets"),
        OutputFormat::Human => {
            let mut lines = Vec::new();
            for ticket in &tickets {
                if !lines.is_empty() {
                    lines.push(StyledLine::new());
                }
                lines.extend(ticket_lines(ticket, &app.short(ticket.run), columns()));
            }
            output::print(&lines)?;
        }
    }
    Ok(ExitStatus::Ok)
}

/// A ticket in the form of every ticket: what was tried, what is known, what is asked, until when.
pub(super) fn ticket_lines(view: &TicketView, short: &str, width: usize) -> Vec<StyledLine> {
    const NAME_COLUMNS: usize = 11;
    let HandoffTicket {
        tried,
        known,
        asked,
        deadline,
    } = &view.ticket;
    let deadline = deadline.map_or_else(|| "none".to_owned(), units::moment);
    let goal = view.goal.as_deref().unwrap_or("(cannot be read)");
    let fields = [
        ("goal", goal),
        ("tried", tried.as_str()),
        ("known", known.as_str()),
        ("asked", asked.as_str()),
        ("deadline", &deadline),
    ];
    let title = format!("ticket of run {short}, episode {}", view.episode);
    let mut lines = vec![StyledLine::new().with(LineStyle::Strong, title)];
    for (name, text) in fields {
        let room = width.saturating_sub(NAME_COLUMNS).max(1);
        let mut name = format!("  {name}");
        for piece in fold(&visible(&one_line(text)), room) {
            let name = std::mem::take(&mut name);
            let line = StyledLine::new().with(LineStyle::Faint, format!("{name:NAME_COLUMNS$}"));
            lines.push(line.with(LineStyle::Plain, piece));
        }
    }
    lines
}

impl From<TicketView> for TicketJson {
    fn from(view: TicketView) -> Self {
        let ticket = view.ticket;
        Self {
            run: view.run.to_string(),
            episode: view.episode.to_string(),
            goal: view.goal,
            tried: ticket.tried.as_str().to_owned(),
            known: ticket.known.as_str().to_owned(),
            asked: ticket.asked.as_str().to_owned(),
            deadline: ticket.deadline.map(units::moment),
        }
    }
}

fn override_send(app: &App, key: String, why: &str) -> Result<ExitStatus, CliError> {
    let user = OsUser::current();
    // A key is any text; one that nothing was sent under is refused.
    let typed: IdempotencyKey =
        serde_json::from_value(key.as_str().into()).map_err(|error| CliError::BadValue {
            what: "KEY".to_owned(),
            value: key.clone(),
            why: error.to_string(),
        })?;
    app.runtime.override_send(&typed, &user, why)?;
    match app.settings.form {
        OutputFormat::Json => output::print_json(&OverrideJson {
            key,
            by: user.to_string(),
            why: why.to_owned(),
        })?,
        OutputFormat::Human => output::print(&[StyledLine::from(format!(
            "allowed one more send under `{}` (by {user})",
            visible(&key)
        ))])?,
    }
    Ok(ExitStatus::Ok)
}

#[cfg(test)]
#[path = "approvals_tests.rs"]
mod tests;
