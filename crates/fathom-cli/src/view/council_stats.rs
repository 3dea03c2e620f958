//! Figures over councils, as a person reads them.

use fathom_core::unit::PerMille;
use fathom_host::view::council_stats::{
    CouncilStats, DecisionStats, DepthComparison, DepthStats, SeatStats,
};

use crate::terminal::plain_text::{clip, one_line};
use crate::terminal::styled_line::{LineStyle, StyledLine};
use crate::terminal::table::{self, ColumnSide, TableColumn};
use crate::view::units::{self, many};

/// Placeholder for a missing number.
const NOTHING: &str = "–";

/// Fewest columns for the name of a seat.
const SEAT_COLUMNS_MIN: usize = 12;

/// The tables in at most `width` columns, each after an empty line.
pub(crate) fn lines(councils: &CouncilStats, width: usize) -> Vec<StyledLine> {
    let tables = [
        depths(&councils.by_depth, width),
        recursion(councils, width),
        seats(&councils.chiefs, width),
    ];
    let tables = tables.into_iter().filter(|table| !table.is_empty());
    tables
        .flat_map(|table| std::iter::once(StyledLine::new()).chain(table))
        .collect()
}

/// One column for each depth.
fn depths(rows: &[DepthStats], width: usize) -> Vec<StyledLine> {
    let names = [
        "runs",
        "approve",
        "reject",
        "abstain",
        "no decision",
        "mean latency",
        "p50 latency",
        "calls a run",
        "tokens a run",
        "cost a run",
        "sub-chiefs a run",
        "reused calls",
        "confidence",
        "agreement",
    ];
    let names = names.map(str::to_owned).to_vec();
    let mut table = vec![TableColumn::new("councils", ColumnSide::Left, names)];
    table.extend(rows.iter().map(|row| {
        let head = format!("depth {}", row.depth);
        TableColumn::new(head, ColumnSide::Right, depth(row))
    }));
    table::lines(&table, width)
}

fn depth(row: &DepthStats) -> Vec<String> {
    let DecisionStats {
        runs,
        decisions,
        confidence,
        agreement,
        ..
    } = &row.decided;
    let numbers = [
        *runs,
        decisions.approve,
        decisions.reject,
        decisions.abstain,
        decisions.none,
    ];
    let mut cells = numbers.map(units::count).to_vec();
    cells.extend(spending(&row.decided));
    cells.extend([
        format!("{:.1}", row.spawns_mean),
        counted(row.reused_calls, row.reused_share),
        percent(*confidence),
        percent(*agreement),
    ]);
    cells
}

/// Mean and median time, and what one decision took: calls, tokens, cost.
fn spending(decided: &DecisionStats) -> [String; 5] {
    let time = |time: Option<_>| time.map_or_else(nothing, units::latency);
    let used = decided.used.as_ref();
    [
        time(decided.latency_ms.mean),
        time(decided.latency_ms.p50),
        used.map_or_else(nothing, |used| format!("{:.1}", used.calls_mean)),
        used.map_or_else(nothing, |used| units::count(used.tokens_mean)),
        used.map_or_else(nothing, |used| units::cost(used.cost_mean)),
    ]
}

/// With and without recursion, two rows for each comparison that there is.
fn recursion(councils: &CouncilStats, width: usize) -> Vec<StyledLine> {
    let compared = &councils.compared;
    let all = &compared.all_runs;
    let mut rows: Vec<(String, Option<&DecisionStats>)> = Vec::new();
    for (name, comparison) in [
        ("same run", &compared.same_run),
        ("same question", &compared.same_question),
    ] {
        if comparison.compared > 0 {
            rows.push((format!("{name}: {}", changed(comparison)), None));
            rows.push(("  without".to_owned(), Some(&comparison.without)));
            rows.push(("  with".to_owned(), Some(&comparison.with)));
        }
    }
    if all.without.runs > 0 && all.with.runs > 0 {
        rows.push(("all runs, any question".to_owned(), None));
        rows.push(("  depth 0".to_owned(), Some(&all.without)));
        rows.push(("  deeper".to_owned(), Some(&all.with)));
    }
    if rows.is_empty() {
        return Vec::new();
    }
    let columns = sides(&rows, width);
    let mut lines = table::lines(&columns, width);
    // What is said of a whole comparison takes its line for itself.
    for (line, (said, decided)) in lines.iter_mut().skip(1).zip(&rows) {
        if decided.is_none() {
            *line = StyledLine::new()
                .with(LineStyle::Plain, said.as_str())
                .clipped(width);
        }
    }
    lines
}

fn sides(rows: &[(String, Option<&DecisionStats>)], width: usize) -> Vec<TableColumn> {
    let numbers = |decided: &DecisionStats| {
        let [mean, p50, calls, tokens, cost] = spending(decided);
        let runs = units::count(decided.runs);
        let confidence = percent(decided.confidence);
        let agreement = percent(decided.agreement);
        [runs, mean, p50, calls, tokens, cost, confidence, agreement]
    };
    let cells: Vec<[String; 8]> = rows
        .iter()
        .map(|(_, decided)| decided.map_or_else(Default::default, numbers))
        .collect();
    let names = rows
        .iter()
        .map(|(name, decided)| decided.map_or_else(String::new, |_| name.clone()));
    let mut table = vec![TableColumn::new(
        "recursion",
        ColumnSide::Left,
        names.collect(),
    )];
    let heads = [
        "runs", "mean", "p50", "calls", "tokens", "cost", "sure", "agree",
    ];
    table.extend(heads.into_iter().enumerate().map(|(at, head)| {
        let cells = cells.iter().filter_map(|row| row.get(at).cloned());
        TableColumn::new(head, ColumnSide::Right, cells.collect())
    }));
    table::fit(
        &mut table,
        &["calls", "p50", "sure", "agree", "tokens"],
        width,
    );
    table
}

fn changed(comparison: &DepthComparison) -> String {
    let changed = units::count(comparison.changed);
    let all = many(comparison.compared, "decision", "decisions");
    let share = percent(comparison.changed_share);
    format!("recursion changed {changed} of {all} ({share})")
}

/// One row for each seat; a sub-chief is set in below its chief.
fn seats(chiefs: &[SeatStats], width: usize) -> Vec<StyledLine> {
    let column = |head, cell: &dyn Fn(&SeatStats) -> String| {
        TableColumn::new(head, ColumnSide::Right, chiefs.iter().map(cell).collect())
    };
    let mut table = vec![
        column("appr", &|seat| units::count(seat.votes.approve)),
        column("rej", &|seat| units::count(seat.votes.reject)),
        column("abst", &|seat| units::count(seat.votes.abstain)),
        column("fail", &|seat| units::count(seat.failures)),
        column("sure", &|seat| percent(seat.confidence)),
        column("dissent", &|seat| {
            let dissent = seat.agreement.map(|share| 1000 - share.get());
            percent(dissent.and_then(|milli| PerMille::new(milli).ok()))
        }),
        column("time", &|seat| {
            seat.latency_ms_mean.map_or_else(nothing, units::latency)
        }),
        column("tokens", &|seat| {
            seat.tokens_mean.map_or_else(nothing, units::count)
        }),
        column("reused", &|seat| units::count(seat.reused_calls)),
    ];
    let left = width.saturating_sub(SEAT_COLUMNS_MIN);
    table::fit(&mut table, &["reused", "tokens", "time", "abst"], left);
    let left = width.saturating_sub(table::taken(&table));
    let names = chiefs.iter().map(|seat| clip(&name(seat), left));
    table.insert(
        0,
        TableColumn::new("seat", ColumnSide::Left, names.collect()),
    );
    table::lines(&table, width)
}

fn name(seat: &SeatStats) -> String {
    let name = seat.seat.rsplit('/').next().unwrap_or_default();
    format!("{}{}", "  ".repeat(seat.depth), one_line(name))
}

fn counted(number: u64, share: Option<PerMille>) -> String {
    match share {
        Some(share) if number > 0 => {
            format!("{} ({} %)", units::count(number), share.percent())
        }
        _ => units::count(number),
    }
}

fn percent(share: Option<PerMille>) -> String {
    share.map_or_else(nothing, |share| format!("{} %", share.percent()))
}

fn nothing() -> String {
    NOTHING.to_owned()
}

#[cfg(test)]
#[path = "council_stats_tests.rs"]
mod tests;
