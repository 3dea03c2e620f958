//! The kill switch among a hundred children, each with a call of a model and an effect under way.

use std::time::Duration;

use fathom_core::contract::stop::StopReason;
use fathom_core::effect::{EffectState, KillScope};
use fathom_core::journal::command::Command;
use fathom_core::journal::event::{EventKind, Signal};
use fathom_host::governance::people::OsUser;
use fathom_testkit::fake_platform::{FakePlatform, PlatformOptions};
use fathom_testkit::model_server::{ModelServer, ReplyBehaviour, RequestOutcome, SeenRequest};

use crate::crowd::{CHILDREN, charter, crowd, host};
use crate::fixture::{check, finished};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e16_the_switch_reaches_a_hundred_children_and_all_that_is_in_flight() {
    let dir = tempfile::tempdir().expect("a folder");
    let server = ModelServer::start(|_: &SeenRequest| ReplyBehaviour::stall());
    let server = server.await.expect("a port");
    let platform = FakePlatform::start(PlatformOptions {
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
    let is_gone = |outcome| outcome == RequestOutcome::ClientGone;
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
