//! The rules of the ballots, which a profile may change key by key.

use std::fmt;
use std::marker::PhantomData;

use fathom_core::unit::Millis;
use fathom_programs::council::{
    ConfidenceSource, CouncilConfig, DEPTH_MAX, ReusePolicy, SAMPLES_MAX, SUB_CHIEFS_MAX,
    SynthesisMode,
};
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use toml::Spanned;

use super::super::limits::{
    COUNCIL_INSTRUCTIONS_CHARS_MAX, PASSAGE_TOKENS, PASSAGE_TOKENS_USUAL, REASONING_CHARS,
    REASONING_CHARS_USUAL, VOTE_TOKENS,
};
use super::super::manifest::thousandths;
use super::super::problem::CharterProblem;
use super::super::strict_toml::unknown_word;
use super::{CouncilTable, TableReader};
use crate::config::parse_time;

/// Fewest votes whose share says something.
// One sample always agrees with itself, so its measured confidence would be 1.
const SAMPLES_MIN: u64 = 2;

/// Highest temperature, in thousandths.
// Providers refuse temperatures above 2.
const TEMPERATURE_MILLI_MAX: u16 = 2_000;

/// Highest similarity, in thousandths.
const SIMILAR_MILLI_MAX: u16 = 1_000;

/// Voting rules for one kind of model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BallotRules {
    /// Levels of sub-chiefs below the chiefs.
    pub depth_max: u8,
    /// Most sub-chiefs that one seat asks.
    pub sub_chiefs_max: u8,
    /// Source of a vote's confidence.
    pub confidence: ConfidenceSource,
    /// Method that combines several votes.
    pub synthesis: SynthesisMode,
    /// Reuse of earlier answers.
    pub reuse: ReusePolicy,
    /// True if every chief that asks its sub-chiefs also votes by itself.
    pub compare: bool,
    /// Most tokens of the passages that one seat is given.
    pub passage_tokens_max: u32,
    /// Most characters of a voter's reasoning.
    pub reasoning_chars_max: u32,
    /// Output cap of a vote.
    pub output_tokens_max: u32,
    /// True if the reply is requested as JSON under a schema.
    pub structured: bool,
    /// Longest time of one attempt.
    pub timeout: Millis,
    /// Longest time that a voter may take, retries included.
    pub voter_time: Millis,
    /// Instructions to every voter.
    pub instructions: String,
}

impl Default for BallotRules {
    fn default() -> Self {
        let usual = CouncilConfig::default();
        Self {
            depth_max: usual.depth_max,
            sub_chiefs_max: SUB_CHIEFS_MAX,
            confidence: usual.confidence,
            synthesis: usual.synthesis,
            reuse: usual.reuse,
            compare: usual.compare,
            passage_tokens_max: PASSAGE_TOKENS_USUAL,
            reasoning_chars_max: REASONING_CHARS_USUAL,
            output_tokens_max: usual.output_tokens_max,
            structured: usual.structured,
            timeout: usual.timeout,
            voter_time: usual.voter_time,
            instructions: usual.instructions,
        }
    }
}

impl BallotRules {
    /// Votes that are drawn for one seat.
    pub(super) const fn votes(&self) -> u64 {
        match self.confidence {
            ConfidenceSource::Stated => 1,
            ConfidenceSource::Measured { samples, .. } => samples as u64,
        }
    }
}

/// A value that is one word, or a table.
pub(super) enum WordOr<T> {
    Word(String),
    Table(T),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for WordOr<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameOrList<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for NameOrList<T> {
            type Value = WordOr<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a word or a table")
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<Self::Value, E> {
                Ok(WordOr::Word(word.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(WordOr::Table)
            }
        }
        deserializer.deserialize_any(NameOrList(PhantomData))
    }
}

/// `confidence = { … }`.
#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ConfidenceTable {
    samples: Option<Spanned<u64>>,
    temperature: Option<Spanned<f64>>,
}

/// `reuse = { … }`.
#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ReuseTable {
    similar: Option<Spanned<f64>>,
}

impl TableReader<'_> {
    /// Rules of the table, with `usual` for absent keys.
    pub(super) fn rules(&mut self, table: &CouncilTable, usual: &BallotRules) -> BallotRules {
        let sub_chiefs = 1..=u64::from(SUB_CHIEFS_MAX);
        let passages = self.number(
            "passage_tokens",
            table.passage_tokens.as_ref(),
            PASSAGE_TOKENS,
        );
        let reasoning = self.number(
            "reasoning_chars",
            table.reasoning_chars.as_ref(),
            REASONING_CHARS,
        );
        let output = self.number("output_tokens", table.output_tokens.as_ref(), VOTE_TOKENS);
        let rules = BallotRules {
            depth_max: self.depth(table.depth.as_ref()).unwrap_or(usual.depth_max),
            sub_chiefs_max: self
                .number("sub_chiefs_max", table.sub_chiefs_max.as_ref(), sub_chiefs)
                .unwrap_or(usual.sub_chiefs_max),
            confidence: self
                .confidence(table.confidence.as_ref())
                .unwrap_or(usual.confidence),
            synthesis: self
                .synthesis(table.synthesis.as_ref())
                .unwrap_or(usual.synthesis),
            reuse: self.reuse(table.reuse.as_ref()).unwrap_or(usual.reuse),
            compare: table.compare.unwrap_or(usual.compare),
            passage_tokens_max: passages.unwrap_or(usual.passage_tokens_max),
            reasoning_chars_max: reasoning.unwrap_or(usual.reasoning_chars_max),
            output_tokens_max: output.unwrap_or(usual.output_tokens_max),
            structured: table.structured.unwrap_or(usual.structured),
            timeout: self
                .time("timeout", table.timeout.as_ref())
                .unwrap_or(usual.timeout),
            voter_time: self
                .time("voter_time", table.voter_time.as_ref())
                .unwrap_or(usual.voter_time),
            instructions: self
                .instructions(table.instructions.as_ref())
                .unwrap_or_else(|| usual.instructions.clone()),
        };
        if rules.voter_time < rules.timeout {
            if let Some(said) = &table.voter_time {
                self.bad(
                    "voter_time",
                    said,
                    "must not be shorter than `timeout`, the time of one attempt",
                );
            } else if let Some(said) = &table.timeout {
                self.bad(
                    "timeout",
                    said,
                    "must not be longer than `voter_time`, the time of all attempts",
                );
            }
        }
        rules
    }

    /// Complains about what a profile cannot change.
    pub(super) fn only_rules(&mut self, table: &CouncilTable) {
        let known = "depth, sub_chiefs_max, confidence, synthesis, reuse, compare, passage_tokens, \
                     reasoning_chars, output_tokens, structured, timeout, voter_time, instructions";
        let others = [
            ("local", table.local.as_ref().map(Spanned::span)),
            ("detector", table.detector.as_ref().map(Spanned::span)),
            ("chief", table.chief.first().map(Spanned::span)),
        ];
        for (key, span) in others {
            if let Some(span) = span {
                let flaw = CharterProblem::UnknownKey {
                    key: key.to_owned(),
                    nearest: None,
                    known: known.split(", ").map(str::to_owned).collect(),
                };
                self.problem(&span, flaw);
            }
        }
    }

    fn depth(&mut self, said: Option<&Spanned<u64>>) -> Option<u8> {
        let said = said?;
        let levels = *said.get_ref();
        if levels > DEPTH_MAX.into() {
            self.problem(&said.span(), CharterProblem::TooDeep { levels });
            return None;
        }
        u8::try_from(levels).ok()
    }

    fn confidence(
        &mut self,
        said: Option<&Spanned<WordOr<ConfidenceTable>>>,
    ) -> Option<ConfidenceSource> {
        let said = said?;
        let table = match said.get_ref() {
            WordOr::Word(word) if word == "stated" => return Some(ConfidenceSource::Stated),
            WordOr::Word(_) => {
                let why = "expected \"stated\" or { samples = 5, temperature = 0.8 }";
                self.bad("confidence", said, why);
                return None;
            }
            WordOr::Table(table) => table,
        };
        let (Some(samples), Some(temperature)) = (&table.samples, &table.temperature) else {
            let keys = [
                ("samples", table.samples.is_some(), "samples = 5"),
                (
                    "temperature",
                    table.temperature.is_some(),
                    "temperature = 0.8",
                ),
            ];
            for (key, is_there, example) in keys {
                self.missing(said, "confidence", (key, is_there, example));
            }
            return None;
        };
        let votes = SAMPLES_MIN..=SAMPLES_MAX.into();
        let samples = self.number("samples", Some(samples), votes);
        let temperature_milli = self.fraction("temperature", temperature, TEMPERATURE_MILLI_MAX);
        Some(ConfidenceSource::Measured {
            samples: samples?,
            temperature_milli: temperature_milli?,
        })
    }

    fn synthesis(&mut self, said: Option<&Spanned<String>>) -> Option<SynthesisMode> {
        let said = said?;
        match said.get_ref().as_str() {
            "arithmetic" => Some(SynthesisMode::Arithmetic),
            "model" => Some(SynthesisMode::Model),
            other => {
                let known = vec!["arithmetic".to_owned(), "model".to_owned()];
                self.problem(&said.span(), unknown_word(other.to_owned(), known));
                None
            }
        }
    }

    fn reuse(&mut self, said: Option<&Spanned<WordOr<ReuseTable>>>) -> Option<ReusePolicy> {
        let said = said?;
        let table = match said.get_ref() {
            WordOr::Word(word) if word == "off" => return Some(ReusePolicy::Off),
            WordOr::Word(word) if word == "same" => return Some(ReusePolicy::Same),
            WordOr::Word(_) => {
                self.bad(
                    "reuse",
                    said,
                    "expected \"off\", \"same\" or { similar = 0.92 }",
                );
                return None;
            }
            WordOr::Table(table) => table,
        };
        let Some(similar) = &table.similar else {
            self.missing(said, "reuse", ("similar", false, "similar = 0.92"));
            return None;
        };
        let similarity_min_milli = self.fraction("similar", similar, SIMILAR_MILLI_MAX)?;
        Some(ReusePolicy::Similar {
            similarity_min_milli,
        })
    }

    /// A number above 0 in thousandths.
    fn fraction(&mut self, key: &str, said: &Spanned<f64>, milli_max: u16) -> Option<u16> {
        let milli = thousandths(*said.get_ref(), milli_max).filter(|milli| *milli > 0);
        if milli.is_none() {
            let most = milli_max / 1_000;
            let why = format!(
                "expected a number above 0 and at most {most}, with at most three decimals"
            );
            self.bad(key, said, why);
        }
        milli
    }

    fn missing<T>(
        &mut self,
        table: &Spanned<T>,
        name: &str,
        (key, is_there, example): (&str, bool, &'static str),
    ) {
        // The same rules are read for both tables, and a key that was dropped has its complaint already.
        let was_there = ["council", "council.local"]
            .iter()
            .any(|part| self.dropped.has(&format!("{part}.{name}.{key}")));
        if !is_there && !was_there {
            let key = key.to_owned();
            self.problem(&table.span(), CharterProblem::MissingKey { key, example });
        }
    }

    fn time(&mut self, key: &str, said: Option<&Spanned<String>>) -> Option<Millis> {
        let said = said?;
        match parse_time(said.get_ref()) {
            Ok(Millis(0)) => self.bad(key, said, "must be longer than zero"),
            Ok(time) => return Some(time),
            Err(cause) => self.bad(key, said, cause.to_string()),
        }
        None
    }

    fn instructions(&mut self, said: Option<&Spanned<String>>) -> Option<String> {
        let said = said?;
        if said.get_ref().chars().count() > COUNCIL_INSTRUCTIONS_CHARS_MAX {
            let why = format!("exceeds {COUNCIL_INSTRUCTIONS_CHARS_MAX} characters");
            self.bad("instructions", said, why);
        }
        Some(said.get_ref().trim().to_owned())
    }
}
