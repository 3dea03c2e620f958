//! What a run worked on, when the run goes on later or is ended: files that are read again, and texts that were kept.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use fathom_core::contract::stop::StopReason;
use fathom_core::episode::result::{EpisodeResult, EpisodeStatus};
use fathom_core::id::RunId;
use fathom_core::packet::PacketFrame;
use fathom_host::programs::rlm::{RlmRequest, read_text};
use fathom_host::{HostError, Runtime};
use fathom_programs::rlm::{MaterialSource, RlmConfig};
use fathom_testkit::model_server::{ChunkGate, ModelServer};

use crate::fixture::{check, finished, host, models};
use crate::rlm::{answer, begin, coder, exploration, said};

/// A run that waits for a leaf call until the gate opens; then it submits what it was given.
struct Begun {
    host: Runtime,
    run: RunId,
    gate: ChunkGate,
    server: ModelServer,
}

/// Begins a run on these and interrupts it in the middle of a cell.
async fn begun(dir: &Path, wanted: RlmRequest) -> Begun {
    let gate = ChunkGate::new();
    let held = gate.clone();
    let server = coder(&["llm_query('x')\nSUBMIT(context)"], move |seen| {
        said(seen).gated(&held)
    })
    .await;
    let host = host(&dir.join("home"));
    let handle = begin(&host, &server, wanted).await;
    let run = handle.run();
    server.until(|log| log.len() == 2).await;
    handle.interrupt();
    handle.end().await;
    Begun {
        host,
        run,
        gate,
        server,
    }
}

impl Begun {
    async fn goes_on(self) -> EpisodeResult {
        self.gate.open();
        let result = finished(self.host.resume(self.run).expect("it goes on")).await;
        check(&self.host, self.run);
        result
    }

    fn refused(&self) -> HostError {
        self.host.resume(self.run).err().expect("it is refused")
    }
}

/// The name under which a process finds what it has open.
fn open_as(file: &impl AsRawFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// A file that has no name any more, as the shell makes them.
fn nameless(dir: &Path, text: &[u8]) -> File {
    let path = dir.join("nameless");
    fs::write(&path, text).expect("a file");
    let file = File::open(&path).expect("it is there");
    fs::remove_file(&path).expect("it is there");
    file
}

/// `--context <(zcat …)` is a pipe: what it said is kept, since nobody says it again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r07_what_a_pipe_said_is_kept_with_the_run() {
    let dir = tempfile::tempdir().expect("a folder");
    let (pipe, mut writer) = std::io::pipe().expect("a pipe");
    writer.write_all(b"web-3 FAILED").expect("it has room");
    drop(writer);
    let mut wanted = exploration(&open_as(&pipe));
    // Named twice, it is read once: the second time nobody would speak.
    wanted.paths.push(open_as(&pipe));
    let begun = begun(dir.path(), wanted).await;
    drop(pipe);
    let result = begun.goes_on().await;
    assert_eq!(
        (result.status, answer(&result)),
        (EpisodeStatus::Ok, "web-3 FAILED")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r07_a_file_without_a_name_is_kept_and_one_with_a_name_is_found_by_it() {
    let dir = tempfile::tempdir().expect("a folder");
    let nameless = nameless(dir.path(), b"web-3 FAILED");
    let begun_on = begun(dir.path(), exploration(&open_as(&nameless))).await;
    drop(nameless);
    assert_eq!(answer(&begun_on.goes_on().await), "web-3 FAILED");

    let path = dir.path().join("hosts.log");
    fs::write(&path, "web-4 FAILED").expect("a file");
    let stdin = File::open(&path).expect("it is there");
    let begun_on = begun(dir.path(), exploration(&open_as(&stdin))).await;
    drop(stdin);
    assert_eq!(answer(&begun_on.goes_on().await), "web-4 FAILED");
}

/// The same limit as that of stdin, and one for all that is kept.
#[tokio::test]
async fn x08_what_cannot_be_kept_is_refused() {
    let dir = tempfile::tempdir().expect("a folder");
    let server = ModelServer::replying("x").await.expect("a port");
    let host = host(&dir.path().join("home"));
    let half = vec![b'a'; 30 << 20];
    let (one, two) = (nameless(dir.path(), &half), nameless(dir.path(), &half));
    let explore = async |wanted: RlmRequest| {
        let models = models(&server);
        host.explore(wanted, &models, &PacketFrame::default()).await
    };
    assert!(explore(exploration(&open_as(&one))).await.is_ok());
    let mut both = exploration(&open_as(&one));
    both.paths.push(open_as(&two));
    let mut with_text = exploration(&open_as(&one));
    with_text.text = Some(read_text("stdin", half.as_slice()).expect("it is text"));
    let whole = nameless(dir.path(), &half.repeat(2));
    for wanted in [both, with_text, exploration(&open_as(&whole))] {
        let error = explore(wanted).await.err().expect("it is refused");
        assert_eq!(error.code(), "F0416", "{error}");
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the standard library makes no pipes with names"
)]
fn make_pipe(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.expect("it starts").success());
}

/// A pipe that took the place of a file would wait for someone who writes, and a folder is another thing altogether.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r07_what_is_no_file_any_more_is_not_waited_for() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("hosts.log");
    fs::write(&path, "web-3 FAILED").expect("a file");
    let begun = begun(dir.path(), exploration(&path)).await;
    fs::remove_file(&path).expect("it is there");
    make_pipe(&path);
    assert_eq!(begun.refused().code(), "F0410");
    fs::remove_file(&path).expect("it is there");
    fs::create_dir(&path).expect("a folder");
    fs::write(path.join("same"), "web-3 FAILED").expect("a file");
    assert_eq!(begun.refused().code(), "F0410");
    fs::remove_dir_all(&path).expect("it is there");
    assert_eq!(begun.refused().code(), "F0701");
    fs::write(&path, "web-3 FAILED").expect("a file");
    assert_eq!(answer(&begun.goes_on().await), "web-3 FAILED");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r07_a_name_that_is_no_text_is_found_again() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join(OsStr::from_bytes(b"h\xf6sts.log"));
    fs::write(&path, "web-3 FAILED").expect("a file");
    let begun = begun(dir.path(), exploration(&path)).await;
    assert_eq!(answer(&begun.goes_on().await), "web-3 FAILED");
}

/// A link may lead elsewhere by then, as that of a log which is rotated.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r07_a_link_is_followed_when_the_run_begins() {
    let dir = tempfile::tempdir().expect("a folder");
    let (first, second) = (dir.path().join("1.log"), dir.path().join("2.log"));
    fs::write(&first, "web-3 FAILED").expect("a file");
    fs::write(&second, "web-4 FAILED").expect("a file");
    let link = dir.path().join("current.log");
    std::os::unix::fs::symlink(&first, &link).expect("a link");
    let begun = begun(dir.path(), exploration(&link)).await;
    fs::remove_file(&link).expect("it is there");
    std::os::unix::fs::symlink(&second, &link).expect("a link");
    assert_eq!(answer(&begun.goes_on().await), "web-3 FAILED");
}

/// The name that was given tells how a file is written, also where the link leads to a name that says otherwise.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r07_a_page_is_read_again_as_it_was_read_through_a_link() {
    let page = "<p>web-3<br>FAILED</p>";
    for (link, file, taken) in [
        ("page.xhtml", "blob", "web-3\nFAILED"),
        ("current", "page.html", page),
    ] {
        let dir = tempfile::tempdir().expect("a folder");
        fs::write(dir.path().join(file), page).expect("a file");
        let link = dir.path().join(link);
        std::os::unix::fs::symlink(file, &link).expect("a link");
        let begun_on = begun(dir.path(), exploration(&link)).await;
        assert_eq!(answer(&begun_on.goes_on().await), taken);

        let begun_on = begun(dir.path(), exploration(&link)).await;
        fs::write(dir.path().join(file), "<p>web-3<br>fine</p>").expect("a file");
        assert_eq!(begun_on.refused().code(), "F0410");
    }
}

/// Whoever wants a run to end must not be asked for what it once read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r07_a_run_whose_material_is_gone_can_be_cancelled() {
    for changed in [None, Some("something else")] {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("hosts.log");
        fs::write(&path, "web-3 FAILED").expect("a file");
        let begun = begun(dir.path(), exploration(&path)).await;
        match changed {
            None => fs::remove_file(&path).expect("it is there"),
            Some(text) => fs::write(&path, text).expect("a file"),
        }
        begun.refused();
        let handle = begun.host.cancel(begun.run).expect("it is taken over");
        let result = finished(handle.expect("nobody else has it")).await;
        assert_eq!(result.stop_reason, StopReason::Cancelled);
        assert_eq!(begun.server.log().len(), 2, "no model was asked");
        check(&begun.host, begun.run);
    }
}

#[tokio::test]
async fn r01_what_was_left_out_of_a_folder_without_text_is_told() {
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().join("exports");
    fs::create_dir(&folder).expect("a folder");
    fs::write(folder.join("june.zip"), b"PK\x03\x04\0\0").expect("a file");
    let server = ModelServer::replying("x").await.expect("a port");
    let host = host(&dir.path().join("home"));
    let models = models(&server);
    let explored = host
        .explore(exploration(&folder), &models, &PacketFrame::default())
        .await;
    let Err(HostError::NoMaterial { skipped }) = explored else {
        panic!("contains no readable text");
    };
    let said: Vec<String> = skipped.iter().map(ToString::to_string).collect();
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said[0].ends_with("june.zip` was left out: it is not text"),
        "{said:?}"
    );
}

#[tokio::test]
async fn r01_flaws_of_a_text_without_a_file_are_told() {
    let dir = tempfile::tempdir().expect("a folder");
    let server = ModelServer::replying("x").await.expect("a port");
    let host = host(&dir.path().join("home"));
    let bytes = ["ö".repeat(50).as_bytes(), b"\xff!"].concat();
    let mut wanted = exploration(dir.path());
    wanted.paths.clear();
    wanted.text = Some(read_text("stdin", bytes.as_slice()).expect("it is text"));
    let explored = host
        .explore(wanted, &models(&server), &PacketFrame::default())
        .await
        .expect("it is read");
    let said: Vec<String> = explored.skipped.iter().map(ToString::to_string).collect();
    let expected = "`stdin` was taken as UTF-8: one place in it is not, and stands as `\u{fffd}`";
    assert_eq!(said, [expected]);
    let params = RlmConfig::read(&explored.program).expect("its own");
    assert!(matches!(params.given[0].place, MaterialSource::Here { .. }));
}
