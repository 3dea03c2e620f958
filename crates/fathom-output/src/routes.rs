//! The destination matrix: channels of each marker. A charter sets it, within bounds.
//!
//! ```toml
//! [routes]
//! PLAN = [{ channel = "cli", log = true }, "council"]
//! THOUGHT_SEED = []
//! ```
//!
//! A row replaces the default row of its marker; other rows keep their defaults. Text without a marker goes
//! where `RESPONSE` goes. Commands go to the shell and nowhere else, and nothing else goes there: a charter can
//! remove that route but not add another.

use fathom_core::channel::marker::Marker;
use toml::{Table, Value};

use crate::channels::OutputChannel;

/// Presentation of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockFormat {
    /// As text for the reader.
    Said,
    /// As a note about what happens, beside the text.
    Log,
}

/// A route from a marker to a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelRouteRow {
    pub channel: OutputChannel,
    /// Presentation of the block there.
    pub form: BlockFormat,
}

/// The channels of each marker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteTable {
    /// One row per marker, in the order of [`Marker::ALL`].
    rows: [(Marker, Vec<ChannelRouteRow>); 6],
}

impl Default for RouteTable {
    /// The protocol's matrix, extended by a memory for seeds and results.
    fn default() -> Self {
        Self {
            rows: Marker::ALL.map(|marker| (marker, default_row(marker))),
        }
    }
}

fn default_row(marker: Marker) -> Vec<ChannelRouteRow> {
    use OutputChannel::{Cli, Council, Discord, Memory, Shell, Web};
    let channels: &[OutputChannel] = match marker {
        Marker::Plan => {
            let log = ChannelRouteRow {
                channel: Cli,
                form: BlockFormat::Log,
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

const fn said(channel: OutputChannel) -> ChannelRouteRow {
    ChannelRouteRow {
        channel,
        form: BlockFormat::Said,
    }
}

impl RouteTable {
    /// Parses a file that contains only a table `routes`.
    pub fn parse(text: &str) -> Result<Self, MatrixError> {
        let mut file: Table = toml::from_str(text).map_err(|error| MatrixError::Unreadable {
            cause: error.message().to_owned(),
        })?;
        let routes = match file.remove("routes") {
            None => Table::new(),
            Some(Value::Table(routes)) => routes,
            Some(_) => return Err(unreadable("`routes` must be a table")),
        };
        match file.keys().next() {
            Some(key) => Err(unreadable(format!("unknown key `{key}`"))),
            None => Self::from_routes(&routes),
        }
    }

    /// Parses the table `routes` of a charter.
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

    /// Channels of a marker, in the order of [`OutputChannel::ALL`].
    pub fn routes(&self, marker: Marker) -> &[ChannelRouteRow] {
        self.rows
            .iter()
            .find(|(known, _)| *known == marker)
            .map_or(&[], |(_, routes)| routes)
    }
}

fn read_row(marker: Marker, row: &Value) -> Result<Vec<ChannelRouteRow>, MatrixError> {
    let entries = row.as_array().ok_or(MatrixError::NotARow { marker })?;
    let mut routes: Vec<ChannelRouteRow> = Vec::new();
    for entry in entries {
        let route = read_route(marker, entry)?;
        let channel = route.channel;
        if routes.iter().any(|known| known.channel == channel) {
            return Err(MatrixError::Twice { marker, channel });
        }
        if marker == Marker::Execute && channel != OutputChannel::Shell {
            return Err(MatrixError::CommandsElsewhere { channel });
        }
        if marker != Marker::Execute && channel == OutputChannel::Shell {
            return Err(MatrixError::NoCommands { marker });
        }
        if route.form == BlockFormat::Log && !channel.streams() {
            return Err(MatrixError::NoLog { marker, channel });
        }
        routes.push(route);
    }
    // In a fixed order, whatever the charter's: deliveries are recorded.
    routes.sort_by_key(|route| route.channel);
    Ok(routes)
}

fn read_route(marker: Marker, entry: &Value) -> Result<ChannelRouteRow, MatrixError> {
    let (name, form) = match entry {
        Value::String(name) => (name, BlockFormat::Said),
        Value::Table(table) => {
            let is_known = |key: &String| key == "channel" || key == "log";
            let form = match table.get("log") {
                None | Some(Value::Boolean(false)) => BlockFormat::Said,
                Some(Value::Boolean(true)) => BlockFormat::Log,
                Some(_) => return Err(MatrixError::NotARow { marker }),
            };
            match table.get("channel") {
                Some(Value::String(name)) if table.keys().all(is_known) => (name, form),
                _ => return Err(MatrixError::NotARow { marker }),
            }
        }
        _ => return Err(MatrixError::NotARow { marker }),
    };
    let channel = OutputChannel::from_name(name).ok_or_else(|| MatrixError::UnknownChannel {
        marker,
        name: name.to_owned(),
    })?;
    Ok(ChannelRouteRow { channel, form })
}

fn unreadable(cause: impl Into<String>) -> MatrixError {
    MatrixError::Unreadable {
        cause: cause.into(),
    }
}

/// An invalid matrix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MatrixError {
    /// It is not TOML, or contains more than routes.
    #[error("invalid routes: {cause}")]
    Unreadable { cause: String },
    /// A row for an unknown marker.
    #[error("unknown marker `{name}`")]
    UnknownMarker { name: String },
    /// A row that is not a list of channels.
    #[error("routes for `{marker}` must be a list of channels")]
    NotARow { marker: Marker },
    /// An unknown channel.
    #[error("`{marker}` is routed to unknown channel `{name}`")]
    UnknownChannel { marker: Marker, name: String },
    /// The same channel twice in a row.
    #[error("`{marker}` is routed to `{channel}` twice")]
    Twice {
        marker: Marker,
        channel: OutputChannel,
    },
    /// Commands routed to a channel that does not run them.
    #[error("`EXECUTE` is routed to `{channel}`, but commands may only go to `shell`")]
    CommandsElsewhere { channel: OutputChannel },
    /// A marker other than `EXECUTE` routed to the shell.
    #[error("`{marker}` is routed to `shell`, which accepts only commands")]
    NoCommands { marker: Marker },
    /// A log on a channel that has no place for it.
    #[error("`{marker}` is routed to `{channel}` as a log, which only `cli` and `web` support")]
    NoLog {
        marker: Marker,
        channel: OutputChannel,
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

    /// Advice for the user.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "write a table `[routes]` with one line per marker",
            Self::UnknownMarker { .. } => {
                "use PLAN, EXECUTE, RESPONSE, THOUGHT_SEED, INTERRUPT or VERIFY"
            }
            Self::NotARow { .. } => {
                r#"write a list such as `["cli", "council"]`; for a log, write `{ channel = "cli", log = true }`"#
            }
            Self::UnknownChannel { .. } => "use cli, web, discord, council, shell or memory",
            Self::Twice { .. } => "name each channel once in a row",
            Self::CommandsElsewhere { .. } => {
                r#"write `EXECUTE = ["shell"]`, or `EXECUTE = []` to run nothing"#
            }
            Self::NoCommands { .. } => "remove `shell` from the row",
            Self::NoLog { .. } => "remove `log`, or remove the channel from the row",
        }
    }
}

#[cfg(test)]
#[path = "routes_tests.rs"]
mod tests;
