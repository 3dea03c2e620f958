//! Decision factors that a question lists: what is coordinated after a word such as `considering`.

use super::tokenize::{self, WordGap, WordToken};

/// Most words of a listed factor. Something longer is a clause, and the list is over.
const ITEM_WORDS_MAX: usize = 12;

/// Most characters of a listed factor that are kept.
const ITEM_CHARS_MAX: usize = 80;

/// Most listed factors that are kept and counted.
const ITEMS_MAX: usize = 32;

/// Follows a question word by word and keeps what it lists.
#[derive(Default)]
pub(super) struct ListedFactors<'t> {
    open: bool,
    /// Words of the present item.
    item: Vec<&'t str>,
    /// True if the present item is also a factor of the lexicon, which counts it already.
    known: bool,
    /// Items of the present list that are over.
    before: usize,
    items: Vec<String>,
}

impl<'t> ListedFactors<'t> {
    pub(super) fn is_open(&self) -> bool {
        self.open
    }

    /// A list begins. The last words of the item before it, as many as `own`, are the opener's.
    pub(super) fn open(&mut self, own: usize) {
        self.close(own);
        self.open = true;
    }

    /// The list is over.
    pub(super) fn close(&mut self, own: usize) {
        self.join(own);
        self.open = false;
        self.before = 0;
    }

    /// The item is over.
    pub(super) fn join(&mut self, own: usize) {
        self.item.truncate(self.item.len().saturating_sub(own));
        if self.item.is_empty() {
            self.known = false;
            return;
        }
        self.before += 1;
        if !self.known && self.items.len() < ITEMS_MAX {
            let name = name(&self.item);
            if !self.items.contains(&name) {
                self.items.push(name);
            }
        }
        self.drop_item();
    }

    pub(super) fn gap(&mut self, gap: WordGap) {
        match gap {
            WordGap::Near => {}
            WordGap::Comma => self.join(0),
            // `considering the following: cost, latency` begins after the colon.
            WordGap::Colon if self.before == 0 => self.drop_item(),
            WordGap::Colon | WordGap::End => self.close(0),
        }
    }

    pub(super) fn word(&mut self, word: &WordToken<'t>) {
        if !self.open {
            return;
        }
        self.item.push(word.text);
        if self.item.len() > ITEM_WORDS_MAX {
            self.drop_item();
            self.close(0);
        }
    }

    /// The present item has a factor of the lexicon in it.
    pub(super) fn knows(&mut self) {
        self.known = self.open;
    }

    /// The items that are in no lexicon, in order.
    pub(super) fn finish(mut self) -> Vec<String> {
        self.close(0);
        self.items
    }

    fn drop_item(&mut self) {
        self.item.clear();
        self.known = false;
    }
}

fn name(words: &[&str]) -> String {
    let mut name = String::new();
    for word in words {
        if !name.is_empty() {
            name.push(' ');
        }
        // A word may be a megabyte long.
        tokenize::push_lower(cut(word), &mut name);
    }
    cut(&name).to_owned()
}

fn cut(text: &str) -> &str {
    let end = text.char_indices().nth(ITEM_CHARS_MAX);
    end.map_or(text, |(end, _)| &text[..end])
}
