//! The help of `fathom` itself, with the commands grouped by what people do.
//!
//! Clap lists all subcommands under one heading, so the list is made here from clap's own names and descriptions.

use std::fmt::Write as _;

use clap::CommandFactory as _;
use clap::builder::styling::Styles;

use super::Cli;

/// Commands by purpose, in the order in which a new user meets them.
const GROUPS: [(&str, &[&str]); 5] = [
    (
        "Work",
        &[
            "ask", "council", "rlm", "phases", "think", "agency", "repl", "redact",
        ],
    ),
    (
        "Runs and their records",
        &[
            "runs", "show", "resume", "cancel", "fork", "replay", "verify", "stats", "shred",
        ],
    ),
    (
        "Decisions by people",
        &[
            "approvals",
            "approve",
            "deny",
            "tickets",
            "override",
            "kill",
        ],
    ),
    (
        "Symbols, sessions and ideas",
        &["symbols", "kits", "personas", "session", "seeds"],
    ),
    ("Setup", &["doctor", "models", "charter", "identity", "rfc"]),
];

/// The command line with its grouped help.
pub(crate) fn command() -> clap::Command {
    let command = Cli::command();
    let template = template(&command);
    command.help_template(template)
}

fn template(command: &clap::Command) -> String {
    let styles = Styles::styled();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let mut text = "{about}\n\n{usage-heading} {usage}\n".to_owned();
    for (heading, names) in GROUPS {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\n{header}{heading}:{header:#}");
        for name in names {
            let about = command
                .find_subcommand(name)
                .and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {literal}{name:<9}{literal:#}  {about}");
        }
    }
    // Clap's `{options}` comes without the heading of its flags.
    let _ = write!(
        text,
        "\n{header}Global flags:{header:#}\n{{options}}{{after-help}}"
    );
    text
}

#[cfg(test)]
#[path = "help_tests.rs"]
mod tests;
