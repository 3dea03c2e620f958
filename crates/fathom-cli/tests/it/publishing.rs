//! Thirty publishes, a platform that loses every second answer after its commit, and SIGKILL at random moments: everything
//! is there once, and whatever was in doubt was asked for.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use fathom_core::effect::EffectState;
use fathom_core::id::RunId;
use fathom_host::{Runtime, RuntimeOptions};
use fathom_testkit::fake_platform::{FakePlatform, FaultRate, PlatformOptions};
use fathom_testkit::model_server::{ModelServer, ReplyBehaviour, SeenRequest};
use serde_json::{Value, json};

use crate::board;
use crate::kill::{Dice, check_home, end_or_kill, kills_wanted};
use crate::session::{Session, fathom};

const POSTS: usize = 30;
/// Posts that the model wants in one turn.
const AT_ONCE: usize = 5;
/// Kills that one run has to live through.
const KILLS_A_RUN: u32 = 8;

const POLICIES: &str = r#"
@id("post")
permit (principal, action == Action::"publish", resource);
"#;

fn tools(url: &str) -> String {
    let post = board::posting(url);
    format!(
        r#"{post}
[tool.check]
url = "{url}/api/posts?key={{key}}"
pointer = "/posts/0/key"
equals = "{{key}}"
settle_ms = 200
"#
    )
}

fn title(number: usize) -> String {
    format!("post-{number:02}")
}

fn task() -> String {
    let titles: Vec<String> = titles().collect();
    format!("Post `as planned` as each of {}", titles.join(", "))
}

/// Writes a charter that posts on a platform, and gives its folder.
fn press(session: &Session, platform: &FakePlatform, trip: &str) -> String {
    let gateway = format!("actions = [\"publish\"]\n\n[trip]\n{trip}");
    session.write("press/charter.toml", &board::charter("press", 200));
    session.write("press/gateway.toml", &gateway);
    session.write("press/policies/all.cedar", POLICIES);
    session.write("press/tools.toml", &tools(&platform.url()));
    session.path().join("press").display().to_string()
}

fn titles() -> impl Iterator<Item = String> {
    (0..POSTS).map(title)
}

/// A model that wants every post until it is told that it is there.
async fn author() -> ModelServer {
    ModelServer::start(|seen: &SeenRequest| {
        let told = seen.prompt.lines();
        let told = told.filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let confirmed: Vec<String> = told
            .filter(|line| line["status"] == "confirmed")
            .map(|line| line["data"].to_string())
            .collect();
        let is_there = |title: &String| confirmed.iter().any(|data| data.contains(title.as_str()));
        let calls: Vec<String> = titles()
            .filter(|title| !is_there(title))
            .take(AT_ONCE)
            .map(|title| json!({ "title": title, "text": "as planned" }).to_string())
            .collect();
        if calls.is_empty() {
            return ReplyBehaviour::reply("All posts are there.");
        }
        ReplyBehaviour::calls(calls.iter().map(|call| ("post", call.as_str())))
    })
    .await
    .expect("a free port")
}

/// Checks what the journal says of a run that came to its end, and gives how many effects were in doubt.
fn check_journal(home: &Path, run: RunId) -> usize {
    let host =
        Runtime::open(RuntimeOptions::new(home.to_owned(), |_| None)).expect("the home opens");
    let story = host.story(run).expect("it has a story");
    let root = story.root().expect("it has a root");
    let mut confirmed: BTreeMap<String, u32> = BTreeMap::new();
    let mut in_doubt = 0;
    for (ask, deed) in root.deeds.iter() {
        use EffectState::{Attempted, Confirmed, Failed, Postcheck, Unknown};
        let ends: Vec<EffectState> = deed
            .path
            .iter()
            .copied()
            .skip_while(|state| *state != Attempted)
            .skip(1)
            .collect();
        match ends[..] {
            [Confirmed] => {}
            [Unknown, Postcheck, Confirmed | Failed] => in_doubt += 1,
            _ => panic!("{ask} went {:?}", deed.path),
        }
        if deed.state == Confirmed {
            let said: Value = serde_json::from_str(deed.effect.arguments.as_str()).expect("JSON");
            let title = said["title"].as_str().expect("a title").to_owned();
            *confirmed.entry(title).or_default() += 1;
        }
    }
    let once: BTreeMap<String, u32> = titles().map(|title| (title, 1)).collect();
    assert_eq!(confirmed, once, "every post is confirmed once");
    in_doubt
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e14_kill_nine_among_thirty_publishes_sends_each_once() {
    let wanted = kills_wanted(40, 200);
    let mut dice = Dice(0x907);
    let (mut kills, mut rounds, mut in_doubt) = (0, 0, 0);
    while kills < wanted {
        rounds += 1;
        let platform = FakePlatform::start(PlatformOptions {
            lose: FaultRate::Every(2),
            latency: Duration::from_millis(3),
            ..PlatformOptions::default()
        });
        let platform = platform.await.expect("a platform");
        let author = author().await;
        let session = Session::new();
        // Half of the answers are lost, which is no reason to stop here.
        let press = press(&session, &platform, "errors_max = 1000\nof = 1000\n");
        let home = session.path().join("data/fathom");
        let titles: Vec<String> = titles().collect();
        let task = task();
        let ask = ["ask", &task, "--charter", &press, "--no-resume"];
        let mut child = fathom(&home, &author, &ask);
        let mut kills_here = 0;
        let run = loop {
            let patience = if kills_here < KILLS_A_RUN {
                Duration::from_micros(40_000 + dice.below(700_000))
            } else {
                Duration::from_mins(2)
            };
            let result = end_or_kill(child, patience).await;
            let host =
                Runtime::open(RuntimeOptions::new(home.clone(), |_| None)).expect("it opens");
            if let Some(result) = result {
                let result = result.get("results").map_or(&result, |results| &results[0]);
                assert_eq!(result["status"], "ok", "{result:#}");
                break host.runs(1).expect("runs")[0].run;
            }
            kills += 1;
            kills_here += 1;
            child = match host.unfinished().expect("a list").first() {
                Some(run) => fathom(&home, &author, &["resume", &run.to_string()]),
                // It was killed before it wrote its first record, or right after its last.
                None => match host.runs(1).expect("runs").first() {
                    Some(info) if info.events > 0 => break info.run,
                    _ => fathom(&home, &author, &ask),
                },
            };
        };
        let mut sent: Vec<String> = platform.posts().into_iter().map(|p| p.title).collect();
        sent.sort();
        assert_eq!(sent, titles, "each is there once, and nothing else");
        in_doubt += check_journal(&home, run);
        check_home(&home, &author).await;
    }
    assert!(
        in_doubt >= rounds * POSTS / 2,
        "{in_doubt} of {rounds} runs"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e16_too_many_errors_trip_the_switch_and_it_stays_thrown() {
    let platform = FakePlatform::start(PlatformOptions {
        lose: FaultRate::Always,
        ..PlatformOptions::default()
    });
    let platform = platform.await.expect("a platform");
    let author = author().await;
    let session = Session::new();
    let press = press(&session, &platform, "errors_max = 4\nof = 10\n");
    let home = session.path().join("data/fathom");
    let task = task();
    let ask = ["ask", &task, "--charter", &press, "--no-resume"];
    let run = async || {
        let child = fathom(&home, &author, &ask);
        child.wait_with_output().await.expect("it ended")
    };
    run().await;
    let sent = platform.posts().len();
    // What was under way when it tripped may have arrived.
    assert!((4..=4 + AT_ONCE).contains(&sent), "{sent} were sent");
    let home_flag = home.display().to_string();
    let state = session.run(&["kill", "--show", "--json", "--home", &home_flag]);
    let state = state.json();
    assert_eq!(state["killed"], true, "{state:#}");
    assert!(state.to_string().contains("the gateway"), "{state:#}");

    run().await;
    assert_eq!(platform.posts().len(), sent, "it holds for the next run");
    let scope = ["--scope", "account:desk", "--home", &home_flag];
    session
        .run(&[&["kill", "--lift", "--why", "looked at it"], &scope[..]].concat())
        .exits(0);
    platform.change(|options| options.lose = FaultRate::Never);
    run().await;
    assert!(platform.posts().len() > sent, "a person lifted it");
}
