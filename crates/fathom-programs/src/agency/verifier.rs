//! The verifier: looks whether what was done can be seen. When it cannot, another look is a child of the verifier's own.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::config::{AgencyLimits, AgencyTool, CrewMember};
use super::role_program::{self, RoleEnd, append};
use super::spawn_role;
use super::{child, writer};
use fathom_core::budget::amounts::Amounts;
use fathom_core::contract::AgentRole;
use fathom_core::contract::spawn::SpawnTrigger;
use fathom_core::contract::stop::StopReason;
use fathom_core::domain::name;
use fathom_core::effect::EffectOutcome;
use fathom_core::episode::program::{Ask, Program, ProgramError, ProgramInput, ProgramView};
use fathom_core::episode::result::{EpisodeStatus, HandoffTicket, clip};
use fathom_core::id::AskId;
use fathom_core::journal::event::ProgramSpec;
use fathom_core::text::Text;

/// Name of the program in specifications and journals.
pub(super) const NAME: &str = "agency_verifier";

/// Configuration of a verifier.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VerifierConfig {
    /// Settings of the role, for the children that look again.
    pub(super) member: CrewMember,
    /// The report that it writes.
    pub(super) report: String,
    /// The tool that looks.
    pub(super) look: AgencyTool,
    pub(super) arguments: Value,
    /// Text that the result of the look must contain.
    pub(super) expect: String,
    /// Subject of the look, in words.
    pub(super) what: String,
    pub(super) limits: AgencyLimits,
    /// Looks that are left to those below.
    pub(super) looks_left: u32,
}

impl VerifierConfig {
    pub(super) fn spec(&self) -> ProgramSpec {
        ProgramSpec::new(NAME, self)
    }
}

/// Looks of one verifier before it has another one look.
const OWN_LOOKS: u32 = 2;

/// The verifier: calls a tool until its result contains the expected text, or the looks run out.
pub(super) struct VerifierProgram {
    params: VerifierConfig,
    goal: String,
    awaited: AskId,
    looks: u32,
    /// Result of the last look.
    seen: String,
    visible: bool,
    /// Id on the platform.
    id: Option<String>,
}

impl VerifierProgram {
    pub(super) fn new(spec: &ProgramSpec) -> Result<Self, ProgramError> {
        Ok(Self {
            params: spec.read()?,
            goal: String::new(),
            awaited: AskId::default(),
            looks: 0,
            seen: String::new(),
            visible: false,
            id: None,
        })
    }

    fn look(&mut self, view: &ProgramView<'_>) -> Vec<Ask> {
        self.awaited = view.next_ask;
        self.looks += 1;
        // Each look has its own event, or it would be the same effect, which is sent once.
        let event = format!("{}/{}", self.params.report, self.looks);
        let request = self.params.look.request(&event, &self.params.arguments);
        vec![Ask::Effect(request)]
    }

    fn on_look(&mut self, outcome: &EffectOutcome, view: &ProgramView<'_>) -> Vec<Ask> {
        let (seen, visible) = match outcome {
            EffectOutcome::Confirmed { receipt } => {
                let said = receipt.as_str();
                // What was sent is looked for as JSON writes it.
                let expect = Value::from(self.params.expect.as_str()).to_string();
                let visible = said.contains(expect.trim_matches('"'));
                let whole: Value = serde_json::from_str(said).unwrap_or_default();
                self.id = id_beside(&whole, &self.params.expect);
                (clip(said, 160), visible)
            }
            EffectOutcome::Failed { detail } | EffectOutcome::Unknown { detail } => {
                (clip(detail.as_str(), 160), false)
            }
        };
        self.seen = seen;
        self.visible = visible;
        if visible || self.params.looks_left == 0 {
            return self.report(view);
        }
        if self.looks < OWN_LOOKS.min(self.params.looks_left) {
            return vec![Ask::Wake(view.at.plus(self.params.limits.look_every))];
        }
        self.recurse(view)
    }

    /// Has another verifier look, a little later.
    fn recurse(&mut self, view: &ProgramView<'_>) -> Vec<Ask> {
        let looks_left = self.params.looks_left.saturating_sub(self.looks);
        if looks_left == 0 || view.depth >= view.contract.recursion.max_depth {
            return self.report(view);
        }
        self.awaited = view.next_ask;
        let below = VerifierConfig {
            looks_left,
            // Each verifier leaves a record of its own.
            report: format!("{}-again", self.params.report),
            ..self.params.clone()
        };
        let spawn = spawn_role::RoleChild {
            kind: child::VERIFY,
            trigger: SpawnTrigger::VisibilityUncertain,
            why: "it cannot be seen yet",
            fetch: "whether it can be seen",
            goal: self.goal.clone(),
            role: AgentRole::Verifier,
            program: below.spec(),
            // A look is an effect and needs no tokens.
            at_least: Amounts::ZERO,
        };
        vec![spawn.ask(&self.params.member, view)]
    }

    fn report(&mut self, view: &ProgramView<'_>) -> Vec<Ask> {
        self.awaited = view.next_ask;
        let verdict = if self.visible { "passed" } else { "unclear" };
        let findings = format!(
            "`{}` was looked for {} times; last seen: {}",
            self.params.expect, self.looks, self.seen
        );
        let body = json!({
            "subject": self.params.what, "sha256": writer::hex(&self.seen), "verdict": verdict,
            "findings": clip(&findings, 600),
        });
        let evidence = format!("tool:{}", self.params.look.tool);
        vec![append(
            name::REPORTS,
            "verification_report",
            &self.params.report,
            &body,
            &[evidence],
        )]
    }

    fn finish(&self) -> Vec<Ask> {
        let pointer = format!("verification_report:{}", self.params.report);
        let did = format!("looked {} times for {}", self.looks, self.params.what);
        if self.visible {
            let answer = json!({
                "what": self.params.what, "visible": true, "looks": self.looks, "id": self.id,
            });
            return RoleEnd::ok(answer.to_string(), did, self.seen.clone())
                .made(vec![pointer])
                .finish(&self.goal);
        }
        let ticket = HandoffTicket {
            tried: Text::new(did),
            known: Text::from(self.seen.as_str()),
            asked: Text::new(format!("look at {} by hand", self.params.what)),
            deadline: None,
        };
        let answer = json!({ "what": self.params.what, "visible": false, "looks": self.looks });
        RoleEnd::review(StopReason::ReviewFailed, ticket, Some(answer.to_string()))
            .made(vec![pointer])
            .finish(&self.goal)
    }
}

/// The `id` of the first object in `answer` that has a value equal to `said`.
fn id_beside(answer: &Value, said: &str) -> Option<String> {
    match answer {
        Value::Object(map) => {
            let says = map.values().any(|value| value.as_str() == Some(said));
            let id = map.get("id").filter(|_| says).and_then(|id| match id {
                Value::String(id) => Some(id.clone()),
                Value::Number(id) => Some(id.to_string()),
                _ => None,
            });
            id.or_else(|| map.values().find_map(|value| id_beside(value, said)))
        }
        Value::Array(values) => values.iter().find_map(|value| id_beside(value, said)),
        _ => None,
    }
}

impl Program for VerifierProgram {
    fn on(&mut self, input: ProgramInput<'_>, view: &ProgramView<'_>) -> Vec<Ask> {
        match input {
            ProgramInput::Start(started) => {
                started.goal.as_str().clone_into(&mut self.goal);
                self.look(view)
            }
            ProgramInput::Tick => self.look(view),
            ProgramInput::Effect { ask, outcome } if ask == self.awaited => {
                self.on_look(outcome, view)
            }
            ProgramInput::Child { ask, result, .. } if ask == self.awaited => {
                self.visible = result.status == EpisodeStatus::Ok;
                let said = result.answer.as_ref().map_or("", Text::as_str);
                let said: Value = serde_json::from_str(said).unwrap_or_default();
                self.id = said.get("id").and_then(Value::as_str).map(str::to_owned);
                self.seen = result.answer.as_ref().map_or_else(
                    || result.stop_reason.to_string(),
                    |answer| answer.as_str().to_owned(),
                );
                self.report(view)
            }
            ProgramInput::Host { ask, text } if ask == self.awaited => {
                match role_program::records(text) {
                    Ok(_) => self.finish(),
                    Err(why) => {
                        let stop = StopReason::ReviewFailed;
                        RoleEnd::failed(stop, "wrote a report", why).finish(&self.goal)
                    }
                }
            }
            ProgramInput::Refused { ask, reason } if ask == self.awaited => {
                let did = format!("look for {}", self.params.what);
                RoleEnd::failed(reason.as_stop(), did, reason.to_string()).finish(&self.goal)
            }
            _ => Vec::new(),
        }
    }

    fn partial(&self) -> Option<Text> {
        None
    }
}
