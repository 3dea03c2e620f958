//! The council itself: assesses the question, asks the chiefs side by side, and decides as they vote.

use super::chief::{self, ChiefBrief, encode, synthesis};
use super::complexity::{ComplexityAssessment, ComplexityDetector, DetectorConfig};
use super::config::{CouncilConfig, CouncilSeat, SynthesisMode};
use super::prompts;
use super::report::{ChiefsOnlyResult, CouncilReport, SeatReport};
use super::seat_panel::{CHIEF, SeatPanel};
use super::tally::{WeightedVote, tally, tally_seats};
use super::vote::Vote;
use crate::reply::after_thoughts;
use fathom_core::contract::stop::{ErrorClass, Refusal, StopReason};
use fathom_core::episode::program::{Ask, Program, ProgramError, ProgramInput, ProgramView};
use fathom_core::episode::result::{
    Decision, EpisodeStatus, HandoffTicket, NextAction, ProgramVerdict, ResultSummary, clip,
};
use fathom_core::id::AskId;
use fathom_core::journal::event::{EpisodeSpec, ProgramSpec};
use fathom_core::text::Text;
use fathom_core::unit::{Millis, PerMille, Timestamp};

/// The `council` program: assesses the question, asks the chiefs side by side, and weighs their votes.
pub struct CouncilProgram {
    params: CouncilConfig,
    question: Text,
    began: Timestamp,
    last: Timestamp,
    assessment: ComplexityAssessment,
    panel: SeatPanel,
    synthesis: Option<AskId>,
    words: Option<String>,
}

impl CouncilProgram {
    /// Builds the program from the parameters in `spec`.
    pub fn new(spec: &ProgramSpec) -> Result<Self, ProgramError> {
        let params: CouncilConfig = spec.read()?;
        params
            .check()
            .map_err(|cause| ProgramError::params(super::NAME, cause))?;
        Ok(Self {
            params,
            question: Text::default(),
            began: Timestamp::default(),
            last: Timestamp::default(),
            assessment: ComplexityAssessment::default(),
            panel: SeatPanel::default(),
            synthesis: None,
            words: None,
        })
    }

    fn start(&mut self, started: &EpisodeSpec, view: &ProgramView<'_>) -> Vec<Ask> {
        self.question = started.goal.clone();
        self.began = view.at;
        self.assessment = ComplexityDetector::new(&self.params.detector, &self.params.chiefs)
            .assess(started.goal.as_str());
        let briefs = briefs(&self.params, &self.assessment);
        let (panel, asks) = SeatPanel::ask(CHIEF, &self.question, briefs, view);
        self.panel = panel;
        asks
    }

    fn go_on(&mut self, view: &ProgramView<'_>) -> Vec<Ask> {
        if self.panel.is_open() || self.synthesis.is_some() {
            return Vec::new();
        }
        let votes = self.panel.reports();
        // Only after every seat has ended: words put together earlier would leave out a late vote.
        if self.params.synthesis == SynthesisMode::Model
            && self.words.is_none()
            && let Some(decision) = tally_seats(&votes)
        {
            let packet = prompts::synthesis(self.question.as_str(), decision.vote, &votes);
            self.synthesis = Some(view.next_ask);
            return vec![synthesis(&self.params, packet, view)];
        }
        self.finish()
    }

    /// The decision as of now.
    fn decision(&self) -> CouncilReport {
        let votes = self.panel.reports();
        let tally = tally_seats(&votes);
        let vote = tally.map(|tally| tally.vote);
        let tied = tally.is_some_and(|tally| tally.tied);
        let mut dissent = Vec::new();
        if let Some(vote) = vote {
            dissenters("", vote, &votes, &mut dissent);
        }
        let words = self.words.clone().filter(|words| !words.is_empty());
        let reasoning = match (words, vote) {
            (Some(words), _) => words,
            (None, Some(vote)) => chief::reasoning(vote, tied, &votes),
            (None, None) => String::new(),
        };
        CouncilReport {
            vote,
            confidence: tally.map_or(PerMille::default(), |tally| tally.confidence),
            agreement: tally.map_or(PerMille::default(), |tally| tally.agreement),
            tied,
            partial: votes.iter().any(is_incomplete),
            dissent,
            reasoning,
            complexity: self.assessment.clone(),
            depth: votes.iter().map(height).max().unwrap_or(0),
            spawns: votes.iter().map(below).sum(),
            reused_calls: votes.iter().map(|seat| seat.reused_calls).sum(),
            alone: alone(&votes),
            elapsed: self.last.since(self.began),
            votes,
        }
    }

    fn finish(&self) -> Vec<Ask> {
        let report = self.decision();
        let voted = report
            .votes
            .iter()
            .filter(|seat| seat.cast.is_some())
            .count();
        let chiefs = report.votes.len();
        // A chief refused by the budget makes the decision one for a person even if the others have a majority.
        let (status, stop) = match (report.vote, self.panel.refusal()) {
            (_, Some(Refusal::Budget { dimension } | Refusal::Closing { dimension })) => {
                let dimension = *dimension;
                (
                    EpisodeStatus::NeedsReview,
                    StopReason::BudgetExhausted { dimension },
                )
            }
            (Some(_), _) => (EpisodeStatus::Ok, StopReason::Success),
            (None, _) => {
                let class = ErrorClass::Child;
                (EpisodeStatus::Failed, StopReason::Failure { class })
            }
        };
        let said = said(&report);
        let answer = report.vote.map(|_| Text::new(answer(&said, &report)));
        let question = clip(self.question.as_str(), 120);
        let next_actions = match status {
            EpisodeStatus::NeedsReview => vec![NextAction::Handoff(HandoffTicket {
                tried: Text::new(format!("{voted} of {chiefs} chiefs voted on: {question}")),
                known: Text::new(said.clone()),
                asked: Text::new(format!("decide with what there is, or ask again: {stop}")),
                deadline: None,
            })],
            EpisodeStatus::Ok | EpisodeStatus::Failed => Vec::new(),
        };
        let decisions = report.vote.map(|vote| Decision {
            what: Text::from(vote.word()),
            rationale: Text::from(report.reasoning.as_str()),
        });
        let dissent = report.dissent.join(", ");
        let more = [
            (!dissent.is_empty()).then(|| format!("dissent: {dissent}")),
            report
                .partial
                .then(|| "partial: not all votes could be had".to_owned()),
        ];
        vec![Ask::Finish(Box::new(ProgramVerdict {
            status,
            stop,
            answer,
            summary: ResultSummary::new(
                [
                    format!("question: {question}"),
                    said,
                    format!(
                        "{voted} of {chiefs} chiefs voted, {} sub-chiefs asked",
                        report.spawns
                    ),
                ],
                more.into_iter().flatten(),
            ),
            report: encode(&report),
            artifacts: Vec::new(),
            decisions: decisions.into_iter().collect(),
            verification_needed: false,
            next_actions,
        }))]
    }
}

impl Program for CouncilProgram {
    fn on(&mut self, input: ProgramInput<'_>, view: &ProgramView<'_>) -> Vec<Ask> {
        // The report is made outside of inputs too, where no clock is at hand.
        self.last = view.at;
        match input {
            ProgramInput::Start(started) => return self.start(started, view),
            ProgramInput::Reply { ask, reply } if self.synthesis == Some(ask) => {
                self.synthesis = None;
                self.words = Some(after_thoughts(reply.text.as_str()).trim().to_owned());
            }
            ProgramInput::Failed { ask, .. } | ProgramInput::Refused { ask, .. }
                if self.synthesis == Some(ask) =>
            {
                self.synthesis = None;
                self.words = Some(String::new());
            }
            ProgramInput::Refused { ask, reason } => self.panel.on_refused(ask, reason),
            ProgramInput::Child { ask, child, result } => self.panel.on_child(ask, child, result),
            ProgramInput::Reply { .. }
            | ProgramInput::Failed { .. }
            | ProgramInput::Delta { .. }
            | ProgramInput::Effect { .. }
            | ProgramInput::Host { .. }
            | ProgramInput::Cell { .. }
            | ProgramInput::CellEnded { .. }
            | ProgramInput::Signal(_)
            | ProgramInput::Tick => return Vec::new(),
        }
        self.go_on(view)
    }

    fn partial(&self) -> Option<Text> {
        let report = self.decision();
        report.vote?;
        Some(Text::new(answer(&said(&report), &report)))
    }

    fn report(&self) -> Option<Text> {
        encode(&self.decision())
    }
}

/// The briefs of the chiefs.
fn briefs(params: &CouncilConfig, assessment: &ComplexityAssessment) -> Vec<ChiefBrief> {
    // A simple question names its domains as well, but its chiefs get no seats to ask.
    let touched = if assessment.complex {
        assessment.seats.clone()
    } else {
        Vec::new()
    };
    let rules = CouncilConfig {
        chiefs: Vec::new(),
        detector: DetectorConfig::default(),
        ..params.clone()
    };
    let brief = |seat: &CouncilSeat| ChiefBrief {
        seat: seat.clone(),
        path: seat.id.clone(),
        levels: params.depth_max,
        touched: touched.clone(),
        rules: rules.clone(),
    };
    params.chiefs.iter().map(brief).collect()
}

/// Paths of the seats that will, or may have to, vote on a question by themselves: all chiefs, and the sub-chiefs that
/// will be asked.
pub fn voters(params: &CouncilConfig, question: &str) -> Vec<String> {
    fn add(brief: &ChiefBrief, found: &mut Vec<String>) {
        found.push(brief.path.clone());
        for sub in brief.subs() {
            add(&sub, found);
        }
    }
    let assessment = ComplexityDetector::new(&params.detector, &params.chiefs).assess(question);
    let mut found = Vec::new();
    for brief in briefs(params, &assessment) {
        add(&brief, &mut found);
    }
    found
}

/// The decision in one line.
fn said(report: &CouncilReport) -> String {
    match report.vote {
        Some(vote) => format!(
            "{vote}, confidence {} %, agreement {} %",
            report.confidence.percent(),
            report.agreement.percent()
        ),
        None => "no decision: nobody voted".to_owned(),
    }
}

fn answer(said: &str, report: &CouncilReport) -> String {
    let mut answer = said.to_owned();
    if report.partial {
        answer.push_str(" (partial)");
    }
    if !report.reasoning.is_empty() {
        answer.push_str("\n\n");
        answer.push_str(&report.reasoning);
    }
    answer
}

/// Paths of all who voted otherwise, at every level.
fn dissenters(above: &str, decision: Vote, seats: &[SeatReport], found: &mut Vec<String>) {
    for report in seats {
        let path = if above.is_empty() {
            report.seat.clone()
        } else {
            format!("{above}/{}", report.seat)
        };
        if report
            .cast
            .as_ref()
            .is_some_and(|cast| cast.vote != decision)
        {
            found.push(path.clone());
        }
        dissenters(&path, decision, &report.children, found);
    }
}

/// True if a seat, or one that it asked, has no vote.
fn is_incomplete(report: &SeatReport) -> bool {
    report.cast.is_none() || report.children.iter().any(is_incomplete)
}

fn height(report: &SeatReport) -> u8 {
    let below = asked(report).map(|child| height(child).saturating_add(1));
    below.max().unwrap_or(0)
}

fn below(report: &SeatReport) -> u32 {
    asked(report)
        .map(|child| below(child).saturating_add(1))
        .sum()
}

/// Those who were really asked: a refused one has no episode.
fn asked(report: &SeatReport) -> impl Iterator<Item = &SeatReport> {
    report
        .children
        .iter()
        .filter(|child| child.episode.is_some())
}

/// Decision of the chiefs alone: each by its own vote, which a chief without sub-chiefs cast anyway.
fn alone(chiefs: &[SeatReport]) -> Option<ChiefsOnlyResult> {
    if chiefs.iter().all(|chief| chief.alone.is_none()) {
        return None;
    }
    let mut votes = Vec::new();
    let mut elapsed = Millis(0);
    for chief in chiefs {
        let (cast, after) = match &chief.alone {
            Some(cast) => (cast, chief.alone_ms.unwrap_or(chief.elapsed)),
            None if chief.children.is_empty() => (chief.cast.as_ref()?, chief.elapsed),
            None => return None,
        };
        elapsed = elapsed.max(after);
        votes.push(WeightedVote {
            vote: cast.vote,
            confidence: cast.confidence,
        });
    }
    let tally = tally(&votes)?;
    Some(ChiefsOnlyResult {
        vote: tally.vote,
        confidence: tally.confidence,
        agreement: tally.agreement,
        elapsed,
    })
}

impl CouncilConfig {
    /// Checks the limits of a configuration.
    fn check(&self) -> Result<(), String> {
        if self.chiefs.is_empty() {
            return Err("a council has at least one chief".to_owned());
        }
        if self.depth_max > super::DEPTH_MAX {
            let (depth, cap) = (self.depth_max, super::DEPTH_MAX);
            return Err(format!("`depth` is {depth}, above the hard cap of {cap}"));
        }
        Ok(())
    }
}
