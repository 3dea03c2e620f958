//! Figures over councils as a picture: time, cost and calls by depth, and how far each seat agrees.

use std::fmt::Write as _;

use fathom_core::unit::{Millis, Nanodollars};
use fathom_host::council_figures::{Councils, DepthFigures, SeatFigures};

use super::bars::{Bars, Group, Pile};
use crate::figures::{self, many};
use crate::plain_text::{clip, one_line};
use crate::svg::{Anchor, Svg};

/// Columns of a seat's name in the picture.
const NAME_COLUMNS_MAX: usize = 28;

/// Most seats that are drawn.
const SEATS_MAX: usize = 48;

const WIDTH: f64 = 960.0;
const MARGIN: f64 = 32.0;
const PANEL_TOP: f64 = 88.0;
const PANEL_WIDTH: f64 = 280.0;
const PANEL_HEIGHT: f64 = 268.0;
const PANEL_GAP: f64 = 28.0;
const SEATS_TOP: f64 = PANEL_TOP + PANEL_HEIGHT + 36.0;
const SEAT_HEIGHT: f64 = 22.0;
/// From the heading of the seats to the first of them.
const SEATS_HEAD: f64 = 52.0;
/// Below the last seat: the axis and what it means.
const SEATS_FOOT: f64 = 60.0;
/// Where the bars of seats begin and end.
const SEATS_LEFT: f64 = MARGIN + 210.0;
const SEATS_RIGHT: f64 = WIDTH - MARGIN - 180.0;

/// Light, and dark for those who want it. Every bar has its number beside it, so nothing is said by colour alone.
const STYLE: &str = "\
text{font:12px system-ui,sans-serif;fill:#1f2328}\
.back{fill:#fff}.head{font-size:20px;font-weight:600}.title{font-size:14px;font-weight:600}\
.small,.label{font-size:11px;fill:#59636e}.label{paint-order:stroke;stroke:#fff;stroke-width:3px}.grid{stroke:#d8dee4}.axis{stroke:#59636e}\
.one{fill:#2f6fb4}.two{fill:#c9781f}\
@media(prefers-color-scheme:dark){text{fill:#e6e8ea}.back{fill:#15181c}.small,.label{fill:#9aa4ae}.label{stroke:#15181c}\
.grid{stroke:#363c43}.axis{stroke:#9aa4ae}.one{fill:#6aa9e9}.two{fill:#f0a955}}";

/// Draws the councils of the last days.
pub(super) fn draw(councils: &Councils, days: u32) -> String {
    let seats = councils.chiefs.len();
    let left_out = seats.saturating_sub(SEATS_MAX);
    let shown = councils.chiefs.get(..SEATS_MAX).unwrap_or(&councils.chiefs);
    let rows = as_float(shown.len() as u64) + f64::from(u8::from(left_out > 0));
    let height = SEATS_TOP + SEATS_HEAD + rows * SEAT_HEIGHT + SEATS_FOOT;
    let title = match days {
        1 => "Councils of the last day".to_owned(),
        days => format!("Councils of the last {days} days"),
    };
    let said = said(councils);
    let desc = describe(councils, &said);
    let mut svg = Svg::new((WIDTH, height), &title, &desc, STYLE);
    svg.bar("back", [0.0, 0.0, WIDTH, height], &title);
    svg.text("head", Anchor::Start, (MARGIN, 44.0), &title);
    svg.text("small", Anchor::Start, (MARGIN, 66.0), &said);
    let depths = &councils.by_depth;
    let mut left = MARGIN;
    for bars in [latency(depths), cost(depths), calls(depths)] {
        bars.draw(&mut svg, [left, PANEL_TOP, PANEL_WIDTH, PANEL_HEIGHT]);
        left += PANEL_WIDTH + PANEL_GAP;
    }
    agreement(&mut svg, shown, left_out);
    svg.finish()
}

/// The councils in one line.
fn said(councils: &Councils) -> String {
    let mut parts = vec![many(councils.runs, "decision", "decisions")];
    let compared = &councils.compared;
    for (comparison, one, more) in [
        (&compared.same_run, "run compared", "runs compared"),
        (
            &compared.same_question,
            "question asked twice",
            "questions asked twice",
        ),
    ] {
        if comparison.compared > 0 {
            let changed = figures::count(comparison.changed);
            let compared = many(comparison.compared, one, more);
            parts.push(format!("recursion changed {changed} of {compared}"));
        }
    }
    let reused: u64 = councils.by_depth.iter().map(|row| row.reused_calls).sum();
    parts.push(many(reused, "call reused", "calls reused"));
    parts.join(" · ")
}

/// The picture in words.
fn describe(councils: &Councils, said: &str) -> String {
    let mut desc = format!("{said}.");
    // Writing to a string cannot fail, here and below.
    for row in &councils.by_depth {
        let time = row.decided.latency_ms.mean.map(figures::latency);
        let cost = row.decided.used.map(|used| figures::cost(used.cost_mean));
        let _ = write!(
            desc,
            " Depth {}: {}, {} and {} each on the average.",
            row.depth,
            many(row.decided.runs, "run", "runs"),
            time.unwrap_or_default(),
            cost.unwrap_or_default(),
        );
    }
    desc
}

/// A group for each depth, of what `bars` says: values and labels.
fn groups(
    depths: &[DepthFigures],
    bars: impl Fn(&DepthFigures) -> (Vec<f64>, Vec<String>),
) -> Vec<Group> {
    let groups = depths.iter().map(|row| {
        let (values, labels) = bars(row);
        Group {
            name: row.depth.to_string(),
            below: many(row.decided.runs, "run", "runs"),
            values,
            labels,
        }
    });
    groups.collect()
}

fn latency(depths: &[DepthFigures]) -> Bars {
    let times = |row: &DepthFigures| {
        let latency = row.decided.latency_ms;
        [latency.mean, latency.p50].map(|time| time.unwrap_or_default().0)
    };
    let most = depths.iter().flat_map(times).max().unwrap_or(0);
    let (unit, millis) = match most {
        0..1_000 => ("milliseconds", 1.0),
        1_000..180_000 => ("seconds", 1_000.0),
        _ => ("minutes", 60_000.0),
    };
    Bars {
        title: "Time to a decision".to_owned(),
        unit: unit.to_owned(),
        series: vec!["mean", "median"],
        pile: Pile::Beside,
        groups: groups(depths, |row| {
            let values = times(row).map(|time| as_float(time) / millis);
            (values.to_vec(), values.map(short).to_vec())
        }),
    }
}

/// Cost; where nothing costs anything, tokens.
fn cost(depths: &[DepthFigures]) -> Bars {
    let used = |row: &DepthFigures| row.decided.used.unwrap_or_default();
    if depths.iter().all(|row| used(row).cost == Nanodollars(0)) {
        return Bars {
            title: "Tokens (they cost nothing)".to_owned(),
            unit: "tokens a run".to_owned(),
            series: vec!["tokens"],
            pile: Pile::Beside,
            groups: groups(depths, |row| {
                let tokens = used(row).tokens_mean;
                (vec![as_float(tokens)], vec![figures::count(tokens)])
            }),
        };
    }
    Bars {
        title: "Cost".to_owned(),
        unit: "$ a run".to_owned(),
        series: vec!["cost"],
        pile: Pile::Beside,
        groups: groups(depths, |row| {
            let cost = used(row).cost_mean;
            (vec![figures::dollars(cost)], vec![figures::cost(cost)])
        }),
    }
}

fn calls(depths: &[DepthFigures]) -> Bars {
    Bars {
        title: "Calls, and answers used again".to_owned(),
        unit: "calls a run".to_owned(),
        series: vec!["made", "reused"],
        pile: Pile::Up,
        groups: groups(depths, |row| {
            let made = row.decided.used.unwrap_or_default().calls_mean;
            let reused = as_float(row.reused_calls) / as_float(row.decided.runs.max(1));
            let label = match row.reused_calls {
                0 => short(made),
                _ => format!("{} + {}", short(made), short(reused)),
            };
            (vec![made, reused], vec![label])
        }),
    }
}

/// A row for each seat: how much of what it voted was decided.
fn agreement(svg: &mut Svg, seats: &[SeatFigures], left_out: usize) {
    let width = SEATS_RIGHT - SEATS_LEFT;
    svg.text(
        "title",
        Anchor::Start,
        (MARGIN, SEATS_TOP + 16.0),
        "Agreement of each seat with the decision",
    );
    let legend = [
        ("one", "chief", MARGIN),
        ("two", "sub-chief", MARGIN + 72.0),
    ];
    for (class, name, x) in legend {
        svg.bar(class, [x, SEATS_TOP + 28.0, 10.0, 10.0], name);
        svg.text("small", Anchor::Start, (x + 15.0, SEATS_TOP + 37.0), name);
    }
    let top = SEATS_TOP + SEATS_HEAD;
    let bottom = top + as_float(seats.len() as u64) * SEAT_HEIGHT;
    for percent in [0, 25, 50, 75, 100] {
        let x = SEATS_LEFT + width * f64::from(percent) / 100.0;
        svg.line("grid", [x, top, x, bottom]);
        let label = format!("{percent} %");
        svg.text("small", Anchor::Middle, (x, bottom + 16.0), &label);
    }
    svg.line("axis", [SEATS_LEFT, top, SEATS_LEFT, bottom]);
    let middle = SEATS_LEFT + width / 2.0;
    svg.text(
        "small",
        Anchor::Middle,
        (middle, bottom + 34.0),
        "share of its votes that were the council's decision",
    );
    let mut y = top;
    for seat in seats {
        row(svg, seat, y);
        y += SEAT_HEIGHT;
    }
    if left_out > 0 {
        let more = format!("and {}", many(left_out as u64, "seat more", "seats more"));
        svg.text("small", Anchor::Start, (MARGIN, bottom + 34.0), &more);
    }
}

fn row(svg: &mut Svg, seat: &SeatFigures, y: f64) {
    let name = one_line(&seat.seat);
    let line = y + SEAT_HEIGHT / 2.0 + 4.0;
    let shown = clip(&name, NAME_COLUMNS_MAX);
    svg.text("", Anchor::End, (SEATS_LEFT - 10.0, line), &shown);
    let votes = many(seat.votes.all(), "vote", "votes");
    let mut said = match seat.agreement {
        Some(share) => format!("{} % of {votes}", share.percent()),
        None => "no vote".to_owned(),
    };
    if seat.failures > 0 {
        let _ = write!(said, ", {} failed", figures::count(seat.failures));
    }
    if let Some(share) = seat.agreement {
        let class = if seat.depth == 0 { "one" } else { "two" };
        let width = (SEATS_RIGHT - SEATS_LEFT) * share.fraction();
        let time = seat.latency_ms_mean.unwrap_or(Millis(0));
        let tip = format!("{name}: {said}, {} on the average", figures::latency(time));
        svg.bar(class, [SEATS_LEFT, y + 4.0, width, SEAT_HEIGHT - 8.0], &tip);
    }
    svg.text("small", Anchor::Start, (SEATS_RIGHT + 12.0, line), &said);
}

/// A number in few digits: `0.42`, `4.2`, `31`.
fn short(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        ..1.0 => format!("{value:.2}"),
        ..10.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a picture has some hundred pixels, not 2^53"
)]
const fn as_float(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
#[path = "chart_tests.rs"]
mod tests;
