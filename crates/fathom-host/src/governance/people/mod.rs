//! People: their names, their rights and their decisions.
//!
//! No program, role or tool reaches this module: it works beside the runs, with decisions of the operating-system user
//! or of a key. A decision goes into the registry of approvals and to the run in one commit.

mod approval_view;
mod error;
mod roster;

use fathom_core::effect::{IdempotencyKey, KillScope};
use fathom_core::unit::Timestamp;
use fathom_store::{
    AcceptOutcome, ApprovalAnswer, ApprovalFilter, ApprovalRecord, ApprovalWord, DecideError,
    DecideOutcome, KeyOverride, KillOrder, KillRecord, LiftOutcome, OverrideOutcome, SignedWord,
    ToolPin, ToolSighting,
};

pub use self::approval_view::{ApprovalRequest, ApprovalView, TicketView};
pub use self::error::PeopleError;
pub use self::roster::{ApproverRoster, InvalidPersonError, OsUser};
use crate::error::HostError;
use crate::runtime::Runtime;

/// The person who decides about an approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Approver {
    /// The user of the operating system.
    OsUser(OsUser),
    /// The holder of a key, who signed the answer.
    Key(SignedWord),
}

/// The decision of a person about an approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalDecision {
    /// Yes or no.
    pub answer: ApprovalAnswer,
    pub person: Approver,
    /// Reason; may be empty for an approval.
    pub why: String,
}

impl Runtime {
    /// Requests to people, oldest first, with the information they need. Closes requests that no run waits for any
    /// more.
    pub fn approvals(&self, filter: ApprovalFilter) -> Result<Vec<ApprovalView>, HostError> {
        for open in self.inner.journal.approvals(ApprovalFilter::Open)? {
            self.close_stale(&open)?;
        }
        let approvals = self.inner.journal.approvals(filter)?.into_iter();
        approvals.map(|approval| self.view(approval)).collect()
    }

    /// The approval whose name is, or begins with, `prefix`.
    pub fn find_approval(&self, prefix: &str) -> Result<ApprovalRecord, HostError> {
        let prefix = prefix.trim().to_ascii_lowercase();
        let mut found = self.inner.journal.approvals(ApprovalFilter::All)?;
        found.retain(|one| !prefix.is_empty() && one.id.as_str().starts_with(&prefix));
        let count = found.len();
        match (found.pop(), count) {
            (Some(one), 1) => Ok(one),
            (Some(_), _) => Err(PeopleError::Ambiguous { prefix, count }.into()),
            (None, _) => Err(PeopleError::NoSuchApproval { prefix }.into()),
        }
    }

    /// Takes a person's word. It counts once, in time, from someone who may give it, about what is asked now.
    pub fn decide(
        &self,
        approval: &ApprovalRecord,
        said: &ApprovalDecision,
    ) -> Result<ApprovalRecord, HostError> {
        self.close_stale(approval)?;
        let by = self.check_person(approval, said)?;
        let view = self.view(approval.clone())?;
        let id = approval.id.clone();
        // A refusal needs no view: it can only prevent the effect.
        if view.asked.is_none() && approval.is_open() && said.answer == ApprovalAnswer::Yes {
            return Err(PeopleError::Unreadable { id }.into());
        }
        let word = ApprovalWord {
            answer: said.answer,
            by,
            at: self.now(),
            why: said.why.clone(),
            // Bound to the question that was shown: if it was replaced meanwhile, the journal refuses the decision.
            binding: approval.terms.binding,
            signature: match &said.person {
                Approver::OsUser(_) => None,
                Approver::Key(signed) => Some(signed.clone()),
            },
        };
        match self.inner.journal.decide_approval(&id, &word)? {
            DecideOutcome::Decided(approval) => Ok(approval),
            DecideOutcome::Unknown => Err(PeopleError::NoSuchApproval {
                prefix: id.to_string(),
            }
            .into()),
            DecideOutcome::Refused(stands, why) => Err(match why {
                DecideError::Expired => PeopleError::Expired { id },
                DecideError::OtherBinding => PeopleError::OtherQuestion { id },
                DecideError::Settled => PeopleError::Settled {
                    id,
                    state: stands.state.name(),
                },
            }
            .into()),
        }
    }

    /// The name under which a person's word is kept, when they may give it.
    fn check_person(
        &self,
        approval: &ApprovalRecord,
        said: &ApprovalDecision,
    ) -> Result<String, HostError> {
        let name = match &said.person {
            Approver::OsUser(user) => user.to_string(),
            Approver::Key(signed) => {
                let id = &approval.id;
                let is_signed = signed.says(id, &approval.terms.binding, said.answer);
                let fingerprint = signed.fingerprint().filter(|_| is_signed);
                let fingerprint =
                    fingerprint.ok_or_else(|| PeopleError::BadSignature { id: id.clone() })?;
                format!("key:{fingerprint}")
            }
        };
        let roles = &approval.terms.roles;
        if !self.may_speak(&said.person, &name, roles)? {
            return Err(PeopleError::NoRole {
                person: name,
                roles: roles.clone(),
            }
            .into());
        }
        // A no needs nobody else.
        if approval.terms.second_person && said.answer == ApprovalAnswer::Yes {
            let starter = self.info(approval.owner.run)?.started_by;
            // A run whose starter is not known could have been started by anyone, so it fails closed.
            if starter.is_none_or(|starter| starter == name) {
                let view = self.view(approval.clone())?;
                let rule = view.asked.map(|asked| asked.rule).unwrap_or_default();
                return Err(PeopleError::SecondPerson { person: name, rule }.into());
            }
        }
        Ok(name)
    }

    /// True if the person has one of `roles`, or any role if none is named. Without a roster the owner of the home has
    /// every role, and nobody else has any.
    fn may_speak(
        &self,
        person: &Approver,
        name: &str,
        roles: &[String],
    ) -> Result<bool, HostError> {
        Ok(match (&self.inner.options.people, person) {
            (Some(roster), Approver::OsUser(user)) => {
                roster.has(name, roles) || roster.has(&format!("os:{}", user.uid), roles)
            }
            (Some(roster), Approver::Key(_)) => roster.has(name, roles),
            (None, Approver::OsUser(user)) => user.uid == roster::owner_of(self.home().folder())?,
            // Without a roster a key belongs to no known person.
            (None, Approver::Key(_)) => false,
        })
    }

    /// The name of a user who may decide something here, and so may see what it is about.
    pub fn check_user(&self, user: &OsUser) -> Result<String, HostError> {
        let name = user.to_string();
        if self.may_speak(&Approver::OsUser(user.clone()), &name, &[])? {
            return Ok(name);
        }
        Err(PeopleError::NoRole {
            person: name,
            roles: Vec::new(),
        }
        .into())
    }

    /// Closes what a run asks that is over.
    fn close_stale(&self, approval: &ApprovalRecord) -> Result<(), HostError> {
        let run = approval.owner.run;
        if approval.is_open() && self.info(run)?.state.is_finished() {
            self.inner.journal.withdraw_approvals(run, self.now())?;
        }
        Ok(())
    }

    /// The kill switches that hold.
    pub fn kills(&self) -> Result<Vec<KillOrder>, HostError> {
        Ok(self.inner.journal.kills()?)
    }

    /// Every throw of the kill switch and what became of it.
    pub fn kill_record(&self) -> Result<Vec<KillRecord>, HostError> {
        Ok(self.inner.journal.kill_record()?)
    }

    /// Throws the kill switch. Anyone may.
    pub fn kill(&self, scope: KillScope, user: &OsUser, why: &str) -> Result<(), HostError> {
        // Stopping needs no role: anyone who can write to the home may stop it. Lifting needs one.
        let order = kill_order(scope, user.to_string(), self.now(), why);
        Ok(self.inner.journal.set_kill(&order)?)
    }

    /// Lifts the kill switch of a scope, in the name of a person who may decide something here.
    pub fn lift(
        &self,
        scope: KillScope,
        user: &OsUser,
        why: &str,
    ) -> Result<LiftOutcome, HostError> {
        let by = self.check_user(user)?;
        let order = kill_order(scope, by, self.now(), why);
        Ok(self.inner.journal.lift_kill(&order)?)
    }

    /// Gives leave for one more send under a key that was used.
    pub fn override_send(
        &self,
        key: &IdempotencyKey,
        user: &OsUser,
        why: &str,
    ) -> Result<(), HostError> {
        let order = KeyOverride {
            key: key.clone(),
            by: self.check_user(user)?,
            at: self.now(),
            why: why.to_owned(),
        };
        match self.inner.journal.override_claim(&order)? {
            OverrideOutcome::Recorded => Ok(()),
            OverrideOutcome::NothingHeld => Err(PeopleError::NothingSent {
                key: key.as_str().to_owned(),
            }
            .into()),
        }
    }

    /// The tools that a charter met on its servers.
    pub fn tools_met(&self, charter: &str) -> Result<Vec<ToolPin>, HostError> {
        Ok(self.inner.journal.pins(charter)?)
    }

    /// Lets a changed tool in, as it was met.
    pub fn accept_tool(
        &self,
        seen: &ToolSighting,
        user: &OsUser,
    ) -> Result<AcceptOutcome, HostError> {
        let by = self.check_user(user)?;
        let seen = ToolSighting {
            at: self.now(),
            ..seen.clone()
        };
        Ok(self.inner.journal.accept_pin(&seen, &by)?)
    }
}

fn kill_order(scope: KillScope, by: String, at: Timestamp, why: &str) -> KillOrder {
    KillOrder {
        scope,
        by,
        at,
        why: why.to_owned(),
    }
}
