//! `fathom phases`: a question thought through in phases, or a conversation of such questions.

use std::io::{self, IsTerminal as _};

use fathom_core::contract::Contract;
use fathom_core::model::ModelSet;
use fathom_core::text::Text;
use fathom_host::charter::{Charter, ModelProfile, PhasesCharter as Loop};
use fathom_host::{HostError, NewRun};
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;

use crate::app::App;
use crate::args::PhasesArgs;
use crate::error::CliError;
use crate::exit_code::ExitStatus;
use crate::run::embedded_models;
use crate::run::launch::launch;
use crate::settings::environment;
use crate::settings::inputs;
use crate::settings::{OutputFormat, RunSettings};
use crate::terminal::output;
use crate::terminal::status_line::StatusLine;
use crate::terminal::styled_line::{LineStyle, StyledLine};

/// The charter of a run for which none is named.
pub(crate) const CHARTER: &str = "signalzero";

/// The session of a conversation for which none is named.
const CHAT: &str = "chat";

/// What the user types at.
const PROMPT: &str = "> ";

pub(crate) async fn phases(
    asked: PhasesArgs,
    settings: RunSettings,
) -> Result<ExitStatus, CliError> {
    let charter = settings.charter()?;
    let mut models = charter.cast(settings.model.models(environment::key)?);
    let chats = asked.question.is_none()
        && settings.form == OutputFormat::Human
        && io::stdin().is_terminal();
    let question = if chats {
        None
    } else {
        Some(inputs::question("phases", asked.question.as_deref())?)
    };
    let app = App::open(settings)?;
    let mut warnings: Vec<String> = charter.warnings.iter().map(ToString::to_string).collect();
    warnings.extend(embedded_models::settle(&app.runtime, &mut models)?);
    let talk = Conversation {
        app: &app,
        charter: &charter,
        phases: phases_of(&charter)?,
        models,
        session: asked.session.or_else(|| chats.then(|| CHAT.to_owned())),
    };
    match question {
        Some(question) => talk.ask(question, warnings).await,
        None => talk.chat(warnings).await,
    }
}

/// The phases of a charter.
pub(super) fn phases_of(charter: &Charter) -> Result<&Loop, CliError> {
    let phases = charter.phases.as_ref();
    let missing = || HostError::NoPhases {
        name: charter.name.clone(),
    };
    Ok(phases.ok_or_else(missing)?)
}

struct Conversation<'a> {
    app: &'a App,
    charter: &'a Charter,
    phases: &'a Loop,
    models: ModelSet,
    session: Option<String>,
}

impl Conversation<'_> {
    async fn ask(&self, question: String, warnings: Vec<String>) -> Result<ExitStatus, CliError> {
        let Self {
            app,
            charter,
            phases,
            models,
            session,
        } = self;
        let mut meter = StatusLine::new(app.settings.loudness);
        let profile = ModelProfile::of(&models.main);
        let params =
            app.runtime
                .phase_params(phases, profile, session.as_deref(), &mut |progress| {
                    let (done, total) = (progress.done, progress.total);
                    meter.show(&format!("embedding the symbols: {done} of {total}"));
                });
        meter.end();
        let new = NewRun {
            goal: Text::new(question),
            program: params?.spec(),
            contract: Contract {
                read_scopes: phases.read_scopes.clone(),
                write_scopes: phases.write_scopes.clone(),
                ..app.settings.contract()
            },
            budget: app.settings.budget,
            models: models.clone(),
            frame: charter.frame(),
        };
        launch(app, new, warnings).await
    }

    /// Asks what is typed, line by line, until the end of the input.
    async fn chat(&self, mut warnings: Vec<String>) -> Result<ExitStatus, CliError> {
        let broken = |error: ReadlineError| CliError::Unreadable {
            what: "the terminal".to_owned(),
            source: io::Error::other(error),
        };
        let mut editor = DefaultEditor::new().map_err(broken)?;
        let session = self.session.as_deref().unwrap_or(CHAT);
        let said = format!("session {session}; Ctrl-D to quit");
        output::say(&[StyledLine::new().with(LineStyle::Faint, said)]);
        let mut exit = ExitStatus::Ok;
        loop {
            let typed = match editor.readline(PROMPT) {
                Ok(typed) => typed,
                Err(ReadlineError::Interrupted | ReadlineError::Eof) => return Ok(exit),
                Err(error) => return Err(broken(error)),
            };
            if typed.trim().is_empty() {
                continue;
            }
            // A line that cannot be kept can still be asked.
            let _ = editor.add_history_entry(&typed);
            exit = match self.ask(typed, std::mem::take(&mut warnings)).await {
                Ok(exit) => exit,
                Err(error @ CliError::Interrupted { .. }) => return Err(error),
                Err(error) => {
                    output::say(&error.lines());
                    ExitStatus::Failed
                }
            };
        }
    }
}
