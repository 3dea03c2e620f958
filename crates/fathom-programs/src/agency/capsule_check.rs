//! The proof of a capsule: every number that it holds must stand in its source.
//!
//! A capsule is read again and again in place of its source, so what a model made up would be said again and again.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::role_program::{self, RoleEnd, append};
use super::writer::hex;
use fathom_core::contract::stop::StopReason;
use fathom_core::domain::name;
use fathom_core::episode::program::{Ask, Program, ProgramError, ProgramInput, ProgramView};
use fathom_core::episode::result::HandoffTicket;
use fathom_core::id::AskId;
use fathom_core::journal::event::ProgramSpec;
use fathom_core::text::Text;

/// Name of the program in specifications and journals.
pub(super) const NAME: &str = "agency_proof";

/// Configuration of a check.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CapsuleCheckConfig {
    /// The report that it writes.
    pub(super) report: String,
    pub(super) text: String,
    /// Text that the capsule was made of.
    pub(super) source: String,
}

impl CapsuleCheckConfig {
    pub(super) fn spec(&self) -> ProgramSpec {
        ProgramSpec::new(NAME, self)
    }
}

/// The check of a capsule against its source.
pub(super) struct CapsuleCheck {
    params: CapsuleCheckConfig,
    goal: String,
    awaited: AskId,
    made_up: Vec<String>,
}

impl CapsuleCheck {
    pub(super) fn new(spec: &ProgramSpec) -> Result<Self, ProgramError> {
        Ok(Self {
            params: spec.read()?,
            goal: String::new(),
            awaited: AskId::default(),
            made_up: Vec::new(),
        })
    }

    fn report(&mut self, view: &ProgramView<'_>) -> Vec<Ask> {
        self.awaited = view.next_ask;
        self.made_up = made_up(&self.params.text, &self.params.source);
        let (verdict, findings) = if self.made_up.is_empty() {
            ("passed", "its numbers all stand in the source".to_owned())
        } else {
            let words = self.made_up.join(", ");
            ("failed", format!("not in the source: {words}"))
        };
        let body = json!({
            "subject": format!("capsule:{}", self.params.report), "sha256": hex(&self.params.text),
            "verdict": verdict, "findings": findings,
        });
        let evidence = format!("source:{}", hex(&self.params.source));
        let report = &self.params.report;
        vec![append(
            name::REPORTS,
            "verification_report",
            report,
            &body,
            &[evidence],
        )]
    }

    fn finish(&self) -> Vec<Ask> {
        let report = format!("verification_report:{}", self.params.report);
        let did = format!("held capsule:{} against its source", self.params.report);
        if self.made_up.is_empty() {
            return RoleEnd::ok(format!("{report} passed"), did, "nothing was made up")
                .made(vec![report])
                .finish(&self.goal);
        }
        let ticket = HandoffTicket {
            tried: Text::new(did),
            known: Text::new(format!("not in the source: {}", self.made_up.join(", "))),
            asked: Text::from("nothing: the capsule is not used again"),
            deadline: None,
        };
        RoleEnd::review(
            StopReason::ReviewFailed,
            ticket,
            Some(format!("{report} failed")),
        )
        .made(vec![report])
        .finish(&self.goal)
    }
}

/// Most words that a report names.
const NAMED_MAX: usize = 8;

/// The numbers of a text that do not stand in its source.
fn made_up(text: &str, source: &str) -> Vec<String> {
    let numbers = |text: &str| -> BTreeSet<String> {
        text.split(|c: char| !c.is_ascii_digit())
            .filter(|word| word.len() > 1)
            .map(str::to_owned)
            .collect()
    };
    let known = numbers(source);
    let mut new: Vec<String> = numbers(text).difference(&known).cloned().collect();
    new.truncate(NAMED_MAX);
    new
}

impl Program for CapsuleCheck {
    fn on(&mut self, input: ProgramInput<'_>, view: &ProgramView<'_>) -> Vec<Ask> {
        match input {
            ProgramInput::Start(started) => {
                started.goal.as_str().clone_into(&mut self.goal);
                self.report(view)
            }
            ProgramInput::Host { ask, text } if ask == self.awaited => {
                match role_program::records(text) {
                    Ok(_) => self.finish(),
                    Err(why) => RoleEnd::failed(StopReason::ReviewFailed, "wrote a report", why)
                        .finish(&self.goal),
                }
            }
            ProgramInput::Refused { ask, reason } if ask == self.awaited => {
                RoleEnd::failed(reason.as_stop(), "proof", reason.to_string()).finish(&self.goal)
            }
            _ => Vec::new(),
        }
    }

    fn partial(&self) -> Option<Text> {
        None
    }
}
