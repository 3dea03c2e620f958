//! Error windows that trip the kill switch.

use std::collections::{BTreeMap, VecDeque};

use fathom_core::effect::{EffectTarget, KillScope};
use fathom_core::unit::{Millis, Timestamp};

/// Maximum number of accounts, actions and platforms watched at a time; the one idle for longest is forgotten
/// first.
pub const SCOPES_MAX: usize = 1_024;

/// Number of errors that trips, and the calls among which they are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TripWindow {
    /// Number of errors that trips.
    pub errors_max: u32,
    /// Number of latest calls that are looked at.
    pub of: u32,
    /// Maximum age of those calls.
    pub per: Millis,
}

/// Watches calls by account, action and platform.
#[derive(Clone, Debug)]
pub struct TripSwitch {
    window: TripWindow,
    seen: BTreeMap<KillScope, VecDeque<CountedCall>>,
}

#[derive(Clone, Copy, Debug)]
struct CountedCall {
    at: Timestamp,
    failed: bool,
}

impl TripSwitch {
    /// A watcher that has seen nothing yet.
    pub const fn new(window: TripWindow) -> Self {
        Self {
            window,
            seen: BTreeMap::new(),
        }
    }

    /// Records how a call ended. Returns the narrowest scope with too many errors; its calls are forgotten, so
    /// that they count neither towards a wider scope nor after a person lifted the switch.
    pub fn note(
        &mut self,
        target: &EffectTarget,
        failed: bool,
        at: Timestamp,
    ) -> Option<KillScope> {
        // From narrow to wide: `find` below takes the first that is full.
        let scopes = [
            KillScope::Account(target.account.clone()),
            KillScope::Action(target.action.clone()),
            KillScope::Platform(target.platform.clone()),
        ];
        let full = scopes
            .each_ref()
            .map(|scope| self.add(scope, CountedCall { at, failed }));
        let tripped = scopes.iter().zip(full).find(|(_, full)| *full);
        let tripped = tripped.map(|(scope, _)| scope.clone())?;
        for scope in scopes {
            self.seen.remove(&scope);
        }
        Some(tripped)
    }

    /// True if there are too many errors now.
    fn add(&mut self, scope: &KillScope, call: CountedCall) -> bool {
        if !self.seen.contains_key(scope) {
            self.make_room();
        }
        let TripWindow {
            errors_max,
            of,
            per,
        } = self.window;
        let calls = self.seen.entry(scope.clone()).or_default();
        calls.push_back(call);
        // By age first, then by count: old calls must not push recent ones out of the window.
        calls.retain(|old| call.at.since(old.at) <= per);
        while calls.len() > of as usize {
            calls.pop_front();
        }
        let errors = calls.iter().filter(|call| call.failed).count();
        // Only a failure can trip: a success that follows must not throw a switch again that was just lifted.
        call.failed && errors >= errors_max.max(1) as usize
    }

    fn make_room(&mut self) {
        if self.seen.len() < SCOPES_MAX {
            return;
        }
        let last = |calls: &VecDeque<CountedCall>| calls.back().map(|call| call.at);
        let quiet = self.seen.iter().min_by_key(|(_, calls)| last(calls));
        if let Some(quiet) = quiet.map(|(scope, _)| scope.clone()) {
            self.seen.remove(&quiet);
        }
    }
}
