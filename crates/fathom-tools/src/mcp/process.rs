//! Process of a tool server: only named variables in its environment, and its whole process group ends with its
//! owner.

use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::secret::{PlatformKey, PlatformSecrets};

/// Reasons why a server's process did not start.
#[derive(Debug, thiserror::Error)]
pub(super) enum StartFault {
    #[error(transparent)]
    Spawn(#[from] std::io::Error),
    #[error("it has no output")]
    NoOutput,
    #[error("it has no input")]
    NoInput,
}

/// A process that is killed with everything it started when this is dropped.
pub(super) struct McpProcess {
    /// Kept for reaping.
    _child: Child,
    group: Option<Pid>,
}

impl Drop for McpProcess {
    fn drop(&mut self) {
        if let Some(group) = self.group {
            // An error means that it has ended already.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// Starts a program and returns its output and input.
#[expect(
    clippy::disallowed_methods,
    reason = "this is where tool servers start: a program that the charter names, in a group that ends with its owner"
)]
pub(super) fn start(
    program: &str,
    args: &[String],
    env: &[String],
    secrets: &dyn PlatformSecrets,
) -> Result<(McpProcess, ChildStdout, ChildStdin), StartFault> {
    let mut command = Command::new(program);
    command
        .args(args)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        // A group of its own, so that whatever the server starts can be killed with it.
        .process_group(0)
        .kill_on_drop(true);
    for name in env {
        if let Some(value) = secrets.secret(name) {
            command.env(name, PlatformKey::reveal(&value));
        }
    }
    let mut child = command.spawn()?;
    let pid = child.id().and_then(|pid| i32::try_from(pid).ok());
    let output = child.stdout.take().ok_or(StartFault::NoOutput)?;
    let input = child.stdin.take().ok_or(StartFault::NoInput)?;
    let process = McpProcess {
        _child: child,
        group: pid.and_then(Pid::from_raw),
    };
    Ok((process, output, input))
}
