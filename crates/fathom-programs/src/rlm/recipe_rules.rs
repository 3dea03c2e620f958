//! Chooses a recipe by rules, where the words of the question and the fields of the material leave no doubt.

use super::config::MaterialItem;
use super::material_fields::{MaterialField, MaterialFields};
use super::recipe::Recipe;

/// Words that ask for a meaning rather than for a value that is written down.
const MEANING: [&str; 10] = [
    "about",
    "mention",
    "complain",
    "complaint",
    "feel",
    "sound",
    "express",
    "angry",
    "unhappy",
    "happy",
];

/// Longer ones are likely to hold conditions of their own.
const TOPIC_WORDS_MAX: usize = 5;

/// Values that are words of any question.
const COMMON: [&str; 22] = [
    "the", "and", "for", "not", "are", "how", "many", "per", "each", "with", "from", "was", "has",
    "this", "that", "all", "any", "new", "done", "lines", "line", "number",
];

/// Words that name entries or the file, whatever these hold; one space between them.
const ENTRIES: &str = "case csv data dataset document element entry event file issue item json line log mail \
    message object occurrence order post record report request response review row table task \
    text ticket time transaction value";

/// Words that hold a question about counts together and add nothing to it.
const GRAMMAR: &str = "all altogether an any appear are as at be been belong belongs break breakdown by can common \
    count counts did distribution do does down each every exactly exist find for frequent from \
    give group grouped had has have having how in into is it list many marked me most my number \
    occur occurs of often on our overall per please show tell that the there these this to total \
    was we were what which with";

/// The same, as they are written: other letters are names.
const LETTERS: [&str; 3] = ["a", "I", "s"];

/// Words that ask for each value once.
const KINDS: [&str; 3] = ["different", "distinct", "unique"];

/// Words that begin a question about something in the material.
const ASKING: [&str; 12] = [
    "what", "which", "who", "whose", "when", "where", "why", "how", "does", "did", "is", "are",
];

/// Operations on numbers, with the words that ask for each.
const OPERATIONS: [(&str, [&str; 3]); 7] = [
    ("mean", ["average", "mean", "averages"]),
    ("sum", ["sum", "total", "altogether"]),
    ("median", ["median", "medians", "median"]),
    ("max", ["highest", "largest", "maximum"]),
    ("max", ["longest", "max", "greatest"]),
    ("min", ["lowest", "smallest", "minimum"]),
    ("min", ["shortest", "min", "least"]),
];

/// The recipe that the question asks for, if that is plain.
pub(super) fn route(
    question: &str,
    given: &[MaterialItem],
    facts: &MaterialFields,
) -> Option<Recipe> {
    let question = QuestionWords::new(question);
    if question.wants_summary() {
        let bullets = question.number().filter(|n| (1..=12).contains(n));
        let bullets = bullets.unwrap_or(5);
        return Some(Recipe::MapReduceSummary { bullets });
    }
    if let [a, b] = given
        && question.begins(&["compar", "differ", "chang", "versus"])
    {
        let (a, b) = (a.name.clone(), b.name.clone());
        return Some(Recipe::Compare { a, b });
    }
    if question.counts() {
        return count(&question, given, facts);
    }
    let measured = |field: &MaterialField| field.is_number && question.names(field);
    if let Some(op) = question.operation()
        && facts.fields.iter().any(measured)
    {
        return aggregate(op, &question, given, facts);
    }
    if question.pairs() {
        return Some(Recipe::Pairwise {});
    }
    match question.words.first().map(String::as_str) {
        Some("why" | "how" | "explain" | "describe") => Some(Recipe::FilterThenRead {
            keywords: Vec::new(),
        }),
        Some("what" | "which" | "who" | "whose" | "when" | "where" | "find") => {
            Some(Recipe::Find {
                keywords: Vec::new(),
            })
        }
        _ => None,
    }
}

/// True if entries are counted, and no numbers in them.
pub(super) fn counts_entries(question: &str, facts: &MaterialFields) -> bool {
    let question = QuestionWords::new(question);
    let measured = |field: &MaterialField| field.is_number && question.names(field);
    question.counts() && !facts.fields.iter().any(measured)
}

fn count(
    question: &QuestionWords,
    given: &[MaterialItem],
    facts: &MaterialFields,
) -> Option<Recipe> {
    if let Some((before, label)) = question.topic() {
        let mut values = facts.fields.iter().flat_map(|field| &field.values);
        // One condition is what they are about; another would not be heeded.
        let is_one = !values.any(|value| before.says_value(value));
        return is_one.then_some(Recipe::ClassifyEach { label });
    }
    if question.begins(&MEANING) {
        return None;
    }
    let named: Vec<&MaterialField> = facts
        .fields
        .iter()
        .filter(|field| question.names(field))
        .collect();
    let mut values = facts.fields.iter().flat_map(|field| {
        let said = field
            .values
            .iter()
            .filter(|value| question.says_value(value));
        said.map(move |value| (field, value))
    });
    let (field, value) = match (values.next(), values.next(), named.as_slice()) {
        (Some((field, value)), None, []) => Some((field, value.clone())),
        (Some((field, value)), None, [named]) if named.name == field.name => {
            Some((field, value.clone()))
        }
        (None, None, [field]) if !field.is_number || !field.values.is_empty() => {
            Some((*field, String::new()))
        }
        // Several conditions, or none that is written down.
        _ => None,
    }?;
    let mut said = vec![field.name.as_str(), &value];
    said.extend(file_words(given));
    if value.is_empty() {
        said.extend(KINDS);
    }
    // What is left over is a condition that a count of one value would not heed.
    question.is_all_said(&said).then(|| Recipe::CountByField {
        field: field.name.clone(),
        value,
    })
}

/// Entries are called what their file is called.
fn file_words(given: &[MaterialItem]) -> impl Iterator<Item = &str> {
    let one = given.first().filter(|_| given.len() == 1);
    one.into_iter().flat_map(|given| {
        let name = given.name.rsplit(['/', '\\']).next().unwrap_or_default();
        name.split(|c: char| !c.is_alphanumeric())
    })
}

fn aggregate(
    op: &str,
    question: &QuestionWords,
    given: &[MaterialItem],
    facts: &MaterialFields,
) -> Option<Recipe> {
    let (numbers, groups): (Vec<&MaterialField>, Vec<&MaterialField>) = facts
        .fields
        .iter()
        .filter(|field| question.names(field))
        .partition(|field| field.is_number);
    let says_value = facts.fields.iter().any(|field| {
        field
            .values
            .iter()
            .any(|value| !field.is_number && question.says_value(value))
    });
    let by = match groups.as_slice() {
        [] => String::new(),
        [field] => field.name.clone(),
        _ => return None,
    };
    let mut said: Vec<&str> = OPERATIONS.iter().flat_map(|(_, names)| *names).collect();
    said.extend([by.as_str(), "grouped"]);
    said.extend(file_words(given));
    match numbers.as_slice() {
        [field] if !says_value && question.is_all_said(&[said, vec![&field.name]].concat()) => {
            Some(Recipe::Aggregate {
                field: field.name.clone(),
                op: op.to_owned(),
                by,
            })
        }
        _ => None,
    }
}

/// The words of a question.
struct QuestionWords {
    /// As they are written.
    exact: Vec<String>,
    /// The question in lower case.
    words: Vec<String>,
}

impl QuestionWords {
    fn new(question: &str) -> Self {
        let exact = words(question);
        let words = exact.iter().map(|word| word.to_lowercase()).collect();
        Self { exact, words }
    }

    fn begins(&self, stems: &[&str]) -> bool {
        self.words
            .iter()
            .any(|word| stems.iter().any(|stem| word.starts_with(stem)))
    }

    fn says(&self, phrase: &str) -> bool {
        let wanted = words(&phrase.to_lowercase());
        !wanted.is_empty()
            && self
                .words
                .windows(wanted.len())
                .any(|said| is_same(said, &wanted))
    }

    /// True if the question says nothing beyond these phrases, the entries and function words.
    fn is_all_said(&self, phrases: &[&str]) -> bool {
        let both = self.words.iter().zip(&self.exact);
        let mut is_said: Vec<bool> = both
            .map(|(word, exact)| {
                ENTRIES
                    .split(' ')
                    .any(|name| singular(name) == singular(word))
                    || GRAMMAR.split(' ').any(|known| known == word)
                    || LETTERS.contains(&exact.as_str())
            })
            .collect();
        for phrase in phrases {
            let wanted = words(&phrase.to_lowercase());
            let places = self.words.windows(wanted.len().max(1)).enumerate();
            for (place, _) in places.filter(|(_, said)| is_same(said, &wanted)) {
                is_said
                    .iter_mut()
                    .skip(place)
                    .take(wanted.len())
                    .for_each(|said| *said = true);
            }
        }
        is_said.into_iter().all(|said| said)
    }

    fn names(&self, field: &MaterialField) -> bool {
        self.says(&field.name)
    }

    /// True if the question names a value; one with capitals must match exactly.
    fn says_value(&self, value: &str) -> bool {
        let is_plain = value.chars().all(|c| !c.is_uppercase());
        let wanted = words(value);
        if value.chars().count() < 3 || COMMON.contains(&value) || wanted.is_empty() {
            return false;
        }
        if is_plain {
            return self.says(value);
        }
        self.exact
            .windows(wanted.len())
            .any(|said| said == wanted.as_slice())
            || self.says(value) && value.chars().any(char::is_lowercase)
    }

    fn counts(&self) -> bool {
        [
            "how many",
            "number of",
            "how often",
            "most common",
            "most frequent",
            "group by",
            "break down",
            "for each",
            "in each",
        ]
        .iter()
        .any(|phrase| self.says(phrase))
            || self.begins(&["count", "breakdown", "distribution"])
    }

    /// The topic of the entries asked for, if nothing else is said of them.
    fn topic(&self) -> Option<(Self, String)> {
        let at = self.words.iter().rposition(|word| word == "about")?;
        let verb = self.words.get(at.checked_sub(1)?)?;
        let topic = self.exact.get(at + 1..)?;
        let is_all = ["are", "is", "were"].contains(&verb.as_str());
        let before = self.exact.get(..at)?;
        (is_all && (1..=TOPIC_WORDS_MAX).contains(&topic.len()))
            .then(|| (Self::new(&before.join(" ")), topic.join(" ")))
    }

    /// True if entries that belong together are asked for, not something about one of them.
    fn pairs(&self) -> bool {
        matches!(
            self.words.first().map(String::as_str),
            Some("which" | "find" | "list" | "show" | "are")
        ) && ["each other", "one another", "pairs of", "duplicates"]
            .iter()
            .any(|phrase| self.says(phrase))
    }

    /// True if the question asks for a summary of the whole. It may also ask about a summary in the material.
    fn wants_summary(&self) -> bool {
        if self.says("main points") || self.says("key points") {
            return true;
        }
        let asks = self
            .words
            .first()
            .is_some_and(|word| ASKING.contains(&word.as_str()));
        self.begins(&["summar", "overview", "bullet", "gist", "tldr"])
            && (!asks || self.is_all_said(&["summary", "overview", "gist", "short", "brief"]))
    }

    fn operation(&self) -> Option<&'static str> {
        let said = |names: &[&str]| self.words.iter().any(|word| names.contains(&word.as_str()));
        OPERATIONS
            .iter()
            .find(|(_, names)| said(names))
            .map(|(op, _)| *op)
    }

    fn number(&self) -> Option<u8> {
        const NUMBERS: [&str; 12] = [
            "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
            "eleven", "twelve",
        ];
        self.words.iter().find_map(|word| {
            let spelt = NUMBERS.iter().zip(1..).find(|(number, _)| *number == word);
            spelt.map(|(_, n)| n).or_else(|| word.parse().ok())
        })
    }
}

fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

fn is_same(said: &[String], wanted: &[String]) -> bool {
    said.iter()
        .zip(wanted)
        .all(|(said, wanted)| singular(said) == singular(wanted))
}

fn singular(word: &str) -> &str {
    if let Some(stem) = word.strip_suffix("ies").or_else(|| word.strip_suffix('y')) {
        return stem;
    }
    word.strip_suffix('s').unwrap_or(word)
}

#[cfg(test)]
#[path = "recipe_rules_tests.rs"]
mod tests;
