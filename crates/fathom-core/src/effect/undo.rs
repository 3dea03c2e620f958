//! Reversibility of effects, and the tools that undo them.

use serde::{Deserialize, Serialize};

/// Stands for all words of the command that is taken back.
const ARGS: &str = "{args}";
/// Stands for what the command printed, without blanks around it.
const OUTPUT: &str = "{output}";

/// A tool that takes back what another did, and the words it is called with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InverseTool {
    pub tool: String,
    /// Its words: `{args}` is every word of the command, `{1}` its first, `{output}` the one line that it printed, and
    /// anything else is itself. Nothing is split or joined.
    #[serde(default = "same_words")]
    pub args: Vec<String>,
}

fn same_words() -> Vec<String> {
    vec![ARGS.to_owned()]
}

impl InverseTool {
    /// A tool that is called with the same words.
    pub fn by(tool: impl Into<String>) -> Self {
        Self {
            tool: tool.into(),
            args: same_words(),
        }
    }

    /// The words it is called with; none where the command had no such word, or did not print one line.
    pub fn words(&self, args: &[String], printed: &str) -> Option<Vec<String>> {
        let mut words = Vec::new();
        for place in &self.args {
            if place == ARGS {
                words.extend(args.iter().cloned());
            } else if place == OUTPUT {
                let line = printed.trim();
                let is_word = !line.is_empty() && !line.contains(char::is_control);
                words.push(is_word.then(|| line.to_owned())?);
            } else if let Some(number) = numbered(place) {
                words.push(args.get(number.checked_sub(1)?)?.clone());
            } else {
                words.push(place.clone());
            }
        }
        Some(words)
    }

    /// The first of its words that looks like a place and is none.
    pub fn unknown_place(&self) -> Option<&str> {
        let is_place = |word: &&String| word.starts_with('{') && word.ends_with('}');
        let is_known = |word: &&String| {
            *word == ARGS || *word == OUTPUT || numbered(word).is_some_and(|n| n > 0)
        };
        let mut unknown = self.args.iter().filter(is_place);
        unknown.find(|word| !is_known(word)).map(String::as_str)
    }
}

fn numbered(place: &str) -> Option<usize> {
    place.strip_prefix('{')?.strip_suffix('}')?.parse().ok()
}

/// Reversibility of an effect. People are told before they decide.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Reversibility {
    /// A tool does it.
    Tool(InverseTool),
    /// A person can.
    Hand,
    Nobody,
}

#[cfg(test)]
#[path = "undo_tests.rs"]
mod tests;
