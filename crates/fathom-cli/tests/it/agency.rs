//! The agency through the binary: seven roles, a sandbox platform, people who decide, and the whole story afterwards.

use fathom_testkit::fake_platform::{FakePlatform, FaultRate, PlatformOptions};
use serde_json::{Value, json};

use crate::session::{Done, Session};

const GOAL: &str = "Announce the spring workshop";
const QUESTION: &str = "Can my daughter (13) come too?";

fn script() -> Vec<Value> {
    let line = |matches: &str, reply: Value| {
        let reply = reply
            .as_str()
            .map_or_else(|| reply.to_string(), str::to_owned);
        json!({ "match": matches, "reply": reply })
    };
    vec![
        line(
            "Sum up the brand",
            json!("A print club on Quay Street, founded 1987. Warm and plain."),
        ),
        line(
            "Sum up the knowledge",
            json!(
                "Linocut workshop on Saturday 24 April, 10:00 to 16:00, Quay Street 12. Children from 12 years with an adult."
            ),
        ),
        line(
            "Write the plan",
            json!({
                "title": "Spring workshop", "audience": "beginners", "angle": "A day of printing.",
                "call_to_action": "sign up",
            }),
        ),
        line(
            "Make one announcement",
            json!({ "title": "Linocut, Saturday 24 April", "text": "Print with us at Quay Street 12. Sign up at the desk." }),
        ),
        line(
            "PASS or FAIL",
            json!("PASS Every fact stands in the capsules."),
        ),
        line(
            "wrote:",
            json!({ "intent": "question", "risk": "low", "reply": "Yes: children from 12 years, with an adult." }),
        ),
        line(
            "journal entry",
            json!({ "title": "Workshop announced", "text": "Planned, written, approved, published, answered." }),
        ),
    ]
}

/// A session with a brand, and a platform for it.
struct Agency {
    session: Session,
    platform: FakePlatform,
}

impl Agency {
    async fn on(options: PlatformOptions) -> Self {
        let session = Session::scripted(&script());
        for (name, text) in [
            (
                "brand.toml",
                include_str!("../../../../examples/brand/brand.toml"),
            ),
            (
                "brand.md",
                include_str!("../../../../examples/brand/brand.md"),
            ),
            (
                "knowledge/workshop.md",
                include_str!("../../../../examples/brand/knowledge/workshop.md"),
            ),
        ] {
            session.write(&format!("brand/{name}"), text);
        }
        Self {
            session,
            platform: FakePlatform::start(options).await.expect("a platform"),
        }
    }

    async fn run(&self, arguments: &[&str]) -> Done {
        let mut command = self.session.command(arguments);
        command.env("FATHOM_PLATFORM_TOKEN", self.platform.token());
        let output = tokio::task::spawn_blocking(move || command.output());
        let output = output.await.expect("no panic").expect("the binary starts");
        Done::from(output)
    }

    async fn begin(&self, lane: &str) -> Done {
        let url = format!("url={}", self.platform.url());
        let model = "script/answers.jsonl";
        self.run(&[
            "agency", GOAL, "--brand", "brand", "--set", &url, "--lane", lane, "--model", model,
            "--json",
        ])
        .await
    }

    /// Says yes to the one thing that is asked.
    async fn approve(&self) -> Done {
        let asked = self.run(&["approvals", "--json"]).await.json();
        let open = asked["approvals"].as_array().expect("a list");
        assert_eq!(open.len(), 1, "{asked}");
        let id = open[0]["id"].as_str().expect("an id").to_owned();
        self.run(&["approve", &id, "--json"]).await
    }
}

fn visited(lane: &str) -> PlatformOptions {
    PlatformOptions {
        visitor: Some(QUESTION.to_owned()),
        // Steps on pages expect to see at once what they did; an API may show it late.
        visible_after: if lane == "api" { 2 } else { 0 },
        ..PlatformOptions::default()
    }
}

/// The effects of a result, as tool and state.
fn effects(result: &Value) -> Vec<(String, String)> {
    let all = result["effects"].as_array().expect("effects");
    let effects = all.iter().filter(|effect| effect["class"] == "effect");
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    effects
        .map(|effect| (word(&effect["tool"]), word(&effect["state"])))
        .collect()
}

async fn whole_story(lane: &str, publish: &str, reply: &str) {
    let agency = Agency::on(visited(lane)).await;
    let waits = agency.begin(lane).await;
    assert_eq!(waits.exit, Some(3), "{}", waits.stderr);
    assert_eq!(
        agency.platform.posts().len(),
        0,
        "nothing goes out without a yes"
    );

    // The publisher asks; its answer is led by nobody from outside.
    let waits = agency.approve().await;
    assert_eq!(waits.exit, Some(3), "{}", waits.stderr);
    assert_eq!(agency.platform.posts().len(), 1);
    assert_eq!(agency.platform.replies().len(), 0);

    // Engagement asks because of what the visitor wrote.
    let asked = agency.run(&["approvals", "--json"]).await.json();
    assert!(
        asked.to_string().contains("events"),
        "the taint is told: {asked}"
    );
    let done = agency.approve().await;
    assert_eq!(done.exit, Some(0), "{}\n{}", done.stdout, done.stderr);
    assert_eq!(agency.platform.posts().len(), 1);
    assert_eq!(agency.platform.replies().len(), 1);
    assert_eq!(
        agency.platform.replies()[0].text,
        "Yes: children from 12 years, with an adult."
    );

    let shown = agency
        .run(&["show", &agency.session.newest(), "--json"])
        .await
        .json();
    let confirmed = |tool: &str| (tool.to_owned(), "confirmed".to_owned());
    assert_eq!(effects(&shown), [confirmed(publish), confirmed(reply)]);
    let roles: Vec<&str> = [
        "retrieve", "plan", "create", "critique", "publish", "verify", "engage", "document",
    ]
    .to_vec();
    let told = agency.run(&["show", &agency.session.newest()]).await.stdout;
    for role in roles {
        assert!(told.contains(role), "{role} is missing from\n{told}");
    }
    for word in [
        "publish-with-approval",
        "approved by ",
        "dry run: would succeed",
        "attempted → confirmed",
    ] {
        assert!(told.contains(word), "{word} is missing from\n{told}");
    }
    // What was written down on the way, each in its domain and by its owner.
    for (domain, role) in [
        ("plan", "planner"),
        ("assets", "creator"),
        ("events", "visitor"),
        ("journal", "doc"),
    ] {
        let written = agency.run(&["show", "--domain", domain, "--json"]).await;
        let written = written.json();
        let records = written["records"].as_array().expect("records");
        assert!(!records.is_empty(), "nothing in {domain}");
        assert!(
            records
                .iter()
                .all(|record| record.to_string().contains(role)),
            "{domain} was not written by {role}: {written:#}"
        );
        let id = records[0]["id"].as_str().expect("an id");
        let one = ["show", "--domain", domain, "--record", id];
        agency.run(&one).await.exits(0).prints(id);
    }
    let unknown = agency.run(&["show", "--domain", "secrets"]).await;
    unknown
        .fails(2, "F0103")
        .says("expected one of plan, assets");
    if lane == "browser" {
        assert!(told.contains("image/png"), "there is evidence:\n{told}");
    }
}

/// Each role weighs something else before it says what it says; the judge of the asset fails it once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h04_roles_that_think_aloud_are_read_like_those_that_do_not() {
    let thoughts = "<think>\nPASS? FAIL? {\"title\": \"No\", \"text\": \"No\", \"risk\": \"high\"}\n</think>\n\n";
    let thinking = |mut line: Value| {
        let reply = line["reply"].as_str().unwrap_or_default();
        line["reply"] = json!(format!("{thoughts}{reply}"));
        line["times"] = json!(2);
        line
    };
    let fails = json!({ "match": "PASS or FAIL", "reply": format!("{thoughts}FAIL It is dull.") });
    let mut lines = vec![fails];
    lines.extend(script().into_iter().map(thinking));
    let agency = Agency::on(visited("api")).await;
    agency.session.script("answers.jsonl", &lines);

    let waits = agency.begin("api").await;
    assert_eq!(waits.exit, Some(3), "{}", waits.stderr);
    let waits = agency.approve().await;
    assert_eq!(waits.exit, Some(3), "{}", waits.stderr);
    let done = agency.approve().await;
    assert_eq!(done.exit, Some(0), "{}\n{}", done.stdout, done.stderr);
    let post = &agency.platform.posts()[0];
    assert_eq!(post.title, "Linocut, Saturday 24 April");
    assert!(!post.text.contains("think"), "{}", post.text);
    let reply = &agency.platform.replies()[0];
    assert_eq!(reply.text, "Yes: children from 12 years, with an adult.");
    let told = agency.run(&["show", &agency.session.newest()]).await.stdout;
    for verdict in ["FAIL It is dull.", "PASS Every fact"] {
        assert!(told.contains(verdict), "{verdict} is missing from\n{told}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e09_seven_roles_publish_and_answer_through_the_api() {
    whole_story("api", "publish", "reply").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e15_seven_roles_publish_and_answer_through_a_browser() {
    whole_story("browser", "publish_in_browser", "reply_in_browser").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e14_the_same_occasion_is_published_once() {
    let agency = Agency::on(PlatformOptions::default()).await;
    agency.begin("api").await;
    let done = agency.approve().await;
    assert_eq!(done.exit, Some(0), "{}", done.stderr);
    let again = agency.begin("api").await;
    assert_eq!(again.exit, Some(3), "{}", again.stderr);
    agency.approve().await;
    assert_eq!(agency.platform.posts().len(), 1, "sent twice");
    let shown = agency.run(&["show", &agency.session.newest()]).await.stdout;
    assert!(
        shown.contains("idempotency key"),
        "the reason is told:\n{shown}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e12_a_verified_capsule_is_used_again_until_its_source_changes() {
    let agency = Agency::on(PlatformOptions::default()).await;
    let retrievals = |done: &Done| done.stderr.matches("started retrieve").count();
    assert_eq!(retrievals(&agency.begin("api").await), 2);
    assert_eq!(
        retrievals(&agency.begin("api").await),
        0,
        "both capsules are still good"
    );
    agency
        .session
        .write("brand/brand.md", "Another brand, founded 1999.");
    assert_eq!(
        retrievals(&agency.begin("api").await),
        1,
        "one source changed"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e13_a_lost_answer_is_reconciled_and_never_sent_again() {
    let agency = Agency::on(PlatformOptions {
        lose: FaultRate::Always,
        ..PlatformOptions::default()
    })
    .await;
    agency.begin("api").await;
    let done = agency.approve().await;
    assert_eq!(done.exit, Some(0), "{}", done.stderr);
    assert_eq!(agency.platform.posts().len(), 1);
    let shown = agency.run(&["show", &agency.session.newest()]).await.stdout;
    assert!(shown.contains("unknown → postcheck → confirmed"), "{shown}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e16_nothing_goes_out_under_the_kill_switch_and_only_a_person_lifts_it() {
    let agency = Agency::on(PlatformOptions::default()).await;
    agency.begin("api").await;
    agency
        .run(&["kill", "--scope", "platform:sandbox", "--why", "a drill"])
        .await;
    agency.approve().await;
    assert_eq!(agency.platform.posts().len(), 0);
    let again = agency.begin("api").await;
    assert!(again.stdout.contains("kill switch"), "{}", again.stdout);
    agency
        .run(&["kill", "--scope", "platform:sandbox", "--lift"])
        .await;
    let freed = agency.begin("api").await;
    assert_eq!(freed.exit, Some(3), "{}", freed.stderr);
}
