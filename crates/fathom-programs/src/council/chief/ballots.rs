//! The votes of one seat: one call, or several drawn by chance whose shares are its confidence.

use crate::council::config::{ConfidenceSource, CouncilConfig, CouncilSeat, ReusePolicy};
use crate::council::prompts;
use crate::council::report::{ReusedAnswer, SampledVotes, SeatFailure, SeatVote, SourceRef};
use crate::council::vote::{ParsedVote, Vote, VoteError, read};
use fathom_core::contract::stop::Refusal;
use fathom_core::episode::program::{Ask, ModelAsk, ProgramView};
use fathom_core::id::AskId;
use fathom_core::model::failure::ModelFailure;
use fathom_core::model::{ModelReply, ReplyMode, ReuseGrant};
use fathom_core::text::Text;
use fathom_core::unit::PerMille;

/// Result of a seat's own votes.
#[derive(Clone, Debug)]
pub(super) struct SeatTally {
    pub(super) cast: Result<SeatVote, SeatFailure>,
    pub(super) samples: Option<SampledVotes>,
    pub(super) reused: Option<ReusedAnswer>,
    pub(super) reused_calls: u64,
}

/// One of the calls.
#[derive(Clone, Debug)]
enum SampleState {
    Open(AskId),
    Said(ParsedVote),
    Failed(SeatFailure),
    /// The budget had no room for it: it was never drawn.
    Refused(String),
}

/// The calls of one seat.
#[derive(Clone, Debug)]
pub(super) struct SeatBallots {
    draws: Vec<SampleState>,
    reused: Option<ReusedAnswer>,
    reused_calls: u64,
}

/// Whose ballots they are, and on what.
#[derive(Clone, Copy)]
pub(super) struct SeatView<'a> {
    pub(super) rules: &'a CouncilConfig,
    pub(super) question: &'a str,
    pub(super) path: &'a str,
    pub(super) seat: &'a CouncilSeat,
    /// Digest of the run's charter.
    pub(super) charter: &'a str,
}

impl SeatView<'_> {
    fn draws(&self) -> u8 {
        match self.rules.confidence {
            ConfidenceSource::Stated => 1,
            ConfidenceSource::Measured { samples, .. } => samples.max(1),
        }
    }

    /// The call for one draw.
    fn ask(&self, draw: usize, may_recall: bool, view: &ProgramView<'_>) -> Ask {
        let rules = self.rules;
        let packet = prompts::ballot(rules, self.question, self.path, self.seat);
        let (temperature_milli, seed) = match rules.confidence {
            ConfidenceSource::Stated => (None, None),
            ConfidenceSource::Measured {
                temperature_milli, ..
            } => (Some(temperature_milli), u32::try_from(draw).ok()),
        };
        let schema = rules
            .structured
            .then(|| Text::new(prompts::schema(rules, self.seat).to_string()));
        Ask::Model(Box::new(ModelAsk {
            output_tokens_max: rules.output_tokens_max,
            output_tokens_min: rules.output_tokens_max.min(48),
            temperature_milli,
            seed,
            schema,
            recall: self.recall(draw).filter(|_| may_recall),
            delivery: ReplyMode::Whole,
            timeout: rules.timeout,
            ..ModelAsk::new(view.model, packet)
        }))
    }

    fn recall(&self, draw: usize) -> Option<ReuseGrant> {
        let similarity_min_milli = match self.rules.reuse {
            ReusePolicy::Off => return None,
            ReusePolicy::Same => None,
            ReusePolicy::Similar {
                similarity_min_milli,
            } => Some(similarity_min_milli),
        };
        let (charter, material, path) = (self.charter, &self.rules.material, self.path);
        Some(ReuseGrant {
            scope: format!("council {path}#{draw} {charter} {material}"),
            question: Text::from(self.question),
            similarity_min_milli,
        })
    }
}

impl SeatBallots {
    /// Asks for all votes at once. They are numbered from the view's next ask, after `before` other asks.
    pub(super) fn draw(
        voter: &SeatView<'_>,
        before: u32,
        view: &ProgramView<'_>,
    ) -> (Self, Vec<Ask>) {
        let mut asks = Vec::new();
        let mut draws = Vec::new();
        for draw in 0..voter.draws() {
            draws.push(SampleState::Open(AskId(
                view.next_ask.0 + before + u32::from(draw),
            )));
            asks.push(voter.ask(draw.into(), true, view));
        }
        let ballots = Self {
            draws,
            reused: None,
            reused_calls: 0,
        };
        (ballots, asks)
    }

    fn open(&mut self, ask: AskId) -> Option<(usize, &mut SampleState)> {
        let mut draws = self.draws.iter_mut().enumerate();
        draws.find(|(_, draw)| matches!(draw, SampleState::Open(open) if *open == ask))
    }

    /// Takes in a reply. An earlier answer that cannot be read is no reason to fail: the model is asked after all.
    pub(super) fn on_reply(
        &mut self,
        voter: &SeatView<'_>,
        ask: AskId,
        reply: &ModelReply,
        view: &ProgramView<'_>,
    ) -> Vec<Ask> {
        let said = read(reply.text.as_str()).and_then(|said| needed(voter.rules, said));
        let recalled = reply.recalled.as_ref();
        let Some((at, draw)) = self.open(ask) else {
            return Vec::new();
        };
        match (said, recalled) {
            (Ok(said), recalled) => {
                *draw = SampleState::Said(said);
                if let Some(recalled) = recalled {
                    self.reused_calls += 1;
                    self.reused.get_or_insert(ReusedAnswer {
                        run: recalled.run,
                        similarity: PerMille::share(recalled.similarity_milli.into(), 1000),
                    });
                }
                Vec::new()
            }
            // Asked again without leave to reuse, or the same unreadable answer would come back.
            (Err(_), Some(_)) => {
                *draw = SampleState::Open(view.next_ask);
                vec![voter.ask(at, false, view)]
            }
            (Err(why), None) => {
                *draw = SampleState::Failed(SeatFailure::Unreadable(why));
                Vec::new()
            }
        }
    }

    pub(super) fn on_failed(&mut self, ask: AskId, failure: &ModelFailure) {
        if let Some((_, draw)) = self.open(ask) {
            *draw = SampleState::Failed(SeatFailure::Call {
                failure: failure.kind,
                message: fathom_core::episode::result::clip(failure.detail.as_str(), 160),
            });
        }
    }

    pub(super) fn on_refused(&mut self, ask: AskId, reason: &Refusal) {
        if let Some((_, draw)) = self.open(ask) {
            *draw = SampleState::Refused(reason.to_string());
        }
    }

    /// True if a call is still out.
    pub(super) fn is_open(&self) -> bool {
        self.draws
            .iter()
            .any(|draw| matches!(draw, SampleState::Open(_)))
    }

    /// The tally of the votes that are in.
    pub(super) fn count(&self, voter: &SeatView<'_>) -> SeatTally {
        let mut samples = SampledVotes::default();
        let mut failure = SeatFailure::Late;
        for draw in &self.draws {
            match draw {
                SampleState::Said(said) => match said.vote {
                    Vote::Approve => samples.approve += 1,
                    Vote::Reject => samples.reject += 1,
                    Vote::Abstain => samples.abstain += 1,
                },
                SampleState::Failed(why) => {
                    samples.failed += 1;
                    failure = why.clone();
                }
                // A failed call says more about the seat than a budget that refused the next one.
                SampleState::Refused(message) if samples.failed == 0 => {
                    let message = message.clone();
                    failure = SeatFailure::Refused { message };
                }
                SampleState::Refused(_) | SampleState::Open(_) => {}
            }
        }
        let measured = match voter.rules.confidence {
            ConfidenceSource::Stated => None,
            ConfidenceSource::Measured { .. } => Some(samples),
        };
        let cast = self.cast(voter, samples).ok_or(failure);
        SeatTally {
            cast,
            samples: measured,
            reused: self.reused.clone(),
            reused_calls: self.reused_calls,
        }
    }

    fn said(&self) -> impl Iterator<Item = &ParsedVote> {
        self.draws.iter().filter_map(|draw| match draw {
            SampleState::Said(said) => Some(said),
            SampleState::Open(_) | SampleState::Failed(_) | SampleState::Refused(_) => None,
        })
    }

    /// The vote that was drawn most often, with its share; when none was, the seat abstains.
    fn cast(&self, voter: &SeatView<'_>, samples: SampledVotes) -> Option<SeatVote> {
        let first = self.said().next()?;
        let (vote, confidence) = match voter.rules.confidence {
            ConfidenceSource::Stated => (first.vote, first.confidence.unwrap_or_default()),
            ConfidenceSource::Measured { .. } => samples.most(),
        };
        // Where the draws are tied nobody may have said what the seat votes; the first words still say why.
        let words = self.said().find(|said| said.vote == vote).unwrap_or(first);
        let passage = words.passage.and_then(|number| number.checked_sub(1));
        let source = passage
            .and_then(|at| voter.seat.passages.get(at))
            .map(|passage| SourceRef {
                source: passage.source.clone(),
                line: passage.line,
            });
        Some(SeatVote {
            vote,
            confidence,
            reasoning: words.reasoning.clone(),
            source,
        })
    }
}

/// A stated confidence must be stated.
fn needed(rules: &CouncilConfig, said: ParsedVote) -> Result<ParsedVote, VoteError> {
    match (rules.confidence, said.confidence) {
        (ConfidenceSource::Stated, None) => Err(VoteError::Confidence),
        _ => Ok(said),
    }
}

impl SampledVotes {
    /// The vote drawn most often and its share of all votes; a tie abstains with the share of those who do.
    fn most(self) -> (Vote, PerMille) {
        let all = u64::from(self.approve) + u64::from(self.reject) + u64::from(self.abstain);
        let counts = [
            (Vote::Approve, self.approve),
            (Vote::Reject, self.reject),
            (Vote::Abstain, self.abstain),
        ];
        let most = self.approve.max(self.reject).max(self.abstain);
        let mut heaviest = counts.iter().filter(|(_, count)| *count == most);
        let (vote, count) = match (heaviest.next(), heaviest.next()) {
            (Some((vote, count)), None) => (*vote, *count),
            _ => (Vote::Abstain, self.abstain),
        };
        (vote, PerMille::share(count.into(), all))
    }
}
