//! The tables that `fathom.toml` and a charter share: `[budget]` and `[recursion]`.
//!
//! Each gives what it can and tells all that is wrong, so that one file may stop at the first complaint and the other
//! may list them all.

use std::ops::Range;

use fathom_core::contract::spawn::SpawnClass;
use fathom_core::contract::{RecursionPolicy, cap};
use serde::Deserialize;
use toml::Spanned;

use crate::config::{PartialBudget, default_policy, parse_cost, parse_time};

/// A value that a table cannot have, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TableError {
    pub(crate) span: Range<usize>,
    pub(crate) key: &'static str,
    pub(crate) why: TableErrorKind,
}

/// Problem with a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TableErrorKind {
    /// It is above its hard cap.
    OverCap { value: u64, cap: u64 },
    /// It does not mean anything.
    Senseless(String),
}

/// `[budget]` as it stands in a file.
#[derive(Clone, Debug, Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct BudgetTable {
    tokens: Option<u64>,
    calls: Option<u64>,
    tools: Option<u64>,
    time: Option<Spanned<String>>,
    cost: Option<Spanned<f64>>,
    episodes: Option<u64>,
}

impl BudgetTable {
    /// Budget dimensions that the table sets; problems go to `wrong`.
    pub(crate) fn part(&self, wrong: &mut Vec<TableError>) -> PartialBudget {
        let mut part = PartialBudget {
            tokens: self.tokens,
            calls: self.calls,
            tools: self.tools,
            episodes: self.episodes,
            ..PartialBudget::default()
        };
        let mut senseless = |key, span, cause| {
            let why = TableErrorKind::Senseless(cause);
            wrong.push(TableError { span, key, why });
        };
        if let Some(time) = &self.time {
            match parse_time(time.get_ref()) {
                Ok(time) => part.time = Some(time),
                Err(cause) => senseless("time", time.span(), cause.to_string()),
            }
        }
        if let Some(cost) = &self.cost {
            // Through its text: the shortest form of the float is what the user wrote, so `0.1` is exactly a tenth.
            match parse_cost(&cost.get_ref().to_string()) {
                Ok(cost) => part.cost = Some(cost),
                Err(cause) => senseless("cost", cost.span(), cause.to_string()),
            }
        }
        part
    }
}

/// `[recursion]` as it stands in a file.
#[derive(Clone, Debug, Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RecursionTable {
    max_depth: Option<Spanned<u64>>,
    max_children: Option<Spanned<u64>>,
    max_total_episodes: Option<Spanned<u64>>,
    allowed_child_types: Option<Spanned<Vec<String>>>,
    forbidden_child_types: Option<Spanned<Vec<String>>>,
    allowed_classes: Option<Spanned<Vec<SpawnClass>>>,
    stop_conditions: StopTable,
}

#[derive(Clone, Debug, Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct StopTable {
    no_delta_children_max: Option<Spanned<u64>>,
    same_error_max: Option<Spanned<u64>>,
}

impl RecursionTable {
    /// Place of a key's value, if the table has the key.
    pub(crate) fn span(&self, key: &str) -> Option<Range<usize>> {
        match key {
            "max_depth" => self.max_depth.as_ref().map(Spanned::span),
            "max_children" => self.max_children.as_ref().map(Spanned::span),
            "max_total_episodes" => self.max_total_episodes.as_ref().map(Spanned::span),
            "allowed_child_types" => self.allowed_child_types.as_ref().map(Spanned::span),
            "forbidden_child_types" => self.forbidden_child_types.as_ref().map(Spanned::span),
            "allowed_classes" => self.allowed_classes.as_ref().map(Spanned::span),
            _ => None,
        }
    }

    /// The policy of `ask` with what the table says put in.
    pub(crate) fn policy(self, wrong: &mut Vec<TableError>) -> RecursionPolicy {
        let mut policy = default_policy();
        let stops = &mut policy.stop_conditions;
        let said = self.stop_conditions;
        capped(
            "max_depth",
            self.max_depth,
            cap::DEPTH_MAX,
            &mut policy.max_depth,
            wrong,
        );
        capped(
            "max_children",
            self.max_children,
            cap::CHILDREN_MAX,
            &mut policy.max_children,
            wrong,
        );
        capped(
            "max_total_episodes",
            self.max_total_episodes,
            cap::EPISODES_MAX,
            &mut policy.max_total_episodes,
            wrong,
        );
        capped(
            "no_delta_children_max",
            said.no_delta_children_max,
            cap::REPEATS_MAX,
            &mut stops.no_delta_children_max,
            wrong,
        );
        capped(
            "same_error_max",
            said.same_error_max,
            cap::REPEATS_MAX,
            &mut stops.same_error_max,
            wrong,
        );
        if let Some(types) = self.allowed_child_types {
            policy.allowed_child_types = types.into_inner();
        }
        if let Some(types) = self.forbidden_child_types {
            policy.forbidden_child_types = types.into_inner();
        }
        if let Some(classes) = self.allowed_classes {
            policy.allowed_classes = classes.into_inner();
        }
        policy
    }
}

/// Puts a number into its place when it is within its hard cap.
fn capped<T: TryFrom<u64>>(
    key: &'static str,
    said: Option<Spanned<u64>>,
    cap: T,
    place: &mut T,
    wrong: &mut Vec<TableError>,
) where
    u64: From<T>,
{
    let Some(said) = said else {
        return;
    };
    let (span, value, cap) = (said.span(), said.into_inner(), u64::from(cap));
    match T::try_from(value) {
        Ok(number) if value <= cap => *place = number,
        _ => {
            let why = TableErrorKind::OverCap { value, cap };
            wrong.push(TableError { span, key, why });
        }
    }
}
