//! Tools over HTTP: what is sent, what comes of it, and where nothing ever goes.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use fathom_core::unit::Millis;
use fathom_tools::{RetryHint, ToolRegistry, key_token};
use serde_json::{Value, json};

use crate::site::{Asked, Says, Site, says, says_with};
use crate::stage::{Names, TOKEN, call, effect, open, told};

/// A tool `post` that changes something on `base`, and a tool `look` that does not.
fn charter(base: &str, private: &[SocketAddr]) -> String {
    let private: Vec<String> = private.iter().map(|at| format!("\"{at}\"")).collect();
    let private = private.join(", ");
    format!(
        r#"
allow_private = [{private}]

[[tool]]
name = "post"
description = "Publishes a text"
kind = "http"
platform = "sandbox"
account = "brand"
action = "publish"
method = "POST"
url = "{base}/posts/{{place}}?tag={{tag}}"
token_env = "PLATFORM_TOKEN"
idempotency_header = "Idempotency-Key"
body = {{ text = "{{text}}", note = "for {{place}}", count = "{{count}}" }}
schema = '''{{"type": "object", "required": ["place", "text"], "properties": {{
    "place": {{"type": "string"}}, "text": {{"type": "string"}}, "tag": {{"type": "string"}}, "count": {{"type": "integer"}}}}}}'''
[tool.dry_run]
url = "{base}/posts?dry_run=1"
[tool.check]
url = "{base}/found?key={{key}}"
pointer = "/posts"
contains = "{{key}}"
settle_ms = 0

[[tool]]
name = "look"
description = "Looks"
kind = "http"
class = "read"
platform = "sandbox"
url = "{base}/look"
token_env = "PLATFORM_TOKEN"
"#
    )
}

fn at(site: &Site) -> ToolRegistry {
    let base = format!("http://{}", site.address);
    open(&charter(&base, &[site.address]), Names::new(&[]))
}

fn arguments() -> Value {
    json!({"place": "wall", "text": "Hello", "count": 3})
}

#[tokio::test]
async fn e18_a_call_sends_what_the_charter_wrote_with_the_arguments_in_their_places() {
    let site = Site::start(|_| says(201, r#"{"id": 7}"#)).await;
    let tools = at(&site);
    let tried = call(&tools, "post", &arguments()).await;
    let (end, receipt) = told(&tried);
    assert_eq!(end, "confirmed");
    let receipt: Value = serde_json::from_str(&receipt).unwrap();
    assert_eq!(
        receipt,
        json!({"status": 201, "bytes": 9, "body": {"id": 7}})
    );
    let asked = site.asked();
    let [asked] = asked.as_slice() else {
        panic!("{} requests", asked.len());
    };
    assert_eq!(
        (asked.method.as_str(), asked.path.as_str()),
        ("POST", "/posts/wall")
    );
    let body: Value = serde_json::from_str(&asked.body).unwrap();
    assert_eq!(
        body,
        json!({"text": "Hello", "note": "for wall", "count": 3})
    );
    assert_eq!(
        asked.header("authorization"),
        Some(format!("Bearer {TOKEN}"))
    );
    let key = key_token(&effect(&tools, "post", &arguments()));
    assert_eq!(asked.header("idempotency-key"), Some(key));
}

#[tokio::test]
async fn e14_the_key_that_a_platform_sees_is_that_of_the_event_and_not_of_the_text() {
    let site = Site::start(|_| says(200, "")).await;
    let tools = at(&site);
    let first = effect(&tools, "post", &arguments());
    let mut reworded = effect(&tools, "post", &json!({"place": "wall", "text": "Hi"}));
    assert_eq!(key_token(&first), key_token(&reworded));
    reworded.event = "event-2".into();
    assert_ne!(key_token(&first), key_token(&reworded));
    assert_eq!(key_token(&first).len(), 32);
}

#[tokio::test]
async fn e13_each_answer_has_its_outcome_and_says_whether_another_try_is_safe() {
    let site = Site::start(
        |asked: &Asked| match asked.path.trim_start_matches("/posts/") {
            "yes" => says(200, "{}"),
            "no" => says(404, "not here"),
            "slower" => says_with(429, "retry-after", "7"),
            "slow" => says(429, ""),
            "broken" => says(503, ""),
            _ => Says::Nothing,
        },
    )
    .await;
    let tools = at(&site);
    let after = |seconds: u64| RetryHint::RateLimited {
        after: Some(Millis(seconds * 1_000)),
    };
    for (place, end, again) in [
        ("yes", "confirmed", RetryHint::Never),
        ("no", "failed", RetryHint::Never),
        ("slower", "failed", after(7)),
        ("slow", "failed", RetryHint::RateLimited { after: None }),
        ("broken", "unknown", RetryHint::ServerFault),
        ("gone", "unknown", RetryHint::Never),
    ] {
        let tried = call(&tools, "post", &json!({"place": place, "text": "x"})).await;
        assert_eq!((told(&tried).0, tried.again), (end, again), "{place}");
    }
    // The listener goes at the end of the line, and nobody listens there any more.
    let nobody = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let tools = open(
        &charter(&format!("http://{nobody}"), &[nobody]),
        Names::new(&[]),
    );
    let tried = call(&tools, "post", &arguments()).await;
    assert_eq!(
        (told(&tried).0, tried.again),
        ("failed", RetryHint::NotSent)
    );
}

#[tokio::test]
async fn a_look_that_fails_changed_nothing() {
    let site = Site::start(|_| says(500, "")).await;
    let tried = call(&at(&site), "look", &json!({})).await;
    assert_eq!(
        (told(&tried).0, tried.again),
        ("failed", RetryHint::ServerFault)
    );
    let site = Site::start(|_| Says::Nothing).await;
    let tried = call(&at(&site), "look", &json!({})).await;
    assert_eq!(
        (told(&tried).0, tried.again),
        ("failed", RetryHint::ServerFault)
    );
}

#[tokio::test]
async fn arguments_that_do_not_fit_send_nothing() {
    let site = Site::start(|_| says(200, "{}")).await;
    let tools = at(&site);
    for arguments in [
        json!({}),
        json!({"place": "wall"}),
        json!({"place": "wall", "text": 7}),
        json!({"place": "wall", "text": "x", "to": "someone else"}),
        json!({"place": "..", "text": "x"}),
        json!({"place": "", "text": "x"}),
        json!(["wall", "x"]),
        json!("wall"),
    ] {
        let tried = call(&tools, "post", &arguments).await;
        let (end, detail) = told(&tried);
        assert_eq!(
            (end, tried.again),
            ("failed", RetryHint::Never),
            "{arguments}"
        );
        assert!(detail.starts_with("error[F0968]"), "{detail}");
        let dry_run = tools.rehearse(&effect(&tools, "post", &arguments)).await;
        assert_eq!(dry_run.map(|dry_run| dry_run.ok), Some(false));
    }
    assert_eq!(site.asked().len(), 0);
}

#[tokio::test]
async fn hostile_arguments_stay_text() {
    let site = Site::start(|_| says(200, "{}")).await;
    let tools = at(&site);
    let text = "\"}, \"admin\": true, {key} \r\nX-Evil: 1 <script> ${TOKEN} `rm`";
    let place = "../../admin?x=y#z\r\nHost: evil";
    call(
        &tools,
        "post",
        &json!({"place": place, "text": text, "tag": "a&b=c"}),
    )
    .await;
    let asked = site.asked().remove(0);
    assert_eq!(
        asked.path,
        "/posts/..%2F..%2Fadmin%3Fx%3Dy%23z%0D%0AHost%3A%20evil?tag=a%26b%3Dc"
    );
    let body: Value = serde_json::from_str(&asked.body).unwrap();
    assert_eq!(body["text"], text);
    assert_eq!(body.as_object().unwrap().len(), 2);
    assert_eq!(asked.header("x-evil"), None);
}

#[tokio::test]
async fn an_effect_of_another_target_is_not_carried_out() {
    let site = Site::start(|_| says(200, "{}")).await;
    let tools = at(&site);
    let mut other = effect(&tools, "post", &arguments());
    other.target.account = "someone else".into();
    let permit = fathom_testkit::permit::permit(&other).unwrap();
    let (end, detail) = told(&tools.call(&permit).await);
    assert_eq!(end, "failed");
    assert!(detail.starts_with("error[F0969]"), "{detail}");
    assert_eq!(site.asked().len(), 0);
}

#[tokio::test]
async fn a_long_answer_is_cut_and_its_true_size_told() {
    let site = Site::start(|_| says(200, "é".repeat(100_000))).await;
    let (end, receipt) = told(&call(&at(&site), "look", &json!({})).await);
    assert_eq!(end, "confirmed");
    assert!(receipt.len() < 66_000, "{} bytes", receipt.len());
    let receipt: Value = serde_json::from_str(&receipt).unwrap();
    assert_eq!(receipt["bytes"], 200_000);
    assert_eq!(receipt["cut"], true);
}

#[tokio::test]
async fn a_key_is_never_repeated_and_nothing_is_sent_without_it() {
    let site =
        Site::start(|asked| says(200, asked.header("authorization").unwrap_or_default())).await;
    let tools = at(&site);
    let (_, receipt) = told(&call(&tools, "look", &json!({})).await);
    assert!(receipt.contains("Bearer [hidden]"), "{receipt}");
    assert!(!receipt.contains(TOKEN));
    let base = format!("http://{}", site.address);
    let text = charter(&base, &[site.address]).replace("PLATFORM_TOKEN", "UNSET");
    let (end, detail) = told(&call(&open(&text, Names::new(&[])), "look", &json!({})).await);
    assert_eq!(end, "failed");
    assert!(detail.starts_with("error[F0967]"), "{detail}");
    assert_eq!(site.asked().len(), 1);
}

#[tokio::test]
async fn e18_a_redirect_to_a_metadata_address_is_refused() {
    for (location, code) in [
        ("http://169.254.169.254/latest/meta-data/", "not public"),
        ("//169.254.169.254/", "not public"),
        ("http://0xa9fea9fe/", "not public"),
        ("http://[::ffff:169.254.169.254]/", "not public"),
        ("http://127.0.0.1:1/", "port 1"),
        ("http://user@127.0.0.1/", "user name"),
        ("file:///etc/passwd", "only http"),
        ("http://elsewhere.example/", "does not name"),
    ] {
        let site = Site::start(move |_| says_with(302, "location", location)).await;
        let (end, detail) = told(&call(&at(&site), "look", &json!({})).await);
        assert_eq!(end, "failed", "{location}");
        assert!(detail.starts_with("error[F0966]"), "{location}: {detail}");
        assert!(detail.contains(code), "{location}: {detail}");
        assert_eq!(site.asked().len(), 1, "{location}");
        let (end, _) = told(&call(&at(&site), "post", &arguments()).await);
        assert_eq!(
            end, "unknown",
            "what was posted before the redirect may be there"
        );
    }
}

#[tokio::test]
async fn a_redirect_to_another_host_carries_no_key_and_no_change() {
    let other = Site::start(|_| says(200, "{}")).await;
    let there = format!("http://{}/x", other.address);
    let to = there.clone();
    let site = Site::start(move |asked| match asked.method.as_str() {
        "GET" => says_with(302, "location", to.clone()),
        _ => says_with(307, "location", to.clone()),
    })
    .await;
    let base = format!("http://{}", site.address);
    let private = [site.address, other.address];
    let tools = open(&charter(&base, &private), Names::new(&[]));
    let (end, _) = told(&call(&tools, "look", &json!({})).await);
    assert_eq!(end, "confirmed");
    let asked = other.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].header("authorization"), None);
    let (end, detail) = told(&call(&tools, "post", &arguments()).await);
    assert_eq!(end, "unknown");
    assert!(
        detail.contains("a change is not sent to another host"),
        "{detail}"
    );
    assert_eq!(other.asked().len(), 1);
}

#[tokio::test]
async fn redirects_within_a_host_are_followed_five_times() {
    let site = Site::start(|asked| match asked.path.strip_prefix("/hop/") {
        Some("0") => says(200, r#"{"done": true}"#),
        Some(left) => {
            let left: u32 = left.parse().unwrap();
            says_with(303, "location", format!("/hop/{}", left - 1))
        }
        None => says_with(303, "location", "/hop/4"),
    })
    .await;
    let tools = at(&site);
    let (end, receipt) = told(&call(&tools, "post", &arguments()).await);
    assert_eq!(end, "confirmed");
    assert!(receipt.contains("done"));
    let methods: Vec<_> = site
        .asked()
        .iter()
        .map(|asked| asked.method.clone())
        .collect();
    assert_eq!(methods, ["POST", "GET", "GET", "GET", "GET", "GET"]);
    let endless = Site::start(|_| says_with(302, "location", "/again")).await;
    let (end, detail) = told(&call(&at(&endless), "look", &json!({})).await);
    assert_eq!(end, "failed");
    assert!(detail.contains("more redirects"), "{detail}");
    assert_eq!(endless.asked().len(), 6);
}

fn named(site: &Site, names: &Arc<Names>) -> ToolRegistry {
    let port = site.address.port();
    let text = charter(&format!("http://{}", site.address), &[site.address])
        .replace(
            &format!("http://127.0.0.1:{port}"),
            &format!("http://api.example:{port}"),
        )
        .replace("token_env = \"PLATFORM_TOKEN\"\n", "");
    open(&text, Arc::clone(names))
}

#[tokio::test]
async fn e18_a_name_that_means_something_else_the_second_time_changes_nothing() {
    let site = Site::start(|_| says(200, "{}")).await;
    // Whoever looks the name up twice in one call would get the inner address the second time.
    let names = Names::new(&[&["127.0.0.1"], &["169.254.169.254"]]);
    let tools = named(&site, &names);
    let (end, detail) = told(&call(&tools, "look", &json!({})).await);
    assert_eq!(end, "confirmed", "{detail}");
    assert_eq!(names.asked(), ["api.example"]);
    let (end, detail) = told(&call(&tools, "look", &json!({})).await);
    assert_eq!(end, "failed");
    assert!(detail.starts_with("error[F0966]"), "{detail}");
    assert_eq!(site.asked().len(), 1);
}

#[tokio::test]
async fn e18_one_inner_address_among_many_refuses_them_all() {
    let site = Site::start(|_| says(200, "{}")).await;
    for inner in [
        "10.0.0.1",
        "::1",
        "fd00:ec2::254",
        "100.100.100.200",
        "127.0.0.2",
    ] {
        let names = Names::new(&[&["127.0.0.1", inner]]);
        let (end, detail) = told(&call(&named(&site, &names), "post", &arguments()).await);
        assert_eq!(end, "failed");
        assert!(detail.starts_with("error[F0966]"), "{detail}");
    }
    assert_eq!(site.asked().len(), 0);
}

#[tokio::test]
async fn a_name_that_nobody_knows_was_never_reached() {
    let site = Site::start(|_| says(200, "{}")).await;
    let tried = call(&named(&site, &Names::new(&[])), "post", &arguments()).await;
    assert_eq!(
        (told(&tried).0, tried.again),
        ("failed", RetryHint::NotSent)
    );
}

#[tokio::test]
async fn e13_a_rehearsal_asks_for_a_dry_run_and_claims_no_key() {
    let site = Site::start(|asked| match asked.path.as_str() {
        "/posts?dry_run=1" => says(200, r#"{"would": "post"}"#),
        _ => says(500, ""),
    })
    .await;
    let tools = at(&site);
    let dry_run = tools
        .rehearse(&effect(&tools, "post", &arguments()))
        .await
        .unwrap();
    assert!(dry_run.ok, "{dry_run:?}");
    assert!(dry_run.report.as_str().contains("would"));
    let asked = site.asked().remove(0);
    assert_eq!(asked.method, "POST");
    assert!(asked.body.contains("Hello"));
    assert_eq!(asked.header("idempotency-key"), None);
    assert_eq!(
        tools.rehearse(&effect(&tools, "look", &json!({}))).await,
        None
    );
}

#[tokio::test]
async fn e13_a_check_says_there_not_there_or_that_nobody_knows() {
    let probe = Site::start(|_| says(200, "{}")).await;
    let key = key_token(&effect(&at(&probe), "post", &arguments()));
    let listed = json!({"posts": [{"id": 1, "key": key.clone()}]}).to_string();
    for (status, body, end) in [
        (200, listed.clone(), "confirmed"),
        (
            200,
            json!({"posts": [{"key": "another"}]}).to_string(),
            "failed",
        ),
        (
            200,
            json!({"posts": [{"key": format!("{key}0")}]}).to_string(),
            "failed",
        ),
        (200, json!({"posts": []}).to_string(), "failed"),
        (200, json!({"other": key.clone()}).to_string(), "failed"),
        (404, String::new(), "failed"),
        (200, format!("{listed}{}", " ".repeat(70_000)), "unknown"),
        (200, "<html>".into(), "unknown"),
        (401, String::new(), "unknown"),
        (429, String::new(), "unknown"),
        (500, String::new(), "unknown"),
    ] {
        let said = body.clone();
        let site = Site::start(move |_| says(status, said.clone())).await;
        let tools = at(&site);
        let tried = tools.check(&effect(&tools, "post", &arguments())).await;
        assert_eq!(
            told(&tried).0,
            end,
            "{status} {}",
            &body[..body.len().min(80)]
        );
        assert_eq!(site.asked()[0].path, format!("/found?key={key}"));
    }
    let site = Site::start(|_| Says::Nothing).await;
    let tools = at(&site);
    let tried = tools.check(&effect(&tools, "post", &arguments())).await;
    assert_eq!(told(&tried).0, "unknown");
    let tried = tools.check(&effect(&tools, "look", &json!({}))).await;
    assert_eq!(told(&tried).0, "unknown", "it cannot be asked");
}

#[tokio::test]
async fn a_platform_that_shows_things_late_leaves_it_open() {
    let site = Site::start(|_| says(200, r#"{"posts": []}"#)).await;
    let base = format!("http://{}", site.address);
    let text = charter(&base, &[site.address]);
    let late = text.replace("contains = ", "absent = \"unknown\"\ncontains = ");
    let tools = open(&late, Names::new(&[]));
    let tried = tools.check(&effect(&tools, "post", &arguments())).await;
    assert_eq!(told(&tried).0, "unknown");
}

#[tokio::test]
async fn e13_an_absence_is_believed_only_after_it_had_time_to_show() {
    let looks = AtomicU32::new(0);
    let site = Site::start(move |asked: &Asked| {
        let key = asked.path.split_once("key=").map_or("", |(_, key)| key);
        let is_there = looks.fetch_add(1, Ordering::Relaxed) == 2;
        says(
            200,
            json!({ "posts": if is_there { vec![key] } else { vec![] } }).to_string(),
        )
    })
    .await;
    let base = format!("http://{}", site.address);
    let text = charter(&base, &[site.address]);
    let patient = open(
        &text.replace("settle_ms = 0", "settle_ms = 30000"),
        Names::new(&[]),
    );
    let tried = patient.check(&effect(&patient, "post", &arguments())).await;
    assert_eq!(told(&tried).0, "confirmed");
    assert_eq!(site.asked().len(), 3);
    let hasty = at(&site);
    let tried = hasty.check(&effect(&hasty, "post", &arguments())).await;
    assert_eq!(told(&tried).0, "failed");
    assert_eq!(site.asked().len(), 4);
}

#[tokio::test]
async fn a_tool_that_is_not_there_is_refused() {
    let site = Site::start(|_| says(200, "{}")).await;
    let tools = at(&site);
    let mut other = effect(&tools, "look", &json!({}));
    other.tool = "delete".into();
    let permit = fathom_testkit::permit::permit(&other).unwrap();
    let (end, detail) = told(&tools.call(&permit).await);
    assert_eq!(end, "failed");
    assert!(detail.starts_with("error[F0973]"), "{detail}");
}
