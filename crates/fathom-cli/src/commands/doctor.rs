//! `fathom doctor`: is everything there that a run needs?

use fathom_core::model::ModelSpec;
use fathom_host::HostError;
use fathom_host::models::embedded::EmbeddedModels;
use fathom_models::HealthState;
use fathom_sandbox::Sandbox;
use serde::Serialize;

use crate::app::App;
use crate::error::CliError;
use crate::exit_code::ExitStatus;
use crate::settings::environment;
use crate::settings::models::shown;
use crate::settings::{OutputFormat, RunSettings};
use crate::terminal::output;
use crate::terminal::styled_line::{LineStyle, StyledLine};
use crate::view::units::{self, many};
use crate::view::weights as local;

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct DoctorCheck {
    what: String,
    ok: bool,
    detail: String,
    hint: Option<String>,
    /// The exit code that a failure asks for.
    #[serde(skip)]
    exit: ExitStatus,
}

#[derive(Serialize)]
struct DoctorJson {
    ok: bool,
    checks: Vec<DoctorCheck>,
}

pub(crate) async fn doctor(settings: RunSettings) -> Result<ExitStatus, CliError> {
    let form = settings.form;
    let mut checks = vec![configuration(&settings)];
    let models = settings.model.models(environment::key);
    let weights = weights(&settings);
    let embedded = settings.embedded();
    let code = settings.sandbox();
    // Every check runs, even after a failed one: a user wants the whole list at once.
    checks.extend(home(settings));
    checks.push(weights);
    match models {
        Ok(models) => {
            checks.push(model("model", &models.main, &embedded).await);
            if models.sub != models.main {
                checks.push(model("sub-model", &models.sub, &embedded).await);
            }
        }
        Err(error) => checks.push(DoctorCheck::failed("model", &error)),
    }
    checks.push(sandbox(code).await);
    let failed = checks.iter().filter(|check| !check.ok);
    let exit = failed
        .map(|check| check.exit)
        .max()
        .unwrap_or(ExitStatus::Ok);
    match form {
        OutputFormat::Json => output::print_json(&DoctorJson {
            ok: exit == ExitStatus::Ok,
            checks,
        })?,
        OutputFormat::Human => {
            let lines: Vec<StyledLine> = checks.iter().flat_map(DoctorCheck::lines).collect();
            output::print(&lines)?;
        }
    }
    Ok(exit)
}

/// It was read before anything else; here it is only named.
fn configuration(settings: &RunSettings) -> DoctorCheck {
    let detail = match &settings.config_file {
        Some(file) => file.display().to_string(),
        None => "no fathom.toml found; using flags and environment variables only".to_owned(),
    };
    DoctorCheck::passed("configuration", detail)
}

/// Checks the isolation of code that a model wrote.
async fn sandbox(sandbox: Sandbox) -> DoctorCheck {
    match sandbox.isolation().await {
        Ok(isolation) => DoctorCheck::passed("sandbox", isolation.to_string()),
        Err(error) => DoctorCheck {
            hint: Some(error.hint()),
            ..DoctorCheck::failed("sandbox", &CliError::from(HostError::from(error)))
        },
    }
}

/// The weights of the embedded model; a run on a server needs none.
fn weights(settings: &RunSettings) -> DoctorCheck {
    let store = match local::store(settings) {
        Ok(store) => store,
        Err(error) => return DoctorCheck::failed("weights", &error),
    };
    let state = local::state(&store);
    match state.damaged {
        None => DoctorCheck::passed("weights", state.said),
        Some(name) => DoctorCheck {
            what: "weights".to_owned(),
            ok: false,
            detail: state.said,
            hint: Some(format!(
                "download them again with `fathom models pull {name}`"
            )),
            exit: ExitStatus::Unreachable,
        },
    }
}

fn home(settings: RunSettings) -> Vec<DoctorCheck> {
    let folder = settings.home.display().to_string();
    let app = match App::open(settings) {
        Ok(app) => app,
        Err(error) => return vec![DoctorCheck::failed("home", &error)],
    };
    let journal = app.runtime.runs(1).and_then(|newest| {
        let unfinished = app.runtime.unfinished()?.len() as u64;
        Ok((newest, unfinished))
    });
    let journal = match journal {
        Ok((newest, unfinished)) => {
            let newest = match newest.first() {
                Some(info) => format!("newest run {} ago", units::age(app.now(), info.created_at)),
                None => "no runs yet".to_owned(),
            };
            let waiting = many(unfinished, "unfinished run", "unfinished runs");
            DoctorCheck::passed("journal", format!("{newest}, {waiting} to resume"))
        }
        Err(error) => DoctorCheck::failed("journal", &error.into()),
    };
    vec![
        DoctorCheck::passed("home", folder),
        // The home does not open with keys that others can read.
        DoctorCheck::passed("keys", "readable only by this user".to_owned()),
        journal,
    ]
}

/// Checks that the weights of an embedded model are installed. Loading them would take too long.
fn embedded(what: &str, spec: &ModelSpec, here: &EmbeddedModels) -> DoctorCheck {
    let chosen = here.choose(spec.name());
    let file = chosen.and_then(|chosen| Ok((here.file(&chosen.name)?, chosen)));
    match file {
        Ok((file, chosen)) if file.is_file() => {
            let instead = chosen.instead.map(|why| format!("; {why}"));
            let said = format!(
                "local/{}{}",
                shown(&chosen.name),
                instead.unwrap_or_default()
            );
            DoctorCheck::passed(what, said)
        }
        Ok((file, _)) => DoctorCheck {
            what: what.to_owned(),
            ok: false,
            detail: format!("weights not found at `{}`", file.display()),
            hint: Some("download them with `fathom models pull default`".to_owned()),
            exit: ExitStatus::Unreachable,
        },
        Err(error) => DoctorCheck::failed(what, &error.into()),
    }
}

async fn model(what: &str, spec: &ModelSpec, here: &EmbeddedModels) -> DoctorCheck {
    if spec.provider() == fathom_host::models::embedded::PROVIDER {
        return embedded(what, spec, here);
    }
    let name = shown(&spec.id);
    let health = match fathom_models::health(spec, environment::key).await {
        Ok(health) => health,
        Err(error) => return DoctorCheck::failed(what, &HostError::from(error).into()),
    };
    let hint = match health.state {
        HealthState::Up => {
            let took = units::latency(health.latency);
            return DoctorCheck::passed(what, format!("{name}: {} ({took})", health.detail));
        }
        HealthState::UnknownModel => "check the name after the slash",
        HealthState::KeyRefused => {
            "check the key; set `--api-key-header` if it is not sent as `Authorization: Bearer`"
        }
        HealthState::Down => "check that the server is running and that `--base-url` is correct",
    };
    DoctorCheck {
        what: what.to_owned(),
        ok: false,
        detail: format!("{name}: {}", health.detail),
        hint: Some(hint.to_owned()),
        exit: ExitStatus::Unreachable,
    }
}

impl DoctorCheck {
    fn passed(what: &str, detail: String) -> Self {
        Self {
            what: what.to_owned(),
            ok: true,
            detail,
            hint: None,
            exit: ExitStatus::Ok,
        }
    }

    fn failed(what: &str, error: &CliError) -> Self {
        let causes = error.causes().into_iter();
        let detail = std::iter::once(error.to_string()).chain(causes);
        Self {
            what: what.to_owned(),
            ok: false,
            detail: detail.collect::<Vec<_>>().join(": "),
            hint: Some(error.hint()),
            exit: error.exit(),
        }
    }

    fn lines(&self) -> Vec<StyledLine> {
        let head = if self.ok {
            StyledLine::new().with(LineStyle::Good, "✓ ok    ")
        } else {
            StyledLine::new().with(LineStyle::Bad, "✗ failed")
        };
        let mut lines = vec![
            head.with(LineStyle::Plain, format!("  {:<13}  ", self.what))
                .with(LineStyle::Plain, self.detail.clone()),
        ];
        if let Some(hint) = &self.hint {
            lines.push(
                StyledLine::new()
                    .with(LineStyle::Busy, "          hint")
                    .with(LineStyle::Plain, format!(": {hint}")),
            );
        }
        lines
    }
}
