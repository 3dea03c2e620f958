//! Searchable material.

use std::collections::HashSet;
use std::fmt;
use std::path::PathBuf;

use fathom_core::id::Digest;

use crate::bm25::Bm25Index;
use crate::error::MaterialError;
use crate::passage::Passage;
use crate::rank_fusion::{fuse, order};
use crate::read_documents::{GatheredMaterial, MaterialDocument, gather};
use crate::semantic_index::{SemanticIndex, UnitVectors, VectorKey};
use crate::split;
use crate::subject_score::CentredVectors;
use crate::terms::{TermId, TermIndex};
use crate::walk::SkippedFile;

/// Minimum cosine at which a passage without a word of the query is relevant.
const COSINE_MIN: f32 = 0.2;

/// Minimum share of the words of question and field that lets a passage come first by its words alone.
const COVERED_MIN: f32 = 0.4;

/// Share of common words from which two passages count as equal.
const SAME_SHARE: f32 = 0.8;

/// Cosine from which two passages count as equal.
const SAME_COSINE: f32 = 0.8;

/// Maximum number of passages compared with each other for one query.
const POOL_MAX: usize = 256;

/// Share of a subject from which a passage is about it; being even more about it does not count, and the field
/// decides.
const SUBJECT_ENOUGH: f32 = 0.4;

/// Weight of the subject against the field.
const SUBJECT_WEIGHT: f32 = 2.0;

/// The same if the subject is known from the question alone.
const QUESTION_WEIGHT: f32 = 0.3;

/// A question and the reader's point of view.
#[derive(Clone, Copy, Debug, Default)]
pub struct PassageQuery<'a> {
    pub question: &'a str,
    /// Point of view of the reader, in words.
    pub focus: &'a str,
    /// Words of the reader's field.
    pub lexicon: &'a [String],
}

/// Progress of embedding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmbedProgress {
    /// Number of embedded passages.
    pub done: usize,
    /// Number of passages to embed, without those whose vectors were cached.
    pub total: usize,
}

/// Documents as passages that can be found by words and by meaning.
pub struct PassageIndex {
    meaning: Option<SemanticIndex>,
    passages: Vec<Passage>,
    words: TermIndex,
    terms: Vec<Box<[TermId]>>,
    by_words: Bm25Index,
    by_meaning: UnitVectors,
    skipped: Vec<SkippedFile>,
    digest: Digest,
}

impl fmt::Debug for PassageIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Library")
            .field("passages", &self.passages.len())
            .field("digest", &self.digest)
            .finish_non_exhaustive()
    }
}

impl PassageIndex {
    /// Reads files and folders, and makes them searchable; without `meaning` by words only.
    pub fn open(
        paths: &[PathBuf],
        meaning: Option<SemanticIndex>,
        progress: &mut dyn FnMut(EmbedProgress),
    ) -> Result<Self, MaterialError> {
        Self::index(&gather(paths)?, meaning, progress)
    }

    /// Makes gathered documents searchable.
    pub fn index(
        gathered: &GatheredMaterial,
        meaning: Option<SemanticIndex>,
        progress: &mut dyn FnMut(EmbedProgress),
    ) -> Result<Self, MaterialError> {
        let mut library = Self {
            meaning,
            passages: Vec::new(),
            words: TermIndex::default(),
            terms: Vec::new(),
            by_words: Bm25Index::default(),
            by_meaning: UnitVectors::default(),
            skipped: gathered.skipped.clone(),
            digest: gathered.digest(),
        };
        library.add(&gathered.documents, progress)?;
        Ok(library)
    }

    fn add(
        &mut self,
        documents: &[MaterialDocument],
        progress: &mut dyn FnMut(EmbedProgress),
    ) -> Result<(), MaterialError> {
        let mut passages: Vec<Passage> = documents.iter().flat_map(split::passages).collect();
        let mut seen = HashSet::new();
        // Boilerplate repeated in many files would otherwise fill the results, and cost an embedding each time.
        passages.retain(|passage| seen.insert(VectorKey::new("", &passage.said())));
        let said: Vec<String> = passages.iter().map(Passage::said).collect();
        if let Some(meaning) = &self.meaning {
            // Headings are left to the keyword search: an accidental one would turn the passage's direction.
            let texts: Vec<&str> = passages
                .iter()
                .map(|passage| passage.text.as_str())
                .collect();
            let directions = meaning.of(&texts, &mut |done, total| {
                progress(EmbedProgress { done, total });
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

    /// The passages, document by document. A passage that occurs several times is listed once, at its first
    /// place.
    pub fn passages(&self) -> &[Passage] {
        &self.passages
    }

    /// Entries of folders that were left out, with the reasons.
    pub fn skipped(&self) -> &[SkippedFile] {
        &self.skipped
    }

    /// SHA-256 over the names and contents of all documents.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// The passages relevant to a query, best first: whole ones, as many as fit into `tokens_max` by `count`,
    /// which is given the text as a model sees it. Equal ones count once. If there are several passages, never
    /// all are returned.
    pub fn find(
        &self,
        query: &PassageQuery<'_>,
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

    /// All passages related to a query, best first.
    ///
    /// A passage must match the question *and* the reader's field. Its meaning decides; a passage with many
    /// words of both comes first, which finds names and numbers that have no meaning to a model. Fusing all
    /// orders equally would let weak matches of words push out what is said in other words.
    fn rank(&self, query: &PassageQuery<'_>) -> Result<Vec<usize>, MaterialError> {
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

    /// The passages about the subject of the question, those of the field first.
    fn meant(
        &self,
        meaning: &SemanticIndex,
        query: &PassageQuery<'_>,
        lexicon: &str,
    ) -> Result<Vec<usize>, MaterialError> {
        let field: Vec<&str> = [query.focus, lexicon]
            .into_iter()
            .filter(|text| !text.trim().is_empty())
            .collect();
        let mut texts = vec![query.question];
        texts.extend(&field);
        let directions = meaning.of(&texts, &mut |_, _| {})?;
        let centred = CentredVectors::new(&self.by_meaning);
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
        let a: HashSet<TermId> = self.terms[a].iter().copied().collect();
        let b = &self.terms[b];
        let common = b.iter().filter(|term| a.contains(term)).count();
        let share = common as f32 / (a.len() + b.len() - common).max(1) as f32;
        share >= SAME_SHARE
    }
}

fn sum(a: &[f32], b: &[f32]) -> Vec<f32> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

/// As many sentences of a passage as fit, or as many words of its first one, with a mark for the omitted rest.
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
