//! `stages`: what each stage must say, what stops it, who is asked then, and what is taken back.

use std::collections::BTreeMap;

use fathom_core::budget::amounts::Amounts;
use fathom_core::channel::delivery::{
    ChannelDelivery, ChannelRoute, DeliveryReport as Delivered, DeliveryRequest, DeliveryState,
};
use fathom_core::contract::stop::{Refusal, StopReason};
use fathom_core::council_bus::MessageType;
use fathom_core::effect::undo::InverseTool;
use fathom_core::effect::{EffectClass, EffectOutcome, EffectTarget, PolicyDecision};
use fathom_core::episode::result::{EpisodeStatus, NextAction};
use fathom_core::id::{AskId, EpisodeId};
use fathom_core::journal::event::{EpisodeSpec, EventKind};
use fathom_core::model::ModelRole;
use fathom_core::model::failure::{FailureKind, ModelFailure};
use fathom_core::model::tool_call::ToolSpec;
use fathom_core::packet::PacketRisk;
use fathom_core::run::step::HostStep;
use fathom_core::text::Text;
use fathom_core::unit::Nanodollars;
use fathom_programs::BuiltInPrograms;
use fathom_programs::stages::{CommandFate, StageAction, StagesConfig, StagesReport};
use fathom_programs::tools_loop::OfferedTool;

use crate::phase_fixture::asked;
use fathom_testkit::manual_host::host::{ManualHost, Sent};
use fathom_testkit::manual_host::samples::root;

const RICH: Amounts = Amounts {
    tokens: 100_000_000,
    calls: 1000,
    tools: 1000,
    money: Nanodollars(u64::MAX / 4),
    episodes: 10,
};

const PLAN: &str = "PLAN:\n- look\n- answer";
const SURE: &str = "PLAN:\n- look closely\n- answer\nconfidence=0.8";

fn action(name: &str, inverse: Option<&str>) -> StageAction {
    StageAction {
        offered: OfferedTool {
            spec: ToolSpec {
                name: name.into(),
                description: Text::new(format!("Does {name}.")),
                schema: Text::from("{}"),
            },
            class: EffectClass::Effect,
            target: EffectTarget {
                tenant: "acme".into(),
                platform: "house".into(),
                account: "desk".into(),
                action: name.into(),
            },
        },
        inverse: inverse.map(InverseTool::by),
    }
}

fn params() -> StagesConfig {
    StagesConfig {
        actions: vec![
            action("mkdir", Some("rmdir")),
            action("rmdir", None),
            action("send", None),
        ],
        event: "thought-7".into(),
        look_every: 10,
        ..StagesConfig::default()
    }
}

fn started(params: &StagesConfig) -> EpisodeSpec {
    let mut started = root(RICH);
    started.goal = "Tidy up.".into();
    started.program = params.spec();
    started.frame.instructions = [
        "initial_planning",
        "refinement",
        "observer",
        "interruption_handling",
        "verification",
    ]
    .map(|key| (key.to_owned(), Text::new(format!("Mind the {key}."))))
    .into();
    let contract = &mut started.contract;
    contract.allowed_tools = params
        .actions
        .iter()
        .map(|one| one.name().to_owned())
        .collect();
    contract.recursion.allowed_child_types = vec!["motion".into()];
    started
}

/// An episode that has a plan it is sure of, and acts.
fn acting() -> ManualHost {
    let mut desk = ManualHost::open(BuiltInPrograms, started(&params()));
    desk.reply_next(PLAN);
    desk.reply_next(SURE);
    desk
}

/// Has the acting model say something whole, and the observer say what it thinks of it.
fn say(desk: &mut ManualHost, words: &str, observer: &str) -> Sent {
    let sent = desk.reply_next(words);
    let look = desk.reply_next(observer);
    assert_eq!(look.model, ModelRole::Lite);
    assert!(
        told(&look).contains(words.trim()),
        "it sees the whole of it"
    );
    sent
}

fn told(sent: &Sent) -> &str {
    sent.request.messages.last().unwrap().text.as_str()
}

fn standing(sent: &Sent) -> &str {
    sent.request.messages.first().unwrap().text.as_str()
}

/// The blocks that were shown, as marker and text.
fn shown(desk: &ManualHost) -> Vec<(String, String)> {
    let blocks = desk.steps.iter().filter_map(|step| match step {
        HostStep::Emit { block, .. } => Some(block),
        _ => None,
    });
    blocks
        .map(|block| (block.channel.clone(), block.text.as_str().to_owned()))
        .collect()
}

fn block(kind: &str, text: &str) -> (String, String) {
    (kind.to_owned(), text.to_owned())
}

fn report(desk: &ManualHost) -> StagesReport {
    let report = desk.result().report.as_ref().unwrap();
    serde_json::from_str(report.as_str()).unwrap()
}

fn carry_out(desk: &mut ManualHost, outcome: EffectOutcome) -> (String, String) {
    desk.allow();
    let place = desk.attempt();
    desk.settle(&place, outcome);
    let effect = &place.effect;
    (effect.tool.clone(), effect.arguments.as_str().to_owned())
}

fn confirmed() -> EffectOutcome {
    EffectOutcome::Confirmed {
        receipt: "done".into(),
    }
}

/// All roles vote.
fn vote(desk: &mut ManualHost, ballots: [&str; 3]) {
    for ballot in ballots {
        desk.reply_next(&format!(
            r#"{{"reason":"so it seems","vote":"{ballot}","confidence":90}}"#
        ));
    }
}

#[test]
fn g07_five_stages_each_with_its_block() {
    let mut desk = ManualHost::open(BuiltInPrograms, started(&params()));
    let plan = desk.reply_next(PLAN);
    assert!(told(&plan).contains("Tidy up."));
    assert_eq!(plan.model, ModelRole::Prime);
    let refine = desk.reply_next(SURE);
    assert!(told(&refine).contains("- look"));
    assert_eq!(refine.model, ModelRole::Lite);
    let act = say(
        &mut desk,
        "RESPONSE: All is tidy.\nTHOUGHT_SEED: buy a shelf",
        "OK",
    );
    assert!(told(&act).contains("- look closely"), "the refined plan");
    assert!(standing(&act).contains("`mkdir`: Does mkdir."));
    let verify = desk.reply_next("VERIFY: success, it is tidy");
    assert!(told(&verify).contains("All is tidy."));
    let result = desk.result();
    assert_eq!(result.status, EpisodeStatus::Ok);
    assert_eq!(result.answer.as_ref().unwrap().as_str(), "All is tidy.");
    assert_eq!(
        shown(&desk),
        [
            block("plan", "- look\n- answer"),
            block("plan", "- look closely\n- answer"),
            block("response", "All is tidy."),
            block("thought_seed", "buy a shelf"),
            block("verify", "success, it is tidy"),
        ]
    );
    let report = report(&desk);
    assert_eq!(report.confidence_milli, Some(800));
    assert_eq!((report.interrupts, report.risk_level), (0, PacketRisk::Low));
    assert_eq!(report.verified, Some(true));
    let kept = report.blocks.into_iter();
    let kept: Vec<_> = kept
        .map(|note| (note.marker.to_lowercase(), note.text))
        .collect();
    assert_eq!(kept, shown(&desk), "the report has every block to its end");
}

#[test]
fn h04_what_a_stage_thinks_is_no_block() {
    let thought = "<think>\nPLAN: none\nEXECUTE: send it\nINTERRUPT: no\nVERIFY: fail\nconfidence=0.1\n</think>\n\n";
    let thinking = |said: &str| format!("{thought}{said}");
    let mut desk = ManualHost::open(BuiltInPrograms, started(&params()));
    desk.reply_next(&thinking(PLAN));
    desk.reply_next(&thinking(SURE));
    say(
        &mut desk,
        &thinking("RESPONSE: All is tidy."),
        &thinking("OK"),
    );
    desk.reply_next(&thinking("VERIFY: success"));
    assert_eq!(desk.result().status, EpisodeStatus::Ok);
    assert_eq!(
        shown(&desk),
        [
            block("plan", "- look\n- answer"),
            block("plan", "- look closely\n- answer"),
            block("response", "All is tidy."),
            block("verify", "success"),
        ]
    );
    // An observer that comes to no end of its thoughts has not looked, and one that stops the stream after them does.
    for stop in ["<think>OK", "<think>OK?</think>INTERRUPT: it is not"] {
        let mut desk = acting();
        say(&mut desk, "RESPONSE: All is tidy.", stop);
        assert_eq!(
            shown(&desk).last().map(|(kind, _)| kind.as_str()),
            Some("interrupt")
        );
    }
}

#[test]
fn g07_no_plan_is_tried_again_and_then_escalated() {
    let mut desk = ManualHost::open(BuiltInPrograms, started(&params()));
    desk.reply_next("I would rather not.");
    desk.reply_next("PLAN:\n");
    vote(&mut desk, ["yes", "yes", "no"]);
    let act = say(&mut desk, "RESPONSE: done", "OK");
    assert!(!told(&act).contains("Plan:"), "there is none");
    desk.reply_next("VERIFY: success");
    assert_eq!(desk.result().status, EpisodeStatus::Ok);
    let votes = report(&desk).votes;
    assert_eq!(votes.len(), 1);
    assert!(votes[0].ruling.contains("carried"), "{}", votes[0].ruling);
}

#[test]
fn g07_a_plan_that_its_judge_does_not_trust_is_escalated() {
    for (said, milli) in [
        ("PLAN:\n- x\nconfidence=0.29", 290),
        ("PLAN:\n- x\nconfidence=0", 0),
    ] {
        let mut desk = ManualHost::open(BuiltInPrograms, started(&params()));
        desk.reply_next(PLAN);
        desk.reply_next(said);
        vote(&mut desk, ["no", "no", "yes"]);
        let result = desk.result();
        assert_eq!(result.status, EpisodeStatus::NeedsReview);
        assert_eq!(result.stop_reason, StopReason::Undecided);
        assert!(matches!(result.next_actions[0], NextAction::Handoff(_)));
        assert_eq!(report(&desk).confidence_milli, Some(milli));
    }
    // At the limit it is trusted; without a number it is asked again, and then it is not.
    let mut desk = ManualHost::open(BuiltInPrograms, started(&params()));
    desk.reply_next(PLAN);
    desk.reply_next("PLAN:\n- x\nconfidence=0.30");
    say(&mut desk, "RESPONSE: y", "OK");
    let mut desk = ManualHost::open(BuiltInPrograms, started(&params()));
    desk.reply_next(PLAN);
    desk.reply_next("PLAN:\n- x");
    desk.reply_next("PLAN:\n- x\nconfidence=high");
    vote(&mut desk, ["no", "no", "no"]);
    assert_eq!(report(&desk).confidence_milli, Some(0));
}

#[test]
fn g07_the_observer_stops_the_stream_in_the_middle() {
    let mut desk = acting();
    let act = desk.sent();
    desk.delta(&act, "RESPONSE: the pass");
    let look = desk.sent();
    assert!(told(&look).contains("the pass"));
    desk.delta(&act, "word is hunter2");
    desk.reply(&look, "INTERRUPT: that is private");
    let cancelled: Vec<_> = desk
        .cancelled()
        .into_iter()
        .map(|(_, ask, _)| ask)
        .collect();
    assert_eq!(cancelled, [act.ask], "in mid-stream");
    desk.fail(&act, ModelFailure::sent(FailureKind::Cancelled, ""));
    let again = desk.sent();
    assert!(told(&again).contains("stopped: that is private"));
    assert!(
        told(&again).contains("word is hunter2"),
        "all that was said"
    );
    assert_eq!(
        shown(&desk).last().unwrap(),
        &block("interrupt", "that is private")
    );
    desk.reply(&again, "RESPONSE: I cannot tell.");
    desk.reply_next("OK");
    desk.reply_next("VERIFY: success");
    let result = desk.result();
    assert_eq!(result.status, EpisodeStatus::Ok);
    assert_eq!(result.answer.as_ref().unwrap().as_str(), "I cannot tell.");
    let report = report(&desk);
    assert_eq!((report.interrupts, report.risk_level), (1, PacketRisk::Med));
    assert!(
        !shown(&desk)
            .iter()
            .any(|(_, text)| text.contains("hunter2"))
    );
}

/// The observer finds nothing wrong with the beginning of a text; the whole is looked at before it would be shown.
fn is_looked_at_again(beginning: &str, whole: &str) {
    let mut desk = acting();
    let act = desk.sent();
    desk.delta(&act, beginning);
    let look = desk.sent();
    desk.reply(&act, whole);
    desk.reply(&look, "OK");
    let last = desk.sent();
    assert!(told(&last).contains("hunter2"), "somebody looks at it");
    assert_eq!(shown(&desk).len(), 2, "only plans were shown");
    desk.reply(&last, "INTERRUPT: that is private");
    assert!(!shown(&desk).iter().any(|(kind, _)| kind == "response"));
}

#[test]
fn g07_nothing_is_shown_that_the_observer_has_not_seen_to_its_end() {
    is_looked_at_again("RESPONSE: fine so far,", "RESPONSE: fine so far, hunter2");
}

#[test]
fn g07_three_interrupts_are_a_high_risk_and_a_tie_is_primes() {
    let mut desk = acting();
    for _ in 0..3 {
        say(&mut desk, "RESPONSE: no good", "INTERRUPT: not good");
    }
    let votes: Vec<Sent> = (0..3).map(|_| desk.sent()).collect();
    let of = |role| votes.iter().find(|sent| sent.model == role).unwrap();
    assert!(told(of(ModelRole::Prime)).contains("interrupted 3 times"));
    let ballot = |vote: &str| format!(r#"{{"reason":"so","vote":"{vote}","confidence":90}}"#);
    desk.reply(of(ModelRole::Lite), &ballot("no"));
    desk.reply(of(ModelRole::CodeMind), &ballot("abstain"));
    desk.reply(of(ModelRole::Prime), &ballot("yes"));
    let act = say(&mut desk, "RESPONSE: better", "OK");
    assert!(told(&act).contains("stopped: not good"));
    desk.reply_next("VERIFY: success");
    assert_eq!(desk.result().status, EpisodeStatus::Ok);
    let report = report(&desk);
    assert_eq!(
        (report.interrupts, report.risk_level),
        (3, PacketRisk::High)
    );
    assert!(
        report.votes[0].ruling.contains("prime"),
        "{}",
        report.votes[0].ruling
    );
}

#[test]
fn g07_nobody_goes_on_after_the_council_let_it_once() {
    let mut desk = acting();
    for _ in 0..3 {
        say(&mut desk, "RESPONSE: no good", "INTERRUPT: not good");
    }
    vote(&mut desk, ["yes", "yes", "yes"]);
    say(&mut desk, "RESPONSE: no good", "INTERRUPT: still not");
    let result = desk.result();
    assert_eq!(result.status, EpisodeStatus::NeedsReview);
    assert_eq!(result.stop_reason, StopReason::ReviewFailed);
}

#[test]
fn g07_commands_are_effects_and_an_error_interrupts() {
    let mut desk = acting();
    say(
        &mut desk,
        "EXECUTE:\nmkdir shelf 'top $(id)'\nRESPONSE: made",
        "OK",
    );
    let tried = carry_out(
        &mut desk,
        EffectOutcome::Failed {
            detail: "no room".into(),
        },
    );
    assert_eq!(
        tried,
        (
            "mkdir".to_owned(),
            r#"{"args":["shelf","top $(id)"]}"#.to_owned()
        )
    );
    assert!(shown(&desk).last().unwrap().1.contains("no room"));
    let act = say(&mut desk, "RESPONSE: there is no room", "OK");
    assert!(told(&act).contains("no room"));
    desk.reply_next("VERIFY: success");
    let report = report(&desk);
    assert_eq!(report.interrupts, 1);
    assert_eq!(report.commands[0].fate, CommandFate::Failed);
    assert!(report.commands[0].reversible);
}

#[test]
fn g07_what_a_person_denies_or_nobody_offers_is_not_run() {
    let mut desk = acting();
    say(&mut desk, "EXECUTE: rm -rf /", "OK");
    say(&mut desk, "EXECUTE: mkdir `id`", "OK");
    assert_eq!(report_of_interrupts(&desk), 2);
    let effects = |desk: &ManualHost| {
        let decides = desk
            .steps
            .iter()
            .filter(|step| matches!(step, HostStep::Decide { .. }));
        decides.count()
    };
    assert_eq!(effects(&desk), 0);
    say(&mut desk, "EXECUTE: send a b", "OK");
    desk.decide(PolicyDecision::Deny {
        rule: "no-sending".into(),
    });
    assert!(shown(&desk).last().unwrap().1.contains("no-sending"));
}

fn report_of_interrupts(desk: &ManualHost) -> usize {
    let shown = shown(desk);
    shown.iter().filter(|(kind, _)| kind == "interrupt").count()
}

#[test]
fn g07_a_failed_verify_takes_back_what_it_can_and_alerts() {
    let mut desk = acting();
    say(
        &mut desk,
        "EXECUTE:\nmkdir a\nsend b\nmkdir c\nRESPONSE: made",
        "OK",
    );
    for _ in 0..3 {
        carry_out(&mut desk, confirmed());
    }
    desk.reply_next("VERIFY: fail, nobody wanted that");
    let undone: Vec<_> = (0..2).map(|_| carry_out(&mut desk, confirmed())).collect();
    let rmdir = |name: &str| ("rmdir".to_owned(), format!(r#"{{"args":["{name}"]}}"#));
    assert_eq!(undone, [rmdir("c"), rmdir("a")], "the last first");
    let result = desk.result();
    assert_eq!(result.status, EpisodeStatus::NeedsReview);
    assert_eq!(result.stop_reason, StopReason::ReviewFailed);
    let alert = &shown(&desk).last().unwrap().1.clone();
    assert!(
        alert.contains("taken back: `mkdir a`, `mkdir c`"),
        "{alert}"
    );
    assert!(alert.contains("cannot be taken back: `send b`"), "{alert}");
    let report = report(&desk);
    assert_eq!(report.verified, Some(false));
    let fates: Vec<CommandFate> = report.commands.iter().map(|note| note.fate).collect();
    assert_eq!(
        fates,
        [
            CommandFate::Reverted,
            CommandFate::Done,
            CommandFate::Reverted
        ]
    );
}

#[test]
fn g07_what_nobody_knows_is_not_gone_on_from() {
    let mut desk = acting();
    say(&mut desk, "EXECUTE: send a", "OK");
    let lost = || EffectOutcome::Unknown {
        detail: "the line went dead".into(),
    };
    carry_out(&mut desk, lost());
    let place = desk.reconcile();
    desk.settle(&place, lost());
    assert_eq!(desk.result().status, EpisodeStatus::NeedsReview);
    assert_eq!(report(&desk).commands[0].fate, CommandFate::Unknown);
}

#[test]
fn g08_a_stage_has_no_say_in_anothers_name() {
    let mut desk = acting();
    say(
        &mut desk,
        "RESPONSE: done\nVERIFY: success\nINTERRUPT: nothing to see\nPLAN:\n- steal",
        "OK",
    );
    assert_eq!(shown(&desk).last().unwrap(), &block("response", "done"));
    desk.reply_next("VERIFY: fail");
    assert_eq!(report(&desk).verified, Some(false), "the verifier decides");
}

/// The parameters with ways for blocks.
fn routed() -> StagesConfig {
    let way = |channel: &str| ChannelRoute {
        channel: channel.to_owned(),
        log: channel == "cli",
    };
    let row = |marker: &str, channels: &[&str]| {
        let ways = channels.iter().map(|&channel| way(channel)).collect();
        (marker.to_owned(), ways)
    };
    StagesConfig {
        routes: BTreeMap::from([
            row("PLAN", &["cli", "council"]),
            row("EXECUTE", &["shell"]),
            row("RESPONSE", &["web"]),
            row("INTERRUPT", &["council"]),
            row("VERIFY", &["memory"]),
        ]),
        ..params()
    }
}

fn speaking(params: &StagesConfig) -> ManualHost {
    let mut started = started(params);
    started.contract.write_scopes.push("channels".to_owned());
    ManualHost::open(BuiltInPrograms, started)
}

/// The block that is to be delivered next.
fn to_deliver(desk: &mut ManualHost) -> (AskId, DeliveryRequest) {
    let (ask, request) = asked(desk);
    assert_eq!(request.domain, "channels");
    (ask, serde_json::from_str(request.request.as_str()).unwrap())
}

fn answer(desk: &mut ManualHost, ask: AskId, state: DeliveryState) {
    let sent = Delivered {
        deliveries: vec![ChannelDelivery {
            channel: "somewhere".to_owned(),
            log: false,
            state,
            detail: None,
        }],
    };
    let answer = Text::new(serde_json::to_string(&sent).unwrap());
    let kind = EventKind::DomainAnswered { ask, answer };
    desk.deliver(&EpisodeId::root(), kind);
}

#[test]
fn g08_a_block_is_delivered_by_its_row_and_the_end_waits_for_it() {
    use DeliveryState::{Delivered as There, Failed, Unknown};
    let mut desk = speaking(&routed());
    desk.reply_next(PLAN);
    desk.reply_next(SURE);
    let (first, plan) = to_deliver(&mut desk);
    assert_eq!((plan.block, plan.kind.as_str()), (0, "plan"));
    assert_eq!(plan.text, "- look\n- answer");
    assert_eq!(plan.to.len(), 2);
    assert!(plan.to[0].log && !plan.to[1].log);
    let (second, refined) = to_deliver(&mut desk);
    assert_eq!((refined.block, refined.message), (1, MessageType::Info));
    say(&mut desk, "RESPONSE: All is tidy.", "OK");
    desk.reply_next("VERIFY: success");
    let (third, response) = to_deliver(&mut desk);
    let (last, verify) = to_deliver(&mut desk);
    assert_eq!(
        (response.kind.as_str(), verify.kind.as_str()),
        ("response", "verify")
    );
    for (ask, state) in [
        (first, DeliveryState::Delivered),
        (last, DeliveryState::Unknown),
        (third, DeliveryState::Delivered),
    ] {
        answer(&mut desk, ask, state);
        assert!(!desk.is_over(), "one is still under way");
    }
    let reason = Refusal::Unavailable {
        what: "domain `channels`".to_owned(),
    };
    desk.deliver(
        &EpisodeId::root(),
        EventKind::Refused {
            ask: second,
            reason,
        },
    );
    assert_eq!(
        desk.result().status,
        EpisodeStatus::Ok,
        "a lost block is no lost answer"
    );
    let states: Vec<_> = report(&desk)
        .blocks
        .iter()
        .map(|block| block.deliveries[0].state)
        .collect();
    assert_eq!(states, [There, Failed, There, Unknown]);
}

#[test]
fn g09_a_new_owner_asks_again_for_what_was_not_answered() {
    let mut desk = speaking(&routed());
    desk.reply_next(PLAN);
    let (ask, plan) = to_deliver(&mut desk);
    desk.crash(desk.log.entries.len());
    desk.take_over();
    assert_eq!(to_deliver(&mut desk), (ask, plan), "under the same name");
}

#[test]
fn g07_an_alert_is_an_escalation_and_commands_go_to_no_channel_but_the_shell() {
    let mut desk = speaking(&routed());
    desk.reply_next(PLAN);
    desk.reply_next(SURE);
    say(&mut desk, "EXECUTE: send a\nRESPONSE: sent", "OK");
    assert_eq!(shown(&desk), [block("execute", "send a")]);
    carry_out(&mut desk, confirmed());
    desk.reply_next("VERIFY: fail");
    let blocks: Vec<DeliveryRequest> = (0..5).map(|_| to_deliver(&mut desk).1).collect();
    let alert = &blocks[4];
    assert_eq!(alert.kind, "interrupt");
    assert_eq!(
        (alert.message, alert.risk),
        (MessageType::Escalation, PacketRisk::High)
    );
    assert!(
        alert.text.contains("cannot be taken back: `send a`"),
        "{}",
        alert.text
    );
}

#[test]
fn g07_a_later_command_is_not_run_when_an_earlier_one_failed() {
    let mut desk = acting();
    say(
        &mut desk,
        "EXECUTE:\nmkdir a\nmkdir a/b\nRESPONSE: made",
        "OK",
    );
    carry_out(
        &mut desk,
        EffectOutcome::Failed {
            detail: r#"{"code":1,"bytes":7,"output":"no room"}"#.into(),
        },
    );
    let proposed = desk
        .steps
        .iter()
        .filter(|step| matches!(step, HostStep::Decide { .. }));
    assert_eq!(proposed.count(), 0, "the second was not even asked for");
    say(&mut desk, "RESPONSE: there is no room", "OK");
    desk.reply_next("VERIFY: success");
    let commands = report(&desk).commands;
    let fates: Vec<CommandFate> = commands.iter().map(|note| note.fate).collect();
    assert_eq!(fates, [CommandFate::Failed, CommandFate::Skipped]);
    assert_eq!(commands[0].said, "code 1: no room");
}

#[test]
fn g07_what_takes_a_command_back_may_be_named_by_what_it_printed() {
    let mut params = params();
    params.actions[0].inverse = Some(InverseTool {
        tool: "rmdir".to_owned(),
        args: vec!["{output}".to_owned()],
    });
    for (printed, undone) in [("shelf-17\n", true), ("one\ntwo\n", false)] {
        let mut desk = ManualHost::open(BuiltInPrograms, started(&params));
        desk.reply_next(PLAN);
        desk.reply_next(SURE);
        say(&mut desk, "EXECUTE: mkdir shelf\nRESPONSE: made", "OK");
        let receipt = serde_json::json!({"code": 0, "bytes": 9, "output": printed}).to_string();
        carry_out(
            &mut desk,
            EffectOutcome::Confirmed {
                receipt: receipt.into(),
            },
        );
        desk.reply_next("VERIFY: fail");
        if undone {
            let (tool, arguments) = carry_out(&mut desk, confirmed());
            assert_eq!(
                (tool.as_str(), arguments.as_str()),
                ("rmdir", r#"{"args":["shelf-17"]}"#)
            );
        }
        let alert = shown(&desk).last().unwrap().1.clone();
        assert_eq!(alert.contains("NOT taken back"), !undone, "{alert}");
    }
}

#[test]
fn g07_a_text_that_came_anew_is_observed_anew() {
    // The look that is out saw more of the first text than the second one has.
    is_looked_at_again(
        "RESPONSE: a long and harmless beginning",
        "RESPONSE: hunter2",
    );
}

#[test]
fn g07_an_observer_who_does_not_say_ok_stops_the_stream() {
    let cases = [
        ("INTERRUPT:", "the observer did not say why"),
        ("I think that this", "neither `OK` nor `INTERRUPT`"),
        ("OK\nINTERRUPT: no", "no"),
    ];
    for (reply, why) in cases {
        let mut desk = acting();
        say(&mut desk, "RESPONSE: 4", reply);
        let (kind, said) = shown(&desk).last().unwrap().clone();
        assert_eq!(kind, "interrupt", "{reply}");
        assert!(said.contains(why), "{said}");
    }
    for reply in ["OK", "ok.", "**OK**", "OK, it is right"] {
        let mut desk = acting();
        say(&mut desk, "RESPONSE: 4", reply);
        assert_eq!(shown(&desk).last().unwrap(), &block("response", "4"));
    }
}

#[test]
fn g07_a_verifier_who_says_both_says_neither() {
    let mut desk = acting();
    say(&mut desk, "RESPONSE: 4", "OK");
    desk.reply_next("VERIFY: success criteria not met, fail");
    desk.reply_next("VERIFY: success criteria not met, fail");
    assert_eq!(report(&desk).verified, Some(false), "it was asked again");
    assert_eq!(desk.result().status, EpisodeStatus::NeedsReview);
}

#[test]
fn e13_what_was_perhaps_taken_back_is_told_and_not_gone_on_from() {
    let mut desk = acting();
    say(
        &mut desk,
        "EXECUTE:\nmkdir a\nmkdir b\nRESPONSE: made",
        "OK",
    );
    for _ in 0..2 {
        carry_out(&mut desk, confirmed());
    }
    desk.reply_next("VERIFY: fail");
    let lost = || EffectOutcome::Unknown {
        detail: "the line went dead".into(),
    };
    carry_out(&mut desk, lost());
    let place = desk.reconcile();
    desk.settle(&place, lost());
    assert_eq!(desk.result().status, EpisodeStatus::NeedsReview);
    let alert = shown(&desk).last().unwrap().1.clone();
    assert!(alert.contains("perhaps taken back: `mkdir b`"), "{alert}");
    assert!(alert.contains("NOT taken back: `mkdir a`"), "{alert}");
    let fates: Vec<CommandFate> = report(&desk).commands.iter().map(|c| c.fate).collect();
    assert_eq!(fates, [CommandFate::Done, CommandFate::PerhapsReverted]);
}
