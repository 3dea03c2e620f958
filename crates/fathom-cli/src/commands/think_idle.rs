//! `fathom think --idle`: one idea at a time, when nothing else is going on.

use std::time::Duration;

use fathom_core::unit::Millis;
use fathom_host::HostError;
use fathom_host::idle::idle_loop::{self, IdleTurn};
use fathom_host::idle::stack_monitor::StackMonitor;
use fathom_store::channels::ThoughtSeed;
use serde::Serialize;
use tokio::time::MissedTickBehavior;

use super::seeds::SeedJson;
use super::think::ThinkSetup;
use crate::args::ThinkArgs;
use crate::error::CliError;
use crate::exit_code::ExitStatus;
use crate::run::conclude;
use crate::run::launch::{stay, told};
use crate::run::signals::{Interrupt, InterruptSignals};
use crate::settings::{OutputFormat, Verbosity};
use crate::terminal::output;
use crate::terminal::plain_text::one_line;
use crate::terminal::styled_line::{LineStyle, StyledLine};
use crate::view::result_json::{self, ResultJson};
use crate::view::units::many;

#[derive(Serialize)]
struct IdleJson {
    cycles: Vec<CycleJson>,
    /// Ideas that nobody came back to.
    waiting: u64,
}

#[derive(Serialize)]
struct CycleJson {
    seed: SeedJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<ResultJson>,
}

/// How a cycle went.
enum IdleCycle {
    /// There was nothing to do now.
    Quiet,
    Thought(Box<CycleJson>, ExitStatus),
}

pub(super) async fn idle(asked: &ThinkArgs, mind: &ThinkSetup) -> Result<ExitStatus, CliError> {
    let most = match (asked.cycles, asked.every) {
        (Some(cycles), _) => cycles,
        (None, Some(_)) => u32::MAX,
        (None, None) => 1,
    };
    let mut heart = StackMonitor::new(&mind.app.runtime, &mind.prepared.new.models)?;
    if asked.every.is_some() {
        heart.start();
    }
    let mut cycles = Vec::new();
    let mut exit = ExitStatus::Ok;
    let mut pauses = asked.every.map(IdlePauses::new).transpose()?;
    let mut done = 0;
    while done < most {
        match cycle(mind, &heart).await {
            Ok(IdleCycle::Thought(thought, ended)) => {
                done += 1;
                exit = ended;
                if pauses.is_none() || most < u32::MAX {
                    cycles.push(*thought);
                }
            }
            Ok(IdleCycle::Quiet) if pauses.is_none() => break,
            Ok(IdleCycle::Quiet) => {}
            Err(error) if error.exit() == ExitStatus::Interrupted => return Err(error),
            // What is out of reach now may be back after the pause.
            Err(error) if pauses.is_some() => {
                done += 1;
                exit = error.exit();
                output::say(&error.lines());
            }
            Err(error) => {
                heart.beat().await?;
                return Err(error);
            }
        }
        if let Some(pauses) = &mut pauses
            && done < most
            && !pauses.next().await
        {
            break;
        }
    }
    heart.beat().await?;
    if mind.app.settings.form == OutputFormat::Json {
        let waiting = waiting(mind)?;
        output::print_json(&IdleJson { cycles, waiting })?;
    }
    Ok(exit)
}

/// The time between two looks.
struct IdlePauses {
    interval: tokio::time::Interval,
    signals: InterruptSignals,
}

impl IdlePauses {
    fn new(Millis(millis): Millis) -> Result<Self, CliError> {
        let mut interval = tokio::time::interval(Duration::from_millis(millis));
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        interval.reset();
        Ok(Self {
            interval,
            signals: InterruptSignals::listen()?,
        })
    }

    /// Waits for the next look. False when the user has had enough.
    async fn next(&mut self) -> bool {
        tokio::select! {
            _ = self.interval.tick() => true,
            Interrupt::LetGo | Interrupt::Leave = self.signals.next() => false,
        }
    }
}

async fn cycle(mind: &ThinkSetup, heart: &StackMonitor) -> Result<IdleCycle, CliError> {
    let app = &mind.app;
    let seed = match app.runtime.idle_turn()? {
        IdleTurn::Seed(seed) => *seed,
        IdleTurn::Busy(run) => {
            say(
                mind,
                format!("not idle: run {} is in progress", app.short(run)),
            );
            return Ok(IdleCycle::Quiet);
        }
        IdleTurn::Nothing => {
            say(mind, "no open thought seeds".to_owned());
            return Ok(IdleCycle::Quiet);
        }
    };
    let idea = one_line(seed.text.as_deref().unwrap_or_default());
    say(mind, format!("following up on: {idea}"));
    let new = idle_loop::follow_up(&mind.prepared.new, &mind.charter, &seed);
    let handle = match new.and_then(|new| app.runtime.start(new)) {
        Ok(handle) => handle,
        Err(error) => {
            // Nothing was thought: the next cycle may try again.
            app.runtime.put_back(&seed.id)?;
            return Err(error.into());
        }
    };
    let mut warnings = told(&mind.prepared.warnings);
    let models = &mind.prepared.new.models;
    let followed = stay(app, handle, models, &mut warnings).await?;
    heart.take_in(&followed.end);
    let state = app.runtime.settle_seed(&seed.id, &followed.end)?;
    let (followed, exit) = conclude::settle(followed)?;
    if app.settings.form == OutputFormat::Human {
        conclude::print_answer(app, &followed)?;
        let waiting = many(waiting(mind)?, "open idea", "open ideas");
        say(mind, format!("idea marked {state}; {waiting}"));
    }
    let result = result_json::of(followed.run, &followed.story, warnings);
    let seed = SeedJson::from(ThoughtSeed { state, ..seed });
    Ok(IdleCycle::Thought(
        Box::new(CycleJson { seed, result }),
        exit,
    ))
}

fn waiting(mind: &ThinkSetup) -> Result<u64, CliError> {
    let waiting = mind.app.runtime.seeds()?.waiting();
    Ok(waiting.map_err(HostError::from)?)
}

fn say(mind: &ThinkSetup, words: String) {
    if mind.app.settings.loudness != Verbosity::Quiet {
        output::say(&[StyledLine::new().with(LineStyle::Faint, words)]);
    }
}
