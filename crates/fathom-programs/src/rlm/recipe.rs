//! A ready-made program for a cell with what is filled in, and the code that runs it. What is filled in stays data.

use std::fmt::Write;

use serde::Deserialize;

/// A recipe that was chosen. As JSON: `{"recipe": "find", "keywords": ["…"]}`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "recipe", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Recipe {
    /// One fact that stands somewhere.
    Find { keywords: Vec<String> },
    /// An answer from the passages about something.
    FilterThenRead { keywords: Vec<String> },
    /// Counts the values of a field, or one of them.
    CountByField {
        field: String,
        #[serde(default)]
        value: String,
    },
    /// A sum, a mean and the like over the numbers of a field.
    Aggregate {
        field: String,
        op: String,
        #[serde(default)]
        by: String,
    },
    /// Counts the entries that mean `label`.
    ClassifyEach { label: String },
    /// The whole in a few points.
    MapReduceSummary { bullets: u8 },
    /// Two pieces of the material side by side.
    Compare { a: String, b: String },
    /// The entries that go together, two by two.
    Pairwise {},
}

/// Operations of `aggregate`.
pub(super) const OPERATIONS: [&str; 5] = ["sum", "mean", "median", "min", "max"];

impl Recipe {
    /// As the module calls it.
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Find { .. } => "find",
            Self::FilterThenRead { .. } => "filter_then_read",
            Self::CountByField { .. } => "count_by_field",
            Self::Aggregate { .. } => "aggregate",
            Self::ClassifyEach { .. } => "classify_each",
            Self::MapReduceSummary { .. } => "map_reduce_summary",
            Self::Compare { .. } => "compare",
            Self::Pairwise {} => "pairwise",
        }
    }

    /// A cell that runs it and submits what it gives, if it gives anything.
    pub(super) fn code(&self, question: &str) -> String {
        let question = python_literal(question);
        let arguments = match self {
            Self::Find { keywords } | Self::FilterThenRead { keywords } => {
                let keywords: Vec<_> = keywords.iter().map(|word| python_literal(word)).collect();
                format!("{question}, [{}]", keywords.join(", "))
            }
            Self::CountByField { field, value } => {
                format!("{}, {}", python_literal(field), optional(value))
            }
            Self::Aggregate { field, op, by } => format!(
                "{}, {}, {}",
                python_literal(field),
                python_literal(op),
                optional(by)
            ),
            Self::ClassifyEach { label } => python_literal(label),
            Self::MapReduceSummary { bullets } => bullets.to_string(),
            Self::Compare { a, b } => {
                format!("{}, {}, {question}", python_literal(a), python_literal(b))
            }
            Self::Pairwise {} => question,
        };
        let name = self.name();
        format!(
            "made = recipes.{name}({arguments})\nif made not in (None, [], {{}}):\n    SUBMIT(made)\nprint(\"NOT FOUND\")"
        )
    }
}

fn optional(text: &str) -> String {
    if text.is_empty() {
        "None".to_owned()
    } else {
        python_literal(text)
    }
}

/// A text as a Python string literal of printable ASCII, whatever is in it.
pub(super) fn python_literal(text: &str) -> String {
    let mut literal = String::with_capacity(text.len() + 2);
    literal.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                literal.push('\\');
                literal.push(c);
            }
            ' '..='~' => literal.push(c),
            _ => {
                let _ = write!(literal, "\\U{:08x}", u32::from(c));
            }
        }
    }
    literal.push('"');
    literal
}

#[cfg(test)]
#[path = "recipe_tests.rs"]
mod tests;
