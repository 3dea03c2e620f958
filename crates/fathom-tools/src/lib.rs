//! Carries out what the gateway permits: HTTP, programs, MCP servers and a browser.
//!
//! A tool can be looked at and rehearsed by anyone, and be called by whoever holds a [`EffectPermit`](fathom_core::effect::EffectPermit),
//! which only a durable decision makes. What comes back was said by people outside: it is bounded, and nobody's authority.
//!
//! With a permit a tool can be called:
//!
//! ```
//! # use fathom_core::effect::{EffectRequest, EffectPermit};
//! # use fathom_tools::{ToolFuture, Tool, ToolOutcome};
//! fn with<'a>(tool: &'a dyn Tool, permit: &'a EffectPermit) -> ToolFuture<'a, ToolOutcome> {
//!     tool.call(permit)
//! }
//! ```
//!
//! Without one it cannot, whoever wants it:
//!
//! ```compile_fail,E0308
//! # use fathom_core::effect::{EffectRequest, EffectPermit};
//! # use fathom_tools::{ToolFuture, Tool, ToolOutcome};
//! fn without<'a>(tool: &'a dyn Tool, effect: &'a EffectRequest) -> ToolFuture<'a, ToolOutcome> {
//!     tool.call(effect)
//! }
//! ```
//!
//! And nobody makes one: neither by its name,
//!
//! ```compile_fail,E0624
//! # use fathom_core::effect::{EffectRequest, EffectPermit};
//! # use fathom_core::id::{AskId, EpisodeId};
//! fn forge(effect: EffectRequest) -> EffectPermit {
//!     EffectPermit::new(EpisodeId::root(), AskId(0), effect)
//! }
//! ```
//!
//! nor from its parts, nor by reading it from somewhere:
//!
//! ```compile_fail,E0277
//! # use fathom_core::effect::EffectPermit;
//! fn read(text: &str) -> Option<EffectPermit> {
//!     serde_json::from_str(text).ok()
//! }
//! ```

mod argument_schema;
pub mod browser;
mod error;
mod http;
pub mod json_post;
mod mcp;
mod pins;
pub mod program;
mod registry;
mod secret;
mod text_template;
mod tool;
mod tools_file;

pub use argument_schema::key_token;
pub use error::ToolsError;
pub use http::HttpTool;
pub use http::address_check::{BlockedAddress, InvalidReach, ReachableHosts, blocked};
pub use http::client::{HostResolver, SystemResolver};
pub use http::declaration::HttpDeclaration;
pub use mcp::McpDeclaration;
pub use pins::{ToolPins, ToolStanding, pin};
pub use registry::{SurveyedTool, ToolEnvironment, ToolRegistry};
pub use secret::{NoSecrets, PlatformKey, PlatformSecrets};
pub use tool::{RetryHint, Tool, ToolFacts, ToolFuture, ToolOutcome};
pub use tools_file::{DeclaredTool, ToolKind, ToolsFile};
