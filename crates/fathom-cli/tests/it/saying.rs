//! Blocks on their way out of a process that is killed: each is said once, whatever happens.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use fathom_host::{Runtime, RuntimeOptions};
use fathom_store::HomeFolder;
use fathom_testkit::fake_discord::{DiscordOptions, FakeDiscord};
use fathom_testkit::model_server::{ModelServer, ReplyBehaviour, SeenRequest};
use serde_json::Value;

use crate::kill::{Dice, end_or_kill, kills_wanted};
use crate::session::fathom;

/// Kills of one run before it is left alone.
const KILLS_A_RUN: u32 = 3;

fn says(seen: &SeenRequest) -> ReplyBehaviour {
    let has = |words: &str| seen.prompt.contains(words);
    let number = seen.prompt.split("question-").nth(1).unwrap_or_default();
    let number: String = number.chars().take_while(char::is_ascii_digit).collect();
    if has("Plan how to do") {
        ReplyBehaviour::reply(format!("PLAN:\n- plan-{number}"))
    } else if has("Judge the plan") {
        ReplyBehaviour::reply(format!("PLAN:\n- refined-{number}\nconfidence=0.85"))
    } else if has("You read along") {
        ReplyBehaviour::reply("OK")
    } else if has("Look whether the task") {
        ReplyBehaviour::reply(format!("VERIFY: success-{number}"))
    } else {
        ReplyBehaviour::reply(format!(
            "RESPONSE: said-{number}\nTHOUGHT_SEED: seed-{number}"
        ))
    }
}

/// How often each text is in a feed.
fn counted(home: &Path, channel: &str) -> BTreeMap<String, u32> {
    let home = HomeFolder::open(home).expect("a home");
    let feed = home
        .open_channels()
        .expect("channels")
        .feed(channel, 0, 1_000);
    let mut counts = BTreeMap::new();
    for entry in feed.expect("a feed") {
        let body = entry.body.expect("a key");
        // An event of the web ends with its data; a message of the council is JSON.
        let json = body.split("data: ").last().expect("data").trim();
        let said: Value = serde_json::from_str(json).expect("JSON");
        let text = said["text"].as_str().or(said["content"].as_str());
        *counts.entry(text.expect("a text").to_owned()).or_default() += 1;
    }
    counts
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn g09_kill_nine_at_random_moments_says_nothing_twice_and_loses_nothing() {
    let dir = tempfile::tempdir().expect("a folder");
    let home = dir.path();
    let server = ModelServer::start(says).await.expect("a port");
    let options = DiscordOptions {
        bot_token: "sandbox-token".to_owned(),
        burst: 1_000,
        ..DiscordOptions::default()
    };
    let discord = FakeDiscord::start(options).await.expect("a port");
    let config = format!(
        "[channels.discord]\nurl = \"{}\"\nchannel = \"41771983423143937\"\ntoken_env = \"FATHOM_PLATFORM_TOKEN\"\n",
        discord.url()
    );
    std::fs::write(home.join("fathom.toml"), config).expect("it can be written");
    let mut dice = Dice(0x5a1d);
    let (mut kills, mut question) = (0, 0);
    let mut ended = Vec::new();
    while kills < kills_wanted(12, 300) {
        question += 1;
        let asked = format!("question-{question} in stages");
        let mut child = fathom(home, &server, &["think", &asked, "--no-resume"]);
        let mut kills_here = 0;
        loop {
            let patience = if kills_here < KILLS_A_RUN {
                Duration::from_micros(dice.below(250_000))
            } else {
                Duration::from_mins(1)
            };
            if end_or_kill(child, patience).await.is_some() {
                ended.push(question);
                break;
            }
            kills += 1;
            kills_here += 1;
            let host =
                Runtime::open(RuntimeOptions::new(home.to_owned(), |_| None)).expect("it opens");
            let unfinished = host.unfinished().expect("the list can be read");
            let Some(run) = unfinished.first() else {
                break;
            };
            child = fathom(home, &server, &["resume", &run.to_string()]);
        }
    }
    assert!(!ended.is_empty());
    let mut posted: BTreeMap<String, u32> = BTreeMap::new();
    for message in discord.posted() {
        let text = message.content.replace("**VERIFY**\n", "");
        *posted.entry(text).or_default() += 1;
    }
    let (web, council) = (counted(home, "web"), counted(home, "council"));
    for counts in [&posted, &web, &council] {
        let twice: Vec<_> = counts.iter().filter(|(_, count)| **count > 1).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }
    for number in ended {
        for place in [&posted, &web] {
            assert!(place.contains_key(&format!("said-{number}")), "{place:?}");
            assert!(
                place.contains_key(&format!("success-{number}")),
                "{place:?}"
            );
        }
        for word in ["- plan", "- refined", "seed", "success"] {
            let text = format!("{word}-{number}");
            assert!(council.contains_key(&text), "{text}: {council:?}");
        }
    }
}
