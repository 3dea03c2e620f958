//! The interpreter has no way to the system by itself, so no cell can tell whether the kernel would deny one. Both hold for
//! the thread that they are put on.

use std::thread;

use super::*;

fn is_denied(result: io::Result<()>) -> bool {
    result.is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
}

#[test]
fn r03_landlock_alone_denies_files() {
    let tried = thread::spawn(|| {
        let before = File::open("/etc/passwd").is_ok();
        let landlock = deny_files().unwrap();
        (
            before,
            landlock,
            is_denied(File::open("/etc/passwd").map(drop)),
        )
    });
    let (before, landlock, after) = tried.join().unwrap();
    assert!(before && after && landlock >= Some(1), "{landlock:?}");
}

#[test]
fn r03_the_filter_alone_denies_files_and_sockets() {
    let tried = thread::spawn(|| {
        seccompiler::apply_filter(&syscall_filter::monty().unwrap()).unwrap();
        let file = is_denied(File::open("/etc/passwd").map(drop));
        (file, is_denied(UnixStream::pair().map(drop)))
    });
    assert_eq!(tried.join().unwrap(), (true, true));
}
