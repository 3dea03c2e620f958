//! The words of all lexicons, and what their phrases mean.

use rustc_hash::FxHashMap;

use super::tokenize;

/// Between the forms of one entry of a lexicon.
const FORMS: char = '|';

/// Pairs of a first and a last byte that are told apart.
const SHAPES: usize = 1 << 10;

/// A word that ends a phrase, or stands inside one.
#[derive(Clone, Debug)]
pub(super) struct PhraseNode {
    pub(super) id: u32,
    /// The phrases that end with it.
    pub(super) phrases: Vec<PhraseEntry>,
}

#[derive(Clone, Debug)]
pub(super) struct PhraseEntry {
    /// Its words but the last.
    pub(super) before: Box<[u32]>,
    pub(super) means: PhraseMeaning,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum PhraseMeaning {
    Mark(usize),
    /// A mark that is a decision factor too.
    Factor(usize),
    Opens,
    Closes,
    Joins,
}

#[derive(Clone, Debug)]
pub(super) struct PhraseVocabulary {
    words: FxHashMap<Box<str>, PhraseNode>,
    /// The lengths that known words have, by their first and last byte. Most words of a question are told to be unknown
    /// here, which is faster than a look-up.
    lengths: Vec<u32>,
    pub(super) phrase_words_max: usize,
}

impl PhraseVocabulary {
    pub(super) fn new() -> Self {
        Self {
            words: FxHashMap::default(),
            lengths: vec![0; SHAPES],
            phrase_words_max: 0,
        }
    }

    /// Takes in an entry of a lexicon in all its forms. A form without a word is none.
    pub(super) fn learn(&mut self, entry: &str, means: PhraseMeaning) {
        for form in entry.split(FORMS) {
            let mut words = Vec::new();
            let mut buffer = String::new();
            tokenize::each(form, |word| {
                words.push(tokenize::lower(&word, &mut buffer).to_owned());
            });
            let mut ids: Vec<u32> = words.iter().map(|word| self.know(word).id).collect();
            let (Some(last), Some(_)) = (words.last(), ids.pop()) else {
                continue;
            };
            self.phrase_words_max = self.phrase_words_max.max(words.len());
            self.know(last).phrases.push(PhraseEntry {
                before: ids.into(),
                means,
            });
        }
    }

    fn know(&mut self, word: &str) -> &mut PhraseNode {
        self.lengths[shape(word)] |= length(word);
        let id = u32::try_from(self.words.len()).unwrap_or(u32::MAX);
        self.words.entry(word.into()).or_insert(PhraseNode {
            id,
            phrases: Vec::new(),
        })
    }

    /// The phrases that start with a word in lower case.
    #[inline]
    pub(super) fn get(&self, word: &str) -> Option<&PhraseNode> {
        if self.lengths[shape(word)] & length(word) == 0 {
            return None;
        }
        self.words.get(word)
    }
}

#[inline]
fn shape(word: &str) -> usize {
    let bytes = word.as_bytes();
    let five_bits = |byte: Option<&u8>| usize::from(byte.copied().unwrap_or_default() & 31);
    five_bits(bytes.first()) << 5 | five_bits(bytes.last())
}

/// One bit for each length; the last stands for all that is longer.
#[inline]
fn length(word: &str) -> u32 {
    1 << word.len().min(31)
}

/// The first form of an entry, by which it is called.
pub(super) fn name(entry: &str) -> String {
    let first = entry.split(FORMS).next().unwrap_or_default();
    first.trim().to_owned()
}
