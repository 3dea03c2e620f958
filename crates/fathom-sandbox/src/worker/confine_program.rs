//! Becomes a program that can read the system's own files, write in one folder, and reach nothing else.

use std::fs::File;
use std::io;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetError, RulesetStatus, Scope, make_bitflags, path_beneath_rules,
};
use rustix::process::{Resource, Rlimit, setrlimit};
use serde::{Deserialize, Serialize};

use super::lockdown::LockError;
use crate::syscall_filter;

/// Paths that programs need to start and to work. There is no `/proc`, `/home` or `/tmp`, and nothing of `/etc` that tells of
/// people.
const READ_ONLY: [&str; 10] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/etc/ld.so.cache",
    "/etc/alternatives",
    "/etc/localtime",
    "/dev/urandom",
];

/// Devices that discard what is written to them.
const SINKS: [&str; 2] = ["/dev/null", "/dev/zero"];

/// Most files that are open at a time.
const FILES_MAX: u64 = 256;

/// Most threads and processes of the user that the program runs as, as it sees them.
const THREADS_MAX: u64 = 8_192;

/// The program to become.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ConfineJob {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    /// The only folder that can be written to.
    pub(crate) folder: PathBuf,
    /// Most bytes of memory of a process.
    pub(crate) memory: u64,
    /// Most seconds that a process may compute.
    pub(crate) seconds: u64,
    /// Most bytes of a file that is written.
    pub(crate) file: u64,
}

/// Becomes the program. It comes back only when it cannot, with the reason.
pub(super) fn become_program(job: &ConfineJob) -> String {
    let mut command = command(job);
    match lock_in(job) {
        Ok(()) => format!("it cannot be started: {}", command.exec()),
        Err(error) => error.to_string(),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the place where the sandbox becomes a program that people allowed"
)]
fn command(job: &ConfineJob) -> Command {
    let mut command = Command::new(&job.program);
    command
        .args(&job.arguments)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("LANG", "C.UTF-8")
        .env("HOME", &job.folder)
        .env("TMPDIR", &job.folder)
        .current_dir(&job.folder)
        .stdin(Stdio::null());
    command
}

fn lock_in(job: &ConfineJob) -> Result<(), LockError> {
    // Whatever else is open here would be open in the program, too.
    close_fds::set_fds_cloexec(3, &[]);
    let filters = syscall_filter::confined(std::process::id())?;
    deny_files(job)?;
    limit(job)?;
    // Last, because they deny setting limits.
    for program in &filters {
        seccompiler::apply_filter(program)?;
    }
    verify()
}

fn deny_files(job: &ConfineJob) -> Result<(), LockError> {
    let read = AccessFs::from_read(ABI::V6);
    let look = make_bitflags!(AccessFs::{ReadFile | ReadDir});
    // Neither to execute what was written, nor to make devices.
    let write: BitFlags<AccessFs> = look
        | make_bitflags!(AccessFs::{
            WriteFile | Truncate | RemoveFile | RemoveDir | MakeReg | MakeDir | MakeSym | MakeFifo | Refer
        });
    let sink = make_bitflags!(AccessFs::{ReadFile | WriteFile});
    let restrict = || -> Result<_, RulesetError> {
        Ruleset::default()
            .handle_access(AccessFs::from_all(ABI::V6))?
            .handle_access(AccessNet::from_all(ABI::V6))?
            .scope(Scope::from_all(ABI::V6))?
            .create()?
            .add_rules(path_beneath_rules(READ_ONLY, read))?
            .add_rules(path_beneath_rules([&job.program], read))?
            .add_rules(path_beneath_rules(SINKS, sink))?
            .add_rules(path_beneath_rules([&job.folder], write))?
            .restrict_self()
    };
    let status = restrict()?;
    if status.ruleset == RulesetStatus::NotEnforced {
        return Err(LockError::NoLandlock);
    }
    Ok(())
}

fn limit(job: &ConfineJob) -> Result<(), LockError> {
    for (resource, most) in [
        (Resource::As, job.memory),
        (Resource::Cpu, job.seconds),
        (Resource::Fsize, job.file),
        (Resource::Core, 0),
        (Resource::Nofile, FILES_MAX),
        (Resource::Nproc, THREADS_MAX),
    ] {
        let limit = Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        setrlimit(resource, limit).map_err(LockError::Limit)?;
    }
    Ok(())
}

/// Tries what must fail by now.
fn verify() -> Result<(), LockError> {
    let denied = |result: io::Result<()>| {
        result.is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
    };
    if !denied(File::open(Path::new("/")).map(drop)) {
        return Err(LockError::OpenFiles);
    }
    if !denied(UnixStream::pair().map(drop)) {
        return Err(LockError::OpenSockets);
    }
    Ok(())
}
