//! Code that tries to break out, to break others, or not to end. Each attack is a table's entry in `attacks/`.

use std::time::{Duration, Instant};

use fathom_core::budget::amounts::Amounts;
use fathom_core::sandbox::{
    CellAnswer, CellBudget, CellCall, CellErrorKind, CellLimits, CellOutcome, CellQuestion,
    CellReply, CellResult, ValueFormat,
};
use fathom_core::text::Text;
use fathom_core::unit::Millis;
use fathom_sandbox::{
    CellEvent, InterpreterChoice, InterpreterKind, MaterialContent, Sandbox, SandboxContext,
    SandboxMaterial, SandboxSession, SessionCell,
};
use serde::Deserialize;

use crate::conformance;
use crate::stage::Stage;

const MATERIAL: &str = "the material of the test";
/// Enough of it for a template: its sessions share the memory that it is in.
const MATERIAL_BYTES: usize = 2 << 20;
/// How much later than its limit a cell may end.
const SLACK: Duration = Duration::from_millis(500);
/// How long answers are on their way at most, over all questions of an attack. That does not count.
const ANSWERING: Duration = Duration::from_secs(2);
/// After this a cell is taken for one that never ends.
const NEVER: Duration = Duration::from_secs(20);

#[derive(Deserialize)]
struct Group {
    attack: Vec<Attack>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Attack {
    name: String,
    /// Cells of one session, after the prelude.
    cells: Vec<String>,
    /// How the last cell may end.
    #[serde(default = "contained")]
    ends: Vec<Fate>,
    /// What the last cell must print, among other things.
    #[serde(default)]
    outputs: Vec<String>,
    /// What the last cell must submit.
    submitted: Option<String>,
    /// Whether the session's next cell must find all as it was, or may be spoiled by what the attack did to its own.
    #[serde(default)]
    spoils: bool,
    #[serde(default = "time")]
    time_ms: u64,
    #[serde(default = "memory")]
    memory_mb: u64,
    #[serde(default = "questions")]
    questions: u32,
    /// How long the answers are.
    #[serde(default)]
    answer_bytes: usize,
}

/// Limits of the cells that show whether all goes on.
fn after(attack: &Attack) -> CellLimits {
    CellLimits {
        time: Millis(if attack.spoils { 3_000 } else { 10_000 }),
        ..attack.limits()
    }
}

/// How a cell ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Fate {
    /// It came to its end, or raised, and its session goes on.
    Contained,
    TimedOut,
    OutOfMemory,
    Died,
    TooManyQuestions,
}

fn contained() -> Vec<Fate> {
    vec![Fate::Contained]
}

fn time() -> u64 {
    400
}

fn memory() -> u64 {
    96
}

fn questions() -> u32 {
    50
}

impl Attack {
    /// What is to be ended by its time has little of it; all else must not fail because the machine is busy.
    fn time_ms(&self) -> u64 {
        if self.ends.contains(&Fate::TimedOut) {
            self.time_ms
        } else {
            self.time_ms.max(10_000)
        }
    }

    fn limits(&self) -> CellLimits {
        CellLimits {
            time: Millis(self.time_ms()),
            memory: self.memory_mb << 20,
            output: 64 << 10,
            questions: self.questions,
            ..CellLimits::default()
        }
    }

    /// How its end differs from what the table says. Monty knows less, so much ends there before it begins.
    fn not_met(&self, fate: Fate, end: &CellResult) -> Vec<String> {
        let mut wrong = Vec::new();
        if !self.ends.contains(&fate) {
            wrong.push(format!("it ended as {fate:?}: {}", shown(end)));
        }
        for output in &self.outputs {
            if !end.output.head.as_str().contains(output) {
                wrong.push(format!("it does not print {output:?}: {}", shown(end)));
            }
        }
        if let Some(submitted) = &self.submitted {
            let value = end.submitted.as_ref().map(|value| value.text.as_str());
            if value != Some(submitted.as_str()) {
                wrong.push(format!("it does not submit: {}", shown(end)));
            }
        }
        wrong
    }

    fn answer(&self) -> Text {
        if self.answer_bytes == 0 {
            "ok".into()
        } else {
            "x".repeat(self.answer_bytes).into()
        }
    }
}

fn fate(end: &CellResult) -> Result<Fate, String> {
    match end.error.as_ref().map(|error| error.kind) {
        None | Some(CellErrorKind::Syntax | CellErrorKind::Raised) => Ok(Fate::Contained),
        Some(CellErrorKind::TimedOut) => Ok(Fate::TimedOut),
        Some(CellErrorKind::OutOfMemory) => Ok(Fate::OutOfMemory),
        Some(CellErrorKind::Died) => Ok(Fate::Died),
        Some(CellErrorKind::TooManyQuestions) => Ok(Fate::TooManyQuestions),
        Some(CellErrorKind::Lost) => Err(format!("the session is gone: {end:?}")),
        Some(CellErrorKind::Unavailable) => Err(format!("no sandbox: {end:?}")),
    }
}

/// A cell that was run to its end.
struct Played {
    end: CellResult,
    asked: Vec<CellQuestion>,
    took: Duration,
}

impl Played {
    /// Everything that came out of the sandbox.
    fn said(&self) -> Vec<String> {
        let end = &self.end;
        let output = [Some(&end.output.head), end.output.tail.as_ref()];
        let values = [&end.submitted, &end.draft].map(|value| value.as_ref().map(|v| &v.text));
        let error = end.error.as_ref().map(|error| &error.message);
        let mut said: Vec<String> = output
            .into_iter()
            .chain(values)
            .chain([error])
            .flatten()
            .map(|text| text.as_str().to_owned())
            .collect();
        said.extend(self.asked.iter().map(|question| format!("{question:?}")));
        said
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the time that passes is what is tested"
)]
fn now() -> Instant {
    Instant::now()
}

fn reply(call: &CellCall, said: &Text) -> CellReply {
    let count = match call {
        CellCall::Query { prompts, .. } => prompts.len(),
        CellCall::Recurse { tasks } => tasks.len(),
        CellCall::Budget => {
            return CellReply::Budget(CellBudget {
                left: Amounts::default(),
                time_left: Millis(1_000),
            });
        }
    };
    CellReply::Each(vec![CellOutcome::Said(said.clone()); count])
}

async fn play(
    session: &mut SandboxSession,
    code: &str,
    limits: CellLimits,
    answer: &Text,
) -> Result<Played, String> {
    let cell = SessionCell {
        code: code.into(),
        limits,
        asked: Vec::new(),
    };
    session.run(cell).await.map_err(|error| error.to_string())?;
    let begun = now();
    let mut asked = Vec::new();
    let hear = async {
        loop {
            match session.next().await {
                CellEvent::Asked(question) => {
                    let reply = reply(&question.call, answer);
                    let id = question.id;
                    asked.push(question);
                    // An attack may have ended its cell before the answer is there.
                    let _ = session.answer(CellAnswer { id, reply });
                }
                CellEvent::Ended(end) => return end,
            }
        }
    };
    let end = tokio::time::timeout(NEVER, hear)
        .await
        .map_err(|_| "it never ends".to_owned())?;
    Ok(Played {
        end,
        asked,
        took: now() - begun,
    })
}

/// Runs an attack and tells what is wrong.
async fn attack(
    attack: &Attack,
    on: InterpreterKind,
    (sandbox, context): (&Sandbox, &SandboxContext),
    stage: &mut Stage,
) -> Result<(), String> {
    let mut session = sandbox.session(context, Vec::new());
    let answer = attack.answer();
    let prelude = stage.fill(match on {
        InterpreterKind::CPython => include_str!("attacks/prelude.py"),
        InterpreterKind::Monty => include_str!("attacks/prelude_monty.py"),
    });
    let begun = play(&mut session, &prelude, after(attack), &answer).await?;
    if begun.end.error.is_some() {
        return Err(format!("the prelude fails: {:?}", begun.end));
    }

    let mut wrong = Vec::new();
    let mut last = None;
    for code in &attack.cells {
        let played = play(&mut session, &stage.fill(code), attack.limits(), &answer).await?;
        wrong.extend(stage.harm(&played.said()));
        // The time that it waits for answers does not count.
        let answering = match played.asked.len() {
            0 => Duration::ZERO,
            _ => ANSWERING,
        };
        let limit = Duration::from_millis(attack.time_ms()) + SLACK;
        if played.took > limit + answering || Duration::from(played.end.took) > limit {
            wrong.push(format!("it ended after {:?}", played.took));
        }
        last = Some(played.end);
    }
    let end = last.ok_or("it has no cells")?;
    let fate = fate(&end)?;
    if on == InterpreterKind::CPython {
        wrong.extend(attack.not_met(fate, &end));
    }

    // The session goes on, and nobody else feels it.
    let next = play(&mut session, "print(6 * 7)", after(attack), &answer).await?;
    wrong.extend(stage.harm(&next.said()));
    let next_works = next.end.error.is_none() && next.end.output.head.as_str() == "42\n";
    if !next_works && !attack.spoils {
        wrong.push(format!("the next cell: {}", shown(&next.end)));
    }
    let mut sibling = sandbox.session(context, Vec::new());
    let code = "print(6 * 7, context[:24], set(context[24:]))";
    let other = play(&mut sibling, code, after(attack), &answer).await?;
    wrong.extend(stage.harm(&other.said()));
    if other.end.output.head.as_str() != format!("42 {MATERIAL} {{'.'}}\n") {
        wrong.push(format!("another session: {}", shown(&other.end)));
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(wrong.join("\n    "))
    }
}

fn shown(end: &CellResult) -> String {
    let brief = |text: &Text| -> String { text.as_str().chars().take(1_500).collect() };
    let error = end
        .error
        .as_ref()
        .map(|error| (error.kind, brief(&error.message)));
    format!("{error:?}, printed {:?}", brief(&end.output.head))
}

/// Every attack of a group is held; all that is wrong is told at once.
async fn hold(name: &str, table: &str, on: InterpreterKind) {
    let group: Group = toml::from_str(table).unwrap();
    let sandbox = conformance::sandbox(match on {
        InterpreterKind::CPython => InterpreterChoice::CPython,
        InterpreterKind::Monty => InterpreterChoice::Monty,
    });
    let material = SandboxMaterial {
        name: "material".to_owned(),
        form: ValueFormat::Text,
        content: MaterialContent::Bytes(format!("{MATERIAL}{}", ".".repeat(MATERIAL_BYTES)).into()),
    };
    let context = sandbox.load(vec![material]).await.unwrap();
    let answer = Text::from("ok");
    let mut watcher = sandbox.session(&context, Vec::new());
    play(
        &mut watcher,
        "kept = 'mine'",
        CellLimits::default(),
        &answer,
    )
    .await
    .unwrap();

    let mut stage = Stage::set(name);
    let mut wrong = Vec::new();
    for one in &group.attack {
        if let Err(what) = attack(one, on, (&sandbox, &context), &mut stage).await {
            wrong.push(format!("{}:\n    {what}", one.name));
        }
    }
    let kept = play(&mut watcher, "print(kept)", CellLimits::default(), &answer)
        .await
        .unwrap();
    assert_eq!(kept.end.output.head.as_str(), "mine\n");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

macro_rules! groups {
    ($($test:ident: $file:literal),+ $(,)?) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                let table = include_str!(concat!("attacks/", $file, ".toml"));
                hold($file, table, InterpreterKind::CPython).await;
            }
        )+

        mod on_monty {
            use super::*;

            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $test() {
                    let table = include_str!(concat!("attacks/", $file, ".toml"));
                    hold(concat!($file, "-monty"), table, InterpreterKind::Monty).await;
                }
            )+
        }

        #[test]
        fn r03_there_are_more_than_120_attacks() {
            let tables = [$(include_str!(concat!("attacks/", $file, ".toml"))),+];
            let count: usize = tables
                .iter()
                .map(|table| toml::from_str::<Group>(table).unwrap().attack.len())
                .sum();
            assert!(count >= 120, "{count}");
        }
    };
}

groups! {
    r03_no_file_is_reached: "files",
    r03_no_process_is_looked_at: "proc",
    r03_no_variable_is_seen: "environment",
    r03_nothing_is_sent: "network",
    r03_no_process_is_begun_or_changed: "processes",
    r03_nobody_is_sent_a_signal: "signals",
    r03_the_kernel_refuses_what_is_not_computing: "kernel",
    r03_digging_through_python_leads_nowhere: "digging",
    r03_work_without_end_is_ended: "computing",
    r03_memory_is_bounded: "memory",
    r03_depth_is_held: "nesting",
    r03_output_is_bounded: "output",
    r03_forged_messages_are_held: "frames",
    r03_threads_are_held: "threads",
    r03_code_that_catches_everything_is_ended: "endless",
    r03_finalisers_are_held: "finalisers",
    r03_what_a_cell_breaks_is_its_own: "poisoning",
    r03_descriptors_are_held: "descriptors",
    r03_odd_values_are_held: "values",
}
