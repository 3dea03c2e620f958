//! Connection to one server: started on first use, and called with a time limit.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fathom_core::effect::{EffectClass, EffectTarget};
use fathom_core::id::Digest;
use fathom_core::model::tool_call::ToolSpec;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientConfig, PaginatedRequestParams, ProtocolVersion,
};
use rmcp::service::{
    ClientLifecycleMode, NotificationContext, RunningService, ServiceError,
    serve_client_with_lifecycle,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, RoleClient, model};
use serde_json::{Map, Value};
use tokio::sync::Mutex;

use super::process::{self, McpProcess};
use super::{McpDeclaration, McpTransport};
use crate::error::ToolsError;
use crate::http::client::{HostResolver, HttpToolClient};
use crate::pins::pin;
use crate::secret::PlatformSecrets;
use crate::tool::ToolFacts;
use crate::tools_file::check_name;

/// Maximum number of pages of a list of tools.
const PAGES_MAX: usize = 16;
/// Maximum number of tools that a server may list.
const TOOLS_MAX: usize = 512;
/// Maximum length of a description shown to models.
const DESCRIPTION_BYTES_MAX: usize = 8 * 1024;
/// Maximum length of a schema.
const SCHEMA_BYTES_MAX: usize = 64 * 1024;
/// Maximum length of a server's message.
const MESSAGE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Notes when a server's tools change. Other requests of a server are not answered.
struct ToolListWatcher(Arc<AtomicBool>);

impl ClientHandler for ToolListWatcher {
    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.store(true, Ordering::Release);
    }

    fn get_info(&self) -> ClientConfig {
        let mut info = ClientConfig::default();
        info.protocol_version = ProtocolVersion::V_2025_11_25;
        "fathom".clone_into(&mut info.client_info.name);
        env!("CARGO_PKG_VERSION").clone_into(&mut info.client_info.version);
        info
    }
}

/// A tool as its server describes it.
#[derive(Clone)]
pub(crate) struct ListedTools {
    pub(crate) remote: String,
    pub(crate) facts: ToolFacts,
}

/// A connection, and the tools listed over it.
struct LiveConnection {
    service: RunningService<RoleClient, ToolListWatcher>,
    changed: Arc<AtomicBool>,
    tools: BTreeMap<String, ListedTools>,
    _process: Option<McpProcess>,
}

impl LiveConnection {
    fn is_over(&self) -> bool {
        self.service.is_closed() || self.service.peer().is_transport_closed()
    }

    /// True if the list may be out of date. Servers of the newer protocol send no notice, so they are asked
    /// each time.
    fn is_stale(&self) -> bool {
        let info = self.service.peer().peer_info();
        let tells = info.is_some_and(|info| info.protocol_version.has_initialize());
        // Cleared before the tools are listed, so that a change in the meantime is seen next time.
        self.changed.swap(false, Ordering::AcqRel) || !tells
    }
}

/// Outcome of a call.
pub(crate) enum McpCallOutcome {
    Answer(Box<model::CallToolResult>),
    /// The server states that it was not done.
    Refused(String),
    /// No answer, or a fault.
    Lost(String),
}

/// A server named by a charter.
pub(crate) struct McpServer {
    declaration: McpDeclaration,
    tenant: String,
    secrets: Arc<dyn PlatformSecrets>,
    resolver: Arc<dyn HostResolver>,
    live: Mutex<Option<LiveConnection>>,
}

impl McpServer {
    pub(crate) fn new(
        declaration: McpDeclaration,
        tenant: String,
        secrets: Arc<dyn PlatformSecrets>,
        resolver: Arc<dyn HostResolver>,
    ) -> Self {
        Self {
            declaration,
            tenant,
            secrets,
            resolver,
            live: Mutex::default(),
        }
    }

    pub(crate) fn name(&self) -> &str {
        self.declaration.name()
    }

    /// The allowed tools of this server, listed again.
    pub(crate) async fn survey(&self) -> Result<Vec<ListedTools>, ToolsError> {
        let mut live = self.live.lock().await;
        let live = self.awake(&mut live).await?;
        self.list(live).await?;
        Ok(live.tools.values().cloned().collect())
    }

    /// The current digest of a tool, and the connection to call it. A server that has gone is restarted, once
    /// per call.
    pub(crate) async fn ready(
        &self,
        remote: &str,
    ) -> Result<(Option<Digest>, rmcp::Peer<RoleClient>), ToolsError> {
        let mut live = self.live.lock().await;
        let live = self.awake(&mut live).await?;
        if live.is_stale() {
            self.list(live).await?;
        }
        let digest = live.tools.get(remote).map(|listed| listed.facts.pin);
        Ok((digest, live.service.peer().clone()))
    }

    /// Calls a tool, once.
    pub(crate) async fn call(
        &self,
        peer: &rmcp::Peer<RoleClient>,
        remote: &str,
        arguments: Map<String, Value>,
    ) -> McpCallOutcome {
        let params = CallToolRequestParams::new(remote.to_owned()).with_arguments(arguments);
        // Never repeated by the library: a second call could act twice.
        let calling = tokio::time::timeout(self.declaration.timeout, peer.call_tool_once(params));
        match calling.await {
            Err(_) => McpCallOutcome::Lost("it took too long".into()),
            Ok(Ok(CallToolResponse::Complete(result))) => McpCallOutcome::Answer(Box::new(result)),
            Ok(Ok(_)) => McpCallOutcome::Refused("the server wants more than arguments".into()),
            Ok(Err(ServiceError::McpError(error))) => {
                use rmcp::model::ErrorCode as Code;
                let told = format!("{}: {}", error.code.0, error.message);
                match error.code {
                    // Errors that a server reports before it does anything.
                    Code::INVALID_PARAMS | Code::METHOD_NOT_FOUND | Code::INVALID_REQUEST => {
                        McpCallOutcome::Refused(told)
                    }
                    _ => McpCallOutcome::Lost(told),
                }
            }
            Ok(Err(error)) => McpCallOutcome::Lost(error.to_string()),
        }
    }

    async fn awake<'a>(
        &self,
        live: &'a mut Option<LiveConnection>,
    ) -> Result<&'a mut LiveConnection, ToolsError> {
        if live.as_ref().is_some_and(LiveConnection::is_over) {
            *live = None;
        }
        if live.is_none() {
            *live = Some(self.start().await?);
        }
        live.as_mut().ok_or_else(|| self.silent("it does not run"))
    }

    /// Connects with the newer protocol if the server supports it. A server that fails its greeting, or is too
    /// slow for it, gets the older one on a new connection.
    async fn start(&self) -> Result<LiveConnection, ToolsError> {
        let newer = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: Some(ProtocolVersion::V_2025_11_25),
        };
        match self.connect(newer).await {
            Ok(live) => Ok(live),
            Err(_) => self.connect(ClientLifecycleMode::Initialize).await,
        }
    }

    async fn connect(&self, mode: ClientLifecycleMode) -> Result<LiveConnection, ToolsError> {
        let changed = Arc::new(AtomicBool::new(false));
        let ear = ToolListWatcher(Arc::clone(&changed));
        let (service, process) = match &self.declaration.wire {
            McpTransport::Program { program, args, env } => {
                let (process, output, input) = process::start(program, args, env, &*self.secrets)
                    .map_err(|fault| self.silent(fault.to_string()))?;
                let wire =
                    AsyncRwTransport::new(output, input).with_max_line_length(MESSAGE_BYTES_MAX);
                let greeting = serve_client_with_lifecycle(ear, wire, mode);
                (self.in_time(greeting).await?, Some(process))
            }
            McpTransport::Http {
                url,
                token_env,
                reach,
            } => {
                let resolver = Arc::clone(&self.resolver);
                let client =
                    HttpToolClient::new(Arc::clone(reach), resolver, self.declaration.timeout);
                let client = client.client(url)?;
                let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
                    .max_sse_event_size(MESSAGE_BYTES_MAX)
                    // A renewed session would send a call again.
                    .reinit_on_expired_session(false);
                if let Some(name) = token_env {
                    let secret = self.secrets.secret(name);
                    let secret = secret.ok_or_else(|| ToolsError::Secret { name: name.clone() })?;
                    config = config.auth_header(secret.reveal());
                }
                let wire = StreamableHttpClientTransport::with_client(client, config);
                let greeting = serve_client_with_lifecycle(ear, wire, mode);
                (self.in_time(greeting).await?, None)
            }
        };
        let mut live = LiveConnection {
            service,
            changed,
            tools: BTreeMap::new(),
            _process: process,
        };
        self.list(&mut live).await?;
        Ok(live)
    }

    async fn list(&self, live: &mut LiveConnection) -> Result<(), ToolsError> {
        let peer = live.service.peer();
        let mut tools = BTreeMap::new();
        let mut cursor = None;
        let mut seen = 0;
        for _ in 0..PAGES_MAX {
            let page = PaginatedRequestParams::default().with_cursor(cursor);
            let page = self.in_time(peer.list_tools(Some(page))).await?;
            seen += page.tools.len();
            let listed = page.tools.iter().filter_map(|tool| self.listed(tool));
            tools.extend(listed.map(|listed| (listed.remote.clone(), listed)));
            cursor = page.next_cursor;
            if cursor.is_none() || seen > TOOLS_MAX {
                break;
            }
        }
        live.tools = tools;
        Ok(())
    }

    /// A tool that the charter lists and that can be shown to a model.
    fn listed(&self, tool: &model::Tool) -> Option<ListedTools> {
        let remote = tool.name.to_string();
        if !self.declaration.tools.contains(&remote) {
            return None;
        }
        let name = format!("{}__{remote}", self.name());
        check_name(&name).ok()?;
        let description = tool.description.as_deref().unwrap_or_default();
        let schema = Value::Object((*tool.input_schema).clone());
        let text = schema.to_string();
        if description.len() > DESCRIPTION_BYTES_MAX || text.len() > SCHEMA_BYTES_MAX {
            return None;
        }
        let hints = tool.annotations.clone().unwrap_or_default();
        let annotations = serde_json::to_value(&tool.annotations).unwrap_or_default();
        let facts = ToolFacts {
            class: class(&hints),
            idempotent: hints.idempotent_hint == Some(true),
            reversible: false,
            inverse: None,
            target: EffectTarget {
                tenant: self.tenant.clone(),
                platform: self.name().to_owned(),
                account: "mcp".into(),
                action: remote.clone(),
            },
            pin: pin(&name, description, &schema, &annotations),
            spec: ToolSpec {
                name,
                description: description.into(),
                schema: text.into(),
            },
        };
        Some(ListedTools { remote, facts })
    }

    async fn in_time<T, E: std::fmt::Display>(
        &self,
        doing: impl Future<Output = Result<T, E>>,
    ) -> Result<T, ToolsError> {
        match tokio::time::timeout(self.declaration.timeout, doing).await {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(error)) => Err(self.silent(error.to_string())),
            Err(_) => Err(self.silent("it took too long")),
        }
    }

    fn silent(&self, cause: impl Into<String>) -> ToolsError {
        ToolsError::Server {
            server: self.name().to_owned(),
            cause: cause.into(),
        }
    }
}

/// Class of a tool according to its own hints: a read only if it says so and no hint contradicts.
fn class(hints: &model::ToolAnnotations) -> EffectClass {
    let looks = hints.read_only_hint == Some(true)
        && hints.destructive_hint != Some(true)
        && hints.open_world_hint != Some(true);
    if looks {
        EffectClass::Read
    } else {
        EffectClass::Effect
    }
}
