//! `fathom identity`: who speaks, who signed that, and who may change it.

use std::path::{Path, PathBuf};

use fathom_core::unit::Millis;
use fathom_host::HostError;
use fathom_host::charter::Charter;
use fathom_host::identity::{Change, IdentityError, IdentityView, Path as Way, Signing, Standing};
use fathom_models::count_o200k;
use fathom_store::{ApproverKey, PublicKey};
use serde::Serialize;

use super::rfc;
use crate::app::App;
use crate::error::CliError;
use crate::exit::Exit;
use crate::figures;
use crate::line::{Line, Tone};
use crate::output;
use crate::plain_text::{pad, safe};
use crate::settings::Form;
use crate::typed::{About, IdentityCommand};
use crate::whole_file::{self, There};

/// Columns of the word that begins a line.
const LABEL_COLUMNS: usize = 14;

#[derive(Serialize)]
struct KeyJson {
    public: PublicKey,
    fingerprint: String,
    file: PathBuf,
}

pub(crate) fn carry_out(command: IdentityCommand, app: &App) -> Result<Exit, CliError> {
    match command {
        IdentityCommand::Show { which } => show(app, which.as_deref()),
        IdentityCommand::Sign {
            which,
            key,
            prime_key,
            reason,
        } => {
            let prime = prime_key.as_deref().map(read_key).transpose()?;
            let reason = reason.unwrap_or_default();
            sign(app, &which, &read_key(&key)?, prime.as_ref(), &reason)
        }
        IdentityCommand::Propose { dir, key, about } => propose(app, &dir, &key, &about),
        IdentityCommand::Keygen { file } => keygen(app, &file),
    }
}

pub(super) fn read_key(file: &Path) -> Result<ApproverKey, CliError> {
    Ok(ApproverKey::read(file).map_err(HostError::from)?)
}

pub(super) fn label(name: &str) -> Line {
    Line::new().with(Tone::Faint, pad(name, LABEL_COLUMNS))
}

/// The folder that a user means; a built-in charter has none.
pub(super) fn folder_of(app: &App, said: &str) -> Result<PathBuf, CliError> {
    let base = std::env::current_dir().map_err(CliError::Setup)?;
    // A signature that does not fit any more is what `sign` is for, so the charter need not load.
    let given = base.join(said);
    if given.is_dir() {
        return Ok(given);
    }
    let named = app
        .settings
        .home
        .join(fathom_host::charter::HOME_FOLDER)
        .join(said);
    if !said.contains(['/', '.']) && named.is_dir() {
        return Ok(named);
    }
    let charter = Charter::find(said, &base, &app.settings.home, &count_o200k);
    let charter = charter.map_err(HostError::from)?;
    let built_in = IdentityError::BuiltIn {
        charter: charter.name,
    };
    Ok(charter.folder.ok_or(HostError::from(built_in))?)
}

fn show(app: &App, which: Option<&str>) -> Result<Exit, CliError> {
    let charter = match which {
        None => app.settings.charter()?,
        Some(said) => {
            let base = std::env::current_dir().map_err(CliError::Setup)?;
            Charter::find(said, &base, &app.settings.home, &count_o200k).map_err(HostError::from)?
        }
    };
    let view = app.runtime.identity_view(&charter)?;
    match app.settings.form {
        Form::Json => output::print_json(&view)?,
        Form::Human => output::print(&lines(&view))?,
    }
    Ok(Exit::Ok)
}

fn lines(view: &IdentityView) -> Vec<Line> {
    let mut lines = vec![
        label("charter").with(Tone::Strong, view.charter.clone()),
        label("fingerprint").with(Tone::Plain, view.identity.to_string()),
        standing(&view.standing),
    ];
    if view.text.is_empty() {
        lines.push(label("identity").with(Tone::Faint, "(empty)"));
    }
    for (at, line) in view.text.lines().enumerate() {
        let name = if at == 0 { "identity" } else { "" };
        lines.push(label(name).with(Tone::Plain, safe(line)));
    }
    for (at, change) in view.changes.iter().enumerate() {
        let name = if at == 0 { "changes" } else { "" };
        lines.push(label(name).with(Tone::Plain, told(change)));
    }
    let steady = &view.stability;
    let score = steady.score_milli.map_or("none".to_owned(), |milli| {
        format!("{:.3}", f64::from(milli) / 1000.0)
    });
    let Millis(watched) = steady.watched;
    let hours = format!("{} h {} min", watched / 3_600_000, watched / 60_000 % 60);
    lines
        .push(label("stability").with(Tone::Plain, format!("score {score}, observed for {hours}")));
    lines.push(match &steady.broken {
        None => label("governance").with(
            Tone::Good,
            "session available: the stack has been stable for 24 h",
        ),
        Some(why) => label("governance").with(Tone::Odd, format!("session not available: {why}")),
    });
    lines
}

fn standing(standing: &Standing) -> Line {
    let line = label("signature");
    match standing {
        Standing::Unsigned => line.with(Tone::Odd, "unsigned"),
        Standing::Verified { key } => line.with(Tone::Good, "verified").with(
            Tone::Plain,
            format!(": signed by the creator, key:{}", key.fingerprint()),
        ),
        Standing::UnknownSigner { key } => line.with(Tone::Odd, "not verified").with(
            Tone::Plain,
            format!(
                ": signed by key:{}, but this home has no creator key",
                key.fingerprint()
            ),
        ),
    }
}

fn told(change: &Change) -> String {
    let digest: String = change.identity.to_string().chars().take(12).collect();
    let way = match change.path {
        None => "first seen here, signed elsewhere",
        Some(Way::Creator) => "signed by the creator",
        Some(Way::Emergency) => "emergency, signed by the creator and Prime",
        Some(Way::Session) => "governance session",
    };
    let reason = change
        .reason
        .as_deref()
        .map(|reason| format!(": {}", safe(reason)));
    format!(
        "{}  {digest}  {way}{}  {}",
        figures::moment(change.at),
        reason.unwrap_or_default(),
        change.by
    )
}

fn sign(
    app: &App,
    which: &str,
    creator: &ApproverKey,
    prime: Option<&ApproverKey>,
    reason: &str,
) -> Result<Exit, CliError> {
    let folder = folder_of(app, which)?;
    let signing = Signing {
        creator,
        emergency: prime.map(|prime| (prime, reason)),
    };
    let signed = app.runtime.sign_identity(&folder, signing)?;
    match app.settings.form {
        Form::Json => output::print_json(&signed)?,
        Form::Human => output::print(&[Line::from(format!(
            "signed the identity of {} as key:{}: {}",
            signed.charter,
            creator.public().fingerprint(),
            signed.identity
        ))])?,
    }
    Ok(Exit::Ok)
}

fn propose(app: &App, dir: &Path, key: &Path, about: &About) -> Result<Exit, CliError> {
    let (dir, onto) = rfc::places(app, dir, about)?;
    let key = read_key(key)?;
    let made = app
        .runtime
        .propose_identity(&dir, &onto, &key, &about.why)?;
    rfc::told(app, &made)
}

fn keygen(app: &App, file: &Path) -> Result<Exit, CliError> {
    let unwritable = |source| CliError::Unwritable {
        file: file.to_owned(),
        source,
    };
    if whole_file::look(file).map_err(unwritable)? != There::Nothing {
        return Err(CliError::NotReplaced {
            file: file.to_owned(),
            why: "key files are never overwritten",
        });
    }
    let public = ApproverKey::create(file).map_err(HostError::from)?.public();
    let fingerprint = public.fingerprint();
    match app.settings.form {
        Form::Json => output::print_json(&KeyJson {
            public,
            fingerprint,
            file: file.to_owned(),
        })?,
        Form::Human => output::print(&[
            Line::from(public.to_string()),
            Line::new().with(Tone::Faint, format!("key:{fingerprint}")),
        ])?,
    }
    Ok(Exit::Ok)
}
