//! Chiefs and those below them, as a tree.

use std::collections::BTreeSet;

use fathom_programs::council::{CouncilSeat, DEPTH_MAX};
use serde::Deserialize;
use toml::Spanned;

use super::super::limits::{CHIEFS_MAX, FOCUS_CHARS_MAX, NAME_CHARS_MAX, SUB_CHIEFS_LISTED_MAX};
use super::super::manifest;
use super::super::problem::CharterProblem;
use super::TableReader;

/// Rule for a seat ID, as its error states it.
const ID: &str = "an id starts with a letter, uses only letters, digits, `-` and `_`, and has at most 64 characters";

/// `[[council.chief]]` and what is below it, as it stands in the file.
#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub(super) struct SeatTable {
    id: Option<Spanned<String>>,
    focus: Option<Spanned<String>>,
    lexicon: Option<Spanned<Vec<Spanned<String>>>>,
    sub_chief: Vec<Spanned<SeatTable>>,
}

impl TableReader<'_> {
    /// The seats of one level. `path` is the list's key from the top of the file.
    pub(super) fn seats(
        &mut self,
        tables: Vec<Spanned<SeatTable>>,
        path: &str,
        level: u8,
    ) -> Vec<CouncilSeat> {
        let Some(first) = tables.first() else {
            return Vec::new();
        };
        // Seats are read by recursion, so the depth is checked before going down.
        if level > DEPTH_MAX {
            let levels = level.into();
            self.problem(&first.span(), CharterProblem::TooDeep { levels });
            return Vec::new();
        }
        let (what, count_max) = match level {
            0 => ("chiefs", CHIEFS_MAX),
            _ => ("sub-chiefs below one seat", SUB_CHIEFS_LISTED_MAX),
        };
        if let Some(first_over) = tables.get(count_max) {
            self.problem(
                &first_over.span(),
                CharterProblem::TooMany { what, count_max },
            );
        }
        let mut taken = BTreeSet::new();
        let seats = tables.into_iter();
        seats
            .map(|table| self.seat(table, path, level, &mut taken))
            .collect()
    }

    fn seat(
        &mut self,
        table: Spanned<SeatTable>,
        path: &str,
        level: u8,
        taken: &mut BTreeSet<String>,
    ) -> CouncilSeat {
        let is_sub_chief = level > 0;
        let keys = [
            ("id", table.get_ref().id.is_some(), "id = \"security\""),
            ("focus", table.get_ref().focus.is_some(), "focus = \"…\""),
            (
                "lexicon",
                table.get_ref().lexicon.is_some() || !is_sub_chief,
                "lexicon = [\"login\", \"logins\"]",
            ),
        ];
        for (key, is_there, example) in keys {
            if !is_there && !self.dropped.has(&format!("{path}.{key}")) {
                let key = key.to_owned();
                self.problem(&table.span(), CharterProblem::MissingKey { key, example });
            }
        }
        let table = table.into_inner();
        if let Some(id) = &table.id {
            if !is_id(id.get_ref()) {
                self.bad("id", id, ID);
            }
            // People do not tell `it` from `IT` when they talk.
            if !taken.insert(id.get_ref().to_lowercase()) {
                let flaw = CharterProblem::DuplicateId {
                    id: id.get_ref().clone(),
                    first: format!("this {}", manifest::FILE),
                };
                self.problem(&id.span(), flaw);
            }
        }
        if let Some(focus) = &table.focus {
            if focus.get_ref().trim().is_empty() {
                let what = "`focus`".to_owned();
                self.problem(&focus.span(), CharterProblem::Empty { what });
            } else if focus.get_ref().chars().count() > FOCUS_CHARS_MAX {
                let why = format!("exceeds {FOCUS_CHARS_MAX} characters");
                self.bad("focus", focus, why);
            }
        }
        let lexicon = table.lexicon.map(|lexicon| {
            if lexicon.get_ref().is_empty() && is_sub_chief {
                let what = "the lexicon of a sub-chief".to_owned();
                self.problem(&lexicon.span(), CharterProblem::Empty { what });
            }
            self.words("lexicon", lexicon.into_inner())
        });
        let text =
            |said: Option<Spanned<String>>| said.map(Spanned::into_inner).unwrap_or_default();
        CouncilSeat {
            id: text(table.id),
            focus: text(table.focus).trim().to_owned(),
            lexicon: lexicon.unwrap_or_default(),
            passages: Vec::new(),
            sub_chiefs: self.seats(table.sub_chief, &format!("{path}.sub_chief"), level + 1),
        }
    }

    /// A list of words and phrases. A word without letters is a problem, a repeated one a warning.
    pub(super) fn words(
        &mut self,
        list: &'static str,
        mut words: Vec<Spanned<String>>,
    ) -> Vec<String> {
        let mut known = BTreeSet::new();
        words.retain(|said| {
            let word = said.get_ref().trim();
            if word.chars().count() > NAME_CHARS_MAX {
                let why = format!("a word exceeds {NAME_CHARS_MAX} characters");
                self.bad(list, said, why);
            } else if !word.is_empty() && !word.contains(char::is_alphanumeric) {
                self.bad(list, said, "a word must contain a letter or a digit");
            }
            let is_new = word.is_empty() || known.insert(word.to_lowercase());
            if !is_new {
                let word = word.to_owned();
                self.warning(&said.span(), CharterProblem::RepeatedWord { word, list });
            }
            is_new
        });
        self.source.entries(list, words, self.findings)
    }
}

/// True if the text can be a seat ID, and so a part of a path like `IT/security`.
pub(super) fn is_id(text: &str) -> bool {
    manifest::is_slug(&text.to_ascii_lowercase())
}
