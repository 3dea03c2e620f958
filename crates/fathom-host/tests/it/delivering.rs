//! Blocks on their way when their run is let go of.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use fathom_core::channel::delivery::{ChannelRoute, DOMAIN};
use fathom_core::episode::result::EpisodeStatus;
use fathom_core::unit::{Millis, Timestamp};
use fathom_host::channels::DiscordTarget;
use fathom_host::charter::Charter;
use fathom_host::clock::{Clock, SystemClock};
use fathom_host::{RunEnd, Runtime, RuntimeOptions};
use fathom_programs::stages;
use fathom_testkit::fake_discord::{DiscordOptions, FakeDiscord};
use fathom_testkit::model_server::{ModelServer, ReplyBehaviour, SeenRequest};

use crate::fixture::{finished, models, new_run};

/// A clock that a test sets forward.
#[derive(Default)]
struct Ahead {
    clock: SystemClock,
    millis: AtomicU64,
}

impl Clock for Ahead {
    fn now(&self) -> Timestamp {
        let ahead = Millis(self.millis.load(Ordering::SeqCst));
        self.clock.now().plus(ahead)
    }
}

fn says(seen: &SeenRequest) -> ReplyBehaviour {
    let has = |words: &str| seen.prompt.contains(words);
    ReplyBehaviour::reply(if has("Plan how to do") {
        "PLAN:\n- look"
    } else if has("Judge the plan") {
        "PLAN:\n- look twice\nconfidence=0.9"
    } else if has("You read along") {
        "OK"
    } else if has("Look whether the task") {
        "VERIFY: success"
    } else {
        "RESPONSE: 4"
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn g09_a_run_that_was_let_go_of_delivers_nothing_more() {
    let dir = tempfile::tempdir().expect("a folder");
    let server = ModelServer::start(says).await.expect("a port");
    // The second message comes too early, and has to wait for longer than this test may take.
    let discord = FakeDiscord::start(DiscordOptions {
        burst: 1,
        reset_after: 50.0,
        ..DiscordOptions::default()
    });
    let discord = discord.await.expect("a port");
    let clock = Arc::new(Ahead::default());
    let host = Runtime::open(RuntimeOptions {
        clock: Arc::clone(&clock) as Arc<dyn Clock>,
        discord: Some(DiscordTarget {
            url: discord.url(),
            webhook: None,
            channel: Some("41771983423143937".to_owned()),
            token_env: "BOT".to_owned(),
        }),
        ..RuntimeOptions::new(dir.path().to_owned(), |_| Some("bot-token".to_owned()))
    })
    .expect("the home opens");
    let way = ChannelRoute {
        channel: "discord".to_owned(),
        log: false,
    };
    let params = stages::StagesConfig {
        routes: BTreeMap::from([("PLAN".to_owned(), vec![way])]),
        ..stages::StagesConfig::default()
    };
    let mut new = new_run(params.spec(), models(&server));
    new.contract.write_scopes = vec![DOMAIN.to_owned()];
    new.budget.time = Millis(600_000);
    new.frame = Charter::built_in("gaia").expect("it loads").frame();
    let handle = host.start(new).expect("it starts");
    let run = handle.run();
    let acts = async {
        // Plan and refined plan were said before the third call.
        while discord.posted().is_empty() || server.log().len() < 3 {
            tokio::task::yield_now().await;
        }
    };
    let soon = Duration::from_secs(20);
    tokio::time::timeout(soon, acts).await.expect("it acts");
    handle.interrupt();
    assert!(matches!(handle.end().await, RunEnd::Interrupted));
    clock.millis.fetch_add(60_000, Ordering::SeqCst);
    // The answer to the first one may have come too late to be heard, so that it is sent again and known again.
    discord.refill(3);
    let handle = host.resume(run).expect("nobody has it");
    let result = tokio::time::timeout(soon, finished(handle)).await;
    let result = result.expect("nobody else is at its messages");
    assert_eq!(result.status, EpisodeStatus::Ok);
    let said: Vec<String> = discord
        .posted()
        .into_iter()
        .map(|one| one.content)
        .collect();
    assert_eq!(said, ["**PLAN**\n- look", "**PLAN**\n- look twice"]);
}
