//! The calls of one turn, from what the model wants to what it is told.

use std::collections::{BTreeMap, BTreeSet};

use jsonschema::Validator;
use serde_json::Value;

use super::config::{OfferedTool, ToolsConfig};
use super::prompts;
use super::report::{CallNote, CallOutcome, CallRuling, ToolsReport};
use fathom_core::budget::amounts::Dimension;
use fathom_core::contract::stop::Refusal;
use fathom_core::effect::{DENIED, EffectClass, EffectOutcome, EffectRequest};
use fathom_core::episode::program::{Ask, ProgramView};
use fathom_core::episode::result::clip;
use fathom_core::id::AskId;
use fathom_core::model::tool_call::{ToolCall, canonical};
use fathom_core::text::Text;

/// Most calls of one turn.
pub const CALLS_MAX: usize = 8;
/// Most bytes of a call's arguments.
pub const ARGUMENTS_BYTES_MAX: usize = 64 * 1024;

/// Times that the same call may have the same outcome before the episode ends.
const SAME_MAX: u32 = 3;
/// Characters of a tool's name, of arguments and of a receipt in the report.
const NAME_CHARS: usize = 64;
const ARGUMENTS_CHARS: usize = 1000;
const RECEIPT_CHARS: usize = 500;

/// A tool by its place and what it is called with.
type CallSignature = (usize, String);

/// One call of the present turn.
struct CallSlot {
    /// Its place in the report.
    note: usize,
    /// Signature by which repeats are counted; `None` if the call cannot be made.
    key: Option<CallSignature>,
    /// Answer to the model, once known.
    told: Option<Value>,
}

/// Result of a turn's calls.
pub(super) struct CallRound {
    /// Message to the model.
    pub(super) told: String,
    /// No call could be made.
    pub(super) all_invalid: bool,
    /// A call had the same outcome too often.
    pub(super) repeats: bool,
}

/// All calls of the episode.
pub(super) struct CallHistory {
    validators: Vec<Validator>,
    /// Calls that were asked for so far, by tool.
    counts: BTreeMap<usize, u32>,
    slots: Vec<CallSlot>,
    open: BTreeMap<AskId, usize>,
    bytes_max: usize,
    /// Effects that may have happened: they are not wanted twice.
    done: BTreeSet<CallSignature>,
    /// The last outcome of each call, and how often it came in a row.
    outcomes: BTreeMap<CallSignature, (CallRuling, String, u32)>,
    names: Vec<(String, EffectClass)>,
    /// The budget that left no room for a call.
    pub(super) ran_out: Option<Dimension>,
    /// Nobody knows of some effect whether it happened.
    pub(super) is_in_doubt: bool,
    pub(super) report: ToolsReport,
}

impl CallHistory {
    pub(super) fn new(validators: Vec<Validator>) -> Self {
        Self {
            validators,
            counts: BTreeMap::new(),
            slots: Vec::new(),
            open: BTreeMap::new(),
            bytes_max: 0,
            done: BTreeSet::new(),
            outcomes: BTreeMap::new(),
            names: Vec::new(),
            ran_out: None,
            is_in_doubt: false,
            report: ToolsReport::default(),
        }
    }

    /// Takes the calls of a turn and asks for those that can be made. None can when it asks for nothing.
    pub(super) fn begin(
        &mut self,
        wanted: &[ToolCall],
        params: &ToolsConfig,
        view: &ProgramView<'_>,
    ) -> Vec<Ask> {
        self.slots.clear();
        self.open.clear();
        // Many answers at once share the room of two.
        let share = params.result_bytes_max.saturating_mul(2) / wanted.len().clamp(1, CALLS_MAX);
        self.bytes_max = share.min(params.result_bytes_max);
        if self.names.is_empty() {
            let names = params.tools.iter();
            self.names = names
                .map(|offered| (offered.spec.name.clone(), offered.class))
                .collect();
        }
        let mut asks = Vec::new();
        let mut next_ask = view.next_ask;
        // The calls over the limit are answered too, below, or the model would take them for made.
        for call in wanted.iter().take(CALLS_MAX) {
            match self.check(call, params) {
                Ok((tool, arguments)) => {
                    let offered = &params.tools[tool];
                    asks.push(self.ask(tool, offered, &arguments, &params.event));
                    self.open.insert(next_ask, self.slots.len());
                    next_ask = next_ask.next();
                    if offered.class == EffectClass::Effect {
                        // Inserted before the outcome is known, so that two equal calls in one reply do not both go
                        // out.
                        self.done.insert((tool, arguments.clone()));
                    }
                    self.note(call, CallRuling::Open, Some((tool, arguments)));
                }
                Err(why) => self.invalid(call, &why),
            }
        }
        // One notice for all of them: a reply with hundreds of calls would fill the next prompt with refusals.
        if let Some(over) = wanted.get(CALLS_MAX) {
            let why = format!(
                "{} calls at once, and {CALLS_MAX} are the most: this one and those after it were not made",
                wanted.len()
            );
            self.invalid(over, &why);
        }
        asks
    }

    /// The tool and its arguments in canonical form, or why the call cannot be made.
    fn check(&self, call: &ToolCall, params: &ToolsConfig) -> Result<CallSignature, String> {
        let tool = params.find(call.name.as_str()).ok_or("no such tool")?;
        let arguments = call.arguments.as_str();
        if arguments.len() > ARGUMENTS_BYTES_MAX {
            return Err(format!(
                "the arguments have {} bytes, and {ARGUMENTS_BYTES_MAX} are the most",
                arguments.len()
            ));
        }
        let arguments: Value = serde_json::from_str(arguments)
            .map_err(|error| format!("the arguments are no JSON: {error}"))?;
        if !arguments.is_object() {
            return Err("the arguments are no JSON object".to_owned());
        }
        if let Some(problems) = self
            .validators
            .get(tool)
            .and_then(|validator| problems(validator, &arguments))
        {
            return Err(format!("the arguments do not meet the schema: {problems}"));
        }
        // Canonical JSON, so that spacing and the order of members do not make the same effect a new one.
        let key = (tool, canonical(&arguments));
        if self.done.contains(&key) {
            return Err(
                "this was done, or may have been, by an earlier call: not again".to_owned(),
            );
        }
        Ok(key)
    }

    fn ask(&mut self, tool: usize, offered: &OfferedTool, arguments: &str, event: &str) -> Ask {
        let count = self.counts.entry(tool).or_default();
        *count += 1;
        Ask::Effect(EffectRequest {
            tool: offered.spec.name.clone(),
            target: offered.target.clone(),
            // Counted per tool, so that the key of an effect does not depend on calls of other tools before it.
            event: format!("{event}/{}/{count}", offered.spec.name),
            arguments: Text::from(arguments),
            class: offered.class,
            taint: Vec::new(),
        })
    }

    fn note(&mut self, call: &ToolCall, decision: CallRuling, key: Option<CallSignature>) {
        let arguments = match &key {
            Some((_, arguments)) => arguments,
            None => call.arguments.as_str(),
        };
        self.report.calls.push(CallNote {
            tool: clip(call.name.as_str(), NAME_CHARS),
            arguments: clip(arguments, ARGUMENTS_CHARS),
            decision,
            outcome: None,
            receipt: String::new(),
        });
        self.slots.push(CallSlot {
            note: self.report.calls.len() - 1,
            told: None,
            key,
        });
    }

    fn invalid(&mut self, call: &ToolCall, why: &str) {
        self.report.invalid += 1;
        self.note(call, CallRuling::Invalid, None);
        if let (Some(slot), Some(note)) = (self.slots.last_mut(), self.report.calls.last_mut()) {
            slot.told = Some(prompts::not_made(
                slot.note + 1,
                call.name.as_str(),
                "invalid",
                why,
            ));
            note.receipt = clip(why, RECEIPT_CHARS);
        }
    }

    /// A call came to an end. True when none of the turn is open any more.
    pub(super) fn settled(&mut self, ask: AskId, outcome: &EffectOutcome) -> bool {
        let (ruling, came, said) = match outcome {
            EffectOutcome::Confirmed { receipt } => {
                (CallRuling::Allowed, Some(CallOutcome::Confirmed), receipt)
            }
            EffectOutcome::Failed { detail } if detail.as_str().starts_with(DENIED) => {
                (CallRuling::Denied, None, detail)
            }
            EffectOutcome::Failed { detail } => {
                (CallRuling::Allowed, Some(CallOutcome::Failed), detail)
            }
            EffectOutcome::Unknown { detail } => {
                (CallRuling::Allowed, Some(CallOutcome::Unknown), detail)
            }
        };
        self.close(ask, ruling, came, said.as_str())
    }

    /// The governor refused a call. True when none of the turn is open any more.
    pub(super) fn refused(&mut self, ask: AskId, reason: &Refusal) -> bool {
        if let Refusal::Budget { dimension } | Refusal::Closing { dimension } = reason {
            // Names the limit in the verdict if the episode is not closing by itself.
            self.ran_out = Some(*dimension);
        }
        self.close(ask, CallRuling::Refused, None, &reason.to_string())
    }

    fn close(
        &mut self,
        ask: AskId,
        ruling: CallRuling,
        came: Option<CallOutcome>,
        said: &str,
    ) -> bool {
        let Some(place) = self.open.remove(&ask) else {
            return false;
        };
        let Some(slot) = self.slots.get_mut(place) else {
            return false;
        };
        let Some(key) = slot.key.clone() else {
            return false;
        };
        let (tool, class) = self.names.get(key.0).cloned().unwrap_or_default();
        let number = slot.note + 1;
        let status = match (ruling, came) {
            (CallRuling::Refused, _) => "refused",
            (_, None) => "denied",
            (_, Some(CallOutcome::Confirmed)) => "confirmed",
            (_, Some(CallOutcome::Failed)) => "failed",
            (_, Some(CallOutcome::Unknown)) => "unknown",
        };
        let mut told = match ruling {
            CallRuling::Refused => prompts::not_made(number, &tool, status, said),
            // A platform may claim to be the gateway, so a rule stands where all that comes from outside does.
            _ => prompts::answered(number, &tool, status, said, self.bytes_max),
        };
        let former = self.outcomes.get(&key);
        let times = match former {
            // A different answer to the same call is news, as when something is polled, so counting starts again.
            Some((before, words, times)) if *before == ruling && words == said => times + 1,
            _ => 1,
        };
        if times > 1 {
            told["note"] = Value::from(prompts::SAME);
        }
        self.outcomes
            .insert(key.clone(), (ruling, said.to_owned(), times));
        slot.told = Some(told);
        if class == EffectClass::Effect
            && !matches!(came, Some(CallOutcome::Confirmed | CallOutcome::Unknown))
        {
            // It surely did not happen, so the model may try it again; what may have happened stays barred.
            self.done.remove(&key);
        }
        self.is_in_doubt |= class == EffectClass::Effect && came == Some(CallOutcome::Unknown);
        if let Some(note) = self.report.calls.get_mut(slot.note) {
            note.decision = ruling;
            note.outcome = came;
            note.receipt = clip(said, RECEIPT_CHARS);
        }
        self.open.is_empty()
    }

    /// Takes the results of the turn's calls.
    pub(super) fn end(&mut self) -> CallRound {
        let slots = std::mem::take(&mut self.slots);
        let keys = slots.iter().filter_map(|slot| slot.key.as_ref());
        let outcomes = keys.filter_map(|key| self.outcomes.get(key));
        CallRound {
            repeats: outcomes.into_iter().any(|(_, _, times)| *times >= SAME_MAX),
            all_invalid: slots.iter().all(|slot| slot.key.is_none()),
            told: slots
                .iter()
                .filter_map(|slot| slot.told.as_ref().map(Value::to_string))
                .collect::<Vec<_>>()
                .join("\n"),
        }
    }

    /// Summary of the calls that were wanted and their outcomes.
    pub(super) fn tally(&self) -> String {
        let calls = &self.report.calls;
        let confirmed = calls
            .iter()
            .filter(|call| call.outcome == Some(CallOutcome::Confirmed));
        format!("{} calls, {} confirmed", calls.len(), confirmed.count())
    }
}

/// Up to three mismatches between a value and a schema.
pub(super) fn problems(validator: &Validator, value: &Value) -> Option<String> {
    let problems: Vec<String> = validator
        .iter_errors(value)
        .take(3)
        .map(|error| clip(&format!("{error} (at `{}`)", error.instance_path()), 200))
        .collect();
    (!problems.is_empty()).then(|| problems.join("; "))
}
