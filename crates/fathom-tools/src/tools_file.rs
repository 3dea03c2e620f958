//! Parser of `tools.toml`, in which a charter declares its tools.

use std::collections::BTreeSet;

use fathom_core::effect::undo::InverseTool;
use fathom_core::effect::{EffectClass, EffectTarget};
use fathom_core::model::tool_call::ToolSpec;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::argument_schema::ArgumentSchema;
use crate::browser;
use crate::error::ToolsError;
use crate::http;
use crate::http::address_check::ReachableHosts;
use crate::http::declaration::wrong;
use crate::mcp;
use crate::pins::pin;
use crate::program;
use crate::text_template::KEY;
use crate::tool::ToolFacts;

/// Maximum number of tools and servers of a charter.
const ENTRIES_MAX: usize = 128;
/// Longest name that providers accept.
const NAME_CHARS_MAX: usize = 64;
/// Account of a tool that acts on behalf of no account.
const NO_ACCOUNT: &str = "none";

/// Keys of a tool that do not depend on its kind.
const COMMON: [&str; 11] = [
    "name",
    "description",
    "kind",
    "class",
    "idempotent",
    "reversible",
    "inverse",
    "platform",
    "account",
    "action",
    "schema",
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolsToml {
    #[serde(default)]
    allow_hosts: Vec<String>,
    #[serde(default)]
    allow_private: Vec<String>,
    #[serde(default)]
    tool: Vec<toml::Table>,
    #[serde(default)]
    mcp: Vec<mcp::McpServerToml>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CommonKeys {
    name: String,
    description: String,
    kind: KindName,
    #[serde(default)]
    class: EffectClass,
    #[serde(default)]
    idempotent: bool,
    #[serde(default)]
    reversible: bool,
    #[serde(default)]
    inverse: Option<WrittenInverse>,
    platform: String,
    #[serde(default)]
    account: Option<String>,
    #[serde(default)]
    action: Option<String>,
    #[serde(default)]
    schema: Option<Value>,
}

/// The tool that undoes another: its name if it is called with the same words, or the name and the words.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum WrittenInverse {
    Name(String),
    Words(InverseTool),
}

impl From<WrittenInverse> for InverseTool {
    fn from(written: WrittenInverse) -> Self {
        match written {
            WrittenInverse::Name(tool) => Self::by(tool),
            WrittenInverse::Words(inverse) => inverse,
        }
    }
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum KindName {
    Http,
    Shell,
    Browser,
}

/// Implementation of a declared tool.
#[derive(Clone, Debug)]
pub enum ToolKind {
    /// Over HTTP.
    Http(Box<http::declaration::HttpDeclaration>),
    /// By a program.
    Shell(program::ProgramDeclaration),
    Browser(Box<browser::BrowserDeclaration>),
}

/// A tool that a charter declares.
#[derive(Clone, Debug)]
pub struct DeclaredTool {
    /// Its facts. The tenant is still empty.
    pub facts: ToolFacts,
    pub kind: ToolKind,
}

/// All tools that a charter declares.
#[derive(Clone, Debug, Default)]
pub struct ToolsFile {
    /// Tools declared one by one.
    pub tools: Vec<DeclaredTool>,
    /// Servers that offer tools of their own.
    pub servers: Vec<mcp::McpDeclaration>,
}

impl ToolsFile {
    /// Reads `tools.toml`.
    pub fn read(text: &str) -> Result<Self, ToolsError> {
        let file: ToolsToml = toml::from_str(text).map_err(|error| ToolsError::Unreadable {
            cause: error.to_string().trim_end().to_owned(),
        })?;
        if file.tool.len() + file.mcp.len() > ENTRIES_MAX {
            return Err(ToolsError::Unreadable {
                cause: format!("more than {ENTRIES_MAX} entries"),
            });
        }
        let reach = ReachableHosts::new(&file.allow_hosts, &file.allow_private)
            .map_err(|fault| wrong("tools.toml", fault.to_string()))?;
        let mut names = BTreeSet::new();
        let mut all = Self::default();
        for table in file.tool {
            let declared = declared(table, &reach)?;
            once(&mut names, &declared.facts.spec.name)?;
            all.tools.push(declared);
        }
        // Before the servers are read: an inverse must be a declared tool, since a server's tools are not known
        // yet.
        all.check_inverses()?;
        for written in file.mcp {
            let declaration = mcp::McpDeclaration::read(written, &reach)?;
            once(&mut names, declaration.name())?;
            all.servers.push(declaration);
        }
        Ok(all)
    }
}

impl ToolsFile {
    /// Checks that every inverse is declared and takes arguments of the same form.
    fn check_inverses(&self) -> Result<(), ToolsError> {
        for tool in &self.tools {
            let name = &tool.facts.spec.name;
            let Some(inverse) = &tool.facts.inverse else {
                continue;
            };
            if tool.facts.class == EffectClass::Read {
                return Err(wrong(
                    name,
                    "is of class `read` and cannot have an `inverse`",
                ));
            }
            if let Some(place) = inverse.unknown_place() {
                return Err(wrong(
                    name,
                    format!("has an `inverse` with the invalid placeholder `{place}`"),
                ));
            }
            let known = |other: &&DeclaredTool| other.facts.spec.name == inverse.tool;
            let Some(back) = self.tools.iter().find(known) else {
                let lost = &inverse.tool;
                return Err(wrong(
                    name,
                    format!("names the inverse `{lost}`, which is not declared"),
                ));
            };
            if tool.facts.takes_words() && !back.facts.takes_words() {
                let other = &inverse.tool;
                return Err(wrong(
                    name,
                    format!("takes a list `args`, but its inverse `{other}` does not"),
                ));
            }
        }
        Ok(())
    }
}

fn once(names: &mut BTreeSet<String>, name: &str) -> Result<(), ToolsError> {
    check_name(name)?;
    if names.insert(name.to_owned()) {
        return Ok(());
    }
    Err(ToolsError::Name {
        name: name.to_owned(),
        cause: "used more than once",
    })
}

/// Checks that providers accept a name.
pub(crate) fn check_name(name: &str) -> Result<(), ToolsError> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if (1..=NAME_CHARS_MAX).contains(&name.len()) && name.bytes().all(fits) {
        return Ok(());
    }
    Err(ToolsError::Name {
        name: name.chars().take(NAME_CHARS_MAX).collect(),
        cause: "expected 1 to 64 letters, digits, `_` or `-`",
    })
}

fn declared(table: toml::Table, reach: &ReachableHosts) -> Result<DeclaredTool, ToolsError> {
    // Split by hand: serde cannot flatten the common keys and still refuse unknown ones.
    let (common, own): (toml::Table, toml::Table) = table
        .into_iter()
        .partition(|(key, _)| COMMON.contains(&key.as_str()));
    let named = common.get("name").and_then(toml::Value::as_str);
    let tool = named.unwrap_or("a tool without a name").to_owned();
    let common: CommonKeys = common
        .try_into()
        .map_err(|error: toml::de::Error| wrong(&tool, error.message()))?;
    check_name(&common.name)?;
    let schema = schema(&common)?;
    let kind = match common.kind {
        KindName::Http => {
            let declaration = http::declaration::HttpDeclaration::read(&tool, own, reach)?;
            ToolKind::Http(Box::new(declaration))
        }
        KindName::Shell => ToolKind::Shell(program::ProgramDeclaration::read(&tool, own)?),
        KindName::Browser => {
            let declaration = browser::BrowserDeclaration::read(own, &schema);
            let declaration = declaration.map_err(|error| wrong(&tool, error.to_string()))?;
            ToolKind::Browser(Box::new(declaration))
        }
    };
    let places = match &kind {
        ToolKind::Http(declaration) => declaration.places(),
        ToolKind::Shell(declaration) => declaration.places(),
        ToolKind::Browser(_) => Vec::new(),
    };
    let known = |place: &str| place == KEY || schema["properties"].get(place).is_some();
    if let Some(place) = places.into_iter().find(|place| !known(place)) {
        return Err(ToolsError::Place {
            tool,
            place: place.to_owned(),
        });
    }
    let facts = facts(common, &schema, &kind);
    ArgumentSchema::new(&facts)?;
    Ok(DeclaredTool { facts, kind })
}

fn facts(common: CommonKeys, schema: &Value, kind: &ToolKind) -> ToolFacts {
    let class = match (common.class, kind) {
        // A request to a host may carry data out: it counts as a read only if the charter lists the host.
        (EffectClass::Read, ToolKind::Http(declaration)) if !declaration.is_listed() => {
            EffectClass::Effect
        }
        (class, _) => class,
    };
    ToolFacts {
        class,
        idempotent: common.idempotent,
        reversible: common.reversible || common.inverse.is_some(),
        inverse: common.inverse.map(InverseTool::from),
        target: EffectTarget {
            tenant: String::new(),
            platform: common.platform,
            account: common.account.unwrap_or_else(|| NO_ACCOUNT.to_owned()),
            action: common.action.unwrap_or_else(|| common.name.clone()),
        },
        pin: pin(&common.name, &common.description, schema, &Value::Null),
        spec: ToolSpec {
            name: common.name,
            description: common.description.into(),
            schema: schema.to_string().into(),
        },
    }
}

/// The schema, closed against arguments that it does not name.
fn schema(common: &CommonKeys) -> Result<Value, ToolsError> {
    let tool = &common.name;
    let empty = || json!({"type": "object", "properties": {}});
    let written = common.schema.clone().unwrap_or_else(empty);
    let mut schema = http::declaration::json(tool, written)?;
    let wrong = |cause: &str| ToolsError::Schema {
        tool: tool.clone(),
        cause: cause.to_owned(),
    };
    if schema["type"] != "object" {
        return Err(wrong("must have the type `object`"));
    }
    if schema["properties"].get(KEY).is_some() {
        return Err(wrong(
            "has an argument `key`, which is reserved for the idempotency key",
        ));
    }
    // Otherwise a model could send arguments of its own invention.
    if let Value::Object(members) = &mut schema {
        members
            .entry("additionalProperties")
            .or_insert(Value::Bool(false));
    }
    Ok(schema)
}

#[cfg(test)]
#[path = "tools_file_tests.rs"]
mod tests;
