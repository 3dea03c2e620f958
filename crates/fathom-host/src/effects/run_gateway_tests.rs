//! The gateway of a run whose journal is empty or breaks.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fathom_core::budget::amounts::{Amounts, Budget};
use fathom_core::contract::{AgentRole, Autonomy, Contract, PermissionMode};
use fathom_core::effect::{EffectTarget, IdempotencyKey, PolicyDecision};
use fathom_core::id::{AskId, Digest, EpisodeId, Epoch};
use fathom_core::journal::event::{EpisodeOrigin, EpisodeSpec, ProgramSpec, Signal};
use fathom_core::model::{ModelRole, ModelSet, ModelSpec};
use fathom_core::unit::{Millis, Nanodollars, Timestamp};
use fathom_store::{
    AcceptOutcome, ApprovalFilter, ApprovalId, ApprovalRecord, ApprovalWord, ClaimOutcome,
    ClaimOwner, DecideOutcome, JournalCursor, KeyClaim, KeyOverride, KillOrder, KillRecord,
    LiftOutcome, MemoryJournal, NewRun, OverrideOutcome, PinOutcome, PostedSignal, RunInfo, RunLog,
    RunQuery, SignalId, StoreError, StoredRecord, ToolPin, UseOutcome,
};
use fathom_testkit::fake_platform::{FakePlatform, FaultRate, PlatformOptions, RequestKind};
use fathom_testkit::permit::permit;
use uuid::Uuid;

use super::*;
use crate::channels::ChannelOutlets;
use crate::domains::SymbolStoreLocation;
use crate::effects::send::given_up;
use crate::models::embedded::EmbeddedModels;
use crate::runtime::RuntimeOptions;

const CHARTER: &str = r#"
protocol = "1.0.0"
name = "poster"
version = "1.0.0"
description = "One who posts."
"#;

const POLICIES: &str = r#"
@id("post")
permit (principal, action == Action::"publish", resource);
"#;

/// A journal in memory whose table of kill switches can break.
#[derive(Default)]
struct BreakableJournal {
    memory: MemoryJournal,
    is_broken: Arc<AtomicBool>,
}

/// A clock that breaks a journal when it is read: the gateway reads it once after each attempt and nowhere else.
struct BreakingClock(Arc<AtomicBool>);

impl Clock for BreakingClock {
    fn now(&self) -> Timestamp {
        self.0.store(true, Ordering::SeqCst);
        Timestamp(1_000)
    }
}

/// A home with a platform and a charter whose one tool posts there.
struct Desk {
    folder: tempfile::TempDir,
    platform: FakePlatform,
    gates: GatewayCache,
    who: EffectCaller,
}

impl Desk {
    async fn new(options: PlatformOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let platform = FakePlatform::start(options).await.unwrap();
        let charter = charter(&folder.path().join("poster"), &platform);
        let home = HomeFolder::open(folder.path().join("home")).unwrap();
        let is_broken = Arc::new(AtomicBool::new(false));
        let journal: Arc<dyn Journal> = Arc::new(BreakableJournal {
            is_broken: Arc::clone(&is_broken),
            ..BreakableJournal::default()
        });
        let read_env =
            |name: &str| (name == "FATHOM_PLATFORM_TOKEN").then(|| "sandbox-token".to_owned());
        let options = RuntimeOptions::new(home.folder().to_owned(), read_env);
        let domains = DomainStores::new(
            home.clone(),
            Arc::clone(&journal),
            SymbolStoreLocation::default(),
            Arc::new(EmbeddedModels::new(home.folder().join("models"))),
            ChannelOutlets::new(&home, &journal, &options),
        );
        let gates = GatewayCache {
            home,
            journal,
            clock: Arc::new(BreakingClock(is_broken)),
            domains: Arc::new(domains),
            read_env,
            worker: None,
            kept: Mutex::default(),
        };
        let who = EffectCaller {
            run: RunId::new(Uuid::from_u128(7)),
            root: Arc::new(root(&charter)),
            episode: EpisodeId::root(),
            ask: AskId(0),
            role: AgentRole::Orchestrator,
            autonomy: Autonomy::Act,
            at: Timestamp(1_000),
        };
        Self {
            folder,
            platform,
            gates,
            who,
        }
    }
}

fn charter(folder: &Path, platform: &FakePlatform) -> Charter {
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
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    Charter::load(folder, &|_| 0).unwrap()
}

fn root(charter: &Charter) -> EpisodeSpec {
    let model = ModelSpec::named("test/model");
    EpisodeSpec {
        goal: Text::new("post"),
        role: AgentRole::Orchestrator,
        program: ProgramSpec {
            name: "direct".into(),
            params: Text::new("{}"),
        },
        contract: Contract {
            allowed_tools: vec!["post".to_owned()],
            permission_mode: PermissionMode::Act,
            autonomy: Autonomy::Act,
            ..Contract::default()
        },
        budget: Budget {
            amounts: Amounts {
                tokens: 1_000,
                calls: 1,
                tools: 10,
                money: Nanodollars(1_000),
                episodes: 1,
            },
            time: Millis(60_000),
        },
        depth: 0,
        model: ModelRole::Main,
        models: ModelSet::new(model.clone(), model),
        frame: charter.frame(),
        sources: Vec::new(),
        origin: EpisodeOrigin::Asked,
    }
}

fn post() -> EffectRequest {
    EffectRequest {
        tool: "post".into(),
        target: EffectTarget {
            tenant: String::new(),
            platform: "board".into(),
            account: "main".into(),
            action: "publish".into(),
        },
        event: "one".into(),
        arguments: Text::from("{}"),
        class: EffectClass::Effect,
        taint: Vec::new(),
    }
}

#[tokio::test]
async fn an_effect_is_decided_and_sent_before_any_record_is_on_disk() {
    let desk = Desk::new(PlatformOptions::default()).await;
    assert!(desk.gates.journal.run_ids().unwrap().is_empty());
    let decided = desk.gates.decide(&post(), &desk.who).await.decision;
    assert!(
        matches!(decided, PolicyDecision::Allow { .. }),
        "{decided:?}"
    );
    let permit = permit(&post()).unwrap();
    let outcome = desk.gates.attempt(permit, &desk.who).await.outcome;
    assert!(
        matches!(outcome, EffectOutcome::Confirmed { .. }),
        "{outcome:?}"
    );
    assert_eq!(desk.platform.posts().len(), 1);
}

#[tokio::test]
async fn nothing_is_sent_again_when_the_kill_switch_cannot_be_read() {
    let desk = Desk::new(PlatformOptions {
        limit: FaultRate::First(1),
        ..PlatformOptions::default()
    })
    .await;
    let permit = permit(&post()).unwrap();
    let outcome = desk.gates.attempt(permit, &desk.who).await.outcome;
    let EffectOutcome::Failed { detail } = outcome else {
        panic!("{outcome:?}");
    };
    assert!(
        detail.as_str().starts_with("kill switch: cannot be read: "),
        "{}",
        detail.as_str()
    );
    assert_eq!(desk.platform.requests(RequestKind::Publish), 1);
    assert_eq!(desk.platform.posts().len(), 0);
}

#[tokio::test]
async fn what_may_have_happened_stays_unknown_when_a_retry_is_given_up() {
    let desk = Desk::new(PlatformOptions {
        // It never answers, so that only the switch can end the question.
        latency: Duration::from_hours(1),
        ..PlatformOptions::default()
    })
    .await;
    desk.gates.clock.now();
    let settled = desk.gates.reconcile(&post(), &desk.who).await;
    assert!(
        matches!(settled.outcome, EffectOutcome::Unknown { .. }),
        "{:?}",
        settled.outcome
    );
    let failed = given_up(
        "kill switch: global",
        &EffectOutcome::Failed {
            detail: Text::default(),
        },
    );
    assert!(matches!(failed.outcome, EffectOutcome::Failed { .. }));
    let unknown = given_up(
        "kill switch: global",
        &EffectOutcome::Unknown {
            detail: Text::default(),
        },
    );
    assert!(matches!(unknown.outcome, EffectOutcome::Unknown { .. }));
}

#[tokio::test]
async fn nothing_is_allowed_when_the_flags_cannot_be_read() {
    let desk = Desk::new(PlatformOptions::default()).await;
    let home = desk.folder.path().join("home");
    std::fs::write(
        home.join("domains.db"),
        "this is no database, and long enough to say so",
    )
    .unwrap();
    let decided = desk.gates.decide(&post(), &desk.who).await.decision;
    let PolicyDecision::Deny { rule } = decided else {
        panic!("{decided:?}");
    };
    assert!(rule.starts_with("cannot read the flags: "), "{rule}");
}

/// Hands everything but the kill switches to the journal in memory.
macro_rules! through {
    ($($name:ident($($arg:ident: $type:ty),*) -> $ok:ty;)*) => {
        $(fn $name(&self, $($arg: $type),*) -> Result<$ok, StoreError> {
            Journal::$name(&self.memory, $($arg),*)
        })*
    };
}

impl Journal for BreakableJournal {
    fn kills(&self) -> Result<Vec<KillOrder>, StoreError> {
        if self.is_broken.load(Ordering::SeqCst) {
            return Err(StoreError::Closed);
        }
        self.memory.kills()
    }

    through! {
        create_run(run: &NewRun) -> Epoch;
        acquire(run: RunId) -> Epoch;
        open_log(run: RunId, epoch: Epoch) -> RunLog;
        page(run: RunId, after: JournalCursor, limit: usize) -> Vec<StoredRecord>;
        run_info(run: RunId) -> Option<RunInfo>;
        list_runs(query: &RunQuery) -> Vec<RunInfo>;
        run_ids() -> Vec<RunId>;
        blob(run: RunId, address: &Digest) -> Option<Vec<u8>>;
        blob_count() -> u64;
        post_signal(run: RunId, signal: &Signal) -> SignalId;
        signals(run: RunId, after: SignalId) -> Vec<PostedSignal>;
        drop_signals(run: RunId, upto: SignalId) -> ();
        set_kill(order: &KillOrder) -> ();
        lift_kill(order: &KillOrder) -> LiftOutcome;
        kill_record() -> Vec<KillRecord>;
        claim(claim: &KeyClaim) -> ClaimOutcome;
        would_claim(claim: &KeyClaim) -> ClaimOutcome;
        release(key: &IdempotencyKey, owner: &ClaimOwner) -> ();
        override_claim(order: &KeyOverride) -> OverrideOutcome;
        claim_of(key: &IdempotencyKey) -> Option<KeyClaim>;
        overrides_of(key: &IdempotencyKey) -> Vec<KeyOverride>;
        open_approval(approval: &ApprovalRecord) -> ();
        decide_approval(id: &ApprovalId, word: &ApprovalWord) -> DecideOutcome;
        approval_of(owner: &ClaimOwner) -> Option<ApprovalRecord>;
        use_approval(owner: &ClaimOwner, at: Timestamp) -> UseOutcome;
        withdraw_approvals(run: RunId, at: Timestamp) -> ();
        approvals(filter: ApprovalFilter) -> Vec<ApprovalRecord>;
        pin(seen: &ToolSighting) -> PinOutcome;
        accept_pin(seen: &ToolSighting, by: &str) -> AcceptOutcome;
        pins(charter: &str) -> Vec<ToolPin>;
    }
}
