//! The pages, for people and for browsers that are driven.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::request::{PlatformAnswer, PlatformRequest, PlatformResponse, RequestKind};
use super::state::{CreatedItem, PlatformDraft, PlatformPost, PlatformState};

/// The cookie of someone who is logged in.
const COOKIE: &str = "session";

const STYLE: &str = "body{font:16px/1.5 sans-serif;max-width:38rem;margin:1.5rem auto;padding:0 1rem}\
label{display:block;margin:.6rem 0}input,textarea{display:block;width:100%;font:inherit}\
button{font:inherit;padding:.3rem 1.2rem}article,.comment{border:1px solid #bbb;padding:.2rem 1rem;margin:1rem 0}\
.text{white-space:pre-wrap;overflow-wrap:anywhere}";

/// Names on the pages, which change over time.
struct PageNames {
    drift: bool,
}

impl PageNames {
    /// The id of an element.
    fn id<'a>(&self, usual: &'a str) -> &'a str {
        match usual {
            _ if !self.drift => usual,
            "title" => "headline",
            "text" => "body-text",
            "preview" => "continue",
            "publish" => "post-now",
            "send" => "respond",
            "posts" => "feed",
            other => other,
        }
    }

    /// Label of a button.
    fn label<'a>(&self, usual: &'a str) -> &'a str {
        match usual {
            _ if !self.drift => usual,
            "Preview" => "Continue",
            "Publish" => "Share with everyone",
            "Send" => "Respond",
            other => other,
        }
    }

    /// A form with its button, which may stand before or after the fields.
    fn form(&self, action: &str, fields: &str, button: (&str, &str)) -> String {
        let (id, label) = button;
        let button = format!(
            "<button id=\"{}\" type=\"submit\">{}</button>",
            self.id(id),
            self.label(label)
        );
        let inside = if self.drift {
            format!("<header><div class=\"bar\">{button}</div></header>{fields}")
        } else {
            format!("{fields}{button}")
        };
        format!("<form method=\"post\" action=\"{action}\">{inside}</form>")
    }

    fn input(&self, label: &str, name: &str) -> String {
        let id = self.id(name);
        format!("<label>{label}<input id=\"{id}\" name=\"{name}\"></label>")
    }

    fn area(&self, label: &str, name: &str) -> String {
        let id = self.id(name);
        format!(
            "<label>{label}<textarea id=\"{id}\" name=\"{name}\" rows=\"5\"></textarea></label>"
        )
    }
}

pub(super) fn answer(state: &mut PlatformState, request: &PlatformRequest) -> PlatformAnswer {
    let parts = request.parts();
    let publishes = matches!(
        (request.method.as_str(), parts.as_slice()),
        ("POST", ["publish" | "send"])
    );
    state.count(if publishes {
        RequestKind::Publish
    } else {
        RequestKind::Page
    });
    let names = PageNames {
        drift: state.options.drift,
    };
    if let ("POST", ["login"]) = (request.method.as_str(), parts.as_slice()) {
        return PlatformAnswer::Sent(log_in(state, request));
    }
    let open_to_all = matches!(parts.as_slice(), [] | ["posts", ..] | ["login"]);
    if !open_to_all && request.cookie(COOKIE) != Some(state.options.token.as_str()) {
        return PlatformAnswer::Sent(PlatformResponse::see_other("/login"));
    }
    let response = match (request.method.as_str(), parts.as_slice()) {
        ("GET", [] | ["posts"]) => list(state, request, &names),
        ("GET", ["posts", id]) => show(state, id, &names),
        ("GET", ["login"]) => page("Log in", LOGIN),
        ("GET", ["compose"]) => compose(&names),
        ("POST", ["preview"]) => preview(state, request, &names),
        ("GET", ["reply"]) => reply_form(&names),
        ("POST", ["review"]) => review(state, request, &names),
        ("POST", ["publish" | "send"]) => return publish(state, request, &parts),
        _ => not_found(),
    };
    PlatformAnswer::Sent(response)
}

const LOGIN: &str = "<form method=\"post\" action=\"/login\">\
<label>Account<input id=\"account\" name=\"account\"></label>\
<label>Password<input id=\"password\" name=\"password\" type=\"password\"></label>\
<button id=\"login\" type=\"submit\">Log in</button></form>";

fn log_in(state: &PlatformState, request: &PlatformRequest) -> PlatformResponse {
    let form = request.form();
    if field(&form, "password") != state.options.token {
        let refusal = format!("<p id=\"refused\">The password is wrong.</p>{LOGIN}");
        return PlatformResponse {
            status: 401,
            ..page("Log in", &refusal)
        };
    }
    let cookie = format!("{COOKIE}={}; Path=/; HttpOnly", state.options.token);
    PlatformResponse::see_other("/compose").with_header("set-cookie", &cookie)
}

fn list(
    state: &mut PlatformState,
    request: &PlatformRequest,
    names: &PageNames,
) -> PlatformResponse {
    let key = request.query.get("key");
    let posts = state.look_for_posts(|post| key.is_none() || post.key.as_ref() == key);
    let mut items: String = posts.iter().map(article).collect();
    if let Some(key) = key {
        let replies = state.look_for_replies(|reply| reply.key.as_ref() == Some(key));
        for reply in replies {
            items += &reply_item(&reply.text, reply.key.as_deref());
        }
    }
    let id = names.id("posts");
    page(
        "Posts",
        &format!("<section id=\"{id}\"><p>What was posted.</p>{items}</section>"),
    )
}

fn article(post: &PlatformPost) -> String {
    let key = escape(post.key.as_deref().unwrap_or_default());
    let (title, text) = (escape(&post.title), escape(&post.text));
    let id = post.id;
    format!(
        "<article data-key=\"{key}\"><h2><a href=\"/posts/{id}\">{title}</a></h2>\
         <p class=\"text\">{text}</p></article>"
    )
}

fn reply_item(text: &str, key: Option<&str>) -> String {
    let key = escape(key.unwrap_or_default());
    let text = escape(text);
    format!("<p class=\"reply text\" data-key=\"{key}\">{text}</p>")
}

fn show(state: &mut PlatformState, id: &str, names: &PageNames) -> PlatformResponse {
    let posts = state.look_for_posts(|post| post.id.to_string() == id);
    let Some(post) = posts.first() else {
        return not_found();
    };
    let mut body = article(post);
    let comments: Vec<_> = state
        .comments
        .iter()
        .filter(|c| c.post == post.id)
        .cloned()
        .collect();
    for comment in comments {
        let _ = write!(
            body,
            "<div class=\"comment\" id=\"comment-{}\"><p><b>{}</b> (comment {})</p><p class=\"text\">{}</p>",
            comment.id,
            escape(&comment.author),
            comment.id,
            escape(&comment.text),
        );
        for reply in state.look_for_replies(|reply| reply.comment == comment.id) {
            body += &reply_item(&reply.text, reply.key.as_deref());
        }
        let hidden = hidden("comment", &comment.id.to_string());
        let fields = format!("{hidden}<textarea name=\"text\" rows=\"2\"></textarea>");
        let form = format!(
            "<form method=\"post\" action=\"/review\">{fields}<button>{}</button></form></div>",
            names.label("Reply")
        );
        body += &form;
    }
    page(&post.title, &body)
}

fn compose(names: &PageNames) -> PlatformResponse {
    let fields = [
        names.input("Title", "title"),
        names.area("Text", "text"),
        names.input("Appears on", "schedule"),
        names.input("Reference", "key"),
    ]
    .concat();
    page(
        "New post",
        &names.form("/preview", &fields, ("preview", "Preview")),
    )
}

fn preview(
    state: &PlatformState,
    request: &PlatformRequest,
    names: &PageNames,
) -> PlatformResponse {
    let form = request.form();
    if let Some(objection) = state.objection(&post_of(&form)) {
        return objected(&objection);
    }
    let (title, text) = (escape(field(&form, "title")), escape(field(&form, "text")));
    let shown =
        format!("<article id=\"draft\"><h2>{title}</h2><p class=\"text\">{text}</p></article>");
    let fields: String = ["title", "text", "schedule", "key"]
        .map(|name| hidden(name, field(&form, name)))
        .concat();
    let form = names.form("/publish", &fields, ("publish", "Publish"));
    page("Preview", &(shown + &form))
}

fn reply_form(names: &PageNames) -> PlatformResponse {
    let fields = [
        names.input("Comment number", "comment"),
        names.area("Text", "text"),
        names.input("Reference", "key"),
    ]
    .concat();
    page(
        "Reply",
        &names.form("/review", &fields, ("preview", "Preview")),
    )
}

fn review(state: &PlatformState, request: &PlatformRequest, names: &PageNames) -> PlatformResponse {
    let form = request.form();
    if let Some(objection) = state.objection(&reply_of(&form)) {
        return objected(&objection);
    }
    let comment = state
        .comments
        .iter()
        .find(|comment| comment.id.to_string() == field(&form, "comment"));
    let asked = comment.map_or_else(String::new, |comment| escape(&comment.text));
    let text = escape(field(&form, "text"));
    let shown = format!(
        "<blockquote class=\"text\">{asked}</blockquote>\
         <article id=\"draft\"><p class=\"text\">{text}</p></article>"
    );
    let fields: String = ["comment", "text", "key"]
        .map(|name| hidden(name, field(&form, name)))
        .concat();
    let form = names.form("/send", &fields, ("send", "Send"));
    page("Preview", &(shown + &form))
}

fn publish(state: &mut PlatformState, request: &PlatformRequest, parts: &[&str]) -> PlatformAnswer {
    let form = request.form();
    let draft = match parts {
        ["send"] => reply_of(&form),
        _ => post_of(&form),
    };
    if let Some(objection) = state.objection(&draft) {
        return PlatformAnswer::Sent(objected(&objection));
    }
    let key = Some(field(&form, "key").to_owned()).filter(|key| !key.is_empty());
    let post = match state.commit(draft, key) {
        CreatedItem::Post(post) => Some(post.id),
        CreatedItem::Reply(reply) => state
            .comments
            .iter()
            .find(|comment| comment.id == reply.comment)
            .map(|comment| comment.post),
    };
    let to = post.map_or_else(|| "/posts".to_owned(), |post| format!("/posts/{post}"));
    state.tell(PlatformResponse::see_other(&to))
}

fn post_of(form: &BTreeMap<String, String>) -> PlatformDraft {
    PlatformDraft::Post {
        title: field(form, "title").to_owned(),
        text: field(form, "text").to_owned(),
        schedule: Some(field(form, "schedule").to_owned()).filter(|when| !when.is_empty()),
    }
}

fn reply_of(form: &BTreeMap<String, String>) -> PlatformDraft {
    PlatformDraft::Reply {
        comment: field(form, "comment").parse().unwrap_or_default(),
        text: field(form, "text").to_owned(),
    }
}

fn objected(objection: &str) -> PlatformResponse {
    let body = format!("<p id=\"refused\">{}</p>", escape(objection));
    PlatformResponse {
        status: 422,
        ..page("Not yet", &body)
    }
}

fn not_found() -> PlatformResponse {
    PlatformResponse {
        status: 404,
        ..page(
            "Nothing here",
            "<p id=\"refused\">There is no such page.</p>",
        )
    }
}

fn page(title: &str, body: &str) -> PlatformResponse {
    let title = escape(title);
    PlatformResponse::html(
        200,
        format!(
            "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
             <link rel=\"icon\" href=\"data:,\"><style>{STYLE}</style></head><body>\
             <nav><a href=\"/posts\">Posts</a> · <a href=\"/compose\">New post</a> · \
             <a href=\"/reply\">Reply</a></nav><h1>{title}</h1><main>{body}</main></body></html>"
        ),
    )
}

fn hidden(name: &str, value: &str) -> String {
    let value = escape(value);
    format!("<input type=\"hidden\" name=\"{name}\" value=\"{value}\">")
}

fn field<'a>(form: &'a BTreeMap<String, String>, name: &str) -> &'a str {
    form.get(name).map_or("", String::as_str)
}

/// Text that stays text between tags and in quotes.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}
