//! The host commands of the phase loop: a small registry with one file for each action.
//!
//! A new action is a file with an [`CommandSpec`] and a row in [`ACTIONS`].

mod arguments;
mod delete_symbol;
mod dispatch_task;
mod emit_feedback;
mod invoke_agent;
mod load_kit;
mod load_symbol;
mod query_symbols;
mod recurse_graph;
mod store_symbol;
mod update_symbol;

use serde_json::{Map, Value, json};

use super::reply::CommandText;
use fathom_core::domain::symbols::SymbolRequest;

use arguments::{BadArguments, CommandArguments};

/// Most commands of one reply that are carried out.
pub const COMMANDS_MAX: usize = 16;

/// Most bytes of one command.
pub const COMMAND_BYTES_MAX: usize = 64 * 1024;

/// Registry of the actions.
const ACTIONS: [CommandSpec; 10] = [
    store_symbol::ACTION,
    update_symbol::ACTION,
    delete_symbol::ACTION,
    load_symbol::ACTION,
    load_kit::ACTION,
    invoke_agent::ACTION,
    query_symbols::ACTION,
    recurse_graph::ACTION,
    emit_feedback::ACTION,
    dispatch_task::ACTION,
];

/// One action of the registry.
struct CommandSpec {
    name: &'static str,
    /// Its arguments as a JSON schema wants them, for a model that is held to it.
    properties: fn() -> Value,
    /// Reads the arguments into work.
    read: fn(&CommandArguments<'_>) -> Result<Vec<CommandWork>, BadArguments>,
}

/// A piece of work.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum CommandWork {
    /// Something of the symbol store.
    Symbols(SymbolRequest),
    /// Words that are recorded against the run.
    Feedback(String),
    /// A child episode with this goal.
    Task(String),
}

/// Reason that a command is not carried out.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum CommandRejection {
    UnknownAction,
    Malformed(String),
    TooLarge { bytes: usize },
    Arguments(BadArguments),
}

/// A command that was stated.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PhaseCommand {
    /// The action, as it was written.
    pub(super) action: String,
    /// Members beside the action.
    pub(super) arguments: Map<String, Value>,
    /// The work, or the reason that there is none.
    pub(super) work: Result<Vec<CommandWork>, CommandRejection>,
}

/// The commands of a reply.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct CommandQueue {
    pub(super) list: Vec<PhaseCommand>,
    /// Number of commands left out over the limit.
    pub(super) left_out: usize,
}

/// Reads the commands of a reply. One that is stated twice, in whatever forms, stands here once.
pub(super) fn read(stated: &[CommandText]) -> CommandQueue {
    let mut commands = CommandQueue::default();
    for stated in stated {
        if commands.list.len() == COMMANDS_MAX {
            commands.left_out += 1;
            continue;
        }
        let command = match stated {
            CommandText::Malformed(excerpt) => PhaseCommand {
                action: String::new(),
                arguments: Map::new(),
                work: Err(CommandRejection::Malformed(excerpt.clone())),
            },
            CommandText::Command(members) => interpret(members),
        };
        if !commands.list.iter().any(|known| known.is_same(&command)) {
            commands.list.push(command);
        }
    }
    commands
}

impl PhaseCommand {
    /// True if both do the same work; without work, if both are the same text.
    fn is_same(&self, other: &Self) -> bool {
        match (&self.work, &other.work) {
            (Ok(one), Ok(two)) => one == two,
            _ => self == other,
        }
    }
}

fn interpret(members: &Map<String, Value>) -> PhaseCommand {
    let mut arguments = members.clone();
    let named = ["action", "command"]
        .iter()
        .find_map(|name| match arguments.get(*name) {
            Some(Value::String(action)) => Some(((*name).to_owned(), action.trim().to_owned())),
            _ => None,
        });
    let Some((name, action)) = named else {
        let excerpt = "it names no action".to_owned();
        return PhaseCommand {
            action: String::new(),
            arguments,
            work: Err(CommandRejection::Malformed(excerpt)),
        };
    };
    arguments.shift_remove(&name);
    let bytes = Value::Object(arguments.clone()).to_string().len();
    let work = if bytes > COMMAND_BYTES_MAX {
        Err(CommandRejection::TooLarge { bytes })
    } else {
        let known = action.to_ascii_lowercase().replace('-', "_");
        match ACTIONS.iter().find(|action| action.name == known) {
            Some(action) => {
                (action.read)(&CommandArguments(&arguments)).map_err(CommandRejection::Arguments)
            }
            None => Err(CommandRejection::UnknownAction),
        }
    };
    PhaseCommand {
        action,
        arguments,
        work,
    }
}

/// The schema of one command.
pub(super) fn schema() -> Value {
    let one = |action: &CommandSpec| {
        let mut properties = Map::new();
        properties.insert(
            "action".to_owned(),
            json!({ "type": "string", "enum": [action.name] }),
        );
        if let Value::Object(more) = (action.properties)() {
            properties.extend(more);
        }
        object(&properties)
    };
    json!({ "anyOf": ACTIONS.iter().map(one).collect::<Vec<_>>() })
}

/// The schema of an object with all of these members and no other.
pub(super) fn object(properties: &Map<String, Value>) -> Value {
    let required: Vec<&String> = properties.keys().collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// The schema of an id.
fn id_schema() -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": 60 })
}

/// The schema of a few ids.
fn ids_schema() -> Value {
    json!({ "type": "array", "items": id_schema(), "minItems": 1, "maxItems": 4 })
}

/// The schema of a few words.
fn words_schema() -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": 300 })
}

#[cfg(test)]
#[path = "commands_tests.rs"]
mod tests;
