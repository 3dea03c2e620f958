//! Files of rules: entities to find, and actions on them.
//!
//! The built-in file is beside the sources. A user's file contains only differences: entities that it does not
//! name are treated as in the built-in file, and its services are added to the built-in ones.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::entity::{EntityKind, PhoneRegion, RedactAction};
use super::error::RedactError;

/// The supported format.
pub const FORMAT: u32 = 1;
/// Maximum size of a file.
pub const RULES_BYTES_MAX: usize = 256 * 1024;
/// Maximum number of words, phrases and prefixes of one kind.
const WORDS_MAX: usize = 5_000;
/// Maximum number of rules in the content policy.
const POLICY_RULES_MAX: usize = 200;
/// Minimum and maximum size of a context word.
const WORD_BYTES: std::ops::RangeInclusive<usize> = 2..=64;
/// Maximum size of a phrase of the content policy.
const PHRASE_BYTES_MAX: usize = 200;
const PREFIX_BYTES: std::ops::RangeInclusive<usize> = 3..=32;
/// Maximum length of a service's key.
const KEY_CHARS_MAX: usize = 512;

const BUILTIN: &str = include_str!("../../rules/default.toml");

/// Entities to find, and actions on them.
#[derive(Clone, Debug)]
pub struct RedactRules {
    /// The version stated in the file.
    pub version: String,
    pub(super) regions: BTreeSet<PhoneRegion>,
    pub(super) entities: BTreeMap<EntityKind, EntityRule>,
    pub(super) services: Vec<ServiceKeyRule>,
    pub(super) policy: Vec<PolicyRule>,
    pub(super) profanity: ProfanityRules,
}

#[derive(Clone, Debug)]
pub(super) struct EntityRule {
    pub action: RedactAction,
    pub context: Vec<String>,
}

/// Format of a service's keys.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ServiceKeyRule {
    #[serde(rename = "service")]
    owner: String,
    pub prefix: String,
    pub alphabet: KeyAlphabet,
    /// Minimum and maximum number of characters after the prefix.
    pub length: [usize; 2],
}

/// Characters of a key.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum KeyAlphabet {
    /// Upper-case letters and digits.
    Upper,
    /// Digits and lower-case letters up to `f`.
    Hex,
    /// Letters and digits.
    Alnum,
    /// Letters, digits, `-` and `_`.
    Token,
    /// Letters, digits, `-`, `_` and `.`.
    Dotted,
    /// Letters, digits, `-`, `_` and `/`.
    Path,
}

impl KeyAlphabet {
    pub(super) fn has(self, byte: u8) -> bool {
        match self {
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Hex => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Token => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'),
            Self::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'),
            Self::Path => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'/'),
        }
    }
}

/// A rule of the content policy.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PolicyRule {
    pub id: String,
    pub reason: String,
    pub action: RedactAction,
    #[serde(default)]
    pub phrases: Vec<String>,
    #[serde(default)]
    pub patterns: Vec<String>,
}

/// Words that should not be shown.
#[derive(Clone, Debug)]
pub(super) struct ProfanityRules {
    pub enabled: bool,
    pub action: RedactAction,
    pub words: Vec<String>,
    pub allow: BTreeSet<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RulesFile {
    format: u32,
    version: String,
    regions: Option<BTreeSet<PhoneRegion>>,
    #[serde(default)]
    entities: BTreeMap<EntityKind, EntityFile>,
    #[serde(default)]
    services: Vec<ServiceKeyRule>,
    policy: Option<Vec<PolicyRule>>,
    #[serde(default)]
    profanity: ProfanityFile,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct EntityFile {
    action: Option<RedactAction>,
    context: Option<Vec<String>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ProfanityFile {
    enabled: Option<bool>,
    action: Option<RedactAction>,
    words: Option<Vec<String>>,
    allow: Option<BTreeSet<String>>,
}

/// Only the format: a file of another format may have other keys.
#[derive(Deserialize)]
struct RulesHead {
    format: u32,
}

impl RedactRules {
    /// The built-in rules.
    pub fn builtin() -> Result<Self, RedactError> {
        let nothing = Self {
            version: String::new(),
            regions: BTreeSet::new(),
            entities: BTreeMap::new(),
            services: Vec::new(),
            policy: Vec::new(),
            profanity: ProfanityRules {
                enabled: true,
                action: RedactAction::Mask,
                words: Vec::new(),
                allow: BTreeSet::new(),
            },
        };
        nothing.with(BUILTIN)
    }

    /// Parses a file. What it omits is as in the built-in rules.
    pub fn parse(text: &str) -> Result<Self, RedactError> {
        Self::builtin()?.with(text)
    }

    /// Action on an entity.
    pub fn action(&self, entity: EntityKind) -> RedactAction {
        self.entities
            .get(&entity)
            .map_or(RedactAction::Mask, |rule| rule.action)
    }

    fn with(mut self, text: &str) -> Result<Self, RedactError> {
        limit("bytes", text.len(), RULES_BYTES_MAX)?;
        let syntax = |error: toml::de::Error| RedactError::Syntax {
            what: error.to_string().trim_end().to_owned(),
        };
        // Twice: a wrong format is to be reported before the unknown keys that come with it.
        let head: RulesHead = toml::from_str(text).map_err(syntax)?;
        if head.format != FORMAT {
            return Err(RedactError::Format {
                found: head.format,
                known: FORMAT,
            });
        }
        let file: RulesFile = toml::from_str(text).map_err(syntax)?;
        debug_assert_eq!(file.format, head.format);
        self.version = file.version;
        if let Some(regions) = file.regions {
            self.regions = regions;
        }
        for (entity, said) in file.entities {
            let rule = self.entities.entry(entity).or_insert(EntityRule {
                action: RedactAction::Mask,
                context: Vec::new(),
            });
            if let Some(action) = said.action {
                rule.action = action;
            }
            if let Some(context) = said.context {
                rule.context = context;
            }
        }
        self.services.extend(file.services);
        if let Some(policy) = file.policy {
            self.policy = policy;
        }
        let said = file.profanity;
        let profanity = &mut self.profanity;
        profanity.enabled = said.enabled.unwrap_or(profanity.enabled);
        profanity.action = said.action.unwrap_or(profanity.action);
        if let Some(words) = said.words {
            profanity.words = words;
        }
        if let Some(allow) = said.allow {
            profanity.allow = allow;
        }
        self.check()?;
        Ok(self)
    }

    fn check(&self) -> Result<(), RedactError> {
        let words = self.entities.values().map(|rule| rule.context.len()).sum();
        limit("words of context", words, WORDS_MAX)?;
        limit("services", self.services.len(), WORDS_MAX)?;
        limit("rules of content", self.policy.len(), POLICY_RULES_MAX)?;
        limit("words of profanity", self.profanity.words.len(), WORDS_MAX)?;
        let context = self.entities.values().flat_map(|rule| &rule.context);
        for word in context.chain(&self.profanity.words) {
            if !WORD_BYTES.contains(&word.len()) || word.trim() != word {
                return Err(RedactError::Word {
                    word: word.clone(),
                    what: "too short, too long, or surrounded by spaces",
                });
            }
        }
        self.services.iter().try_for_each(check_service)?;
        let mut names = BTreeSet::new();
        for rule in &self.policy {
            check_policy(rule)?;
            if !names.insert(&rule.id) {
                return Err(RedactError::Rule {
                    rule: rule.id.clone(),
                    what: "another rule has the same name",
                });
            }
        }
        check_action("profanity", self.profanity.action)
    }
}

fn limit(what: &'static str, found: usize, max: usize) -> Result<(), RedactError> {
    if found > max {
        return Err(RedactError::TooMany { what, found, max });
    }
    Ok(())
}

fn check_service(service: &ServiceKeyRule) -> Result<(), RedactError> {
    let refused = |what| {
        Err(RedactError::Service {
            service: service.owner.clone(),
            what,
        })
    };
    let [least, most] = service.length;
    if !PREFIX_BYTES.contains(&service.prefix.len()) || !service.prefix.is_ascii() {
        return refused("the prefix is too short or too long, or not ASCII");
    }
    if least == 0 || least > most || most > KEY_CHARS_MAX {
        return refused("invalid range of lengths");
    }
    Ok(())
}

fn check_policy(rule: &PolicyRule) -> Result<(), RedactError> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if rule.id.is_empty() || rule.id.len() > PHRASE_BYTES_MAX || !rule.id.bytes().all(plain) {
        return Err(RedactError::Rule {
            rule: rule.id.clone(),
            what: "a name has 1 to 200 lower-case letters, digits or `-`",
        });
    }
    limit("phrases", rule.phrases.len(), WORDS_MAX)?;
    limit("patterns", rule.patterns.len(), POLICY_RULES_MAX)?;
    for phrase in &rule.phrases {
        if phrase.trim().len() < *WORD_BYTES.start() || phrase.len() > PHRASE_BYTES_MAX {
            return Err(RedactError::Word {
                word: phrase.clone(),
                what: "too short or too long",
            });
        }
    }
    check_action(&format!("rule `{}`", rule.id), rule.action)
}

/// Content and profanity cannot be hashed or tokenised: only masked, dropped or reviewed.
fn check_action(what: &str, action: RedactAction) -> Result<(), RedactError> {
    let action = match action {
        RedactAction::Keep | RedactAction::Mask | RedactAction::Drop | RedactAction::Review => {
            return Ok(());
        }
        RedactAction::Hash => "hash",
        RedactAction::Tokenise => "tokenise",
    };
    Err(RedactError::Action {
        what: what.to_owned(),
        action,
    })
}
