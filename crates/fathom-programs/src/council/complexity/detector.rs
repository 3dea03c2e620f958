//! A detector made ready, and how it looks at a question.

use super::features::QuestionFeatures;
use super::listed_factors::ListedFactors;
use super::phrases::{self, PhraseMeaning, PhraseNode, PhraseVocabulary};
use super::tokenize::{self, WordGap, WordToken};
use super::{ComplexityAssessment, ComplexitySignal, DetectorConfig, LearnedRule};
use crate::council::config::{CouncilSeat, DEPTH_MAX};

/// A [`DetectorConfig`] and the seats of a council, made ready to look at questions.
///
/// To make it costs a pass over all lexicons; to look costs a pass over the question.
#[derive(Clone, Debug)]
pub struct ComplexityDetector {
    limits: DetectorLimits,
    vocabulary: PhraseVocabulary,
    uncertainty: TopicLexicon,
    factors: TopicLexicon,
    domains: TopicLexicon,
    /// Sub-chiefs, each after the seat that may ask it.
    seats: Vec<SeatLexicon>,
    /// Marks there are, over all lexicons.
    marks: usize,
    learned: Option<LearnedRule>,
}

#[derive(Clone, Debug)]
struct DetectorLimits {
    tokens_over: u32,
    uncertainty_min: u32,
    domains_min: u32,
    factors_min: u32,
    score_min: u32,
}

/// Names with the marks that tell which of them were found.
#[derive(Clone, Debug)]
struct TopicLexicon {
    first_mark: usize,
    names: Vec<String>,
}

/// A sub-chief with the words that concern it.
#[derive(Clone, Debug)]
struct SeatLexicon {
    path: String,
    mark: usize,
    chief: usize,
    asked_by: AskedBy,
}

#[derive(Clone, Copy, Debug)]
enum AskedBy {
    Chief,
    /// The sub-chief at this place.
    Chair(usize),
}

impl ComplexityDetector {
    /// Makes a detector ready for a council of these chiefs.
    pub fn new(detector: &DetectorConfig, chiefs: &[CouncilSeat]) -> Self {
        let mut lens = Self {
            limits: DetectorLimits {
                tokens_over: detector.tokens_over,
                uncertainty_min: detector.uncertainty_min,
                domains_min: detector.domains_min,
                factors_min: detector.factors_min,
                score_min: detector.score_min,
            },
            vocabulary: PhraseVocabulary::new(),
            uncertainty: TopicLexicon::none(),
            factors: TopicLexicon::none(),
            domains: TopicLexicon::none(),
            seats: Vec::new(),
            marks: 0,
            learned: detector.learned.clone(),
        };
        lens.uncertainty = lens.entries(&detector.uncertainty, PhraseMeaning::Mark);
        lens.factors = lens.entries(&detector.factors, PhraseMeaning::Factor);
        lens.domains = TopicLexicon {
            first_mark: lens.marks,
            names: detector.domains.iter().map(|d| d.name.clone()).collect(),
        };
        for domain in &detector.domains {
            lens.group(&domain.words);
        }
        for (entries, means) in [
            (&detector.factor_openers, PhraseMeaning::Opens),
            (&detector.factor_joiners, PhraseMeaning::Joins),
            (&detector.factor_closers, PhraseMeaning::Closes),
        ] {
            for entry in entries {
                lens.vocabulary.learn(entry, means);
            }
        }
        for (chief, seat) in chiefs.iter().enumerate() {
            lens.seat(chief, &seat.id, &seat.sub_chiefs, AskedBy::Chief, DEPTH_MAX);
        }
        lens
    }

    /// One mark for each entry.
    fn entries(&mut self, entries: &[String], means: fn(usize) -> PhraseMeaning) -> TopicLexicon {
        let first_mark = self.marks;
        for entry in entries {
            let mark = self.mark();
            self.vocabulary.learn(entry, means(mark));
        }
        TopicLexicon {
            first_mark,
            names: entries.iter().map(|e| phrases::name(e)).collect(),
        }
    }

    /// One mark for all entries.
    fn group(&mut self, entries: &[String]) -> usize {
        let mark = self.mark();
        for entry in entries {
            self.vocabulary.learn(entry, PhraseMeaning::Mark(mark));
        }
        mark
    }

    fn seat(
        &mut self,
        chief: usize,
        path: &str,
        subs: &[CouncilSeat],
        asked_by: AskedBy,
        levels: u8,
    ) {
        if levels == 0 {
            return;
        }
        for sub in subs {
            let path = format!("{path}/{}", sub.id);
            let mark = self.group(&sub.lexicon);
            let place = self.seats.len();
            self.seats.push(SeatLexicon {
                path: path.clone(),
                mark,
                chief,
                asked_by,
            });
            let asked_by = AskedBy::Chair(place);
            self.seat(chief, &path, &sub.sub_chiefs, asked_by, levels - 1);
        }
    }

    fn mark(&mut self) -> usize {
        self.marks += 1;
        self.marks - 1
    }

    /// Looks at a question.
    pub fn assess(&self, question: &str) -> ComplexityAssessment {
        let mut look = QuestionScan {
            lens: self,
            text: question,
            words: 0,
            end: 0,
            recent: Vec::new(),
            found: vec![false; self.marks],
            listing: ListedFactors::default(),
            lower: String::new(),
        };
        tokenize::each(question, |word| look.word(&word));
        look.finish()
    }
}

impl TopicLexicon {
    fn none() -> Self {
        Self {
            first_mark: 0,
            names: Vec::new(),
        }
    }

    fn found(&self, found: &[bool]) -> Vec<String> {
        let marks = &found[self.first_mark..];
        let pairs = self.names.iter().zip(marks);
        pairs
            .filter(|(_, found)| **found)
            .map(|(name, _)| name.clone())
            .collect()
    }
}

/// A look at one question.
struct QuestionScan<'l, 't> {
    lens: &'l ComplexityDetector,
    text: &'t str,
    words: u64,
    /// End of the last word.
    end: usize,
    /// The last words, as far back as they are known and stand together.
    recent: Vec<u32>,
    found: Vec<bool>,
    listing: ListedFactors<'t>,
    lower: String,
}

impl<'t> QuestionScan<'_, 't> {
    #[inline]
    fn word(&mut self, word: &WordToken<'t>) {
        self.words += 1;
        let before = std::mem::replace(&mut self.end, word.end());
        let known = self
            .lens
            .vocabulary
            .get(tokenize::lower(word, &mut self.lower));
        // What stands before a word only matters to a list and to a phrase.
        if self.listing.is_open() || (known.is_some() && !self.recent.is_empty()) {
            self.gap(WordGap::between(self.text, before, word.start));
        }
        let Some(known) = known else {
            self.recent.clear();
            self.listing.word(word);
            return;
        };
        self.known(known, word);
    }

    fn gap(&mut self, gap: WordGap) {
        if gap != WordGap::Near {
            self.recent.clear();
        }
        self.listing.gap(gap);
    }

    #[inline(never)]
    fn known(&mut self, known: &PhraseNode, word: &WordToken<'t>) {
        let (mut opens, mut closes, mut joins) = (None, None, None);
        let mut factor = false;
        for phrase in &known.phrases {
            if !phrase.before.is_empty() && !self.recent.ends_with(&phrase.before) {
                continue;
            }
            let own = Some(phrase.before.len());
            match phrase.means {
                PhraseMeaning::Mark(mark) => self.found[mark] = true,
                PhraseMeaning::Factor(mark) => {
                    self.found[mark] = true;
                    factor = true;
                }
                PhraseMeaning::Opens => opens = opens.max(own),
                PhraseMeaning::Closes => closes = closes.max(own),
                PhraseMeaning::Joins => joins = joins.max(own),
            }
        }
        self.remember(known.id);
        match (opens, closes, joins) {
            (Some(own), _, _) => self.listing.open(own),
            (None, Some(own), _) => self.listing.close(own),
            (None, None, Some(own)) => self.listing.join(own),
            (None, None, None) => self.listing.word(word),
        }
        if factor {
            self.listing.knows();
        }
    }

    /// Keeps enough of the past for the longest phrase.
    fn remember(&mut self, id: u32) {
        let most = self.lens.vocabulary.phrase_words_max;
        if self.recent.len() >= 2 * most {
            self.recent.drain(..=most);
        }
        self.recent.push(id);
    }

    fn finish(self) -> ComplexityAssessment {
        let lens = self.lens;
        let phrases = lens.uncertainty.found(&self.found);
        let domains = lens.domains.found(&self.found);
        let mut factors = lens.factors.found(&self.found);
        factors.extend(self.listing.finish());
        let (seats, chiefs) = seats(&lens.seats, &self.found);
        let mut features = QuestionFeatures {
            // A word is 1.3 tokens; what is begun counts.
            tokens: count((self.words.saturating_mul(13)).div_ceil(10)),
            uncertainty: count(phrases.len()),
            domains: count(domains.len()),
            factors: count(factors.len()),
            seats: count(seats.len()),
            chiefs,
            score: 0,
        };
        let limits = &lens.limits;
        let mut reasons = Vec::new();
        if features.tokens > limits.tokens_over {
            reasons.push(ComplexitySignal::Length {
                tokens: features.tokens,
            });
        }
        if features.uncertainty >= limits.uncertainty_min {
            reasons.push(ComplexitySignal::Uncertainty { phrases });
        }
        if features.domains >= limits.domains_min {
            reasons.push(ComplexitySignal::Domains {
                domains: domains.clone(),
            });
        }
        if features.factors >= limits.factors_min {
            reasons.push(ComplexitySignal::Factors { factors });
        }
        features.score = count(reasons.len());
        let mut complex = features.score >= limits.score_min;
        if let Some(learned) = &lens.learned {
            let margin = learned.margin_micro(&features);
            complex = margin >= 0;
            reasons.push(ComplexitySignal::Learned {
                log_odds_milli: margin.div_euclid(1000),
            });
        }
        ComplexityAssessment {
            score: features.score,
            complex,
            reasons,
            domains,
            seats,
            features,
        }
    }
}

/// The seats whose words were found and whom someone asks, and the number of chiefs above them.
fn seats(chairs: &[SeatLexicon], found: &[bool]) -> (Vec<String>, u32) {
    let mut asked = vec![false; chairs.len()];
    let mut paths = Vec::new();
    let mut chiefs = Vec::new();
    for (place, chair) in chairs.iter().enumerate() {
        let reached = match chair.asked_by {
            AskedBy::Chief => true,
            AskedBy::Chair(above) => asked[above],
        };
        if reached && found[chair.mark] {
            asked[place] = true;
            paths.push(chair.path.clone());
            chiefs.push(chair.chief);
        }
    }
    chiefs.dedup();
    (paths, count(chiefs.len()))
}

/// A number of things, as far as it can be told.
fn count(number: impl TryInto<u32>) -> u32 {
    number.try_into().unwrap_or(u32::MAX)
}
