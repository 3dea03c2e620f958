//! Windows of errors that trip the kill switch.

use std::collections::{BTreeMap, VecDeque};

use fathom_core::effect::{KillScope, Target};
use fathom_core::unit::{Millis, Timestamp};

/// Most accounts, actions and platforms that are watched at a time; the one that was quiet for longest is forgotten first.
pub const SCOPES_MAX: usize = 1_024;

/// How many errors are too many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// So many errors trip.
    pub errors_max: u32,
    /// Among the last so many calls.
    pub of: u32,
    /// That lie no further back than this.
    pub per: Millis,
}

/// Watches calls by account, action and platform.
#[derive(Clone, Debug)]
pub struct Trips {
    window: Window,
    seen: BTreeMap<KillScope, VecDeque<Call>>,
}

#[derive(Clone, Copy, Debug)]
struct Call {
    at: Timestamp,
    failed: bool,
}

impl Trips {
    /// Has seen nothing yet.
    pub const fn new(window: Window) -> Self {
        Self {
            window,
            seen: BTreeMap::new(),
        }
    }

    /// Notes how a call ended. Gives the narrowest scope that has had too many errors; its calls are forgotten with it, so
    /// that they count neither against what is wider nor after a person lifted the switch.
    pub fn note(&mut self, target: &Target, failed: bool, at: Timestamp) -> Option<KillScope> {
        let scopes = [
            KillScope::Account(target.account.clone()),
            KillScope::Action(target.action.clone()),
            KillScope::Platform(target.platform.clone()),
        ];
        let full = scopes
            .each_ref()
            .map(|scope| self.add(scope, Call { at, failed }));
        let tripped = scopes.iter().zip(full).find(|(_, full)| *full);
        let tripped = tripped.map(|(scope, _)| scope.clone())?;
        for scope in scopes {
            self.seen.remove(&scope);
        }
        Some(tripped)
    }

    /// Whether there are too many errors now.
    fn add(&mut self, scope: &KillScope, call: Call) -> bool {
        if !self.seen.contains_key(scope) {
            self.make_room();
        }
        let Window {
            errors_max,
            of,
            per,
        } = self.window;
        let calls = self.seen.entry(scope.clone()).or_default();
        calls.push_back(call);
        calls.retain(|old| call.at.since(old.at) <= per);
        while calls.len() > of as usize {
            calls.pop_front();
        }
        let errors = calls.iter().filter(|call| call.failed).count();
        call.failed && errors >= errors_max.max(1) as usize
    }

    fn make_room(&mut self) {
        if self.seen.len() < SCOPES_MAX {
            return;
        }
        let last = |calls: &VecDeque<Call>| calls.back().map(|call| call.at);
        let quiet = self.seen.iter().min_by_key(|(_, calls)| last(calls));
        if let Some(quiet) = quiet.map(|(scope, _)| scope.clone()) {
            self.seen.remove(&quiet);
        }
    }
}
