//! A small social platform over real HTTP: an API with tokens, pages for a browser, and every way in which such platforms fail.
//!
//! It commits and then loses the answer, it shows a post only after a while, it refuses callers who are too quick, and it
//! takes the same post twice unless told otherwise. Delays are counted in requests, so that no test waits for a clock.

mod api;
pub(crate) mod fault_rate;
mod pages;
pub(crate) mod request;
mod state;

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

pub use fault_rate::FaultRate;
pub use request::RequestKind;
pub use state::{PlatformComment, PlatformPost, PlatformReply};

use crate::loopback_server::{LoopbackServer, converse};
use request::{PlatformAnswer, PlatformRequest};
use state::PlatformState;

/// Behaviour of a platform.
#[derive(Clone, Debug)]
pub struct PlatformOptions {
    /// Port to listen on; zero takes a free one.
    pub port: u16,
    /// Bearer token of the API, and password of the pages.
    pub token: String,
    /// Seed for the chance in [`FaultRate::Permille`].
    pub seed: u64,
    /// True if a second post or reply with the same `Idempotency-Key` returns the first one.
    pub dedupe: bool,
    /// Number of lookups that miss a post or reply before it is shown.
    pub visible_after: u32,
    /// API requests that are answered with 429.
    pub limit: FaultRate,
    /// API requests that are answered with 503, nothing done.
    pub fail: FaultRate,
    /// Commits that are answered with 500 all the same.
    pub fail_late: FaultRate,
    /// Commits whose answer is lost with its connection.
    pub lose: FaultRate,
    /// Latency of every answer.
    pub latency: Duration,
    /// True if the pages have changed: other IDs, other labels, buttons elsewhere.
    pub drift: bool,
    /// Comment of a visitor under every new post.
    pub visitor: Option<String>,
}

impl Default for PlatformOptions {
    fn default() -> Self {
        Self {
            port: 0,
            token: "sandbox-token".to_owned(),
            seed: 0,
            dedupe: false,
            visible_after: 0,
            limit: FaultRate::Never,
            fail: FaultRate::Never,
            fail_late: FaultRate::Never,
            lose: FaultRate::Never,
            latency: Duration::ZERO,
            drift: false,
            visitor: None,
        }
    }
}

/// A running platform. What was posted is in memory; it stops, and closes its connections, when dropped.
pub struct FakePlatform {
    state: Arc<Mutex<PlatformState>>,
    in_flight: Arc<watch::Sender<usize>>,
    listening: LoopbackServer,
}

impl FakePlatform {
    /// Starts a platform on the loopback address.
    pub async fn start(options: PlatformOptions) -> io::Result<Self> {
        let port = options.port;
        let state = Arc::new(Mutex::new(PlatformState::new(options)));
        let in_flight = Arc::new(watch::Sender::new(0));
        let (shared, count) = (Arc::clone(&state), Arc::clone(&in_flight));
        let serve = move |stream| {
            let (slow, state) = (Arc::clone(&shared), Arc::clone(&shared));
            let count = Arc::clone(&count);
            let begin = move || (lock(&slow).options.latency, OpenPlatform::new(&count));
            converse(stream, begin, move |request| {
                answer(&mut lock(&state), request)
            })
        };
        let listening = LoopbackServer::start(port, serve).await?;
        Ok(Self {
            state,
            in_flight,
            listening,
        })
    }

    /// Base URL, without a trailing slash.
    pub fn url(&self) -> String {
        self.listening.url()
    }

    /// Bearer token of the API, and password of the pages.
    pub fn token(&self) -> String {
        self.lock().options.token.clone()
    }

    /// Every post, in the order of their commits, whether it is shown yet or not.
    pub fn posts(&self) -> Vec<PlatformPost> {
        self.lock().posts.clone()
    }

    /// Every comment.
    pub fn comments(&self) -> Vec<PlatformComment> {
        self.lock().comments.clone()
    }

    /// Every reply to a comment.
    pub fn replies(&self) -> Vec<PlatformReply> {
        self.lock().replies.clone()
    }

    /// Lets a visitor comment on a post, and gives the comment's number.
    pub fn comment(&self, post: u64, author: &str, text: &str) -> u64 {
        self.lock().add_comment(post, author, text)
    }

    /// Number of requests of a kind so far, refused ones included.
    pub fn requests(&self, kind: RequestKind) -> u64 {
        self.lock().counts.get(&kind).copied().unwrap_or_default()
    }

    /// Waits until this many requests are being answered.
    pub async fn until_in_flight(&self, requests: usize) {
        // The sender is this platform's own.
        let _ = self
            .in_flight
            .subscribe()
            .wait_for(|n| *n == requests)
            .await;
    }

    /// Moves what is on the pages, or moves it back.
    pub fn drift(&self, drift: bool) {
        self.lock().options.drift = drift;
    }

    /// From here on the answer to every n-th commit is lost; zero loses none.
    pub fn lose_every(&self, commits: u64) {
        self.change(|options| {
            options.lose = match commits {
                0 => FaultRate::Never,
                commits => FaultRate::Every(commits),
            };
        });
    }

    /// Changes how it behaves, counting anew.
    pub fn change(&self, change: impl FnOnce(&mut PlatformOptions)) {
        self.lock().change(change);
    }

    /// Waits until the platform is gone, which it never is by itself.
    pub async fn serve(self) {
        self.listening.serve().await;
    }

    fn lock(&self) -> MutexGuard<'_, PlatformState> {
        lock(&self.state)
    }
}

fn lock(state: &Mutex<PlatformState>) -> MutexGuard<'_, PlatformState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A request that is being answered.
struct OpenPlatform(Arc<watch::Sender<usize>>);

impl OpenPlatform {
    fn new(count: &Arc<watch::Sender<usize>>) -> Self {
        count.send_modify(|n| *n += 1);
        Self(Arc::clone(count))
    }
}

impl Drop for OpenPlatform {
    fn drop(&mut self) {
        self.0.send_modify(|n| *n -= 1);
    }
}

fn answer(state: &mut PlatformState, request: &PlatformRequest) -> PlatformAnswer {
    if request.path.starts_with("/api/") {
        api::answer(state, request)
    } else {
        pages::answer(state, request)
    }
}
