//! Filters of output: personal data and secrets, then content, then profanity.
//!
//! [`TextRedactor`] holds compiled rules and is cheap to share. It filters a whole text, or a [`RedactStream`] of pieces:
//! the result is the same, because a text is cut into segments at positions that depend only on the text, and
//! each segment is filtered by itself. Names of people and postal addresses follow no pattern and are not
//! found.
//!
//! ```
//! use fathom_output::redact::{TextRedactor, RedactRules};
//!
//! let redactor = TextRedactor::new(&RedactRules::builtin()?, None)?;
//! let mut stream = redactor.stream();
//! let mut shown = stream.push("Write to ann@exam");
//! shown += &stream.push("ple.org soon.");
//! shown += &stream.finish();
//! assert_eq!(shown, "Write to [email] soon.");
//! assert_eq!(redactor.redact("Write to ann@example.org soon.").text, shown);
//! # Ok::<(), fathom_output::redact::RedactError>(())
//! ```

mod check_digits;
mod content_policy;
mod draft;
mod entity;
mod error;
mod filter;
mod preview;
mod profanity;
mod replacement;
mod rules;
mod scan;
mod segments;
mod stream;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

pub use entity::{EntityKind, EntitySpan, PhoneRegion, RedactAction, SpanKind};
pub use error::RedactError;
pub use replacement::{KEY_BYTES, RedactKey};
pub use rules::{FORMAT, RULES_BYTES_MAX, RedactRules};
pub use segments::{KEY_BYTES_MAX, OVERLAP_BYTES, WINDOW_BYTES};
pub use stream::RedactStream;

use content_policy::ContentPolicy;
use draft::{Replacement, mark};
use profanity::ProfanityFilter;
use scan::{RecogniserSet, ScanMatch};

/// A filtered text, and the findings in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RedactedText {
    pub text: String,
    /// Findings, in order of their start.
    pub spans: Vec<EntitySpan>,
}

impl RedactedText {
    /// True if a person should review it.
    pub fn needs_review(&self) -> bool {
        self.spans
            .iter()
            .any(|span| span.action == RedactAction::Review)
    }
}

/// A text with opened tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenedText {
    pub text: String,
    /// Number of opened tokens.
    pub opened: usize,
    /// Number of unopened tokens, sealed with another key or altered.
    pub refused: usize,
}

#[derive(Debug)]
struct CompiledRules {
    version: String,
    recognisers: RecogniserSet,
    content: ContentPolicy,
    profanity: Option<ProfanityFilter>,
    actions: BTreeMap<EntityKind, RedactAction>,
    key: Option<RedactKey>,
}

impl CompiledRules {
    fn edit(&self, found: ScanMatch, text: &str) -> Replacement {
        let value = &text[found.start..found.end];
        let action = self.actions.get(&found.entity).copied();
        let action = action.unwrap_or(RedactAction::Mask);
        let kind = SpanKind::Entity(found.entity);
        Replacement {
            start: found.start,
            end: found.end,
            text: self.replacement(found.entity, action, value),
            kind,
            action,
        }
    }

    fn replacement(&self, entity: EntityKind, action: RedactAction, value: &str) -> String {
        let masked = || mark(&SpanKind::Entity(entity));
        match (action, &self.key) {
            (RedactAction::Drop, _) => String::new(),
            (RedactAction::Hash, Some(key)) => {
                format!("[{entity}#{}]", key.hash(entity.name(), value))
            }
            (RedactAction::Tokenise, Some(key)) => key
                .seal(entity.name(), value)
                .map_or_else(masked, |token| format!("[{entity}~{token}]")),
            // Without a key there is no hash or token, and the value must not be shown.
            (
                RedactAction::Keep
                | RedactAction::Mask
                | RedactAction::Review
                | RedactAction::Hash
                | RedactAction::Tokenise,
                _,
            ) => masked(),
        }
    }
}

/// Compiled rules with the key for hashes and tokens. Clones share them.
#[derive(Clone, Debug)]
pub struct TextRedactor(Arc<CompiledRules>);

impl TextRedactor {
    /// Compiles rules. A key is required if something is to be hashed or tokenised.
    pub fn new(rules: &RedactRules, key: Option<RedactKey>) -> Result<Self, RedactError> {
        let actions: BTreeMap<EntityKind, RedactAction> = EntityKind::ALL
            .into_iter()
            .map(|entity| (entity, rules.action(entity)))
            .collect();
        let keyed = |(_, action): &(&EntityKind, &RedactAction)| {
            matches!(action, RedactAction::Hash | RedactAction::Tokenise)
        };
        if key.is_none()
            && let Some((&entity, _)) = actions.iter().find(keyed)
        {
            return Err(RedactError::NoKey { entity });
        }
        Ok(Self(Arc::new(CompiledRules {
            version: rules.version.clone(),
            recognisers: RecogniserSet::new(rules)?,
            content: ContentPolicy::new(&rules.policy)?,
            profanity: ProfanityFilter::new(&rules.profanity)?,
            actions,
            key,
        })))
    }

    /// The version of the rules.
    pub fn version(&self) -> &str {
        &self.0.version
    }

    /// Starts a text that arrives in pieces.
    pub fn stream(&self) -> RedactStream {
        RedactStream::new(Arc::clone(&self.0))
    }

    /// Filters a whole text.
    pub fn redact(&self, text: &str) -> RedactedText {
        self.stream().whole(text)
    }

    /// Filters a whole text that is short or mostly harmless, such as a log line: nothing is copied unless
    /// something is found.
    pub fn masked<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.stream().all_of(text)
    }

    /// Opens the tokens that were sealed with this key. Others stay as they are.
    pub fn detokenise(&self, text: &str) -> Result<OpenedText, RedactError> {
        let key = self.0.key.as_ref().ok_or(RedactError::NoTokenKey)?;
        let mut opened = OpenedText::default();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('[') {
            opened.text.push_str(before);
            let token = after
                .split_once(']')
                .and_then(|(inside, after)| Some((inside.split_once('~')?, after)))
                .filter(|((name, _), _)| {
                    EntityKind::ALL.iter().any(|entity| entity.name() == *name)
                });
            let Some(((name, sealed), behind)) = token else {
                opened.text.push('[');
                rest = after;
                continue;
            };
            if let Some(value) = key.open(name, sealed) {
                opened.text.push_str(&value);
                opened.opened += 1;
            } else {
                opened
                    .text
                    .push_str(&rest[before.len()..rest.len() - behind.len()]);
                opened.refused += 1;
            }
            rest = behind;
        }
        opened.text.push_str(rest);
        Ok(opened)
    }
}
