//! A detector made ready, and how it looks at a question.

use super::features::Features;
use super::listing::Listing;
use super::vocabulary::{self, Known, Means, Vocabulary};
use super::words::{self, Gap, Word};
use super::{Assessment, Detector, Learned, Reason};
use crate::programs::council::params::{DEPTH_MAX, Seat};

/// A [`Detector`] and the seats of a council, made ready to look at questions.
///
/// To make it costs a pass over all lexicons; to look costs a pass over the question.
#[derive(Clone, Debug)]
pub struct Lens {
    limits: Limits,
    vocabulary: Vocabulary,
    uncertainty: Lexicon,
    factors: Lexicon,
    domains: Lexicon,
    /// Sub-chiefs, each after the seat that may ask it.
    seats: Vec<Chair>,
    /// Marks there are, over all lexicons.
    marks: usize,
    learned: Option<Learned>,
}

#[derive(Clone, Debug)]
struct Limits {
    tokens_over: u32,
    uncertainty_min: u32,
    domains_min: u32,
    factors_min: u32,
    score_min: u32,
}

/// Names with the marks that tell which of them were found.
#[derive(Clone, Debug)]
struct Lexicon {
    first_mark: usize,
    names: Vec<String>,
}

/// A sub-chief.
#[derive(Clone, Debug)]
struct Chair {
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

impl Lens {
    /// Makes a detector ready for a council of these chiefs.
    pub fn new(detector: &Detector, chiefs: &[Seat]) -> Self {
        let mut lens = Self {
            limits: Limits {
                tokens_over: detector.tokens_over,
                uncertainty_min: detector.uncertainty_min,
                domains_min: detector.domains_min,
                factors_min: detector.factors_min,
                score_min: detector.score_min,
            },
            vocabulary: Vocabulary::new(),
            uncertainty: Lexicon::none(),
            factors: Lexicon::none(),
            domains: Lexicon::none(),
            seats: Vec::new(),
            marks: 0,
            learned: detector.learned.clone(),
        };
        lens.uncertainty = lens.entries(&detector.uncertainty, Means::Mark);
        lens.factors = lens.entries(&detector.factors, Means::Factor);
        lens.domains = Lexicon {
            first_mark: lens.marks,
            names: detector.domains.iter().map(|d| d.name.clone()).collect(),
        };
        for domain in &detector.domains {
            lens.group(&domain.words);
        }
        for (entries, means) in [
            (&detector.factor_openers, Means::Opens),
            (&detector.factor_joiners, Means::Joins),
            (&detector.factor_closers, Means::Closes),
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
    fn entries(&mut self, entries: &[String], means: fn(usize) -> Means) -> Lexicon {
        let first_mark = self.marks;
        for entry in entries {
            let mark = self.mark();
            self.vocabulary.learn(entry, means(mark));
        }
        Lexicon {
            first_mark,
            names: entries.iter().map(|e| vocabulary::name(e)).collect(),
        }
    }

    /// One mark for all entries.
    fn group(&mut self, entries: &[String]) -> usize {
        let mark = self.mark();
        for entry in entries {
            self.vocabulary.learn(entry, Means::Mark(mark));
        }
        mark
    }

    fn seat(&mut self, chief: usize, path: &str, subs: &[Seat], asked_by: AskedBy, levels: u8) {
        if levels == 0 {
            return;
        }
        for sub in subs {
            let path = format!("{path}/{}", sub.id);
            let mark = self.group(&sub.lexicon);
            let place = self.seats.len();
            self.seats.push(Chair {
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
    pub fn assess(&self, question: &str) -> Assessment {
        let mut look = Look {
            lens: self,
            text: question,
            words: 0,
            end: 0,
            recent: Vec::new(),
            found: vec![false; self.marks],
            listing: Listing::default(),
            lower: String::new(),
        };
        words::each(question, |word| look.word(&word));
        look.finish()
    }
}

impl Lexicon {
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
struct Look<'l, 't> {
    lens: &'l Lens,
    text: &'t str,
    words: u64,
    /// Where the last word ended.
    end: usize,
    /// The last words, as far back as they are known and stand together.
    recent: Vec<u32>,
    found: Vec<bool>,
    listing: Listing<'t>,
    lower: String,
}

impl<'t> Look<'_, 't> {
    #[inline]
    fn word(&mut self, word: &Word<'t>) {
        self.words += 1;
        let before = std::mem::replace(&mut self.end, word.end());
        let known = self
            .lens
            .vocabulary
            .get(words::lower(word, &mut self.lower));
        // What stands before a word only matters to a list and to a phrase.
        if self.listing.is_open() || (known.is_some() && !self.recent.is_empty()) {
            self.gap(Gap::between(self.text, before, word.start));
        }
        let Some(known) = known else {
            self.recent.clear();
            self.listing.word(word);
            return;
        };
        self.known(known, word);
    }

    fn gap(&mut self, gap: Gap) {
        if gap != Gap::Near {
            self.recent.clear();
        }
        self.listing.gap(gap);
    }

    #[inline(never)]
    fn known(&mut self, known: &Known, word: &Word<'t>) {
        let (mut opens, mut closes, mut joins) = (None, None, None);
        let mut factor = false;
        for phrase in &known.phrases {
            if !phrase.before.is_empty() && !self.recent.ends_with(&phrase.before) {
                continue;
            }
            let own = Some(phrase.before.len());
            match phrase.means {
                Means::Mark(mark) => self.found[mark] = true,
                Means::Factor(mark) => {
                    self.found[mark] = true;
                    factor = true;
                }
                Means::Opens => opens = opens.max(own),
                Means::Closes => closes = closes.max(own),
                Means::Joins => joins = joins.max(own),
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

    fn finish(self) -> Assessment {
        let lens = self.lens;
        let phrases = lens.uncertainty.found(&self.found);
        let domains = lens.domains.found(&self.found);
        let mut factors = lens.factors.found(&self.found);
        factors.extend(self.listing.finish());
        let (seats, chiefs) = seats(&lens.seats, &self.found);
        let mut features = Features {
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
            reasons.push(Reason::Length {
                tokens: features.tokens,
            });
        }
        if features.uncertainty >= limits.uncertainty_min {
            reasons.push(Reason::Uncertainty { phrases });
        }
        if features.domains >= limits.domains_min {
            reasons.push(Reason::Domains {
                domains: domains.clone(),
            });
        }
        if features.factors >= limits.factors_min {
            reasons.push(Reason::Factors { factors });
        }
        features.score = count(reasons.len());
        let mut complex = features.score >= limits.score_min;
        if let Some(learned) = &lens.learned {
            let margin = learned.margin_micro(&features);
            complex = margin >= 0;
            reasons.push(Reason::Learned {
                log_odds_milli: margin.div_euclid(1000),
            });
        }
        Assessment {
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
fn seats(chairs: &[Chair], found: &[bool]) -> (Vec<String>, u32) {
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
