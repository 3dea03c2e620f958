//! Tables that fit the terminal.

use crate::terminal::plain_text::{columns, pad, pad_front};
use crate::terminal::styled_line::{LineStyle, StyledLine};

/// Gap between two columns.
pub(crate) const GAP: &str = "  ";

/// A column of a table.
pub(crate) struct TableColumn {
    pub(crate) head: String,
    pub(crate) side: ColumnSide,
    pub(crate) cells: Vec<String>,
}

/// Alignment of a column's text.
#[derive(Clone, Copy)]
pub(crate) enum ColumnSide {
    Left,
    Right,
}

impl TableColumn {
    pub(crate) fn new(head: impl Into<String>, side: ColumnSide, cells: Vec<String>) -> Self {
        Self {
            head: head.into(),
            side,
            cells,
        }
    }

    pub(crate) fn width(&self) -> usize {
        let cells = self.cells.iter().map(|cell| columns(cell));
        cells.max().unwrap_or(0).max(columns(&self.head))
    }

    pub(crate) fn padded(&self, cell: &str) -> String {
        match self.side {
            ColumnSide::Left => pad(cell, self.width()),
            ColumnSide::Right => pad_front(cell, self.width()),
        }
    }
}

/// Columns that a table takes, the gap after its last one included.
pub(crate) fn taken(table: &[TableColumn]) -> usize {
    table.iter().map(|column| column.width() + GAP.len()).sum()
}

/// Leaves out columns, in the order they are named, until the table takes at most `width`.
pub(crate) fn fit(table: &mut Vec<TableColumn>, dropped: &[&str], width: usize) {
    for head in dropped {
        if taken(table) <= width {
            break;
        }
        // Whole columns instead of narrower cells: half a number is worse than none.
        table.retain(|column| column.head != *head);
    }
}

/// The table in lines: its heads, then its rows.
pub(crate) fn lines(table: &[TableColumn], width: usize) -> Vec<StyledLine> {
    let rows = table.iter().map(|column| column.cells.len()).max();
    let line = |tone, cell: &dyn Fn(&TableColumn) -> String| {
        let cells: Vec<String> = table
            .iter()
            .map(|column| column.padded(&cell(column)))
            .collect();
        let text = cells.join(GAP);
        StyledLine::new().with(tone, text.trim_end()).clipped(width)
    };
    let head = line(LineStyle::Faint, &|column| column.head.clone());
    let rows = (0..rows.unwrap_or(0)).map(|row| {
        line(LineStyle::Plain, &|column| {
            column.cells.get(row).cloned().unwrap_or_default()
        })
    });
    std::iter::once(head).chain(rows).collect()
}
