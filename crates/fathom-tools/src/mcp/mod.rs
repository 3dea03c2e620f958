//! Tools of MCP servers: programs and addresses that a charter names, each with a list of allowed tools.

mod process;
mod server;
mod tool;

use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use serde::Deserialize;

use crate::error::ToolsError;
use crate::http::address_check::{ReachableHosts, is_odd};
use crate::http::declaration::{timeout, wrong};

pub(crate) use server::McpServer;
pub(crate) use tool::McpTool;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct McpServerToml {
    name: String,
    #[serde(default)]
    command: Vec<String>,
    #[serde(default)]
    url: Option<String>,
    #[serde(default)]
    token_env: Option<String>,
    tools: Vec<String>,
    #[serde(default)]
    env: Vec<String>,
    #[serde(default)]
    allow_private: Vec<String>,
    #[serde(default)]
    timeout_ms: Option<u64>,
}

/// Connection to a server.
#[derive(Clone, Debug)]
pub(crate) enum McpTransport {
    /// A separate program, over its standard input and output.
    Program {
        program: String,
        args: Vec<String>,
        /// Variables that are passed to it. It gets no others.
        env: Vec<String>,
    },
    /// An address, over HTTP.
    Http {
        url: Url,
        token_env: Option<String>,
        reach: Arc<ReachableHosts>,
    },
}

/// A tool server named by a charter.
#[derive(Clone, Debug)]
pub struct McpDeclaration {
    name: String,
    pub(crate) wire: McpTransport,
    /// The allowed tools; others are hidden.
    pub(crate) tools: Vec<String>,
    /// Time limit of a start, a list or a call.
    pub(crate) timeout: Duration,
}

impl McpDeclaration {
    /// Its name, which prefixes the names of its tools.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn read(written: McpServerToml, reach: &ReachableHosts) -> Result<Self, ToolsError> {
        let name = written.name;
        if written.tools.is_empty() {
            return Err(wrong(&name, "lists no allowed `tools`"));
        }
        let mut command = written.command.into_iter();
        let wire = match (command.next(), written.url) {
            (Some(program), None) if written.token_env.is_none() => McpTransport::Program {
                program,
                args: command.collect(),
                env: written.env,
            },
            (None, Some(url)) if written.env.is_empty() => {
                let own = ReachableHosts::new(&[], &written.allow_private)
                    .map_err(|fault| wrong(&name, fault.to_string()))?;
                let reach = reach.clone().and(&own);
                address(&name, &url, written.token_env, reach)?
            }
            _ => {
                let cause = "needs either a `command` (with `env`) or a `url` (with `token_env`)";
                return Err(wrong(&name, cause));
            }
        };
        Ok(Self {
            timeout: timeout(&name, written.timeout_ms)?,
            name,
            wire,
            tools: written.tools,
        })
    }
}

fn address(
    name: &str,
    written: &str,
    token_env: Option<String>,
    reach: ReachableHosts,
) -> Result<McpTransport, ToolsError> {
    let unusable = |cause| ToolsError::Url {
        url: written.to_owned(),
        cause,
    };
    let url = Url::parse(written).map_err(|_| unusable("malformed URL"))?;
    reach.check_url(&url)?;
    if is_odd(written, &url) {
        return Err(unusable("the IP address is not in its usual notation"));
    }
    if token_env.is_some() && url.scheme() == "http" && !reach.names_private(&url) {
        return Err(wrong(name, "would send its token over plain http"));
    }
    Ok(McpTransport::Http {
        url,
        token_env,
        reach: Arc::new(reach),
    })
}
