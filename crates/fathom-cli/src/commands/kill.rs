//! `fathom kill`: stop effects at once, and lift that again.

use fathom_host::governance::people::OsUser;
use fathom_store::{KillOrder, LiftOutcome};
use serde::Serialize;

use crate::app::App;
use crate::args::KillArgs;
use crate::error::CliError;
use crate::exit_code::ExitStatus;
use crate::settings::OutputFormat;
use crate::terminal::output;
use crate::terminal::plain_text::visible;
use crate::terminal::styled_line::{LineStyle, StyledLine};
use crate::view::units;

#[derive(Serialize)]
struct KillJson {
    /// True if any scope is killed.
    killed: bool,
    scopes: Vec<OrderJson>,
    record: Vec<RecordJson>,
}

#[derive(Serialize)]
struct OrderJson {
    scope: String,
    by: String,
    at: String,
    why: String,
}

#[derive(Serialize)]
struct RecordJson {
    thrown: OrderJson,
    lifted: Option<OrderJson>,
}

impl From<KillOrder> for OrderJson {
    fn from(order: KillOrder) -> Self {
        Self {
            scope: order.scope.to_string(),
            by: order.by,
            at: units::moment(order.at),
            why: order.why,
        }
    }
}

pub(crate) fn kill(app: &App, typed: KillArgs) -> Result<ExitStatus, CliError> {
    let KillArgs {
        scope,
        why,
        lift,
        show,
    } = typed;
    let why = why.unwrap_or_default();
    let user = OsUser::current();
    let name = scope.to_string();
    let said = match (show, lift) {
        (true, _) => None,
        (false, false) => {
            app.runtime.kill(scope, &user, &why)?;
            Some(format!("kill switch `{}` activated", visible(&name)))
        }
        (false, true) => Some(match app.runtime.lift(scope, &user, &why)? {
            LiftOutcome::Now => format!("kill switch `{}` lifted", visible(&name)),
            LiftOutcome::WasNotThrown => format!("kill switch `{}` was not active", visible(&name)),
        }),
    };
    // The state is read back and shown, since a switch that did not take effect must be noticed.
    tell(app, said)?;
    Ok(ExitStatus::Ok)
}

fn tell(app: &App, said: Option<String>) -> Result<(), CliError> {
    let kills = app.runtime.kills()?;
    if app.settings.form == OutputFormat::Json {
        let record = app.runtime.kill_record()?.into_iter();
        return output::print_json(&KillJson {
            killed: !kills.is_empty(),
            scopes: kills.into_iter().map(OrderJson::from).collect(),
            record: record
                .map(|record| RecordJson {
                    thrown: record.thrown.into(),
                    lifted: record.lifted.map(OrderJson::from),
                })
                .collect(),
        });
    }
    let mut lines: Vec<StyledLine> = said.map(StyledLine::from).into_iter().collect();
    lines.extend(state(&kills));
    output::print(&lines)
}

/// State of the kill switch.
fn state(kills: &[KillOrder]) -> Vec<StyledLine> {
    if kills.is_empty() {
        return vec![StyledLine::from("no kill switch is active")];
    }
    let lines = kills.iter().map(|order| {
        let at = units::moment(order.at);
        let why = if order.why.is_empty() {
            String::new()
        } else {
            format!(": {}", visible(&order.why))
        };
        StyledLine::new()
            .with(
                LineStyle::Bad,
                format!("active {}", visible(&order.scope.to_string())),
            )
            .with(
                LineStyle::Plain,
                format!("  by {} at {at}{why}", visible(&order.by)),
            )
    });
    lines.collect()
}
