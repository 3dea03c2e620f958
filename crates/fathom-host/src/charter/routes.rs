//! `[routes]`: which blocks go to which channels.

use std::collections::BTreeMap;

use fathom_core::channel::delivery::ChannelRoute;
use fathom_core::channel::marker::Marker;
use fathom_output::routes::{BlockFormat, MatrixError, RouteTable};
use toml::{Spanned, Table, Value};

use super::Charter;
use super::findings::FindingList;
use super::problem::CharterProblem;
use super::strict_toml::CharterSource;

/// Ways by the names of their markers.
pub type ChannelRoutes = BTreeMap<String, Vec<ChannelRoute>>;

/// The rows as they are written, each with its place.
pub(super) type RoutesTable = BTreeMap<Spanned<String>, Spanned<Value>>;

impl Charter {
    /// Destinations of blocks, with the protocol's defaults for absent keys.
    pub fn routes(&self) -> ChannelRoutes {
        self.routes
            .clone()
            .unwrap_or_else(|| of(&RouteTable::default()))
    }
}

/// Reads the table row by row, so that every mistake is told with its line.
pub(super) fn read(
    table: RoutesTable,
    source: &CharterSource<'_>,
    findings: &mut FindingList,
) -> ChannelRoutes {
    let mut rows = Table::new();
    for (name, row) in table {
        let (key, value) = (name.span(), row.span());
        // One row at a time: the matrix stops at its first error, and each row has a span of its own.
        let row = Table::from_iter([(name.into_inner(), row.into_inner())]);
        match RouteTable::from_routes(&row) {
            Ok(_) => rows.extend(row),
            Err(error) => {
                let at_key = matches!(error, MatrixError::UnknownMarker { .. });
                let span = if at_key { key } else { value };
                source.problem(Some(&span), CharterProblem::Routes(error), findings);
            }
        }
    }
    of(&RouteTable::from_routes(&rows).unwrap_or_default())
}

fn of(matrix: &RouteTable) -> ChannelRoutes {
    let row = |marker: Marker| {
        let ways = matrix.routes(marker).iter().map(|route| ChannelRoute {
            channel: route.channel.to_string(),
            log: route.form == BlockFormat::Log,
        });
        (marker.as_str().to_owned(), ways.collect())
    };
    Marker::ALL.map(row).into()
}
