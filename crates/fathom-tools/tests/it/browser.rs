//! The browser lane in a real Chromium, on the sandbox platform.

use std::sync::{Arc, LazyLock};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fathom_core::effect::{
    EffectClass, EffectOutcome, EffectPermit, EffectRequest, EffectTarget, Evidence,
};
use fathom_core::id::Digest;
use fathom_core::model::tool_call::{ToolSpec, canonical};
use fathom_testkit::fake_platform::{FakePlatform, PlatformOptions, RequestKind};
use fathom_testkit::permit::permit;
use fathom_tools::browser::{Browser, BrowserDeclaration, BrowserDriver, BrowserInstall};
use fathom_tools::{NoSecrets, PlatformKey, PlatformSecrets, RetryHint, Tool, ToolFacts};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// Every way of writing that a page, a shell or a driver could take for more than text.
const HOSTILE: &str = "<script>document.title='owned'</script> \"double\" 'single' `back` \\ {key} {text}\n\
    second line\tafter a tab\n\
    </textarea><img src=x onerror=alert(1)>\n\
    keys: \u{e007}\u{e009}a\u{e017} emoji: \u{1f9ea} quote: '; DROP TABLE posts; --";

const STEPS: &str = r##"
steps = [
    { fill = { selector = "#account", value = "brand" } },
    { fill = { selector = "#password", secret = "PLATFORM_PASSWORD" } },
    { click = "#login" },
    { open = "/compose" },
    { fill = { selector = "#title", value = "{title}" } },
    { fill = { selector = "#text", value = "{text}" } },
    { fill = { selector = "#key", value = "{key}" } },
    { click = "#preview" },
    { expect = { selector = "#draft", text = "{text}" } },
    { click = "#publish", effect = true },
    { expect = { selector = "article[data-key='{key}'] h2", text = "{title}" } },
]

[check]
conclusive = true
steps = [
    { open = "/posts?key={key}" },
    { expect = { selector = "#posts" } },
    { expect = { selector = "article[data-key='{key}']" } },
]
"##;

struct OneSecret(String);

impl PlatformSecrets for OneSecret {
    fn secret(&self, name: &str) -> Option<PlatformKey> {
        (name == "PLATFORM_PASSWORD").then(|| PlatformKey::new(self.0.clone()))
    }
}

fn driver() -> Arc<BrowserDriver> {
    static INSTALLED: LazyLock<BrowserInstall> = LazyLock::new(|| {
        #[expect(
            clippy::disallowed_methods,
            reason = "a test stands at the edge, where the environment is read"
        )]
        let found = BrowserInstall::find(|name| std::env::var_os(name));
        found.unwrap()
    });
    Arc::new(BrowserDriver::new(INSTALLED.clone()))
}

fn facts() -> ToolFacts {
    let schema = json!({
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "text": {"type": "string"},
        },
        "required": ["title", "text"],
        "additionalProperties": false,
    });
    ToolFacts {
        spec: ToolSpec {
            name: "publish_in_browser".into(),
            description: "Publishes a post through the pages of the platform.".into(),
            schema: schema.to_string().into(),
        },
        class: EffectClass::Effect,
        idempotent: false,
        reversible: false,
        inverse: None,
        target: target(),
        pin: Digest::default(),
    }
}

fn target() -> EffectTarget {
    EffectTarget {
        tenant: "studio".into(),
        platform: "sandbox".into(),
        account: "brand".into(),
        action: "publish".into(),
    }
}

fn effect(title: &str, text: &str) -> EffectRequest {
    EffectRequest {
        tool: "publish_in_browser".into(),
        target: target(),
        event: "plan/1".into(),
        arguments: canonical(&json!({"title": title, "text": text})).into(),
        class: EffectClass::Effect,
        taint: Vec::new(),
    }
}

fn leave(effect: &EffectRequest) -> EffectPermit {
    permit(effect).unwrap()
}

fn browser(head: &str, steps: &str, secrets: Arc<dyn PlatformSecrets>) -> Browser {
    let declaration: BrowserDeclaration = toml::from_str(&format!("{head}\n{steps}")).unwrap();
    Browser::new(facts(), declaration, driver(), secrets).unwrap()
}

fn on(platform: &FakePlatform) -> Browser {
    let head = format!("start = \"{}/login\"", platform.url());
    browser(&head, STEPS, Arc::new(OneSecret(platform.token())))
}

async fn platform() -> FakePlatform {
    FakePlatform::start(PlatformOptions::default())
        .await
        .unwrap()
}

/// What the pages were told to show as the key.
fn key_of(effect: &EffectRequest) -> String {
    let digest = Digest(Sha256::digest(effect.key().as_str()).into());
    digest.to_string()[..32].to_owned()
}

fn detail(outcome: &EffectOutcome) -> &str {
    match outcome {
        EffectOutcome::Confirmed { receipt } => receipt.as_str(),
        EffectOutcome::Failed { detail } | EffectOutcome::Unknown { detail } => detail.as_str(),
    }
}

/// Every step has a picture and a page, each with its hash.
fn assert_sound(evidence: &[Evidence]) {
    for pair in evidence.chunks(2) {
        let [picture, page] = pair else {
            panic!("a step without its page");
        };
        assert_eq!(picture.step, page.step);
        assert_eq!(picture.media, "image/png");
        let png = STANDARD.decode(picture.content.as_str()).unwrap();
        assert!(png.starts_with(b"\x89PNG"), "{}", picture.step);
        assert!(png.len() <= 150_000, "{} bytes", png.len());
        assert_eq!(picture.digest.0, <[u8; 32]>::from(Sha256::digest(&png)));
        assert_eq!(page.media, "text/html");
        let text = page.content.as_str();
        assert!(text.starts_with("<html"), "{text}");
        assert_eq!(page.digest.0, <[u8; 32]>::from(Sha256::digest(text)));
    }
}

#[tokio::test]
async fn e15_a_post_goes_through_the_pages_with_evidence_of_every_step() {
    let platform = platform().await;
    let browser = on(&platform);
    let effect = effect("Spring workshop", "Join us on 21 March.\nBring a friend.");

    let tried = browser.call(&leave(&effect)).await;

    assert!(
        matches!(tried.outcome, EffectOutcome::Confirmed { .. }),
        "{:?}",
        tried.outcome
    );
    let posts = platform.posts();
    assert_eq!(posts.len(), 1);
    assert_eq!(posts[0].title, "Spring workshop");
    assert_eq!(posts[0].text, "Join us on 21 March.\nBring a friend.");
    assert_eq!(posts[0].key.as_deref(), Some(key_of(&effect).as_str()));
    let receipt: Value = serde_json::from_str(detail(&tried.outcome)).unwrap();
    assert_eq!(receipt["address"], format!("{}/posts/1", platform.url()));

    assert_sound(&tried.evidence);
    let steps: Vec<&str> = tried
        .evidence
        .chunks(2)
        .map(|pair| pair[0].step.as_str())
        .collect();
    let key = "11 expect article[data-key='{key}'] h2";
    assert_eq!(
        steps,
        [
            "0 start",
            "1 fill #account",
            "2 fill #password",
            "3 click #login",
            "4 open /compose",
            "5 fill #title",
            "6 fill #text",
            "7 fill #key",
            "8 click #preview",
            "9 expect #draft",
            "10 click #publish",
            key,
        ]
    );
    for seen in &tried.evidence {
        assert!(
            !seen.content.as_str().contains(&platform.token()),
            "{}",
            seen.step
        );
    }
    keep_for_a_look(&tried.evidence);
}

/// Leaves the pictures where a person looks at them, if someone asks for it.
fn keep_for_a_look(evidence: &[Evidence]) {
    #[expect(
        clippy::disallowed_methods,
        reason = "a test stands at the edge, where the environment is read"
    )]
    let Some(folder) = std::env::var_os("FATHOM_TEST_PICTURES") else {
        return;
    };
    for (number, pair) in evidence.chunks(2).enumerate() {
        let png = STANDARD.decode(pair[0].content.as_str()).unwrap();
        let path = std::path::Path::new(&folder).join(format!("{number:02}.png"));
        std::fs::write(path, png).unwrap();
    }
}

#[tokio::test]
async fn e15_a_rehearsal_stays_on_the_sandbox_and_posts_nothing() {
    let (real, sandbox) = (platform().await, platform().await);
    let head = format!(
        "start = \"{}/login\"\nsandbox_start = \"{}/login\"",
        real.url(),
        sandbox.url()
    );
    let browser = browser(&head, STEPS, Arc::new(OneSecret(sandbox.token())));

    let dry_run = browser.rehearse(&effect("Title", "Text")).await.unwrap();

    assert!(dry_run.ok, "{dry_run:?}");
    let report: Value = serde_json::from_str(dry_run.report.as_str()).unwrap();
    assert_eq!(report["sandbox"], true);
    let seen = report["seen"].as_array().unwrap();
    assert_eq!(seen.len(), 10);
    assert_eq!(seen[9]["step"], "9 expect #draft");
    assert_eq!(seen[9]["address"], format!("{}/preview", sandbox.url()));
    assert!(sandbox.requests(RequestKind::Page) > 0);
    assert_eq!(sandbox.posts(), []);
    assert_eq!(real.requests(RequestKind::Page), 0);
}

#[tokio::test]
async fn e15_pages_that_have_moved_are_left_to_a_person_and_nothing_is_posted() {
    let platform = platform().await;
    let browser = on(&platform);
    platform.drift(true);
    let effect = effect("Title", "Text");

    let tried = browser.call(&leave(&effect)).await;

    assert!(matches!(tried.outcome, EffectOutcome::Failed { .. }));
    let detail = detail(&tried.outcome);
    assert!(
        detail.starts_with("manual review: selector `#title` unstable"),
        "{detail}"
    );
    assert_eq!(tried.again, RetryHint::Never);
    assert_sound(&tried.evidence);
    assert_eq!(tried.evidence.last().unwrap().step, "5 fill #title");
    assert_eq!(platform.posts(), []);
    assert_eq!(platform.requests(RequestKind::Publish), 0);

    let dry_run = browser.rehearse(&effect).await.unwrap();
    assert!(!dry_run.ok);
    assert!(
        dry_run.report.as_str().contains("manual review"),
        "{dry_run:?}"
    );
}

#[tokio::test]
async fn e15_a_selector_that_fits_two_elements_or_a_page_built_differently_is_unstable() {
    let platform = platform().await;
    let secrets: Arc<dyn PlatformSecrets> = Arc::new(OneSecret(platform.token()));
    let head = format!("start = \"{}/login\"", platform.url());

    let twice = STEPS.replace("\"#title\"", "\"form input\"");
    let tried = browser(&head, &twice, Arc::clone(&secrets))
        .call(&leave(&effect("a", "b")))
        .await;
    let seen = detail(&tried.outcome);
    assert!(
        seen.ends_with("unstable: more than one element matches"),
        "{seen}"
    );

    let dry_run = on(&platform).rehearse(&effect("a", "b")).await.unwrap();
    let report: Value = serde_json::from_str(dry_run.report.as_str()).unwrap();
    let skeleton = report["seen"][8]["skeleton"].as_str().unwrap();
    let pin = |skeleton: &str| {
        let pinned = format!("effect = true, skeleton = \"{skeleton}\"");
        browser(
            &head,
            &STEPS.replace("effect = true", &pinned),
            Arc::clone(&secrets),
        )
    };
    let other = Digest::default().to_string();
    let tried = pin(&other).call(&leave(&effect("a", "b"))).await;
    assert!(matches!(tried.outcome, EffectOutcome::Failed { .. }));
    assert!(
        detail(&tried.outcome).contains("has changed"),
        "{:?}",
        tried.outcome
    );
    assert_eq!(platform.requests(RequestKind::Publish), 0);

    let tried = pin(skeleton).call(&leave(&effect("a", "b"))).await;
    assert!(
        matches!(tried.outcome, EffectOutcome::Confirmed { .. }),
        "{:?}",
        tried.outcome
    );
    assert_eq!(platform.posts().len(), 1);
}

#[tokio::test]
async fn e13_a_lost_answer_is_unknown_until_the_page_shows_the_key() {
    let platform = platform().await;
    let browser = on(&platform);
    let effect = effect("Title", "Text");
    let before = browser.check(&effect).await;
    assert!(
        matches!(before.outcome, EffectOutcome::Failed { .. }),
        "{:?}",
        before.outcome
    );

    platform.lose_every(1);
    let tried = browser.call(&leave(&effect)).await;

    assert!(
        matches!(tried.outcome, EffectOutcome::Unknown { .. }),
        "{:?}",
        tried.outcome
    );
    assert_eq!(tried.again, RetryHint::Never);
    // A browser would send a form again by itself when it loses the answer.
    assert_eq!(platform.requests(RequestKind::Publish), 1);
    assert_eq!(platform.posts().len(), 1);

    let checked = browser.check(&effect).await;
    assert!(
        matches!(checked.outcome, EffectOutcome::Confirmed { .. }),
        "{:?}",
        checked.outcome
    );
    let receipt: Value = serde_json::from_str(detail(&checked.outcome)).unwrap();
    assert_eq!(receipt["times"], 1);
    assert_eq!(receipt["key"], key_of(&effect));
    assert_sound(&checked.evidence);
}

#[tokio::test]
async fn e13_what_is_shown_late_or_on_a_page_that_has_moved_stays_unknown() {
    let platform = platform().await;
    let steps = STEPS.replace("conclusive = true", "");
    let head = format!("start = \"{}/login\"", platform.url());
    let browser = browser(&head, &steps, Arc::new(OneSecret(platform.token())));
    let effect = effect("Title", "Text");
    let tried = browser.call(&leave(&effect)).await;
    assert!(
        matches!(tried.outcome, EffectOutcome::Confirmed { .. }),
        "{:?}",
        tried.outcome
    );

    // The walk has looked at it once.
    platform.change(|options| options.visible_after = 2);
    let hidden = browser.check(&effect).await;
    assert!(
        matches!(hidden.outcome, EffectOutcome::Unknown { .. }),
        "{:?}",
        hidden.outcome
    );
    let shown = browser.check(&effect).await;
    assert!(
        matches!(shown.outcome, EffectOutcome::Confirmed { .. }),
        "{:?}",
        shown.outcome
    );

    platform.drift(true);
    let moved = browser.check(&effect).await;
    assert!(
        matches!(moved.outcome, EffectOutcome::Unknown { .. }),
        "{:?}",
        moved.outcome
    );
    assert!(
        detail(&moved.outcome).contains("`#posts` unstable"),
        "{:?}",
        moved.outcome
    );
}

#[tokio::test]
async fn e15_hostile_text_is_typed_to_the_letter() {
    let platform = platform().await;
    let browser = on(&platform);
    let long = format!("{HOSTILE}\n{}", "word & <b> ".repeat(1_000));
    assert!(long.len() > 10_000);
    let title = "\"><script>alert(1)</script> '{key}'";
    let tried = browser.call(&leave(&effect(title, &long))).await;

    assert!(
        matches!(tried.outcome, EffectOutcome::Confirmed { .. }),
        "{:?}",
        tried.outcome
    );
    let posts = platform.posts();
    assert_eq!(posts.len(), 1);
    assert_eq!(posts[0].title, title);
    assert_eq!(posts[0].text, long);
    assert_sound(&tried.evidence);
}

#[tokio::test]
async fn e15_a_text_that_a_field_would_change_is_not_sent() {
    let platform = platform().await;
    // A field of one line drops line ends, and Enter in it would send the form.
    let tried = on(&platform)
        .call(&leave(&effect("two\nlines", "Text")))
        .await;

    assert!(matches!(tried.outcome, EffectOutcome::Failed { .. }));
    let detail = detail(&tried.outcome);
    assert_eq!(
        detail,
        "manual review: the field `#title` does not take the text as it is"
    );
    assert_eq!(platform.requests(RequestKind::Publish), 0);
}

#[tokio::test]
async fn e15_without_its_secret_or_with_other_arguments_nothing_is_opened() {
    let platform = platform().await;
    let head = format!("start = \"{}/login\"", platform.url());
    let without = browser(&head, STEPS, Arc::new(NoSecrets));
    let tried = without.call(&leave(&effect("a", "b"))).await;
    assert_eq!(
        detail(&tried.outcome),
        "the secret `PLATFORM_PASSWORD` is not set"
    );

    let shown = STEPS.replace(
        "\"#account\", value = \"brand\"",
        "\"#account\", secret = \"PLATFORM_PASSWORD\"",
    );
    let telling = browser(&head, &shown, Arc::new(OneSecret(platform.token())));
    let tried = telling.call(&leave(&effect("a", "b"))).await;
    let seen = detail(&tried.outcome);
    assert_eq!(
        seen,
        "manual review: the field `#account` is not one for passwords"
    );

    let opened = platform.requests(RequestKind::Page);
    let mut other = effect("a", "b");
    other.arguments = r#"{"selector":"body","text":"b","title":"a"}"#.into();
    let tried = on(&platform).call(&leave(&other)).await;
    assert!(
        detail(&tried.outcome).contains("do not fit"),
        "{:?}",
        tried.outcome
    );
    assert_eq!(platform.requests(RequestKind::Page), opened);
    assert_eq!(platform.posts(), []);
}

/// A server with one page, whose pictures, frames and scripts come from elsewhere.
async fn page_that_wants(elsewhere: &str) -> String {
    let body = format!(
        "<!doctype html><p id=here>here</p><img src={elsewhere}/posts?img><iframe src={elsewhere}/posts></iframe>\
         <script>fetch('{elsewhere}/posts?fetch', {{mode: 'no-cors'}})</script>"
    );
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                if stream.read_buf(&mut request).await.unwrap() == 0 {
                    break;
                }
            }
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    address
}

#[tokio::test]
async fn e15_a_page_reaches_no_host_that_the_charter_does_not_name() {
    let elsewhere = platform().await;
    let page = page_that_wants(&elsewhere.url()).await;
    let steps = STEPS.replace("\"#posts\"", "\"#here\"");
    let named = elsewhere.url().replace("http://", "");
    for (hosts, is_reached) in [("[]".to_owned(), false), (format!("[\"{named}\"]"), true)] {
        let head = format!("start = \"{page}/\"\nhosts = {hosts}");
        let browser = browser(&head, &steps, Arc::new(NoSecrets));
        let checked = browser.check(&effect("a", "b")).await;
        assert_eq!(detail(&checked.outcome), "it is not there");
        assert_eq!(
            elsewhere.requests(RequestKind::Page) > 0,
            is_reached,
            "{hosts}"
        );
    }
}
