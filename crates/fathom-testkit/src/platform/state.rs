//! What is on the platform, and what is wrong with it today.

use std::collections::BTreeMap;

use serde::Serialize;

use super::PlatformOptions;
use super::request::{Answer, Kind, Response};
use super::when::Tally;
use crate::sim::rng::Rng;

/// Longest title that is taken.
const TITLE_CHARS_MAX: usize = 120;
/// Longest text that is taken.
const TEXT_CHARS_MAX: usize = 12_000;

/// A post.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Post {
    /// Its number.
    pub id: u64,
    /// The key it came with.
    pub key: Option<String>,
    /// The title.
    pub title: String,
    /// The text.
    pub text: String,
    /// When it is to appear, as its author wrote it.
    pub schedule: Option<String>,
    /// How often it was looked for so far.
    #[serde(skip)]
    pub(super) lookups: u32,
}

/// A comment on a post, by a visitor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Comment {
    /// Its number.
    pub id: u64,
    /// The post.
    pub post: u64,
    /// Who wrote it.
    pub author: String,
    /// The text.
    pub text: String,
}

/// The answer of the account's owner to a comment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reply {
    /// Its number.
    pub id: u64,
    /// The comment.
    pub comment: u64,
    /// The key it came with.
    pub key: Option<String>,
    /// The text.
    pub text: String,
    /// How often it was looked for so far.
    #[serde(skip)]
    pub(super) lookups: u32,
}

/// A post or a reply that someone wants to make.
#[derive(Debug)]
pub(super) enum Draft {
    Post {
        title: String,
        text: String,
        schedule: Option<String>,
    },
    Reply {
        comment: u64,
        text: String,
    },
}

/// What was made.
pub(super) enum Made {
    Post(Post),
    Reply(Reply),
}

/// Everything.
#[derive(Debug)]
pub(super) struct State {
    pub(super) options: PlatformOptions,
    pub(super) posts: Vec<Post>,
    pub(super) comments: Vec<Comment>,
    pub(super) replies: Vec<Reply>,
    pub(super) counts: BTreeMap<Kind, u64>,
    rng: Rng,
    limited: Tally,
    failed: Tally,
    failed_late: Tally,
    lost: Tally,
}

impl State {
    pub(super) fn new(options: PlatformOptions) -> Self {
        Self {
            rng: Rng::new(options.seed),
            options,
            posts: Vec::new(),
            comments: Vec::new(),
            replies: Vec::new(),
            counts: BTreeMap::new(),
            limited: Tally::default(),
            failed: Tally::default(),
            failed_late: Tally::default(),
            lost: Tally::default(),
        }
    }

    pub(super) fn change(&mut self, change: impl FnOnce(&mut PlatformOptions)) {
        change(&mut self.options);
        self.limited = Tally::default();
        self.failed = Tally::default();
        self.failed_late = Tally::default();
        self.lost = Tally::default();
    }

    pub(super) fn count(&mut self, kind: Kind) {
        *self.counts.entry(kind).or_default() += 1;
    }

    /// Turns a request of the API away before anything is done.
    pub(super) fn turn_away(&mut self) -> Option<Response> {
        if self.limited.next(self.options.limit, &mut self.rng) {
            let busy = Response::error(429, "rate_limited", "too many requests");
            return Some(busy.with_header("retry-after", "1"));
        }
        let fails = self.failed.next(self.options.fail, &mut self.rng);
        fails.then(|| Response::error(503, "unavailable", "try again later"))
    }

    /// What the author of a commit hears of it.
    pub(super) fn tell(&mut self, response: Response) -> Answer {
        if self.lost.next(self.options.lose, &mut self.rng) {
            return Answer::Lost;
        }
        if self.failed_late.next(self.options.fail_late, &mut self.rng) {
            return Answer::Sent(Response::error(500, "internal", "something broke"));
        }
        Answer::Sent(response)
    }

    /// Why a draft cannot be taken, if so.
    pub(super) fn objection(&self, draft: &Draft) -> Option<String> {
        let text = match draft {
            Draft::Post { title, text, .. } => {
                if title.trim().is_empty() {
                    return Some("the title is missing".to_owned());
                }
                if title.chars().count() > TITLE_CHARS_MAX {
                    return Some(format!(
                        "the title is longer than {TITLE_CHARS_MAX} characters"
                    ));
                }
                text
            }
            Draft::Reply { comment, text } => {
                if !self.comments.iter().any(|known| known.id == *comment) {
                    return Some("there is no such comment".to_owned());
                }
                text
            }
        };
        if text.trim().is_empty() {
            return Some("the text is missing".to_owned());
        }
        (text.chars().count() > TEXT_CHARS_MAX)
            .then(|| format!("the text is longer than {TEXT_CHARS_MAX} characters"))
    }

    /// Makes a post or reply, unless it is there and the platform looks.
    pub(super) fn commit(&mut self, draft: Draft, key: Option<String>) -> Made {
        let known = key.as_ref().filter(|_| self.options.dedupe);
        match draft {
            Draft::Post {
                title,
                text,
                schedule,
            } => {
                let earlier = self.posts.iter().find(|p| known.is_some() && p.key == key);
                if let Some(earlier) = earlier {
                    return Made::Post(earlier.clone());
                }
                let post = Post {
                    id: next_id(self.posts.len()),
                    key,
                    title,
                    text,
                    schedule,
                    lookups: 0,
                };
                self.posts.push(post.clone());
                if let Some(said) = self.options.visitor.clone() {
                    self.add_comment(post.id, "a visitor", &said);
                }
                Made::Post(post)
            }
            Draft::Reply { comment, text } => {
                let earlier = self
                    .replies
                    .iter()
                    .find(|r| known.is_some() && r.key == key);
                if let Some(earlier) = earlier {
                    return Made::Reply(earlier.clone());
                }
                let reply = Reply {
                    id: next_id(self.replies.len()),
                    comment,
                    key,
                    text,
                    lookups: 0,
                };
                self.replies.push(reply.clone());
                Made::Reply(reply)
            }
        }
    }

    /// The posts that are meant and can be seen; each look brings the hidden ones nearer.
    pub(super) fn look_for_posts(&mut self, meant: impl Fn(&Post) -> bool) -> Vec<Post> {
        let after = self.options.visible_after;
        let meant = self.posts.iter_mut().filter(|post| meant(post));
        meant
            .filter_map(|post| seen(&mut post.lookups, after).then(|| post.clone()))
            .collect()
    }

    /// The same for replies.
    pub(super) fn look_for_replies(&mut self, meant: impl Fn(&Reply) -> bool) -> Vec<Reply> {
        let after = self.options.visible_after;
        let meant = self.replies.iter_mut().filter(|reply| meant(reply));
        meant
            .filter_map(|reply| seen(&mut reply.lookups, after).then(|| reply.clone()))
            .collect()
    }

    pub(super) fn add_comment(&mut self, post: u64, author: &str, text: &str) -> u64 {
        let id = next_id(self.comments.len());
        self.comments.push(Comment {
            id,
            post,
            author: author.to_owned(),
            text: text.to_owned(),
        });
        id
    }
}

fn seen(lookups: &mut u32, after: u32) -> bool {
    let seen = *lookups >= after;
    *lookups = lookups.saturating_add(1);
    seen
}

fn next_id(count: usize) -> u64 {
    count as u64 + 1
}
