//! A server's process: no environment but what was named, and the end of its whole group with its owner.

use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::secret::{Secret, Secrets};

/// A process that ends, with all that it started, when this goes.
pub(super) struct Process {
    /// Kept to be reaped.
    _child: Child,
    group: Option<Pid>,
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(group) = self.group {
            // An error means that it is gone already.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// Starts a program and gives its output and its input.
#[expect(
    clippy::disallowed_methods,
    reason = "this is where tool servers start: a program that the charter names, in a group that ends with its owner"
)]
pub(super) fn start(
    program: &str,
    args: &[String],
    env: &[String],
    secrets: &dyn Secrets,
) -> Result<(Process, ChildStdout, ChildStdin), String> {
    let mut command = Command::new(program);
    command
        .args(args)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .kill_on_drop(true);
    for name in env {
        if let Some(value) = secrets.secret(name) {
            command.env(name, Secret::reveal(&value));
        }
    }
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let pid = child.id().and_then(|pid| i32::try_from(pid).ok());
    let output = child.stdout.take().ok_or("it has no output")?;
    let input = child.stdin.take().ok_or("it has no input")?;
    let process = Process {
        _child: child,
        group: pid.and_then(Pid::from_raw),
    };
    Ok((process, output, input))
}
