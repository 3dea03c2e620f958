//! The API: JSON, and a token for everything but a visitor's comment.

use serde_json::{Value, json};

use super::request::{PlatformAnswer, PlatformRequest, PlatformResponse, RequestKind};
use super::state::{CreatedItem, PlatformDraft, PlatformState};

pub(super) fn answer(state: &mut PlatformState, request: &PlatformRequest) -> PlatformAnswer {
    let parts = request.parts();
    let kind = kind(request, &parts);
    state.count(kind);
    if kind != RequestKind::Comment && !is_authorised(state, request) {
        let refusal =
            PlatformResponse::error(401, "unauthorised", "a bearer token is missing or wrong");
        return PlatformAnswer::Sent(refusal);
    }
    if let Some(refusal) = state.turn_away() {
        return PlatformAnswer::Sent(refusal);
    }
    match (request.method.as_str(), parts.as_slice()) {
        ("POST", ["api", "posts"]) => {
            let body = request.json();
            let draft = PlatformDraft::Post {
                title: text_of(&body, "title"),
                text: text_of(&body, "text"),
                schedule: body["schedule"].as_str().map(str::to_owned),
            };
            publish(state, request, draft)
        }
        ("POST", ["api", "comments", comment, "replies"]) => {
            let draft = PlatformDraft::Reply {
                comment: comment.parse().unwrap_or_default(),
                text: text_of(&request.json(), "text"),
            };
            publish(state, request, draft)
        }
        ("POST", ["api", "comments"]) => PlatformAnswer::Sent(comment(state, &request.json())),
        ("GET", ["api", rest @ ..]) => PlatformAnswer::Sent(look(state, request, rest)),
        _ => PlatformAnswer::Sent(not_found()),
    }
}

fn kind(request: &PlatformRequest, parts: &[&str]) -> RequestKind {
    match (request.method.as_str(), parts) {
        ("POST", ["api", "posts"] | ["api", "comments", _, "replies"]) => {
            if request.is_dry_run() {
                RequestKind::DryRun
            } else {
                RequestKind::Publish
            }
        }
        ("POST", ["api", "comments"]) => RequestKind::Comment,
        ("GET", _) => RequestKind::Lookup,
        _ => RequestKind::Unknown,
    }
}

fn is_authorised(state: &PlatformState, request: &PlatformRequest) -> bool {
    let token = request
        .header("authorization")
        .and_then(|value| value.strip_prefix("Bearer "));
    token == Some(state.options.token.as_str())
}

fn publish(
    state: &mut PlatformState,
    request: &PlatformRequest,
    draft: PlatformDraft,
) -> PlatformAnswer {
    if let Some(objection) = state.objection(&draft) {
        return PlatformAnswer::Sent(PlatformResponse::error(422, "invalid", &objection));
    }
    if request.is_dry_run() {
        return PlatformAnswer::Sent(PlatformResponse::json(
            200,
            &json!({"dry_run": true, "ok": true}),
        ));
    }
    let key = request.header("idempotency-key").map(str::to_owned);
    let made = match state.commit(draft, key) {
        CreatedItem::Post(post) => json!(post),
        CreatedItem::Reply(reply) => json!(reply),
    };
    state.tell(PlatformResponse::json(201, &made))
}

fn comment(state: &mut PlatformState, body: &Value) -> PlatformResponse {
    let post = body["post"].as_u64().unwrap_or_default();
    if !state.posts.iter().any(|known| known.id == post) {
        return not_found();
    }
    let (author, text) = (text_of(body, "author"), text_of(body, "text"));
    let id = state.add_comment(post, &author, &text);
    PlatformResponse::json(201, &json!({"id": id}))
}

fn look(state: &mut PlatformState, request: &PlatformRequest, what: &[&str]) -> PlatformResponse {
    let key = request.query.get("key");
    let is_meant = |known: &Option<String>| key.is_none() || known.as_ref() == key;
    match what {
        ["posts"] => {
            let posts = state.look_for_posts(|post| is_meant(&post.key));
            PlatformResponse::json(200, &json!({"posts": posts}))
        }
        ["posts", id] => {
            let posts = state.look_for_posts(|post| post.id.to_string() == *id);
            match posts.first() {
                Some(post) => PlatformResponse::json(200, &json!(post)),
                None => not_found(),
            }
        }
        ["comments"] => {
            let post = request.query.get("post");
            let is_meant = |on: u64| post.is_none_or(|post| *post == on.to_string());
            let comments: Vec<_> = state.comments.iter().filter(|c| is_meant(c.post)).collect();
            PlatformResponse::json(200, &json!({"comments": comments}))
        }
        ["replies"] => {
            let replies = state.look_for_replies(|reply| is_meant(&reply.key));
            PlatformResponse::json(200, &json!({"replies": replies}))
        }
        ["comments", comment, "replies"] => {
            let replies = state.look_for_replies(|reply| {
                reply.comment.to_string() == *comment && is_meant(&reply.key)
            });
            PlatformResponse::json(200, &json!({"replies": replies}))
        }
        _ => not_found(),
    }
}

fn not_found() -> PlatformResponse {
    PlatformResponse::error(404, "not_found", "there is no such thing")
}

fn text_of(body: &Value, name: &str) -> String {
    body[name].as_str().unwrap_or_default().to_owned()
}
