//! `[routes]`: which blocks go to which channels.

use std::collections::BTreeMap;

use fathom_core::delivery::Way;
use fathom_core::marker::Marker;
use fathom_output::matrix::{Form, Matrix, MatrixError};
use toml::{Spanned, Table, Value};

use super::Charter;
use super::findings::Findings;
use super::flaw::Flaw;
use super::source::Source;

/// Ways by the names of their markers.
pub type Routes = BTreeMap<String, Vec<Way>>;

/// The rows as they are written, each with its place.
pub(super) type RoutesTable = BTreeMap<Spanned<String>, Spanned<Value>>;

impl Charter {
    /// Where its blocks go: as it says, and where it says nothing as the protocol does.
    pub fn routes(&self) -> Routes {
        self.routes
            .clone()
            .unwrap_or_else(|| of(&Matrix::default()))
    }
}

/// Reads the table row by row, so that every mistake is told with its line.
pub(super) fn read(table: RoutesTable, source: &Source<'_>, findings: &mut Findings) -> Routes {
    let mut rows = Table::new();
    for (name, row) in table {
        let (key, value) = (name.span(), row.span());
        let row = Table::from_iter([(name.into_inner(), row.into_inner())]);
        match Matrix::from_routes(&row) {
            Ok(_) => rows.extend(row),
            Err(error) => {
                let at_key = matches!(error, MatrixError::UnknownMarker { .. });
                let span = if at_key { key } else { value };
                source.problem(Some(&span), Flaw::Routes(error), findings);
            }
        }
    }
    of(&Matrix::from_routes(&rows).unwrap_or_default())
}

fn of(matrix: &Matrix) -> Routes {
    let row = |marker: Marker| {
        let ways = matrix.routes(marker).iter().map(|route| Way {
            channel: route.channel.to_string(),
            log: route.form == Form::Log,
        });
        (marker.as_str().to_owned(), ways.collect())
    };
    Marker::ALL.map(row).into()
}
