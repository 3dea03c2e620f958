//! What people are asked, and their word, through the binary. A host of this test stands for the runs.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use fathom_core::contract::{Autonomy, Contract, PermissionMode};
use fathom_core::effect::{
    ApprovalTerms, EffectClass, EffectOutcome, EffectPermit, EffectRequest, EffectTarget,
    PolicyDecision,
};
use fathom_core::id::{Digest, RunId};
use fathom_core::model::{ModelSet, ModelSpec};
use fathom_core::packet::PacketFrame;
use fathom_core::run::step::RunWait;
use fathom_core::text::Text;
use fathom_core::unit::Timestamp;
use fathom_host::config::BUDGET;
use fathom_host::effects::port::{
    EffectCaller, EffectDecision, EffectPort, EffectSettlement, PortFuture,
};
use fathom_host::governance::people::OsUser;
use fathom_host::{NewRun, RunEnd, Runtime, RuntimeOptions};
use fathom_testkit::drill::{self, DrillPrograms};

use crate::session::Session;

/// A platform that counts what reaches it, behind a gateway that asks a person on these terms.
struct Board {
    terms: ApprovalTerms,
    posts: AtomicUsize,
}

impl EffectPort for Board {
    fn decide<'a>(
        &'a self,
        _: &'a EffectRequest,
        _: &'a EffectCaller,
    ) -> PortFuture<'a, EffectDecision> {
        let decided = EffectDecision {
            decision: PolicyDecision::NeedsApproval {
                rule: "ask-before-publishing".into(),
                terms: Box::new(self.terms.clone()),
            },
            grounds: None,
        };
        Box::pin(async { decided })
    }

    fn attempt<'a>(
        &'a self,
        _: EffectPermit,
        _: &'a EffectCaller,
    ) -> PortFuture<'a, EffectSettlement> {
        self.posts.fetch_add(1, Ordering::SeqCst);
        let receipt = Text::from("done");
        Box::pin(async { EffectOutcome::Confirmed { receipt }.into() })
    }

    fn reconcile<'a>(
        &'a self,
        _: &'a EffectRequest,
        _: &'a EffectCaller,
    ) -> PortFuture<'a, EffectSettlement> {
        Box::pin(async { EffectSettlement::failed("never arrived") })
    }
}

struct Acting {
    session: Session,
    board: Arc<Board>,
}

impl Acting {
    fn on(change: impl FnOnce(&mut ApprovalTerms)) -> Self {
        let mut terms = ApprovalTerms::open(Digest([7; 32]));
        change(&mut terms);
        Self {
            session: Session::new(),
            board: Arc::new(Board {
                terms,
                posts: AtomicUsize::new(0),
            }),
        }
    }

    fn host(&self) -> Runtime {
        Runtime::open(RuntimeOptions {
            programs: Arc::new(DrillPrograms),
            effects: Some(Arc::clone(&self.board) as Arc<dyn EffectPort>),
            ..RuntimeOptions::new(self.session.path().join("data/fathom"), |_| None)
        })
        .expect("the home opens")
    }

    /// Begins a run that comes to wait for a person; its id, and the id of what it asks.
    async fn waiting(&self, event: &str) -> (RunId, String) {
        let effect = drill::DrillEffect {
            round: 0,
            request: EffectRequest {
                tool: "post".into(),
                target: EffectTarget {
                    tenant: "acme".into(),
                    platform: "board".into(),
                    account: "main".into(),
                    action: "publish".into(),
                },
                event: event.into(),
                arguments: Text::from(r#"{"text":"Spring is here"}"#),
                class: EffectClass::Effect,
                taint: Vec::new(),
            },
        };
        let params = drill::DrillConfig {
            calls: 0,
            effects: vec![effect],
            ..drill::DrillConfig::default()
        };
        // No model is called.
        let model = ModelSpec {
            base_url: Some("http://127.0.0.1:9/v1".into()),
            ..ModelSpec::named("openai/none")
        };
        let new = NewRun {
            goal: Text::from("Greet the spring"),
            program: params.spec(),
            contract: Contract {
                permission_mode: PermissionMode::Act,
                autonomy: Autonomy::Act,
                allowed_tools: vec!["post".into()],
                ..Contract::default()
            },
            budget: BUDGET,
            models: ModelSet::new(model.clone(), model),
            frame: PacketFrame::default(),
        };
        let handle = self.host().start(new).expect("it starts");
        let run = handle.run();
        let end = handle.end().await;
        assert!(matches!(end, RunEnd::Waiting(RunWait::Approval)), "{end:?}");
        let listed = self.session.run(&["approvals", "--json"]).json();
        let asked = listed["approvals"].as_array().expect("a list");
        let own = asked.iter().find(|one| one["run"] == run.to_string());
        let id = own.expect("it is asked")["id"].as_str().expect("an id");
        (run, id.to_owned())
    }

    /// Goes on with a run, and tells how much was sent in all.
    async fn sent_after(&self, run: RunId) -> usize {
        let end = self.host().resume(run).expect("it resumes").end().await;
        assert!(matches!(end, RunEnd::Finished(_)), "{end:?}");
        self.board.posts.load(Ordering::SeqCst)
    }

    fn state(&self, id: &str) -> String {
        let all = self.session.run(&["approvals", "--all", "--json"]).json();
        let all = all["approvals"].as_array().expect("a list");
        let own = all.iter().find(|one| one["id"] == id).expect("it is there");
        own["state"].as_str().expect("a state").to_owned()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e17_a_person_reads_what_is_asked_and_approves_it_once() {
    let acting = Acting::on(|_| {});
    let session = &acting.session;
    let (run, id) = acting.waiting("plan-1").await;
    session
        .run(&["approvals"])
        .exits(0)
        .prints("action   publish on board (account main, tenant acme), once")
        .prints("goal     Greet the spring")
        .prints("rule     ask-before-publishing")
        .prints("\"Spring is here\"")
        .prints(&format!("fathom approve {id}"))
        .prints(&format!("fathom deny {id} --why"));
    let approved = session.run(&["approve", &id[..6], "--no-resume", "--json"]);
    let word = &approved.exits(0).json()["approvals"][0]["word"];
    assert_eq!(word["by"], OsUser::current().to_string());
    session
        .run(&["approve", &id, "--no-resume"])
        .fails(4, "F0992");
    session
        .run(&["deny", &id, "--why", "late", "--no-resume"])
        .fails(4, "F0992");
    assert_eq!(acting.sent_after(run).await, 1);
    assert_eq!(acting.state(&id), "used");
    let (other, other_id) = acting.waiting("plan-2").await;
    session.run(&["approve", &id]).fails(4, "F0992");
    assert_eq!(
        acting.state(&other_id),
        "open",
        "an old yes is no yes to another run"
    );
    session
        .run(&["deny", &other_id, "--why", "not today", "--no-resume"])
        .exits(0)
        .says("is denied");
    assert_eq!(acting.sent_after(other).await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e17_roles_second_person_and_time_are_checked() {
    let acting = Acting::on(|terms| {
        terms.roles = vec!["operator".into()];
        terms.second_person = true;
    });
    let session = &acting.session;
    let (run, id) = acting.waiting("plan-1").await;
    session
        .run(&["approve", &id])
        .fails(4, "F0997")
        .says("rule `ask-before-publishing` requires a second person");
    session.write("fathom.toml", "[people]\noperator = [\"os:nobody-here\"]\n");
    session
        .run(&["approve", &id])
        .fails(4, "F0995")
        .says("the role operator is required");
    session.write("fathom.toml", "[people]\noperator = [\"nobody\"]\n");
    session
        .run(&["approvals"])
        .fails(2, "F0111")
        .says("invalid person `nobody`");

    let key = session.write("ada.key", &"k".repeat(32));
    let mode = |mode| {
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(&key, mode).expect("it is mine");
    };
    session.write("fathom.toml", "");
    mode(0o644);
    session
        .run(&["approve", &id, "--key", "ada.key"])
        .fails(5, "F0219");
    mode(0o600);
    let unknown = session.run(&["approve", &id, "--key", "ada.key"]);
    unknown.fails(4, "F0995");
    let name = unknown
        .stderr
        .split('`')
        .nth(1)
        .expect("its name")
        .to_owned();
    assert!(name.starts_with("key:"), "{name}");
    session.write(
        "fathom.toml",
        &format!("[people]\noperator = [\"{name}\"]\n"),
    );
    session
        .run(&["approve", &id, "--key", "ada.key", "--no-resume"])
        .exits(0)
        .says("is granted");
    assert_eq!(acting.sent_after(run).await, 1);
    session.write("fathom.toml", "");

    session.run(&["approve", "zz"]).fails(4, "F0990");
    session.run(&["approve", ""]).fails(4, "F0990");
}

/// What comes to wait, and then expires at once for a process that looks later.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e17_what_has_expired_cannot_be_approved() {
    let acting = Acting::on(|_| {});
    let (run, id) = acting.waiting("plan-1").await;
    // The registry's own record, as a gateway with a short time would have made it.
    let host = acting.host();
    let asked = host.find_approval(&id).expect("it is there");
    drop(host);
    let short = fathom_store::ApprovalRecord {
        terms: ApprovalTerms {
            expires: Timestamp(1),
            ..asked.terms.clone()
        },
        ..asked
    };
    let home =
        fathom_store::HomeFolder::open(acting.session.path().join("data/fathom")).expect("a home");
    let journal = home.open_journal().expect("a journal");
    fathom_store::Journal::open_approval(&journal, &short).expect("it can be asked");
    drop(journal);
    acting
        .session
        .run(&["approvals"])
        .exits(0)
        .prints("expired at");
    acting.session.run(&["approve", &id]).fails(4, "F0993");
    assert_eq!(acting.state(&id), "expired");
    assert_eq!(acting.host().info(run).expect("a run").run, run);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e16_the_kill_switch_holds_over_restarts_until_a_person_lifts_it() {
    let acting = Acting::on(|_| {});
    let session = &acting.session;
    let (run, id) = acting.waiting("plan-1").await;
    let scope = ["--scope", "platform:board"];
    let thrown = session.run(&["kill", scope[0], scope[1], "--why", "complaints"]);
    thrown
        .exits(0)
        .prints("active platform:board")
        .prints("complaints");
    session.run(&["approve", &id, "--no-resume"]).exits(0);
    assert_eq!(acting.sent_after(run).await, 0);
    let state = session.run(&["kill", "--show", "--json"]).json();
    assert_eq!(state["killed"], true);
    assert_eq!(state["scopes"][0]["by"], OsUser::current().to_string());

    session.write("fathom.toml", "[people]\noperator = [\"os:nobody-here\"]\n");
    session
        .run(&["kill", scope[0], scope[1], "--lift"])
        .fails(4, "F0995");
    session.write("fathom.toml", "");
    session
        .run(&["kill", "--lift"])
        .exits(0)
        .prints("kill switch `global` was not active")
        .prints("active platform:board");
    session
        .run(&["kill", scope[0], scope[1], "--lift", "--why", "calm"])
        .exits(0)
        .prints("no kill switch is active");
    let state = session.run(&["kill", "--show", "--json"]).json();
    assert_eq!(state["killed"], false);
    assert_eq!(state["record"][0]["lifted"]["why"], "calm");
    let (run, id) = acting.waiting("plan-2").await;
    session.run(&["approve", &id, "--no-resume"]).exits(0);
    assert_eq!(acting.sent_after(run).await, 1);
}

#[test]
fn e16_the_bare_kill_switch_stops_every_run() {
    let session = Session::scripted(&[serde_json::json!({"reply": "fine"})]);
    session.run(&["kill"]).exits(0).prints("active global");
    let asked = session.ask(&["still there?", "--json"]);
    assert_ne!(asked.exit, Some(0), "{}", asked.stdout);
    assert_eq!(asked.json()["stop_reason"], "kill_switch");
    session.run(&["kill", "--lift"]).exits(0);
    session.ask(&["still there?"]).exits(0).prints("fine");
    session
        .run(&["kill", "--scope", "planet:x"])
        .fails(2, "F0103");
}

#[test]
fn e14_an_override_needs_a_key_that_was_used_and_a_reason() {
    let session = Session::new();
    session
        .run(&["override", "4:acme", "--why", "lost"])
        .fails(4, "F0999");
    session.run(&["override", "4:acme"]).fails(2, "F0104");
}

#[test]
fn e17_where_nothing_is_asked_the_lists_are_empty() {
    let session = Session::new();
    session
        .run(&["approvals"])
        .exits(0)
        .says("no pending approvals");
    session.run(&["tickets"]).exits(0).says("no tickets");
    assert_eq!(
        session.run(&["tickets", "--json"]).json()["tickets"],
        serde_json::json!([])
    );
    let none = session.run(&["approvals", "--json"]).json();
    assert_eq!(none["approvals"], serde_json::json!([]));
}
