//! `fathom phases`: a question thought through in phases, or a conversation of such questions.

use std::io::{self, IsTerminal as _};

use fathom_core::model::ModelSet;
use fathom_host::HostError;
use fathom_host::charter::{Charter, PhasesCharter as Loop};
use fathom_host::programs::PreparedRun;
use fathom_host::programs::phases::PhasesOptions;
use fathom_programs::phases;
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;

use crate::app::App;
use crate::args::PhasesArgs;
use crate::error::CliError;
use crate::exit_code::ExitStatus;
use crate::run::launch::{prepare, request, start, told};
use crate::settings::environment;
use crate::settings::inputs;
use crate::settings::{OutputFormat, RunSettings};
use crate::terminal::output;
use crate::terminal::styled_line::{LineStyle, StyledLine};

pub(crate) use fathom_host::programs::phases::CHARTER;

/// The session of a conversation for which none is named.
const CHAT: &str = "chat";

/// What the user types at.
const PROMPT: &str = "> ";

pub(crate) async fn phases(
    asked: PhasesArgs,
    settings: RunSettings,
) -> Result<ExitStatus, CliError> {
    let charter = settings.charter()?;
    let mut models = settings.model.models(environment::key)?;
    let chats = asked.question.is_none()
        && settings.form == OutputFormat::Human
        && io::stdin().is_terminal();
    let question = if chats {
        None
    } else {
        Some(inputs::question("phases", asked.question.as_deref())?)
    };
    let app = App::open(settings)?;
    phases_of(&charter)?;
    let mut warnings = Vec::new();
    if chats {
        // Weights that are not there are told before anybody types.
        warnings.extend(told(&app.runtime.settle_weights(&mut models)?));
    }
    let talk = Conversation {
        app: &app,
        charter: &charter,
        models,
        session: asked.session.or_else(|| chats.then(|| CHAT.to_owned())),
    };
    match question {
        Some(question) => {
            let prepared = talk.prepare(question).await?;
            start(&app, prepared, warnings).await
        }
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
    models: ModelSet,
    session: Option<String>,
}

impl Conversation<'_> {
    async fn prepare(&self, question: String) -> Result<PreparedRun, CliError> {
        let options = PhasesOptions {
            session: self.session.clone(),
        };
        let models = self.models.clone();
        let request = request(self.app, phases::NAME, question, self.charter, models);
        prepare(self.app, request.with_options(&options)).await
    }

    /// Asks one line of a conversation. Only the first has something to warn about.
    async fn ask(
        &self,
        question: String,
        warnings: Option<Vec<String>>,
    ) -> Result<ExitStatus, CliError> {
        let mut prepared = self.prepare(question).await?;
        if warnings.is_none() {
            prepared.warnings.clear();
        }
        start(self.app, prepared, warnings.unwrap_or_default()).await
    }

    /// Asks what is typed, line by line, until the end of the input.
    async fn chat(&self, warnings: Vec<String>) -> Result<ExitStatus, CliError> {
        let broken = |error: ReadlineError| CliError::Unreadable {
            what: "the terminal".to_owned(),
            source: io::Error::other(error),
        };
        let mut editor = DefaultEditor::new().map_err(broken)?;
        let session = self.session.as_deref().unwrap_or(CHAT);
        let said = format!("session {session}; Ctrl-D to quit");
        output::say(&[StyledLine::new().with(LineStyle::Faint, said)]);
        let mut exit = ExitStatus::Ok;
        let mut warnings = Some(warnings);
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
            exit = match self.ask(typed, warnings.take()).await {
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
