//! The publisher: turns an asset into a payload and has it sent once.
//!
//! Dry run, decision and approval are the gateway's. When nobody can say whether it was sent, a verifier looks, and nothing
//! is sent again.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::config::PublishingLane;
use super::role_program::{self, RoleEnd, append, latest};
use super::writer::hex;
use fathom_core::contract::stop::{ErrorClass, StopReason};
use fathom_core::domain::name;
use fathom_core::effect::EffectOutcome;
use fathom_core::episode::program::{Ask, Program, ProgramError, ProgramInput, ProgramView};
use fathom_core::episode::result::{HandoffTicket, clip};
use fathom_core::id::AskId;
use fathom_core::journal::event::ProgramSpec;
use fathom_core::model::tool_call::canonical;
use fathom_core::text::Text;

/// Name of the program in specifications and journals.
pub(super) const NAME: &str = "agency_publisher";

/// Configuration of a publisher.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PublisherConfig {
    pub(super) asset: String,
    /// The snapshot that is made of it.
    pub(super) payload: String,
    /// Subject of the work.
    pub(super) occasion: String,
    pub(super) lane: PublishingLane,
}

impl PublisherConfig {
    pub(super) fn spec(&self) -> ProgramSpec {
        ProgramSpec::new(NAME, self)
    }
}

enum PublisherState {
    Asset,
    Snapshot(Value),
    Sent(Value),
}

/// The publisher: sends an asset once and records the receipt.
pub(super) struct PublisherProgram {
    params: PublisherConfig,
    goal: String,
    awaited: AskId,
    waiting: PublisherState,
}

impl PublisherProgram {
    pub(super) fn new(spec: &ProgramSpec) -> Result<Self, ProgramError> {
        Ok(Self {
            params: spec.read()?,
            goal: String::new(),
            awaited: AskId::default(),
            waiting: PublisherState::Asset,
        })
    }

    fn on_answer(&mut self, answer: &Text, view: &ProgramView<'_>) -> Vec<Ask> {
        let records = match role_program::records(answer) {
            Ok(records) => records,
            Err(why) => return self.fail(&why),
        };
        self.awaited = view.next_ask;
        match &self.waiting {
            PublisherState::Asset => {
                let Some(payload) = payload(&records, &self.params.occasion) else {
                    return self.fail("the asset has no title or no text");
                };
                let pointer = format!("asset:{}", self.params.asset);
                let snapshot = json!({
                    "of": pointer, "payload": payload, "sha256": hex(&canonical(&payload)),
                });
                self.waiting = PublisherState::Snapshot(payload);
                vec![append(
                    name::PAYLOADS,
                    "payload_snapshot",
                    &self.params.payload,
                    &snapshot,
                    &[pointer],
                )]
            }
            PublisherState::Snapshot(payload) => {
                let payload = payload.clone();
                let offer = &self.params.lane.publish;
                let request = offer.request(&self.params.occasion, &payload);
                self.waiting = PublisherState::Sent(payload);
                vec![Ask::Effect(request)]
            }
            PublisherState::Sent(_) => Vec::new(),
        }
    }

    fn on_outcome(&self, outcome: &EffectOutcome) -> Vec<Ask> {
        let title = match &self.waiting {
            PublisherState::Sent(payload) => payload.get("title").and_then(Value::as_str),
            PublisherState::Asset | PublisherState::Snapshot(_) => None,
        };
        let title = title.unwrap_or_default();
        let did = format!("publish `{}` by {}", clip(title, 60), self.params.lane.name);
        match outcome {
            EffectOutcome::Confirmed { receipt } => {
                let answer = json!({
                    "post": post_of(receipt.as_str()), "title": title, "occasion": self.params.occasion,
                });
                let pointer = format!("payload_snapshot:{}", self.params.payload);
                RoleEnd::ok(answer.to_string(), did, clip(receipt.as_str(), 120))
                    .made(vec![pointer])
                    .finish(&self.goal)
            }
            EffectOutcome::Failed { detail } => self.hand_over(
                did,
                detail.as_str(),
                "decide whether it should go out, and how; nothing was sent",
            ),
            EffectOutcome::Unknown { detail } => self.hand_over(
                did,
                detail.as_str(),
                "find out whether it went out; it was not sent again",
            ),
        }
    }

    fn hand_over(&self, tried: String, known: &str, asked: &str) -> Vec<Ask> {
        let rule = clip(known, 120);
        let ticket = HandoffTicket {
            tried: Text::new(tried),
            known: Text::from(known),
            asked: Text::from(asked),
            deadline: None,
        };
        RoleEnd::review(StopReason::PolicyDeny { rule }, ticket, None).finish(&self.goal)
    }

    fn fail(&self, why: &str) -> Vec<Ask> {
        let class = ErrorClass::Refused;
        RoleEnd::failed(StopReason::Failure { class }, "publish", why).finish(&self.goal)
    }
}

/// The payload of an asset.
fn payload(records: &[Value], occasion: &str) -> Option<Value> {
    let content = records.first()?.get("body")?.get("content")?.as_str()?;
    let (title, text) = content.split_once("\n\n")?;
    Some(json!({ "title": title, "text": text, "ref": occasion }))
}

/// The id that a platform gave something, wherever its receipt has it.
pub(super) fn post_of(receipt: &str) -> String {
    let receipt: Value = serde_json::from_str(receipt).unwrap_or_default();
    let found = [
        "/body/id",
        "/id",
        "/body/post/id",
        "/body/posts/0/id",
        "/body/0/id",
    ]
    .iter()
    .find_map(|at| receipt.pointer(at));
    match found {
        Some(Value::String(id)) => id.clone(),
        Some(Value::Number(id)) => id.to_string(),
        _ => String::new(),
    }
}

impl Program for PublisherProgram {
    fn on(&mut self, input: ProgramInput<'_>, view: &ProgramView<'_>) -> Vec<Ask> {
        match input {
            ProgramInput::Start(started) => {
                started.goal.as_str().clone_into(&mut self.goal);
                self.awaited = view.next_ask;
                vec![latest(name::ASSETS, "asset", &self.params.asset)]
            }
            ProgramInput::Host { ask, text } if ask == self.awaited => self.on_answer(text, view),
            ProgramInput::Effect { ask, outcome } if ask == self.awaited => {
                self.on_outcome(outcome)
            }
            ProgramInput::Refused { ask, reason } if ask == self.awaited => {
                let did = format!("publish by {}", self.params.lane.name);
                RoleEnd::failed(reason.as_stop(), did, reason.to_string()).finish(&self.goal)
            }
            _ => Vec::new(),
        }
    }

    fn partial(&self) -> Option<Text> {
        None
    }
}
