//! Free text (goals, prompts, replies), which the journal keeps apart from its events, encrypted.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::id::Digest;

/// Content that a person or a model wrote.
///
/// Within the core it is plain. The store seals it: the plain text becomes an encrypted blob, and what is
/// written into the event is the blob's address. A shredded run leaves texts that have an address alone.
#[derive(Clone)]
pub struct Text {
    plain: Option<Arc<str>>,
    address: Option<Digest>,
}

impl Text {
    /// Plain text that has no blob yet.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self {
            plain: Some(text.into()),
            address: None,
        }
    }

    /// The plain text; empty when it is sealed and was not opened.
    pub fn as_str(&self) -> &str {
        self.plain.as_deref().unwrap_or_default()
    }

    /// The plain text, shared.
    pub fn shared(&self) -> Option<&Arc<str>> {
        self.plain.as_ref()
    }

    /// True if nothing can be read: sealed and not opened, for want of the run's key.
    pub fn is_closed(&self) -> bool {
        self.plain.is_none()
    }

    /// The address of the encrypted blob, once sealed.
    pub fn address(&self) -> Option<Digest> {
        self.address
    }

    /// Notes where the encrypted form lies. From here on the text serialises as its address.
    pub fn seal(&mut self, address: Digest) {
        self.address = Some(address);
    }

    /// Gives a sealed text its plain form back.
    pub fn open(&mut self, plain: impl Into<Arc<str>>) {
        self.plain = Some(plain.into());
    }

    /// Forgets the address, so that another run can seal the text with its own key.
    pub fn unseal(&mut self) {
        self.address = None;
    }

    /// True if the text has nothing in it but white space.
    pub fn is_blank(&self) -> bool {
        self.as_str().trim().is_empty()
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl Default for Text {
    fn default() -> Self {
        Self::new("")
    }
}

/// Two texts are the same when they say the same; where one is closed, the address decides.
impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        match (&self.plain, &other.plain) {
            // Addresses do not matter here, for the same text sealed twice lies at two of them.
            (Some(a), Some(b)) => a == b,
            _ => self.address.is_some() && self.address == other.address,
        }
    }
}

impl Eq for Text {}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.plain, &self.address) {
            (Some(plain), _) => fmt::Debug::fmt(plain, f),
            (None, Some(address)) => write!(f, "sealed {address}"),
            (None, None) => f.write_str("closed"),
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum TextRepr {
    Sealed { sealed: Digest },
    Plain(Arc<str>),
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.address {
            // Even while the plain text is at hand: what was sealed once is never written in the clear.
            Some(sealed) => TextRepr::Sealed { sealed }.serialize(serializer),
            None => serializer.serialize_str(self.as_str()),
        }
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match TextRepr::deserialize(deserializer)? {
            TextRepr::Sealed { sealed } => Self {
                plain: None,
                address: Some(sealed),
            },
            TextRepr::Plain(text) => Self::new(text),
        })
    }
}

/// Anything that carries texts, so that the store can seal and open every one of them.
pub trait VisitTexts {
    /// Calls `f` with each text, in a fixed order.
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text));
}

impl VisitTexts for Text {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        f(self);
    }
}

impl<T: VisitTexts> VisitTexts for Vec<T> {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        for item in self {
            item.each_text(f);
        }
    }
}

impl<T: VisitTexts> VisitTexts for Option<T> {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        if let Some(item) = self {
            item.each_text(f);
        }
    }
}

impl<T: VisitTexts> VisitTexts for Box<T> {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        (**self).each_text(f);
    }
}
