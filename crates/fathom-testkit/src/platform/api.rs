//! The API: JSON, and a token for everything but a visitor's comment.

use serde_json::{Value, json};

use super::request::{Answer, Kind, Request, Response};
use super::state::{Draft, Made, State};

pub(super) fn answer(state: &mut State, request: &Request) -> Answer {
    let parts = request.parts();
    let kind = kind(request, &parts);
    state.count(kind);
    if kind != Kind::Comment && !is_authorised(state, request) {
        let refusal = Response::error(401, "unauthorised", "a bearer token is missing or wrong");
        return Answer::Sent(refusal);
    }
    if let Some(refusal) = state.turn_away() {
        return Answer::Sent(refusal);
    }
    match (request.method.as_str(), parts.as_slice()) {
        ("POST", ["api", "posts"]) => {
            let body = request.json();
            let draft = Draft::Post {
                title: text_of(&body, "title"),
                text: text_of(&body, "text"),
                schedule: body["schedule"].as_str().map(str::to_owned),
            };
            publish(state, request, draft)
        }
        ("POST", ["api", "comments", comment, "replies"]) => {
            let draft = Draft::Reply {
                comment: comment.parse().unwrap_or_default(),
                text: text_of(&request.json(), "text"),
            };
            publish(state, request, draft)
        }
        ("POST", ["api", "comments"]) => Answer::Sent(comment(state, &request.json())),
        ("GET", ["api", rest @ ..]) => Answer::Sent(look(state, request, rest)),
        _ => Answer::Sent(not_found()),
    }
}

fn kind(request: &Request, parts: &[&str]) -> Kind {
    match (request.method.as_str(), parts) {
        ("POST", ["api", "posts"] | ["api", "comments", _, "replies"]) => {
            if request.is_dry_run() {
                Kind::DryRun
            } else {
                Kind::Publish
            }
        }
        ("POST", ["api", "comments"]) => Kind::Comment,
        ("GET", _) => Kind::Lookup,
        _ => Kind::Unknown,
    }
}

fn is_authorised(state: &State, request: &Request) -> bool {
    let token = request
        .header("authorization")
        .and_then(|value| value.strip_prefix("Bearer "));
    token == Some(state.options.token.as_str())
}

fn publish(state: &mut State, request: &Request, draft: Draft) -> Answer {
    if let Some(objection) = state.objection(&draft) {
        return Answer::Sent(Response::error(422, "invalid", &objection));
    }
    if request.is_dry_run() {
        return Answer::Sent(Response::json(200, &json!({"dry_run": true, "ok": true})));
    }
    let key = request.header("idempotency-key").map(str::to_owned);
    let made = match state.commit(draft, key) {
        Made::Post(post) => json!(post),
        Made::Reply(reply) => json!(reply),
    };
    state.tell(Response::json(201, &made))
}

fn comment(state: &mut State, body: &Value) -> Response {
    let post = body["post"].as_u64().unwrap_or_default();
    if !state.posts.iter().any(|known| known.id == post) {
        return not_found();
    }
    let (author, text) = (text_of(body, "author"), text_of(body, "text"));
    let id = state.add_comment(post, &author, &text);
    Response::json(201, &json!({"id": id}))
}

fn look(state: &mut State, request: &Request, what: &[&str]) -> Response {
    let key = request.query.get("key");
    let is_meant = |known: &Option<String>| key.is_none() || known.as_ref() == key;
    match what {
        ["posts"] => {
            let posts = state.look_for_posts(|post| is_meant(&post.key));
            Response::json(200, &json!({"posts": posts}))
        }
        ["posts", id] => {
            let posts = state.look_for_posts(|post| post.id.to_string() == *id);
            match posts.first() {
                Some(post) => Response::json(200, &json!(post)),
                None => not_found(),
            }
        }
        ["comments"] => {
            let post = request.query.get("post");
            let is_meant = |on: u64| post.is_none_or(|post| *post == on.to_string());
            let comments: Vec<_> = state.comments.iter().filter(|c| is_meant(c.post)).collect();
            Response::json(200, &json!({"comments": comments}))
        }
        ["replies"] => {
            let replies = state.look_for_replies(|reply| is_meant(&reply.key));
            Response::json(200, &json!({"replies": replies}))
        }
        ["comments", comment, "replies"] => {
            let replies = state.look_for_replies(|reply| {
                reply.comment.to_string() == *comment && is_meant(&reply.key)
            });
            Response::json(200, &json!({"replies": replies}))
        }
        _ => not_found(),
    }
}

fn not_found() -> Response {
    Response::error(404, "not_found", "there is no such thing")
}

fn text_of(body: &Value, name: &str) -> String {
    body[name].as_str().unwrap_or_default().to_owned()
}
