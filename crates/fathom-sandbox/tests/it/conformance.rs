//! What code can rely on, on every interpreter. Each case is a table's entry in `cases/`.

use std::collections::BTreeMap;

use fathom_core::budget::amounts::Amounts;
use fathom_core::sandbox::{
    CellAnswer, CellBudget, CellCall, CellErrorKind, CellException, CellExceptionKind, CellLimits,
    CellOutcome, CellReply, CellResult, CellValue, ValueFormat,
};
use fathom_core::text::Text;
use fathom_core::unit::{Millis, Nanodollars};
use fathom_sandbox::{
    CellEvent, InterpreterChoice, InterpreterKind, MaterialContent, Sandbox, SandboxMaterial,
    SandboxOptions, SessionCell, WorkerCommand,
};
use serde::Deserialize;

#[derive(Deserialize)]
struct Table {
    case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    #[serde(default)]
    context: String,
    #[serde(default)]
    form: ValueFormat,
    /// More than one piece of material, instead of `context`.
    #[serde(default)]
    materials: Vec<Piece>,
    #[serde(default)]
    replies: Vec<Rule>,
    /// How Monty differs, where it does.
    monty: Option<String>,
    #[serde(default = "time")]
    time_ms: u64,
    #[serde(default = "memory")]
    memory_mb: u64,
    #[serde(default = "questions")]
    questions: u32,
    cell: Vec<Step>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Piece {
    name: String,
    #[serde(default)]
    form: ValueFormat,
    context: String,
}

/// What a prompt gets: the first rule whose words are in it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    when: String,
    say: Option<String>,
    /// How far that leads.
    margin_milli: Option<i32>,
    fault: Option<CellExceptionKind>,
    partial: Option<String>,
    /// How often it holds.
    times: Option<u32>,
}

/// A cell and what must come of it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    code: String,
    prints: Option<String>,
    prints_from: Option<String>,
    prints_to: Option<String>,
    prints_bytes: Option<u64>,
    submits: Option<String>,
    submits_json: Option<String>,
    drafts: Option<String>,
    error: Option<CellErrorKind>,
    /// What the error's message has in it.
    says: Option<String>,
    /// Every prompt, in order.
    asks: Option<Vec<String>>,
    /// Every question, in order, as JSON.
    calls: Option<Vec<String>>,
}

fn time() -> u64 {
    5_000
}

fn memory() -> u64 {
    128
}

fn questions() -> u32 {
    100
}

/// Answers by rules, and remembers how often each was used.
struct Answerer<'a> {
    rules: &'a [Rule],
    used: BTreeMap<usize, u32>,
}

impl Answerer<'_> {
    fn outcome(&mut self, prompt: &Text) -> Result<CellOutcome, String> {
        for (number, rule) in self.rules.iter().enumerate() {
            let used = self.used.entry(number).or_default();
            if !prompt.as_str().contains(&rule.when)
                || rule.times.is_some_and(|times| *used >= times)
            {
                continue;
            }
            *used += 1;
            return match (&rule.say, rule.fault) {
                (Some(say), None) => Ok(match rule.margin_milli {
                    None => CellOutcome::Said(say.as_str().into()),
                    Some(margin_milli) => CellOutcome::Chosen {
                        text: say.as_str().into(),
                        margin_milli,
                    },
                }),
                (None, Some(kind)) => Ok(CellOutcome::Fault(CellException {
                    kind,
                    message: "as the case has it".into(),
                    partial: rule.partial.as_deref().map(Text::from),
                })),
                _ => Err(format!("rule `{}` says nothing, or two things", rule.when)),
            };
        }
        Err(format!("nothing is said to `{}`", prompt.as_str()))
    }

    fn reply(&mut self, call: &CellCall) -> Result<CellReply, String> {
        let outcomes = match call {
            CellCall::Query { prompts, .. } => {
                prompts.iter().map(|prompt| self.outcome(prompt)).collect()
            }
            CellCall::Recurse { tasks } => {
                tasks.iter().map(|task| self.outcome(&task.goal)).collect()
            }
            CellCall::Budget => {
                return Ok(CellReply::Budget(CellBudget {
                    left: Amounts {
                        calls: 7,
                        tokens: 1_000,
                        money: Nanodollars(u64::MAX),
                        ..Amounts::default()
                    },
                    time_left: Millis(60_000),
                }));
            }
        };
        Result::map(outcomes, CellReply::Each)
    }
}

fn prompts(call: &CellCall) -> Vec<&str> {
    match call {
        CellCall::Query { prompts, .. } => prompts.iter().map(Text::as_str).collect(),
        CellCall::Recurse { tasks } => tasks.iter().map(|task| task.goal.as_str()).collect(),
        CellCall::Budget => Vec::new(),
    }
}

/// The values are equal, and an expectation that is not there is met.
fn equal<T: PartialEq + std::fmt::Debug>(
    what: &str,
    wanted: Option<T>,
    got: &T,
) -> Result<(), String> {
    match wanted {
        Some(wanted) if wanted != *got => Err(format!("{what}: {got:?} instead of {wanted:?}")),
        _ => Ok(()),
    }
}

fn text_of(value: Option<&CellValue>) -> Option<(ValueFormat, &str)> {
    value.map(|value| (value.form, value.text.as_str()))
}

impl Step {
    fn check(&self, end: &CellResult, calls: &[CellCall]) -> Result<(), String> {
        let error = end.error.as_ref();
        let message = error.map_or("", |error| error.message.as_str());
        if error.map(|error| error.kind) != self.error {
            return Err(format!("ended by {error:?}"));
        }
        if let Some(says) = &self.says
            && !message.contains(says)
        {
            return Err(format!("its error does not say `{says}`: {message}"));
        }
        let head = end.output.head.as_str();
        let tail = end.output.tail.as_ref().map(Text::as_str);
        equal("prints", self.prints.as_deref(), &head)?;
        if let Some(from) = &self.prints_from
            && !head.starts_with(from)
        {
            return Err(format!("prints {head:?}"));
        }
        if let Some(to) = &self.prints_to
            && !tail.is_some_and(|tail| tail.ends_with(to))
        {
            return Err(format!("prints {tail:?} in the end"));
        }
        equal("bytes printed", self.prints_bytes, &end.output.bytes)?;
        self.check_values(end)?;
        let asked: Vec<&str> = calls.iter().flat_map(prompts).collect();
        let wanted = self.asks.as_ref();
        let wanted = wanted.map(|asks| asks.iter().map(String::as_str).collect());
        equal("asks", wanted, &asked)?;
        if let Some(wanted) = &self.calls {
            let wanted: Result<Vec<CellCall>, _> = wanted
                .iter()
                .map(|call| serde_json::from_str(call))
                .collect();
            let wanted = wanted.map_err(|error| error.to_string())?;
            equal("calls", Some(wanted.as_slice()), &calls)?;
        }
        Ok(())
    }

    fn check_values(&self, end: &CellResult) -> Result<(), String> {
        let submitted = text_of(end.submitted.as_ref());
        match (&self.submits, &self.submits_json) {
            (Some(text), None) => {
                equal(
                    "submits",
                    Some(Some((ValueFormat::Text, text.as_str()))),
                    &submitted,
                )?;
            }
            (None, Some(json)) => {
                let wanted: serde_json::Value =
                    serde_json::from_str(json).map_err(|error| error.to_string())?;
                let Some((ValueFormat::Json, text)) = submitted else {
                    return Err(format!("submits {submitted:?}"));
                };
                let got: serde_json::Value =
                    serde_json::from_str(text).map_err(|error| error.to_string())?;
                equal("submits", Some(wanted), &got)?;
            }
            (None, None) => equal("submits", Some(None), &submitted)?,
            (Some(_), Some(_)) => return Err("two expectations".to_owned()),
        }
        let draft = text_of(end.draft.as_ref());
        let drafts = self
            .drafts
            .as_deref()
            .map(|text| Some((ValueFormat::Text, text)));
        equal("drafts", drafts, &draft)
    }
}

impl Case {
    fn material(&self) -> Vec<SandboxMaterial> {
        if self.materials.is_empty() {
            return vec![material("context", self.form, &self.context)];
        }
        self.materials
            .iter()
            .map(|piece| material(&piece.name, piece.form, &piece.context))
            .collect()
    }

    async fn play(&self, sandbox: &Sandbox) -> Result<(), String> {
        let context = sandbox.load(self.material()).await;
        let context = context.map_err(|error| error.to_string())?;
        let mut session = sandbox.session(&context, Vec::new());
        let mut answerer = Answerer {
            rules: &self.replies,
            used: BTreeMap::new(),
        };
        for (number, step) in self.cell.iter().enumerate() {
            let cell = SessionCell {
                code: step.code.as_str().into(),
                limits: CellLimits {
                    time: Millis(self.time_ms),
                    memory: self.memory_mb << 20,
                    questions: self.questions,
                    ..CellLimits::default()
                },
                asked: Vec::new(),
            };
            session.run(cell).await.map_err(|error| error.to_string())?;
            let mut calls = Vec::new();
            let end = loop {
                match session.next().await {
                    CellEvent::Asked(question) => {
                        let reply = answerer.reply(&question.call)?;
                        calls.push(question.call);
                        let id = question.id;
                        session
                            .answer(CellAnswer { id, reply })
                            .map_err(|error| error.to_string())?;
                    }
                    CellEvent::Ended(end) => break end,
                }
            };
            step.check(&end, &calls)
                .map_err(|what| format!("cell {}: {what}\n    {end:?}", number + 1))?;
        }
        Ok(())
    }
}

fn material(name: &str, form: ValueFormat, text: &str) -> SandboxMaterial {
    SandboxMaterial {
        name: name.to_owned(),
        form,
        content: MaterialContent::Bytes(text.into()),
    }
}

pub(crate) fn sandbox(interpreter: InterpreterChoice) -> Sandbox {
    Sandbox::new(SandboxOptions {
        interpreter,
        worker: Some(WorkerCommand {
            program: env!("CARGO_BIN_EXE_fathom-sandbox-worker").into(),
            arguments: Vec::new(),
        }),
        ..SandboxOptions::default()
    })
}

/// Every case that fails, with the reason.
async fn failures<'a>(table: &'a Table, sandbox: &Sandbox) -> Vec<(&'a Case, String)> {
    let mut failed = Vec::new();
    for case in &table.case {
        if let Err(what) = case.play(sandbox).await {
            failed.push((case, what));
        }
    }
    failed
}

fn told(failed: &[(&Case, String)]) -> String {
    let lines = failed
        .iter()
        .map(|(case, what)| format!("{}: {what}", case.name));
    lines.collect::<Vec<_>>().join("\n")
}

fn conformance() -> Table {
    toml::from_str(include_str!("cases/conformance.toml")).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r02_cpython_conforms() {
    let table = conformance();
    let failed = failures(&table, &sandbox(InterpreterChoice::CPython)).await;
    assert!(failed.is_empty(), "{}", told(&failed));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r02_monty_conforms_but_for_what_is_listed() {
    let table = conformance();
    let monty = sandbox(InterpreterChoice::Monty);
    let isolation = monty.isolation().await.unwrap();
    assert_eq!(isolation.interpreter, InterpreterKind::Monty);
    let failed = failures(&table, &monty).await;
    let unlisted: Vec<_> = failed
        .iter()
        .filter(|(case, _)| case.monty.is_none())
        .map(|(case, what)| (*case, what.clone()))
        .collect();
    assert!(unlisted.is_empty(), "{}", told(&unlisted));
    // A difference that is gone is listed no longer.
    let listed = table.case.iter().filter(|case| case.monty.is_some());
    let gone: Vec<_> = listed
        .filter(|case| !failed.iter().any(|(other, _)| other.name == case.name))
        .map(|case| case.name.as_str())
        .collect();
    assert!(gone.is_empty(), "Monty does these by now: {gone:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r02_code_as_models_write_it_runs_on_the_default_interpreter() {
    let table: Table = toml::from_str(include_str!("cases/blocks.toml")).unwrap();
    assert!(table.case.len() >= 40);
    let failed = failures(&table, &sandbox(InterpreterChoice::Auto)).await;
    assert!(failed.is_empty(), "{}", told(&failed));
}
