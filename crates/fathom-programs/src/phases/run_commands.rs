//! Commands: one after the other they become asks, and what comes of each joins the context of later phases.

use serde_json::{Map, Value, json};

use super::commands::{self, CommandRejection, CommandWork, PhaseCommand};
use super::context::{cut, kit_line};
use super::program::{
    AfterCommands, AskBatch, FEEDBACK, KEPT_ARGUMENTS_BYTES_MAX, LoopState, PhasesProgram,
    RunningCommand, TASK,
};
use super::reply::CommandText;
use super::report::{CommandNote, CommandStatus, PhaseTrace};
use crate::direct;
use fathom_core::budget::amounts::Amounts;
use fathom_core::contract::spawn::{SpawnClass, SpawnRequest, SpawnTrigger};
use fathom_core::contract::{AgentRole, Contract, RecursionPolicy};
use fathom_core::domain::symbols::{self, SymbolAnswer, SymbolFaultKind, SymbolRequest};
use fathom_core::domain::{DomainAccess, DomainRequest};
use fathom_core::episode::program::{Ask, ProgramView};
use fathom_core::episode::result::{EpisodeResult, EpisodeStatus};
use fathom_core::journal::command::OutputBlock;
use fathom_core::text::Text;

/// Most characters of a result that the report and the history tell.
const RESULT_CHARS_MAX: usize = 400;

/// Most characters of a task's answer that later phases see.
const TASK_CHARS_MAX: usize = 1000;

/// Most characters of an action that is told again.
const ACTION_CHARS_MAX: usize = 60;

impl PhasesProgram {
    /// Takes in what a reply commands.
    pub(super) fn take_commands(&mut self, stated: &[CommandText]) {
        let commands = commands::read(stated);
        if commands.left_out > 0 {
            self.warn(&format!(
                "{} commands were left out: a reply may have {}",
                commands.left_out,
                commands::COMMANDS_MAX
            ));
        }
        for command in commands.list {
            let PhaseCommand {
                action,
                arguments,
                work,
            } = command;
            self.report.commands.push(CommandNote {
                action: cut(&action, ACTION_CHARS_MAX),
                arguments: kept(arguments),
                status: CommandStatus::Pending,
                result: String::new(),
                phase: self.id(self.at).to_owned(),
                iteration: self.iteration,
            });
            let note = self.report.commands.len() - 1;
            let work = work.unwrap_or_else(|unfit| {
                let (status, result) = told(&unfit);
                self.note(note, status, &result);
                Vec::new()
            });
            self.queue.push_back(RunningCommand {
                note,
                work: work.into(),
            });
        }
    }

    /// Goes on with the commands, and with the loop when all are done.
    pub(super) fn work(&mut self, view: &ProgramView<'_>, asks: &mut AskBatch) {
        while let Some(running) = self.queue.front_mut() {
            match running.work.pop_front() {
                None => self.close_command(asks),
                Some(CommandWork::Feedback(words)) => {
                    let text = Text::new(words);
                    let channel = FEEDBACK.to_owned();
                    asks.push(Ask::Emit(OutputBlock { channel, text }));
                    self.settle(CommandStatus::Ok, "recorded");
                }
                Some(work @ CommandWork::Symbols(_)) => {
                    if let CommandWork::Symbols(request) = &work {
                        let ask = asks.push(Ask::Domain(domain_request(request)));
                        self.waiting = LoopState::Work(ask, work);
                    }
                    return;
                }
                Some(CommandWork::Task(goal)) => {
                    let ask = asks.push(self.task(&goal, view));
                    self.waiting = LoopState::Work(ask, CommandWork::Task(goal));
                    return;
                }
            }
        }
        match self.next.clone() {
            AfterCommands::Phase(index) => self.enter(index, view, asks),
            AfterCommands::End(end) => self.end(end, asks),
        }
    }

    /// The command at the head is done with.
    fn close_command(&mut self, asks: &mut AskBatch) {
        let Some(running) = self.queue.pop_front() else {
            return;
        };
        let Some(note) = self.report.commands.get(running.note) else {
            return;
        };
        asks.tell(&PhaseTrace::CommandDone {
            phase: note.phase.clone(),
            action: note.action.clone(),
            status: note.status,
        });
        let action = match note.action.as_str() {
            "" => "a command",
            action => action,
        };
        let status = status_name(note.status);
        let said = cut(
            &format!("{action} ({status}): {}", note.result),
            RESULT_CHARS_MAX,
        );
        self.context.say(&said);
        self.notes.push(said);
    }

    /// Notes what came of a part of the command at the head.
    pub(super) fn settle(&mut self, status: CommandStatus, result: &str) {
        if let Some(running) = self.queue.front() {
            self.note(running.note, status, result);
        }
    }

    /// Records the status of a command: the first failure wins.
    fn note(&mut self, note: usize, status: CommandStatus, result: &str) {
        if let Some(note) = self.report.commands.get_mut(note) {
            if matches!(note.status, CommandStatus::Pending | CommandStatus::Ok) {
                note.status = status;
            }
            if !note.result.is_empty() {
                note.result.push_str("; ");
            }
            note.result = cut(&format!("{}{result}", note.result), RESULT_CHARS_MAX);
        }
    }

    /// The symbol store answered.
    pub(super) fn on_answer(&mut self, work: &CommandWork, answer: &Text, asks: &mut AskBatch) {
        let CommandWork::Symbols(request) = work else {
            return;
        };
        let Ok(answer) = serde_json::from_str::<SymbolAnswer>(answer.as_str()) else {
            let result = "the answer of the store cannot be read";
            return self.settle(CommandStatus::Unavailable, result);
        };
        if let Some(fault) = &answer.fault {
            let status = match fault.kind {
                SymbolFaultKind::NotFound => CommandStatus::NotFound,
                SymbolFaultKind::Invalid => CommandStatus::Invalid,
                SymbolFaultKind::NoEmbeddings => CommandStatus::NoEmbeddings,
                SymbolFaultKind::Unavailable => CommandStatus::Unavailable,
            };
            return self.settle(status, &fault.message);
        }
        let ids: Vec<String> = answer
            .symbols
            .iter()
            .map(|found| found.symbol.id.clone())
            .collect();
        let mut gone = Vec::new();
        let mut agents = Vec::new();
        if let SymbolRequest::Delete { id } = request {
            self.context.forget(id);
            self.take_part(id);
            gone.push(id.clone());
        } else {
            self.context.take_found(&answer.symbols);
            for id in &ids {
                self.take_part(id);
            }
        }
        if let Some(agent) = &answer.persona {
            self.context.take_agent(agent);
            agents.push(agent.id.clone());
        }
        if let Some(kit) = &answer.kit {
            self.context.say(&kit_line(kit));
        }
        let status = if ids.is_empty() && !answer.missing.is_empty() {
            CommandStatus::NotFound
        } else {
            CommandStatus::Ok
        };
        self.settle(status, &in_words(request, &answer, &ids));
        let is_delete = !gone.is_empty();
        asks.tell(&PhaseTrace::ContextChanged {
            symbols: if is_delete { Vec::new() } else { ids },
            gone,
            agents,
        });
    }

    /// A symbol took part.
    fn take_part(&mut self, id: &str) {
        let symbols = &mut self.report.symbols;
        if !symbols.iter().any(|known| known == id) {
            symbols.push(id.to_owned());
        }
    }

    /// A dispatched task ended.
    pub(super) fn on_task(&mut self, result: &EpisodeResult) {
        let answer = result.answer.as_ref().map_or("", Text::as_str);
        if !answer.trim().is_empty() {
            let heard = format!("task: {}", cut(answer, TASK_CHARS_MAX));
            self.context.say(&heard);
        }
        match result.status {
            EpisodeStatus::Ok => self.settle(CommandStatus::Ok, answer),
            EpisodeStatus::NeedsReview | EpisodeStatus::Failed => {
                let why = format!("{}: {answer}", result.stop_reason);
                self.settle(CommandStatus::Failed, &why);
            }
        }
    }

    fn task(&self, goal: &str, view: &ProgramView<'_>) -> Ask {
        let task = &self.params.task;
        let program = direct::DirectConfig {
            system: task.system.clone(),
            output_tokens_max: task.output_tokens_max,
            continuations_max: u32::try_from(task.calls_max.saturating_sub(1)).unwrap_or(u32::MAX),
            timeout: self.params.timeout,
            temperature_milli: self.params.temperature_milli,
            ..direct::DirectConfig::default()
        };
        let own = &view.contract.recursion;
        Ask::Spawn(Box::new(SpawnRequest {
            child_type: TASK.to_owned(),
            class: SpawnClass::Work,
            trigger: SpawnTrigger::DispatchedTask,
            why: "a phase dispatched a task".into(),
            fetch: "what the task asks for".into(),
            return_format: "text".into(),
            goal: Text::from(goal),
            role: AgentRole::Creator,
            program: program.spec(),
            // It may answer, and nothing else.
            contract: Contract {
                recursion: RecursionPolicy {
                    max_depth: own.max_depth.min(view.depth + 1),
                    ..own.clone()
                },
                ..Contract::default()
            },
            at_least: Amounts {
                tokens: 64,
                calls: 1,
                ..Amounts::ZERO
            },
            at_most: Amounts {
                calls: task.calls_max,
                episodes: 1,
                ..Amounts::MAX
            },
            time_max: None,
        }))
    }
}

fn domain_request(request: &SymbolRequest) -> DomainRequest {
    // A request is made of strings, numbers and JSON, which always have a JSON form.
    let text = serde_json::to_string(request).unwrap_or_default();
    let access = if request.is_write() {
        DomainAccess::Write
    } else {
        DomainAccess::Read
    };
    DomainRequest::new(symbols::DOMAIN, access, text)
}

/// Arguments as they are told again.
fn kept(arguments: Map<String, Value>) -> Map<String, Value> {
    let bytes = Value::Object(arguments.clone()).to_string().len();
    if bytes <= KEPT_ARGUMENTS_BYTES_MAX {
        return arguments;
    }
    Map::from_iter([("omitted_bytes".to_owned(), json!(bytes))])
}

fn told(unfit: &CommandRejection) -> (CommandStatus, String) {
    match unfit {
        CommandRejection::UnknownAction => (
            CommandStatus::UnknownAction,
            "there is no such action".to_owned(),
        ),
        CommandRejection::Malformed(excerpt) => (CommandStatus::Malformed, excerpt.clone()),
        CommandRejection::TooLarge { bytes } => (
            CommandStatus::TooLarge,
            format!(
                "it has {bytes} bytes, and a command may have {}",
                commands::COMMAND_BYTES_MAX
            ),
        ),
        CommandRejection::Arguments(problem) => (CommandStatus::Invalid, problem.to_string()),
    }
}

fn in_words(request: &SymbolRequest, answer: &SymbolAnswer, ids: &[String]) -> String {
    let mut said = match request {
        SymbolRequest::Put { symbol } => format!("kept {}", symbol.id),
        SymbolRequest::Update { id, .. } => format!("changed {id}"),
        SymbolRequest::Delete { id } => format!("deleted {id}"),
        SymbolRequest::Get { .. }
        | SymbolRequest::Search { .. }
        | SymbolRequest::Links { .. }
        | SymbolRequest::Kit { .. }
        | SymbolRequest::Persona { .. } => match ids {
            [] => "no symbols".to_owned(),
            ids => format!("found {}", ids.join(", ")),
        },
    };
    if let Some(agent) = &answer.persona {
        said = format!("agent {}, {said}", agent.id);
    }
    if !answer.missing.is_empty() {
        said = format!("{said}; not there: {}", answer.missing.join(", "));
    }
    if let Some(note) = &answer.note {
        said = format!("{said}; {note}");
    }
    said
}

/// A status as it is written in a report.
fn status_name(status: CommandStatus) -> String {
    let name = serde_json::to_value(status).ok();
    let name = name.as_ref().and_then(Value::as_str).unwrap_or_default();
    name.to_owned()
}
