//! Planner, creator and doc: one call, one record.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::config::{AgencyBlueprint, AgencyLimits};
use super::role_program::{self, RoleEnd, append, call, field};
use crate::reply::form;
use fathom_core::contract::stop::{ErrorClass, StopReason};
use fathom_core::domain::name;
use fathom_core::domain::records::sha256;
use fathom_core::episode::program::{Ask, Program, ProgramError, ProgramInput, ProgramView};
use fathom_core::episode::result::clip;
use fathom_core::id::AskId;
use fathom_core::journal::event::ProgramSpec;
use fathom_core::text::Text;

/// Name of the program in specifications and journals.
pub(super) const NAME: &str = "agency_scribe";

/// Calls for one record, the repeats after unusable replies included.
const TRIES_MAX: u32 = 3;

/// Kind of record to write.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum WritingTask {
    Plan {
        id: String,
    },
    /// An asset after a plan.
    Asset {
        id: String,
        plan: String,
        blueprint: Box<AgencyBlueprint>,
        provider: String,
        /// Criticism of the version before.
        criticism: Option<String>,
    },
    /// An entry of the journal.
    Journal {
        id: String,
    },
}

/// Configuration of a writer.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WriterConfig {
    pub(super) prompt: String,
    pub(super) work: WritingTask,
    /// Sources by name, each with its text.
    pub(super) given: Vec<(String, String)>,
    pub(super) limits: AgencyLimits,
}

impl WriterConfig {
    pub(super) fn spec(&self) -> ProgramSpec {
        ProgramSpec::new(NAME, self)
    }
}

/// The program of planner, creator and doc: one call, one record.
pub(super) struct DraftWriter {
    params: WriterConfig,
    goal: String,
    awaited: AskId,
    tries: u32,
    /// The record on its way into its domain.
    written: Option<Value>,
}

impl DraftWriter {
    pub(super) fn new(spec: &ProgramSpec) -> Result<Self, ProgramError> {
        Ok(Self {
            params: spec.read()?,
            goal: String::new(),
            awaited: AskId::default(),
            tries: 0,
            written: None,
        })
    }

    fn ask(&mut self, view: &ProgramView<'_>) -> Vec<Ask> {
        self.awaited = view.next_ask;
        self.tries += 1;
        let mut prompt = format!("Goal: {}\n", self.goal);
        for (source, text) in &self.params.given {
            prompt.extend(["\n--- ", source, "\n", text.trim_end(), "\n"]);
        }
        prompt.push_str("---\n");
        prompt.push_str(&self.params.work.instruction());
        let schema = self.params.work.schema();
        vec![call(
            &self.params.prompt,
            prompt,
            &schema,
            &self.params.limits,
            view,
        )]
    }

    fn on_reply(&mut self, said: &Text, view: &ProgramView<'_>) -> Vec<Ask> {
        let reply: Value = form(said.as_str()).unwrap_or_default();
        let Some(body) = self.params.work.body(&reply) else {
            if self.tries < TRIES_MAX {
                return self.ask(view);
            }
            let class = ErrorClass::Model(fathom_core::model::failure::FailureKind::Malformed);
            let why = format!("no usable reply in {TRIES_MAX} tries");
            return self.fail(StopReason::Failure { class }, why);
        };
        self.awaited = view.next_ask;
        let evidence: Vec<String> = self
            .params
            .given
            .iter()
            .map(|(source, _)| source.clone())
            .collect();
        let (domain, kind, id) = self.params.work.place();
        let ask = append(domain, kind, id, &body, &evidence);
        self.written = Some(body);
        vec![ask]
    }

    fn on_kept(&mut self, answer: &Text) -> Vec<Ask> {
        let written = self.written.clone().unwrap_or_default();
        let (_, kind, id) = self.params.work.place();
        let pointer = format!("{kind}:{id}");
        match role_program::records(answer) {
            Ok(_) => {
                let did = format!("wrote {pointer}");
                let found = ["title", "content"]
                    .iter()
                    .find_map(|key| written.get(*key)?.as_str());
                let found = clip(found.unwrap_or("kept"), 120);
                RoleEnd::ok(written.to_string(), did, found)
                    .made(vec![pointer])
                    .finish(&self.goal)
            }
            Err(why) => {
                let class = ErrorClass::Refused;
                self.fail(
                    StopReason::Failure { class },
                    format!("{pointer} was not kept: {why}"),
                )
            }
        }
    }

    fn fail(&self, stop: StopReason, why: String) -> Vec<Ask> {
        let (domain, kind, _) = self.params.work.place();
        RoleEnd::failed(stop, format!("{kind} for {domain}"), why).finish(&self.goal)
    }
}

impl Program for DraftWriter {
    fn on(&mut self, input: ProgramInput<'_>, view: &ProgramView<'_>) -> Vec<Ask> {
        match input {
            ProgramInput::Start(started) => {
                started.goal.as_str().clone_into(&mut self.goal);
                self.ask(view)
            }
            ProgramInput::Reply { ask, reply } if ask == self.awaited => {
                self.on_reply(&reply.text, view)
            }
            ProgramInput::Host { ask, text } if ask == self.awaited => self.on_kept(text),
            ProgramInput::Failed { ask, failure } if ask == self.awaited => {
                self.fail(failure.as_stop(), failure.to_string())
            }
            ProgramInput::Refused { ask, reason } if ask == self.awaited => {
                self.fail(reason.as_stop(), reason.to_string())
            }
            _ => Vec::new(),
        }
    }

    fn partial(&self) -> Option<Text> {
        self.written
            .as_ref()
            .map(|body| Text::new(body.to_string()))
    }
}

/// Most characters of a plan's or a journal's texts.
const WORDS_CHARS_MAX: u32 = 1_200;

impl WritingTask {
    fn place(&self) -> (&'static str, &'static str, &str) {
        match self {
            Self::Plan { id } => (name::PLAN, "plan_node", id),
            Self::Asset { id, .. } => (name::ASSETS, "asset", id),
            Self::Journal { id } => (name::JOURNAL, "journal_entry", id),
        }
    }

    fn instruction(&self) -> String {
        match self {
            Self::Plan { .. } => {
                "Write the plan for this goal: a title, whom it is for, the angle, and what readers should do. Use only facts \
                 that stand above."
                    .to_owned()
            }
            Self::Asset {
                blueprint,
                criticism,
                ..
            } => {
                let mut said = format!(
                    "Make one {} after the plan. {} At most {} characters of text. Use only facts that stand above; promise \
                     nothing else.",
                    blueprint.kind, blueprint.instructions, blueprint.text_chars_max
                );
                if let Some(criticism) = criticism {
                    said.extend(["\nThe last version was not good enough: ", criticism]);
                }
                said
            }
            Self::Journal { .. } => {
                "Write the journal entry: a title, and in a few sentences what was done, what was decided and what is open. Only \
                 what stands above."
                    .to_owned()
            }
        }
    }

    fn schema(&self) -> Value {
        let text = |chars: u32| json!({ "type": "string", "minLength": 1, "maxLength": chars });
        let object = |properties: Value| {
            let required: Vec<String> = properties
                .as_object()
                .into_iter()
                .flatten()
                .map(|(key, _)| key.clone())
                .collect();
            json!({
                "type": "object", "properties": properties, "required": required,
                "additionalProperties": false,
            })
        };
        match self {
            Self::Plan { .. } => object(json!({
                "title": text(120), "audience": text(200), "angle": text(400), "call_to_action": text(200),
            })),
            Self::Asset { blueprint, .. } => object(json!({
                "title": text(blueprint.title_chars_max), "text": text(blueprint.text_chars_max),
            })),
            Self::Journal { .. } => {
                object(json!({ "title": text(120), "text": text(WORDS_CHARS_MAX) }))
            }
        }
    }

    /// The record that a reply makes, when it has all that is needed.
    fn body(&self, reply: &Value) -> Option<Value> {
        let said = |key: &str, chars: u32| field(reply, key, chars as usize);
        Some(match self {
            Self::Plan { .. } => json!({
                "title": said("title", 120)?,
                "text": format!(
                    "For {}. {} Readers should: {}",
                    said("audience", 200)?, said("angle", 400)?, said("call_to_action", 200)?,
                ),
            }),
            Self::Asset {
                plan,
                blueprint,
                provider,
                ..
            } => {
                let title = said("title", blueprint.title_chars_max)?;
                let text = said("text", blueprint.text_chars_max)?;
                let content = format!("{title}\n\n{text}");
                json!({
                    "blueprint": blueprint.kind, "plan": plan, "prompts": ["agents/creator"],
                    "provider": provider, "media": "text/plain", "sha256": hex(&content),
                    "content": content,
                })
            }
            Self::Journal { .. } => json!({
                "title": said("title", 120)?, "text": said("text", WORDS_CHARS_MAX)?,
            }),
        })
    }
}

/// SHA-256 in hexadecimal digits.
pub(super) fn hex(text: &str) -> String {
    sha256(text).to_string()
}
