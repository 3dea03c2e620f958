//! Locks this process in: it can compute, and speak over what is open, and nothing else.

use std::fs::File;
use std::io;
use std::os::unix::net::UnixStream;

use landlock::{
    ABI, Access, AccessFs, AccessNet, LandlockStatus, Ruleset, RulesetAttr, RulesetError,
    RulesetStatus, Scope,
};
use rustix::io::Errno;
use rustix::process::{
    DumpableBehavior, Resource, Rlimit, Signal, set_dumpable_behavior,
    set_parent_process_death_signal, setrlimit,
};
use serde::{Deserialize, Serialize};

use crate::syscall_filter::{self, FilterError};

/// Room beside a session's memory for what the interpreter frees late.
const MEMORY_BESIDE_BYTES: u64 = 32 << 20;

/// This process could not be locked in.
#[derive(Debug, thiserror::Error)]
pub(super) enum LockError {
    #[error(transparent)]
    Filter(#[from] FilterError),
    #[error(transparent)]
    Apply(#[from] seccompiler::Error),
    #[error(transparent)]
    Files(#[from] RulesetError),
    #[error(transparent)]
    Material(#[from] io::Error),
    #[error("this kernel has no landlock")]
    NoLandlock,
    #[error("cannot end with its host: {0}")]
    End(Errno),
    #[error("cannot limit itself: {0}")]
    Limit(Errno),
    #[error("cannot close itself: {0}")]
    Close(Errno),
    #[error("files can still be opened")]
    OpenFiles,
    #[error("sockets can still be made")]
    OpenSockets,
}

/// Locks in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LockedDown {
    /// Version of the kernel's landlock interface, where there is one.
    pub(crate) landlock: Option<u32>,
    /// Set while a filter of system calls is in force.
    pub(crate) seccomp: bool,
}

/// Denies files and ports where the kernel can. It is no failure where it cannot: the interpreter has no way out by itself.
pub(super) fn deny_files() -> Result<Option<u32>, LockError> {
    let restrict = || -> Result<_, RulesetError> {
        Ruleset::default()
            .handle_access(AccessFs::from_all(ABI::V6))?
            .handle_access(AccessNet::from_all(ABI::V6))?
            .scope(Scope::from_all(ABI::V6))?
            .create()?
            .restrict_self()
    };
    let status = restrict()?;
    Ok(match (status.ruleset, status.landlock) {
        (RulesetStatus::NotEnforced, _) => None,
        (_, LandlockStatus::Available { effective_abi, .. }) => Some(effective_abi as u32),
        (_, _) => None,
    })
}

/// Ends this process with the thread that began it, which lives as long as the host: of a host that was killed, nobody is
/// left to end a cell.
pub(super) fn end_with_host() -> Result<(), LockError> {
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(LockError::End)
}

/// Limits memory, and leaves no system call but those of computing.
pub(super) fn lock_in(used_bytes: u64, memory: u64) -> Result<bool, LockError> {
    let memory_max = used_bytes
        .saturating_add(memory)
        .saturating_add(MEMORY_BESIDE_BYTES);
    for (resource, most) in [
        (Resource::As, memory_max),
        // A dump would put the material on disk.
        (Resource::Core, 0),
        (Resource::Fsize, 0),
    ] {
        let limit = Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        setrlimit(resource, limit).map_err(LockError::Limit)?;
    }
    // Other processes of the same user can then neither trace it nor read its memory.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(LockError::Close)?;
    // As with files, it is no failure where the kernel has no filters; what is in force is told.
    let seccomp =
        syscall_filter::monty().is_ok_and(|program| seccompiler::apply_filter(&program).is_ok());
    Ok(seccomp)
}

/// Tries what must fail by now.
pub(super) fn verify(locked: LockedDown) -> Result<(), LockError> {
    let denied = |result: io::Result<()>| {
        result.is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
    };
    if (locked.landlock.is_some() || locked.seccomp) && !denied(File::open("/").map(drop)) {
        return Err(LockError::OpenFiles);
    }
    if locked.seccomp && !denied(UnixStream::pair().map(drop)) {
        return Err(LockError::OpenSockets);
    }
    Ok(())
}

#[cfg(test)]
#[path = "lockdown_tests.rs"]
mod tests;
