//! A worker for tests; the product's own binary begins it on a hidden argument.

use std::process::ExitCode;

fn main() -> ExitCode {
    fathom_sandbox::worker::main()
}
