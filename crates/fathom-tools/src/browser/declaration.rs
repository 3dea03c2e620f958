//! The steps of a browser tool, as a charter declares them.

use fathom_core::id::Digest;
use reqwest::Url;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::error::BrowserError;

/// Maximum number of steps of a tool.
const STEPS_MAX: usize = 64;
/// Placeholder of the effect's key.
const KEY: &str = "{key}";

/// A browser tool. Addresses, selectors and the order of steps come from the charter; an argument is only typed
/// into a field.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BrowserDeclaration {
    /// Start page.
    pub start: String,
    /// Start page of rehearsals; the real one by default.
    pub sandbox_start: Option<String>,
    /// Further hosts that the pages need, such as `cdn.example:443`. The hosts of the two pages above are
    /// always allowed.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// Steps of the effect, in order.
    pub steps: Vec<BrowserStep>,
    /// Check for the effect.
    pub check: BrowserCheck,
}

/// Check if an effect happened.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BrowserCheck {
    /// Steps of the check; the last one expects something with `{key}` in it.
    pub steps: Vec<BrowserStep>,
    /// True if absence means that the effect did not happen. Pages that show things late leave it unknown.
    #[serde(default)]
    pub conclusive: bool,
}

/// One step.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "RawStep")]
pub struct BrowserStep {
    pub act: BrowserAction,
    /// True for the step that causes the effect.
    pub effect: bool,
    /// Hash of the page's skeleton before the step; after it if the step opens a page.
    pub skeleton: Option<Digest>,
}

/// Action of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BrowserAction {
    /// Opens a page of the same host.
    Open(String),
    /// Types a value into a field.
    Fill(FieldFill),
    Click(String),
    /// Waits for a visible element.
    Expect(PageExpectation),
}

/// A field and the value to type into it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FieldFill {
    pub selector: String,
    /// A text, `{argument}` or `{key}`.
    pub value: Option<String>,
    /// Name of the secret.
    pub secret: Option<String>,
}

/// An element that must be on the page.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageExpectation {
    pub selector: String,
    /// A text, `{argument}` or `{key}`, that the element contains.
    pub text: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawStep {
    open: Option<String>,
    fill: Option<FieldFill>,
    click: Option<String>,
    expect: Option<PageExpectation>,
    #[serde(default)]
    effect: bool,
    skeleton: Option<Digest>,
}

impl TryFrom<RawStep> for BrowserStep {
    type Error = &'static str;

    fn try_from(raw: RawStep) -> Result<Self, Self::Error> {
        let act = match (raw.open, raw.fill, raw.click, raw.expect) {
            (Some(path), None, None, None) => BrowserAction::Open(path),
            (None, Some(fill), None, None) => BrowserAction::Fill(fill),
            (None, None, Some(selector), None) => BrowserAction::Click(selector),
            (None, None, None, Some(expect)) => BrowserAction::Expect(expect),
            _ => return Err("a step has exactly one of `open`, `fill`, `click` and `expect`"),
        };
        Ok(Self {
            act,
            effect: raw.effect,
            skeleton: raw.skeleton,
        })
    }
}

impl BrowserStep {
    /// Name of the step, made of the charter's words only.
    pub(super) fn label(&self, number: usize) -> String {
        match &self.act {
            BrowserAction::Open(path) => format!("{number} open {path}"),
            BrowserAction::Fill(fill) => format!("{number} fill {}", fill.selector),
            BrowserAction::Click(selector) => format!("{number} click {selector}"),
            BrowserAction::Expect(expect) => format!("{number} expect {}", expect.selector),
        }
    }

    /// The value that may name an argument.
    fn value(&self) -> Option<&str> {
        match &self.act {
            BrowserAction::Fill(fill) => fill.value.as_deref(),
            BrowserAction::Expect(expect) => expect.text.as_deref(),
            BrowserAction::Open(_) | BrowserAction::Click(_) => None,
        }
    }

    fn names_key(&self) -> bool {
        match &self.act {
            BrowserAction::Expect(expect) => {
                expect.selector.contains(KEY) || expect.text.as_deref() == Some(KEY)
            }
            BrowserAction::Open(_) | BrowserAction::Fill(_) | BrowserAction::Click(_) => false,
        }
    }
}

/// Site on which the steps are taken.
#[derive(Clone, Debug)]
pub(super) struct BrowserSite {
    pub(super) start: Url,
}

impl BrowserSite {
    fn new(url: &str) -> Result<Self, BrowserError> {
        let wrong = |cause| BrowserError::declaration(format!("the address `{url}` {cause}"));
        let start = Url::parse(url).map_err(|_| wrong("is malformed"))?;
        if !matches!(start.scheme(), "http" | "https") || start.host_str().is_none() {
            return Err(wrong("is not a web address"));
        }
        if !start.username().is_empty() || start.password().is_some() {
            return Err(wrong("contains a user name or a password"));
        }
        Ok(Self { start })
    }

    /// Host and port in the gate's notation.
    pub(super) fn host(&self) -> String {
        host_of(&self.start)
    }

    /// A page of the same origin.
    pub(super) fn page(&self, path: &str) -> Option<Url> {
        let page = self.start.join(path).ok()?;
        // After joining: `//host` and `/\\host` lead elsewhere although they look like paths.
        (page.origin() == self.start.origin()).then_some(page)
    }
}

/// Host and port of an address.
pub(super) fn host_of(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let port = url.port_or_known_default().unwrap_or_default();
    format!("{host}:{port}").to_ascii_lowercase()
}

/// A declaration that was checked.
#[derive(Debug)]
pub(super) struct BrowserPlan {
    pub(super) real: BrowserSite,
    pub(super) sandbox: Option<BrowserSite>,
    pub(super) hosts: Vec<String>,
    pub(super) before: Vec<BrowserStep>,
    pub(super) effect: BrowserStep,
    pub(super) after: Vec<BrowserStep>,
    pub(super) check: BrowserCheck,
}

impl BrowserDeclaration {
    /// Reads an entry of `tools.toml` and checks it.
    pub(crate) fn read(entry: toml::Table, schema: &Value) -> Result<Self, BrowserError> {
        let declaration: Self = entry
            .try_into()
            .map_err(|error: toml::de::Error| BrowserError::declaration(error.message()))?;
        // Only for its checks: mistakes are to be found with the charter, not when the tool is first used.
        BrowserPlan::new(declaration.clone(), schema)?;
        Ok(declaration)
    }
}

impl BrowserPlan {
    /// Checks a declaration against the schema of the tool's arguments.
    pub(super) fn new(
        declaration: BrowserDeclaration,
        schema: &Value,
    ) -> Result<Self, BrowserError> {
        let BrowserDeclaration {
            start,
            sandbox_start,
            hosts,
            mut steps,
            check,
        } = declaration;
        let wrong = |cause: &str| Err(BrowserError::declaration(cause));
        if steps.len() + check.steps.len() > STEPS_MAX {
            return wrong("more than 64 steps");
        }
        for step in steps.iter().chain(&check.steps) {
            check_step(step, schema)?;
        }
        let effects: Vec<usize> = (0..steps.len()).filter(|at| steps[*at].effect).collect();
        let [at] = effects[..] else {
            return wrong("exactly one step must have `effect = true`");
        };
        let after = steps.split_off(at + 1);
        let Some(effect) = steps.pop() else {
            return wrong("exactly one step must have `effect = true`");
        };
        if !matches!(effect.act, BrowserAction::Click(_)) {
            return wrong("the step with `effect = true` must be a click");
        }
        if !after
            .iter()
            .any(|step| matches!(step.act, BrowserAction::Expect(_)))
        {
            return wrong("a step after the effect must expect its result");
        }
        if check.steps.iter().any(|step| step.effect) {
            return wrong("a check must not have a step with `effect = true`");
        }
        if !check.steps.last().is_some_and(BrowserStep::names_key) {
            return wrong("the last step of `check` must expect something with `{key}` in it");
        }
        let real = BrowserSite::new(&start)?;
        let sandbox = sandbox_start.as_deref().map(BrowserSite::new).transpose()?;
        let mut hosts: Vec<_> = hosts.iter().map(|host| host.to_ascii_lowercase()).collect();
        hosts.push(real.host());
        hosts.extend(sandbox.as_ref().map(BrowserSite::host));
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

fn check_step(step: &BrowserStep, schema: &Value) -> Result<(), BrowserError> {
    match &step.act {
        BrowserAction::Open(path) if !path.starts_with('/') || path.starts_with("//") => {
            let cause = format!("`open = \"{path}\"` is not a path that starts with a single `/`");
            return Err(BrowserError::declaration(cause));
        }
        BrowserAction::Fill(fill) if fill.value.is_some() == fill.secret.is_some() => {
            let cause = format!("`{}` takes either a value or a secret", fill.selector);
            return Err(BrowserError::declaration(cause));
        }
        BrowserAction::Open(_)
        | BrowserAction::Fill(_)
        | BrowserAction::Click(_)
        | BrowserAction::Expect(_) => {}
    }
    match step.value().and_then(placeholder) {
        Some(name) if name != "key" && schema["properties"].get(name).is_none() => {
            let cause = format!("`{{{name}}}` is not an argument of the tool");
            Err(BrowserError::declaration(cause))
        }
        _ => Ok(()),
    }
}

/// The name in a value that is a single placeholder `{name}`.
fn placeholder(value: &str) -> Option<&str> {
    value.strip_prefix('{')?.strip_suffix('}')
}

/// Values of the placeholders of one effect.
pub(super) struct FieldFilling {
    pub(super) arguments: Map<String, Value>,
    pub(super) key: String,
}

impl FieldFilling {
    /// The text of a value. An argument is never searched for placeholders itself.
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

    /// A selector or path with the key inserted; the key has hexadecimal digits only.
    pub(super) fn keyed(&self, text: &str) -> String {
        text.replace(KEY, &self.key)
    }
}

#[cfg(test)]
#[path = "declaration_tests.rs"]
mod tests;
