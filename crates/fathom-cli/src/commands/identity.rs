//! `fathom identity`: who speaks, who signed that, and who may change it.

use std::path::{Path, PathBuf};

use fathom_core::unit::Millis;
use fathom_host::HostError;
use fathom_host::charter::Charter;
use fathom_host::governance::identity::{
    IdentityChange, IdentityChangePath as Way, IdentityError, IdentityStanding, IdentityView,
    SigningKeys,
};
use fathom_models::count_o200k;
use fathom_store::{ApproverKey, PublicKey};
use serde::Serialize;

use super::rfc;
use crate::app::App;
use crate::args::{IdentityCommand, ProposalArgs};
use crate::atomic_file::{self, Existing};
use crate::error::CliError;
use crate::exit_code::ExitStatus;
use crate::settings::OutputFormat;
use crate::terminal::output;
use crate::terminal::plain_text::{pad, safe};
use crate::terminal::styled_line::{LineStyle, StyledLine};
use crate::view::units;

/// Columns of the word that begins a line.
const LABEL_COLUMNS: usize = 14;

#[derive(Serialize)]
struct KeyJson {
    public: PublicKey,
    fingerprint: String,
    file: PathBuf,
}

pub(crate) fn carry_out(command: IdentityCommand, app: &App) -> Result<ExitStatus, CliError> {
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

pub(super) fn label(name: &str) -> StyledLine {
    StyledLine::new().with(LineStyle::Faint, pad(name, LABEL_COLUMNS))
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
    // A name with a separator could lead out of the home.
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

fn show(app: &App, which: Option<&str>) -> Result<ExitStatus, CliError> {
    let charter = match which {
        None => app.settings.charter()?,
        Some(said) => {
            let base = std::env::current_dir().map_err(CliError::Setup)?;
            Charter::find(said, &base, &app.settings.home, &count_o200k).map_err(HostError::from)?
        }
    };
    let view = app.runtime.identity_view(&charter)?;
    match app.settings.form {
        OutputFormat::Json => output::print_json(&view)?,
        OutputFormat::Human => output::print(&lines(&view))?,
    }
    Ok(ExitStatus::Ok)
}

fn lines(view: &IdentityView) -> Vec<StyledLine> {
    let mut lines = vec![
        label("charter").with(LineStyle::Strong, view.charter.clone()),
        label("fingerprint").with(LineStyle::Plain, view.identity.to_string()),
        standing(&view.standing),
    ];
    if view.text.is_empty() {
        lines.push(label("identity").with(LineStyle::Faint, "(empty)"));
    }
    for (at, line) in view.text.lines().enumerate() {
        let name = if at == 0 { "identity" } else { "" };
        lines.push(label(name).with(LineStyle::Plain, safe(line)));
    }
    for (at, change) in view.changes.iter().enumerate() {
        let name = if at == 0 { "changes" } else { "" };
        lines.push(label(name).with(LineStyle::Plain, told(change)));
    }
    let steady = &view.stability;
    let score = steady.score_milli.map_or("none".to_owned(), |milli| {
        format!("{:.3}", f64::from(milli) / 1000.0)
    });
    let Millis(watched) = steady.watched;
    let hours = format!("{} h {} min", watched / 3_600_000, watched / 60_000 % 60);
    lines.push(label("stability").with(
        LineStyle::Plain,
        format!("score {score}, observed for {hours}"),
    ));
    lines.push(match &steady.broken {
        None => label("governance").with(
            LineStyle::Good,
            "session available: the stack has been stable for 24 h",
        ),
        Some(why) => {
            label("governance").with(LineStyle::Odd, format!("session not available: {why}"))
        }
    });
    lines
}

fn standing(standing: &IdentityStanding) -> StyledLine {
    let line = label("signature");
    match standing {
        IdentityStanding::Unsigned => line.with(LineStyle::Odd, "unsigned"),
        IdentityStanding::Verified { key } => line.with(LineStyle::Good, "verified").with(
            LineStyle::Plain,
            format!(": signed by the creator, key:{}", key.fingerprint()),
        ),
        IdentityStanding::UnknownSigner { key } => line.with(LineStyle::Odd, "not verified").with(
            LineStyle::Plain,
            format!(
                ": signed by key:{}, but this home has no creator key",
                key.fingerprint()
            ),
        ),
    }
}

fn told(change: &IdentityChange) -> String {
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
        units::moment(change.at),
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
) -> Result<ExitStatus, CliError> {
    let folder = folder_of(app, which)?;
    let signing = SigningKeys {
        creator,
        emergency: prime.map(|prime| (prime, reason)),
    };
    let signed = app.runtime.sign_identity(&folder, signing)?;
    match app.settings.form {
        OutputFormat::Json => output::print_json(&signed)?,
        OutputFormat::Human => output::print(&[StyledLine::from(format!(
            "signed the identity of {} as key:{}: {}",
            signed.charter,
            creator.public().fingerprint(),
            signed.identity
        ))])?,
    }
    Ok(ExitStatus::Ok)
}

fn propose(
    app: &App,
    dir: &Path,
    key: &Path,
    about: &ProposalArgs,
) -> Result<ExitStatus, CliError> {
    let (dir, onto) = rfc::places(app, dir, about)?;
    let key = read_key(key)?;
    let made = app
        .runtime
        .propose_identity(&dir, &onto, &key, &about.why)?;
    rfc::told(app, &made)
}

fn keygen(app: &App, file: &Path) -> Result<ExitStatus, CliError> {
    let unwritable = |source| CliError::Unwritable {
        file: file.to_owned(),
        source,
    };
    // An overwritten key cannot be recovered, and no other one may change the identity that it signed.
    if atomic_file::look(file).map_err(unwritable)? != Existing::Nothing {
        return Err(CliError::NotReplaced {
            file: file.to_owned(),
            why: "key files are never overwritten",
        });
    }
    let public = ApproverKey::create(file).map_err(HostError::from)?.public();
    let fingerprint = public.fingerprint();
    match app.settings.form {
        OutputFormat::Json => output::print_json(&KeyJson {
            public,
            fingerprint,
            file: file.to_owned(),
        })?,
        OutputFormat::Human => output::print(&[
            StyledLine::from(public.to_string()),
            StyledLine::new().with(LineStyle::Faint, format!("key:{fingerprint}")),
        ])?,
    }
    Ok(ExitStatus::Ok)
}
