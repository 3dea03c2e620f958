//! Signals of other processes: kill switches and what people told a run.

use std::collections::VecDeque;

use fathom_core::effect::KillScope;
use fathom_core::journal::event::Signal;
use fathom_core::run::step::HostStep;

use crate::driver::RunDriver;
use crate::error::HostError;

impl RunDriver {
    /// Looks for words of other processes, and shows how far the run is.
    pub(super) fn look(&mut self, steps: &mut VecDeque<HostStep>) -> Result<(), HostError> {
        let kills: Vec<KillScope> = self.journal.kills()?.into_iter().map(|k| k.scope).collect();
        // Compared with the last look, so that an episode hears of a change once and not twenty times a second.
        if kills != self.state.kills {
            let before = std::mem::replace(&mut self.state.kills, kills);
            let kills = self.state.kills.clone();
            let thrown = kills.iter().filter(|scope| !before.contains(scope));
            let lifted = before.iter().filter(|scope| !kills.contains(scope));
            let signals = thrown
                .map(|scope| Signal::Kill {
                    scope: scope.clone(),
                })
                .chain(lifted.map(|scope| Signal::Lift {
                    scope: scope.clone(),
                }));
            for signal in signals {
                let at = self.clock.now();
                steps.extend(self.run.signal(&mut self.recorder, at, &signal));
            }
        }
        for posted in self.journal.signals(self.id, self.state.signals_seen)? {
            self.state.signals_seen = posted.id;
            // Settled together with the record that takes it in: a crash before that leaves it to the next owner.
            self.recorder.settles.push(posted.id);
            let at = self.clock.now();
            steps.extend(self.run.signal(&mut self.recorder, at, &posted.signal));
            self.state.has_news = true;
        }
        // The story is copied whole, so nobody looking means no copy.
        if self.state.has_news && self.shown.receiver_count() > 0 {
            self.state.has_news = false;
            self.shown.send_replace(self.recorder.story.clone());
        }
        Ok(())
    }
}
