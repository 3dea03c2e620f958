//! Functions that code in a cell can call beyond its interpreter.

use std::io;

use monty::ReplFunctionCall;
use monty_types::{
    ExcType, ExtFunctionResult, MontyDate, MontyDateTime, MontyException, MontyObject,
    OsFunctionCall,
};
use serde_json::{Value, json};

use super::frame_io::{OutcomeReply, ReplyFrame, ToWorker, WorkerWire};
use super::values;
use crate::frames::{BATCH_MAX, FRAME_BYTES_MAX};

/// The interpreter has no exceptions but its own, so each fault is one of those that code here has little other use for.
/// Its message begins with the fault's name.
pub(super) const FAULTS: [(&str, ExcType); 8] = [
    ("RateLimited", ExcType::FileExistsError),
    ("BudgetExceeded", ExcType::IsADirectoryError),
    ("TooLarge", ExcType::OverflowError),
    ("Refused", ExcType::PermissionError),
    ("Empty", ExcType::FileNotFoundError),
    ("Truncated", ExcType::NotADirectoryError),
    ("TimedOut", ExcType::TimeoutError),
    ("Unavailable", ExcType::ModuleNotFoundError),
];

const FUNCTIONS: [&str; 8] = [
    "llm_query",
    "llm_query_batched",
    "rlm_query",
    "rlm_query_batched",
    "budget",
    "SUBMIT",
    "FINAL",
    "FINAL_VAR",
];

/// A function of the host, as a value.
pub(super) fn known_function(name: &str) -> Option<MontyObject> {
    FUNCTIONS.contains(&name).then(|| MontyObject::Function {
        name: name.to_owned(),
        docstring: None,
    })
}

/// An answer that ends its cell.
pub(super) enum CellSubmission {
    Value(MontyObject),
    /// The value of the variable of this name.
    Variable(String),
}

/// The value that a call submits, if it submits one.
pub(super) fn submission(
    call: &ReplFunctionCall,
) -> Option<Result<CellSubmission, MontyException>> {
    if call.object_id.is_some() {
        return None;
    }
    let one = match call.function_name.as_str() {
        "SUBMIT" | "FINAL" | "FINAL_VAR" => arguments(call, ["answer"]),
        _ => return None,
    };
    Some(one.and_then(|[value]| {
        let value = value.ok_or_else(|| type_error("an answer is missing"))?;
        Ok(match value {
            MontyObject::String(name) if call.function_name == "FINAL_VAR" && is_name(&name) => {
                CellSubmission::Variable(name)
            }
            value => CellSubmission::Value(value),
        })
    }))
}

fn is_name(text: &str) -> bool {
    let mut characters = text.chars();
    characters
        .next()
        .is_some_and(|first| first.is_alphabetic() || first == '_')
        && characters.all(|next| next.is_alphanumeric() || next == '_')
}

/// The host, as a cell sees it.
pub(super) struct HostCalls {
    pub(super) wire: WorkerWire,
    cell: u32,
    question: u32,
    /// Number of requests for the time. It advances by a millisecond each, so that a replay sees the same.
    ticks: u32,
}

impl HostCalls {
    pub(super) fn new(wire: WorkerWire) -> Self {
        Self {
            wire,
            cell: 0,
            question: 0,
            ticks: 0,
        }
    }

    pub(super) fn begin(&mut self, cell: u32) {
        self.cell = cell;
    }

    /// Does what a call asks for.
    pub(super) fn call(&mut self, call: &ReplFunctionCall) -> io::Result<ExtFunctionResult> {
        let name = call.function_name.as_str();
        if call.object_id.is_some() || !FUNCTIONS.contains(&name) {
            return Ok(ExtFunctionResult::NotFound(call.function_name.clone()));
        }
        let question = match name {
            "llm_query" => query(call, One),
            "llm_query_batched" => query(call, Many),
            "rlm_query" => recurse(call, One),
            "rlm_query_batched" => recurse(call, Many),
            _ => arguments(call, []).map(|[]| Some(json!("budget"))),
        };
        let question = match question {
            Ok(Some(question)) => question,
            Ok(None) => return Ok(MontyObject::List(Vec::new()).into()),
            Err(exception) => return Ok(exception.into()),
        };
        let frame = json!({ "ask": { "cell": self.cell, "id": self.question, "call": question } });
        let frame = serde_json::to_vec(&frame)?;
        if frame.len() > FRAME_BYTES_MAX {
            let message = format!("a question of {} bytes is too large", frame.len());
            return Ok(value_error(&message).into());
        }
        self.wire.send_json(&frame)?;
        let reply = self.answer()?;
        // Counted here, not when refused above: a cell that is replayed must number its questions as before, and the host
        // has seen only those that were sent.
        self.question += 1;
        Ok(result(reply, name.ends_with("_batched")))
    }

    /// Waits for the answer to the question that is open.
    fn answer(&mut self) -> io::Result<ReplyFrame> {
        while let Some(frame) = self.wire.receive()? {
            match frame {
                ToWorker::Answer { id, reply } if id == self.question => return Ok(reply),
                ToWorker::Answer { .. } => {}
                ToWorker::Cell(_) => return Err(io::Error::other("a cell within a cell")),
            }
        }
        Err(io::ErrorKind::UnexpectedEof.into())
    }

    /// Answers requests to the system: there is a fixed time, and there is nothing else.
    pub(super) fn system(&mut self, call: &OsFunctionCall) -> ExtFunctionResult {
        match call {
            OsFunctionCall::DateToday => MontyObject::Date(MontyDate {
                year: 2026,
                month: 1,
                day: 1,
            })
            .into(),
            OsFunctionCall::DateTimeNow(zone) => {
                self.ticks += 1;
                let seconds = self.ticks / 1_000 % 86_400;
                let part =
                    |span: u32, of: u32| u8::try_from(seconds / span % of).unwrap_or_default();
                MontyObject::DateTime(MontyDateTime {
                    year: 2026,
                    month: 1,
                    day: 1,
                    hour: part(3_600, 24),
                    minute: part(60, 60),
                    second: part(1, 60),
                    microsecond: self.ticks % 1_000 * 1_000,
                    offset_seconds: zone.as_ref().map(|zone| zone.offset_seconds),
                    timezone_name: zone.as_ref().and_then(|zone| zone.name.clone()),
                })
                .into()
            }
            OsFunctionCall::GetEnviron => MontyObject::dict(Vec::new()).into(),
            OsFunctionCall::Getenv(_) => MontyObject::None.into(),
            other if other.is_existence_check() => MontyObject::Bool(false).into(),
            _ => MontyException::new(
                ExcType::PermissionError,
                Some("there are no files here".to_owned()),
            )
            .into(),
        }
    }
}

/// Form of a call: one prompt, or a list of them.
#[derive(Clone, Copy)]
enum QuestionCount {
    One,
    Many,
}
use QuestionCount::{Many, One};

/// A question to the sub-model; nothing when there are no prompts.
fn query(call: &ReplFunctionCall, count: QuestionCount) -> Result<Option<Value>, MontyException> {
    let [prompts, contexts, pattern, tokens] = match count {
        One => arguments(call, ["prompt", "context", "pattern", "max_tokens"])?,
        Many => arguments(call, ["prompts", "contexts", "pattern", "max_tokens"])?,
    };
    let prompts = each(prompts, contexts, count)?
        .into_iter()
        .map(|(prompt, context)| match context {
            None => Ok(prompt),
            Some(part) => values::given(&part)
                .map(|part| format!("{prompt}\n\n{}", part["text"].as_str().unwrap_or_default()))
                .map_err(|error| value_error(&error.to_string())),
        })
        .collect::<Result<Vec<String>, MontyException>>()?;
    let mut question = json!({ "prompts": prompts });
    match pattern {
        None | Some(MontyObject::None) => {}
        Some(MontyObject::String(pattern)) => question["pattern"] = pattern.into(),
        Some(_) => return Err(type_error("pattern must be a str")),
    }
    match tokens {
        None | Some(MontyObject::None) => {}
        Some(MontyObject::Int(tokens @ 1..=0xffff_ffff)) => question["tokens_max"] = tokens.into(),
        Some(_) => return Err(value_error("max_tokens must be a positive int")),
    }
    Ok((!prompts.is_empty()).then(|| json!({ "query": question })))
}

/// A question to children; nothing when there are no tasks.
fn recurse(call: &ReplFunctionCall, count: QuestionCount) -> Result<Option<Value>, MontyException> {
    let [goals, contexts] = match count {
        One => arguments(call, ["question", "context"])?,
        Many => arguments(call, ["questions", "contexts"])?,
    };
    let task = |(goal, context): (String, Option<MontyObject>)| {
        let mut task = json!({ "goal": goal });
        if let Some(context) = context {
            task["context"] =
                values::given(&context).map_err(|error| value_error(&error.to_string()))?;
        }
        Ok(task)
    };
    let tasks: Vec<Value> = each(goals, contexts, count)?
        .into_iter()
        .map(task)
        .collect::<Result<_, MontyException>>()?;
    Ok((!tasks.is_empty()).then(|| json!({ "recurse": { "tasks": tasks } })))
}

/// Prompts, each with the part that goes with it; one part may go with all of them.
fn each(
    prompts: Option<MontyObject>,
    contexts: Option<MontyObject>,
    count: QuestionCount,
) -> Result<Vec<(String, Option<MontyObject>)>, MontyException> {
    let prompts = texts(prompts, count)?;
    let contexts = match (contexts, count) {
        (None | Some(MontyObject::None), _) => vec![None; prompts.len()],
        (Some(MontyObject::List(contexts) | MontyObject::Tuple(contexts)), Many) => contexts
            .into_iter()
            .map(|context| Some(context).filter(|context| *context != MontyObject::None))
            .collect(),
        (Some(context @ (MontyObject::String(_) | MontyObject::Dict(_))), Many) => {
            vec![Some(context); prompts.len()]
        }
        (Some(context), One) => vec![Some(context)],
        (Some(_), Many) => return Err(type_error("contexts must be a list")),
    };
    if contexts.len() != prompts.len() {
        let message = format!("{} prompts with {} contexts", prompts.len(), contexts.len());
        return Err(value_error(&message));
    }
    Ok(prompts.into_iter().zip(contexts).collect())
}

fn texts(
    prompts: Option<MontyObject>,
    count: QuestionCount,
) -> Result<Vec<String>, MontyException> {
    let prompts = match (prompts, count) {
        (Some(prompt), One) => vec![prompt],
        (Some(MontyObject::List(prompts) | MontyObject::Tuple(prompts)), Many) => prompts,
        (Some(_), Many) => return Err(type_error("prompts must be a list of str")),
        (None, _) => return Err(type_error("a prompt is missing")),
    };
    if prompts.len() > BATCH_MAX {
        return Err(value_error(&format!("at most {BATCH_MAX} prompts at once")));
    }
    prompts
        .into_iter()
        .map(|prompt| match prompt {
            MontyObject::String(prompt) => Ok(prompt),
            other => Err(type_error(&format!(
                "a prompt must be a str, not {}",
                other.type_name()
            ))),
        })
        .collect()
}

/// The arguments of a call in the order of their names.
fn arguments<const COUNT: usize>(
    call: &ReplFunctionCall,
    names: [&str; COUNT],
) -> Result<[Option<MontyObject>; COUNT], MontyException> {
    let function = &call.function_name;
    if call.args.len() > COUNT {
        let message = format!("{function}() takes at most {COUNT} arguments");
        return Err(type_error(&message));
    }
    let mut found = names.map(|_| None);
    for (place, argument) in found.iter_mut().zip(&call.args) {
        *place = Some(argument.clone());
    }
    for (name, argument) in &call.kwargs {
        let place = names
            .iter()
            .position(|known| matches!(name, MontyObject::String(name) if name == known));
        let Some(place @ None) = place.and_then(|place| found.get_mut(place)) else {
            let message = format!("{function}() got an unexpected argument {name}");
            return Err(type_error(&message));
        };
        *place = Some(argument.clone());
    }
    Ok(found)
}

/// An answer as the value, or the exception, that the call gets.
fn result(reply: ReplyFrame, batched: bool) -> ExtFunctionResult {
    let outcomes = match reply {
        ReplyFrame::Each(outcomes) => outcomes,
        ReplyFrame::Budget(budget) => return values::from_value(budget).into(),
    };
    let failed = |outcome: &OutcomeReply| matches!(outcome, OutcomeReply::Fault { .. });
    if !batched || outcomes.iter().all(failed) {
        return match outcomes.into_iter().next() {
            Some(OutcomeReply::Said(text) | OutcomeReply::Chosen { text }) => {
                MontyObject::String(text).into()
            }
            Some(OutcomeReply::Fault { kind, message }) => {
                let (exception, message) = fault(&kind, &message);
                MontyException::new(exception, Some(message)).into()
            }
            None => MontyException::runtime_error("the answer is empty").into(),
        };
    }
    let item = |outcome| match outcome {
        OutcomeReply::Said(text) | OutcomeReply::Chosen { text } => MontyObject::String(text),
        OutcomeReply::Fault { kind, message } => {
            let (exc_type, message) = fault(&kind, &message);
            MontyObject::Exception {
                exc_type,
                arg: Some(message),
            }
        }
    };
    MontyObject::List(outcomes.into_iter().map(item).collect()).into()
}

/// Tells whether the message of an exception is that of a fault.
pub(super) fn is_fault(message: &str) -> bool {
    let name = message.split(':').next().unwrap_or_default();
    FAULTS.iter().any(|(fault, _)| *fault == name)
}

fn fault(kind: &str, message: &str) -> (ExcType, String) {
    let known = FAULTS.iter().find(|(name, _)| *name == kind);
    let exception = known.map_or(ExcType::RuntimeError, |(_, exception)| *exception);
    (exception, format!("{kind}: {message}"))
}

fn type_error(message: &str) -> MontyException {
    MontyException::new(ExcType::TypeError, Some(message.to_owned()))
}

fn value_error(message: &str) -> MontyException {
    MontyException::new(ExcType::ValueError, Some(message.to_owned()))
}
