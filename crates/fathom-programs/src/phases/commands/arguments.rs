//! Arguments of commands under the names that models give them.

use serde_json::{Map, Value};

/// Most ids of one command.
pub(super) const IDS_MAX: usize = 64;

/// Names under which arguments may be wrapped up once more.
const WRAPPERS: [&str; 5] = ["arguments", "args", "params", "parameters", "payload"];

/// Arguments that do not do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::phases) enum BadArguments {
    /// Nothing of this name is there.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// It is of another kind.
    #[error("`{name}` is not {wanted}")]
    Wrong {
        name: &'static str,
        wanted: &'static str,
    },
    /// There are more than a command may have.
    #[error("there are {count} ids, and a command may have {IDS_MAX}")]
    TooMany { count: usize },
    /// The symbol cannot be read.
    #[error("the symbol is not valid: {0}")]
    Symbol(String),
    /// A symbol keeps its id.
    #[error("the id of a symbol cannot be changed")]
    NewId,
}

/// Members beside the action.
pub(super) struct CommandArguments<'a>(pub(super) &'a Map<String, Value>);

impl CommandArguments<'_> {
    /// The value under the first of these names, bare or wrapped once.
    pub(super) fn get(&self, names: &[&str]) -> Option<&Value> {
        let wrapped = WRAPPERS
            .iter()
            .filter_map(|name| self.0.get(*name)?.as_object());
        std::iter::once(self.0)
            .chain(wrapped)
            .find_map(|members| names.iter().find_map(|name| members.get(*name)))
            .filter(|value| !value.is_null())
    }

    /// All that is written, without these names, and without the wrapping where there is nothing else.
    pub(super) fn rest(&self, without: &[&str]) -> Map<String, Value> {
        let mut rest = self.0.clone();
        rest.retain(|name, _| !without.contains(&name.as_str()));
        if rest.len() == 1
            && let Some(Value::Object(inner)) = WRAPPERS.iter().find_map(|name| rest.get(*name))
        {
            rest = inner.clone();
            rest.retain(|name, _| !without.contains(&name.as_str()));
        }
        rest
    }

    /// Words, where there are any.
    pub(super) fn words(&self, names: &[&'static str]) -> Result<Option<String>, BadArguments> {
        match self.get(names) {
            None => Ok(None),
            Some(Value::String(words)) => {
                let words = words.trim();
                Ok((!words.is_empty()).then(|| words.to_owned()))
            }
            Some(_) => Err(wrong(names, "a string")),
        }
    }

    /// Words that must be there.
    pub(super) fn must_say(&self, names: &[&'static str]) -> Result<String, BadArguments> {
        self.words(names)?.ok_or_else(|| missing(names))
    }

    /// Ids, as one or as a list.
    pub(super) fn ids(&self, names: &[&'static str]) -> Result<Vec<String>, BadArguments> {
        let ids = match self.get(names) {
            None => return Ok(Vec::new()),
            Some(Value::String(id)) => vec![id.as_str()],
            Some(Value::Array(ids)) => ids
                .iter()
                .map(|id| id.as_str().ok_or_else(|| wrong(names, "a list of ids")))
                .collect::<Result<_, _>>()?,
            Some(_) => return Err(wrong(names, "an id or a list of ids")),
        };
        let mut distinct: Vec<String> = Vec::new();
        for id in ids.iter().map(|id| id.trim()) {
            if !id.is_empty() && !distinct.iter().any(|known| known == id) {
                distinct.push(id.to_owned());
            }
            if distinct.len() > IDS_MAX {
                return Err(BadArguments::TooMany { count: ids.len() });
            }
        }
        Ok(distinct)
    }

    /// Ids of which there must be one.
    pub(super) fn must_have_ids(
        &self,
        names: &[&'static str],
    ) -> Result<Vec<String>, BadArguments> {
        let ids = self.ids(names)?;
        if ids.is_empty() {
            return Err(missing(names));
        }
        Ok(ids)
    }

    /// A number of things, between one and the most there may be.
    pub(super) fn number(
        &self,
        names: &[&'static str],
        default: u8,
        most: u8,
    ) -> Result<u8, BadArguments> {
        let number = match self.get(names) {
            None => return Ok(default),
            Some(Value::Number(number)) => number.as_u64(),
            Some(Value::String(digits)) => digits.trim().parse().ok(),
            Some(_) => None,
        };
        let number = number.ok_or_else(|| wrong(names, "a number"))?;
        Ok(u8::try_from(number).unwrap_or(most).clamp(1, most))
    }
}

fn missing(names: &[&'static str]) -> BadArguments {
    BadArguments::Missing(names.first().copied().unwrap_or_default())
}

fn wrong(names: &[&'static str], wanted: &'static str) -> BadArguments {
    BadArguments::Wrong {
        name: names.first().copied().unwrap_or_default(),
        wanted,
    }
}

/// The names under which ids of symbols come.
pub(super) const IDS: [&str; 6] = ["ids", "id", "symbol_ids", "symbol_id", "symbols", "symbol"];
