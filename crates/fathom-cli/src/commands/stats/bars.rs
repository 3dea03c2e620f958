//! A panel of upright bars with its axes.

use crate::svg::{Anchor, Svg};

/// Colours of the series, by their class.
const CLASSES: [&str; 2] = ["one", "two"];

/// Room left of the plot for the numbers of the axis, and below it for names.
const LEFT: f64 = 44.0;
const TOP: f64 = 66.0;
const BOTTOM: f64 = 56.0;

/// Room above the highest bar for its label.
const LABEL_HEIGHT: f64 = 14.0;

/// Share of a group's width that its bars take, and most pixels of one bar.
const FULL: f64 = 0.72;
const BAR_WIDTH_MAX: f64 = 44.0;
/// Pixels of a bar below which its label is wider.
const BAR_WIDTH_MIN: f64 = 28.0;

/// A panel of bars in groups, one group for each depth.
pub(super) struct Bars {
    pub(super) title: String,
    pub(super) unit: String,
    /// What the bars of a group are; at most two.
    pub(super) series: Vec<&'static str>,
    pub(super) pile: Pile,
    pub(super) groups: Vec<Group>,
}

/// Where the bars of a group stand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Pile {
    /// Beside each other, each with its label.
    Beside,
    /// One on the other, with one label.
    Up,
}

/// The bars of one depth.
pub(super) struct Group {
    pub(super) name: String,
    pub(super) below: String,
    pub(super) values: Vec<f64>,
    pub(super) labels: Vec<String>,
}

impl Group {
    fn height(&self, pile: Pile) -> f64 {
        match pile {
            Pile::Beside => self.values.iter().copied().fold(0.0, f64::max),
            Pile::Up => self.values.iter().sum(),
        }
    }
}

impl Bars {
    /// Draws the panel into a frame of left, top, width and height.
    pub(super) fn draw(&self, svg: &mut Svg, [left, top, width, height]: [f64; 4]) {
        svg.text("title", Anchor::Start, (left, top + 16.0), &self.title);
        if self.series.len() > 1 {
            let mut x = left;
            for (class, name) in CLASSES.iter().zip(&self.series) {
                svg.bar(class, [x, top + 28.0, 10.0, 10.0], name);
                svg.text("small", Anchor::Start, (x + 15.0, top + 37.0), name);
                x += 72.0;
            }
        }
        let unit = (left, top + TOP - 10.0);
        svg.text("small", Anchor::Start, unit, &self.unit);
        let plot = Plot {
            left: left + LEFT,
            right: left + width,
            top: top + TOP,
            bottom: top + height - BOTTOM,
        };
        let heights = self.groups.iter().map(|group| group.height(self.pile));
        let ticks = ticks(heights.fold(0.0, f64::max));
        let most = ticks.last().copied().unwrap_or(1.0);
        plot.axis(svg, &ticks, most);
        let names = (plot.middle(), plot.bottom + 48.0);
        let meaning = "levels of sub-chiefs asked";
        svg.text("small", Anchor::Middle, names, meaning);
        let count = f64::from(u32::try_from(self.groups.len()).unwrap_or(u32::MAX));
        let room = (plot.right - plot.left) / count.max(1.0);
        let mut x = plot.left;
        for group in &self.groups {
            let middle = x + room / 2.0;
            svg.text(
                "",
                Anchor::Middle,
                (middle, plot.bottom + 16.0),
                &group.name,
            );
            let below = (middle, plot.bottom + 31.0);
            svg.text("small", Anchor::Middle, below, &group.below);
            self.group(svg, group, &plot, (x, room), most);
            x += room;
        }
    }

    fn group(&self, svg: &mut Svg, group: &Group, plot: &Plot, (x, room): (f64, f64), most: f64) {
        let beside = match self.pile {
            Pile::Beside => group.values.len(),
            Pile::Up => 1,
        };
        let beside = f64::from(u32::try_from(beside).unwrap_or(u32::MAX)).max(1.0);
        let bar = (room * FULL / beside).min(BAR_WIDTH_MAX);
        let mut at = x + (room - bar * beside) / 2.0;
        let mut floor = plot.bottom;
        let mut labels = group.labels.iter();
        let tip = |name: &str, value: f64| {
            format!("depth {}, {name}: {value:.4} {}", group.name, self.unit)
        };
        for ((class, name), value) in CLASSES.iter().zip(&self.series).zip(&group.values) {
            let height = plot.height() * value / most;
            let place = [at, floor - height, bar, height];
            svg.bar(class, place, &tip(name, *value));
            match self.pile {
                Pile::Beside => {
                    let label = labels.next().map_or("", String::as_str);
                    let middle = at + bar / 2.0;
                    // Labels of narrow bars move apart, away from the middle of their group.
                    let apart = (BAR_WIDTH_MIN - bar).max(0.0) / 2.0;
                    let apart = apart.copysign(middle - x - room / 2.0) * (beside - 1.0);
                    let place = (middle + apart, floor - height - 4.0);
                    svg.text("label", Anchor::Middle, place, label);
                    at += bar;
                }
                Pile::Up => floor -= height,
            }
        }
        if let Some(label) = labels.next() {
            let place = (at + bar / 2.0, floor - 4.0);
            svg.text("label", Anchor::Middle, place, label);
        }
    }
}

/// Where bars are drawn.
struct Plot {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Plot {
    /// Height of the axis; the label of the highest bar is above it.
    fn height(&self) -> f64 {
        self.bottom - self.top - LABEL_HEIGHT
    }

    fn middle(&self) -> f64 {
        self.left.midpoint(self.right)
    }

    fn axis(&self, svg: &mut Svg, ticks: &[f64], most: f64) {
        let step = ticks.get(1).copied().unwrap_or(1.0);
        for tick in ticks {
            let y = self.bottom - self.height() * tick / most;
            svg.line("grid", [self.left, y, self.right, y]);
            let label = (self.left - 6.0, y + 4.0);
            svg.text("small", Anchor::End, label, &tick_label(*tick, step));
        }
        svg.line("axis", [self.left, self.bottom, self.right, self.bottom]);
    }
}

/// From zero to `most` or above it, in up to five even steps.
fn ticks(most: f64) -> Vec<f64> {
    if !(most.is_finite() && most > 0.0) {
        return vec![0.0, 1.0];
    }
    let rough = most / 4.0;
    let power = 10_f64.powf(rough.log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0].map(|step| step * power);
    let step = steps.into_iter().find(|step| *step >= rough);
    let step = step.unwrap_or(rough);
    let mut ticks = vec![0.0];
    let mut count = 0_u8;
    while f64::from(count) * step < most {
        count += 1;
        ticks.push(f64::from(count) * step);
    }
    ticks
}

/// A number of the axis, with as many decimals as its steps need.
fn tick_label(tick: f64, step: f64) -> String {
    /// Decimals that are tried.
    const DECIMALS_MAX: usize = 9;
    if step >= 1_000.0 {
        return format!("{}k", tick / 1_000.0);
    }
    let exact = |decimals: &usize| {
        let text = format!("{step:.decimals$}");
        text.parse::<f64>()
            .is_ok_and(|shown| (shown - step).abs() < step * 1e-6)
    };
    let decimals = (0..DECIMALS_MAX).find(exact).unwrap_or(DECIMALS_MAX);
    format!("{tick:.decimals$}")
}

#[cfg(test)]
#[path = "bars_tests.rs"]
mod tests;
