//! Who may change an identity or a charter, with real keys.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use fathom_core::council_bus::{CouncilRole, MotionVote};
use fathom_core::unit::Timestamp;
use fathom_host::charter::Charter;
use fathom_host::clock::Clock;
use fathom_host::governance::identity::{
    IdentityChangePath as Way, IdentityStanding, SigningKeys, TrustConfig,
};
use fathom_host::governance::rfc::{CharterProposal, MergeAuthority, RfcStore, VersionBump};
use fathom_host::{HostError, Runtime, RuntimeOptions};
use fathom_store::{ApproverKey, InitiativeBudget, NewAct, StackSample};

const MANIFEST: &str = "protocol = \"1.0.0\"\nname = \"mine\"\n";
const IDENTITY: &str = "traits = [\"calm\"]\ncore_rules = [\"Never guess.\"]\n";
const OTHER: &str = "traits = [\"calm\"]\ncore_rules = [\"Never guess, and say so.\"]\n";
const HOUR: u64 = 3_600_000;
const STEP: u64 = 30_000;

/// A clock that a test moves.
struct Hand(Mutex<u64>);

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        Timestamp(*self.0.lock().expect("no panic"))
    }
}

struct World {
    dir: tempfile::TempDir,
    clock: Arc<Hand>,
    keys: BTreeMap<&'static str, ApproverKey>,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let names = ["creator", "prime", "lite", "codemind", "stranger"];
        let keys = names.map(|name| {
            let file = dir.path().join(format!("{name}.key"));
            (name, ApproverKey::create(&file).expect("a key"))
        });
        Self {
            clock: Arc::new(Hand(Mutex::new(1_700_000_000_000))),
            keys: keys.into(),
            dir,
        }
    }

    fn key(&self, name: &str) -> &ApproverKey {
        &self.keys[name]
    }

    fn trust(&self) -> TrustConfig {
        let role = |role: CouncilRole| (role, self.key(role.as_str()).public());
        TrustConfig {
            creator: Some(self.key("creator").public()),
            roles: CouncilRole::ALL.map(role).into(),
            required: false,
        }
    }

    fn host(&self) -> Runtime {
        self.host_trusting(self.trust())
    }

    fn host_trusting(&self, identity: TrustConfig) -> Runtime {
        Runtime::open(RuntimeOptions {
            clock: Arc::clone(&self.clock) as Arc<dyn Clock>,
            identity,
            ..RuntimeOptions::new(self.dir.path().join("home"), |_| None)
        })
        .expect("the home opens")
    }

    /// A folder with a charter of this version and these files.
    fn charter(&self, folder: &str, version: &str, files: &[(&str, &str)]) -> PathBuf {
        let folder = self.dir.path().join(folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        let manifest = format!("{MANIFEST}version = \"{version}\"\n");
        for (name, text) in [("charter.toml", manifest.as_str())].iter().chain(files) {
            std::fs::write(folder.join(name), text).expect("it can be written");
        }
        folder
    }

    fn sign(&self, host: &Runtime, folder: &Path, key: &str) -> Result<Way, HostError> {
        let signing = SigningKeys {
            creator: self.key(key),
            emergency: None,
        };
        host.sign_identity(folder, signing)
            .map(|signed| signed.path)
    }

    /// A stack that stands so for so long.
    fn live(&self, host: &Runtime, millis: u64, sample: StackSample) {
        let samples = (0..millis / STEP).map(|_| {
            *self.clock.0.lock().expect("no panic") += STEP;
            StackSample {
                at: self.clock.now(),
                ..sample
            }
        });
        let samples: Vec<StackSample> = samples.collect();
        let record = host.home().open_governance().expect("it opens");
        record.note(&samples).expect("noted");
    }

    fn speak(&self, host: &Runtime, rfc: &RfcStore, votes: [MotionVote; 2]) -> RfcStore {
        let mut rfc = rfc.clone();
        for role in ["prime", "lite"] {
            rfc = host
                .review(&rfc, self.key(role), "looked at it")
                .expect("reviewed");
        }
        for (role, ballot) in ["prime", "lite"].into_iter().zip(votes) {
            rfc = host.vote(&rfc, self.key(role), ballot, "").expect("voted");
        }
        rfc
    }
}

const WELL: StackSample = StackSample {
    at: Timestamp(0),
    score_milli: 950,
    prime: true,
    lite: true,
    initiative: InitiativeBudget::Active,
};

fn standing(host: &Runtime, folder: &Path) -> Result<IdentityStanding, HostError> {
    let charter = Charter::load(folder, &|_| 0)?;
    host.admit(&charter.frame())
}

#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, HostError>, code: &str, says: &str) {
    let error = result.expect_err("refused");
    assert_eq!(error.code(), code, "{error}");
    assert!(error.to_string().contains(says), "{error}");
    assert!(!error.hint().is_empty());
}

#[test]
fn g06_a_signed_identity_is_verified_and_a_changed_byte_refused() {
    let world = World::new();
    let host = world.host();
    let folder = world.charter("mine", "1.0.0", &[("identity.toml", IDENTITY)]);
    assert_eq!(
        standing(&host, &folder).unwrap(),
        IdentityStanding::Unsigned
    );
    assert_eq!(world.sign(&host, &folder, "creator").unwrap(), Way::Creator);
    let key = world.key("creator").public();
    assert_eq!(
        standing(&host, &folder).unwrap(),
        IdentityStanding::Verified { key }
    );
    let file = folder.join("identity.toml");
    let signed = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, signed.replace("guess.", "guess!")).unwrap();
    let broken = Charter::load(&folder, &|_| 0).unwrap_err();
    let fathom_host::charter::CharterError::Broken { problems, .. } = &broken else {
        panic!("{broken}");
    };
    assert_eq!(problems[0].code(), "F1050");
    assert_eq!(problems[0].place.as_ref().map(|place| place.line), Some(4));
    // Signing again is a change by the creator alone, and keeps what else stands in the file.
    assert_eq!(world.sign(&host, &folder, "creator").unwrap(), Way::Creator);
    assert_eq!(
        standing(&host, &folder).unwrap(),
        IdentityStanding::Verified { key }
    );
    // The first one is signed, too, and was replaced.
    std::fs::write(&file, &signed).unwrap();
    refused(standing(&host, &folder), "F1054", "replaced by a newer one");
    assert_eq!(world.sign(&host, &folder, "creator").unwrap(), Way::Creator);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), signed);
    assert_eq!(
        standing(&host, &folder).unwrap(),
        IdentityStanding::Verified { key }
    );
}

#[test]
fn g06_an_unsigned_or_otherwise_signed_change_is_refused_where_it_was_signed_before() {
    let world = World::new();
    let host = world.host();
    let folder = world.charter("mine", "1.0.0", &[("identity.toml", IDENTITY)]);
    world.sign(&host, &folder, "creator").unwrap();
    world.charter("mine", "1.0.0", &[("identity.toml", OTHER)]);
    refused(
        standing(&host, &folder),
        "F1053",
        "signed by the creator earlier",
    );
    refused(
        world.sign(&host, &folder, "stranger"),
        "F1051",
        "the creator is",
    );
    // Signed in a home that trusts the stranger, brought here.
    let elsewhere = Runtime::open(RuntimeOptions::new(
        world.dir.path().join("elsewhere"),
        |_| None,
    ))
    .unwrap();
    world.sign(&elsewhere, &folder, "stranger").unwrap();
    let key = world.key("stranger").public();
    assert_eq!(
        standing(&elsewhere, &folder).unwrap(),
        IdentityStanding::Verified { key }
    );
    refused(standing(&host, &folder), "F1051", "is signed by `key:");
    // Signed by the creator elsewhere, brought here: the key is the authority.
    let elsewhere = Runtime::open(RuntimeOptions::new(world.dir.path().join("third"), |_| {
        None
    }))
    .unwrap();
    world.sign(&elsewhere, &folder, "creator").unwrap();
    let key = world.key("creator").public();
    assert_eq!(
        standing(&host, &folder).unwrap(),
        IdentityStanding::Verified { key }
    );
    let view = host
        .identity_view(&Charter::load(&folder, &|_| 0).unwrap())
        .unwrap();
    let paths: Vec<Option<Way>> = view.changes.iter().map(|change| change.path).collect();
    assert_eq!(paths, [Some(Way::Creator), None]);
}

#[test]
fn g06_a_home_keeps_its_creator_and_configuration_may_demand_a_signature() {
    let world = World::new();
    let folder = world.charter("mine", "1.0.0", &[("identity.toml", IDENTITY)]);
    let unsaid = world.host_trusting(TrustConfig::default());
    world.sign(&unsaid, &folder, "creator").unwrap();
    let key = world.key("creator").public();
    assert_eq!(
        standing(&unsaid, &folder).unwrap(),
        IdentityStanding::Verified { key }
    );
    refused(
        world.sign(&unsaid, &folder, "stranger"),
        "F1051",
        "the creator is",
    );
    let other = world.host_trusting(TrustConfig {
        creator: Some(world.key("stranger").public()),
        ..TrustConfig::default()
    });
    refused(standing(&other, &folder), "F1055", "but this home has");
    let strict = world.host_trusting(TrustConfig {
        required: true,
        ..world.trust()
    });
    assert_eq!(
        standing(&strict, &folder).unwrap(),
        IdentityStanding::Verified { key }
    );
    let bare = strict.admit(&Charter::built_in("gaia").unwrap().frame());
    refused(bare, "F1052", "required = true");
    assert_eq!(
        unsaid
            .admit(&Charter::built_in("gaia").unwrap().frame())
            .unwrap(),
        IdentityStanding::Unsigned
    );
}

#[test]
fn g06_an_emergency_needs_creator_and_prime_and_is_recorded() {
    let world = World::new();
    let host = world.host();
    let folder = world.charter("mine", "1.0.0", &[("identity.toml", IDENTITY)]);
    world.sign(&host, &folder, "creator").unwrap();
    world.charter("mine", "1.0.0", &[("identity.toml", OTHER)]);
    let emergency = |prime: &str, reason: &'static str| {
        let signing = SigningKeys {
            creator: world.key("creator"),
            emergency: Some((world.key(prime), reason)),
        };
        host.sign_identity(&folder, signing)
    };
    refused(emergency("lite", "a leak"), "F1063", "not Prime's");
    refused(emergency("prime", " "), "F1063", "reason is empty");
    assert_eq!(emergency("prime", "a leak").unwrap().path, Way::Emergency);
    let view = host
        .identity_view(&Charter::load(&folder, &|_| 0).unwrap())
        .unwrap();
    let last = view.changes.last().unwrap();
    assert_eq!(last.path, Some(Way::Emergency));
    assert_eq!(last.reason.as_deref(), Some("a leak"));
    let lonely = world.host_trusting(TrustConfig::default());
    let signing = SigningKeys {
        creator: world.key("creator"),
        emergency: Some((world.key("prime"), "a leak")),
    };
    refused(
        lonely.sign_identity(&folder, signing),
        "F1063",
        "no key for Prime",
    );
}

#[test]
fn g06_a_governance_session_needs_a_stack_that_was_stable_for_24_hours() {
    let world = World::new();
    let host = world.host();
    let onto = world.charter("mine", "1.0.0", &[("identity.toml", IDENTITY)]);
    world.sign(&host, &onto, "creator").unwrap();
    let changed = world.charter("changed", "2.0.0", &[("identity.toml", OTHER)]);
    let stranger = host.propose_identity(&changed, &onto, world.key("stranger"), "clearer");
    refused(stranger, "F1051", "the creator is");
    refused(
        host.propose(&changed, &onto, "clearer"),
        "F1053",
        "this one is not",
    );
    let rfc = host
        .propose_identity(&changed, &onto, world.key("creator"), "clearer")
        .unwrap();
    let rfc = world.speak(&host, &rfc, [MotionVote::Yes, MotionVote::Yes]);
    let merge = || host.merge(&rfc, MergeAuthority::Voted);
    refused(merge(), "F1061", "rule `24-hours`");
    world.live(&host, 23 * HOUR + STEP, WELL);
    refused(merge(), "F1061", "only 23 h 0 min of 24 h 0 min observed");
    world.live(&host, 2 * HOUR, WELL);
    world.live(
        &host,
        4 * STEP,
        StackSample {
            lite: false,
            ..WELL
        },
    );
    refused(merge(), "F1061", "rule `online`: lite did not respond");
    world.live(&host, 25 * HOUR, WELL);
    let failed = StackSample {
        initiative: InitiativeBudget::Failed,
        ..WELL
    };
    world.live(&host, STEP, failed);
    refused(merge(), "F1061", "rule `loop`");
    world.live(&host, 25 * HOUR, WELL);
    // A stable stack has a say: the creator alone does not change the identity any more.
    refused(
        {
            let copy = world.charter("copy", "2.0.0", &[("identity.toml", OTHER)]);
            world.sign(&host, &copy, "creator")
        },
        "F1062",
        "requires a council vote",
    );
    let merged = merge().unwrap();
    assert_eq!(merged.merged.as_ref().unwrap().path, Some(Way::Session));
    let key = world.key("creator").public();
    assert_eq!(
        standing(&host, &onto).unwrap(),
        IdentityStanding::Verified { key }
    );
    let now = Charter::load(&onto, &|_| 0).unwrap();
    assert_eq!(now.identity.core_rules, ["Never guess, and say so."]);
    // What was proposed was signed in the record, not in the folder.
    assert!(
        !std::fs::read_to_string(changed.join("identity.toml"))
            .unwrap()
            .contains("signature")
    );
    let view = host.identity_view(&now).unwrap();
    assert_eq!(view.changes.last().unwrap().path, Some(Way::Session));
    refused(merge(), "F1080", "already merged");
}

#[test]
fn g12_a_charter_changes_by_proposal_review_vote_and_merge() {
    let world = World::new();
    let host = world.host();
    let onto = world.charter("mine", "1.0.0", &[("persona.toml", "tone = \"dry\"")]);
    std::fs::write(onto.join("README.md"), "for people").unwrap();
    let changed = world.charter("changed", "1.0.0", &[("persona.toml", "tone = \"warm\"")]);
    refused(
        host.propose(&changed, &onto, "warmer"),
        "F1073",
        "needs at least 1.0.1",
    );
    world.charter("changed", "1.0.1", &[]);
    let rfc = host.propose(&changed, &onto, "warmer").unwrap();
    assert_eq!(rfc.proposal.bump, VersionBump::Patch);
    assert_eq!(rfc.proposal.changes[0].key, "tone");
    refused(
        host.merge(&rfc, MergeAuthority::Voted),
        "F1077",
        "still needs a review by prime and lite",
    );
    refused(
        host.vote(&rfc, world.key("prime"), MotionVote::Yes, ""),
        "F1077",
        "still needs a review",
    );
    refused(
        host.review(&rfc, world.key("stranger"), "x"),
        "F1075",
        "does not belong to a role",
    );
    let rfc = host.review(&rfc, world.key("prime"), "fine").unwrap();
    refused(
        host.review(&rfc, world.key("prime"), "again"),
        "F1076",
        "already",
    );
    refused(
        host.merge(&rfc, MergeAuthority::Voted),
        "F1077",
        "still needs a review by lite",
    );
    let rfc = host.review(&rfc, world.key("lite"), "fine").unwrap();
    let rfc = host
        .vote(&rfc, world.key("lite"), MotionVote::Yes, "warm is good")
        .unwrap();
    refused(
        host.merge(&rfc, MergeAuthority::Voted),
        "F1078",
        "1 voted and 2 are needed",
    );
    refused(
        host.vote(&rfc, world.key("lite"), MotionVote::No, ""),
        "F1076",
        "that vote stands",
    );
    // One yes and one no: Prime breaks the tie.
    let rfc = host
        .vote(&rfc, world.key("prime"), MotionVote::No, "")
        .unwrap();
    refused(
        host.merge(&rfc, MergeAuthority::Voted),
        "F1078",
        "defeated by Prime's vote in a tie",
    );
    let rfc = host
        .vote(&rfc, world.key("codemind"), MotionVote::Yes, "")
        .unwrap();
    let merged = host.merge(&rfc, MergeAuthority::Voted).unwrap();
    let kept = merged.merged.as_ref().unwrap().kept.clone();
    let tone = |folder: &Path| Charter::load(folder, &|_| 0).unwrap().persona.tone;
    assert_eq!(
        (tone(&onto).as_str(), tone(&kept).as_str()),
        ("warm", "dry")
    );
    assert_eq!(
        std::fs::read_to_string(onto.join("README.md")).unwrap(),
        "for people"
    );
    refused(
        host.merge(&merged, MergeAuthority::Voted),
        "F1080",
        "already merged",
    );
    refused(
        host.vote(&merged, world.key("prime"), MotionVote::Yes, ""),
        "F1080",
        "already merged",
    );
    let found = host.find_rfc(&merged.id[..4]).unwrap();
    assert_eq!(found, merged);
    assert_eq!(host.rfcs().unwrap(), [merged]);
    refused(host.find_rfc("zz"), "F1070", "not found");
}

#[test]
fn g12_what_changed_meanwhile_is_not_merged_over() {
    let world = World::new();
    let host = world.host();
    let onto = world.charter("mine", "1.0.0", &[("persona.toml", "tone = \"dry\"")]);
    let changed = world.charter("changed", "1.0.1", &[("persona.toml", "tone = \"warm\"")]);
    let rfc = host.propose(&changed, &onto, "warmer").unwrap();
    let rfc = world.speak(&host, &rfc, [MotionVote::Yes, MotionVote::Yes]);
    world.charter("mine", "1.0.0", &[("persona.toml", "tone = \"curt\"")]);
    refused(
        host.merge(&rfc, MergeAuthority::Voted),
        "F1079",
        "has changed since",
    );
    let tone = Charter::load(&onto, &|_| 0).unwrap().persona.tone;
    assert_eq!(tone, "curt");
    // The folder that was proposed no longer matters.
    world.charter("mine", "1.0.0", &[("persona.toml", "tone = \"dry\"")]);
    std::fs::remove_dir_all(&changed).unwrap();
    host.merge(&rfc, MergeAuthority::Voted).unwrap();
    assert_eq!(Charter::load(&onto, &|_| 0).unwrap().persona.tone, "warm");
}

#[test]
fn g12_votes_count_only_while_their_key_is_the_roles() {
    let world = World::new();
    let host = world.host();
    let onto = world.charter("mine", "1.0.0", &[("persona.toml", "tone = \"dry\"")]);
    let changed = world.charter("changed", "1.0.1", &[("persona.toml", "tone = \"warm\"")]);
    let rfc = host.propose(&changed, &onto, "warmer").unwrap();
    world.speak(&host, &rfc, [MotionVote::Yes, MotionVote::Yes]);
    let mut trust = world.trust();
    trust
        .roles
        .insert(CouncilRole::Lite, world.key("stranger").public());
    let other = world.host_trusting(trust);
    let seen = other.find_rfc(&rfc.id).unwrap();
    assert_eq!(
        (seen.votes.len(), seen.reviews.len(), seen.ignored),
        (1, 1, 2)
    );
    refused(
        other.merge(&seen, MergeAuthority::Voted),
        "F1077",
        "still needs a review by lite",
    );
}

#[test]
fn g12_an_emergency_patch_takes_creator_and_prime_and_moves_one_patch() {
    let world = World::new();
    let host = world.host();
    let onto = world.charter("mine", "1.0.0", &[("persona.toml", "tone = \"dry\"")]);
    let merge = |rfc: &RfcStore, creator: &str, prime: &str, reason: &str| {
        let merge = MergeAuthority::Emergency {
            creator: world.key(creator),
            prime: world.key(prime),
            reason,
        };
        host.merge(rfc, merge)
    };
    let wide = world.charter(
        "wide",
        "1.1.0",
        &[(
            "charter.toml",
            &format!("{MANIFEST}version = \"1.1.0\"\n[budget]\ncalls = 3\n"),
        )],
    );
    let wide = host.propose(&wide, &onto, "fewer calls").unwrap();
    refused(
        merge(&wide, "creator", "prime", "now"),
        "F1081",
        "instead of 1.0.1",
    );
    let patch = world.charter("patch", "1.0.1", &[("persona.toml", "tone = \"calm\"")]);
    let patch = host.propose(&patch, &onto, "it hurts people").unwrap();
    refused(
        merge(&patch, "stranger", "prime", "now"),
        "F1051",
        "the creator is",
    );
    refused(
        merge(&patch, "creator", "lite", "now"),
        "F1063",
        "not Prime's",
    );
    refused(merge(&patch, "creator", "prime", ""), "F1081", "no reason");
    let merged = merge(&patch, "creator", "prime", "it hurts people").unwrap();
    let emergency = merged.merged.unwrap().emergency.unwrap();
    assert_eq!(emergency.reason, "it hurts people");
    assert_ne!(emergency.creator, emergency.prime);
    assert_eq!(
        Charter::load(&onto, &|_| 0).unwrap().version.to_string(),
        "1.0.1"
    );
}

#[test]
fn g06_an_emergency_may_change_the_identity_without_a_stable_stack() {
    let world = World::new();
    let host = world.host();
    let onto = world.charter("mine", "1.0.0", &[("identity.toml", IDENTITY)]);
    world.sign(&host, &onto, "creator").unwrap();
    let changed = world.charter("changed", "1.0.1", &[("identity.toml", OTHER)]);
    let rfc = host
        .propose_identity(&changed, &onto, world.key("creator"), "a hole")
        .unwrap();
    let merge = MergeAuthority::Emergency {
        creator: world.key("creator"),
        prime: world.key("prime"),
        reason: "a hole",
    };
    let merged = host.merge(&rfc, merge).unwrap();
    assert_eq!(merged.merged.unwrap().path, Some(Way::Emergency));
    let key = world.key("creator").public();
    assert_eq!(
        standing(&host, &onto).unwrap(),
        IdentityStanding::Verified { key }
    );
}

/// Puts a proposal on record that no command would make.
fn forge(host: &Runtime, proposal: &CharterProposal) -> String {
    let record = host.home().open_governance().expect("it opens");
    let id = proposal.id();
    record
        .add(NewAct {
            at: proposal.at,
            subject: &id,
            kind: "proposed",
            by: "os:eve",
            body: &serde_json::to_string(proposal).expect("JSON"),
        })
        .expect("it is added");
    id
}

#[test]
fn g06_what_was_signed_for_one_charter_is_not_signed_for_another() {
    let world = World::new();
    let host = world.host();
    let sandbox = world.charter("sandbox", "1.0.0", &[("identity.toml", IDENTITY)]);
    world.sign(&host, &sandbox, "creator").unwrap();
    let signed = std::fs::read_to_string(sandbox.join("identity.toml")).unwrap();
    let named = MANIFEST.replace("mine", "prod");
    let prod = world.charter(
        "prod",
        "1.0.0",
        &[
            ("charter.toml", &format!("{named}version = \"1.0.0\"\n")),
            ("identity.toml", &signed),
        ],
    );
    let refused = Charter::load(&prod, &|_| 0).unwrap_err();
    let fathom_host::charter::CharterError::Broken { problems, .. } = &refused else {
        panic!("{refused}");
    };
    assert_eq!(problems[0].code(), "F1050");
}

#[test]
fn g06_looking_at_an_identity_changes_nothing() {
    let world = World::new();
    let host = world.host();
    let folder = world.charter("mine", "1.0.0", &[("identity.toml", IDENTITY)]);
    world.sign(&host, &folder, "creator").unwrap();
    // The next version, signed elsewhere and not in use yet.
    let next = world.charter("next", "2.0.0", &[("identity.toml", OTHER)]);
    let elsewhere = Runtime::open(RuntimeOptions::new(
        world.dir.path().join("elsewhere"),
        |_| None,
    ))
    .unwrap();
    world.sign(&elsewhere, &next, "creator").unwrap();
    let view = host.identity_view(&Charter::load(&next, &|_| 0).unwrap());
    let key = world.key("creator").public();
    assert_eq!(view.unwrap().standing, IdentityStanding::Verified { key });
    assert_eq!(
        standing(&host, &folder).unwrap(),
        IdentityStanding::Verified { key },
        "the one in use still is"
    );
}

#[test]
fn g12_a_merge_leaves_alone_what_is_no_charters() {
    let world = World::new();
    let host = world.host();
    let onto = world.charter("mine", "1.0.0", &[("persona.toml", "tone = \"dry\"")]);
    std::fs::create_dir_all(onto.join("agents")).unwrap();
    let agent = "---\nname: ann\nrole: planner\ndescription: looks\n---\nLook.\n";
    std::fs::write(onto.join("agents/ann.md"), agent).unwrap();
    for (folder, file) in [
        (".git/refs", "head"),
        ("scripts", "run.sh"),
        ("agents", "x.txt"),
    ] {
        std::fs::create_dir_all(onto.join(folder)).unwrap();
        std::fs::write(onto.join(folder).join(file), "kept").unwrap();
    }
    std::fs::write(onto.join(".gitignore"), "kept").unwrap();
    std::os::unix::fs::symlink("scripts/run.sh", onto.join("run")).unwrap();
    let changed = world.charter("changed", "2.0.0", &[("persona.toml", "tone = \"warm\"")]);
    let rfc = host.propose(&changed, &onto, "warmer").unwrap();
    let rfc = world.speak(&host, &rfc, [MotionVote::Yes, MotionVote::Yes]);
    host.merge(&rfc, MergeAuthority::Voted).unwrap();
    assert_eq!(Charter::load(&onto, &|_| 0).unwrap().persona.tone, "warm");
    for file in [
        ".git/refs/head",
        "scripts/run.sh",
        "agents/x.txt",
        ".gitignore",
        "run",
    ] {
        let text = std::fs::read_to_string(onto.join(file));
        assert_eq!(text.expect(file), "kept");
    }
    let link = std::fs::read_link(onto.join("run")).unwrap();
    assert_eq!(link, Path::new("scripts/run.sh"));
    assert!(!onto.join("agents/ann.md").exists(), "the charter's own go");
}

#[test]
fn g12_what_does_not_load_is_not_put_in_place() {
    let world = World::new();
    let host = world.host();
    let onto = world.charter("mine", "1.0.0", &[("persona.toml", "tone = \"dry\"")]);
    let changed = world.charter("changed", "1.0.1", &[("persona.toml", "tone = \"warm\"")]);
    let mut proposal = host.propose(&changed, &onto, "warmer").unwrap().proposal;
    // As one that an earlier Fathom took and this one does not.
    let persona = "tone = 3".to_owned();
    proposal.files.insert("persona.toml".to_owned(), persona);
    let rfc = host.find_rfc(&forge(&host, &proposal)).unwrap();
    let rfc = world.speak(&host, &rfc, [MotionVote::Yes, MotionVote::Yes]);
    host.merge(&rfc, MergeAuthority::Voted).unwrap_err();
    assert_eq!(Charter::load(&onto, &|_| 0).unwrap().persona.tone, "dry");
}

#[test]
fn g12_a_proposal_shows_what_its_files_change_and_nothing_else() {
    let world = World::new();
    let host = world.host();
    let onto = world.charter("mine", "1.0.0", &[("identity.toml", IDENTITY)]);
    let changed = world.charter("changed", "1.0.1", &[("persona.toml", "tone = \"warm\"")]);
    std::fs::write(changed.join("identity.toml"), IDENTITY).unwrap();
    let honest = host.propose(&changed, &onto, "warmer").unwrap().proposal;
    let mut forged = honest.clone();
    forged
        .files
        .insert("identity.toml".to_owned(), OTHER.to_owned());
    refused(host.find_rfc(&forge(&host, &forged)), "F1083", "");
    // Where it goes and where it comes from is what is signed.
    let elsewhere = CharterProposal {
        folder: world.dir.path().join("elsewhere"),
        ..honest.clone()
    };
    let from = CharterProposal {
        from: honest.to,
        ..honest.clone()
    };
    for other in [elsewhere, from] {
        assert_ne!(other.digest(), honest.digest());
    }
}
