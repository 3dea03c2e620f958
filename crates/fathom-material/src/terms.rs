//! Words in a comparable form: lower case, without endings.

use std::collections::{BTreeSet, HashMap};

use rust_stemmers::{Algorithm, Stemmer};
use unicode_segmentation::UnicodeSegmentation as _;

/// Maximum size of a word; nothing longer is a word to search for.
const WORD_BYTES_MAX: usize = 64;

/// Words without information about a question's subject.
const EMPTY_WORDS: &str = "a about all an and any are as at be been but by can could did do does for from had has have how i if \
     in into is it its may might more must no not of on or our shall should so some such than that the \
     their them then there these they this those to us was we were what when whether which while will \
     with would you";

/// Number of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TermId(pub(crate) u32);

/// Terms of a question.
#[derive(Debug)]
pub(crate) struct QueryTerms {
    /// Terms that occur in some passage.
    pub(crate) known: Vec<TermId>,
    /// Number of other terms.
    pub(crate) unknown: usize,
}

/// Assigns numbers to words.
pub(crate) struct TermIndex {
    stemmer: Stemmer,
    /// By their written form, so that each is stemmed once.
    written: HashMap<String, TermId>,
    stems: HashMap<String, TermId>,
}

impl Default for TermIndex {
    fn default() -> Self {
        Self {
            stemmer: Stemmer::create(Algorithm::English),
            written: HashMap::new(),
            stems: HashMap::new(),
        }
    }
}

impl TermIndex {
    /// The terms of a text; new words get a number.
    pub(crate) fn learn(&mut self, text: &str) -> Vec<TermId> {
        let mut terms = Vec::new();
        for word in text
            .unicode_words()
            .filter(|word| word.len() <= WORD_BYTES_MAX)
        {
            if let Some(&term) = self.written.get(word) {
                terms.push(term);
                continue;
            }
            let next = TermId(u32::try_from(self.stems.len()).unwrap_or(u32::MAX));
            let term = *self.stems.entry(self.stem(word)).or_insert(next);
            self.written.insert(word.to_owned(), term);
            terms.push(term);
        }
        terms
    }

    /// The terms of a question, each once and without empty words.
    pub(crate) fn asked(&self, text: &str) -> QueryTerms {
        let stems: BTreeSet<String> = text
            .unicode_words()
            .filter(|word| !is_empty(word))
            .map(|word| self.stem(word))
            .collect();
        let known: Vec<TermId> = stems
            .iter()
            .filter_map(|stem| self.stems.get(stem).copied())
            .collect();
        QueryTerms {
            unknown: stems.len() - known.len(),
            known,
        }
    }

    fn stem(&self, word: &str) -> String {
        self.stemmer.stem(&word.to_lowercase()).into_owned()
    }
}

fn is_empty(word: &str) -> bool {
    let word = word.to_lowercase();
    EMPTY_WORDS.split(' ').any(|empty| empty == word)
}
