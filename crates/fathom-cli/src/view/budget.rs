//! Budget and usage of a run, as lines.

use fathom_core::budget::amounts::Budget;
use fathom_core::episode::result::BudgetUse;
use fathom_core::unit::Millis;
use fathom_host::config::PartialBudget;
use fathom_host::view::run::RunView;

use crate::error::CliError;
use crate::terminal::plain_text::columns;
use crate::terminal::styled_line::{LineStyle, StyledLine};
use crate::view::tree::TreeTime;
use crate::view::units;

/// Share of a dimension from which an episode may only finish, in per cent.
const LOW_PERCENT: u128 = 70;

/// Limit and use of a run's root.
pub(crate) fn of(story: &RunView, moment: TreeTime) -> Option<BudgetUse> {
    let root = story.root()?;
    // A result has the final figures; those of the view are estimates while calls are in flight.
    if let Some(result) = &root.result {
        return Some(result.budget);
    }
    let Budget { amounts, time } = root.budget();
    let until = match moment {
        TreeTime::Live { now, .. } => now,
        TreeTime::Rest => root.last,
    };
    Some(BudgetUse {
        limit: amounts,
        spent: story.spent(),
        time_limit: time,
        time_spent: until.since(root.began),
    })
}

struct BudgetLine {
    name: &'static str,
    spent: String,
    limit: String,
    /// The same in numbers, for the share.
    of: [u64; 2],
}

fn dimensions(budget: &BudgetUse) -> [BudgetLine; 4] {
    let (spent, limit) = (budget.spent, budget.limit);
    let dimension = |name, shown: [String; 2], of: [u64; 2]| {
        let [spent, limit] = shown;
        BudgetLine {
            name,
            spent,
            limit,
            of,
        }
    };
    [
        dimension(
            "tokens",
            [spent.tokens, limit.tokens].map(units::count),
            [spent.tokens, limit.tokens],
        ),
        dimension(
            "calls",
            [spent.calls, limit.calls].map(units::count),
            [spent.calls, limit.calls],
        ),
        dimension(
            "cost",
            [spent.money, limit.money].map(units::cost),
            [spent.money.0, limit.money.0],
        ),
        dimension(
            "time",
            [
                units::span(budget.time_spent),
                units::limit_span(budget.time_limit),
            ],
            [budget.time_spent, budget.time_limit].map(|Millis(millis)| millis),
        ),
    ]
}

/// Bars for what is drawn in place: the roomiest form that fits `width`.
pub(crate) fn bars(budget: &BudgetUse, width: usize) -> StyledLine {
    const ALL: &[&str] = &["tokens", "calls", "cost", "time"];
    const FORMS: [(usize, BudgetLimits, &[&str]); 8] = [
        (8, BudgetLimits::Shown, ALL),
        (5, BudgetLimits::Shown, ALL),
        (3, BudgetLimits::Shown, ALL),
        (2, BudgetLimits::Shown, ALL),
        (4, BudgetLimits::LeftOut, ALL),
        (2, BudgetLimits::LeftOut, ALL),
        (2, BudgetLimits::LeftOut, &["tokens", "cost", "time"]),
        (2, BudgetLimits::LeftOut, &["tokens", "time"]),
    ];
    let dimensions = dimensions(budget);
    let mut forms = FORMS.iter().map(|(cells, limits, names)| {
        let mut line = StyledLine::new();
        let shown = dimensions
            .iter()
            .filter(|dimension| names.contains(&dimension.name));
        for (index, dimension) in shown.enumerate() {
            if index > 0 {
                line.push(LineStyle::Plain, "  ");
            }
            dimension.draw(&mut line, *cells, *limits);
        }
        line
    });
    let fitting = forms.find(|line| line.columns() <= width);
    fitting.unwrap_or_default()
}

#[derive(Clone, Copy)]
enum BudgetLimits {
    Shown,
    LeftOut,
}

impl BudgetLine {
    fn draw(&self, line: &mut StyledLine, cells: usize, limits: BudgetLimits) {
        line.push(LineStyle::Faint, format!("{} ", self.name));
        let full = self.full(cells);
        line.push(self.tone(), "▰".repeat(full));
        line.push(LineStyle::Faint, "▱".repeat(cells - full));
        line.push(LineStyle::Plain, " ");
        line.push(LineStyle::Plain, self.spent.clone());
        if matches!(limits, BudgetLimits::Shown) {
            line.push(LineStyle::Faint, format!("/{}", self.limit));
        }
    }

    fn words(&self, of: &str) -> String {
        format!("{} {}{of}{}", self.name, self.spent, self.limit)
    }

    /// Number of full cells, rounded up: any usage is visible.
    fn full(&self, cells: usize) -> usize {
        let [spent, limit] = self.of.map(u128::from);
        if spent >= limit {
            return cells;
        }
        let full = (spent * cells as u128).div_ceil(limit);
        usize::try_from(full).unwrap_or(cells)
    }

    fn tone(&self) -> LineStyle {
        let [spent, limit] = self.of.map(u128::from);
        if spent * 100 >= limit * LOW_PERCENT {
            LineStyle::Odd
        } else {
            LineStyle::Good
        }
    }
}

/// The budget in words, over as many lines as `width` asks for.
pub(crate) fn words(budget: &BudgetUse, width: usize) -> Vec<StyledLine> {
    const HEAD: &str = "budget  ";
    const FORMS: [(&str, &str); 3] = [(" of ", "   "), (" of ", "  "), ("/", "   ")];
    let dimensions = dimensions(budget);
    let taken = |of: &str, gap: &str| {
        let parts = dimensions
            .iter()
            .map(|dimension| columns(&dimension.words(of)));
        HEAD.len() + parts.sum::<usize>() + gap.len() * (dimensions.len() - 1)
    };
    let fits = |(of, gap): &(&str, &str)| taken(of, gap) <= width;
    let (of, gap) = FORMS.into_iter().find(fits).unwrap_or((" of ", "   "));
    let mut lines = Vec::new();
    let mut line = StyledLine::new().with(LineStyle::Faint, HEAD);
    for (index, dimension) in dimensions.iter().enumerate() {
        let part = dimension.words(of);
        if index > 0 && line.columns() + columns(gap) + columns(&part) > width {
            lines.push(line);
            line = StyledLine::from(" ".repeat(HEAD.len()));
        } else if index > 0 {
            line.push(LineStyle::Plain, gap);
        }
        let tone = match dimension.tone() {
            LineStyle::Odd => LineStyle::Odd,
            _ => LineStyle::Plain,
        };
        line.push(tone, part);
    }
    lines.push(line);
    lines
}

/// Reads `tokens=20000,time=30s`.
pub(crate) fn part(what: &str, value: &str) -> Result<PartialBudget, CliError> {
    let wrong = |why: String| CliError::BadValue {
        what: what.to_owned(),
        value: value.to_owned(),
        why,
    };
    let mut part = PartialBudget::default();
    for pair in value.split(',').map(str::trim) {
        let (key, amount) = pair.split_once('=').ok_or_else(|| {
            wrong(format!(
                "expected KEY=VALUE, such as `tokens=20000`, found `{pair}`"
            ))
        })?;
        part.set(key.trim(), amount.trim())
            .map_err(|error| wrong(error.to_string()))?;
    }
    Ok(part)
}

#[cfg(test)]
#[path = "budget_tests.rs"]
mod tests;
