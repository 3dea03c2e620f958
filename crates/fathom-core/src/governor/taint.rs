//! Arguments of an effect that may come from untrusted content.
//!
//! An episode that has seen anything from outside is taken to be led by it: whatever it wants to pass to a tool is tainted,
//! but for words that stand as they are in a goal which nothing from outside had touched.

use serde_json::Value;

use super::Governor;
use crate::budget::ledger::BudgetAccounts;
use crate::domain::{DomainAccess, DomainRequest, owners};
use crate::effect::{EffectRequest, TaintedArgument};
use crate::text::Text;

impl<L: BudgetAccounts> Governor<L> {
    /// Marks what may come from outside.
    pub(super) fn mark(&self, request: &mut EffectRequest) {
        request.taint.clear();
        if self.sources.is_empty() {
            return;
        }
        // What cannot be read is one value, and is marked like any other.
        let arguments = serde_json::from_str(request.arguments.as_str())
            .unwrap_or_else(|_| Value::String(request.arguments.as_str().to_owned()));
        // A goal that was written after untrusted content had been seen vouches for nothing.
        let trusted = if self.started.sources.is_empty() {
            self.started.goal.as_str()
        } else {
            ""
        };
        let mut leaves = Vec::new();
        walk(&arguments, &mut String::new(), &mut leaves);
        let sources: Vec<String> = self.sources.iter().cloned().collect();
        request.taint = leaves
            .into_iter()
            .filter(|(_, said)| !stands_in(trusted, said))
            .map(|(argument, _)| TaintedArgument {
                argument,
                sources: sources.clone(),
            })
            .collect();
    }

    /// Notes that a tool's answer came from outside.
    pub(super) fn saw_tool(&mut self, tool: &str) {
        self.sources.insert(format!("tool:{tool}"));
    }

    /// Notes the untrusted sources of a domain's answer: the domain itself, or those that the answer names.
    pub(super) fn saw_domain(&mut self, request: &DomainRequest, answer: &Text) {
        let is_untrusted = owners(&request.domain).is_some_and(|owners| owners.untrusted);
        if is_untrusted && request.access == DomainAccess::Read {
            self.sources.insert(format!("domain:{}", request.domain));
        }
        if let Ok(answer) = serde_json::from_str::<TaintMatch>(answer.as_str()) {
            self.sources.extend(answer.sources);
        }
    }
}

#[derive(serde::Deserialize)]
struct TaintMatch {
    #[serde(default)]
    sources: Vec<String>,
}

/// All values that hold no others, with their places.
fn walk(value: &Value, at: &mut String, leaves: &mut Vec<(String, String)>) {
    let mut under = |key: &str, value: &Value, leaves: &mut Vec<_>| {
        let before = at.len();
        at.push('/');
        // As JSON Pointer escapes them, so that every place has one name.
        at.push_str(&key.replace('~', "~0").replace('/', "~1"));
        walk(value, at, leaves);
        at.truncate(before);
    };
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                under(key, value, leaves);
            }
        }
        Value::Array(values) => {
            for (i, value) in values.iter().enumerate() {
                under(&i.to_string(), value, leaves);
            }
        }
        Value::String(said) => leaves.push((at.clone(), said.clone())),
        other => leaves.push((at.clone(), other.to_string())),
    }
}

/// True if the words stand in the text, with nothing grown on to them.
fn stands_in(text: &str, said: &str) -> bool {
    // With the marks inside names and addresses: `ann` in a goal must not vouch for `joe-ann` or `ann@example`.
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '@');
    !said.trim().is_empty()
        && text.match_indices(said).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            let after = text[at + said.len()..].chars().next();
            !before.is_some_and(is_word) && !after.is_some_and(is_word)
        })
}
