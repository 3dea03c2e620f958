//! What is in force, and what a cell cannot do.

use std::time::Duration;

use fathom_core::sandbox::CellErrorKind;
use fathom_sandbox::{InterpreterChoice, InterpreterKind, Sandbox, SandboxError, SandboxOptions};
use rustix::io::{FdFlags, fcntl_setfd};
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;
use tokio::time::timeout;

use crate::conformance;
use crate::fixture::{load, printed, run, sandbox, session};

#[tokio::test]
async fn r03_it_says_what_is_in_force() {
    let isolation = sandbox().isolation().await.unwrap();
    assert_eq!(isolation.interpreter, InterpreterKind::CPython);
    assert!(isolation.version.starts_with("3."), "{isolation:?}");
    assert!(isolation.landlock.unwrap() >= 1);
    assert!(isolation.seccomp && isolation.limits);
}

#[tokio::test]
async fn r03_a_cell_reads_no_file_no_environment_and_no_network() {
    let mut session = session().await;
    for code in [
        "open('/etc/passwd')",
        "open('/proc/self/environ')",
        "import os\nos.listdir('/')",
        "import os\nos.stat('/etc/passwd')",
        "import socket\nsocket.socket()",
        "import os\nos.fork()",
        "import os\nos.execv('/bin/true', ['true'])",
        "import os\nos.kill(os.getppid(), 9)",
        "import os\nos.memfd_create('x')",
        "import os\nos.pipe()",
    ] {
        let end = run(&mut session, code).await;
        let error = end.error.unwrap_or_else(|| panic!("{code} ended well"));
        assert_eq!(error.kind, CellErrorKind::Raised, "{code}: {error:?}");
        assert!(
            error.message.as_str().contains("PermissionError"),
            "{code}: {error:?}"
        );
    }
    assert_eq!(
        printed(&mut session, "import os\nsorted(os.environ)").await,
        "[]\n"
    );
}

#[tokio::test]
async fn r03_a_python_that_does_not_hold_is_refused_with_the_reason() {
    for python in ["/bin/true", "/nowhere/python3"] {
        let sandbox = Sandbox::new(SandboxOptions {
            python: Some(python.into()),
            interpreter: InterpreterChoice::CPython,
            ..SandboxOptions::default()
        });
        let error = sandbox.isolation().await.unwrap_err();
        let SandboxError::Refused {
            interpreter,
            reason,
        } = &error
        else {
            panic!("{error:?}");
        };
        assert_eq!(*interpreter, "CPython");
        assert!(reason.contains(python), "{reason}");
    }
    let none = Sandbox::new(SandboxOptions {
        search: Vec::new(),
        ..SandboxOptions::default()
    });
    let error = none.isolation().await.unwrap_err();
    assert_eq!(error.code(), "F0801");
    assert!(error.to_string().contains("no Python was found"), "{error}");
}

#[tokio::test]
async fn r03_monty_gets_no_descriptor_that_the_host_was_begun_with() {
    let (writer, mut reader) = pipe::pipe().unwrap();
    fcntl_setfd(&writer, FdFlags::empty()).unwrap();
    let sandbox = conformance::sandbox(InterpreterChoice::Monty);
    let context = load(&sandbox, "x").await;
    let mut session = sandbox.session(&context, Vec::new());
    assert_eq!(printed(&mut session, "print(1)").await, "1\n");
    drop(writer);
    // The end comes when nobody holds the other side any more, and the worker still lives.
    let end = timeout(Duration::from_secs(30), reader.read(&mut [0])).await;
    assert_eq!(end.expect("the worker holds it").unwrap(), 0);
    assert_eq!(printed(&mut session, "print(2)").await, "2\n");
}
