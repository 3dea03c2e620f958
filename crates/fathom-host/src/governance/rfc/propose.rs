//! Making proposals and looking at them.

use std::path::Path as FilePath;

use fathom_core::council_bus::{CouncilRole, Envelope, MessageType};
use fathom_core::packet::PacketRisk;
use fathom_core::text::Text;
use fathom_store::{ApproverKey, GovernanceAct, GovernanceStore, NewAct};

use super::statements::{assembly, heard, message_id};
use super::{CharterProposal, MergeRecord, ProposalTexts, RfcError, RfcStore, diff, digest_of};
use crate::charter::{Charter, IDENTITY_FILE, IdentitySignatureText, charter_files};
use crate::error::HostError;
use crate::governance::identity::{IdentityError, signature, signed_text};
use crate::governance::people::OsUser;
use crate::runtime::Runtime;

/// Name of acts about proposals.
pub(super) const PROPOSED: &str = "proposed";
pub(super) const REVIEWED: &str = "reviewed";
pub(super) const VOTED: &str = "voted";
pub(super) const MERGED: &str = "merged";

impl Runtime {
    /// Proposes that the charter in `onto` become what the folder `changed` says.
    pub fn propose(
        &self,
        changed: &FilePath,
        onto: &FilePath,
        why: &str,
    ) -> Result<RfcStore, HostError> {
        let old = Charter::load(onto, &|_| 0)?;
        let new = Charter::load(changed, &|_| 0)?;
        let files = charter_files(changed)?;
        self.make_proposal(&old, &new, files, why)
    }

    /// Proposes a change of the identity for a governance session: the creator signs what is proposed, and the folder
    /// `changed` stays as it is.
    pub fn propose_identity(
        &self,
        changed: &FilePath,
        onto: &FilePath,
        creator: &ApproverKey,
        why: &str,
    ) -> Result<RfcStore, HostError> {
        let old = Charter::load(onto, &|_| 0)?;
        let (mut new, text) = Charter::without_signature(changed)?;
        if signature::fingerprint(&old.identity) == signature::fingerprint(&new.identity) {
            return Err(IdentityError::Unchanged { charter: new.name }.into());
        }
        self.check_creator(&new.name, &creator.public())?;
        let signature: IdentitySignatureText = signature::sign(&new.name, &new.identity, creator);
        let mut files = charter_files(changed)?;
        files.insert(IDENTITY_FILE.to_owned(), signed_text(&text, &signature));
        new.identity.signature = Some(signature);
        self.make_proposal(&old, &new, files, why)
    }

    fn make_proposal(
        &self,
        old: &Charter,
        new: &Charter,
        files: ProposalTexts,
        why: &str,
    ) -> Result<RfcStore, HostError> {
        let folder = old.folder.clone().ok_or_else(|| IdentityError::BuiltIn {
            charter: old.name.clone(),
        })?;
        let charter = old.name.clone();
        if new.name != charter {
            let said = new.name.clone();
            return Err(RfcError::OtherCharter { charter, said }.into());
        }
        let base = charter_files(&folder)?;
        let changes = diff::between(old, new);
        if changes.is_empty() {
            return Err(RfcError::NothingChanged { charter }.into());
        }
        let bump = diff::bump(&changes);
        let (from, to) = (old.version, new.version);
        let proposal = CharterProposal {
            at: self.now(),
            charter,
            folder,
            from,
            to,
            base: digest_of(&base),
            files,
            changes,
            bump,
            why: why.to_owned(),
        };
        // An emergency is the one change whose version moves by a patch whatever it says.
        let needed = bump.after(from);
        let is_patch = to == diff::VersionBump::Patch.after(from);
        if to < needed && !(is_patch && proposal.changes_identity()) {
            return Err(RfcError::Version {
                from,
                to,
                bump,
                needed,
            }
            .into());
        }
        if proposal.changes_identity() {
            self.admit_proposed(new)?;
        }
        let record = self.inner.home.open_governance()?;
        let body = serde_json::to_string(&proposal).unwrap_or_default();
        let id = proposal.id();
        record.add(NewAct {
            at: proposal.at,
            subject: &id,
            kind: PROPOSED,
            by: &OsUser::current().to_string(),
            body: &body,
        })?;
        self.rfc_in(&record, &id)
    }

    /// All proposals, the oldest first.
    pub fn rfcs(&self) -> Result<Vec<RfcStore>, HostError> {
        let Some(record) = self.inner.home.governance_if_there()? else {
            return Ok(Vec::new());
        };
        let made = record.of_kind(PROPOSED)?.into_iter();
        made.map(|act| self.rfc_in(&record, &act.subject)).collect()
    }

    /// The proposal whose name is, or begins with, `prefix`.
    pub fn find_rfc(&self, prefix: &str) -> Result<RfcStore, HostError> {
        let prefix = prefix.trim().to_ascii_lowercase();
        let none = || RfcError::NoSuchRfc {
            prefix: prefix.clone(),
        };
        let record = self.inner.home.governance_if_there()?.ok_or_else(none)?;
        let mut made = record.of_kind(PROPOSED)?;
        made.retain(|act| !prefix.is_empty() && act.subject.starts_with(&prefix));
        let count = made.len();
        match (made.pop(), count) {
            (Some(act), 1) => self.rfc_in(&record, &act.subject),
            (Some(_), _) => Err(RfcError::Ambiguous { prefix, count }.into()),
            (None, _) => Err(none().into()),
        }
    }

    /// A proposal with its reviews and votes.
    pub(super) fn rfc_in(&self, record: &GovernanceStore, id: &str) -> Result<RfcStore, HostError> {
        let damaged = || RfcError::Damaged { id: id.to_owned() };
        let acts = record.about(id)?;
        let made = acts.iter().find(|act| act.kind == PROPOSED);
        let made = made.ok_or_else(damaged)?;
        let proposal: CharterProposal = serde_json::from_str(&made.body).map_err(|_| damaged())?;
        if proposal.id() != id || proposal.is_misread() {
            return Err(damaged().into());
        }
        let trust = &self.inner.options.identity;
        let mut rfc = RfcStore {
            id: id.to_owned(),
            by: made.by.clone(),
            reviews: Vec::new(),
            votes: Vec::new(),
            outcome: empty_outcome(&proposal, trust)?,
            ignored: 0,
            merged: merged(&acts).map_err(|_| damaged())?,
            proposal,
        };
        let mut assembly = assembly(trust);
        let opened = opening(&rfc.proposal)?;
        // The opening is made here from the proposal, so it is valid; only statements of people may be refused.
        let _ = assembly.take(&opened, opened.timestamp);
        for act in acts
            .iter()
            .filter(|act| [REVIEWED, VOTED].contains(&act.kind.as_str()))
        {
            let Some((envelope, spoken)) = heard(act, &rfc.proposal, trust) else {
                // Counted, not refused: one bad line in the record must not make every proposal unreadable.
                rfc.ignored += 1;
                continue;
            };
            if act.kind == REVIEWED {
                // The first review of a role counts: a later one must not change what others voted on.
                if rfc.reviews.iter().all(|review| review.role != spoken.role) {
                    rfc.reviews.push(spoken);
                }
            } else if assembly.take(&envelope, act.at).is_ok() {
                rfc.votes.push(spoken);
            } else {
                rfc.ignored += 1;
            }
        }
        if let Some(outcome) = assembly.close(opened.msg_id) {
            rfc.outcome = outcome.clone();
        }
        Ok(rfc)
    }
}

/// State of the votes before the first one.
fn empty_outcome(
    proposal: &CharterProposal,
    trust: &crate::governance::identity::TrustConfig,
) -> Result<fathom_core::council_bus::MotionOutcome, HostError> {
    let mut assembly = assembly(trust);
    let opened = opening(proposal)?;
    let _ = assembly.take(&opened, opened.timestamp);
    let outcome = assembly.close(opened.msg_id).cloned();
    let id = proposal.id();
    Ok(outcome.ok_or(RfcError::Damaged { id })?)
}

/// The merge of a proposal, if there was one. One that cannot be read is an error: skipped, it could be merged again.
fn merged(acts: &[GovernanceAct]) -> Result<Option<MergeRecord>, serde_json::Error> {
    let act = acts.iter().find(|act| act.kind == MERGED);
    act.map(|act| serde_json::from_str(&act.body)).transpose()
}

/// The proposal as a message of the protocol. A person puts it before the council, whose chair is Prime's.
pub(super) fn opening(proposal: &CharterProposal) -> Result<Envelope, HostError> {
    let id = proposal.id();
    Ok(Envelope {
        msg_id: message_id(&id).ok_or(RfcError::Damaged { id: id.clone() })?,
        parent_id: None,
        timestamp: proposal.at,
        sender: "rfc".to_owned(),
        role: CouncilRole::Prime,
        kind: MessageType::Proposal,
        confidence: None,
        risk_level: if proposal.changes_identity() {
            PacketRisk::High
        } else {
            PacketRisk::Low
        },
        content: Text::new(format!(
            "{} {} → {}",
            proposal.charter, proposal.from, proposal.to
        )),
    })
}

#[cfg(test)]
#[path = "propose_tests.rs"]
mod tests;
