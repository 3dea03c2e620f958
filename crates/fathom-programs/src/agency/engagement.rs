//! Engagement: reads what people said, and answers each of them at most once.
//!
//! It may classify and draft as often as its budget lets it; it sends once for each event. What looks risky goes to a person.

use std::collections::{BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::config::{AgencyLimits, PublishingLane};
use super::prompts;
use super::publisher::post_of;
use super::role_program::{self, RoleEnd, append, call, field, read};
use crate::reply::form;
use fathom_core::contract::stop::StopReason;
use fathom_core::domain::name;
use fathom_core::effect::EffectOutcome;
use fathom_core::episode::program::{Ask, Program, ProgramError, ProgramInput, ProgramView};
use fathom_core::episode::result::{HandoffTicket, clip};
use fathom_core::id::AskId;
use fathom_core::journal::event::ProgramSpec;
use fathom_core::text::Text;
use fathom_core::unit::Millis;

/// Name of the program in specifications and journals.
pub(super) const NAME: &str = "agency_engagement";

/// Deadline of a person for a comment.
const TICKET_TIME: Millis = Millis(72 * 60 * 60 * 1_000);

/// Most characters of an answer.
const REPLY_CHARS_MAX: u32 = 400;

/// Configuration of engagement.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EngagementConfig {
    pub(super) prompt: String,
    pub(super) rubric: String,
    /// Facts that answers may use, each with its source.
    pub(super) given: Vec<(String, String)>,
    /// The post whose comments are looked at.
    pub(super) post: String,
    pub(super) lane: PublishingLane,
    pub(super) limits: AgencyLimits,
}

impl EngagementConfig {
    pub(super) fn spec(&self) -> ProgramSpec {
        ProgramSpec::new(NAME, self)
    }
}

/// Something that a person said.
#[derive(Clone, Debug)]
struct ReceivedComment {
    id: String,
    author: String,
    text: String,
}

/// Outcome of a comment.
#[derive(Clone, Debug, Serialize)]
struct CommentOutcome {
    comment: String,
    intent: String,
    outcome: String,
    reply: Option<String>,
}

/// Input awaited for the comment at the head of the queue.
enum EngagementState {
    Feed,
    Events,
    Actions,
    Draft,
    Annotation(AnswerDraft),
    Sent(AnswerDraft),
    Action,
    Summary,
}

#[derive(Clone, Debug)]
struct AnswerDraft {
    intent: String,
    risky: bool,
    reply: String,
}

/// The engagement role: reads comments, drafts an answer to each, and sends it once or hands it to a person.
pub(super) struct EngagementProgram {
    params: EngagementConfig,
    goal: String,
    awaited: AskId,
    waiting: EngagementState,
    comments: VecDeque<ReceivedComment>,
    answered: Vec<CommentOutcome>,
    tickets: Vec<HandoffTicket>,
}

impl EngagementProgram {
    pub(super) fn new(spec: &ProgramSpec) -> Result<Self, ProgramError> {
        Ok(Self {
            params: spec.read()?,
            goal: String::new(),
            awaited: AskId::default(),
            waiting: EngagementState::Feed,
            comments: VecDeque::new(),
            answered: Vec::new(),
            tickets: Vec::new(),
        })
    }

    fn wait(&mut self, waiting: EngagementState, ask: Ask, view: &ProgramView<'_>) -> Vec<Ask> {
        self.awaited = view.next_ask;
        self.waiting = waiting;
        vec![ask]
    }

    fn feed(&mut self, view: &ProgramView<'_>) -> Vec<Ask> {
        let Some(feed) = &self.params.lane.feed else {
            return self.finish();
        };
        let event = format!("feed/{}", self.params.post);
        let request = feed.request(&event, &json!({ "post": self.params.post }));
        self.wait(EngagementState::Feed, Ask::Effect(request), view)
    }

    /// Takes the next comment in hand.
    fn next(&mut self, view: &ProgramView<'_>) -> Vec<Ask> {
        let Some(comment) = self.comments.front() else {
            return self.finish();
        };
        let prompt = prompts::answer_to(
            &comment.author,
            &comment.text,
            &self.params.given,
            &self.params.rubric,
        );
        let schema = prompts::answer_schema(REPLY_CHARS_MAX);
        let ask = call(
            &self.params.prompt,
            prompt,
            &schema,
            &self.params.limits,
            view,
        );
        self.wait(EngagementState::Draft, ask, view)
    }

    fn on_draft(&mut self, said: &Text, view: &ProgramView<'_>) -> Vec<Ask> {
        let reply: Value = form(said.as_str()).unwrap_or_default();
        let draft = AnswerDraft {
            intent: field(&reply, "intent", 20).unwrap_or_else(|| "other".to_owned()),
            // What cannot be read is not sent.
            risky: reply.get("risk").and_then(Value::as_str) != Some("low"),
            reply: field(&reply, "reply", REPLY_CHARS_MAX as usize).unwrap_or_default(),
        };
        let Some(comment) = self.comments.front() else {
            return self.finish();
        };
        let risks: &[&str] = if draft.risky { &["high"] } else { &[] };
        let body = json!({ "event": comment.id, "labels": [draft.intent], "risks": risks });
        let pointer = format!("engagement_event:{}", comment.id);
        let ask = append(
            name::ANNOTATIONS,
            "annotation",
            &comment.id,
            &body,
            &[pointer],
        );
        self.wait(EngagementState::Annotation(draft), ask, view)
    }

    fn send(&mut self, draft: AnswerDraft, view: &ProgramView<'_>) -> Vec<Ask> {
        let for_person = draft.risky
            || draft.reply.is_empty()
            // These wait for a person, whatever risk the model states.
            || matches!(draft.intent.as_str(), "spam" | "complaint");
        match (&self.params.lane.reply, self.comments.front()) {
            (Some(reply), Some(comment)) if !for_person => {
                let arguments = json!({ "comment": comment.id, "text": draft.reply });
                let request = reply.request(&format!("comment/{}", comment.id), &arguments);
                self.wait(EngagementState::Sent(draft), Ask::Effect(request), view)
            }
            _ => self.hand_over(&draft, "nobody was answered", view),
        }
    }

    /// Leaves a comment to a person.
    fn hand_over(&mut self, draft: &AnswerDraft, known: &str, view: &ProgramView<'_>) -> Vec<Ask> {
        let Some(comment) = self.comments.front().cloned() else {
            return self.finish();
        };
        let deadline = view.at.plus(TICKET_TIME);
        let ticket = HandoffTicket {
            tried: Text::new(format!(
                "comment {} by {}: {} ({})",
                comment.id,
                comment.author,
                clip(&comment.text, 120),
                draft.intent
            )),
            known: Text::from(if known.is_empty() { "nothing" } else { known }),
            asked: Text::from("answer it, or leave it"),
            deadline: Some(deadline),
        };
        let body = json!({
            "tried": ticket.tried.as_str(), "known": ticket.known.as_str(), "asked": ticket.asked.as_str(),
            "deadline_ms": deadline,
        });
        self.tickets.push(ticket);
        self.note(&comment.id, draft, "handed to a person", None);
        let pointer = format!("engagement_event:{}", comment.id);
        let ask = append(
            name::ACTIONS,
            "handoff_ticket",
            &comment.id,
            &body,
            &[pointer],
        );
        // Nothing was said, so there is nothing to sum up.
        self.comments.pop_front();
        self.wait(EngagementState::Summary, ask, view)
    }

    fn note(&mut self, comment: &str, draft: &AnswerDraft, outcome: &str, reply: Option<String>) {
        self.answered.push(CommentOutcome {
            comment: comment.to_owned(),
            intent: draft.intent.clone(),
            outcome: outcome.to_owned(),
            reply,
        });
    }

    fn on_sent(&mut self, outcome: &EffectOutcome, view: &ProgramView<'_>) -> Vec<Ask> {
        let EngagementState::Sent(draft) = &self.waiting else {
            return Vec::new();
        };
        let draft = draft.clone();
        let Some(comment) = self.comments.front().cloned() else {
            return self.finish();
        };
        match outcome {
            EffectOutcome::Confirmed { receipt } => {
                let reply = post_of(receipt.as_str());
                self.note(&comment.id, &draft, "answered", Some(reply.clone()));
                let body = json!({
                    "event": comment.id, "action": "reply", "text": draft.reply, "receipt": reply,
                });
                let pointer = format!("engagement_event:{}", comment.id);
                let ask = append(
                    name::ACTIONS,
                    "engagement_action",
                    &comment.id,
                    &body,
                    &[pointer],
                );
                self.wait(EngagementState::Action, ask, view)
            }
            EffectOutcome::Failed { detail } | EffectOutcome::Unknown { detail } => {
                let known = detail.as_str().to_owned();
                self.hand_over(&draft, &known, view)
            }
        }
    }

    fn on_kept(&mut self, answer: &Text, view: &ProgramView<'_>) -> Vec<Ask> {
        let records = match role_program::records(answer) {
            Ok(records) => records,
            Err(why) => {
                let rule = clip(&why, 120);
                return RoleEnd::failed(StopReason::PolicyDeny { rule }, "engagement", why)
                    .finish(&self.goal);
            }
        };
        match &self.waiting {
            EngagementState::Events => {
                self.comments = comments(&records, &self.params.post);
                self.wait(
                    EngagementState::Actions,
                    read(name::ACTIONS, "engagement_action"),
                    view,
                )
            }
            EngagementState::Actions => {
                // What was answered before is not answered again.
                let done: BTreeSet<&str> = records
                    .iter()
                    .filter_map(|record| record.get("id")?.as_str())
                    .collect();
                self.comments
                    .retain(|comment| !done.contains(comment.id.as_str()));
                let most = self.params.limits.replies_max as usize;
                // After the answered ones are gone: otherwise old comments would use up the limit of every round.
                self.comments.truncate(most);
                self.next(view)
            }
            EngagementState::Annotation(draft) => {
                let draft = draft.clone();
                self.send(draft, view)
            }
            EngagementState::Action => {
                let comment = self.comments.pop_front();
                let Some(comment) = comment else {
                    return self.finish();
                };
                let said = format!(
                    "A visitor left a comment of kind {}; it was answered once.",
                    self.answered.last().map_or("other", |last| &last.intent)
                );
                let body = json!({ "text": said, "pointers": [] });
                let pointer = format!("engagement_event:{}", comment.id);
                let ask = append(
                    name::CONVERSATIONS,
                    "conversation_summary",
                    &comment.id,
                    &body,
                    &[pointer],
                );
                self.wait(EngagementState::Summary, ask, view)
            }
            EngagementState::Summary => self.next(view),
            EngagementState::Feed | EngagementState::Draft | EngagementState::Sent(_) => Vec::new(),
        }
    }

    fn finish(&self) -> Vec<Ask> {
        let answer = json!({ "post": self.params.post, "comments": self.answered });
        let sent = self.answered.iter().filter(|one| one.reply.is_some());
        let did = format!("answered {} of {}", sent.count(), self.answered.len());
        let end = match self.tickets.first() {
            None => RoleEnd::ok(answer.to_string(), did, "nobody is left to be answered"),
            Some(ticket) => RoleEnd::review(
                StopReason::ReviewFailed,
                ticket.clone(),
                Some(answer.to_string()),
            ),
        };
        end.finish(&self.goal)
    }
}

/// The comments under a post.
fn comments(records: &[Value], post: &str) -> VecDeque<ReceivedComment> {
    let read = |record: &Value| {
        let body = record.get("body")?;
        let said = |key: &str| body.get(key).and_then(Value::as_str).map(str::to_owned);
        (said("about").as_deref() == Some(post)).then_some(())?;
        Some(ReceivedComment {
            id: record.get("id")?.as_str()?.to_owned(),
            author: said("author").unwrap_or_else(|| "someone".to_owned()),
            text: said("text")?,
        })
    };
    records.iter().filter_map(read).collect()
}

impl Program for EngagementProgram {
    fn on(&mut self, input: ProgramInput<'_>, view: &ProgramView<'_>) -> Vec<Ask> {
        match input {
            ProgramInput::Start(started) => {
                started.goal.as_str().clone_into(&mut self.goal);
                self.feed(view)
            }
            ProgramInput::Effect { ask, outcome } if ask == self.awaited => match &self.waiting {
                EngagementState::Feed => self.wait(
                    EngagementState::Events,
                    read(name::EVENTS, "engagement_event"),
                    view,
                ),
                _ => self.on_sent(outcome, view),
            },
            ProgramInput::Reply { ask, reply } if ask == self.awaited => {
                self.on_draft(&reply.text, view)
            }
            ProgramInput::Host { ask, text } if ask == self.awaited => self.on_kept(text, view),
            ProgramInput::Failed { ask, failure } if ask == self.awaited => {
                let draft = AnswerDraft {
                    intent: "other".to_owned(),
                    // The model could not be asked, so nobody has judged the comment.
                    risky: true,
                    reply: String::new(),
                };
                self.hand_over(&draft, &failure.to_string(), view)
            }
            ProgramInput::Refused { ask, reason } if ask == self.awaited => {
                RoleEnd::failed(reason.as_stop(), "engagement", reason.to_string())
                    .finish(&self.goal)
            }
            _ => Vec::new(),
        }
    }

    fn partial(&self) -> Option<Text> {
        let answered = serde_json::to_string(&self.answered).ok()?;
        (!self.answered.is_empty()).then(|| Text::new(answered))
    }
}
