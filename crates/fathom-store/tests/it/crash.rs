//! A real process, really killed.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use fathom_store::{ChainCheck, HomeFolder, Journal, VerifyScope};

use crate::sample::{Author, episode, run, store};

/// Set in the process that is to be killed.
const HOME_VARIABLE: &str = "FATHOM_STORE_CRASH_HOME";
const ACKNOWLEDGED_BEFORE_KILL: usize = 40;

/// Writes until it is killed, and says what is durable as soon as it is.
#[expect(
    clippy::disallowed_methods,
    reason = "a process of the test's own tells it how far it is"
)]
fn write_for_ever(folder: &Path) {
    let home = HomeFolder::open(folder).unwrap();
    let key = home.keys().create_run_key(run(1)).unwrap();
    let journal = home.open_journal().unwrap();
    let (author, log) = Author::start(&journal, 1);
    let mut author = Author::with_key(run(1), author.epoch, &key);
    let mut out = std::io::stdout();
    for seq in 0.. {
        store(&log, vec![author.says("0", &format!("word {seq}"))]);
        writeln!(out, "durable {seq}").unwrap();
    }
}

/// Every record whose durability was reported before the kill is there, and the run can be taken over.
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "a crash needs a process of its own, which is this test once more"
)]
fn x04_kill_nine_loses_no_acknowledged_record() {
    if let Some(folder) = env::var_os(HOME_VARIABLE) {
        return write_for_ever(folder.as_ref());
    }
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(env::current_exe().unwrap())
        .args([
            "--exact",
            "crash::x04_kill_nine_loses_no_acknowledged_record",
            "--nocapture",
        ])
        .env(HOME_VARIABLE, folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let acknowledged = lines
        .map(Result::unwrap)
        .filter_map(|line| line.strip_prefix("durable ")?.parse::<u64>().ok())
        .take(ACKNOWLEDGED_BEFORE_KILL)
        .last()
        .unwrap();
    // On this system that is signal 9.
    child.kill().unwrap();
    child.wait().unwrap();

    let home = HomeFolder::open(folder.path()).unwrap();
    let lock = home.lock_run(run(1)).unwrap();
    assert!(lock.is_some(), "a dead owner holds no lock");
    let journal = home.open_journal().unwrap();
    let report = home.verify(&journal, VerifyScope::All).unwrap();
    assert!(report.is_ok(), "{report:#?}");
    let open: &dyn Journal = &journal;
    let mut check = ChainCheck::new(run(1), episode("0"));
    for stored in open.records(run(1)) {
        let stored = stored.unwrap();
        check.step(&stored.bytes, &stored.hash).unwrap();
    }
    assert!(check.chain().next_seq().0 > acknowledged);
    let epoch = journal.acquire(run(1)).unwrap();
    assert!(epoch > check.epoch());
}
