//! One tool of a server.

use std::sync::Arc;

use fathom_core::effect::{DryRun, EffectClass, EffectRequest, Permit};
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value, json};

use super::server::{Came, Listed, Server};
use crate::arguments::Arguments;
use crate::error::ToolsError;
use crate::http::client::BODY_KEPT_BYTES;
use crate::pins::Standing;
use crate::tool::{Again, Answer, Tool, ToolFacts, Tried};

/// A tool of a server.
pub(crate) struct McpTool {
    listed: Listed,
    arguments: Arguments,
    standing: Standing,
    server: Arc<Server>,
}

impl McpTool {
    pub(crate) fn new(
        listed: Listed,
        standing: Standing,
        server: Arc<Server>,
    ) -> Result<Self, ToolsError> {
        Ok(Self {
            arguments: Arguments::new(&listed.facts)?,
            listed,
            standing,
            server,
        })
    }

    async fn run(&self, effect: &EffectRequest) -> Result<Came, ToolsError> {
        let facts = &self.listed.facts;
        let tool = || facts.spec.name.clone();
        if let Standing::Quarantined { pinned, found } = self.standing {
            return Err(ToolsError::Quarantined {
                tool: tool(),
                pinned,
                found,
            });
        }
        let arguments = self.arguments.read(facts, effect)?;
        let (now, peer) = self.server.ready(&self.listed.remote).await?;
        // The server may have changed the tool since the survey.
        match now {
            None => Err(ToolsError::Unknown { name: tool() }),
            Some(found) if found != facts.pin => Err(ToolsError::Quarantined {
                tool: tool(),
                pinned: facts.pin,
                found,
            }),
            Some(_) => Ok(self
                .server
                .call(&peer, &self.listed.remote, arguments)
                .await),
        }
    }
}

impl Tool for McpTool {
    fn facts(&self) -> &ToolFacts {
        &self.listed.facts
    }

    fn rehearse<'a>(&'a self, _: &'a EffectRequest) -> Answer<'a, Option<DryRun>> {
        Box::pin(async { None })
    }

    fn call<'a>(&'a self, permit: &'a Permit) -> Answer<'a, Tried> {
        Box::pin(async move {
            match self.run(permit.effect()).await {
                Err(error @ ToolsError::Server { .. }) => {
                    Tried::failed(error.to_string(), Again::NotSent)
                }
                Err(error) => Tried::refused(&error),
                Ok(Came::Answer(result)) if result.is_error == Some(true) => {
                    Tried::failed(flat(&result), Again::Never)
                }
                Ok(Came::Answer(result)) => Tried::confirmed(flat(&result)),
                Ok(Came::Refused(detail)) => Tried::failed(detail, Again::Never),
                Ok(Came::Lost(detail)) => match self.listed.facts.class {
                    EffectClass::Read => Tried::failed(detail, Again::ServerFault),
                    EffectClass::Effect => Tried::unknown(detail, Again::Never),
                },
            }
        })
    }

    fn check<'a>(&'a self, _: &'a EffectRequest) -> Answer<'a, Tried> {
        Box::pin(async { Tried::unknown("the server has nothing to ask", Again::Never) })
    }
}

/// A result as one JSON text of bounded size.
fn flat(result: &CallToolResult) -> String {
    let mut text = String::new();
    for block in &result.content {
        if !text.is_empty() {
            text.push('\n');
        }
        match block {
            ContentBlock::Text(said) => text.push_str(&said.text),
            other => text.push_str(&outline(other)),
        }
    }
    let bytes = text.len();
    let structured = result.structured_content.as_ref();
    let fits = |value: &&Value| value.to_string().len() <= BODY_KEPT_BYTES;
    let kept = structured.filter(fits);
    let mut told = Map::new();
    told.insert("bytes".into(), json!(bytes));
    if bytes > BODY_KEPT_BYTES || kept.is_none() && structured.is_some() {
        told.insert("cut".into(), json!(true));
    }
    text.truncate(text.floor_char_boundary(BODY_KEPT_BYTES));
    told.insert("text".into(), json!(text));
    if let Some(kept) = kept {
        told.insert("structured".into(), kept.clone());
    }
    Value::Object(told).to_string()
}

/// Placeholder for a picture, a sound or a resource: its kind and size.
fn outline(block: &ContentBlock) -> String {
    let value = serde_json::to_value(block).unwrap_or_default();
    let kind = value["type"].as_str().unwrap_or("something");
    let media = value["mimeType"].as_str().unwrap_or_default();
    format!("[{kind} {media}, {} bytes]", value.to_string().len())
}
