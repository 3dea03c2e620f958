//! One server: started when it is needed, listened to, and asked with a deadline.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fathom_core::effect::{EffectClass, Target};
use fathom_core::id::Digest;
use fathom_core::tool::ToolSpec;
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

use super::process::{self, Process};
use super::{Declaration, Wire};
use crate::declare::check_name;
use crate::error::ToolsError;
use crate::http::client::{Client, Resolver};
use crate::pins::pin;
use crate::secret::Secrets;
use crate::tool::ToolFacts;

/// Most pages of a list of tools.
const PAGES_MAX: usize = 16;
/// Most tools that a server may list.
const TOOLS_MAX: usize = 512;
/// Longest description that a model is shown.
const DESCRIPTION_BYTES_MAX: usize = 8 * 1024;
/// Longest schema.
const SCHEMA_BYTES_MAX: usize = 64 * 1024;
/// Longest message of a server.
const MESSAGE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Hears that a server's tools changed. It answers nothing else that a server asks.
struct Ear(Arc<AtomicBool>);

impl ClientHandler for Ear {
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
pub(crate) struct Listed {
    pub(crate) remote: String,
    pub(crate) facts: ToolFacts,
}

/// A connection, and what the server said over it.
struct Live {
    service: RunningService<RoleClient, Ear>,
    changed: Arc<AtomicBool>,
    tools: BTreeMap<String, Listed>,
    _process: Option<Process>,
}

impl Live {
    fn is_over(&self) -> bool {
        self.service.is_closed() || self.service.peer().is_transport_closed()
    }

    /// Whether what was listed may be old. A server of the newer protocol is not heard, so it is asked each time.
    fn is_stale(&self) -> bool {
        let info = self.service.peer().peer_info();
        let tells = info.is_some_and(|info| info.protocol_version.has_initialize());
        self.changed.swap(false, Ordering::AcqRel) || !tells
    }
}

/// How a call came back.
pub(crate) enum Came {
    Answer(Box<model::CallToolResult>),
    /// With a word that it was not done.
    Refused(String),
    /// Not at all, or with a fault.
    Lost(String),
}

/// A server that a charter names.
pub(crate) struct Server {
    declaration: Declaration,
    tenant: String,
    secrets: Arc<dyn Secrets>,
    resolver: Arc<dyn Resolver>,
    live: Mutex<Option<Live>>,
}

impl Server {
    pub(crate) fn new(
        declaration: Declaration,
        tenant: String,
        secrets: Arc<dyn Secrets>,
        resolver: Arc<dyn Resolver>,
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

    /// The tools that the charter lets this server be used for, asked for anew.
    pub(crate) async fn survey(&self) -> Result<Vec<Listed>, ToolsError> {
        let mut live = self.live.lock().await;
        let live = self.awake(&mut live).await?;
        self.list(live).await?;
        Ok(live.tools.values().cloned().collect())
    }

    /// What a tool is now, and a way to call it. A server that is gone is started again, once a call.
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
    ) -> Came {
        let params = CallToolRequestParams::new(remote.to_owned()).with_arguments(arguments);
        let calling = tokio::time::timeout(self.declaration.timeout, peer.call_tool_once(params));
        match calling.await {
            Err(_) => Came::Lost("it took too long".into()),
            Ok(Ok(CallToolResponse::Complete(result))) => Came::Answer(Box::new(result)),
            Ok(Ok(_)) => Came::Refused("the server wants more than arguments".into()),
            Ok(Err(ServiceError::McpError(error))) => {
                use rmcp::model::ErrorCode as Code;
                let told = format!("{}: {}", error.code.0, error.message);
                match error.code {
                    Code::INVALID_PARAMS | Code::METHOD_NOT_FOUND | Code::INVALID_REQUEST => {
                        Came::Refused(told)
                    }
                    _ => Came::Lost(told),
                }
            }
            Ok(Err(error)) => Came::Lost(error.to_string()),
        }
    }

    async fn awake<'a>(&self, live: &'a mut Option<Live>) -> Result<&'a mut Live, ToolsError> {
        if live.as_ref().is_some_and(Live::is_over) {
            *live = None;
        }
        if live.is_none() {
            *live = Some(self.start().await?);
        }
        live.as_mut().ok_or_else(|| self.silent("it does not run"))
    }

    /// Speaks the newer protocol where the server does. One that stumbles over its greeting, or is too slow for it, gets the
    /// older one on a connection of its own.
    async fn start(&self) -> Result<Live, ToolsError> {
        let newer = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: Some(ProtocolVersion::V_2025_11_25),
        };
        match self.connect(newer).await {
            Ok(live) => Ok(live),
            Err(_) => self.connect(ClientLifecycleMode::Initialize).await,
        }
    }

    async fn connect(&self, mode: ClientLifecycleMode) -> Result<Live, ToolsError> {
        let changed = Arc::new(AtomicBool::new(false));
        let ear = Ear(Arc::clone(&changed));
        let (service, process) = match &self.declaration.wire {
            Wire::Program { program, args, env } => {
                let (process, output, input) = process::start(program, args, env, &*self.secrets)
                    .map_err(|cause| self.silent(cause))?;
                let wire =
                    AsyncRwTransport::new(output, input).with_max_line_length(MESSAGE_BYTES_MAX);
                let greeting = serve_client_with_lifecycle(ear, wire, mode);
                (self.in_time(greeting).await?, Some(process))
            }
            Wire::Http {
                url,
                token_env,
                reach,
            } => {
                let resolver = Arc::clone(&self.resolver);
                let client = Client::new(Arc::clone(reach), resolver, self.declaration.timeout);
                let client = client.client(url)?;
                let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
                    .max_sse_event_size(MESSAGE_BYTES_MAX)
                    // A session that is made anew would send a call a second time.
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
        let mut live = Live {
            service,
            changed,
            tools: BTreeMap::new(),
            _process: process,
        };
        self.list(&mut live).await?;
        Ok(live)
    }

    async fn list(&self, live: &mut Live) -> Result<(), ToolsError> {
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
    fn listed(&self, tool: &model::Tool) -> Option<Listed> {
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
            target: Target {
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
        Some(Listed { remote, facts })
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

/// What a tool's own hints make of it: a look only where it says so and nothing speaks against it.
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
