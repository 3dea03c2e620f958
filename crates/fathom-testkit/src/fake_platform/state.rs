//! State of the platform, and its present faults.

use std::collections::BTreeMap;

use serde::Serialize;

use super::PlatformOptions;
use super::fault_rate::FaultTally;
use super::request::{PlatformAnswer, PlatformResponse, RequestKind};
use crate::sim::rng::SimRng;

/// Longest title that is taken.
const TITLE_CHARS_MAX: usize = 120;
/// Longest text that is taken.
const TEXT_CHARS_MAX: usize = 12_000;

/// A post.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlatformPost {
    pub id: u64,
    /// The key it came with.
    pub key: Option<String>,
    pub title: String,
    pub text: String,
    /// Time of publication, as its author wrote it.
    pub schedule: Option<String>,
    /// Number of lookups so far.
    #[serde(skip)]
    pub(super) lookups: u32,
}

/// A comment on a post, by a visitor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlatformComment {
    pub id: u64,
    pub post: u64,
    pub author: String,
    pub text: String,
}

/// The answer of the account's owner to a comment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlatformReply {
    pub id: u64,
    pub comment: u64,
    /// The key it came with.
    pub key: Option<String>,
    pub text: String,
    /// Number of lookups so far.
    #[serde(skip)]
    pub(super) lookups: u32,
}

/// A post or a reply that someone wants to make.
#[derive(Debug)]
pub(super) enum PlatformDraft {
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

/// An item that was created.
pub(super) enum CreatedItem {
    Post(PlatformPost),
    Reply(PlatformReply),
}

/// Everything.
#[derive(Debug)]
pub(super) struct PlatformState {
    pub(super) options: PlatformOptions,
    pub(super) posts: Vec<PlatformPost>,
    pub(super) comments: Vec<PlatformComment>,
    pub(super) replies: Vec<PlatformReply>,
    pub(super) counts: BTreeMap<RequestKind, u64>,
    rng: SimRng,
    limited: FaultTally,
    failed: FaultTally,
    failed_late: FaultTally,
    lost: FaultTally,
}

impl PlatformState {
    pub(super) fn new(options: PlatformOptions) -> Self {
        Self {
            rng: SimRng::new(options.seed),
            options,
            posts: Vec::new(),
            comments: Vec::new(),
            replies: Vec::new(),
            counts: BTreeMap::new(),
            limited: FaultTally::default(),
            failed: FaultTally::default(),
            failed_late: FaultTally::default(),
            lost: FaultTally::default(),
        }
    }

    pub(super) fn change(&mut self, change: impl FnOnce(&mut PlatformOptions)) {
        change(&mut self.options);
        self.limited = FaultTally::default();
        self.failed = FaultTally::default();
        self.failed_late = FaultTally::default();
        self.lost = FaultTally::default();
    }

    pub(super) fn count(&mut self, kind: RequestKind) {
        *self.counts.entry(kind).or_default() += 1;
    }

    /// Turns a request of the API away before anything is done.
    pub(super) fn turn_away(&mut self) -> Option<PlatformResponse> {
        if self.limited.next(self.options.limit, &mut self.rng) {
            let busy = PlatformResponse::error(429, "rate_limited", "too many requests");
            return Some(busy.with_header("retry-after", "1"));
        }
        let fails = self.failed.next(self.options.fail, &mut self.rng);
        fails.then(|| PlatformResponse::error(503, "unavailable", "try again later"))
    }

    /// Answer that the author of a commit receives.
    pub(super) fn tell(&mut self, response: PlatformResponse) -> PlatformAnswer {
        if self.lost.next(self.options.lose, &mut self.rng) {
            return PlatformAnswer::Lost;
        }
        if self.failed_late.next(self.options.fail_late, &mut self.rng) {
            return PlatformAnswer::Sent(PlatformResponse::error(
                500,
                "internal",
                "something broke",
            ));
        }
        PlatformAnswer::Sent(response)
    }

    /// First problem with a draft.
    pub(super) fn objection(&self, draft: &PlatformDraft) -> Option<String> {
        let text = match draft {
            PlatformDraft::Post { title, text, .. } => {
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
            PlatformDraft::Reply { comment, text } => {
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
    pub(super) fn commit(&mut self, draft: PlatformDraft, key: Option<String>) -> CreatedItem {
        let known = key.as_ref().filter(|_| self.options.dedupe);
        match draft {
            PlatformDraft::Post {
                title,
                text,
                schedule,
            } => {
                let earlier = self.posts.iter().find(|p| known.is_some() && p.key == key);
                if let Some(earlier) = earlier {
                    return CreatedItem::Post(earlier.clone());
                }
                let post = PlatformPost {
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
                CreatedItem::Post(post)
            }
            PlatformDraft::Reply { comment, text } => {
                let earlier = self
                    .replies
                    .iter()
                    .find(|r| known.is_some() && r.key == key);
                if let Some(earlier) = earlier {
                    return CreatedItem::Reply(earlier.clone());
                }
                let reply = PlatformReply {
                    id: next_id(self.replies.len()),
                    comment,
                    key,
                    text,
                    lookups: 0,
                };
                self.replies.push(reply.clone());
                CreatedItem::Reply(reply)
            }
        }
    }

    /// The visible posts that match; each lookup brings the hidden ones nearer.
    pub(super) fn look_for_posts(
        &mut self,
        meant: impl Fn(&PlatformPost) -> bool,
    ) -> Vec<PlatformPost> {
        let after = self.options.visible_after;
        let meant = self.posts.iter_mut().filter(|post| meant(post));
        meant
            .filter_map(|post| seen(&mut post.lookups, after).then(|| post.clone()))
            .collect()
    }

    /// The same for replies.
    pub(super) fn look_for_replies(
        &mut self,
        meant: impl Fn(&PlatformReply) -> bool,
    ) -> Vec<PlatformReply> {
        let after = self.options.visible_after;
        let meant = self.replies.iter_mut().filter(|reply| meant(reply));
        meant
            .filter_map(|reply| seen(&mut reply.lookups, after).then(|| reply.clone()))
            .collect()
    }

    pub(super) fn add_comment(&mut self, post: u64, author: &str, text: &str) -> u64 {
        let id = next_id(self.comments.len());
        self.comments.push(PlatformComment {
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
