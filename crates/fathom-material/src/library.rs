//! Material that can be searched.

use std::collections::HashSet;
use std::fmt;
use std::path::PathBuf;

use fathom_core::id::Digest;

use crate::bm25::Bm25;
use crate::error::MaterialError;
use crate::meaning::{Directions, Meaning, VectorKey};
use crate::passage::Passage;
use crate::rank::{fuse, order};
use crate::read::{Document, Gathered, gather};
use crate::split;
use crate::subject::Centred;
use crate::walk::Skipped;
use crate::words::{Term, Words};

/// Least cosine at which a passage without a word of the query is about it.
const COSINE_MIN: f32 = 0.2;

/// Least share of the words of question and field that lets a passage go ahead by its words alone.
const COVERED_MIN: f32 = 0.4;

/// Share of common words from which on two passages say the same.
const SAME_SHARE: f32 = 0.8;

/// Cosine from which on two passages say the same.
const SAME_COSINE: f32 = 0.8;

/// Passages that are weighed against each other for one query.
const POOL_MAX: usize = 256;

/// Share of a subject from which on a passage is about it, and being more about it counts no more: then the field decides.
const SUBJECT_ENOUGH: f32 = 0.4;

/// What the subject weighs against the field.
const SUBJECT_WEIGHT: f32 = 2.0;

/// The same where nothing but the question tells what the subject is.
const QUESTION_WEIGHT: f32 = 0.3;

/// What someone wants to know, and from which point of view.
#[derive(Clone, Copy, Debug, Default)]
pub struct Query<'a> {
    pub question: &'a str,
    /// What the reader looks at, in words.
    pub focus: &'a str,
    /// Words of the reader's field.
    pub lexicon: &'a [String],
}

/// How far the embedding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Passages that are embedded.
    pub done: usize,
    /// Passages that were to be embedded, without those whose vectors were kept.
    pub total: usize,
}

/// Documents as passages that can be found by their words and by what they mean.
pub struct Library {
    meaning: Option<Meaning>,
    passages: Vec<Passage>,
    words: Words,
    terms: Vec<Box<[Term]>>,
    by_words: Bm25,
    by_meaning: Directions,
    skipped: Vec<Skipped>,
    digest: Digest,
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Library")
            .field("passages", &self.passages.len())
            .field("digest", &self.digest)
            .finish_non_exhaustive()
    }
}

impl Library {
    /// Reads files and folders, and makes them searchable; without `meaning` by their words alone.
    pub fn open(
        paths: &[PathBuf],
        meaning: Option<Meaning>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Self, MaterialError> {
        Self::index(&gather(paths)?, meaning, progress)
    }

    /// Makes what was read searchable.
    pub fn index(
        gathered: &Gathered,
        meaning: Option<Meaning>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Self, MaterialError> {
        let mut library = Self {
            meaning,
            passages: Vec::new(),
            words: Words::default(),
            terms: Vec::new(),
            by_words: Bm25::default(),
            by_meaning: Directions::default(),
            skipped: gathered.skipped.clone(),
            digest: gathered.digest(),
        };
        library.add(&gathered.documents, progress)?;
        Ok(library)
    }

    fn add(
        &mut self,
        documents: &[Document],
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), MaterialError> {
        let mut passages: Vec<Passage> = documents.iter().flat_map(split::passages).collect();
        let mut seen = HashSet::new();
        passages.retain(|passage| seen.insert(VectorKey::new("", &passage.said())));
        let said: Vec<String> = passages.iter().map(Passage::said).collect();
        if let Some(meaning) = &self.meaning {
            // Headings are left to the search by words: one that a passage stands under by chance would turn its direction.
            let texts: Vec<&str> = passages
                .iter()
                .map(|passage| passage.text.as_str())
                .collect();
            let directions = meaning.of(&texts, &mut |done, total| {
                progress(Progress { done, total });
            })?;
            self.by_meaning.append(&directions)?;
        }
        for said in &said {
            let mut terms = self.words.learn(said);
            self.by_words.add(terms.clone());
            terms.sort_unstable();
            terms.dedup();
            self.terms.push(terms.into_boxed_slice());
        }
        self.passages.extend(passages);
        Ok(())
    }

    /// The passages, document by document. One that stands in several places is there once, with the first of them.
    pub fn passages(&self) -> &[Passage] {
        &self.passages
    }

    /// What was left out of folders, and why.
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// SHA-256 over the names and contents of all documents.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// The passages that matter for a query, the best first: whole ones, as many as fit into `tokens_max` by `count`, which
    /// is given the text as a model sees it. The same twice counts once. Of several passages it never gives all.
    pub fn find(
        &self,
        query: &Query<'_>,
        tokens_max: usize,
        count: &dyn Fn(&str) -> usize,
    ) -> Result<Vec<Passage>, MaterialError> {
        let ranked = self.rank(query)?;
        let passages_max = self.passages.len().saturating_sub(1).max(1);
        let mut left = tokens_max;
        let mut chosen: Vec<usize> = Vec::new();
        let mut found = Vec::new();
        for &at in ranked.iter().take(POOL_MAX) {
            if found.len() == passages_max {
                break;
            }
            let passage = &self.passages[at];
            if chosen.iter().any(|&other| self.is_same(at, other)) {
                continue;
            }
            let tokens = count(&passage.said());
            if tokens <= left {
                left -= tokens;
                chosen.push(at);
                found.push(passage.clone());
            }
        }
        if found.is_empty()
            && let Some(&first) = ranked.first()
        {
            found.extend(cut_to(&self.passages[first], tokens_max, count));
        }
        Ok(found)
    }

    /// All passages that have to do with a query, the best first.
    ///
    /// A passage must fit the question *and* the reader's field. Its meaning decides; a passage that has much of the words of
    /// both goes ahead, which finds names and numbers that have no meaning to a model. Fusing all orders alike would let weak
    /// matches of words push out what says the same in other words.
    fn rank(&self, query: &Query<'_>) -> Result<Vec<usize>, MaterialError> {
        let lexicon = query.lexicon.join(" ");
        let about = self.by_words.shares(&self.words.asked(query.question));
        let field = format!("{} {lexicon}", query.focus);
        let within = self.by_words.shares(&self.words.asked(&field));
        let Some(meaning) = &self.meaning else {
            let either = sum(&about, &within);
            return Ok(order(&either, |at| either[at] > 0.0));
        };
        let both: Vec<f32> = if field.trim().is_empty() {
            about
        } else {
            about
                .iter()
                .zip(&within)
                .map(|(a, b)| (a * b).sqrt())
                .collect()
        };
        let words = order(&both, |at| both[at] >= COVERED_MIN);
        let meant = self.meant(meaning, query, &lexicon)?;
        Ok(fuse(&[&words, &meant], self.passages.len()))
    }

    /// The passages that are about the subject of the question, those of the field first.
    fn meant(
        &self,
        meaning: &Meaning,
        query: &Query<'_>,
        lexicon: &str,
    ) -> Result<Vec<usize>, MaterialError> {
        let field: Vec<&str> = [query.focus, lexicon]
            .into_iter()
            .filter(|text| !text.trim().is_empty())
            .collect();
        let mut texts = vec![query.question];
        texts.extend(&field);
        let directions = meaning.of(&texts, &mut |_, _| {})?;
        let centred = Centred::new(&self.by_meaning);
        let question = directions.at(0);
        let subject = centred.subject(question);
        let asked = self.by_meaning.cosines(question);
        let mut nearest: Vec<f32> = asked
            .iter()
            .zip(&subject.cosines)
            .map(|(a, b)| a.max(*b))
            .collect();
        let mut near: Vec<f32> = match (field.len(), subject.has_examples) {
            (0, _) => subject.shares,
            (_, true) => subject
                .shares
                .iter()
                .map(|share| SUBJECT_WEIGHT * share.min(SUBJECT_ENOUGH))
                .collect(),
            (_, false) => subject
                .shares
                .iter()
                .map(|share| QUESTION_WEIGHT * share)
                .collect(),
        };
        let weight = if field.len() > 1 { 0.25 } else { 0.5 };
        for direction in directions.iter().skip(1) {
            let plain = self.by_meaning.cosines(direction);
            let from_centre = centred.cosines(&centred.towards(direction));
            for (at, (plain, from_centre)) in plain.into_iter().zip(from_centre).enumerate() {
                near[at] += weight * (plain + from_centre);
                nearest[at] = nearest[at].max(plain);
            }
        }
        Ok(order(&near, |at| nearest[at] >= COSINE_MIN))
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "a passage has far fewer words than an f32 counts exactly"
    )]
    fn is_same(&self, a: usize, b: usize) -> bool {
        if self.by_meaning.between(a, b) >= SAME_COSINE {
            return true;
        }
        let a: HashSet<Term> = self.terms[a].iter().copied().collect();
        let b = &self.terms[b];
        let common = b.iter().filter(|term| a.contains(term)).count();
        let share = common as f32 / (a.len() + b.len() - common).max(1) as f32;
        share >= SAME_SHARE
    }
}

fn sum(a: &[f32], b: &[f32]) -> Vec<f32> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

/// As many sentences of a passage as fit, or as many words of its first one, with a mark for what is left out.
fn cut_to(passage: &Passage, tokens_max: usize, count: &dyn Fn(&str) -> usize) -> Option<Passage> {
    let text = &passage.text;
    let cut_at = |end: usize| Passage {
        text: format!("{}{}", text[..end].trim_end(), Passage::CUT),
        ..passage.clone()
    };
    let last_that_fits = |ends: Vec<usize>| {
        ends.into_iter()
            .map(cut_at)
            .take_while(|cut| count(&cut.said()) <= tokens_max)
            .last()
    };
    let words = || {
        text.match_indices(char::is_whitespace)
            .map(|(at, _)| at)
            .collect()
    };
    last_that_fits(split::sentence_ends(text)).or_else(|| last_that_fits(words()))
}
