//! The episode of a seat: its own vote, or those of its sub-chiefs put together.

use serde::Serialize;

use super::ballots::{SeatBallots, SeatTally, SeatView};
use super::config::ChiefBrief;
use crate::council::config::{CouncilConfig, SynthesisMode};
use crate::council::prompts;
use crate::council::report::{SeatFailure, SeatReport, SeatVote};
use crate::council::seat_panel::{SUB_CHIEF, SeatPanel};
use crate::council::tally::tally_seats;
use crate::council::vote::Vote;
use crate::reply::after_thoughts;
use fathom_core::contract::stop::{ErrorClass, StopReason};
use fathom_core::episode::program::{
    Ask, ModelAsk, Program, ProgramError, ProgramInput, ProgramView,
};
use fathom_core::episode::result::{EpisodeStatus, ProgramVerdict, ResultSummary};
use fathom_core::id::AskId;
use fathom_core::journal::event::{EpisodeSpec, ProgramSpec};
use fathom_core::model::ReplyMode;
use fathom_core::text::Text;
use fathom_core::unit::{Millis, Timestamp};

/// Name of the program in specifications and journals.
pub(in crate::council) const NAME: &str = "chief";

/// The `chief` program: votes by itself, or asks the sub-chiefs that the question touches and votes as they do.
pub(in crate::council) struct ChiefProgram {
    brief: ChiefBrief,
    question: Text,
    charter: String,
    began: Timestamp,
    /// Its own votes, when it votes by itself or is compared.
    own: Option<SeatBallots>,
    /// The sub-chiefs it asked.
    panel: Option<SeatPanel>,
    /// Time until all of its own votes were in.
    own_after: Option<Millis>,
    /// The call that puts the words of the panel together.
    synthesis: Option<AskId>,
    /// The words put together.
    words: Option<String>,
}

impl ChiefProgram {
    /// Builds the program from the brief in `spec`.
    pub(in crate::council) fn new(spec: &ProgramSpec) -> Result<Self, ProgramError> {
        Ok(Self {
            brief: spec.read()?,
            question: Text::default(),
            charter: String::new(),
            began: Timestamp::default(),
            own: None,
            panel: None,
            own_after: None,
            synthesis: None,
            words: None,
        })
    }

    fn voter(&self) -> SeatView<'_> {
        SeatView {
            rules: &self.brief.rules,
            question: self.question.as_str(),
            path: &self.brief.path,
            seat: &self.brief.seat,
            charter: &self.charter,
        }
    }

    fn start(&mut self, started: &EpisodeSpec, view: &ProgramView<'_>) -> Vec<Ask> {
        self.question = started.goal.clone();
        self.charter.clone_from(&started.frame.charter_digest);
        self.began = view.at;
        let subs = self.brief.subs();
        if subs.is_empty() {
            return self.vote(0, view);
        }
        let (panel, mut asks) = SeatPanel::ask(SUB_CHIEF, &self.question, subs, view);
        self.panel = Some(panel);
        if self.brief.rules.compare {
            // Its own calls follow the spawns in the same batch, so their numbers start after them.
            let before = u32::try_from(asks.len()).unwrap_or(u32::MAX);
            asks.extend(self.vote(before, view));
        }
        asks
    }

    /// Votes without sub-chiefs.
    fn vote(&mut self, before: u32, view: &ProgramView<'_>) -> Vec<Ask> {
        let (own, asks) = SeatBallots::draw(&self.voter(), before, view);
        self.own = Some(own);
        asks
    }

    /// Goes on once nobody is at it any more.
    fn go_on(&mut self, view: &ProgramView<'_>) -> Vec<Ask> {
        if let Some(own) = &self.own
            && !own.is_open()
        {
            // Kept from the first time: the panel may still be out, and its time is not that of the vote.
            self.own_after.get_or_insert(view.at.since(self.began));
        }
        let is_open = self.own.as_ref().is_some_and(SeatBallots::is_open)
            || self.panel.as_ref().is_some_and(SeatPanel::is_open)
            || self.synthesis.is_some();
        if is_open {
            return Vec::new();
        }
        if let Some(panel) = &self.panel {
            if panel.turned_away().is_some() && self.own.is_none() {
                // Nobody else may look at it, so it looks for itself.
                return self.vote(0, view);
            }
            if let Some(asks) = self.synthesise(view) {
                return asks;
            }
        }
        self.finish()
    }

    /// Has a model put the words of the panel together, when the rules say so and there are any.
    fn synthesise(&mut self, view: &ProgramView<'_>) -> Option<Vec<Ask>> {
        let rules = &self.brief.rules;
        let reports = self.panel.as_ref()?.reports();
        if rules.synthesis == SynthesisMode::Arithmetic || self.words.is_some() {
            return None;
        }
        let decision = tally_seats(&reports)?;
        let packet = prompts::synthesis(self.question.as_str(), decision.vote, &reports);
        self.synthesis = Some(view.next_ask);
        Some(vec![synthesis(rules, packet, view)])
    }

    /// The report of the seat so far.
    fn seat_report(&self) -> SeatReport {
        let own = self.own.as_ref().map(|own| own.count(&self.voter()));
        let bare = SeatReport::new(&self.brief.seat.id);
        match (&self.panel, own) {
            (Some(panel), own) if panel.turned_away().is_none() => {
                self.panel_report(panel.reports(), own, bare)
            }
            (panel, Some(own)) => {
                let report = own_report(own, bare);
                SeatReport {
                    children: panel.as_ref().map(SeatPanel::reports).unwrap_or_default(),
                    ..report
                }
            }
            (panel, None) => SeatReport {
                failure: Some(SeatFailure::Late),
                children: panel.as_ref().map(SeatPanel::reports).unwrap_or_default(),
                ..bare
            },
        }
    }

    fn panel_report(
        &self,
        children: Vec<SeatReport>,
        own: Option<SeatTally>,
        bare: SeatReport,
    ) -> SeatReport {
        let reused_own = own.as_ref().map_or(0, |own| own.reused_calls);
        let reused_calls =
            reused_own + children.iter().map(|child| child.reused_calls).sum::<u64>();
        let alone = own.and_then(|own| own.cast.ok());
        // A time without a vote would count a failure as a fast answer in the comparison.
        let alone_ms = alone.as_ref().and(self.own_after);
        let tally = tally_seats(&children);
        let cast = tally.map(|tally| SeatVote {
            vote: tally.vote,
            confidence: tally.confidence,
            reasoning: self.reasoning(tally.vote, tally.tied, &children),
            // A weighed vote rests on several passages; each sub-chief's own source stands in its report.
            source: None,
        });
        SeatReport {
            failure: cast.is_none().then_some(SeatFailure::NoVotes),
            cast,
            agreement: tally.map(|tally| tally.agreement),
            alone,
            alone_ms,
            reused_calls,
            children,
            ..bare
        }
    }

    fn reasoning(&self, vote: Vote, tied: bool, children: &[SeatReport]) -> String {
        if let Some(words) = self.words.as_ref().filter(|words| !words.is_empty()) {
            return words.clone();
        }
        reasoning(vote, tied, children)
    }

    fn finish(&self) -> Vec<Ask> {
        let report = self.seat_report();
        let path = &self.brief.path;
        let (status, stop, said) = match (&report.cast, &report.failure) {
            (Some(cast), _) => {
                let percent = cast.confidence.percent();
                let said = format!("{path}: {} ({percent} %)", cast.vote);
                (EpisodeStatus::Ok, StopReason::Success, said)
            }
            (None, failure) => {
                let why = failure
                    .as_ref()
                    .map_or_else(String::new, ToString::to_string);
                let class = match failure {
                    Some(SeatFailure::Call { failure, .. }) => ErrorClass::Model(*failure),
                    Some(SeatFailure::Refused { .. }) => ErrorClass::Refused,
                    _ => ErrorClass::Child,
                };
                let stop = StopReason::Failure { class };
                (
                    EpisodeStatus::Failed,
                    stop,
                    format!("{path} has no vote: {why}"),
                )
            }
        };
        let how = match report.children.len() {
            0 => "it voted by itself".to_owned(),
            1 => "it asked 1 sub-chief".to_owned(),
            n => format!("it asked {n} sub-chiefs"),
        };
        let why = report.cast.as_ref().map_or("", |cast| &cast.reasoning);
        vec![Ask::Finish(Box::new(ProgramVerdict {
            status,
            stop,
            summary: ResultSummary::new([format!("seat: {path}"), said.clone(), how], []),
            answer: Some(Text::new(format!("{said}: {why}"))),
            report: encode(&report),
            artifacts: Vec::new(),
            decisions: Vec::new(),
            verification_needed: false,
            next_actions: Vec::new(),
        }))]
    }
}

impl Program for ChiefProgram {
    fn on(&mut self, input: ProgramInput<'_>, view: &ProgramView<'_>) -> Vec<Ask> {
        let asks = match input {
            ProgramInput::Start(started) => return self.start(started, view),
            ProgramInput::Reply { ask, reply } if self.synthesis == Some(ask) => {
                self.synthesis = None;
                self.words = Some(after_thoughts(reply.text.as_str()).trim().to_owned());
                Vec::new()
            }
            ProgramInput::Failed { ask, .. } | ProgramInput::Refused { ask, .. }
                if self.synthesis == Some(ask) =>
            {
                self.synthesis = None;
                // Empty words mean that synthesis was tried: the reasoning is then composed without a model, and not
                // tried again.
                self.words = Some(String::new());
                Vec::new()
            }
            ProgramInput::Reply { ask, reply } => match self.own.take() {
                Some(mut own) => {
                    let asks = own.on_reply(&self.voter(), ask, reply, view);
                    self.own = Some(own);
                    asks
                }
                None => Vec::new(),
            },
            ProgramInput::Failed { ask, failure } => {
                if let Some(own) = &mut self.own {
                    own.on_failed(ask, failure);
                }
                Vec::new()
            }
            ProgramInput::Refused { ask, reason } => {
                if let Some(own) = &mut self.own {
                    own.on_refused(ask, reason);
                }
                if let Some(panel) = &mut self.panel {
                    panel.on_refused(ask, reason);
                }
                Vec::new()
            }
            ProgramInput::Child { ask, child, result } => {
                if let Some(panel) = &mut self.panel {
                    panel.on_child(ask, child, result);
                }
                Vec::new()
            }
            ProgramInput::Delta { .. }
            | ProgramInput::Effect { .. }
            | ProgramInput::Host { .. }
            | ProgramInput::Cell { .. }
            | ProgramInput::CellEnded { .. }
            | ProgramInput::Signal(_)
            | ProgramInput::Tick => return Vec::new(),
        };
        if asks.is_empty() {
            self.go_on(view)
        } else {
            asks
        }
    }

    fn partial(&self) -> Option<Text> {
        let report = self.seat_report();
        let cast = report.cast?;
        let (vote, percent) = (cast.vote, cast.confidence.percent());
        let path = &self.brief.path;
        Some(Text::new(format!("{path}: {vote} ({percent} %)")))
    }

    fn report(&self) -> Option<Text> {
        encode(&self.seat_report())
    }
}

fn own_report(own: SeatTally, bare: SeatReport) -> SeatReport {
    let (cast, failure) = match own.cast {
        Ok(cast) => (Some(cast), None),
        Err(failure) => (None, Some(failure)),
    };
    SeatReport {
        cast,
        failure,
        samples: own.samples,
        reused: own.reused,
        reused_calls: own.reused_calls,
        ..bare
    }
}

/// A call that puts words together. What it says changes no vote.
pub(in crate::council) fn synthesis(
    rules: &CouncilConfig,
    packet: fathom_core::packet::Packet,
    view: &ProgramView<'_>,
) -> Ask {
    Ask::Model(Box::new(ModelAsk {
        output_tokens_max: prompts::SYNTHESIS_TOKENS_MAX,
        delivery: ReplyMode::Whole,
        timeout: rules.timeout,
        ..ModelAsk::new(view.model, packet)
    }))
}

/// The reasoning for `vote`, from the words of the seats that cast it.
pub(in crate::council) fn reasoning(vote: Vote, tied: bool, seats: &[SeatReport]) -> String {
    if tied {
        return "tied: no vote has more weight than all others".to_owned();
    }
    let casts = seats.iter().filter_map(|report| {
        let cast = report.cast.as_ref().filter(|cast| cast.vote == vote)?;
        Some(format!("{}: {}", report.seat, cast.reasoning))
    });
    casts.collect::<Vec<_>>().join("\n")
}

/// A report as a result carries it.
pub(in crate::council) fn encode(report: &impl Serialize) -> Option<Text> {
    serde_json::to_string(report).ok().map(Text::new)
}
