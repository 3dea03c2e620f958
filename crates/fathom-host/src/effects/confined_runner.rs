//! Programs that a charter lists, run where they can do no harm.

use std::path::{Path, PathBuf};

use fathom_core::unit::Millis;
use fathom_sandbox::WorkerCommand;
use fathom_sandbox::confined_program::{
    self, ConfinedLimits, ConfinedProgram, ProgramEnd, ProgramOutput,
};
use fathom_tools::ToolFuture;
use fathom_tools::program::{ProgramCall, ProgramExit, ProgramRunner};

/// Runs programs in one folder of the home.
pub(crate) struct ConfinedRunner {
    pub(crate) worker: WorkerCommand,
    pub(crate) folder: PathBuf,
}

impl ProgramRunner for ConfinedRunner {
    fn run(&self, invocation: ProgramCall) -> ToolFuture<'_, ProgramExit> {
        Box::pin(async move {
            if let Err(error) = std::fs::create_dir_all(&self.folder) {
                return ProgramExit::NotStarted {
                    cause: error.to_string(),
                };
            }
            let program = Path::new(&invocation.program);
            // The charter that lists the program is the list.
            let allowed = [program.to_owned()];
            let time = u64::try_from(invocation.timeout.as_millis()).unwrap_or(u64::MAX);
            let confined = ConfinedProgram {
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
            match confined_program::run(&confined).await {
                Ok(output) => match output.ended {
                    ProgramEnd::Code(code) => ProgramExit::Ended {
                        code,
                        output: text(&output.stdout, &output.stderr),
                    },
                    ProgramEnd::Signal(signal) => ProgramExit::Stopped {
                        cause: format!("killed by signal {signal}"),
                    },
                    ProgramEnd::TimeUp => ProgramExit::Stopped {
                        cause: "time limit exceeded".to_owned(),
                    },
                },
                Err(error) => ProgramExit::NotStarted {
                    cause: error.to_string(),
                },
            }
        })
    }
}

fn text(stdout: &ProgramOutput, stderr: &ProgramOutput) -> String {
    let mut all = String::from_utf8_lossy(&stdout.kept).into_owned();
    if stderr.bytes > 0 {
        all.push_str("\n--- stderr\n");
        all.push_str(&String::from_utf8_lossy(&stderr.kept));
    }
    all
}
