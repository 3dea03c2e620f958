//! Runs cells in the interpreter.

use std::io;

use monty::{MontyRepl, ReplProgress};
use monty_types::{
    CompileOptions, ExcType, MontyException, MontyObject, NameLookupResult, PrintWriter,
    ResourceLimits, ResourceTracker,
};
use serde_json::{Value, json};

use super::calls::{CellSubmission, FAULTS, HostCalls, known_function, submission};
use super::captured_output::{CapturedOutput, OutputMeter};
use super::frame_io::{CellFrame, ToWorker, WorkerWire};
use super::values;
use crate::frames::ERROR_BYTES_MAX;

/// A session's interpreter, and what it knows of its cells.
pub(super) struct WorkerSession {
    host: HostCalls,
    /// Away only while a cell runs.
    interpreter: Option<MontyRepl>,
    out: CapturedOutput,
    /// The interpreter numbers what it is fed; this is which cell each was.
    fed: Vec<u32>,
    /// The code of all cells that say somewhere which variable is the answer.
    naming: String,
}

/// End of a cell's code.
enum CellExit {
    /// With its last value, or an exception.
    Ended(Result<MontyObject, MontyException>),
    Submitted(CellSubmission),
}

impl WorkerSession {
    pub(super) fn new(
        wire: WorkerWire,
        context: MontyObject,
        memory: u64,
        meter: OutputMeter,
    ) -> io::Result<Self> {
        let memory = usize::try_from(memory).unwrap_or(usize::MAX);
        let tracker = ResourceTracker::new(ResourceLimits::default().max_memory(memory));
        let mut interpreter = MontyRepl::new("session", tracker, CompileOptions::default());
        let inputs = vec![("context".to_owned(), context)];
        interpreter
            .feed_run(&beginning(), inputs, PrintWriter::Disabled)
            .map_err(|error| io::Error::other(error.to_string()))?;
        Ok(Self {
            host: HostCalls::new(wire),
            interpreter: Some(interpreter),
            out: CapturedOutput::new(meter),
            fed: vec![0],
            naming: String::new(),
        })
    }

    /// The next frame; nothing when the host hung up.
    pub(super) fn receive(&mut self) -> io::Result<Option<ToWorker>> {
        self.host.wire.receive()
    }

    /// Runs a cell and tells the host how it ended.
    pub(super) fn run(&mut self, cell: &CellFrame) -> io::Result<()> {
        self.out.begin(cell.output);
        self.host.begin(cell.number);
        if cell.code.contains(FINAL_VAR) {
            self.naming.push_str(&cell.code);
        }
        let mut end = json!({ "cell": cell.number });
        let ended = match self.feed(cell)? {
            CellExit::Ended(Ok(MontyObject::None)) => Ok(None),
            CellExit::Ended(Ok(value)) => {
                self.out.print(&value.py_repr());
                self.out.print("\n");
                Ok(None)
            }
            CellExit::Ended(Err(exception)) => Err(self.described(&exception)),
            CellExit::Submitted(CellSubmission::Value(value)) => Ok(Some(value)),
            CellExit::Submitted(CellSubmission::Variable(name)) => match named(&self.naming, &name)
            {
                NamedCell::Literally => {
                    let value = self.own_variable(&name).map(Some);
                    value.ok_or_else(|| {
                        raised("NameError", &format!("there is no variable '{name}'"))
                    })
                }
                NamedCell::Made => {
                    let value = self.own_variable(&name);
                    Ok(Some(value.unwrap_or(MontyObject::String(name))))
                }
                NamedCell::Not => Ok(Some(MontyObject::String(name))),
            },
        };
        match ended.and_then(|submitted| self.given(submitted, &mut end)) {
            Ok(Some(value)) => {
                let frame = json!({ "submit": { "cell": cell.number, "value": value } });
                self.host.wire.send(&frame)?;
            }
            Ok(None) => {}
            Err(error) => end["error"] = error,
        }
        end["output"] = self.out.made();
        self.host.wire.send(&json!({ "end": end }))
    }

    /// The value that the cell hands over: the submitted one, or else that of `answer` once it is ready.
    fn given(
        &mut self,
        submitted: Option<MontyObject>,
        end: &mut Value,
    ) -> Result<Option<Value>, Value> {
        let handed_over = |value: &MontyObject| {
            values::given(value).map_err(|error| raised("ValueError", &error.to_string()))
        };
        if let Some(value) = submitted {
            return handed_over(&what_it_holds(value)).map(Some);
        }
        let Some(MontyObject::Dict(answer)) = self.variable("answer") else {
            return Ok(None);
        };
        let (mut content, mut ready) = (None, false);
        for (key, value) in answer {
            match key {
                MontyObject::String(key) if key == "content" && value.is_truthy() => {
                    content = Some(value);
                }
                MontyObject::String(key) if key == "ready" => ready = value.is_truthy(),
                _ => {}
            }
        }
        match content {
            Some(value) if ready => handed_over(&value).map(Some),
            Some(value) => {
                end["draft"] = handed_over(&value)?;
                Ok(None)
            }
            None => Ok(None),
        }
    }

    /// Runs code until it ends, and answers on the way what it asks.
    fn feed(&mut self, cell: &CellFrame) -> io::Result<CellExit> {
        let interpreter = self.interpreter.take();
        let interpreter = interpreter.ok_or_else(|| io::Error::other("no interpreter"))?;
        if !cell.code.is_empty() {
            self.fed.push(cell.number);
        }
        let out = &mut self.out;
        let mut progress =
            interpreter.feed_start(&cell.code, Vec::new(), PrintWriter::Callback(out));
        loop {
            progress = match progress {
                Err(stopped) => {
                    self.interpreter = Some(stopped.repl);
                    return Ok(CellExit::Ended(Err(stopped.error)));
                }
                Ok(ReplProgress::Complete { repl, value }) => {
                    self.interpreter = Some(repl);
                    return Ok(CellExit::Ended(Ok(value)));
                }
                Ok(ReplProgress::FunctionCall(asked)) => match submission(&asked) {
                    Some(Ok(submission)) => {
                        self.interpreter = Some(asked.into_repl());
                        return Ok(CellExit::Submitted(submission));
                    }
                    Some(Err(exception)) => asked.resume(exception, PrintWriter::Callback(out)),
                    None => {
                        // The interpreter cannot be asked for the draft while it waits.
                        if let Some(output) = out.news() {
                            let printed = json!({ "cell": cell.number, "output": output });
                            self.host.wire.send(&json!({ "printed": printed }))?;
                        }
                        let result = self.host.call(&asked)?;
                        asked.resume(result, PrintWriter::Callback(out))
                    }
                },
                Ok(ReplProgress::NameLookup(lookup)) => {
                    let result = match known_function(&lookup.name) {
                        Some(function) if lookup.object_id().is_none() => function.into(),
                        _ => NameLookupResult::Undefined,
                    };
                    lookup.resume(result, PrintWriter::Callback(out))
                }
                Ok(ReplProgress::OsCall(wanted)) => {
                    let host = &mut self.host;
                    wanted.resume_with(PrintWriter::Callback(out), |wanted| host.system(&wanted))
                }
                Ok(ReplProgress::ResolveFutures(waiting)) => {
                    let exception = MontyException::runtime_error("there is nothing to wait for");
                    waiting.abort(exception, PrintWriter::Callback(out))
                }
            };
        }
    }

    /// The value of a variable.
    fn variable(&mut self, name: &str) -> Option<MontyObject> {
        let interpreter = self.interpreter.as_mut()?;
        self.fed.push(0);
        interpreter
            .feed_run(name, Vec::new(), PrintWriter::Disabled)
            .ok()
    }

    /// The value of a variable that some cell made, and not the interpreter.
    fn own_variable(&mut self, name: &str) -> Option<MontyObject> {
        if ["None", "True", "False"].contains(&name) {
            return None;
        }
        let value = self.variable(name)?;
        let is_given = matches!(
            value,
            MontyObject::BuiltinFunction(_) | MontyObject::Type(_) | MontyObject::Ellipsis
        );
        (!is_given).then_some(value)
    }

    /// An exception as the host takes it, with the names of cells and of faults in their places.
    fn described(&self, exception: &MontyException) -> Value {
        let message = exception.message().unwrap_or_default();
        let kind = match exception.exc_type() {
            ExcType::SyntaxError => "syntax",
            // Python that this interpreter does not know.
            ExcType::NotImplementedError if message.contains("monty syntax parser") => "syntax",
            ExcType::MemoryError => "out_of_memory",
            _ => "raised",
        };
        let mut told = exception.to_string();
        for (number, cell) in self.fed.iter().enumerate() {
            let name = format!("<python-input-{number}>");
            if told.contains(&name) {
                told = told.replace(&name, &format!("<cell {cell}>"));
            }
        }
        for (name, stands_for) in FAULTS {
            let python: &str = stands_for.into();
            told = told.replace(&format!("{python}: {name}: "), &format!("{name}: "));
        }
        told.truncate(told.floor_char_boundary(ERROR_BYTES_MAX));
        json!({ "kind": kind, "message": told })
    }
}

/// Beginning of a call that gives a variable.
const FINAL_VAR: &str = "FINAL_VAR(";

/// Variables of a new session, beside the context.
fn beginning() -> String {
    let mut code = String::new();
    let mut names = String::new();
    for (name, stands_for) in FAULTS {
        let python: &str = stands_for.into();
        code.extend([name, " = ", python, "\n"]);
        names.extend([name, ", "]);
    }
    // What models write that have JSON in mind.
    code.push_str("true, false, null = True, False, None\n");
    code + &format!("QueryError = ({names})\nanswer = {{'content': '', 'ready': False}}\n")
}

/// The content of `answer`, where a cell submits `answer` itself.
fn what_it_holds(value: MontyObject) -> MontyObject {
    let content = match &value {
        MontyObject::Dict(pairs) => match pairs.iter().collect::<Vec<_>>().as_slice() {
            [
                (MontyObject::String(content), held),
                (MontyObject::String(ready), _),
            ] if content == "content" && ready == "ready" => Some(held.clone()),
            _ => None,
        },
        _ => None,
    };
    content.unwrap_or(value)
}

/// The variable that code names as the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum NamedCell {
    /// It gives the value of one.
    Not,
    /// It may have put the name together.
    Made,
    Literally,
}

fn named(code: &str, name: &str) -> NamedCell {
    let ways = code.split(FINAL_VAR).skip(1).map(|argument| {
        let argument = argument.trim_start();
        let literal = argument.trim_start_matches(['f', 'r', 'u']);
        let quoted = literal.strip_prefix(['"', '\'']);
        match quoted.and_then(|rest| rest.split_once(['"', '\''])) {
            None => NamedCell::Not,
            Some((quoted, _)) if quoted == name => NamedCell::Literally,
            Some((quoted, after)) => {
                let is_filled = argument.starts_with('f') && quoted.contains('{');
                let is_whole = after.trim_start().starts_with(')');
                if is_filled || !is_whole {
                    NamedCell::Made
                } else {
                    NamedCell::Not
                }
            }
        }
    });
    ways.max().unwrap_or(NamedCell::Not)
}

fn raised(name: &str, message: &str) -> Value {
    json!({ "kind": "raised", "message": format!("{name}: {message}") })
}
