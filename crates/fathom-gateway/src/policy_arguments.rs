//! Arguments of an effect, in the form that policies can test.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::policy_question::CannotJudge;

// Each value becomes a tag of an entity, and a decision builds those entities anew.
/// Most values in the arguments of one effect.
const VALUES_MAX: usize = 1_024;

/// Arguments by JSON pointer, grouped by type.
#[derive(Debug, Default)]
pub(crate) struct PolicyArguments {
    pub(crate) texts: BTreeMap<String, String>,
    pub(crate) numbers: BTreeMap<String, i64>,
    pub(crate) truths: BTreeMap<String, bool>,
    pub(crate) lists: BTreeMap<String, Vec<String>>,
    /// Values of other types: null, fractions, mixed lists. Policies see their pointers, to refuse what they
    /// cannot test.
    pub(crate) left_out: Vec<String>,
}

impl PolicyArguments {
    /// Reads JSON; an error denies the effect.
    pub(crate) fn read(json: &str) -> Result<Self, CannotJudge> {
        let value: Value = serde_json::from_str(json)
            .map_err(|_| CannotJudge("the arguments are no JSON".to_owned()))?;
        let mut arguments = Self::default();
        arguments.walk(value, &mut String::new());
        if arguments.count() > VALUES_MAX {
            return Err(CannotJudge(format!(
                "the arguments have more than {VALUES_MAX} values"
            )));
        }
        Ok(arguments)
    }

    fn count(&self) -> usize {
        let lists: usize = self.lists.values().map(Vec::len).sum();
        self.texts.len() + self.numbers.len() + self.truths.len() + self.left_out.len() + lists
    }

    fn walk(&mut self, value: Value, at: &mut String) {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    let before = at.len();
                    at.push('/');
                    // RFC 6901: `~` first, or the `~` of an escaped slash would be escaped again.
                    at.push_str(&key.replace('~', "~0").replace('/', "~1"));
                    self.walk(value, at);
                    at.truncate(before);
                }
            }
            Value::String(text) => {
                self.texts.insert(at.clone(), text);
            }
            Value::Bool(truth) => {
                self.truths.insert(at.clone(), truth);
            }
            Value::Number(number) => match number.as_i64() {
                // Cedar has whole numbers only.
                Some(number) => {
                    self.numbers.insert(at.clone(), number);
                }
                None => self.left_out.push(at.clone()),
            },
            Value::Array(values) => match strings(values) {
                Some(texts) => {
                    self.lists.insert(at.clone(), texts);
                }
                None => self.left_out.push(at.clone()),
            },
            Value::Null => self.left_out.push(at.clone()),
        }
    }
}

fn strings(values: Vec<Value>) -> Option<Vec<String>> {
    let texts = values.into_iter().map(|value| match value {
        Value::String(text) => Some(text),
        _ => None,
    });
    texts.collect()
}
