//! Behaviour of the server for a request.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;

use super::wire::SeenRequest;

/// Decides what happens with each request.
pub trait ServerBehaviour: Send + Sync {
    /// The behaviour for one request.
    fn behave(&self, seen: &SeenRequest) -> ReplyBehaviour;
}

impl<F: Fn(&SeenRequest) -> ReplyBehaviour + Send + Sync> ServerBehaviour for F {
    fn behave(&self, seen: &SeenRequest) -> ReplyBehaviour {
        self(seen)
    }
}

/// Behaviours taken one by one.
pub(super) struct BehaviourQueue(Mutex<VecDeque<ReplyBehaviour>>);

impl BehaviourQueue {
    pub(super) fn new(behaviours: impl IntoIterator<Item = ReplyBehaviour>) -> Self {
        Self(Mutex::new(behaviours.into_iter().collect()))
    }
}

impl ServerBehaviour for BehaviourQueue {
    fn behave(&self, _: &SeenRequest) -> ReplyBehaviour {
        let mut queue = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        queue.pop_front().unwrap_or_else(|| {
            ReplyBehaviour::status(500).body("the test queued no more behaviours")
        })
    }
}

/// Behaviour for one request.
#[derive(Clone, Debug)]
pub struct ReplyBehaviour {
    /// Time before the answer.
    pub latency: Duration,
    /// Held before a whole answer, and before every chunk of a streamed one.
    pub gate: Option<ChunkGate>,
    pub act: ServerAction,
}

/// An answer, or a fault.
#[derive(Clone, Debug)]
pub enum ServerAction {
    /// A well-formed reply in the wire format that was asked.
    Reply(ReplyScript),
    /// A status with a body.
    Status {
        /// HTTP status.
        code: u16,
        /// Headers beside the usual ones.
        headers: Vec<(String, String)>,
        /// `Content-Type`.
        content_type: String,
        /// Body as sent.
        body: String,
    },
    /// A streamed 200 whose body is exactly these pieces.
    Frames {
        /// `Content-Type`.
        content_type: String,
        /// The body, piece by piece.
        frames: Vec<String>,
    },
    /// These bytes in place of an HTTP response, then the connection closes.
    Garbage(Vec<u8>),
    /// The connection is reset.
    Reset,
    /// The connection closes without an answer.
    Close,
    /// Nothing, until the client goes.
    Stall,
}

/// A model's reply as the server tells it.
#[derive(Clone, Debug)]
pub struct ReplyScript {
    /// Text of the reply.
    pub text: String,
    /// Tools that it wants called, each with its arguments as JSON text.
    pub calls: Vec<(String, String)>,
    pub finish: FinishCode,
    /// Usage that the server reports.
    pub usage: ReportedUsage,
    /// The pieces of a streamed reply; words when not given.
    pub chunks: Option<Vec<String>>,
    /// The connection closes after this many chunks, or in the middle of a whole reply.
    pub cut_after: Option<usize>,
}

/// Finish reason, in the words of each wire format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FinishCode {
    /// It was done.
    Stop,
    /// It ran into the output cap.
    Length,
    /// It, or a filter, declined.
    Refusal,
    /// Some other word.
    Named(String),
    /// It does not say.
    Missing,
}

/// Usage that the server reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportedUsage {
    /// One token for every word.
    Words,
    /// These numbers, true or not.
    Says {
        /// Tokens of the request.
        input: u64,
        /// Tokens of the reply.
        output: u64,
    },
    /// Nothing.
    Missing,
}

impl ReplyBehaviour {
    /// A well-formed reply.
    pub fn reply(text: impl Into<String>) -> Self {
        Self::of(ServerAction::Reply(ReplyScript {
            text: text.into(),
            calls: Vec::new(),
            finish: FinishCode::Stop,
            usage: ReportedUsage::Words,
            chunks: None,
            cut_after: None,
        }))
    }

    /// A reply streamed in these pieces.
    pub fn chunks<'a>(chunks: impl IntoIterator<Item = &'a str>) -> Self {
        let chunks: Vec<String> = chunks.into_iter().map(str::to_owned).collect();
        let mut behaviour = Self::reply(chunks.concat());
        behaviour.edit(|reply| reply.chunks = Some(chunks));
        behaviour
    }

    /// A reply that wants these tools called, with these arguments as JSON text.
    pub fn calls<'a>(calls: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        Self::reply("").calling(calls)
    }

    /// The reply wants these tools called as well.
    #[must_use]
    pub fn calling<'a>(mut self, calls: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let owned = |(name, arguments): (&str, &str)| (name.to_owned(), arguments.to_owned());
        let calls = calls.into_iter().map(owned).collect();
        self.edit(|reply| reply.calls = calls);
        self
    }

    /// An error status with a JSON body.
    pub fn status(code: u16) -> Self {
        Self::of(ServerAction::Status {
            code,
            headers: Vec::new(),
            content_type: "application/json".to_owned(),
            body: format!(r#"{{"error":{{"message":"status {code} as scripted"}}}}"#),
        })
    }

    /// A web page where JSON was wanted.
    pub fn html() -> Self {
        Self::page(
            "text/html; charset=utf-8",
            "<!DOCTYPE html><html><body>Sign in</body></html>",
        )
    }

    /// A 200 with any body.
    pub fn page(content_type: &str, body: &str) -> Self {
        Self::of(ServerAction::Status {
            code: 200,
            headers: Vec::new(),
            content_type: content_type.to_owned(),
            body: body.to_owned(),
        })
    }

    /// A streamed 200 of server-sent events with exactly these bytes.
    pub fn frames<'a>(frames: impl IntoIterator<Item = &'a str>) -> Self {
        Self::of(ServerAction::Frames {
            content_type: "text/event-stream".to_owned(),
            frames: frames.into_iter().map(str::to_owned).collect(),
        })
    }

    /// Bytes that are not HTTP.
    pub fn garbage() -> Self {
        Self::of(ServerAction::Garbage(
            b"\x00\x17SSH-2.0-not-http\r\n\r\n".to_vec(),
        ))
    }

    /// A reset connection.
    pub fn reset() -> Self {
        Self::of(ServerAction::Reset)
    }

    /// A connection that closes without an answer.
    pub fn close() -> Self {
        Self::of(ServerAction::Close)
    }

    /// A server that never answers.
    pub fn stall() -> Self {
        Self::of(ServerAction::Stall)
    }

    /// An act without delay.
    pub fn of(act: ServerAction) -> Self {
        Self {
            latency: Duration::ZERO,
            gate: None,
            act,
        }
    }

    /// After this long.
    #[must_use]
    pub fn after(mut self, latency: Duration) -> Self {
        self.latency = latency;
        self
    }

    /// Held by `gate`.
    #[must_use]
    pub fn gated(mut self, gate: &ChunkGate) -> Self {
        self.gate = Some(gate.clone());
        self
    }

    /// Ends for this reason.
    #[must_use]
    pub fn finish(mut self, finish: FinishCode) -> Self {
        self.edit(|reply| reply.finish = finish);
        self
    }

    /// Claims this usage.
    #[must_use]
    pub fn usage(mut self, usage: ReportedUsage) -> Self {
        self.edit(|reply| reply.usage = usage);
        self
    }

    /// Cut off after this many chunks.
    #[must_use]
    pub fn cut_after(mut self, chunks: usize) -> Self {
        self.edit(|reply| reply.cut_after = Some(chunks));
        self
    }

    /// With another header; only a status has them.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        if let ServerAction::Status { headers, .. } = &mut self.act {
            headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    /// With another body; only a status has one.
    #[must_use]
    pub fn body(mut self, text: &str) -> Self {
        if let ServerAction::Status { body, .. } = &mut self.act {
            text.clone_into(body);
        }
        self
    }

    fn edit(&mut self, change: impl FnOnce(&mut ReplyScript)) {
        if let ServerAction::Reply(reply) = &mut self.act {
            change(reply);
        }
    }
}

/// Holds a server back until the test releases it, one step at a time.
#[derive(Clone, Debug)]
pub struct ChunkGate(Arc<Semaphore>);

impl ChunkGate {
    /// A closed gate.
    #[expect(
        clippy::new_without_default,
        reason = "a gate that nobody holds would block for ever"
    )]
    pub fn new() -> Self {
        Self(Arc::new(Semaphore::new(0)))
    }

    /// Lets `steps` more steps happen.
    pub fn release(&self, steps: usize) {
        self.0.add_permits(steps);
    }

    /// Lets everything happen from here on.
    pub fn open(&self) {
        self.0.close();
    }

    pub(crate) async fn pass(&self) {
        // A closed semaphore is an open gate.
        if let Ok(step) = self.0.acquire().await {
            step.forget();
        }
    }
}
