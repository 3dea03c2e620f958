//! Detects statements of a persona that only an identity may make, or that contradict it.
//!
//! It reads words, not meaning: it finds plain statements in English, and nothing more. The packet is what keeps a
//! persona below the identity: there the identity comes first and the persona has a field of its own.

use fathom_core::channel::marker::Marker;

use super::persona_phrases::{
    ABOVE, ASIDE, BEFORE, CLAIMS, CONDITION, EMPTY, FREE_OF, FREELY, LABELS, LEAVE, LEFT, NO,
    NOT_HOLDING, OPPOSITES, SAME, STILL_NO, TEMPLATE_SIGNS, WHATEVER,
};

/// A statement that a persona may not make, named by the rule that forbids it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonaViolation {
    pub rule: PersonaRule,
    /// The words that break it, or the rule of the identity that they are against.
    pub words: String,
}

/// Rules for personas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PersonaRule {
    /// It does not say to ignore what stands above it.
    Ignore,
    /// It does not say that what stands above it does not hold.
    Unbound,
    /// It does not claim to be the identity, or to come before it.
    Claim,
    /// It has no marker, no label of a packet's header and no sign of a chat template.
    Label,
    /// It does not ask for what a core rule forbids, or forbid what one asks for.
    Negate,
}

impl PersonaRule {
    /// The rule in one word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ignore => "ignore",
            Self::Unbound => "unbound",
            Self::Claim => "claim",
            Self::Label => "label",
            Self::Negate => "negate",
        }
    }

    /// Description of the forbidden statement.
    pub const fn forbids(self) -> &'static str {
        match self {
            Self::Ignore => "telling the model to ignore its rules",
            Self::Unbound => "claiming that the rules do not apply",
            Self::Claim => "claiming to be the identity or to take precedence over it",
            Self::Label => "markers, header labels and chat template tokens",
            Self::Negate => "contradicting a core rule",
        }
    }
}

/// Most words between a verb and what it is about.
// With a longer reach, verbs would meet nouns of another thought.
const REACH: usize = 5;

/// First problem with this text of a persona, compared with the core rules.
pub fn overruling(core_rules: &[String], said: &str) -> Option<PersonaViolation> {
    label(said).or_else(|| {
        clauses(said).iter().find_map(|clause| {
            let found =
                ignoring(clause)
                    .or_else(|| claiming(clause))
                    .map(|rule| PersonaViolation {
                        rule,
                        words: clause.join(" "),
                    });
            found.or_else(|| negating(core_rules, clause))
        })
    })
}

/// True if the name of a layer reads like a part of the header.
pub fn is_label(name: &str) -> bool {
    LABELS.contains(&name.to_lowercase().as_str())
}

fn label(said: &str) -> Option<PersonaViolation> {
    let found = |words: &str| {
        Some(PersonaViolation {
            rule: PersonaRule::Label,
            words: words.to_owned(),
        })
    };
    let lower = said.to_lowercase();
    if let Some(sign) = TEMPLATE_SIGNS.iter().find(|sign| lower.contains(**sign)) {
        return found(sign);
    }
    for line in said.lines().map(str::trim_start) {
        if let Some(marker) = Marker::ALL
            .iter()
            .find(|marker| line.starts_with(marker.prefix()))
        {
            return found(marker.prefix());
        }
        let begins = line
            .trim_start_matches(['#', '*', '-', ' '])
            .split(':')
            .next();
        let begins = begins.unwrap_or_default();
        if begins.len() < line.len() && is_label(begins.trim_end_matches('*').trim()) {
            return found(begins);
        }
    }
    None
}

/// The text as clauses of small words without signs; short forms are written out.
fn clauses(said: &str) -> Vec<Vec<String>> {
    let plain: String = said
        .chars()
        // What cannot be seen cannot part a word.
        .filter(|c| {
            !matches!(
                c,
                '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{00ad}'
            )
        })
        .map(|c| if c == '’' { '\'' } else { c })
        .collect();
    let plain = plain
        .to_lowercase()
        // Before the next line, which would make "ca not" of it.
        .replace("can't", "cannot")
        .replace("n't", " not");
    let plain = ["make up", "made up", "made-up"]
        .iter()
        .fold(plain, |plain, form| plain.replace(form, "invent"));
    let parts = plain.split(['.', ';', '!', '?', '\n', ',', ':', '(', ')']);
    // What follows "but" has a subject and a negation of its own.
    let parts = parts.flat_map(|part| part.split(" but "));
    let words = |part: &str| {
        let words = part.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        let words = words.filter(|word| !word.is_empty());
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    parts.map(words).filter(|words| !words.is_empty()).collect()
}

/// True if the word names something above a persona.
fn is_above(word: &str) -> bool {
    ABOVE.contains(&word) || ABOVE.contains(&singular(word).as_str())
}

fn singular(word: &str) -> String {
    match word.strip_suffix("ies") {
        Some(stem) if stem.len() > 2 => format!("{stem}y"),
        _ => match word.strip_suffix('s') {
            Some(stem) if stem.len() > 2 && !stem.ends_with('s') => stem.to_owned(),
            _ => word.to_owned(),
        },
    }
}

/// True if the words at `at` are negated.
fn is_turned(clause: &[String], at: usize) -> bool {
    let before = clause.get(..at).unwrap_or_default().iter().rev();
    let mut before = before.skip_while(|word| STILL_NO.contains(&word.as_str()));
    before
        .next()
        .is_some_and(|word| NO.contains(&word.as_str()))
}

/// True if the words after a verb refer to something above a persona.
fn is_about_above(after: &[String]) -> bool {
    let is_whatever = after
        .first()
        .is_some_and(|word| WHATEVER.contains(&word.as_str()));
    let is_aside = |word: &&String| !is_whatever && ASIDE.contains(&word.as_str());
    let meant = after.iter().take(REACH).take_while(|word| !is_aside(word));
    meant.into_iter().any(|word| is_above(word))
}

fn ignoring(clause: &[String]) -> Option<PersonaRule> {
    for (at, word) in clause.iter().enumerate() {
        let after = clause.get(at + 1..).unwrap_or_default();
        let leaves = LEAVE.contains(&word.as_str())
            || word.strip_suffix("ing").is_some_and(|stem| {
                LEAVE
                    .iter()
                    .any(|verb| *verb == stem || verb.strip_suffix('e') == Some(stem))
            });
        if leaves && is_about_above(after) && !is_turned(clause, at) {
            return Some(PersonaRule::Ignore);
        }
        if is_above(word) {
            let left = after
                .iter()
                .take(REACH)
                .position(|word| LEFT.contains(&word.as_str()));
            if left.is_some_and(|left| !is_turned(clause, at + 1 + left)) {
                return Some(PersonaRule::Unbound);
            }
            if phrase_in(after, NOT_HOLDING, REACH) {
                return Some(PersonaRule::Unbound);
            }
        }
    }
    phrase_before_above(clause, FREE_OF).then_some(PersonaRule::Unbound)
}

fn claiming(clause: &[String]) -> Option<PersonaRule> {
    let claims = phrase_in(clause, CLAIMS, usize::MAX) || phrase_before_above(clause, BEFORE);
    claims.then_some(PersonaRule::Claim)
}

/// Place of a phrase in a clause: its first word, and the one after its last.
fn find(clause: &[String], phrase: &str) -> Option<(usize, usize)> {
    let words: Vec<&str> = phrase.split(' ').collect();
    let mut windows = clause.windows(words.len()).enumerate();
    let found = windows.find(|(_, window)| window.iter().zip(&words).all(|(a, b)| a == b));
    found.map(|(at, _)| (at, at + words.len()))
}

fn phrase_in(clause: &[String], phrases: &[&str], reach: usize) -> bool {
    let mut found = phrases.iter().filter_map(|phrase| find(clause, phrase));
    found.any(|(at, _)| at <= reach && !is_turned(clause, at))
}

/// True if one of the phrases is close before a word for something above a persona.
fn phrase_before_above(clause: &[String], phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| {
        find(clause, phrase).is_some_and(|(at, end)| {
            let after = clause.get(end..).unwrap_or_default();
            after.iter().take(REACH).any(|word| is_above(word)) && !is_turned(clause, at)
        })
    })
}

/// Subject of a clause: its words, each in its base form, without stop words.
fn meant<'a>(words: impl IntoIterator<Item = &'a String>) -> Vec<String> {
    let mut meant: Vec<String> = Vec::new();
    for word in words {
        let stem = singular(word);
        if [EMPTY, NO]
            .concat()
            .iter()
            .any(|empty| *empty == word || *empty == stem)
        {
            continue;
        }
        let stem = stem
            .strip_suffix("ing")
            .filter(|stem| stem.len() > 3)
            .unwrap_or(&stem);
        let same = SAME.iter().find(|same| {
            same.iter()
                .any(|one| *one == word || *one == stem || one.strip_suffix('e') == Some(stem))
        });
        let one = same
            .and_then(|same| same.first())
            .map_or(stem, |first| *first)
            .to_owned();
        if !meant.contains(&one) {
            meant.push(one);
        }
    }
    meant
}

/// A rule, or what a persona says, taken apart: what it is about, unless what, and whether it is forbidden.
struct Statement {
    about: Vec<String>,
    without: Vec<String>,
    is_no: bool,
    is_free: bool,
}

impl Statement {
    fn read(clause: &[String]) -> Self {
        let cut = clause
            .iter()
            .position(|word| word == "without" || word == "unless");
        let (about, without) = clause.split_at(cut.unwrap_or(clause.len()));
        // What follows such a word is a condition, and may have a no of its own.
        let main = about
            .iter()
            .take_while(|word| !CONDITION.contains(&word.as_str()));
        Self {
            is_no: main.into_iter().any(|word| NO.contains(&word.as_str())),
            is_free: about.iter().any(|word| FREELY.contains(&word.as_str())),
            about: meant(about),
            without: meant(without.iter().skip(1)),
        }
    }

    /// Number of words that both have.
    fn shared(&self, words: &[String]) -> usize {
        self.about
            .iter()
            .filter(|word| words.contains(word))
            .count()
    }

    /// True if `other` is about the same subject: it has the first word, which is the action, and more than half of all
    /// words.
    fn is_about(&self, other: &Self) -> bool {
        let first = self
            .about
            .first()
            .is_some_and(|first| other.about.contains(first));
        first && self.shared(&other.about) * 2 > self.about.len()
    }

    /// True if `persona` states the opposite of this rule.
    fn is_denied_by(&self, persona: &Self) -> bool {
        if self.is_no {
            let same = self.is_about(persona) && !persona.is_no;
            let unasked = persona
                .without
                .iter()
                .any(|word| self.without.contains(word));
            return same && (self.without.is_empty() || unasked || persona.is_free);
        }
        if persona.is_no {
            // A rule of one word is denied by any sentence with that word, so it is left to people.
            let is_whole = self.about.len() > 1 && persona.without.is_empty();
            return is_whole && self.is_about(persona);
        }
        // "Share private data" beside "Keep private data private".
        OPPOSITES.iter().any(|(one, other)| {
            let has = |said: &Self, word: &str| said.about.iter().any(|known| known == word);
            let shared = self.shared(&persona.about) >= 2;
            shared
                && (has(self, one) && has(persona, other) || has(self, other) && has(persona, one))
        })
    }
}

fn negating(core_rules: &[String], clause: &[String]) -> Option<PersonaViolation> {
    let persona = Statement::read(clause);
    let denied = core_rules.iter().find(|rule| {
        let words: Vec<String> = clauses(rule).concat();
        Statement::read(&words).is_denied_by(&persona)
    });
    denied.map(|rule| PersonaViolation {
        rule: PersonaRule::Negate,
        words: rule.clone(),
    })
}

#[cfg(test)]
#[path = "persona_check_tests.rs"]
mod tests;
