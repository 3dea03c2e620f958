//! Files are denied twice, by landlock and by the filter of system calls. No cell can tell which of them it was, so each is
//! tried without the other.

use super::*;

fn python() -> PathBuf {
    let folders = crate::SandboxOptions::default().search;
    candidates(&folders).remove(0)
}

#[tokio::test]
async fn r03_landlock_alone_denies_files_and_programs() {
    let no_sockets = syscall_filter::all_but(libc::SYS_socket, libc::EPERM).unwrap();
    let begun = BaseProcess::begin_with(&python(), vec![no_sockets], Vec::new()).await;
    let (_, isolation) = begun.unwrap();
    assert!(isolation.landlock >= Some(1), "{isolation:?}");
}

#[tokio::test]
async fn r03_without_a_filter_of_system_calls_it_is_refused() {
    let begun = BaseProcess::begin_with(&python(), Vec::new(), Vec::new()).await;
    let refused = begun.err().map(|error| error.to_string());
    assert_eq!(refused.as_deref(), Some("a socket is not denied"));
}
