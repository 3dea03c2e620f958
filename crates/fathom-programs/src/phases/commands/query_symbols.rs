//! `query_symbols`: brings symbols into the context by their ids, by what they are about, or by both.

use serde_json::{Value, json};

use super::arguments::{BadArguments, CommandArguments, IDS};
use super::{CommandSpec, CommandWork, words_schema};
use fathom_core::domain::symbols::{SearchBy, SymbolRequest};

pub(super) const ACTION: CommandSpec = CommandSpec {
    name: "query_symbols",
    properties,
    read,
};

/// Results of a search if the command gives no number.
const LIMIT: u8 = 5;

/// Most symbols that a search brings.
const LIMIT_MAX: u8 = 16;

fn properties() -> Value {
    json!({ "text": words_schema() })
}

fn read(arguments: &CommandArguments<'_>) -> Result<Vec<CommandWork>, BadArguments> {
    let mut work = Vec::new();
    let ids = arguments.ids(&IDS)?;
    if !ids.is_empty() {
        work.push(CommandWork::Symbols(SymbolRequest::Get { ids }));
    }
    let names = [
        "text", "query", "q", "search", "question", "about", "topic", "keywords",
    ];
    if let Some(text) = arguments.words(&names)? {
        let by = match arguments.words(&["by", "mode"])?.as_deref() {
            Some("meaning" | "semantic") => SearchBy::Meaning,
            Some("words" | "lexical" | "keyword" | "keywords") => SearchBy::Words,
            _ => SearchBy::Both,
        };
        let limit = arguments.number(&["limit", "k", "top_k", "count", "max"], LIMIT, LIMIT_MAX)?;
        work.push(CommandWork::Symbols(SymbolRequest::Search {
            text,
            by,
            limit: limit.into(),
        }));
    }
    if work.is_empty() {
        return Err(BadArguments::Missing("text"));
    }
    Ok(work)
}
