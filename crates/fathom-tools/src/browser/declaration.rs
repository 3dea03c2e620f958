//! The steps of a browser tool, as a charter declares them.

use fathom_core::id::Digest;
use reqwest::Url;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::error::BrowserError;

/// Most steps of a tool.
const STEPS_MAX: usize = 64;
/// What stands for the key of the effect.
const KEY: &str = "{key}";

/// A browser tool. Addresses, selectors and the order of steps are the charter's; an argument is only ever typed into a field.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Declaration {
    /// The page on which the tool begins.
    pub start: String,
    /// The page on which it is rehearsed; where none is named, the real one.
    pub sandbox_start: Option<String>,
    /// Further hosts that the pages need, as `cdn.example:443`. The hosts of the two pages above are open anyway.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// What is done, in order.
    pub steps: Vec<Step>,
    /// How to find out whether it was done.
    pub check: Check,
}

/// How to find out whether an effect happened.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// What is done; the last step expects something that names `{key}`.
    pub steps: Vec<Step>,
    /// Whether what is not there never happened. Where pages show things late, nobody knows.
    #[serde(default)]
    pub conclusive: bool,
}

/// One step.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "RawStep")]
pub struct Step {
    /// What is done.
    pub act: Act,
    /// Whether this is what changes the world.
    pub effect: bool,
    /// Hash of the skeleton that the page must have before the step; after it where a page is opened.
    pub skeleton: Option<Digest>,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Opens a page of the same host.
    Open(String),
    /// Puts a value into a field.
    Fill(Fill),
    Click(String),
    /// Waits for something to be seen.
    Expect(Expect),
}

/// A field and what goes into it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fill {
    pub selector: String,
    /// A text, `{argument}` or `{key}`.
    pub value: Option<String>,
    /// The name under which the host knows a secret.
    pub secret: Option<String>,
}

/// Something that must be on the page.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    pub selector: String,
    /// A text, `{argument}` or `{key}`, that is found in it.
    pub text: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawStep {
    open: Option<String>,
    fill: Option<Fill>,
    click: Option<String>,
    expect: Option<Expect>,
    #[serde(default)]
    effect: bool,
    skeleton: Option<Digest>,
}

impl TryFrom<RawStep> for Step {
    type Error = &'static str;

    fn try_from(raw: RawStep) -> Result<Self, Self::Error> {
        let act = match (raw.open, raw.fill, raw.click, raw.expect) {
            (Some(path), None, None, None) => Act::Open(path),
            (None, Some(fill), None, None) => Act::Fill(fill),
            (None, None, Some(selector), None) => Act::Click(selector),
            (None, None, None, Some(expect)) => Act::Expect(expect),
            _ => return Err("a step is one of `open`, `fill`, `click` and `expect`"),
        };
        Ok(Self {
            act,
            effect: raw.effect,
            skeleton: raw.skeleton,
        })
    }
}

impl Step {
    /// The step in words that are nobody's but the charter's.
    pub(super) fn label(&self, number: usize) -> String {
        match &self.act {
            Act::Open(path) => format!("{number} open {path}"),
            Act::Fill(fill) => format!("{number} fill {}", fill.selector),
            Act::Click(selector) => format!("{number} click {selector}"),
            Act::Expect(expect) => format!("{number} expect {}", expect.selector),
        }
    }

    /// The values that may name an argument.
    fn value(&self) -> Option<&str> {
        match &self.act {
            Act::Fill(fill) => fill.value.as_deref(),
            Act::Expect(expect) => expect.text.as_deref(),
            Act::Open(_) | Act::Click(_) => None,
        }
    }

    fn names_key(&self) -> bool {
        match &self.act {
            Act::Expect(expect) => {
                expect.selector.contains(KEY) || expect.text.as_deref() == Some(KEY)
            }
            Act::Open(_) | Act::Fill(_) | Act::Click(_) => false,
        }
    }
}

/// Where the steps are taken.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) start: Url,
}

impl Place {
    fn new(url: &str) -> Result<Self, BrowserError> {
        let wrong = |cause| BrowserError::declaration(format!("the address `{url}` {cause}"));
        let start = Url::parse(url).map_err(|_| wrong("cannot be read"))?;
        if !matches!(start.scheme(), "http" | "https") || start.host_str().is_none() {
            return Err(wrong("is not one of a web page"));
        }
        if !start.username().is_empty() || start.password().is_some() {
            return Err(wrong("holds a name or a password"));
        }
        Ok(Self { start })
    }

    /// Host and port, as the gate knows them.
    pub(super) fn host(&self) -> String {
        host_of(&self.start)
    }

    /// The address of a page of the same host.
    pub(super) fn page(&self, path: &str) -> Option<Url> {
        let page = self.start.join(path).ok()?;
        (page.origin() == self.start.origin()).then_some(page)
    }
}

/// Host and port of an address.
pub(super) fn host_of(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let port = url.port_or_known_default().unwrap_or_default();
    format!("{host}:{port}").to_ascii_lowercase()
}

/// A declaration that holds together.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) real: Place,
    pub(super) sandbox: Option<Place>,
    pub(super) hosts: Vec<String>,
    pub(super) before: Vec<Step>,
    pub(super) effect: Step,
    pub(super) after: Vec<Step>,
    pub(super) check: Check,
}

impl Declaration {
    /// Reads what stands in an entry of `tools.toml`, and looks whether it can be walked.
    pub(crate) fn read(entry: toml::Table, schema: &Value) -> Result<Self, BrowserError> {
        let declaration: Self = entry
            .try_into()
            .map_err(|error: toml::de::Error| BrowserError::declaration(error.message()))?;
        Plan::new(declaration.clone(), schema)?;
        Ok(declaration)
    }
}

impl Plan {
    /// Checks a declaration against the schema of the tool's arguments.
    pub(super) fn new(declaration: Declaration, schema: &Value) -> Result<Self, BrowserError> {
        let Declaration {
            start,
            sandbox_start,
            hosts,
            mut steps,
            check,
        } = declaration;
        let wrong = |cause: &str| Err(BrowserError::declaration(cause));
        if steps.len() + check.steps.len() > STEPS_MAX {
            return wrong("it has more than 64 steps");
        }
        for step in steps.iter().chain(&check.steps) {
            check_step(step, schema)?;
        }
        let effects: Vec<usize> = (0..steps.len()).filter(|at| steps[*at].effect).collect();
        let [at] = effects[..] else {
            return wrong("exactly one step is marked `effect = true`");
        };
        let after = steps.split_off(at + 1);
        let Some(effect) = steps.pop() else {
            return wrong("exactly one step is marked `effect = true`");
        };
        if !matches!(effect.act, Act::Click(_)) {
            return wrong("the step with `effect = true` is a click");
        }
        if !after.iter().any(|step| matches!(step.act, Act::Expect(_))) {
            return wrong("no step after the effect expects to see that it happened");
        }
        if check.steps.iter().any(|step| step.effect) {
            return wrong("a check has no step with `effect = true`");
        }
        if !check.steps.last().is_some_and(Step::names_key) {
            return wrong("the last step of `check` expects something with `{key}` in it");
        }
        let real = Place::new(&start)?;
        let sandbox = sandbox_start.as_deref().map(Place::new).transpose()?;
        let mut hosts: Vec<_> = hosts.iter().map(|host| host.to_ascii_lowercase()).collect();
        hosts.push(real.host());
        hosts.extend(sandbox.as_ref().map(Place::host));
        Ok(Self {
            real,
            sandbox,
            hosts,
            before: steps,
            effect,
            after,
            check,
        })
    }
}

fn check_step(step: &Step, schema: &Value) -> Result<(), BrowserError> {
    match &step.act {
        Act::Open(path) if !path.starts_with('/') || path.starts_with("//") => {
            let cause = format!("`open = \"{path}\"` is no path that begins with one `/`");
            return Err(BrowserError::declaration(cause));
        }
        Act::Fill(fill) if fill.value.is_some() == fill.secret.is_some() => {
            let cause = format!("`{}` takes either a value or a secret", fill.selector);
            return Err(BrowserError::declaration(cause));
        }
        Act::Open(_) | Act::Fill(_) | Act::Click(_) | Act::Expect(_) => {}
    }
    match step.value().and_then(placeholder) {
        Some(name) if name != "key" && schema["properties"].get(name).is_none() => {
            let cause = format!("`{{{name}}}` is no argument of the tool");
            Err(BrowserError::declaration(cause))
        }
        _ => Ok(()),
    }
}

/// The name in a value that is nothing but `{name}`.
fn placeholder(value: &str) -> Option<&str> {
    value.strip_prefix('{')?.strip_suffix('}')
}

/// What stands for the placeholders of one effect.
pub(super) struct Filling {
    pub(super) arguments: Map<String, Value>,
    pub(super) key: String,
}

impl Filling {
    /// The text that a value stands for. An argument is never read for placeholders itself.
    pub(super) fn text(&self, value: &str) -> String {
        match placeholder(value) {
            Some("key") => self.key.clone(),
            Some(name) => match self.arguments.get(name) {
                None | Some(Value::Null) => String::new(),
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
            },
            None => value.to_owned(),
        }
    }

    /// A selector or path with the key in it, which is made of hexadecimal digits alone.
    pub(super) fn keyed(&self, text: &str) -> String {
        text.replace(KEY, &self.key)
    }
}

#[cfg(test)]
#[path = "declaration_tests.rs"]
mod tests;
