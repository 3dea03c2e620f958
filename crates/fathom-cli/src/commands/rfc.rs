//! `fathom rfc`: changes of charters, and `fathom charter diff`.

use std::path::{Path, PathBuf};

use fathom_core::council_bus::CouncilRole;
use fathom_host::HostError;
use fathom_host::charter::{Charter, CharterVersion, HOME_FOLDER};
use fathom_host::governance::rfc::{
    CharterChange, MergeAuthority, RfcStore, RoleStatement, VersionBump, diff as differences,
};
use fathom_models::count_o200k;
use serde::Serialize;

use super::identity::{folder_of, label, read_key};
use crate::app::App;
use crate::args::{ProposalArgs, RfcCommand};
use crate::error::CliError;
use crate::exit_code::ExitStatus;
use crate::settings::{OutputFormat, RunSettings};
use crate::terminal::output;
use crate::terminal::plain_text::{one_line, pad, safe};
use crate::terminal::styled_line::{LineStyle, StyledLine};
use crate::view::units::{self, many};

pub(crate) fn carry_out(command: RfcCommand, app: &App) -> Result<ExitStatus, CliError> {
    match command {
        RfcCommand::Propose { dir, about } => {
            let (dir, onto) = places(app, &dir, &about)?;
            told(app, &app.runtime.propose(&dir, &onto, &about.why)?)
        }
        RfcCommand::Review { rfc, key, text } => {
            let rfc = app.runtime.find_rfc(&rfc.id)?;
            told(app, &app.runtime.review(&rfc, &read_key(&key)?, &text)?)
        }
        RfcCommand::Vote {
            rfc,
            ballot,
            key,
            why,
        } => {
            let rfc = app.runtime.find_rfc(&rfc.id)?;
            told(
                app,
                &app.runtime.vote(&rfc, &read_key(&key)?, ballot, &why)?,
            )
        }
        RfcCommand::Merge {
            rfc,
            reason,
            key,
            prime_key,
            ..
        } => {
            let rfc = app.runtime.find_rfc(&rfc.id)?;
            // The three go together: the arguments see to it.
            let merged = match (key, prime_key, reason) {
                (Some(key), Some(prime_key), Some(reason)) => {
                    let (creator, prime) = (read_key(&key)?, read_key(&prime_key)?);
                    let merge = MergeAuthority::Emergency {
                        creator: &creator,
                        prime: &prime,
                        reason: &reason,
                    };
                    app.runtime.merge(&rfc, merge)?
                }
                _ => app.runtime.merge(&rfc, MergeAuthority::Voted)?,
            };
            told(app, &merged)
        }
        RfcCommand::List => list(app),
        RfcCommand::Show { rfc } => told(app, &app.runtime.find_rfc(&rfc.id)?),
    }
}

/// The folder with the change, and the one that it is about.
pub(super) fn places(
    app: &App,
    dir: &Path,
    about: &ProposalArgs,
) -> Result<(PathBuf, PathBuf), CliError> {
    let base = std::env::current_dir().map_err(CliError::Setup)?;
    let dir = base.join(dir);
    let onto = if let Some(said) = &about.onto {
        folder_of(app, said)?
    } else {
        // Without the signature: a changed identity has an invalid one until it is proposed.
        let name = Charter::name_in(&dir).map_err(HostError::from)?;
        let named = app.settings.home.join(HOME_FOLDER).join(&name);
        if named.is_dir() {
            named
        } else {
            folder_of(app, &name)?
        }
    };
    Ok((dir, onto))
}

/// Prints a proposal as it stands now.
pub(super) fn told(app: &App, rfc: &RfcStore) -> Result<ExitStatus, CliError> {
    match app.settings.form {
        OutputFormat::Json => output::print_json(rfc)?,
        OutputFormat::Human => output::print(&lines(rfc))?,
    }
    Ok(ExitStatus::Ok)
}

#[derive(Serialize)]
struct ListJson<'a> {
    rfcs: Vec<RowJson<'a>>,
}

#[derive(Serialize)]
struct RowJson<'a> {
    id: &'a str,
    charter: &'a str,
    from: CharterVersion,
    to: CharterVersion,
    bump: VersionBump,
    identity: bool,
    state: &'static str,
    by: &'a str,
    at: String,
    why: &'a str,
}

fn state(rfc: &RfcStore) -> &'static str {
    match &rfc.merged {
        Some(merged) if merged.emergency.is_some() => "merged as an emergency",
        Some(_) => "merged",
        None if rfc.unreviewed().is_empty() => "reviewed",
        None => "proposed",
    }
}

fn list(app: &App) -> Result<ExitStatus, CliError> {
    let rfcs = app.runtime.rfcs()?;
    let rows = rfcs.iter().map(|rfc| RowJson {
        id: &rfc.id,
        charter: &rfc.proposal.charter,
        from: rfc.proposal.from,
        to: rfc.proposal.to,
        bump: rfc.proposal.bump,
        identity: rfc.proposal.changes_identity(),
        state: state(rfc),
        by: &rfc.by,
        at: units::moment(rfc.proposal.at),
        why: &rfc.proposal.why,
    });
    let rows: Vec<RowJson<'_>> = rows.collect();
    match app.settings.form {
        OutputFormat::Json => output::print_json(&ListJson { rfcs: rows })?,
        OutputFormat::Human if rows.is_empty() => {
            output::print(&[StyledLine::from("no proposals")])?;
        }
        OutputFormat::Human => {
            let line = |row: &RowJson<'_>| {
                StyledLine::new()
                    .with(LineStyle::Strong, row.id)
                    .with(
                        LineStyle::Plain,
                        format!("  {} {} → {}", safe(row.charter), row.from, row.to),
                    )
                    .with(LineStyle::Faint, format!("  {}  ", row.bump))
                    .with(LineStyle::Plain, row.state)
                    .with(LineStyle::Faint, format!("  {}", one_line(row.why)))
            };
            output::print(&rows.iter().map(line).collect::<Vec<_>>())?;
        }
    }
    Ok(ExitStatus::Ok)
}

fn lines(rfc: &RfcStore) -> Vec<StyledLine> {
    let proposal = &rfc.proposal;
    let head = format!(
        "  {} {} → {}  {}",
        safe(&proposal.charter),
        proposal.from,
        proposal.to,
        state(rfc)
    );
    let mut lines = vec![
        label("proposal")
            .with(LineStyle::Strong, rfc.id.clone())
            .with(LineStyle::Plain, head),
        label("why").with(LineStyle::Plain, one_line(&proposal.why)),
        label("by").with(
            LineStyle::Plain,
            format!("{}, {}", safe(&rfc.by), units::moment(proposal.at)),
        ),
    ];
    lines.extend(change_lines(&proposal.changes));
    lines.extend(rfc.reviews.iter().map(|review| spoken("review", review)));
    lines.extend(rfc.votes.iter().map(|vote| spoken("vote", vote)));
    let missing = rfc.unreviewed();
    if rfc.merged.is_none() {
        for role in missing {
            lines.push(label("missing").with(LineStyle::Odd, format!("review by {role}")));
        }
        lines.push(label("vote").with(LineStyle::Plain, rfc.outcome.to_string()));
    }
    if rfc.ignored > 0 {
        let ignored = many(rfc.ignored as u64, "invalid message", "invalid messages");
        lines.push(label("ignored").with(LineStyle::Odd, ignored));
    }
    if let Some(merged) = &rfc.merged {
        let at = units::moment(merged.at);
        lines.push(label("merged").with(LineStyle::Good, format!("{at}, by {}", safe(&merged.by))));
        if let Some(emergency) = &merged.emergency {
            lines.push(label("emergency").with(LineStyle::Odd, one_line(&emergency.reason)));
        }
        lines.push(label("kept").with(LineStyle::Plain, safe(&merged.kept.display().to_string())));
    }
    lines
}

fn spoken(what: &str, spoken: &RoleStatement) -> StyledLine {
    let ballot = spoken.ballot.map(|ballot| format!("{ballot}  "));
    let role = pad(spoken.role.as_str(), CouncilRole::CodeMind.as_str().len());
    label(what)
        .with(LineStyle::Strong, role)
        .with(
            LineStyle::Plain,
            format!("  {}{}", ballot.unwrap_or_default(), one_line(&spoken.text)),
        )
        .with(
            LineStyle::Faint,
            format!("  {} {}", spoken.by, units::moment(spoken.at)),
        )
}

/// Changes, file by file, old → new.
fn change_lines(changes: &[CharterChange]) -> Vec<StyledLine> {
    let mut lines = Vec::new();
    let mut file = "";
    for change in changes {
        if change.file != file {
            file = &change.file;
            lines.push(StyledLine::new().with(LineStyle::Strong, safe(file)));
        }
        lines.push(
            StyledLine::new()
                .with(LineStyle::Faint, format!("  {:<5}  ", change.bump))
                .with(LineStyle::Plain, safe(&change.key)),
        );
        let sides = [
            ("- ", &change.old, LineStyle::Bad),
            ("+ ", &change.new, LineStyle::Good),
        ];
        for (sign, value, tone) in sides {
            if let Some(value) = value {
                let said = value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned);
                lines.extend(
                    said.lines().map(|line| {
                        StyledLine::new().with(tone, format!("    {sign}{}", safe(line)))
                    }),
                );
            }
        }
    }
    lines
}

#[derive(Serialize)]
struct DiffJson<'a> {
    changes: &'a [CharterChange],
    bump: Option<VersionBump>,
    from: CharterVersion,
    to: CharterVersion,
    needed: Option<CharterVersion>,
}

/// Differences between two charters.
pub(super) fn diff(
    old: &str,
    new: &str,
    folder: &Path,
    settings: &RunSettings,
) -> Result<ExitStatus, CliError> {
    let find = |said: &str| Charter::find(said, folder, &settings.home, &count_o200k);
    let old = find(old).map_err(HostError::from)?;
    let new = find(new).map_err(HostError::from)?;
    let changes = differences::between(&old, &new);
    let bump = (!changes.is_empty()).then(|| differences::bump(&changes));
    let needed = bump.map(|bump| bump.after(old.version));
    match (settings.form, bump.zip(needed)) {
        (OutputFormat::Json, _) => output::print_json(&DiffJson {
            changes: &changes,
            bump,
            from: old.version,
            to: new.version,
            needed,
        })?,
        (OutputFormat::Human, None) => output::print(&[StyledLine::from("no differences")])?,
        (OutputFormat::Human, Some((bump, needed))) => {
            let mut lines = change_lines(&changes);
            let count = many(changes.len() as u64, "change", "changes");
            lines.push(StyledLine::from(format!(
                "{count}, {bump}: version {} must become at least {needed}; it is {}",
                old.version, new.version
            )));
            output::print(&lines)?;
        }
    }
    Ok(ExitStatus::Ok)
}
