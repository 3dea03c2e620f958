use fathom_core::channel::delivery::DOMAIN;
use fathom_core::council_bus::CouncilRole;
use fathom_core::packet::PacketRisk;
use fathom_store::KillOrder;
use fathom_store::channels::SeedState;
use fathom_testkit::fake_discord::{DiscordOptions, FakeDiscord as Stub};
use fathom_testkit::fake_platform::FaultRate;
use uuid::Uuid;

use super::*;
use crate::clock::SystemClock;

const AT: Timestamp = Timestamp(1_700_000_000_000);

fn run() -> RunId {
    RunId::new(Uuid::from_u128(7))
}

fn token(name: &str) -> Option<String> {
    match name {
        "HOOK" => Some("webhook-token".to_owned()),
        "BOT" => Some("bot-token".to_owned()),
        _ => None,
    }
}

/// A home whose channels can be closed and opened again, as a crash and a resume do.
struct Place {
    _folder: tempfile::TempDir,
    home: HomeFolder,
    journal: Arc<dyn Journal>,
    filter: Option<TextRedactor>,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = HomeFolder::open(folder.path()).unwrap();
        home.keys().create_run_key(run()).unwrap();
        Self {
            journal: Arc::new(home.open_journal().unwrap()),
            home,
            filter: None,
            _folder: folder,
        }
    }

    fn outlets(&self, discord: Option<DiscordTarget>) -> ChannelOutlets {
        let options = RuntimeOptions {
            discord,
            clock: Arc::new(SystemClock::new()),
            filter: self.filter.clone(),
            ..RuntimeOptions::new(self.home.folder().to_owned(), token)
        };
        ChannelOutlets::new(&self.home, &self.journal, &options)
    }
}

fn webhook(stub: &Stub) -> DiscordTarget {
    DiscordTarget {
        url: stub.url(),
        webhook: Some("223704706495545344".to_owned()),
        channel: None,
        token_env: "HOOK".to_owned(),
    }
}

fn bot(stub: &Stub) -> DiscordTarget {
    DiscordTarget {
        url: stub.url(),
        webhook: None,
        channel: Some("41771983423143937".to_owned()),
        token_env: "BOT".to_owned(),
    }
}

fn send(block: u32, kind: &str, text: &str, to: &[&str]) -> DeliveryRequest {
    DeliveryRequest {
        block,
        kind: kind.to_owned(),
        text: text.to_owned(),
        to: to
            .iter()
            .map(|&channel| ChannelRoute {
                channel: channel.to_owned(),
                log: false,
            })
            .collect(),
        speaker: CouncilRole::Lite,
        message: MessageType::Escalation,
        risk: PacketRisk::High,
        confidence_milli: Some(250),
    }
}

async fn deliver(outlets: &ChannelOutlets, send: &DeliveryRequest) -> Vec<ChannelDelivery> {
    let said = DeliveryAsk {
        run: run(),
        episode: EpisodeId::root(),
        ask: AskId(3),
        at: AT,
    };
    let request = serde_json::to_string(send).unwrap();
    let answer = outlets.deliver(&said, &request).await;
    let answer: DeliveryReport = serde_json::from_str(answer.as_str()).unwrap();
    answer.deliveries
}

fn states(notes: &[ChannelDelivery]) -> Vec<DeliveryState> {
    notes.iter().map(|note| note.state).collect()
}

fn contents(stub: &Stub) -> Vec<String> {
    let posted = stub.posted().into_iter();
    posted.map(|posted| posted.content).collect()
}

/// A stub whose waits are too short to be waited for.
async fn stub(options: DiscordOptions) -> Stub {
    let options = DiscordOptions {
        reset_after: 0.001,
        ..options
    };
    Stub::start(options).await.unwrap()
}

#[tokio::test]
async fn g09_a_block_is_in_feed_council_and_memory_once_and_filtered_where_it_is_seen() {
    let place = Place::new();
    let text = "mail ann@example.org";
    let block = send(
        0,
        "verify",
        text,
        &["cli", "web", "council", "memory", "discord"],
    );
    for _ in 0..2 {
        // The second time is what a new owner does after a crash.
        let outlets = place.outlets(None);
        let notes = deliver(&outlets, &block).await;
        let mut there = vec![DeliveryState::Delivered; 4];
        there.push(DeliveryState::Absent);
        assert_eq!(states(&notes), there);
    }
    let kept = place.home.open_channels().unwrap();
    let web = kept.feed("web", 0, 10).unwrap();
    assert_eq!(web.len(), 1);
    let event = web[0].body.as_deref().unwrap();
    assert_eq!(
        event,
        "event: block\ndata: {\"block\":0,\"kind\":\"verify\",\"log\":false,\"text\":\"mail [email]\"}\n\n"
    );
    let council = kept.feed("council", 0, 10).unwrap();
    assert_eq!(council.len(), 1);
    let message: serde_json::Value =
        serde_json::from_str(council[0].body.as_deref().unwrap()).unwrap();
    assert_eq!(message["type"], "ESCALATION");
    assert_eq!(message["role"], "lite");
    assert_eq!(message["risk_level"], "high");
    assert_eq!(message["content"], "mail [email]");
    let seeds = kept.seeds().list(Some(SeedState::New)).unwrap();
    assert_eq!(seeds.len(), 1);
    assert_eq!(seeds[0].text.as_deref(), Some(text), "as it was said");
}

#[tokio::test]
async fn g09_discord_gets_every_message_once_and_in_order_within_its_limits() {
    for at in [webhook, bot] {
        let place = Place::new();
        let stub = stub(DiscordOptions {
            burst: 1,
            ..DiscordOptions::default()
        })
        .await;
        let outlets = place.outlets(Some(at(&stub)));
        let long = "word ".repeat(900);
        for (block, text) in ["one", &long, "three ann@example.org"]
            .into_iter()
            .enumerate()
        {
            let block = u32::try_from(block).unwrap();
            let notes = deliver(&outlets, &send(block, "response", text, &["discord"])).await;
            assert_eq!(states(&notes), [DeliveryState::Delivered], "{notes:?}");
        }
        let said = contents(&stub);
        assert_eq!(said.len(), 5, "the long one is three messages");
        assert_eq!(
            (said[0].as_str(), said[4].as_str()),
            ("one", "three [email]")
        );
        let requests = stub.requests();
        assert!(requests > 5, "some came too early and were sent again");
        let again = place.outlets(Some(at(&stub)));
        deliver(&again, &send(0, "response", "one", &["discord"])).await;
        assert_eq!(stub.requests(), requests, "what is there is not sent again");
    }
}

#[tokio::test]
async fn g09_a_lost_answer_is_asked_for_where_it_can_be_and_reported_where_not() {
    let lose = || DiscordOptions {
        lose: FaultRate::Every(1),
        ..DiscordOptions::default()
    };
    let place = Place::new();
    let hook = stub(lose()).await;
    let block = send(0, "response", "one", &["discord"]);
    let notes = deliver(&place.outlets(Some(webhook(&hook))), &block).await;
    assert_eq!(states(&notes), [DeliveryState::Unknown]);
    assert!(notes[0].detail.as_deref().unwrap().contains("F1035"));
    let again = deliver(&place.outlets(Some(webhook(&hook))), &block).await;
    assert_eq!(
        states(&again),
        [DeliveryState::Unknown],
        "after a resume too"
    );
    assert_eq!(hook.requests(), 1, "the message is not sent again");

    let place = Place::new();
    let sometimes = stub(DiscordOptions {
        lose: FaultRate::Every(2),
        ..DiscordOptions::default()
    })
    .await;
    let outlets = place.outlets(Some(bot(&sometimes)));
    for (number, text) in ["one", "two", "three"].into_iter().enumerate() {
        let number = u32::try_from(number).unwrap();
        let notes = deliver(&outlets, &send(number, "response", text, &["discord"])).await;
        assert_eq!(states(&notes), [DeliveryState::Delivered], "{notes:?}");
    }
    assert_eq!(
        contents(&sometimes),
        ["one", "two", "three"],
        "under its nonce"
    );
    assert!(sometimes.requests() > 3);
}

#[tokio::test]
async fn g09_what_a_crash_cut_off_is_sent_again_only_where_discord_knows_it_again() {
    type Case = (fn(&Stub) -> DiscordTarget, Timestamp, DeliveryState);
    let now = SystemClock::new().now();
    let cases: [Case; 3] = [
        (webhook, now, DeliveryState::Unknown),
        (bot, AT, DeliveryState::Unknown),
        (bot, now, DeliveryState::Delivered),
    ];
    for (at, begun_at, state) in cases {
        let place = Place::new();
        let stub = stub(DiscordOptions::default()).await;
        let kept = place.home.open_channels().unwrap();
        let id = format!("{}/0/0", run());
        let of = DeliveryId {
            id: &id,
            channel: "discord",
        };
        let begun = fathom_store::channels::DeliveryProgress {
            is_over: false,
            begun: 1,
            begun_at,
            sent: 0,
        };
        kept.note(of, begun).unwrap();
        let block = send(0, "response", "one", &["discord"]);
        let notes = deliver(&place.outlets(Some(at(&stub))), &block).await;
        assert_eq!(states(&notes), [state]);
        let is_sent = state == DeliveryState::Delivered;
        assert_eq!(stub.requests(), u64::from(is_sent));
        // What it was begun with stays, for whoever asks once more.
        assert_eq!(kept.progress(of).unwrap().begun_at, begun_at);
    }
}

#[tokio::test]
async fn g09_two_who_deliver_one_block_send_it_once() {
    let place = Place::new();
    let stub = stub(DiscordOptions::default()).await;
    let outlets = place.outlets(Some(webhook(&stub)));
    let block = send(0, "response", "one", &["discord"]);
    let (one, two) = tokio::join!(deliver(&outlets, &block), deliver(&outlets, &block));
    for notes in [one, two] {
        assert_eq!(states(&notes), [DeliveryState::Delivered]);
    }
    assert_eq!(contents(&stub), ["one"]);
}

#[tokio::test]
async fn g09_what_may_be_there_stays_so_whatever_comes_after() {
    // The first answer is lost, and then Discord wants no more.
    let place = Place::new();
    let stub = stub(DiscordOptions {
        lose: FaultRate::Every(1),
        burst: 1,
        refills_after: 100,
        ..DiscordOptions::default()
    })
    .await;
    let block = send(0, "response", "one", &["discord"]);
    let notes = deliver(&place.outlets(Some(bot(&stub))), &block).await;
    assert_eq!(contents(&stub), ["one"]);
    assert!(stub.requests() > 1, "it was tried again");
    assert_eq!(states(&notes), [DeliveryState::Unknown], "{notes:?}");
}

#[tokio::test]
async fn g09_a_limit_and_a_missing_way_are_no_refusals() {
    let place = Place::new();
    let stub = stub(DiscordOptions {
        burst: 0,
        ..DiscordOptions::default()
    })
    .await;
    let block = send(0, "response", "one", &["discord"]);
    let notes = deliver(&place.outlets(Some(bot(&stub))), &block).await;
    assert_eq!(states(&notes), [DeliveryState::Failed]);
    assert!(notes[0].detail.as_deref().unwrap().contains("F1036"));
    let nowhere = DiscordTarget {
        url: "http://127.0.0.1:9".to_owned(),
        ..bot(&stub)
    };
    let notes = deliver(&place.outlets(Some(nowhere)), &block).await;
    assert_eq!(states(&notes), [DeliveryState::Failed]);
    assert!(notes[0].detail.as_deref().unwrap().contains("F1039"));
}

#[tokio::test]
async fn g10_rules_of_ones_own_hold_on_channels_too() {
    let rules = "format = 1\nversion = \"mine\"\n[entities.email]\naction = \"drop\"\n";
    let rules = RedactRules::parse(rules).unwrap();
    let place = Place {
        filter: Some(TextRedactor::new(&rules, None).unwrap()),
        ..Place::new()
    };
    let stub = stub(DiscordOptions::default()).await;
    let outlets = place.outlets(Some(webhook(&stub)));
    let block = send(0, "response", "mail ann@example.org", &["discord", "web"]);
    deliver(&outlets, &block).await;
    let web = place.home.open_channels().unwrap().feed("web", 0, 10);
    let event = web.unwrap()[0].body.clone().unwrap();
    for said in [contents(&stub).remove(0), event] {
        assert!(said.contains("mail") && !said.contains("email]"), "{said}");
        assert!(!said.contains("ann"), "{said}");
    }
}

#[tokio::test]
async fn g09_nothing_leaves_without_a_token_or_under_the_kill_switch_or_to_a_stranger() {
    let place = Place::new();
    let stub = stub(DiscordOptions::default()).await;
    let block = send(0, "response", "one", &["discord", "pager", "shell"]);
    let tell = async |at: DiscordTarget| -> String {
        let notes = deliver(&place.outlets(Some(at)), &block).await;
        assert_eq!(states(&notes), [DeliveryState::Failed; 3]);
        assert!(notes[1].detail.as_deref().unwrap().contains("F1038"));
        notes[0].detail.clone().unwrap()
    };
    let without = DiscordTarget {
        token_env: "NONE".to_owned(),
        ..webhook(&stub)
    };
    assert!(tell(without).await.contains("F1033"));
    let wrong = DiscordTarget {
        webhook: Some("1".to_owned()),
        ..webhook(&stub)
    };
    assert!(tell(wrong).await.contains("status 404"));
    let private = DiscordTarget {
        url: stub.url().replace("127.0.0.1", "localhost"),
        ..webhook(&stub)
    };
    assert!(tell(private).await.contains("F1032"));
    place
        .journal
        .set_kill(&KillOrder {
            scope: fathom_core::effect::KillScope::Platform("discord".to_owned()),
            by: "ann".to_owned(),
            why: "enough".to_owned(),
            at: AT,
        })
        .unwrap();
    assert!(
        tell(webhook(&stub))
            .await
            .contains("stopped by kill switch `platform:discord`")
    );
    assert!(contents(&stub).is_empty());
    assert_eq!(DOMAIN, "channels");
}
