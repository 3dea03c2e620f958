//! Programs that a charter lists, run where they can do no harm.

use std::path::{Path, PathBuf};

use fathom_core::unit::Millis;
use fathom_sandbox::WorkerCommand;
use fathom_sandbox::confined::{self, Confined, ConfinedLimits, Ended, Written};
use fathom_tools::Answer;
use fathom_tools::shell::{Invocation, Ran, Runner};

/// Runs programs in one folder of the home.
pub(crate) struct Confining {
    pub(crate) worker: WorkerCommand,
    pub(crate) folder: PathBuf,
}

impl Runner for Confining {
    fn run(&self, invocation: Invocation) -> Answer<'_, Ran> {
        Box::pin(async move {
            if let Err(error) = std::fs::create_dir_all(&self.folder) {
                return Ran::NotStarted {
                    cause: error.to_string(),
                };
            }
            let program = Path::new(&invocation.program);
            // The charter that lists the program is the list.
            let allowed = [program.to_owned()];
            let time = u64::try_from(invocation.timeout.as_millis()).unwrap_or(u64::MAX);
            let confined = Confined {
                worker: &self.worker,
                allowed: &allowed,
                program,
                arguments: &invocation.args,
                folder: &self.folder,
                limits: ConfinedLimits {
                    time: Millis(time),
                    ..ConfinedLimits::default()
                },
            };
            match confined::run(&confined).await {
                Ok(output) => match output.ended {
                    Ended::Code(code) => Ran::Ended {
                        code,
                        output: text(&output.stdout, &output.stderr),
                    },
                    Ended::Signal(signal) => Ran::Stopped {
                        cause: format!("killed by signal {signal}"),
                    },
                    Ended::TimeUp => Ran::Stopped {
                        cause: "time limit exceeded".to_owned(),
                    },
                },
                Err(error) => Ran::NotStarted {
                    cause: error.to_string(),
                },
            }
        })
    }
}

fn text(stdout: &Written, stderr: &Written) -> String {
    let mut all = String::from_utf8_lossy(&stdout.kept).into_owned();
    if stderr.bytes > 0 {
        all.push_str("\n--- stderr\n");
        all.push_str(&String::from_utf8_lossy(&stderr.kept));
    }
    all
}
