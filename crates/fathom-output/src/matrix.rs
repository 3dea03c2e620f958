//! The destination matrix: which blocks go to which channels. It is a charter's to say, within bounds.
//!
//! ```toml
//! [routes]
//! PLAN = [{ channel = "cli", log = true }, "council"]
//! THOUGHT_SEED = []
//! ```
//!
//! A row replaces the default row of its marker; rows that are not named stay as they are. Text under no marker goes where
//! `RESPONSE` goes. Commands go to the shell and nowhere else, and nothing else goes there: a charter can take that route
//! away and cannot make another.

use fathom_core::marker::Marker;
use toml::{Table, Value};

use crate::channels::Channel;

/// How a block is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As something that is said to the reader.
    Said,
    /// As a note about what happens, beside what is said.
    Log,
}

/// A way from a marker to a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    pub channel: Channel,
    /// How the block is shown there.
    pub form: Form,
}

/// Which blocks go to which channels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matrix {
    /// One row a marker, in the order of [`Marker::ALL`].
    rows: [(Marker, Vec<Route>); 6],
}

impl Default for Matrix {
    /// The matrix of the protocol, with a memory for seeds and results.
    fn default() -> Self {
        Self {
            rows: Marker::ALL.map(|marker| (marker, default_row(marker))),
        }
    }
}

fn default_row(marker: Marker) -> Vec<Route> {
    use Channel::{Cli, Council, Discord, Memory, Shell, Web};
    let channels: &[Channel] = match marker {
        Marker::Plan => {
            let log = Route {
                channel: Cli,
                form: Form::Log,
            };
            return vec![log, said(Council)];
        }
        Marker::Execute => &[Shell],
        Marker::Response => &[Cli, Web, Discord],
        Marker::ThoughtSeed => &[Council, Memory],
        Marker::Interrupt => &[Cli, Web, Discord, Council],
        Marker::Verify => &[Cli, Web, Discord, Council, Memory],
    };
    channels.iter().copied().map(said).collect()
}

const fn said(channel: Channel) -> Route {
    Route {
        channel,
        form: Form::Said,
    }
}

impl Matrix {
    /// Reads a file that has a table `routes` and nothing else.
    pub fn parse(text: &str) -> Result<Self, MatrixError> {
        let mut file: Table = toml::from_str(text).map_err(|error| MatrixError::Unreadable {
            cause: error.message().to_owned(),
        })?;
        let routes = match file.remove("routes") {
            None => Table::new(),
            Some(Value::Table(routes)) => routes,
            Some(_) => return Err(unreadable("`routes` is no table")),
        };
        match file.keys().next() {
            Some(key) => Err(unreadable(format!("`{key}` is not known here"))),
            None => Self::from_routes(&routes),
        }
    }

    /// Reads the table `routes` of a charter.
    pub fn from_routes(routes: &Table) -> Result<Self, MatrixError> {
        let mut matrix = Self::default();
        for (name, row) in routes {
            let marker = Marker::from_name(name).ok_or_else(|| MatrixError::UnknownMarker {
                name: name.to_owned(),
            })?;
            let row = read_row(marker, row)?;
            for (known, routes) in &mut matrix.rows {
                if *known == marker {
                    routes.clone_from(&row);
                }
            }
        }
        Ok(matrix)
    }

    /// Where blocks under a marker go, in the order of [`Channel::ALL`].
    pub fn routes(&self, marker: Marker) -> &[Route] {
        self.rows
            .iter()
            .find(|(known, _)| *known == marker)
            .map_or(&[], |(_, routes)| routes)
    }
}

fn read_row(marker: Marker, row: &Value) -> Result<Vec<Route>, MatrixError> {
    let entries = row.as_array().ok_or(MatrixError::NotARow { marker })?;
    let mut routes: Vec<Route> = Vec::new();
    for entry in entries {
        let route = read_route(marker, entry)?;
        let channel = route.channel;
        if routes.iter().any(|known| known.channel == channel) {
            return Err(MatrixError::Twice { marker, channel });
        }
        if marker == Marker::Execute && channel != Channel::Shell {
            return Err(MatrixError::CommandsElsewhere { channel });
        }
        if marker != Marker::Execute && channel == Channel::Shell {
            return Err(MatrixError::NoCommands { marker });
        }
        if route.form == Form::Log && !channel.streams() {
            return Err(MatrixError::NoLog { marker, channel });
        }
        routes.push(route);
    }
    routes.sort_by_key(|route| route.channel);
    Ok(routes)
}

fn read_route(marker: Marker, entry: &Value) -> Result<Route, MatrixError> {
    let (name, form) = match entry {
        Value::String(name) => (name, Form::Said),
        Value::Table(table) => {
            let is_known = |key: &String| key == "channel" || key == "log";
            let form = match table.get("log") {
                None | Some(Value::Boolean(false)) => Form::Said,
                Some(Value::Boolean(true)) => Form::Log,
                Some(_) => return Err(MatrixError::NotARow { marker }),
            };
            match table.get("channel") {
                Some(Value::String(name)) if table.keys().all(is_known) => (name, form),
                _ => return Err(MatrixError::NotARow { marker }),
            }
        }
        _ => return Err(MatrixError::NotARow { marker }),
    };
    let channel = Channel::from_name(name).ok_or_else(|| MatrixError::UnknownChannel {
        marker,
        name: name.to_owned(),
    })?;
    Ok(Route { channel, form })
}

fn unreadable(cause: impl Into<String>) -> MatrixError {
    MatrixError::Unreadable {
        cause: cause.into(),
    }
}

/// What can be wrong with a matrix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MatrixError {
    /// It is no TOML, or has more in it than routes.
    #[error("the routes cannot be read: {cause}")]
    Unreadable {
        cause: String,
    },
    /// A row for a marker that there is not.
    #[error("there is no marker `{name}`")]
    UnknownMarker {
        /// What was written.
        name: String,
    },
    /// A row that is no list of channels.
    #[error("the routes of `{marker}` are no list of channels")]
    NotARow {
        marker: Marker,
    },
    /// A channel that there is not.
    #[error("`{marker}` is to go to `{name}`, which is no channel")]
    UnknownChannel {
        marker: Marker,
        /// What was written.
        name: String,
    },
    /// One channel twice in a row.
    #[error("`{marker}` is to go to `{channel}` twice")]
    Twice {
        marker: Marker,
        channel: Channel,
    },
    /// Commands are to go to where they are not run.
    #[error("`EXECUTE` is to go to `{channel}`, and commands go to `shell` only")]
    CommandsElsewhere {
        channel: Channel,
    },
    /// Something else than commands is to be run.
    #[error("`{marker}` is to go to `shell`, which takes commands only")]
    NoCommands {
        marker: Marker,
    },
    /// A note on a channel that has no place for notes.
    #[error("`{marker}` is to go to `{channel}` as a log, which only `cli` and `web` have")]
    NoLog {
        marker: Marker,
        channel: Channel,
    },
}

impl MatrixError {
    /// The code of the error's page.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "F1020",
            Self::UnknownMarker { .. } => "F1021",
            Self::NotARow { .. } => "F1022",
            Self::UnknownChannel { .. } => "F1023",
            Self::Twice { .. } => "F1024",
            Self::CommandsElsewhere { .. } => "F1025",
            Self::NoCommands { .. } => "F1026",
            Self::NoLog { .. } => "F1027",
        }
    }

    /// What to do about it.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "write a table `[routes]` with one line a marker",
            Self::UnknownMarker { .. } => {
                "there are PLAN, EXECUTE, RESPONSE, THOUGHT_SEED, INTERRUPT and VERIFY"
            }
            Self::NotARow { .. } => {
                r#"write `["cli", "council"]`, with `{ channel = "cli", log = true }` for a log"#
            }
            Self::UnknownChannel { .. } => "there are cli, web, discord, council, shell and memory",
            Self::Twice { .. } => "name each channel once in a row",
            Self::CommandsElsewhere { .. } => {
                r#"write `EXECUTE = ["shell"]`, or `EXECUTE = []` to run nothing"#
            }
            Self::NoCommands { .. } => "take `shell` out of the row",
            Self::NoLog { .. } => "leave `log` out, or take the channel out of the row",
        }
    }
}

#[cfg(test)]
#[path = "matrix_tests.rs"]
mod tests;
