//! People and runs: what is asked, who may answer, and what follows from it.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fathom_core::effect::undo::Reversibility;
use fathom_core::effect::{
    ApprovalTerms, DecisionGrounds, DryRun, EffectPermit, EffectRequest, KillScope, PolicyDecision,
};
use fathom_core::episode::result::{EpisodeResult, EpisodeStatus};
use fathom_core::id::{AskId, Digest, EpisodeId, RunId};
use fathom_core::journal::event::Signal;
use fathom_core::run::step::RunWait;
use fathom_core::text::Text;
use fathom_core::unit::Timestamp;
use fathom_host::clock::Clock;
use fathom_host::effects::port::{
    EffectCaller, EffectDecision, EffectPort, EffectSettlement, PortFuture,
};
use fathom_host::governance::people::{
    ApprovalDecision, Approver, ApproverRoster, OsUser, PeopleError,
};
use fathom_host::{HostError, RunEnd, Runtime, RuntimeOptions};
use fathom_store::{
    ApprovalAnswer, ApprovalFilter, ApprovalRecord, ApprovalState, ApproverKey, LiftOutcome,
    SignedWord,
};
use fathom_testkit::drill::DrillPrograms;
use fathom_testkit::model_server::ModelServer;

use crate::effects::acting;
use crate::fixture::{Platform, check, effect, finished};

const BINDING: Digest = Digest([7; 32]);
const NOW: u64 = 1_000_000;
const EXPIRES: u64 = 2_000_000;

/// A clock that stands until it is moved.
struct Standing(AtomicU64);

impl Clock for Standing {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }
}

/// A gateway that asks a person on these terms, before a platform that remembers.
struct Asking {
    platform: Platform,
    terms: ApprovalTerms,
}

impl EffectPort for Asking {
    fn decide<'a>(
        &'a self,
        _: &'a EffectRequest,
        _: &'a EffectCaller,
    ) -> PortFuture<'a, EffectDecision> {
        let decided = EffectDecision {
            decision: PolicyDecision::NeedsApproval {
                rule: "ask before publishing".into(),
                terms: Box::new(self.terms.clone()),
            },
            grounds: Some(Box::new(DecisionGrounds {
                bundle: Digest([1; 32]),
                dry_run: Some(DryRun {
                    ok: true,
                    report: Text::from("it would be the third post"),
                }),
                undo: Some(Reversibility::Nobody),
            })),
        };
        Box::pin(async { decided })
    }

    fn attempt<'a>(
        &'a self,
        permit: EffectPermit,
        asker: &'a EffectCaller,
    ) -> PortFuture<'a, EffectSettlement> {
        self.platform.attempt(permit, asker)
    }

    fn reconcile<'a>(
        &'a self,
        effect: &'a EffectRequest,
        asker: &'a EffectCaller,
    ) -> PortFuture<'a, EffectSettlement> {
        self.platform.reconcile(effect, asker)
    }
}

/// A home with one gateway, opened as often as one likes.
struct Place {
    dir: tempfile::TempDir,
    server: ModelServer,
    clock: Arc<Standing>,
    port: Arc<Asking>,
    people: Option<ApproverRoster>,
}

impl Place {
    async fn asking(change: impl FnOnce(&mut ApprovalTerms)) -> Self {
        let mut terms = ApprovalTerms {
            expires: Timestamp(EXPIRES),
            ..ApprovalTerms::open(BINDING)
        };
        change(&mut terms);
        Self {
            dir: tempfile::tempdir().expect("a folder"),
            server: ModelServer::replying("unused").await.expect("a port"),
            clock: Arc::new(Standing(AtomicU64::new(NOW))),
            port: Arc::new(Asking {
                platform: Platform::default(),
                terms,
            }),
            people: None,
        }
    }

    fn with_people(mut self, role: &str, people: &[&str]) -> Self {
        let people = people.iter().map(|name| (*name).to_owned()).collect();
        let roster = ApproverRoster::new([(role.to_owned(), people)]);
        self.people = Some(roster.expect("people"));
        self
    }

    /// A host of its own, as another process has it.
    fn host(&self) -> Runtime {
        Runtime::open(RuntimeOptions {
            programs: Arc::new(DrillPrograms),
            effects: Some(Arc::clone(&self.port) as Arc<dyn EffectPort>),
            clock: Arc::clone(&self.clock) as Arc<dyn Clock>,
            people: self.people.clone(),
            ..RuntimeOptions::new(self.dir.path().to_owned(), |_| None)
        })
        .expect("the home opens")
    }

    /// Begins a run that comes to wait for a person.
    async fn waiting(&self, event: &str) -> (RunId, ApprovalRecord) {
        let host = self.host();
        let handle = host
            .start(acting(&self.server, &[event]))
            .expect("it starts");
        let run = handle.run();
        let end = handle.end().await;
        assert!(matches!(end, RunEnd::Waiting(RunWait::Approval)), "{end:?}");
        let open = host.approvals(ApprovalFilter::Open).expect("a list");
        let own = open.into_iter().find(|view| view.approval.owner.run == run);
        (run, own.expect("it is asked").approval)
    }

    async fn goes_on(&self, run: RunId) -> EpisodeResult {
        let host = self.host();
        let result = finished(host.resume(run).expect("it resumes")).await;
        check(&host, run);
        result
    }

    fn sent(&self) -> usize {
        self.port.platform.done().len()
    }

    fn state(&self, approval: &ApprovalRecord) -> ApprovalState {
        let host = self.host();
        host.find_approval(approval.id.as_str())
            .expect("it is there")
            .state
    }
}

fn says(answer: ApprovalAnswer, person: Approver) -> ApprovalDecision {
    ApprovalDecision {
        answer,
        person,
        why: "for a test".to_owned(),
    }
}

fn me() -> Approver {
    Approver::OsUser(OsUser::current())
}

fn bob() -> OsUser {
    OsUser {
        uid: OsUser::current().uid + 1,
        name: Some("bob".to_owned()),
    }
}

#[track_caller]
fn refused(result: Result<ApprovalRecord, HostError>) -> PeopleError {
    match result {
        Err(HostError::People(error)) => error,
        other => panic!("it came back as {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e17_a_yes_after_a_restart_sends_once() {
    let place = Place::asking(|_| {}).await;
    let (run, asked) = place.waiting("a").await;
    let view = place
        .host()
        .approvals(ApprovalFilter::Open)
        .expect("a list")
        .remove(0);
    assert_eq!(view.goal.as_deref(), Some("find out"));
    assert_eq!(view.started_by, Some(OsUser::current().to_string()));
    let shown = view.asked.expect("the record says what");
    assert_eq!(shown.request, effect("a"));
    assert_eq!(shown.rule, "ask before publishing");
    let dry_run = shown.dry_run.expect("there was one");
    assert_eq!(dry_run.report.as_str(), "it would be the third post");

    let decided = place
        .host()
        .decide(&asked, &says(ApprovalAnswer::Yes, me()))
        .expect("it counts");
    assert_eq!(decided.state.name(), "granted");
    assert_eq!(place.sent(), 0, "a word alone sends nothing");
    let again = place
        .host()
        .decide(&asked, &says(ApprovalAnswer::Yes, me()));
    assert_eq!(refused(again).code(), "F0992");

    assert_eq!(place.goes_on(run).await.status, EpisodeStatus::Ok);
    assert_eq!(place.sent(), 1);
    let ApprovalState::Used { word, .. } = place.state(&asked) else {
        panic!("it was not used up")
    };
    assert_eq!(word.by, OsUser::current().to_string());
    assert_eq!((word.why.as_str(), word.at), ("for a test", Timestamp(NOW)));
    let third = place
        .host()
        .decide(&asked, &says(ApprovalAnswer::Yes, me()));
    assert_eq!(refused(third).code(), "F0992");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e17_a_no_sends_nothing_and_the_run_goes_on() {
    let place = Place::asking(|_| {}).await;
    let (run, asked) = place.waiting("a").await;
    place
        .host()
        .decide(&asked, &says(ApprovalAnswer::No, me()))
        .expect("it counts");
    place.goes_on(run).await;
    assert_eq!(place.sent(), 0);
    assert_eq!(place.state(&asked).name(), "denied");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e17_a_word_that_comes_too_late_is_none() {
    let place = Place::asking(|_| {}).await;
    let (run, asked) = place.waiting("a").await;
    place.clock.0.store(EXPIRES, Ordering::SeqCst);
    let late = place
        .host()
        .decide(&asked, &says(ApprovalAnswer::Yes, me()));
    assert_eq!(refused(late).code(), "F0993");
    assert_eq!(place.state(&asked), ApprovalState::Expired);
    place.goes_on(run).await;
    assert_eq!(place.sent(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e17_an_old_yes_is_of_no_use_to_another_run() {
    let place = Place::asking(|_| {}).await;
    let (first, asked) = place.waiting("a").await;
    place
        .host()
        .decide(&asked, &says(ApprovalAnswer::Yes, me()))
        .expect("it counts");
    place.goes_on(first).await;
    let (second, other) = place.waiting("b").await;
    assert_ne!(asked.id, other.id, "the same binding in another run");
    // A signal that no person's word stands behind, as someone with a hand on the journal might leave it.
    let forged = Signal::Decide {
        episode: EpisodeId::root(),
        ask: AskId(0),
        allow: true,
        by: OsUser::current().to_string(),
        binding: BINDING,
    };
    place
        .host()
        .signal(second, &forged)
        .expect("it can be left");
    place.goes_on(second).await;
    assert_eq!(place.sent(), 1, "only what a person allowed");
    let records = place.host().records(second).expect("records");
    let told = records.iter().any(|(_, record)| {
        let text = format!("{:?}", record.event.kind);
        text.contains("the approval is open")
    });
    assert!(told, "the refusal is on record");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e17_only_a_role_that_the_rule_names_may_decide() {
    let needs_operator = |terms: &mut ApprovalTerms| terms.roles = vec!["operator".to_owned()];
    let place = Place::asking(needs_operator)
        .await
        .with_people("operator", &["os:bob"]);
    let (_, asked) = place.waiting("a").await;
    let error = refused(
        place
            .host()
            .decide(&asked, &says(ApprovalAnswer::Yes, me())),
    );
    assert_eq!(error.code(), "F0995");
    assert!(error.to_string().contains("the role operator"), "{error}");
    assert_eq!(place.state(&asked), ApprovalState::Open);
    let bob = says(ApprovalAnswer::Yes, Approver::OsUser(bob()));
    place
        .host()
        .decide(&asked, &bob)
        .expect("bob is an operator");

    let place = Place::asking(needs_operator)
        .await
        .with_people("auditor", &["os:bob"]);
    let (_, asked) = place.waiting("a").await;
    assert_eq!(refused(place.host().decide(&asked, &bob)).code(), "F0995");

    // Without a roster the owner of the home has every role, and nobody else has any.
    let place = Place::asking(needs_operator).await;
    let (_, asked) = place.waiting("a").await;
    assert_eq!(refused(place.host().decide(&asked, &bob)).code(), "F0995");
    place
        .host()
        .decide(&asked, &says(ApprovalAnswer::Yes, me()))
        .expect("it is my home");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e17_a_second_person_is_someone_else_than_the_starter() {
    let mine = OsUser::current().to_string();
    let place = Place::asking(|terms| terms.second_person = true).await;
    let place = place.with_people("operator", &[&mine, "os:bob"]);
    let (run, asked) = place.waiting("a").await;
    let error = refused(
        place
            .host()
            .decide(&asked, &says(ApprovalAnswer::Yes, me())),
    );
    assert_eq!(error.code(), "F0997");
    assert!(
        error.to_string().contains("rule `ask before publishing`"),
        "{error}"
    );
    let bob = says(ApprovalAnswer::Yes, Approver::OsUser(bob()));
    place
        .host()
        .decide(&asked, &bob)
        .expect("bob is someone else");
    place.goes_on(run).await;
    assert_eq!(place.sent(), 1);

    let (_, asked) = place.waiting("b").await;
    let no = says(ApprovalAnswer::No, me());
    place
        .host()
        .decide(&asked, &no)
        .expect("a no needs nobody else");
}

fn key(folder: &Path, byte: u8) -> ApproverKey {
    let path = folder.join(format!("{byte}.key"));
    std::fs::write(&path, [byte; 32]).expect("it can be written");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("it is mine");
    ApproverKey::read(&path).expect("a key")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e17_a_key_decides_by_its_signature() {
    let keys = tempfile::tempdir().expect("a folder");
    let (ada, eve) = (key(keys.path(), 1), key(keys.path(), 2));
    let place = Place::asking(|_| {}).await;
    let (run, asked) = place.waiting("a").await;
    let sign = |key: &ApproverKey, answer| key.sign(&asked.id, &BINDING, answer);
    let name = format!(
        "key:{}",
        sign(&ada, ApprovalAnswer::Yes)
            .fingerprint()
            .expect("a key")
    );
    let place = place.with_people("operator", &[&name]);
    let decide = |answer, signed: SignedWord| {
        place
            .host()
            .decide(&asked, &says(answer, Approver::Key(signed)))
    };
    assert_eq!(
        refused(decide(ApprovalAnswer::Yes, sign(&eve, ApprovalAnswer::Yes))).code(),
        "F0995"
    );
    assert_eq!(
        refused(decide(ApprovalAnswer::Yes, sign(&ada, ApprovalAnswer::No))).code(),
        "F0996"
    );
    let forged = SignedWord {
        key: sign(&ada, ApprovalAnswer::Yes).key,
        ..sign(&eve, ApprovalAnswer::Yes)
    };
    assert_eq!(refused(decide(ApprovalAnswer::Yes, forged)).code(), "F0996");
    let elsewhere = ada.sign(&asked.id, &Digest([8; 32]), ApprovalAnswer::Yes);
    assert_eq!(
        refused(decide(ApprovalAnswer::Yes, elsewhere)).code(),
        "F0996"
    );
    let decided = decide(ApprovalAnswer::Yes, sign(&ada, ApprovalAnswer::Yes)).expect("it counts");
    let word = decided.state.word().expect("a word");
    assert_eq!(word.by, name);
    let kept = word.signature.as_ref().expect("the signature is kept");
    assert!(kept.says(&asked.id, &BINDING, ApprovalAnswer::Yes));
    place.goes_on(run).await;
    assert_eq!(place.sent(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e17_a_run_that_is_over_asks_nothing_more() {
    let place = Place::asking(|_| {}).await;
    let (run, asked) = place.waiting("a").await;
    let host = place.host();
    let handle = host.cancel(run).expect("it can be").expect("nobody has it");
    finished(handle).await;
    let error = refused(host.decide(&asked, &says(ApprovalAnswer::Yes, me())));
    assert_eq!(error.code(), "F0992");
    assert!(error.to_string().contains("withdrawn"), "{error}");
    assert!(
        host.approvals(ApprovalFilter::Open)
            .expect("a list")
            .is_empty()
    );
    let all = host.approvals(ApprovalFilter::All).expect("a list");
    assert_eq!(all[0].approval.state.name(), "withdrawn");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e17_nobody_says_yes_to_what_cannot_be_read() {
    let place = Place::asking(|_| {}).await;
    let (run, asked) = place.waiting("a").await;
    let host = place.host();
    host.shred(run).expect("it can be");
    let error = refused(host.decide(&asked, &says(ApprovalAnswer::Yes, me())));
    assert_eq!(error.code(), "F0998");
    assert_eq!(place.state(&asked), ApprovalState::Open);
    host.decide(&asked, &says(ApprovalAnswer::No, me()))
        .expect("a no can be said");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e16_a_yes_does_not_pass_the_kill_switch_and_only_a_person_lifts_it() {
    let place = Place::asking(|_| {}).await;
    let (run, asked) = place.waiting("a").await;
    let scope = KillScope::Platform("board".to_owned());
    let host = place.host();
    host.kill(scope.clone(), &bob(), "too many complaints")
        .expect("anyone may");
    host.decide(&asked, &says(ApprovalAnswer::Yes, me()))
        .expect("it counts");
    drop(host);
    place.goes_on(run).await;
    assert_eq!(place.sent(), 0, "it holds over a restart");

    let host = place.host();
    let by_bob = host
        .lift(scope.clone(), &bob(), "")
        .expect_err("not his home");
    assert_eq!(by_bob.code(), "F0995");
    assert_eq!(host.kills().expect("a list")[0].why, "too many complaints");
    let lifted = host
        .lift(scope, &OsUser::current(), "calm again")
        .expect("I may");
    assert_eq!(lifted, LiftOutcome::Now);
    drop(host);
    let record = place.host().kill_record().expect("a list").remove(0);
    assert_eq!(record.thrown.by, "os:bob");
    let lifted = record.lifted.expect("it was lifted");
    assert_eq!(lifted.by, OsUser::current().to_string());
    assert_eq!(lifted.why, "calm again");

    let (run, asked) = place.waiting("b").await;
    place
        .host()
        .decide(&asked, &says(ApprovalAnswer::Yes, me()))
        .expect("it counts");
    place.goes_on(run).await;
    assert_eq!(place.sent(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e14_an_override_allows_one_more_send() {
    let place = Place::asking(|_| {}).await;
    let key = effect("a").key();
    let sends = async || {
        let (run, asked) = place.waiting("a").await;
        place
            .host()
            .decide(&asked, &says(ApprovalAnswer::Yes, me()))
            .expect("it counts");
        place.goes_on(run).await;
        place.sent()
    };
    let nothing = place.host().override_send(&key, &OsUser::current(), "lost");
    assert_eq!(nothing.expect_err("nothing was sent").code(), "F0999");
    assert_eq!(sends().await, 1);
    assert_eq!(sends().await, 1, "the key was used");
    let by_bob = place.host().override_send(&key, &bob(), "lost");
    assert_eq!(by_bob.expect_err("not his home").code(), "F0995");
    place
        .host()
        .override_send(&key, &OsUser::current(), "lost")
        .expect("I may");
    assert_eq!(sends().await, 2);
    assert_eq!(sends().await, 2, "one override, one send");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e17_what_nobody_knows_becomes_a_ticket() {
    let mut place = Place::asking(|_| {}).await;
    assert_eq!(place.host().tickets().expect("a list"), []);
    place.port = Arc::new(Asking {
        platform: Platform::knowing_nothing(),
        terms: place.port.terms.clone(),
    });
    let (run, asked) = place.waiting("a").await;
    place
        .host()
        .decide(&asked, &says(ApprovalAnswer::Yes, me()))
        .expect("it counts");
    place.goes_on(run).await;
    let tickets = place.host().tickets().expect("a list");
    assert_eq!(tickets.len(), 1, "{tickets:?}");
    assert_eq!(tickets[0].run, run);
    assert_eq!(tickets[0].goal.as_deref(), Some("find out"));
    let asked = tickets[0].ticket.asked.as_str();
    assert!(asked.contains("find out whether it happened"), "{asked}");
    assert_eq!(tickets[0].ticket.known.as_str(), "nobody can say");
}
