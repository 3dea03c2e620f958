//! Symbols, kits and personas: the vocabulary of the phase loop, and what can be asked of the store that keeps them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The name under which contracts know the symbol store.
pub const DOMAIN: &str = "symbols";

/// One entry or several. A catalogue that goes out again looks as it came in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum OneOrMore {
    /// One, written by itself.
    One(String),
    /// A list.
    More(Vec<String>),
}

impl OneOrMore {
    /// All of them.
    pub fn as_slice(&self) -> &[String] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::More(more) => more,
        }
    }
}

/// The sides of a symbol.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SymbolFacets {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topology: Option<String>,
    /// The matter it settles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Conditions under which it applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<OneOrMore>,
    /// The material it works on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub substrate: Option<OneOrMore>,
    /// Its relation to time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temporal: Option<String>,
    /// Properties that always hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invariants: Option<OneOrMore>,
    /// Other keys of a catalogue.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// A named idea with a place in a web of others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Symbol {
    /// Its id, as `SYM-001`.
    pub id: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Its content in short.
    #[serde(rename = "macro", default, skip_serializing_if = "Option::is_none")]
    pub macro_text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facets: Option<SymbolFacets>,
    /// The way in which it goes wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_mode: Option<String>,
    /// Ids of symbols that it leads to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linked_patterns: Option<Vec<String>>,
    /// The part it plays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbolic_role: Option<String>,
    /// The three signs it is known by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub triad: Option<OneOrMore>,
    /// Words that call it up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invocations: Option<Vec<String>>,
    /// The field it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbol_domain: Option<String>,
    /// A mark to find it by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbol_tag: Option<String>,
    /// The catalogue's own version of it. The store counts versions by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<OneOrMore>,
    /// Other keys of a catalogue.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// Symbols that go together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Kit {
    /// Its id: the catalogue's `kit`.
    #[serde(rename = "kit")]
    pub id: String,
    /// The three signs it is known by, or the ids of its symbols.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub triad: Option<OneOrMore>,
    /// Ids of the symbols it rests on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor: Option<OneOrMore>,
    /// Ids of the symbols it works with, or steps in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exec: Option<OneOrMore>,
    /// Other keys of a catalogue.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// Somebody to think as: the catalogue's agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentProfile {
    pub id: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Their character and manner of work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Ids of symbols they carry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linked_patterns: Option<Vec<String>>,
    /// Other keys of a catalogue.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// The way in which symbols are searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchBy {
    /// By meaning and by words, or by words alone where no embedding model is there; the answer says so.
    #[default]
    Both,
    /// By meaning alone.
    Meaning,
    /// By words alone.
    Words,
}

/// Requests to the symbol store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub enum SymbolRequest {
    /// Keep a symbol; one with this id gets a new version.
    Put { symbol: Box<Symbol> },
    /// Change fields of a symbol. A field that is null goes.
    Update {
        id: String,
        /// Its new fields. Facets are merged, everything else is replaced.
        changes: Map<String, Value>,
    },
    /// Take a symbol away. Its versions stay in the record.
    Delete { id: String },
    /// Symbols by their ids.
    Get { ids: Vec<String> },
    /// Symbols about something.
    Search {
        /// The text to search for.
        text: String,
        #[serde(default)]
        by: SearchBy,
        limit: u16,
    },
    /// Symbols that others lead to, over several links.
    Links {
        /// The ids to start from.
        ids: Vec<String>,
        /// Maximum number of links to follow.
        depth: u8,
        limit: u16,
    },
    /// A kit with its symbols.
    Kit { id: String },
    /// A persona with the symbols it carries.
    Persona { id: String },
}

impl SymbolRequest {
    /// True if it changes the store.
    pub const fn is_write(&self) -> bool {
        match self {
            Self::Put { .. } | Self::Update { .. } | Self::Delete { .. } => true,
            Self::Get { .. }
            | Self::Search { .. }
            | Self::Links { .. }
            | Self::Kit { .. }
            | Self::Persona { .. } => false,
        }
    }
}

/// A symbol as the store has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoundSymbol {
    pub symbol: Symbol,
    /// The store's version of it, counted from one.
    pub version: u64,
    /// Similarity to the search text, in thousandths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub near_milli: Option<u16>,
}

/// Reasons why the store did not do what was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SymbolFaultKind {
    /// No such symbol, kit or persona.
    NotFound,
    /// The request or the symbol is not valid.
    Invalid,
    /// Search by meaning needs an embedding model, and none is there.
    NoEmbeddings,
    /// The store cannot be reached, or refuses to write.
    Unavailable,
}

/// Answer of the store. Everything that does not apply is empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SymbolAnswer {
    /// Symbols that were found, or the one that was written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub symbols: Vec<FoundSymbol>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kit: Option<Kit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persona: Option<AgentProfile>,
    /// Ids that nothing was found for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// The fault, if the request was not carried out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<SymbolFault>,
    /// Anything else worth knowing, as that words alone were searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Something that was not done, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SymbolFault {
    pub kind: SymbolFaultKind,
    pub message: String,
}
