//! All tools of a charter, by name.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use fathom_core::effect::{DryRun, EffectPermit, EffectRequest};
use fathom_core::id::Digest;
use fathom_core::model::tool_call::ToolSpec;

use crate::error::ToolsError;
use crate::http::HttpTool;
use crate::http::client::{HostResolver, SystemResolver};
use crate::mcp::{McpServer, McpTool};
use crate::pins::{ToolPins, ToolStanding};
use crate::secret::{NoSecrets, PlatformSecrets};
use crate::tool::{RetryHint, Tool, ToolFacts, ToolOutcome};
use crate::tools_file::{ToolKind, ToolsFile};

/// Services that tools get from their host.
#[derive(Clone)]
pub struct ToolEnvironment {
    /// Tenant that owns the tools.
    pub tenant: String,
    /// Source of keys.
    pub secrets: Arc<dyn PlatformSecrets>,
    /// Resolver of host names.
    pub resolver: Arc<dyn HostResolver>,
}

impl ToolEnvironment {
    /// Without keys, and with the system's resolver.
    pub fn new(tenant: impl Into<String>) -> Self {
        Self {
            tenant: tenant.into(),
            secrets: Arc::new(NoSecrets),
            resolver: Arc::new(SystemResolver),
        }
    }
}

/// A tool of a server, and its standing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SurveyedTool {
    /// Its present facts.
    pub facts: ToolFacts,
    pub standing: ToolStanding,
}

#[derive(Clone)]
struct RegistryEntry {
    tool: Arc<dyn Tool>,
    standing: ToolStanding,
}

#[derive(Default)]
struct KnownTools {
    tools: BTreeMap<String, RegistryEntry>,
    pins: ToolPins,
}

/// All tools of a charter.
pub struct ToolRegistry {
    servers: Vec<Arc<McpServer>>,
    known: RwLock<KnownTools>,
}

impl ToolRegistry {
    /// Creates the tools of a charter. Servers start when [`ToolRegistry::survey`] asks them.
    ///
    /// Tools of other kinds are returned beside it, to be implemented elsewhere and given to [`ToolRegistry::add`].
    pub fn open(
        declarations: ToolsFile,
        surroundings: &ToolEnvironment,
        pins: ToolPins,
    ) -> Result<(Self, Vec<(ToolFacts, ToolKind)>), ToolsError> {
        let ToolEnvironment {
            tenant,
            secrets,
            resolver,
        } = surroundings;
        let mut tools = Self {
            servers: Vec::new(),
            known: RwLock::new(KnownTools {
                pins,
                ..KnownTools::default()
            }),
        };
        let mut others = Vec::new();
        for declared in declarations.tools {
            let mut facts = declared.facts;
            facts.target.tenant.clone_from(tenant);
            match declared.kind {
                ToolKind::Http(declaration) => {
                    let (secrets, resolver) = (Arc::clone(secrets), Arc::clone(resolver));
                    let tool = HttpTool::new(facts, *declaration, secrets, resolver)?;
                    tools.add(Arc::new(tool));
                }
                kind @ (ToolKind::Shell(_) | ToolKind::Browser(_)) => others.push((facts, kind)),
            }
        }
        for declaration in declarations.servers {
            let (secrets, resolver) = (Arc::clone(secrets), Arc::clone(resolver));
            let server = McpServer::new(declaration, tenant.clone(), secrets, resolver);
            tools.servers.push(Arc::new(server));
        }
        Ok((tools, others))
    }

    /// Adds a tool that the charter itself describes.
    pub fn add(&mut self, tool: Arc<dyn Tool>) {
        let known = self.known.get_mut().unwrap_or_else(PoisonError::into_inner);
        let name = tool.facts().spec.name.clone();
        // A person wrote the charter, so there is nothing to pin.
        let standing = ToolStanding::Same;
        known.tools.insert(name, RegistryEntry { tool, standing });
    }

    /// Starts the servers that are not running, lists their tools and compares these with the pins. A server
    /// that does not answer is reported, and has no tools.
    pub async fn survey(&self) -> (Vec<SurveyedTool>, Vec<ToolsError>) {
        let mut surveyed = Vec::new();
        let mut faults = Vec::new();
        for server in &self.servers {
            let found = server.survey().await;
            let prefix = format!("{}__", server.name());
            // After the server's answer: the lock is not held while waiting for it.
            let mut known = self.write();
            // A tool that is no longer listed must not stay callable.
            known.tools.retain(|name, _| !name.starts_with(&prefix));
            let listed = match found {
                Ok(listed) => listed,
                Err(error) => {
                    faults.push(error);
                    continue;
                }
            };
            for listed in listed {
                let facts = listed.facts.clone();
                let name = facts.spec.name.clone();
                let standing = known.pins.meet(&name, facts.pin);
                match McpTool::new(listed, standing, Arc::clone(server)) {
                    Ok(tool) => {
                        let tool = Arc::new(tool);
                        known.tools.insert(name, RegistryEntry { tool, standing });
                        surveyed.push(SurveyedTool { facts, standing });
                    }
                    Err(error) => faults.push(error),
                }
            }
        }
        (surveyed, faults)
    }

    /// Accepts a tool with the digest `found` on behalf of a person. It can be called after the next
    /// [`ToolRegistry::survey`].
    pub fn accept(&self, name: &str, found: Digest) {
        self.write().pins.accept(name, found);
    }

    /// The current pins, for the host to store.
    pub fn pins(&self) -> ToolPins {
        self.read().pins.clone()
    }

    /// The tool of this name, quarantined or not.
    pub fn get(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.read()
            .tools
            .get(name)
            .map(|entry| Arc::clone(&entry.tool))
    }

    /// The tools shown to models: every one that can be called.
    pub fn specs(&self) -> Vec<ToolSpec> {
        let callable =
            |entry: &&RegistryEntry| !matches!(entry.standing, ToolStanding::Quarantined { .. });
        let known = self.read();
        let entries = known.tools.values().filter(callable);
        entries
            .map(|entry| entry.tool.facts().spec.clone())
            .collect()
    }

    /// Rehearses an effect. `None` if its tool cannot.
    pub async fn rehearse(&self, effect: &EffectRequest) -> Option<DryRun> {
        self.get(&effect.tool)?.rehearse(effect).await
    }

    /// Carries out a permitted effect.
    pub async fn call(&self, permit: &EffectPermit) -> ToolOutcome {
        let name = &permit.effect().tool;
        match self.get(name) {
            Some(tool) => tool.call(permit).await,
            None => ToolOutcome::refused(&ToolsError::Unknown { name: name.clone() }),
        }
    }

    /// Checks if an effect happened.
    pub async fn check(&self, effect: &EffectRequest) -> ToolOutcome {
        match self.get(&effect.tool) {
            Some(tool) => tool.check(effect).await,
            None => ToolOutcome::unknown(
                format!("there is no tool `{}`", effect.tool),
                RetryHint::Never,
            ),
        }
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, KnownTools> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, KnownTools> {
        self.known.write().unwrap_or_else(PoisonError::into_inner)
    }
}
