//! The sandbox platform, by a client that knows nothing of it.

use fathom_testkit::fake_platform::{FakePlatform, FaultRate, PlatformOptions, RequestKind};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A status and a body; nothing where the connection was dropped.
type Answer = Option<(u16, String)>;

async fn send(platform: &FakePlatform, head: &str, body: &str) -> Answer {
    let address = platform.url().replace("http://", "");
    let mut stream = TcpStream::connect(&address).await.unwrap();
    let length = body.len();
    let request =
        format!("{head}\r\nhost: x\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.ok()?;
    let status = answer.split(' ').nth(1)?.parse().unwrap();
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    Some((status, body.to_owned()))
}

async fn call(platform: &FakePlatform, line: &str, key: &str, body: &Value) -> (u16, Value) {
    let token = platform.token();
    let head =
        format!("{line} HTTP/1.1\r\nauthorization: Bearer {token}\r\nidempotency-key: {key}");
    let body = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    let (status, body) = send(platform, &head, &body).await.unwrap();
    (status, serde_json::from_str(&body).unwrap())
}

async fn publish(platform: &FakePlatform, key: &str) -> (u16, Value) {
    let post = json!({"title": "Spring", "text": "Come along."});
    call(platform, "POST /api/posts", key, &post).await
}

async fn platform(options: PlatformOptions) -> FakePlatform {
    FakePlatform::start(options).await.unwrap()
}

#[tokio::test]
async fn the_same_key_posts_twice_unless_the_platform_looks() {
    for (dedupe, posts) in [(false, 2), (true, 1)] {
        let options = PlatformOptions {
            dedupe,
            ..PlatformOptions::default()
        };
        let platform = platform(options).await;
        assert_eq!(publish(&platform, "k1").await.0, 201);
        assert_eq!(publish(&platform, "k1").await.0, 201);
        assert_eq!(platform.posts().len(), posts);
        assert_eq!(platform.requests(RequestKind::Publish), 2);
    }
}

#[tokio::test]
async fn a_dry_run_says_what_is_wrong_and_changes_nothing() {
    let platform = platform(PlatformOptions::default()).await;
    let line = "POST /api/posts?dry_run=1";
    let fine = json!({"title": "Spring", "text": "Come along."});
    assert_eq!(call(&platform, line, "k", &fine).await.0, 200);
    let long = json!({"title": "Spring", "text": "x".repeat(20_000)});
    for (post, cause) in [
        (json!({"text": "x"}), "the title is missing"),
        (json!({"title": "x"}), "the text is missing"),
        (long, "the text is longer than 12000 characters"),
    ] {
        let (status, answer) = call(&platform, line, "k", &post).await;
        assert_eq!(status, 422);
        assert_eq!(answer["error"]["message"], cause);
    }
    assert_eq!(platform.posts(), []);
    assert_eq!(platform.requests(RequestKind::DryRun), 4);
}

#[tokio::test]
async fn a_post_is_seen_only_after_a_few_looks() {
    let options = PlatformOptions {
        visible_after: 2,
        ..PlatformOptions::default()
    };
    let platform = platform(options).await;
    publish(&platform, "k1").await;
    let mut found = Vec::new();
    for _ in 0..3 {
        let (_, answer) = call(&platform, "GET /api/posts?key=k1", "", &Value::Null).await;
        found.push(answer["posts"].as_array().unwrap().len());
    }
    assert_eq!(found, [0, 0, 1]);
    let (status, post) = call(&platform, "GET /api/posts/1", "", &Value::Null).await;
    assert_eq!((status, &post["key"]), (200, &json!("k1")));
}

#[tokio::test]
async fn an_answer_is_lost_after_the_commit() {
    let platform = platform(PlatformOptions::default()).await;
    platform.lose_every(2);
    let token = platform.token();
    let head = format!("POST /api/posts HTTP/1.1\r\nauthorization: Bearer {token}");
    let post = json!({"title": "Spring", "text": "Come along."}).to_string();
    assert_eq!(
        send(&platform, &head, &post)
            .await
            .map(|(status, _)| status),
        Some(201)
    );
    assert_eq!(send(&platform, &head, &post).await, None);
    assert_eq!(platform.posts().len(), 2);
}

#[tokio::test]
async fn losses_by_chance_are_the_same_for_the_same_seed() {
    let mut rounds = Vec::new();
    for seed in [7, 7, 8] {
        let options = PlatformOptions {
            seed,
            lose: FaultRate::Permille(500),
            ..PlatformOptions::default()
        };
        let platform = platform(options).await;
        let head = format!(
            "POST /api/posts HTTP/1.1\r\nauthorization: Bearer {}",
            platform.token()
        );
        let mut lost = Vec::new();
        for _ in 0..24 {
            let post = json!({"title": "Spring", "text": "Come along."}).to_string();
            lost.push(send(&platform, &head, &post).await.is_none());
        }
        assert!(lost.contains(&true) && lost.contains(&false), "{lost:?}");
        assert_eq!(platform.posts().len(), 24);
        rounds.push(lost);
    }
    assert_eq!(rounds[0], rounds[1]);
    assert_ne!(rounds[0], rounds[2]);
}

#[tokio::test]
async fn limits_and_faults_come_when_they_are_told_to() {
    let options = PlatformOptions {
        limit: FaultRate::First(2),
        ..PlatformOptions::default()
    };
    let platform = platform(options).await;
    let mut statuses = Vec::new();
    for _ in 0..3 {
        statuses.push(publish(&platform, "k").await.0);
    }
    platform.change(|options| {
        options.limit = FaultRate::Never;
        options.fail = FaultRate::Every(2);
        options.fail_late = FaultRate::Every(2);
    });
    for _ in 0..4 {
        statuses.push(publish(&platform, "k").await.0);
    }
    assert_eq!(statuses, [429, 429, 201, 201, 503, 500, 503]);
    assert_eq!(platform.posts().len(), 3);
}

#[tokio::test]
async fn a_comment_is_answered_once_per_call_and_found_by_its_key() {
    let platform = platform(PlatformOptions::default()).await;
    publish(&platform, "k1").await;
    let visitor = json!({"post": 1, "author": "Ada", "text": "<b>When?</b>"}).to_string();
    let planted = send(&platform, "POST /api/comments HTTP/1.1", &visitor).await;
    assert_eq!(planted.unwrap().0, 201);
    let (_, asked) = call(&platform, "GET /api/comments?post=1", "", &Value::Null).await;
    assert_eq!(asked["comments"][0]["text"], "<b>When?</b>");

    let reply = json!({"text": "On 21 March."});
    let line = "POST /api/comments/1/replies";
    assert_eq!(
        call(&platform, &format!("{line}?dry_run=1"), "r1", &reply)
            .await
            .0,
        200
    );
    assert_eq!(platform.replies(), []);
    assert_eq!(call(&platform, line, "r1", &reply).await.0, 201);
    let line = "GET /api/comments/1/replies?key=r1";
    let (_, found) = call(&platform, line, "", &Value::Null).await;
    assert_eq!(found["replies"].as_array().unwrap().len(), 1);

    let (_, page) = send(&platform, "GET /posts/1 HTTP/1.1", "").await.unwrap();
    assert!(
        page.contains("&lt;b&gt;When?&lt;/b&gt;") && page.contains("data-key=\"r1\""),
        "{page}"
    );
}

#[tokio::test]
async fn nobody_posts_without_the_token() {
    let platform = platform(PlatformOptions::default()).await;
    let head = "POST /api/posts HTTP/1.1\r\nauthorization: Bearer other";
    let refused = send(&platform, head, r#"{"title":"a","text":"b"}"#).await;
    assert_eq!(refused.unwrap().0, 401);
    let form = send(&platform, "POST /publish HTTP/1.1", "title=a&text=b").await;
    assert_eq!(form.unwrap().0, 303);
    let login = send(&platform, "POST /login HTTP/1.1", "password=other").await;
    assert_eq!(login.unwrap().0, 401);
    assert_eq!(platform.posts(), []);
}

#[tokio::test]
async fn pages_move_and_move_back() {
    let platform = platform(PlatformOptions::default()).await;
    let head = format!(
        "GET /compose HTTP/1.1\r\ncookie: session={}",
        platform.token()
    );
    let usual = send(&platform, &head, "").await.unwrap().1;
    assert!(
        usual.contains("id=\"title\"") && usual.contains("id=\"preview\""),
        "{usual}"
    );
    platform.drift(true);
    let moved = send(&platform, &head, "").await.unwrap().1;
    assert!(
        !moved.contains("id=\"title\"") && !moved.contains(">Preview<"),
        "{moved}"
    );
    platform.drift(false);
    assert_eq!(send(&platform, &head, "").await.unwrap().1, usual);
}
