//! How much code there is, and how much of it says why.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use super::{Figure, Tenths};
use crate::sources::Source;

/// Lines of some sources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Lines {
    code: usize,
    /// Lines that are a `//` comment and no documentation.
    why: usize,
}

impl AddAssign for Lines {
    fn add_assign(&mut self, other: Self) {
        self.code += other.code;
        self.why += other.why;
    }
}

pub(super) fn figures(sources: &[Source<'_>]) -> Vec<Figure> {
    let mut by_crate: BTreeMap<&str, Lines> = BTreeMap::new();
    let mut all = Lines::default();
    for source in sources.iter().filter(|source| source.is_product()) {
        let lines = lines(source);
        *by_crate.entry(source.owner).or_default() += lines;
        all += lines;
    }
    let share = |lines: Lines| Tenths::ratio(lines.why, lines.code, 1000);
    let mut figures = vec![
        Figure {
            name: "code-lines".to_owned(),
            value: Tenths::whole(all.code),
            step: Tenths::whole(500),
            about: "lines in crates/*/src without blanks, comments, testkit and tests",
            details: by_crate
                .iter()
                .map(|(owner, lines)| format!("{owner}: {}", lines.code))
                .collect(),
        },
        Figure {
            name: "why-comments".to_owned(),
            value: share(all),
            step: Tenths(5),
            about: "lines of `//` for each 1,000 lines of code",
            details: Vec::new(),
        },
    ];
    figures.extend(by_crate.into_iter().map(|(owner, lines)| Figure {
        name: format!("why-comments/{owner}"),
        value: share(lines),
        step: Tenths(5),
        about: "",
        details: Vec::new(),
    }));
    figures
}

fn lines(source: &Source<'_>) -> Lines {
    let raw = source.rust.raw;
    let is_why = |offset: usize| {
        let comment = &raw[offset..];
        let before = raw[..offset].rsplit('\n').next().unwrap_or_default();
        comment.starts_with("//")
            && !comment.starts_with("///")
            && !comment.starts_with("//!")
            && before.trim().is_empty()
            && source.is_shipped_at(offset)
    };
    let comments = source.rust.comments.iter();
    Lines {
        code: source
            .without_comments()
            .lines()
            .filter(|line| !line.trim().is_empty())
            .count(),
        why: comments.filter(|comment| is_why(comment.start)).count(),
    }
}

#[cfg(test)]
#[path = "size_tests.rs"]
mod tests;
