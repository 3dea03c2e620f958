//! Making a proposal the charter.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::symlink;
use std::path::{Path as FilePath, PathBuf};

use fathom_core::council_bus::MotionRuling;
use fathom_store::{ApproverKey, NewAct};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde::{Deserialize, Serialize};

use super::propose::MERGED;
use super::{CharterProposal, MergeRecord, ProposalTexts, RfcError, RfcStore, digest_of};
use crate::charter::{Charter, charter_files};
use crate::error::HostError;
use crate::governance::identity::{IdentityChangePath, IdentityError};
use crate::governance::people::OsUser;
use crate::governance::rfc::diff::VersionBump;
use crate::runtime::Runtime;

/// Prefix of the message that creator and Prime sign in an emergency.
const EMERGENCY_TAG: &[u8] = b"fathom/rfc-emergency/1";

/// By whose word a proposal is merged.
#[derive(Clone, Copy, Debug)]
pub enum MergeAuthority<'a> {
    /// By reviews and votes.
    Voted,
    /// By the creator and Prime, for a reason.
    Emergency {
        /// The creator's key.
        creator: &'a ApproverKey,
        /// Prime's key.
        prime: &'a ApproverKey,
        /// Reason for the emergency.
        reason: &'a str,
    },
}

/// An emergency as it is written down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmergencyMerge {
    /// Reason for the emergency.
    pub reason: String,
    /// The creator's signature.
    pub creator: String,
    /// Prime's signature.
    pub prime: String,
}

impl Runtime {
    /// Makes a proposal the charter: all of it at once, and what was there is kept beside it.
    pub fn merge(&self, rfc: &RfcStore, merge: MergeAuthority<'_>) -> Result<RfcStore, HostError> {
        let id = rfc.id.clone();
        let record = self.inner.home.open_governance()?;
        // Somebody may have merged it since it was looked at.
        let rfc = &self.rfc_in(&record, &id)?;
        if rfc.merged.is_some() {
            return Err(RfcError::Merged { id }.into());
        }
        let emergency = match merge {
            MergeAuthority::Voted => {
                check_vote(rfc)?;
                None
            }
            MergeAuthority::Emergency {
                creator,
                prime,
                reason,
            } => Some(self.emergency(rfc, creator, prime, reason)?),
        };
        let charter = Charter::of_texts(&rfc.proposal.charter, &rfc.proposal.files)?;
        let path = self.check_identity(rfc, &charter, emergency.as_ref())?;
        // The folder before the record: a crash between them is recognised by the digest and only the record is written
        // again.
        let kept = put_in_place(&rfc.proposal)?;
        if let Some(path) = path {
            let reason = emergency
                .as_ref()
                .map(|emergency| emergency.reason.as_str());
            self.identity_changed(&record, &charter, path, reason)?;
        }
        let merged = MergeRecord {
            at: self.now(),
            by: OsUser::current().to_string(),
            path,
            kept,
            emergency,
        };
        let body = serde_json::to_string(&merged).unwrap_or_default();
        record.add(NewAct {
            at: merged.at,
            subject: &rfc.id,
            kind: MERGED,
            by: &merged.by,
            body: &body,
        })?;
        self.rfc_in(&record, &rfc.id)
    }

    fn emergency(
        &self,
        rfc: &RfcStore,
        creator: &ApproverKey,
        prime: &ApproverKey,
        reason: &str,
    ) -> Result<EmergencyMerge, HostError> {
        let proposal = &rfc.proposal;
        self.creator()?;
        self.check_creator(&proposal.charter, &creator.public())?;
        self.check_prime(prime)?;
        let no = |why: String| Err(RfcError::NoPatch { why }.into());
        if reason.trim().is_empty() {
            return no("no reason given".to_owned());
        }
        // An emergency needs no vote, so it may only be as small as a patch.
        let needed = VersionBump::Patch.after(proposal.from);
        if proposal.to != needed {
            return no(format!(
                "it changes the version from {} to {} instead of {needed}",
                proposal.from, proposal.to
            ));
        }
        let mut wide = proposal.changes.iter();
        if let Some(wide) =
            wide.find(|change| change.bump > VersionBump::Patch && !change.is_of_identity())
        {
            return no(format!(
                "`{}` of {} is a {} change",
                wide.key, wide.file, wide.bump
            ));
        }
        let digest = proposal.digest();
        let message = [EMERGENCY_TAG, &digest.0, reason.as_bytes()].concat();
        Ok(EmergencyMerge {
            reason: reason.to_owned(),
            creator: creator.sign_message(&message),
            prime: prime.sign_message(&message),
        })
    }

    /// The way by which the identity changes, if it does: the creator must have signed it, and the stack must be stable
    /// unless it is an emergency.
    fn check_identity(
        &self,
        rfc: &RfcStore,
        charter: &Charter,
        emergency: Option<&EmergencyMerge>,
    ) -> Result<Option<IdentityChangePath>, HostError> {
        let proposal = &rfc.proposal;
        if !proposal.changes_identity() {
            return Ok(None);
        }
        self.admit_proposed(charter)?;
        if emergency.is_some() {
            return Ok(Some(IdentityChangePath::Emergency));
        }
        if let Some(why) = self.stability()?.steadiness()?.broken {
            return Err(IdentityError::NotStable { why }.into());
        }
        let (from, to) = (proposal.from, proposal.to);
        let (bump, needed) = (proposal.bump, proposal.bump.after(from));
        if to < needed {
            return Err(RfcError::Version {
                from,
                to,
                bump,
                needed,
            }
            .into());
        }
        Ok(Some(IdentityChangePath::Session))
    }
}

/// Puts the files in place, and tells where the old ones are.
fn put_in_place(proposal: &CharterProposal) -> Result<PathBuf, HostError> {
    let id = proposal.id();
    let folder = &proposal.folder;
    // Names come out of the record, which another process may have written: none may lead out of the folder.
    if !proposal.files.keys().all(|name| is_inside(name)) {
        return Err(RfcError::Damaged { id }.into());
    }
    let kept = proposal.kept();
    let files = charter_files(folder)?;
    let now = digest_of(&files);
    // A crash came between the exchange and its record.
    if now == digest_of(&proposal.files) && kept.is_dir() {
        return Ok(kept);
    }
    // Votes were about a change of that text; anything edited since would be lost unseen.
    if now != proposal.base {
        let charter = proposal.charter.clone();
        return Err(RfcError::BaseChanged { charter, id }.into());
    }
    let whole = || {
        // What a crash left of an earlier try.
        if kept.is_dir() {
            fs::remove_dir_all(&kept)?;
        }
        write_beside(proposal, &files, &kept)?;
        exchange(&kept, folder)
    };
    whole().map_err(|source| RfcError::Folder {
        folder: folder.clone(),
        source,
    })?;
    Ok(kept)
}

fn check_vote(rfc: &RfcStore) -> Result<(), RfcError> {
    let id = rfc.id.clone();
    let missing = rfc.unreviewed();
    if !missing.is_empty() {
        return Err(RfcError::NotReviewed { id, missing });
    }
    match rfc.outcome.ruling {
        MotionRuling::Carried { .. } => Ok(()),
        MotionRuling::Defeated { .. } | MotionRuling::ForPerson { .. } => {
            let outcome = Box::new(rfc.outcome.clone());
            Err(RfcError::NotCarried { id, outcome })
        }
    }
}

/// True if the file name stays in its folder.
fn is_inside(name: &str) -> bool {
    name.split('/')
        .all(|part| !part.is_empty() && !part.starts_with('.'))
}

/// Writes the new folder beside the old one. What belongs to no charter, as a README or `.git`, comes along.
fn write_beside(
    proposal: &CharterProposal,
    old: &ProposalTexts,
    beside: &FilePath,
) -> io::Result<()> {
    fs::create_dir(beside)?;
    let owned: Vec<&str> = old
        .keys()
        .chain(proposal.files.keys())
        .map(String::as_str)
        .collect();
    bring_along(&proposal.folder, beside, "", &owned)?;
    for (name, text) in &proposal.files {
        let file = beside.join(name);
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut file = fs::File::create(file)?;
        file.write_all(text.as_bytes())?;
        // Synced before the exchange, which must not put names of unwritten files in place.
        file.sync_all()?;
    }
    // The entries of the folder are data of the folder, not of its files.
    fs::File::open(beside)?.sync_all()
}

/// Copies what is not owned by the charter, links as links. `within` is where `from` lies, with a slash at its end.
fn bring_along(from: &FilePath, to: &FilePath, within: &str, owned: &[&str]) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (old, new) = (entry.path(), to.join(entry.file_name()));
        let name = format!("{within}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type()?;
        // A link to a folder of the charter's is the charter's, too: nothing is written through it.
        let is_owned = owned.iter().any(|path| {
            let rest = path.strip_prefix(name.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        });
        if kind.is_dir() {
            fs::create_dir(&new)?;
            bring_along(&old, &new, &format!("{name}/"), owned)?;
        } else if kind.is_symlink() && !is_owned {
            symlink(fs::read_link(&old)?, &new)?;
        } else if kind.is_file() && !is_owned {
            fs::copy(&old, &new)?;
        }
    }
    Ok(())
}

/// Lets two folders change places, at once. A file system that cannot do so moves one after the other.
fn exchange(new: &FilePath, old: &FilePath) -> io::Result<()> {
    match renameat_with(CWD, new, CWD, old, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(()),
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS | rustix::io::Errno::XDEV) => {
            // Some filesystems cannot exchange. A crash between these renames leaves the charter under another name,
            // but never half of one.
            let between = new.with_extension("moving");
            fs::rename(old, &between)?;
            fs::rename(new, old)?;
            fs::rename(&between, new)
        }
        Err(errno) => Err(errno.into()),
    }
}
