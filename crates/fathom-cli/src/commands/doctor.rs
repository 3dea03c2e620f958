//! `fathom doctor`: is everything there that a run needs?

use fathom_core::model::ModelSpec;
use fathom_host::HostError;
use fathom_host::local::Embedded;
use fathom_models::HealthState;
use fathom_sandbox::Sandbox;
use serde::Serialize;

use crate::app::App;
use crate::commands::weights as local;
use crate::environment;
use crate::error::CliError;
use crate::exit::Exit;
use crate::figures::{self, many};
use crate::line::{Line, Tone};
use crate::model_choice::shown;
use crate::output;
use crate::settings::{Form, Settings};

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Check {
    what: String,
    ok: bool,
    detail: String,
    hint: Option<String>,
    /// The exit code that a failure asks for.
    #[serde(skip)]
    exit: Exit,
}

#[derive(Serialize)]
struct DoctorJson {
    ok: bool,
    checks: Vec<Check>,
}

pub(crate) async fn doctor(settings: Settings) -> Result<Exit, CliError> {
    let form = settings.form;
    let mut checks = vec![configuration(&settings)];
    let models = settings.model.models(environment::key);
    let weights = weights(&settings);
    let embedded = settings.embedded();
    let code = settings.sandbox();
    checks.extend(home(settings));
    checks.push(weights);
    match models {
        Ok(models) => {
            checks.push(model("model", &models.main, &embedded).await);
            if models.sub != models.main {
                checks.push(model("sub-model", &models.sub, &embedded).await);
            }
        }
        Err(error) => checks.push(Check::failed("model", &error)),
    }
    checks.push(sandbox(code).await);
    let failed = checks.iter().filter(|check| !check.ok);
    let exit = failed.map(|check| check.exit).max().unwrap_or(Exit::Ok);
    match form {
        Form::Json => output::print_json(&DoctorJson {
            ok: exit == Exit::Ok,
            checks,
        })?,
        Form::Human => {
            let lines: Vec<Line> = checks.iter().flat_map(Check::lines).collect();
            output::print(&lines)?;
        }
    }
    Ok(exit)
}

/// It was read before anything else; here it is only named.
fn configuration(settings: &Settings) -> Check {
    let detail = match &settings.config_file {
        Some(file) => file.display().to_string(),
        None => "no fathom.toml found; using flags and environment variables only".to_owned(),
    };
    Check::passed("configuration", detail)
}

/// What keeps code that a model wrote where it is.
async fn sandbox(sandbox: Sandbox) -> Check {
    match sandbox.isolation().await {
        Ok(isolation) => Check::passed("sandbox", isolation.to_string()),
        Err(error) => Check {
            hint: Some(error.hint()),
            ..Check::failed("sandbox", &CliError::from(HostError::from(error)))
        },
    }
}

/// The weights of the embedded model; a run on a server needs none.
fn weights(settings: &Settings) -> Check {
    let store = match local::store(settings) {
        Ok(store) => store,
        Err(error) => return Check::failed("weights", &error),
    };
    let state = local::state(&store);
    match state.damaged {
        None => Check::passed("weights", state.said),
        Some(name) => Check {
            what: "weights".to_owned(),
            ok: false,
            detail: state.said,
            hint: Some(format!(
                "download them again with `fathom models pull {name}`"
            )),
            exit: Exit::Unreachable,
        },
    }
}

fn home(settings: Settings) -> Vec<Check> {
    let folder = settings.home.display().to_string();
    let app = match App::open(settings) {
        Ok(app) => app,
        Err(error) => return vec![Check::failed("home", &error)],
    };
    let journal = app.runtime.runs(1).and_then(|newest| {
        let unfinished = app.runtime.unfinished()?.len() as u64;
        Ok((newest, unfinished))
    });
    let journal = match journal {
        Ok((newest, unfinished)) => {
            let newest = match newest.first() {
                Some(info) => format!(
                    "newest run {} ago",
                    figures::age(app.now(), info.created_at)
                ),
                None => "no runs yet".to_owned(),
            };
            let waiting = many(unfinished, "unfinished run", "unfinished runs");
            Check::passed("journal", format!("{newest}, {waiting} to resume"))
        }
        Err(error) => Check::failed("journal", &error.into()),
    };
    vec![
        Check::passed("home", folder),
        // The home does not open with keys that others can read.
        Check::passed("keys", "readable only by this user".to_owned()),
        journal,
    ]
}

/// Whether the weights of an embedded model are there. Loading them would take too long.
fn embedded(what: &str, spec: &ModelSpec, here: &Embedded) -> Check {
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
            Check::passed(what, said)
        }
        Ok((file, _)) => Check {
            what: what.to_owned(),
            ok: false,
            detail: format!("weights not found at `{}`", file.display()),
            hint: Some("download them with `fathom models pull default`".to_owned()),
            exit: Exit::Unreachable,
        },
        Err(error) => Check::failed(what, &error.into()),
    }
}

async fn model(what: &str, spec: &ModelSpec, here: &Embedded) -> Check {
    if spec.provider() == fathom_host::local::PROVIDER {
        return embedded(what, spec, here);
    }
    let name = shown(&spec.id);
    let health = match fathom_models::health(spec, environment::key).await {
        Ok(health) => health,
        Err(error) => return Check::failed(what, &HostError::from(error).into()),
    };
    let hint = match health.state {
        HealthState::Up => {
            let took = figures::latency(health.latency);
            return Check::passed(what, format!("{name}: {} ({took})", health.detail));
        }
        HealthState::UnknownModel => "check the name after the slash",
        HealthState::KeyRefused => {
            "check the key; set `--api-key-header` if it is not sent as `Authorization: Bearer`"
        }
        HealthState::Down => "check that the server is running and that `--base-url` is correct",
    };
    Check {
        what: what.to_owned(),
        ok: false,
        detail: format!("{name}: {}", health.detail),
        hint: Some(hint.to_owned()),
        exit: Exit::Unreachable,
    }
}

impl Check {
    fn passed(what: &str, detail: String) -> Self {
        Self {
            what: what.to_owned(),
            ok: true,
            detail,
            hint: None,
            exit: Exit::Ok,
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

    fn lines(&self) -> Vec<Line> {
        let head = if self.ok {
            Line::new().with(Tone::Good, "✓ ok    ")
        } else {
            Line::new().with(Tone::Bad, "✗ failed")
        };
        let mut lines = vec![
            head.with(Tone::Plain, format!("  {:<13}  ", self.what))
                .with(Tone::Plain, self.detail.clone()),
        ];
        if let Some(hint) = &self.hint {
            lines.push(
                Line::new()
                    .with(Tone::Busy, "          hint")
                    .with(Tone::Plain, format!(": {hint}")),
            );
        }
        lines
    }
}
