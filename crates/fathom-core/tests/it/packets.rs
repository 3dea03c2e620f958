//! Packets, one at a time: what goes first, what is shortened, what is left out, what is refused.

use fathom_core::contract::stop::{Refusal, ShortenStage};
use fathom_core::episode::program::{Ask, ModelAsk};
use fathom_core::id::{AskId, EpisodeId};
use fathom_core::journal::command::Command;
use fathom_core::journal::event::{EpisodeSpec, EventKind};
use fathom_core::model::{ChatMessage, ModelRole, Speaker};
use fathom_core::packet::{
    Framing, HeaderField, HeaderLimits, KeepFrom, Packet, PacketFrame, PacketMeta, PacketRisk,
    PacketShare, SUMMARY_MARK, outline,
};
use fathom_core::run::step::HostStep;
use fathom_core::text::Text;

use fathom_testkit::manual_host::host::{ManualHost, Sent};
use fathom_testkit::manual_host::samples::{AMPLE, root};
use fathom_testkit::manual_host::scripted_program::{Heard, Scripts};

fn said(speaker: Speaker, text: &str) -> ChatMessage {
    ChatMessage::new(speaker, text)
}

fn ask(packet: Packet) -> Ask {
    Ask::Model(Box::new(ModelAsk {
        output_tokens_max: 100,
        output_tokens_min: 1,
        ..ModelAsk::new(ModelRole::Main, packet)
    }))
}

fn question() -> Packet {
    Packet {
        prompt: vec![said(Speaker::User, "Is it so?")],
        ..Packet::default()
    }
}

fn frame() -> PacketFrame {
    PacketFrame {
        mtu_tokens: Some(4096),
        identity: "You tell the truth.".into(),
        persona: "You are brief.".into(),
        instructions: [("verification".to_owned(), "Check it.".into())].into(),
        ..PacketFrame::default()
    }
}

fn framed(frame: PacketFrame) -> EpisodeSpec {
    let mut started = root(AMPLE);
    started.frame = frame;
    started
}

fn open(packets: Vec<Packet>, frame: PacketFrame) -> (ManualHost, Scripts) {
    let rounds = packets.into_iter().map(|packet| vec![ask(packet)]);
    let scripts = Scripts::root(rounds.collect());
    let heard = scripts.clone();
    (ManualHost::open(scripts, framed(frame)), heard)
}

fn lines(sent: &Sent) -> Vec<(Speaker, &str)> {
    let messages = sent.request.messages.iter();
    messages.map(|m| (m.speaker, m.text.as_str())).collect()
}

fn metas(desk: &ManualHost) -> Vec<PacketMeta> {
    let commands = desk.log.commands(&EpisodeId::root());
    let packets = commands.into_iter().filter_map(|command| match command {
        Command::CallModel { packet, .. } => Some(packet),
        _ => None,
    });
    packets.collect()
}

/// One question to the host about one ask.
#[derive(Clone, Copy)]
struct Question {
    ask: AskId,
    round: u16,
}

/// The text that the host is asked to shorten, and to what.
fn to_shorten(desk: &mut ManualHost) -> (Question, String, u32) {
    let at = desk
        .steps
        .iter()
        .position(|step| matches!(step, HostStep::Host { .. }))
        .expect("the host is asked for something");
    match desk.steps.remove(at) {
        HostStep::Host {
            command:
                Command::Summarise {
                    ask,
                    text,
                    tokens_max,
                    round,
                    ..
                },
            ..
        } => {
            let question = Question { ask, round };
            (question, text.as_str().to_owned(), tokens_max)
        }
        step => panic!("not a summary: {step:?}"),
    }
}

fn cannot(desk: &mut ManualHost, Question { ask, .. }: Question) {
    let reason = Refusal::Unavailable {
        what: "summariser".to_owned(),
    };
    desk.deliver(&EpisodeId::root(), EventKind::Refused { ask, reason });
}

fn shortened(desk: &mut ManualHost, Question { ask, round }: Question, text: &str) {
    let text = Text::from(text);
    let kind = EventKind::Summarised { ask, text, round };
    desk.deliver(&EpisodeId::root(), kind);
}

fn overruns(desk: &ManualHost) -> Vec<(HeaderField, ShortenStage, u64, u64, Option<u64>)> {
    let events = desk.log.events(&EpisodeId::root()).into_iter();
    let overruns = events.filter_map(|event| match event {
        EventKind::TokenBudgetOverrun {
            field,
            by,
            limit,
            before,
            after,
            ..
        } => Some((field, by, limit, before, after)),
        _ => None,
    });
    overruns.collect()
}

#[test]
fn g01_a_packet_puts_the_header_before_the_payload() {
    let packet = Packet {
        instruction: Some("verification".to_owned()),
        standing: "Answer yes or no.".into(),
        shares: vec![PacketShare::history(vec![
            said(Speaker::User, "Hello"),
            said(Speaker::Assistant, "Hello to you"),
        ])],
        ..question()
    };
    let (mut desk, _) = open(vec![packet], frame());
    let sent = desk.sent();
    assert_eq!(
        lines(&sent),
        [
            (
                Speaker::System,
                "You tell the truth.\n\nYou are brief.\n\nAnswer yes or no.\n\nCheck it."
            ),
            (Speaker::User, "Hello"),
            (Speaker::Assistant, "Hello to you"),
            (Speaker::User, "Is it so?"),
        ]
    );
    insta::assert_snapshot!(outline(&sent.request).join("\n"), @r"
    system    7 lines, 65 characters
    user      1 lines, 5 characters
    assistant 1 lines, 12 characters
    user      1 lines, 9 characters
    ");
}

#[test]
fn g01_meta_is_logged_and_the_model_never_sees_it() {
    let packet = Packet {
        confidence_milli: Some(250),
        risk: Some(PacketRisk::High),
        ..question()
    };
    let (mut desk, _) = open(vec![packet, question()], frame());
    let first = desk.sent();
    desk.reply(&first, "no");
    let second = desk.sent();
    let [meta, next] = &metas(&desk)[..] else {
        panic!("two packets went out");
    };
    assert_eq!(meta.id.to_string().len(), 8);
    assert_ne!(meta.id, next.id);
    assert_eq!(meta.parent, None);
    assert_eq!(next.parent, Some(meta.id), "one follows the other");
    assert_eq!((meta.at, meta.risk), (desk.now, Some(PacketRisk::High)));
    assert_eq!(meta.confidence_milli, Some(250));
    assert_eq!((next.risk, next.confidence_milli), (None, None));
    for sent in [&first, &second] {
        let seen = serde_json::to_string(&sent.request).unwrap();
        for hidden in [&meta.id.to_string(), &next.id.to_string(), "high", "250"] {
            assert!(!seen.contains(hidden), "{hidden} in {seen}");
        }
    }
}

#[test]
fn g01_a_packet_that_is_sent_again_counts_its_retries() {
    let (mut desk, _) = open(vec![question()], frame());
    let first = desk.sent();
    desk.fail(
        &first,
        fathom_testkit::manual_host::samples::rate_limited(fathom_core::unit::Millis(1)),
    );
    let metas = metas(&desk);
    assert_eq!(metas.len(), 2);
    assert_eq!((metas[0].retries, metas[1].retries), (None, Some(1)));
    assert_eq!(metas[0].id, metas[1].id);
}

#[test]
fn g02_leaf_calls_may_have_an_empty_header() {
    let packet = Packet {
        voice: Framing::Plain,
        ..question()
    };
    let (mut desk, _) = open(vec![packet], frame());
    assert_eq!(lines(&desk.sent()), [(Speaker::User, "Is it so?")]);
}

#[test]
fn g02_the_limits_are_those_of_the_protocol() {
    let gaia = HeaderLimits { mtu_tokens: 4096 };
    assert_eq!(gaia.of(HeaderField::Identity, 0), 245);
    assert_eq!(gaia.of(HeaderField::Persona, 245), 115);
    assert_eq!(gaia.of(HeaderField::Instruction, 360), 64);
    let wide = HeaderLimits {
        mtu_tokens: u64::MAX,
    };
    assert_eq!(wide.of(HeaderField::Identity, 0), 256);
    assert_eq!(wide.of(HeaderField::Persona, 256), 128);
    let narrow = HeaderLimits { mtu_tokens: 256 };
    assert_eq!(narrow.of(HeaderField::Identity, 0), 15);
    assert_eq!(narrow.of(HeaderField::Persona, 15), 7);
}

#[test]
fn g02_a_history_keeps_its_newest_entries_within_sixty_percent() {
    let entries =
        (0..200).map(|n| said(Speaker::User, &format!("entry {n:03} {}", "x".repeat(40))));
    let packet = Packet {
        shares: vec![PacketShare::history(entries.collect())],
        ..question()
    };
    let (mut desk, _) = open(vec![packet], frame());
    let sent = desk.sent();
    let kept = &sent.request.messages[1..sent.request.messages.len() - 1];
    assert!(!kept.is_empty());
    let last = kept.last().unwrap().text.as_str();
    assert!(last.starts_with("entry 199"), "{last}");
    let tokens: usize = kept.iter().map(|m| m.text.as_str().len()).sum();
    let left = 4096 - "You tell the truth.".len() - "You are brief.".len();
    assert!(tokens * 10 <= left * 6, "{tokens} of {left}");
    assert!(
        (tokens + 60) * 10 > left * 5,
        "the room is used: {tokens} of {left}"
    );
    let history = &metas(&desk)[0].items[2];
    assert_eq!(history.name, "history");
    assert_eq!(
        history.entries,
        Some((u32::try_from(kept.len()).unwrap(), 200))
    );
}

#[test]
fn g02_a_history_that_lost_its_beginning_does_not_begin_with_an_answer() {
    let mut was_cut = [false; 2];
    for length in (0..200).step_by(10) {
        let speaker = |n: usize| [Speaker::User, Speaker::Assistant][n % 2];
        let entries = (0..100_usize).map(|n| said(speaker(n), &"x".repeat(20 + length)));
        let packet = Packet {
            shares: vec![PacketShare::history(entries.collect())],
            ..question()
        };
        let (mut desk, _) = open(vec![packet], frame());
        let sent = desk.sent();
        let kept = &sent.request.messages[1..sent.request.messages.len() - 1];
        assert_eq!(kept.first().map(|first| first.speaker), Some(Speaker::User));
        let tokens: usize = kept.iter().map(|m| m.text.as_str().len() + 8).sum();
        let room = (4096 - "You tell the truth.".len() - "You are brief.".len()) * 6 / 10;
        // Whether an answer had room of its own.
        let has_room = room - tokens >= 28 + length;
        was_cut[usize::from(has_room)] = true;
        let count = u32::try_from(kept.len()).unwrap();
        assert_eq!(metas(&desk)[0].items[2].entries, Some((count, 100)));
    }
    assert_eq!(was_cut, [true; 2]);
}

#[test]
fn g02_a_prompt_that_cannot_fit_is_refused() {
    let packet = Packet {
        prompt: vec![said(Speaker::User, &"x".repeat(5000))],
        ..question()
    };
    let (desk, heard) = open(vec![packet], frame());
    let refusal = Refusal::TokenBudget {
        field: HeaderField::Prompt,
        tokens: 5035,
        limit: 4096,
    };
    assert_eq!(
        refusal.to_string(),
        "TokenBudgetError: the prompt has 5035 tokens and may have 4096"
    );
    assert_eq!(heard.refusals("root"), [refusal]);
    assert_eq!(desk.calls_out(), 0);
}

#[test]
fn g02_without_an_mtu_the_window_less_the_output_cap_is_the_limit() {
    let entries = (0..100).map(|_| said(Speaker::User, "x")).collect();
    let packet = Packet {
        shares: vec![PacketShare::history(entries)],
        ..Packet::plain(vec![said(Speaker::User, "Is it so?")])
    };
    let mut desk = ManualHost::new(Scripts::root(vec![vec![ask(packet)]]));
    desk.window_tokens = Some(150);
    desk.start(framed(PacketFrame::default()));
    let sent = desk.sent();
    assert_eq!(
        sent.request.output_tokens_max, 100,
        "the output keeps its cap"
    );
    assert!(sent.input_tokens() <= 50);
    assert!(sent.request.messages.len() > 1, "some history is there");
}

#[test]
fn g04_an_oversized_field_is_shortened_on_this_machine() {
    let persona = "You never shout. ".repeat(60);
    let frame = PacketFrame {
        persona: persona.as_str().into(),
        ..frame()
    };
    let (mut desk, _) = open(vec![question(), question()], frame);
    let (ask, text, target) = to_shorten(&mut desk);
    assert_eq!(text, persona);
    let limit = 122;
    assert!(u64::from(target) < limit, "the mark needs room too");
    assert_eq!(desk.calls_out(), 0, "nothing goes out before it fits");
    shortened(&mut desk, ask, "You never shout.");
    let sent = desk.sent();
    let (_, system) = lines(&sent)[0];
    assert!(
        system.contains(&format!("{SUMMARY_MARK} You never shout.")),
        "{system}"
    );
    let after = format!("{SUMMARY_MARK} You never shout.").len() as u64;
    assert_eq!(
        overruns(&desk),
        [(
            HeaderField::Persona,
            ShortenStage::Local,
            limit,
            1020,
            Some(after)
        )]
    );
    let item = &metas(&desk)[0].items[1];
    assert_eq!((item.tokens, item.shortened_from), (after, Some(1020)));
    // What was shortened once is not shortened again.
    desk.reply(&sent, "no");
    let again = desk.sent();
    assert_eq!(lines(&again)[0], lines(&sent)[0]);
    assert_eq!(overruns(&desk).len(), 1);
}

#[test]
fn g04_a_late_answer_about_one_field_is_not_taken_for_another() {
    let frame = PacketFrame {
        identity: "You never lie. ".repeat(60).into(),
        persona: "You never shout. ".repeat(60).into(),
        ..frame()
    };
    let (mut desk, _) = open(vec![question()], frame);
    let (identity, ..) = to_shorten(&mut desk);
    shortened(&mut desk, identity, "You never lie.");
    let (persona, text, _) = to_shorten(&mut desk);
    assert!(text.starts_with("You never shout."));
    shortened(&mut desk, identity, "You never lie.");
    assert_eq!(desk.calls_out(), 0, "that was not the question");
    shortened(&mut desk, persona, "You never shout.");
    let sent = desk.sent();
    assert_eq!(
        lines(&sent)[0].1,
        "⚠SUMMARY You never lie.\n\n⚠SUMMARY You never shout."
    );
}

#[test]
fn g04_the_ladder_goes_from_the_summariser_to_lite_to_prime_to_an_error() {
    let frame = PacketFrame {
        persona: "x".repeat(900).into(),
        ..frame()
    };
    let (mut desk, heard) = open(vec![question()], frame);
    let (ask, ..) = to_shorten(&mut desk);
    cannot(&mut desk, ask);
    let roles = |desk: &ManualHost| -> Vec<ModelRole> {
        let commands = desk.log.commands(&EpisodeId::root()).into_iter();
        let calls = commands.filter_map(|command| match command {
            Command::CallModel { model, .. } => Some(model),
            _ => None,
        });
        calls.collect()
    };
    let lite = desk.sent();
    assert_eq!(roles(&desk), [ModelRole::Lite]);
    assert_eq!(lite.request.messages.len(), 1, "its header is empty");
    desk.reply(&lite, &"y".repeat(300));
    let prime = desk.sent();
    assert_eq!(roles(&desk), [ModelRole::Lite, ModelRole::Prime]);
    desk.reply(&prime, &"z".repeat(200));
    assert_eq!(roles(&desk).len(), 2, "Prime is asked once");
    assert_eq!(
        heard.refusals("root"),
        [Refusal::TokenBudget {
            field: HeaderField::Persona,
            tokens: 900,
            limit: 122,
        }]
    );
    let mark = SUMMARY_MARK.len() as u64 + 1;
    assert_eq!(
        overruns(&desk),
        [
            (HeaderField::Persona, ShortenStage::Local, 122, 900, None),
            (
                HeaderField::Persona,
                ShortenStage::Lite,
                122,
                900,
                Some(300 + mark)
            ),
            (
                HeaderField::Persona,
                ShortenStage::Prime,
                122,
                900,
                Some(200 + mark)
            ),
        ]
    );
    let spent = desk.result().budget.spent;
    assert_eq!(spent.calls, 2, "the asker pays");
    assert_eq!(
        heard.heard("root").len(),
        1,
        "the program hears of none of it"
    );
}

#[test]
fn g04_lite_is_enough_when_it_keeps_the_limit() {
    let frame = PacketFrame {
        identity: "x".repeat(900).into(),
        ..frame()
    };
    let (mut desk, heard) = open(vec![question()], frame);
    let (ask, ..) = to_shorten(&mut desk);
    cannot(&mut desk, ask);
    desk.reply_next("Be true.");
    let sent = desk.sent();
    assert!(lines(&sent)[0].1.starts_with("⚠SUMMARY Be true."));
    desk.reply(&sent, "yes");
    assert!(matches!(&heard.heard("root")[..], [Heard::Reply(AskId(0), said)] if said == "yes"));
}

#[test]
fn g04_a_failed_errand_takes_the_next_rung_and_counts_no_error() {
    let frame = PacketFrame {
        persona: "x".repeat(900).into(),
        ..frame()
    };
    let (mut desk, _) = open(vec![question()], frame);
    let (ask, ..) = to_shorten(&mut desk);
    cannot(&mut desk, ask);
    let lite = desk.sent();
    let failure = fathom_core::model::failure::ModelFailure::unsent(
        fathom_core::model::failure::FailureKind::Rejected,
        "no such model",
    );
    desk.fail(&lite, failure);
    desk.reply_next("Be kind.");
    assert!(lines(&desk.sent())[0].1.contains("⚠SUMMARY Be kind."));
}

#[test]
fn g04_a_crash_on_any_rung_goes_on_from_there() {
    let start = || {
        let frame = PacketFrame {
            persona: "x".repeat(900).into(),
            ..frame()
        };
        let (mut desk, _) = open(vec![question()], frame);
        let (ask, ..) = to_shorten(&mut desk);
        cannot(&mut desk, ask);
        desk
    };
    let records = {
        let mut desk = start();
        desk.reply_next("Be kind.");
        desk.log.of(&EpisodeId::root()).count()
    };
    for keep in 1..=records {
        let mut desk = start();
        desk.reply_next("Be kind.");
        desk.crash(keep);
        desk.take_over();
        // Whatever is outstanding is answered again until the question itself is on the wire.
        let mut turns = 0;
        let sent = loop {
            turns += 1;
            assert!(turns < 10, "it never went out after a crash at {keep}");
            if desk
                .steps
                .iter()
                .any(|s| matches!(s, HostStep::Host { .. }))
            {
                let (ask, ..) = to_shorten(&mut desk);
                cannot(&mut desk, ask);
                continue;
            }
            let sent = desk.sent();
            if sent.request.messages.len() > 1 {
                break sent;
            }
            desk.reply(&sent, "Be kind.");
        };
        assert!(lines(&sent)[0].1.contains("⚠SUMMARY Be kind."), "{keep}");
        desk.reply(&sent, "yes");
        assert!(desk.is_over());
    }
}

#[test]
fn g05_a_task_instruction_comes_from_the_registry_by_its_key() {
    let packet = Packet {
        instruction: Some("sing".to_owned()),
        ..question()
    };
    let (_, heard) = open(vec![packet], frame());
    let refusals = heard.refusals("root");
    assert!(
        matches!(&refusals[..], [Refusal::Unavailable { what }] if what.contains("`sing`")),
        "{refusals:?}"
    );
}

#[test]
fn p07_sections_divide_what_is_left_by_weight_over_those_that_are_not_empty() {
    let entries = |letter: &str| -> Vec<ChatMessage> {
        (0..100)
            .map(|n| {
                said(
                    Speaker::User,
                    &format!("{letter}{n:03} {}", letter.repeat(37)),
                )
            })
            .collect()
    };
    let sections = |agents: Vec<ChatMessage>| Packet {
        shares: vec![
            PacketShare::section("agents", "Agents", 200, KeepFrom::First, agents),
            PacketShare::section("symbols", "Symbols", 500, KeepFrom::First, entries("s")),
            PacketShare::section("history", "History", 300, KeepFrom::Last, entries("h")),
        ],
        ..question()
    };
    let kept = |packet: Packet| -> Vec<u64> {
        let (desk, _) = open(vec![packet], frame());
        let items = metas(&desk)[0].items.clone();
        let shares = items.iter().filter(|item| item.entries.is_some());
        shares
            .map(|item| u64::from(item.entries.unwrap().0))
            .collect()
    };
    // About 4,050 tokens are left, and an entry takes 50 with its overhead.
    assert_eq!(kept(sections(entries("a"))), [16, 40, 24]);
    // Without agents the other two have five eighths and three eighths.
    assert_eq!(kept(sections(Vec::new())), [0, 50, 30]);
    let (mut desk, _) = open(vec![sections(entries("a"))], frame());
    let sent = desk.sent();
    let (_, system) = lines(&sent)[0];
    let place = |part: &str| {
        system
            .find(part)
            .unwrap_or_else(|| panic!("{part} in {system}"))
    };
    assert!(place("# Agents") < place("# Symbols") && place("# Symbols") < place("# History"));
    assert!(
        system.contains("a000 ") && !system.contains("a099 "),
        "agents by worth"
    );
    assert!(
        system.contains("h099 ") && !system.contains("h000 "),
        "history by time"
    );
}
