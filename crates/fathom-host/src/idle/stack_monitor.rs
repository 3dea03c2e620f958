//! The heartbeat of a stack that comes back to ideas by itself: who can be heard, and how its runs came out.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use fathom_core::episode::result::EpisodeStatus;
use fathom_core::model::{ModelRole, ModelSet, ModelSpec};
use fathom_models::HealthState;
use fathom_programs::stages;
use fathom_store::InitiativeBudget;
use tokio::task::AbortHandle;
use tokio::time::MissedTickBehavior;

use crate::RunEnd;
use crate::error::HostError;
use crate::governance::identity::{StabilityLog, StabilitySample};
use crate::models::embedded;
use crate::runtime::Runtime;

/// Time between two beats.
// Well below the silence that breaks stability, so one lost beat does not.
const BEAT: Duration = Duration::from_secs(30);

/// Outcomes of runs since the last beat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct OutcomeCounter {
    clean: u32,
    flawed: u32,
    has_failed: bool,
}

impl OutcomeCounter {
    fn take_in(&mut self, end: &RunEnd) {
        let result = match end {
            RunEnd::Finished(result) if result.status != EpisodeStatus::Failed => result,
            // Let go of by a person: nothing is known about the stack.
            RunEnd::Interrupted => return,
            _ => {
                self.has_failed = true;
                self.flawed += 1;
                return;
            }
        };
        let report = result.report.as_ref();
        let report = report.and_then(|report| serde_json::from_str(report.as_str()).ok());
        let report: stages::StagesReport = report.unwrap_or_default();
        if report.verified == Some(true) && report.interrupts == 0 {
            self.clean += 1;
        } else {
            self.flawed += 1;
        }
    }
}

/// Notes how the stack stands, until it is dropped.
pub struct StackMonitor {
    within: Arc<SampleWindow>,
    task: Option<AbortHandle>,
}

struct SampleWindow {
    runtime: Runtime,
    stability: StabilityLog,
    prime: ModelSpec,
    lite: ModelSpec,
    since: Mutex<OutcomeCounter>,
}

impl StackMonitor {
    /// A heart that beats when it is told to.
    pub fn new(runtime: &Runtime, models: &ModelSet) -> Result<Self, HostError> {
        let within = SampleWindow {
            runtime: runtime.clone(),
            stability: runtime.stability()?,
            prime: models.get(ModelRole::Prime).clone(),
            lite: models.get(ModelRole::Lite).clone(),
            since: Mutex::default(),
        };
        Ok(Self {
            within: Arc::new(within),
            task: None,
        })
    }

    /// Has it beat by itself from now on.
    pub fn start(&mut self) {
        let within = Arc::clone(&self.within);
        let beating = async move {
            let mut beats = tokio::time::interval(BEAT);
            // A suspended machine would otherwise beat many times at once and fake a history.
            beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                beats.tick().await;
                if let Err(error) = within.beat().await {
                    tracing::warn!(code = error.code(), %error, "cannot record a stability sample");
                }
            }
        };
        self.task = Some(tokio::spawn(beating).abort_handle());
    }

    /// Takes in how a run came out.
    pub fn take_in(&self, end: &RunEnd) {
        self.within.since().take_in(end);
    }

    /// Notes how the stack stands now.
    pub async fn beat(&self) -> Result<(), HostError> {
        self.within.beat().await
    }
}

impl Drop for StackMonitor {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

impl SampleWindow {
    fn since(&self) -> std::sync::MutexGuard<'_, OutcomeCounter> {
        self.since.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn beat(&self) -> Result<(), HostError> {
        // Before the lock: it must not be held while two servers are asked.
        let (prime, lite) = tokio::join!(self.is_heard(&self.prime), self.is_heard(&self.lite));
        let mut since = self.since();
        self.stability.note(StabilitySample {
            clean_stages: since.clean,
            flawed_stages: since.flawed,
            prime,
            lite,
            initiative: if since.has_failed {
                InitiativeBudget::Failed
            } else {
                InitiativeBudget::Active
            },
        })?;
        // Only what was noted is let go of.
        *since = OutcomeCounter::default();
        Ok(())
    }

    async fn is_heard(&self, spec: &ModelSpec) -> bool {
        if spec.provider() == embedded::PROVIDER {
            let here = self.runtime.embedded();
            let chosen = here.choose(spec.name());
            let file = chosen.and_then(|chosen| here.file(&chosen.name));
            // Loading weights takes seconds and gigabytes, too much for every beat.
            return file.is_ok_and(|file| file.is_file());
        }
        let health = fathom_models::health(spec, self.runtime.inner.options.read_env).await;
        health.is_ok_and(|health| health.state == HealthState::Up)
    }
}
