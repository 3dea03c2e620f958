//! Follows runs to their end: draws how they get on, and lets go when the user says so.

use std::sync::Arc;
use std::time::Duration;

use fathom_core::id::RunId;
use fathom_host::view::deliveries::DeliveredBlock;
use fathom_host::view::run::RunView;
use fathom_host::{RunEnd, RunHandle};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

use crate::app::App;
use crate::error::CliError;
use crate::run::background_resume::BackgroundResume;
use crate::run::signals::{self, Interrupt, InterruptSignals};
use crate::settings::Verbosity;
use crate::terminal::output;
use crate::terminal::styled_line::StyledLine;
use crate::view::council::SeatDetail;
use crate::view::progress::{ProgressView, ShownState};
use crate::view::record_lines::RecordPrinter;
use crate::view::stages::block_lines;

/// Time between two frames.
// Ten frames a second look fluent, and people read no faster.
const FRAME: Duration = Duration::from_millis(100);

/// A run that came back.
pub(crate) struct FinishedRun {
    pub(crate) run: RunId,
    /// Its id, as short as it can be.
    pub(crate) short: String,
    pub(crate) story: RunView,
    pub(crate) end: RunEnd,
}

/// A run on its way.
struct RunningRun {
    run: RunId,
    short: String,
    watch: watch::Receiver<RunView>,
    interrupt: Arc<Notify>,
    chronicle: RecordPrinter,
    records_told: u64,
    blocks_told: usize,
    end: Option<RunEnd>,
}

/// Follows `handles` until all have ended, then releases the runs in the background.
pub(crate) async fn follow(
    app: &App,
    handles: Vec<RunHandle>,
    mut beside: BackgroundResume,
) -> Result<Vec<FinishedRun>, CliError> {
    let mut signals = InterruptSignals::listen()?;
    let mut progress = ProgressView::new(app.settings.loudness);
    let mut ends = JoinSet::new();
    let mut runs = Vec::new();
    for (index, handle) in handles.into_iter().enumerate() {
        runs.push(RunningRun::new(app, &handle));
        ends.spawn(async move { (index, handle.end().await) });
    }
    let mut frames = tokio::time::interval(FRAME);
    // A slow terminal must not get the missed frames in a burst.
    frames.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            // Ends before signals, notes and frames: a run that is over is not interrupted, and a stream of notes
            // cannot starve the rest.
            biased;
            ended = ends.join_next() => match ended {
                None => break,
                Some(Ok((index, end))) => {
                    if let Some(run) = runs.get_mut(index) {
                        run.end = Some(end);
                    }
                }
                Some(Err(error)) => match error.try_into_panic() {
                    // A panic of the driver is a bug like any other, so it takes the usual way through the hook.
                    Ok(panic) => std::panic::resume_unwind(panic),
                    Err(_) => break,
                },
            },
            heard = signals.next() => match heard {
                Interrupt::LetGo => runs.iter().for_each(|run| run.interrupt.notify_one()),
                Interrupt::Leave => signals::leave(),
            },
            Some(note) = beside.note() => progress.note(&[note]),
            _ = frames.tick() => show(app, &mut runs, &mut progress),
        }
    }
    tell_records(app, &mut runs, &mut progress);
    tell_blocks(&mut runs, &mut progress);
    let stories: Vec<RunView> = runs.iter().map(|run| run.watch.borrow().clone()).collect();
    let detail = SeatDetail::from(app.settings.loudness);
    progress.finish(&shown(&runs, &stories), app.now(), detail);
    // The terminal is given back before the wait below, which may take a while.
    drop(progress);
    tokio::select! {
        // Other runs are released in order, so that they need no recovery; a second signal cuts this short.
        () = beside.let_go() => {}
        Interrupt::Leave = leave(&mut signals) => signals::leave(),
    }
    let followed = runs.into_iter().zip(stories).filter_map(|(run, story)| {
        Some(FinishedRun {
            run: run.run,
            short: run.short,
            story,
            end: run.end?,
        })
    });
    Ok(followed.collect())
}

/// Waits for the signal that matters once everything is being released anyway.
async fn leave(signals: &mut InterruptSignals) -> Interrupt {
    while signals.next().await != Interrupt::Leave {}
    Interrupt::Leave
}

impl RunningRun {
    fn new(app: &App, handle: &RunHandle) -> Self {
        Self {
            run: handle.run(),
            short: app.short(handle.run()),
            watch: handle.watch(),
            interrupt: handle.interrupter(),
            chronicle: RecordPrinter::default(),
            records_told: 0,
            // Blocks of an earlier process were shown then.
            blocks_told: settled(&handle.watch().borrow()).count(),
            end: None,
        }
    }
}

fn shown<'a>(runs: &'a [RunningRun], stories: &'a [RunView]) -> Vec<ShownState<'a>> {
    let pairs = runs.iter().zip(stories);
    pairs
        .map(|(run, story)| ShownState {
            run: run.run,
            short: &run.short,
            story,
        })
        .collect()
}

fn show(app: &App, runs: &mut [RunningRun], progress: &mut ProgressView) {
    if matches!(progress, ProgressView::Silent) {
        return;
    }
    tell_records(app, runs, progress);
    tell_blocks(runs, progress);
    // Copies: a terminal that does not take its lines must not hold up the run.
    let stories: Vec<RunView> = runs.iter().map(|run| run.watch.borrow().clone()).collect();
    progress.update(&shown(runs, &stories), app.now());
}

/// The blocks that are delivered, as far as all before them are.
fn settled(story: &RunView) -> impl Iterator<Item = &DeliveredBlock> {
    let blocks = story.root().into_iter().flat_map(|root| root.spoken.iter());
    // Up to the first unsettled one, so that blocks appear in their order.
    blocks.take_while(|block| block.deliveries.is_some())
}

/// Shows the blocks that were delivered since the last look. What was shown before a resume is not shown again.
fn tell_blocks(runs: &mut [RunningRun], progress: &mut ProgressView) {
    let width = output::stderr_size().map_or(usize::MAX, |(columns, _)| columns);
    for run in runs {
        let story = run.watch.borrow();
        // Copied, since the borrow holds a lock that the run needs for its next record.
        let news: Vec<DeliveredBlock> = settled(&story).skip(run.blocks_told).cloned().collect();
        drop(story);
        if news.is_empty() {
            continue;
        }
        run.blocks_told += news.len();
        let lines = news.iter();
        let lines: Vec<StyledLine> = lines.flat_map(|block| block_lines(block, width)).collect();
        progress.note(&lines);
    }
}

/// With `-v`, tells the records that came since the last look.
fn tell_records(app: &App, runs: &mut [RunningRun], progress: &mut ProgressView) {
    if app.settings.loudness != Verbosity::Verbose {
        return;
    }
    let width = output::stderr_size().map_or(usize::MAX, |(columns, _)| columns);
    for run in runs {
        let records = run.watch.borrow().records();
        if records == run.records_told {
            continue;
        }
        // What cannot be read now is read at the next look; the run itself says when something is wrong.
        if let Ok(found) = app.runtime.records(run.run) {
            run.records_told = records;
            let lines: Vec<StyledLine> = run.chronicle.news(&found, width);
            progress.note(&lines);
        }
    }
}
