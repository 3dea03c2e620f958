//! Context of every phase beside its own prompt: agents, symbols and the session.
//!
//! Entries stand in the order of their worth, the least first: what was there from the beginning, then what commands
//! brought, the newest last, and of one answer the nearest last. Where room is short, whole entries go from the front.

use super::config::PhasesConfig;
use fathom_core::domain::session::SessionSpeaker;
use fathom_core::domain::symbols::{AgentProfile, FoundSymbol, Kit, Symbol};
use fathom_core::model::{ChatMessage, Speaker};
use fathom_core::packet::{KeepFrom, PacketShare};

/// Weights of agents, symbols and history in what header and prompt leave.
const WEIGHTS: [u16; 3] = [200, 500, 300];

/// Most entries of each kind; what is worth least goes.
const ENTRIES_MAX: usize = 256;

/// Most characters of an agent, a symbol or a line of history.
const LINE_CHARS_MAX: usize = 1200;

struct ContextEntry {
    id: String,
    line: String,
}

/// Agents, symbols and history.
#[derive(Default)]
pub(super) struct PhaseContext {
    agents: Vec<ContextEntry>,
    symbols: Vec<ContextEntry>,
    history: Vec<String>,
}

impl PhaseContext {
    /// Builds the context from the entries known at the start.
    pub(super) fn new(params: &PhasesConfig) -> Self {
        let mut context = Self::default();
        for agent in &params.agents {
            context.take_agent(agent);
        }
        for symbol in &params.symbols {
            context.take_symbol(symbol);
        }
        for entry in &params.history {
            match entry.who {
                SessionSpeaker::User => context.say(&format!("user: {}", entry.text)),
                SessionSpeaker::Reply => context.say(&format!("reply: {}", entry.text)),
                SessionSpeaker::Note => context.say(&format!("note: {}", entry.text)),
                SessionSpeaker::Commands => {}
            }
        }
        context
    }

    /// Takes in what a command found, best first.
    pub(super) fn take_found(&mut self, found: &[FoundSymbol]) {
        for found in found.iter().rev() {
            self.take_symbol(&found.symbol);
        }
    }

    fn take_symbol(&mut self, symbol: &Symbol) {
        hold(&mut self.symbols, &symbol.id, symbol_line(symbol));
    }

    /// Takes in an agent.
    pub(super) fn take_agent(&mut self, agent: &AgentProfile) {
        hold(&mut self.agents, &agent.id, agent_line(agent));
    }

    /// Forgets a symbol.
    pub(super) fn forget(&mut self, id: &str) {
        self.symbols.retain(|held| held.id != id);
    }

    /// Adds to the history.
    pub(super) fn say(&mut self, words: &str) {
        self.history.push(line(words));
        if self.history.len() > ENTRIES_MAX {
            // The oldest goes first, as the packet keeps the newest when room is short.
            self.history.remove(0);
        }
    }

    /// The sections of a packet.
    pub(super) fn shares(&self) -> Vec<PacketShare> {
        let [agents, symbols, history] = WEIGHTS;
        let lines = |held: &[ContextEntry]| held.iter().map(|held| message(&held.line)).collect();
        vec![
            PacketShare::section(
                "agents",
                "Agents",
                agents,
                KeepFrom::Last,
                lines(&self.agents),
            ),
            PacketShare::section(
                "symbols",
                "Symbols",
                symbols,
                KeepFrom::Last,
                lines(&self.symbols),
            ),
            PacketShare::section(
                "history",
                "History",
                history,
                KeepFrom::Last,
                self.history.iter().map(|said| message(said)).collect(),
            ),
        ]
    }
}

/// Puts an entry last, in the place of an earlier one of the same id.
fn hold(entries: &mut Vec<ContextEntry>, id: &str, line: String) {
    // A repeated entry moves to the end, where it is the last to be cut from a packet.
    entries.retain(|held| held.id != id);
    entries.push(ContextEntry {
        id: id.to_owned(),
        line,
    });
    if entries.len() > ENTRIES_MAX {
        entries.remove(0);
    }
}

fn message(line: &str) -> ChatMessage {
    ChatMessage::new(Speaker::System, format!("- {line}"))
}

/// Words as one line: nothing that a catalogue or a model wrote can look like another part of the packet.
pub(super) fn line(words: &str) -> String {
    cut(words, LINE_CHARS_MAX)
}

/// Words as one line of at most so many characters.
pub(super) fn cut(words: &str, chars_max: usize) -> String {
    let mut line = String::new();
    let mut chars = 0;
    for word in words.split(|c: char| c.is_whitespace() || c.is_control()) {
        if word.is_empty() {
            continue;
        }
        if !line.is_empty() {
            line.push(' ');
            chars += 1;
        }
        for c in word.chars() {
            if chars >= chars_max {
                line.push('…');
                return line;
            }
            line.push(c);
            chars += 1;
        }
    }
    line
}

fn symbol_line(symbol: &Symbol) -> String {
    let mut said = named(&symbol.id, &symbol.name, symbol.macro_text.as_deref());
    let facets = symbol.facets.as_ref();
    let parts = [
        ("does", facets.and_then(|facets| facets.function.as_deref())),
        ("role", symbol.symbolic_role.as_deref()),
        ("goes wrong", symbol.failure_mode.as_deref()),
    ];
    for (name, words) in parts {
        if let Some(words) = words {
            said.extend(["; ", name, ": ", words]);
        }
    }
    said.push_str(&links(symbol.linked_patterns.as_deref()));
    line(&said)
}

fn agent_line(agent: &AgentProfile) -> String {
    let mut said = named(&agent.id, &agent.name, agent.description.as_deref());
    said.push_str(&links(agent.linked_patterns.as_deref()));
    line(&said)
}

fn named(id: &str, name: &str, what: Option<&str>) -> String {
    let mut said = id.to_owned();
    if !name.is_empty() && name != id {
        said.extend([" ", name]);
    }
    if let Some(what) = what {
        said.extend([": ", what]);
    }
    said
}

fn links(ids: Option<&[String]>) -> String {
    match ids {
        Some(ids) if !ids.is_empty() => format!("; leads to {}", ids.join(", ")),
        _ => String::new(),
    }
}

/// A kit in words.
pub(super) fn kit_line(kit: &Kit) -> String {
    let parts = [
        ("triad", &kit.triad),
        ("anchor", &kit.anchor),
        ("exec", &kit.exec),
    ];
    let mut said = format!("kit {}", kit.id);
    for (name, words) in parts {
        if let Some(words) = words {
            said.extend(["; ", name, ": ", &words.as_slice().join(", ")]);
        }
    }
    line(&said)
}
