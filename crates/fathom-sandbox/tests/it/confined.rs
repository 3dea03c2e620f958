//! Programs that people allowed, with arguments that a model chose.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fathom_core::unit::Millis;
use fathom_sandbox::confined_program::{
    ARGUMENTS_BYTES_MAX, ConfinedLimits, ConfinedProgram, ProgramEnd, ProgramResult, run,
};
use fathom_sandbox::{SandboxError, WorkerCommand};
use rustix::io::{FdFlags, fcntl_setfd};
use tempfile::TempDir;
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;

const PRINTF: &str = "/usr/bin/printf";
const SHELL: &str = "/bin/sh";
const PYTHON: &str = "/usr/bin/python3";

/// Far more than any of these take; a test that hangs fails.
const PATIENCE: Duration = Duration::from_mins(1);

fn worker() -> WorkerCommand {
    WorkerCommand {
        program: env!("CARGO_BIN_EXE_fathom-sandbox-worker").into(),
        arguments: Vec::new(),
    }
}

async fn try_run(
    program: &str,
    arguments: &[&str],
    folder: &Path,
    limits: ConfinedLimits,
) -> Result<ProgramResult, SandboxError> {
    let allowed: Vec<PathBuf> = [
        PRINTF,
        PYTHON,
        SHELL,
        "/usr/bin/env",
        "/usr/bin/head",
        "/nowhere/x",
    ]
    .map(PathBuf::from)
    .to_vec();
    let arguments: Vec<String> = arguments.iter().map(|one| (*one).to_owned()).collect();
    let confined = ConfinedProgram {
        worker: &worker(),
        allowed: &allowed,
        program: Path::new(program),
        arguments: &arguments,
        folder,
        limits,
    };
    tokio::time::timeout(PATIENCE, run(&confined))
        .await
        .unwrap()
}

async fn output(program: &str, arguments: &[&str], folder: &Path) -> ProgramResult {
    let limits = ConfinedLimits::default();
    try_run(program, arguments, folder, limits).await.unwrap()
}

fn said(output: &ProgramResult) -> String {
    String::from_utf8(output.stdout.kept.clone()).unwrap()
}

/// What a piece of Python prints, which must end well.
async fn python(code: &str, folder: &Path) -> String {
    let output = output(PYTHON, &["-I", "-c", code], folder).await;
    let stderr = String::from_utf8_lossy(&output.stderr.kept).into_owned();
    assert_eq!(output.ended, ProgramEnd::Code(0), "{stderr}");
    said(&output)
}

/// Tries each expression; each must be denied.
async fn denied(prelude: &str, expressions: &[&str], folder: &Path) {
    for expression in expressions {
        let code = format!(
            "{prelude}\ntry:\n    {expression}\nexcept PermissionError:\n    print('denied')\nelse:\n    print('done')"
        );
        assert_eq!(python(&code, folder).await, "denied\n", "{expression}");
    }
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

#[tokio::test]
async fn e18_arguments_stay_plain_text() {
    let folder = folder();
    fs::write(folder.path().join("file"), "kept").unwrap();
    let hostile = [
        "rm -rf /",
        "$(rm -rf .)",
        "`rm -rf .`",
        "; rm -rf . #",
        "&& rm -rf .",
        "| cat",
        "> file",
        "one\ntwo",
        "$HOME",
        "~",
        "*",
        "'\"\\",
        "",
        "%s",
        "\u{202e}\u{7}",
    ];
    let mut arguments = vec!["%s\n--\n"];
    arguments.extend(hostile);
    let output = output(PRINTF, &arguments, folder.path()).await;
    let expected: String = hostile.iter().flat_map(|one| [*one, "\n--\n"]).collect();
    assert_eq!(output.ended, ProgramEnd::Code(0));
    assert_eq!(said(&output), expected);
    assert_eq!(
        fs::read_to_string(folder.path().join("file")).unwrap(),
        "kept"
    );
}

#[tokio::test]
async fn e18_a_program_that_is_not_on_the_list_is_refused() {
    let folder = folder();
    for program in [
        "/bin/ls",
        "sh",
        "./sh",
        "/bin/../bin/sh",
        "/bin//sh",
        "/bin/sh -c",
        "",
        "/usr/bin",
    ] {
        let limits = ConfinedLimits::default();
        let error = try_run(program, &[], folder.path(), limits)
            .await
            .unwrap_err();
        assert_eq!(error.code(), "F0809", "{program}");
    }
    let long = "x".repeat(ARGUMENTS_BYTES_MAX);
    for argument in ["\0", &long] {
        let limits = ConfinedLimits::default();
        let error = try_run(PRINTF, &[argument], folder.path(), limits)
            .await
            .unwrap_err();
        assert_eq!(error.code(), "F0809");
    }
}

#[tokio::test]
async fn e18_a_program_that_is_not_there_is_told_from_one_that_fails() {
    let folder = folder();
    let limits = ConfinedLimits::default();
    let error = try_run("/nowhere/x", &[], folder.path(), limits)
        .await
        .unwrap_err();
    assert_eq!(error.code(), "F0810");
    assert!(error.to_string().contains("cannot be started"), "{error}");
    let output = output(SHELL, &["-c", "exit 3"], folder.path()).await;
    assert_eq!(output.ended, ProgramEnd::Code(3));
}

#[tokio::test]
async fn e18_there_is_no_network_and_no_neighbour() {
    let folder = folder();
    let me = format!("os.kill({}, 0)", std::process::id());
    denied(
        "import socket, os, resource",
        &[
            "socket.socket()",
            "socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)",
            "socket.socket(socket.AF_UNIX)",
            "socket.socketpair()",
            "os.kill(os.getppid(), 9)",
            &me,
            "os.setsid()",
            "os.setpgid(0, 0)",
            "os.setpriority(os.PRIO_PROCESS, os.getppid(), 5)",
            "open('/proc/self/environ')",
            "os.chroot('.')",
            "os.sched_setaffinity(os.getppid(), {0})",
        ],
        folder.path(),
    )
    .await;
    // Its own processors it may choose.
    let own = "import os\nos.sched_setaffinity(0, os.sched_getaffinity(0))\nprint('done')";
    assert_eq!(python(own, folder.path()).await, "done\n");
    // Queues, semaphores and shared memory are known by small numbers: not even one that is there can be had.
    let queues = "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n\
                  room = ctypes.create_string_buffer(256)\n\
                  calls = dict(msgsnd=(0, room, 8, 0o4000), msgrcv=(0, room, 8, 0, 0o4000), msgctl=(0, 2, room), \
                  semop=(0, room, 1), semctl=(0, 0, 2, room), shmctl=(0, 2, room), mq_unlink=(b'/x',))\n\
                  for name, given in calls.items():\n    \
                  assert getattr(libc, name)(*given) == -1 and ctypes.get_errno() in (1, 13, 38), (name, ctypes.get_errno())\n\
                  print('denied')";
    assert_eq!(python(queues, folder.path()).await, "denied\n");
    let raised = "import resource\ntry:\n    resource.setrlimit(resource.RLIMIT_AS, (-1, -1))\n\
                  except (PermissionError, ValueError):\n    print('denied')";
    assert_eq!(python(raised, folder.path()).await, "denied\n");
}

#[tokio::test]
async fn e18_only_its_folder_can_be_written_and_little_else_read() {
    let inside = folder();
    let outside = folder();
    let secret = outside.path().join("secret");
    fs::write(&secret, "secret").unwrap();
    let before = fs::metadata(&secret).unwrap();
    std::os::unix::fs::symlink(&secret, inside.path().join("link")).unwrap();
    let prelude = format!("import os\nsecret = {secret:?}");
    denied(
        &prelude,
        &[
            "open(secret)",
            "open(secret, 'w')",
            "open(secret, 'a')",
            "open('link')",
            "open('link', 'w')",
            "open(secret + '2', 'w')",
            "os.remove(secret)",
            "os.truncate(secret, 0)",
            "os.chmod(secret, 0o777)",
            "os.chmod('.', 0o777)",
            "os.chown(secret, 1, 1)",
            "os.utime(secret, (0, 0))",
            "os.setxattr(secret, 'user.x', b'x')",
            "os.listdir('/')",
            "os.listdir(os.path.dirname(secret))",
            "open('/etc/passwd')",
            "open('/usr/new', 'w')",
            "os.mkdir('/tmp/new')",
            "open('/var/lib/dpkg/status')",
        ],
        inside.path(),
    )
    .await;
    assert_eq!(fs::read_to_string(&secret).unwrap(), "secret");
    let after = fs::metadata(&secret).unwrap();
    assert_eq!(after.modified().unwrap(), before.modified().unwrap());
    assert_eq!(after.permissions(), before.permissions());

    let wrote = "import os\nos.mkdir('a')\nopen('a/b', 'w').write('here')\nprint(open('a/b').read(), os.getcwd())";
    let here = inside.path().canonicalize().unwrap();
    let expected = format!("here {}\n", here.display());
    assert_eq!(python(wrote, inside.path()).await, expected);
    assert_eq!(fs::read_to_string(here.join("a/b")).unwrap(), "here");
}

#[tokio::test]
async fn e18_what_it_wrote_is_not_executed() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = folder();
    let script = folder.path().join("script");
    fs::write(&script, "#!/bin/sh\necho ran\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let output = output(SHELL, &["-c", "./script"], folder.path()).await;
    assert_eq!(output.ended, ProgramEnd::Code(126));
    assert_eq!(said(&output), "");
}

#[tokio::test]
async fn e18_it_inherits_nothing() {
    let folder = folder();
    let output = output("/usr/bin/env", &[], folder.path()).await;
    let here = folder.path().canonicalize().unwrap();
    let mut lines: Vec<String> = said(&output).lines().map(ToOwned::to_owned).collect();
    lines.sort_unstable();
    let here = here.display();
    assert_eq!(
        lines,
        [
            format!("HOME={here}"),
            "LANG=C.UTF-8".to_owned(),
            "PATH=/usr/bin:/bin".to_owned(),
            format!("TMPDIR={here}"),
        ]
    );

    let leaked = tempfile::tempfile().unwrap();
    fcntl_setfd(&leaked, FdFlags::empty()).unwrap();
    let open = "import os\ndef there(n):\n    try:\n        os.fstat(n)\n        return True\n    \
                except OSError:\n        return False\nprint([n for n in range(256) if there(n)])";
    assert_eq!(python(open, folder.path()).await, "[0, 1, 2]\n");
    drop(leaked);
}

#[tokio::test]
async fn e18_a_runaway_is_ended_with_all_it_started() {
    let folder = folder();
    let limits = ConfinedLimits {
        time: Millis(500),
        ..ConfinedLimits::default()
    };
    for code in [
        "while :; do :; done",
        "sleep 1000 & sleep 1000",
        "(sleep 1000 &) ; sleep 1000",
    ] {
        let output = try_run(SHELL, &["-c", code], folder.path(), limits)
            .await
            .unwrap();
        assert_eq!(output.ended, ProgramEnd::TimeUp, "{code}");
    }
    // What stays behind holds the output open: it ends too, or this would wait for it.
    for code in ["sleep 1000 & echo $0", "setsid sleep 1000 & echo $0"] {
        let output = output(SHELL, &["-c", code], folder.path()).await;
        assert_eq!(output.ended, ProgramEnd::Code(0), "{code}");
    }
}

#[tokio::test]
async fn e16_a_program_nobody_waits_for_any_more_is_ended() {
    let folder = folder();
    let fifo = folder.path().join("fifo");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &fifo,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    let mut heard = pipe::OpenOptions::new().open_receiver(&fifo).unwrap();
    let mut byte = [0];
    {
        let running = output(
            SHELL,
            &["-c", "exec > fifo; echo; sleep 1000"],
            folder.path(),
        );
        tokio::select! {
            output = running => panic!("{output:?}"),
            begun = heard.readable() => begun.unwrap(),
        }
        heard.read_exact(&mut byte).await.unwrap();
    }
    // The last one that could write is gone.
    let end = tokio::time::timeout(PATIENCE, heard.read(&mut byte)).await;
    assert_eq!(end.unwrap().unwrap(), 0);
}

#[tokio::test]
async fn e18_memory_files_and_output_have_limits() {
    let folder = folder();
    let limits = ConfinedLimits {
        memory: 256 << 20,
        file: 1_000,
        output: 1_000,
        ..ConfinedLimits::default()
    };
    let code = "try:\n    bytearray(1 << 30)\nexcept MemoryError:\n    print('too much')";
    let output = try_run(PYTHON, &["-I", "-c", code], folder.path(), limits)
        .await
        .unwrap();
    assert_eq!(said(&output), "too much\n");

    let output = try_run(
        "/usr/bin/head",
        &["-c", "100000", "/dev/zero"],
        folder.path(),
        limits,
    )
    .await
    .unwrap();
    assert_eq!(output.ended, ProgramEnd::Code(0));
    assert_eq!(
        (output.stdout.kept.len(), output.stdout.bytes),
        (1_000, 100_000)
    );

    let code = "exec head -c 100000 /dev/zero > large";
    let output = try_run(SHELL, &["-c", code], folder.path(), limits)
        .await
        .unwrap();
    assert_ne!(output.ended, ProgramEnd::Code(0));
    assert!(fs::metadata(folder.path().join("large")).unwrap().len() <= 1_000);
}
