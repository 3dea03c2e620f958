//! Templates of requests: text of the charter with placeholders for arguments.
//!
//! An argument is inserted once and never parsed, so that a value like `{key}` stays as it is.

use std::fmt::Write as _;

use reqwest::Url;
use serde_json::{Map, Value};

use crate::error::ToolsError;

/// The placeholder of the idempotency key.
pub(crate) const KEY: &str = "key";

/// Values of the placeholders.
#[derive(Clone, Copy)]
pub(crate) struct TemplateValues<'a> {
    pub(crate) arguments: &'a Map<String, Value>,
    pub(crate) key: &'a str,
}

impl TemplateValues<'_> {
    /// The value of a placeholder; `None` if the model left it out.
    fn value(&self, name: &str) -> Option<Value> {
        match name {
            KEY => Some(Value::String(self.key.to_owned())),
            name => self.arguments.get(name).filter(|v| !v.is_null()).cloned(),
        }
    }

    /// The value as text; lists and objects have no one-line form.
    fn text(&self, name: &str) -> Result<Option<String>, ToolsError> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(value @ (Value::Number(_) | Value::Bool(_))) => Ok(Some(value.to_string())),
            Some(_) => Err(ToolsError::Argument {
                name: name.to_owned(),
                cause: "a list or an object does not fit into a text",
            }),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum TemplatePiece {
    Literal(String),
    Place(String),
}

/// Text with placeholders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextTemplate(Vec<TemplatePiece>);

impl TextTemplate {
    pub(crate) fn parse(text: &str) -> Self {
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            let (before, from) = rest.split_at(open);
            literal.push_str(before);
            if let Some(name) = place(from) {
                if !literal.is_empty() {
                    pieces.push(TemplatePiece::Literal(std::mem::take(&mut literal)));
                }
                pieces.push(TemplatePiece::Place(name.to_owned()));
                rest = &from[name.len() + 2..];
            } else {
                literal.push('{');
                rest = &from[1..];
            }
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            pieces.push(TemplatePiece::Literal(literal));
        }
        Self(pieces)
    }

    pub(crate) fn places(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            TemplatePiece::Place(name) => Some(name.as_str()),
            TemplatePiece::Literal(_) => None,
        })
    }

    /// The name of the placeholder, if the template is nothing else.
    pub(crate) fn alone(&self) -> Option<&str> {
        match self.0.as_slice() {
            [TemplatePiece::Place(name)] => Some(name),
            _ => None,
        }
    }

    /// True if the template starts with text of the charter.
    pub(crate) fn begins_literally(&self) -> bool {
        matches!(self.0.first(), Some(TemplatePiece::Literal(_)))
    }

    /// The filled text; `None` if an argument is missing.
    pub(crate) fn fill(
        &self,
        filling: TemplateValues<'_>,
        written: fn(&str) -> String,
    ) -> Result<Option<String>, ToolsError> {
        let mut text = String::new();
        for piece in &self.0 {
            match piece {
                TemplatePiece::Literal(literal) => text.push_str(literal),
                TemplatePiece::Place(name) => match filling.text(name)? {
                    Some(value) => text.push_str(&written(&value)),
                    None => return Ok(None),
                },
            }
        }
        Ok(Some(text))
    }
}

/// The name in `{name}…`, if it is one.
fn place(text: &str) -> Option<&str> {
    let inside = text.strip_prefix('{')?;
    let (name, _) = inside.split_once('}')?;
    let first = name.bytes().next()?;
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    ((first.is_ascii_alphabetic() || first == b'_') && name.bytes().all(fits)).then_some(name)
}

/// Percent-encodes everything but unreserved characters.
pub(crate) fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// An address with a fixed host, and placeholders in path and query.
#[derive(Clone, Debug)]
pub(crate) struct UrlTemplate {
    base: Url,
    path: TextTemplate,
    query: Vec<(String, TextTemplate)>,
}

impl UrlTemplate {
    pub(crate) fn parse(text: &str) -> Result<Self, ToolsError> {
        let wrong = |cause| ToolsError::Url {
            url: text.chars().take(200).collect(),
            cause,
        };
        let (scheme, rest) = text.split_once("://").ok_or_else(|| wrong("no scheme"))?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, rest) = rest.split_at(end);
        // An argument in the authority would choose the recipient.
        if scheme.contains('{') || authority.contains('{') {
            return Err(wrong(
                "placeholders are allowed only in the path and the query",
            ));
        }
        if rest.contains('#') {
            return Err(wrong("fragments are not supported"));
        }
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let path = if path.is_empty() { "/" } else { path };
        let base =
            Url::parse(&format!("{scheme}://{authority}/")).map_err(|_| wrong("malformed URL"))?;
        let mut pairs = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            if TextTemplate::parse(name).places().next().is_some() {
                return Err(wrong("a parameter's name cannot be a placeholder"));
            }
            pairs.push((name.to_owned(), TextTemplate::parse(value)));
        }
        let template = Self {
            base,
            path: TextTemplate::parse(path),
            query: pairs,
        };
        let places = template.places().map(|name| (name.to_owned(), "x".into()));
        let arguments: Map<_, _> = places.collect();
        let filling = TemplateValues {
            arguments: &arguments,
            key: "x",
        };
        // With a harmless value, so that a path that the parser rewrites is found while the charter is read.
        template
            .fill(filling)
            .map_err(|_| wrong("the path contains `..` or unescaped characters"))?;
        Ok(template)
    }

    /// Scheme, host and port.
    pub(crate) const fn base(&self) -> &Url {
        &self.base
    }

    pub(crate) fn places(&self) -> impl Iterator<Item = &str> {
        let query = self.query.iter().flat_map(|(_, value)| value.places());
        self.path.places().chain(query)
    }

    /// The address. An argument stays within its place: no `..`, no further segment, no other host.
    pub(crate) fn fill(&self, filling: TemplateValues<'_>) -> Result<Url, ToolsError> {
        for name in self.path.places() {
            if filling.text(name)?.is_none_or(|value| value.is_empty()) {
                return Err(ToolsError::Argument {
                    name: name.to_owned(),
                    cause: "the address cannot do without it",
                });
            }
        }
        let path = self.path.fill(filling, encoded)?.unwrap_or_default();
        let mut url = self.base.clone();
        url.set_path(&path);
        // The parser resolves `..` and the like, so any difference means that an argument left its place.
        if url.path() != path {
            return Err(ToolsError::Argument {
                name: self.path.places().next().unwrap_or("url").to_owned(),
                cause: "it would change the path of the address",
            });
        }
        let mut pairs = Vec::new();
        for (name, value) in &self.query {
            if let Some(value) = value.fill(filling, encoded)? {
                pairs.push(format!("{name}={value}"));
            }
        }
        url.set_query((!pairs.is_empty()).then(|| pairs.join("&")).as_deref());
        Ok(url)
    }
}

/// JSON with placeholders in its strings.
#[derive(Clone, Debug)]
pub(crate) enum BodyTemplate {
    Literal(Value),
    /// A string that is a single placeholder: the argument keeps its type.
    Whole(String),
    Text(TextTemplate),
    List(Vec<BodyTemplate>),
    Object(Vec<(String, BodyTemplate)>),
}

impl BodyTemplate {
    pub(crate) fn parse(value: &Value) -> Self {
        match value {
            Value::String(text) => {
                let template = TextTemplate::parse(text);
                match template.0.as_slice() {
                    [TemplatePiece::Place(name)] => Self::Whole(name.clone()),
                    [] | [TemplatePiece::Literal(_)] => Self::Literal(value.clone()),
                    _ => Self::Text(template),
                }
            }
            Value::Array(values) => Self::List(values.iter().map(Self::parse).collect()),
            Value::Object(map) => {
                let members = map.iter().map(|(k, v)| (k.clone(), Self::parse(v)));
                Self::Object(members.collect())
            }
            other => Self::Literal(other.clone()),
        }
    }

    pub(crate) fn places(&self) -> Vec<&str> {
        match self {
            Self::Literal(_) => Vec::new(),
            Self::Whole(name) => vec![name],
            Self::Text(template) => template.places().collect(),
            Self::List(values) => values.iter().flat_map(Self::places).collect(),
            Self::Object(members) => members.iter().flat_map(|(_, v)| v.places()).collect(),
        }
    }

    /// The filled JSON, without what the model left out.
    pub(crate) fn fill(&self, filling: TemplateValues<'_>) -> Result<Option<Value>, ToolsError> {
        Ok(match self {
            Self::Literal(value) => Some(value.clone()),
            Self::Whole(name) => filling.value(name),
            Self::Text(template) => template.fill(filling, str::to_owned)?.map(Value::String),
            Self::List(values) => {
                let mut filled = Vec::new();
                for value in values {
                    filled.extend(value.fill(filling)?);
                }
                Some(Value::Array(filled))
            }
            Self::Object(members) => {
                let mut filled = Map::new();
                for (name, value) in members {
                    if let Some(value) = value.fill(filling)? {
                        filled.insert(name.clone(), value);
                    }
                }
                Some(Value::Object(filled))
            }
        })
    }
}

#[cfg(test)]
#[path = "text_template_tests.rs"]
mod tests;
