//! One tool of a server.

use std::sync::Arc;

use fathom_core::effect::{DryRun, EffectClass, EffectPermit, EffectRequest};
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value, json};

use super::server::{ListedTools, McpCallOutcome, McpServer};
use crate::argument_schema::ArgumentSchema;
use crate::error::ToolsError;
use crate::http::client::BODY_KEPT_BYTES;
use crate::pins::ToolStanding;
use crate::tool::{RetryHint, Tool, ToolFacts, ToolFuture, ToolOutcome};

/// A tool of a server.
pub(crate) struct McpTool {
    listed: ListedTools,
    arguments: ArgumentSchema,
    standing: ToolStanding,
    server: Arc<McpServer>,
}

impl McpTool {
    pub(crate) fn new(
        listed: ListedTools,
        standing: ToolStanding,
        server: Arc<McpServer>,
    ) -> Result<Self, ToolsError> {
        Ok(Self {
            arguments: ArgumentSchema::new(&listed.facts)?,
            listed,
            standing,
            server,
        })
    }

    async fn run(&self, effect: &EffectRequest) -> Result<McpCallOutcome, ToolsError> {
        let facts = &self.listed.facts;
        let tool = || facts.spec.name.clone();
        if let ToolStanding::Quarantined { pinned, found } = self.standing {
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

    fn rehearse<'a>(&'a self, _: &'a EffectRequest) -> ToolFuture<'a, Option<DryRun>> {
        Box::pin(async { None })
    }

    fn call<'a>(&'a self, permit: &'a EffectPermit) -> ToolFuture<'a, ToolOutcome> {
        Box::pin(async move {
            match self.run(permit.effect()).await {
                Err(error @ ToolsError::Server { .. }) => {
                    ToolOutcome::failed(error.to_string(), RetryHint::NotSent)
                }
                Err(error) => ToolOutcome::refused(&error),
                Ok(McpCallOutcome::Answer(result)) if result.is_error == Some(true) => {
                    ToolOutcome::failed(flat(&result), RetryHint::Never)
                }
                Ok(McpCallOutcome::Answer(result)) => ToolOutcome::confirmed(flat(&result)),
                Ok(McpCallOutcome::Refused(detail)) => {
                    ToolOutcome::failed(detail, RetryHint::Never)
                }
                Ok(McpCallOutcome::Lost(detail)) => match self.listed.facts.class {
                    EffectClass::Read => ToolOutcome::failed(detail, RetryHint::ServerFault),
                    EffectClass::Effect => ToolOutcome::unknown(detail, RetryHint::Never),
                },
            }
        })
    }

    fn check<'a>(&'a self, _: &'a EffectRequest) -> ToolFuture<'a, ToolOutcome> {
        Box::pin(async { ToolOutcome::unknown("the server has nothing to ask", RetryHint::Never) })
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
