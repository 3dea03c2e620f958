//! `fathom charter tools` and `accept`: tools of servers as they were met, and letting a changed one in.

use fathom_core::id::Digest;
use fathom_host::governance::people::OsUser;
use fathom_store::{PinStanding, ToolPin};
use serde::Serialize;

use crate::app::App;
use crate::error::CliError;
use crate::exit_code::ExitStatus;
use crate::settings::OutputFormat;
use crate::terminal::output;
use crate::terminal::plain_text::{pad, safe};
use crate::terminal::styled_line::{LineStyle, StyledLine};
use crate::view::units;

#[derive(Serialize)]
struct PinsJson {
    tools: Vec<PinJson>,
}

#[derive(Serialize)]
struct PinJson {
    charter: String,
    tool: String,
    sha256: String,
    seen_at: String,
    standing: &'static str,
    accepted_by: Option<String>,
}

impl From<&ToolPin> for PinJson {
    fn from(pin: &ToolPin) -> Self {
        let (standing, accepted_by) = match &pin.standing {
            PinStanding::First => ("first", None),
            PinStanding::Accepted { by, .. } => ("accepted", Some(by.clone())),
            PinStanding::Quarantined => ("quarantined", None),
        };
        Self {
            charter: pin.seen.charter.clone(),
            tool: pin.seen.tool.clone(),
            sha256: pin.seen.digest.to_string(),
            seen_at: units::moment(pin.seen.at),
            standing,
            accepted_by,
        }
    }
}

/// Lists the tools that a charter met on its servers.
pub(crate) fn tools(app: &App, charter: &str) -> Result<ExitStatus, CliError> {
    let pins = app.runtime.tools_met(charter)?;
    match app.settings.form {
        OutputFormat::Json => output::print_json(&PinsJson {
            tools: pins.iter().map(PinJson::from).collect(),
        })?,
        OutputFormat::Human if pins.is_empty() => {
            output::print(&[StyledLine::from("no MCP tools seen yet")])?;
        }
        OutputFormat::Human => {
            let lines: Vec<StyledLine> = pins.iter().map(|pin| line(app, pin)).collect();
            output::print(&lines)?;
        }
    }
    Ok(ExitStatus::Ok)
}

fn line(app: &App, pin: &ToolPin) -> StyledLine {
    let (tone, word) = match &pin.standing {
        PinStanding::First => (LineStyle::Good, "accepted on first use".to_owned()),
        PinStanding::Accepted { by, .. } => (LineStyle::Good, format!("accepted by {}", safe(by))),
        PinStanding::Quarantined => (LineStyle::Bad, "changed: blocked".to_owned()),
    };
    let digest: String = pin.seen.digest.to_string().chars().take(12).collect();
    StyledLine::new()
        .with(LineStyle::Strong, pad(&safe(&pin.seen.tool), 32))
        .with(
            LineStyle::Faint,
            format!(" {digest}  {} ago  ", units::age(app.now(), pin.seen.at)),
        )
        .with(tone, word)
}

/// Lets a changed tool in, as it was met last.
pub(crate) fn accept(
    app: &App,
    charter: &str,
    tool: &str,
    digest: &str,
) -> Result<ExitStatus, CliError> {
    let pins = app.runtime.tools_met(charter)?;
    let is_meant = |pin: &&ToolPin| {
        let seen: &Digest = &pin.seen.digest;
        // The digest must be typed: accepting by name alone would accept whatever the server offers by then.
        pin.seen.tool == tool && digest.len() >= DIGITS_MIN && seen.to_string().starts_with(digest)
    };
    let Some(pin) = pins.iter().find(is_meant) else {
        return Err(CliError::BadValue {
            what: "TOOL".to_owned(),
            value: format!("{tool} {digest}"),
            why: format!(
                "no such tool with that digest; list both with `fathom charter tools {charter}`"
            ),
        });
    };
    app.runtime.accept_tool(&pin.seen, &OsUser::current())?;
    tools(app, charter)
}

/// Digits of a digest that are enough to mean it.
// 32 bits: enough to tell the few versions of a tool apart.
const DIGITS_MIN: usize = 8;
