//! A model server with scripted behaviour: `OpenAI` chat completions, Anthropic messages and Ollama chat over real HTTP.
//!
//! It writes its own bytes to the socket, so that it can also break every rule: reset, stall, cut and lie.

mod behaviour;
mod connection;
pub(crate) mod http;
mod request_log;
mod sample;
mod script;
mod wire;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

pub use behaviour::{
    ChunkGate, FinishCode, ReplyBehaviour, ReplyScript, ReportedUsage, ServerAction,
    ServerBehaviour,
};
pub use request_log::{LogRetention, RequestEntry, RequestOutcome};
pub use script::{ScriptError, ServerScript};
pub use wire::{SeenRequest, WireApi};

use crate::loopback_server::LoopbackServer;
use request_log::RequestLog;

/// Called with every request before its answer is written.
pub type RequestWitness = Box<dyn Fn(&SeenRequest) + Send + Sync>;

/// Setup of a server, without its behaviour.
#[derive(Default)]
pub struct ServerSetup {
    /// Port to listen on; zero takes a free one.
    pub port: u16,
    /// Retention of requests for [`ModelServer::log`].
    pub retention: LogRetention,
    /// Sees every request first.
    pub witness: Option<RequestWitness>,
}

/// A running model server. It stops, and closes its connections, when dropped.
pub struct ModelServer {
    flight: Arc<RequestLog>,
    listening: LoopbackServer,
}

impl ModelServer {
    /// Starts a server on a free port of the loopback address.
    pub async fn start(behave: impl ServerBehaviour + 'static) -> io::Result<Self> {
        Self::with(behave, ServerSetup::default()).await
    }

    /// Starts a server that answers everything with `text`.
    pub async fn replying(text: &str) -> io::Result<Self> {
        let behaviour = ReplyBehaviour::reply(text);
        Self::start(move |_: &SeenRequest| behaviour.clone()).await
    }

    /// Starts a server that takes one behaviour per request, in order, and answers 500 when none is left.
    pub async fn queued(behaviours: impl IntoIterator<Item = ReplyBehaviour>) -> io::Result<Self> {
        Self::start(behaviour::BehaviourQueue::new(behaviours)).await
    }

    /// Starts a server that is set up in detail.
    pub async fn with(
        behave: impl ServerBehaviour + 'static,
        setup: ServerSetup,
    ) -> io::Result<Self> {
        let flight = Arc::new(RequestLog::new(setup.retention, setup.witness));
        let (shared, behave) = (
            Arc::clone(&flight),
            Arc::new(behave) as Arc<dyn ServerBehaviour>,
        );
        let serve = move |stream| {
            shared.connected();
            connection::serve(stream, Arc::clone(&shared), Arc::clone(&behave))
        };
        let listening = LoopbackServer::start(setup.port, serve).await?;
        Ok(Self { flight, listening })
    }

    /// Address that the server listens at.
    pub fn address(&self) -> SocketAddr {
        self.listening.address()
    }

    /// Base URL as an `OpenAI` client takes it.
    pub fn openai_url(&self) -> String {
        format!("{}/v1", self.listening.url())
    }

    /// Base URL as an Anthropic or Ollama client takes it.
    pub fn root_url(&self) -> String {
        self.listening.url()
    }

    /// Every request so far, in order of arrival.
    pub fn log(&self) -> Vec<RequestEntry> {
        self.flight.log()
    }

    /// The most requests that were being answered at once.
    pub fn most_in_flight(&self) -> usize {
        self.flight.most()
    }

    /// Number of connections from clients so far.
    pub fn connections(&self) -> usize {
        self.flight.connections()
    }

    /// Waits until the log is as wished.
    pub async fn until(&self, wished: impl Fn(&[RequestEntry]) -> bool) {
        self.flight.until(wished).await;
    }

    /// Waits until the server is gone, which it never is by itself.
    pub async fn serve(self) {
        self.listening.serve().await;
    }
}
