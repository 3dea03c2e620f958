//! The kill switch among a hundred children, each with a call of a model and an effect under way.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fathom_core::command::Command;
use fathom_core::contract::{Autonomy, PermissionMode};
use fathom_core::effect::{EffectState, KillScope};
use fathom_core::event::{EventKind, Signal};
use fathom_core::stop::StopReason;
use fathom_host::charter::Charter;
use fathom_host::people::OsUser;
use fathom_host::{NewRun, Options, Runtime};
use fathom_testkit::drill::{self, DrillPrograms};
use fathom_testkit::platform::{Platform, PlatformOptions};
use fathom_testkit::server::{Behaviour, ModelServer, Outcome, Seen};

use crate::fixture::{check, effect, finished, models, new_run};

/// Children of a run.
pub(crate) const CHILDREN: usize = 100;

const CHARTER: &str = r#"
protocol = "1.0.0"
name = "crowd"
version = "1.0.0"
description = "Many who act."
"#;

const POLICIES: &str = r#"
@id("post")
permit (principal, action == Action::"publish", resource);
"#;

/// A host with its own gateway.
pub(crate) fn host(home: &Path) -> Runtime {
    let token = |name: &str| (name == "FATHOM_PLATFORM_TOKEN").then(|| "sandbox-token".to_owned());
    Runtime::open(Options {
        programs: Arc::new(DrillPrograms),
        ..Options::new(home.to_owned(), token)
    })
    .expect("the home opens")
}

/// A charter whose one tool posts on a platform.
pub(crate) fn charter(folder: &Path, platform: &Platform) -> Charter {
    let url = platform.url();
    let host = url.trim_start_matches("http://");
    let tools = format!(
        r#"
allow_hosts = ["{host}"]
allow_private = ["{host}"]

[[tool]]
name = "post"
description = "Posts something."
kind = "http"
platform = "board"
account = "main"
action = "publish"
schema = {{ type = "object" }}
method = "POST"
url = "{url}/api/posts"
token_env = "FATHOM_PLATFORM_TOKEN"
body = {{ title = "news", text = "the same" }}

[tool.check]
url = "{url}/api/posts?key={{key}}"
"#
    );
    for (name, text) in [
        ("charter.toml", CHARTER),
        ("gateway.toml", "actions = [\"publish\"]\n"),
        ("policies/all.cedar", POLICIES),
        ("tools.toml", &tools),
    ] {
        let file = folder.join(name);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("it can be made");
        std::fs::write(file, text).expect("it can be written");
    }
    Charter::load(folder, &|_| 0).expect("a charter")
}

/// A run of children who ask a model and post, again and again.
pub(crate) fn crowd(charter: &Charter, server: &ModelServer, rounds: u32) -> NewRun {
    let child = |number: usize| {
        let effects = (0..rounds).map(|round| {
            let mut request = effect(&format!("{number} in round {round}"));
            request.target.tenant = String::new();
            drill::Effect { round, request }
        });
        drill::Child {
            drill: drill::Params {
                calls: 1,
                rounds,
                effects: effects.collect(),
                ..drill::Params::default()
            },
            ..drill::Child::default()
        }
    };
    let params = drill::Params {
        calls: 0,
        children: (0..CHILDREN).map(child).collect(),
        ..drill::Params::default()
    };
    let kind = drill::Child::default();
    let mut new = new_run(params.spec(), models(server));
    new.frame = charter.frame();
    new.contract.permission_mode = PermissionMode::Act;
    new.contract.autonomy = Autonomy::Act;
    new.contract.allowed_tools = vec!["post".into()];
    let recursion = &mut new.contract.recursion;
    recursion.allowed_child_types = vec![kind.child_type];
    recursion.allowed_classes.push(kind.class);
    recursion.max_children = 1_000;
    recursion.max_total_episodes = 1_000;
    new.budget.amounts.tokens = 1_000_000_000;
    new.budget.amounts.calls = 1_000_000;
    new.budget.amounts.tools = 1_000_000;
    new.budget.amounts.episodes = 1_000;
    new
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e16_the_switch_reaches_a_hundred_children_and_all_that_is_in_flight() {
    let dir = tempfile::tempdir().expect("a folder");
    let server = ModelServer::start(|_: &Seen| Behaviour::stall());
    let server = server.await.expect("a port");
    let platform = Platform::start(PlatformOptions {
        latency: Duration::from_hours(1),
        ..PlatformOptions::default()
    });
    let platform = platform.await.expect("a platform");
    let charter = charter(&dir.path().join("crowd"), &platform);
    let home = dir.path().join("home");
    let first = host(&home);
    let handle = first.start(crowd(&charter, &server, 3)).expect("it starts");
    let run = handle.run();
    server.until(|log| log.len() == CHILDREN).await;
    platform.until_in_flight(CHILDREN).await;

    let user = OsUser::current();
    first
        .kill(KillScope::Global, &user, "a drill")
        .expect("anyone may");
    let result = finished(handle).await;
    let killed = StopReason::KillSwitch {
        scope: KillScope::Global,
    };
    assert_eq!(result.stop_reason, killed);
    let is_gone = |outcome| outcome == Outcome::ClientGone;
    server
        .until(|log| log.iter().all(|entry| is_gone(entry.outcome)))
        .await;
    platform.until_in_flight(0).await;
    assert_eq!(server.log().len(), CHILDREN, "no call was begun after it");
    assert_eq!(platform.posts().len(), 0);

    let story = first.story(run).expect("a story");
    assert_eq!(story.chapters.len(), CHILDREN + 1);
    let mut unknown = 0;
    for chapter in story.chapters.values() {
        assert_eq!(
            chapter.result.as_ref().expect("all ended").stop_reason,
            killed
        );
        // Nobody knows of what was given up, and nobody was asked: that is a person's.
        for (_, deed) in chapter.deeds.iter() {
            assert_eq!(deed.state, EffectState::Unknown, "{:?}", deed.path);
            unknown += 1;
        }
    }
    assert_eq!(unknown, CHILDREN);
    let mut killed_episodes = std::collections::BTreeSet::new();
    for (episode, record) in first.records(run).expect("records") {
        if let EventKind::Signal(Signal::Kill { .. }) = record.event.kind {
            killed_episodes.insert(episode.clone());
        }
        let begins = |command: &Command| {
            matches!(
                command,
                Command::CallModel { .. } | Command::Attempt { .. } | Command::Spawn { .. }
            )
        };
        let is_killed = killed_episodes.contains(&episode);
        assert!(
            !is_killed || !record.commands.iter().any(begins),
            "{episode} began something after the switch"
        );
    }
    assert_eq!(killed_episodes.len(), CHILDREN + 1);
    check(&first, run);
    drop(first);

    let second = host(&home);
    let again = second
        .start(crowd(&charter, &server, 1))
        .expect("it starts");
    assert_eq!(finished(again).await.stop_reason, killed, "it holds");
    assert_eq!(server.log().len(), CHILDREN);
    second
        .lift(KillScope::Global, &user, "over")
        .expect("a person may");
    let free = second
        .start(crowd(&charter, &server, 1))
        .expect("it starts");
    server.until(|log| log.len() == 2 * CHILDREN).await;
    second.cancel(free.run()).expect("it can be asked");
    finished(free).await;
}
