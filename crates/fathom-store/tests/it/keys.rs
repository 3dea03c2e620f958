use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::thread;

use fathom_core::id::{AskId, Epoch};
use fathom_core::journal::event::EventKind;
use fathom_core::text::Text;
use fathom_store::{KeyRing, ShredOutcome, StoreError};

use crate::sample::{Author, run};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Two keys are the same when they seal the same.
fn sealed_with(ring: &KeyRing) -> Option<Vec<u8>> {
    let sealer = ring.sealer(run(1)).unwrap()?;
    let kind = EventKind::ModelDelta {
        ask: AskId(1),
        attempt: 0,
        text: Text::from("words"),
    };
    let mut record = Author::new(1, Epoch(1)).record("0", kind, Vec::new());
    Some(sealer.seal(&mut record).unwrap().remove(0).bytes)
}

#[test]
fn keys_are_made_once_and_belong_to_their_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let keys = folder.path().join("keys");
    let ring = KeyRing::open(&keys).unwrap();
    assert_eq!(sealed_with(&ring), None);
    ring.create_run_key(run(1)).unwrap();
    let first = sealed_with(&ring);
    ring.create_run_key(run(1)).unwrap();
    assert_eq!(sealed_with(&KeyRing::open(&keys).unwrap()), first);
    ring.create_run_key(run(2)).unwrap();

    let signing = ring.signing_key().unwrap();
    assert_eq!(ring.signing_key().unwrap(), signing);

    assert_eq!(mode(&keys), 0o700);
    let files: Vec<_> = fs::read_dir(&keys).unwrap().map(Result::unwrap).collect();
    assert_eq!(files.len(), 4, "{files:?}");
    assert!(files.iter().all(|file| mode(&file.path()) == 0o600));
}

#[test]
fn many_who_want_the_same_new_key_get_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let ring = KeyRing::open(folder.path().join("keys")).unwrap();
    let drawn: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| ring.signing_key().unwrap()))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert!(drawn.iter().all(|key| *key == drawn[0]));
}

#[test]
fn x08_a_key_that_others_can_read_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let keys = folder.path().join("keys");
    let ring = KeyRing::open(&keys).unwrap();
    ring.create_run_key(run(1)).unwrap();
    let file = keys.join(format!("{}.key", run(1)));
    set_mode(&file, 0o640);
    let error = ring.run_key(run(1)).unwrap_err();
    assert!(
        matches!(error, StoreError::ExposedKey { mode: 0o640, .. }),
        "{error}"
    );
    assert!(error.hint().contains("chmod 600"), "{}", error.hint());

    set_mode(&keys, 0o755);
    let error = KeyRing::open(&keys).unwrap_err();
    assert!(error.hint().contains("chmod 700"), "{}", error.hint());
}

#[test]
fn x08_a_key_file_of_another_length_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let ring = KeyRing::open(folder.path().join("keys")).unwrap();
    ring.create_run_key(run(1)).unwrap();
    let file = folder.path().join(format!("keys/{}.key", run(1)));
    fs::write(&file, b"short").unwrap();
    let error = ring.run_key(run(1)).unwrap_err();
    assert!(matches!(error, StoreError::DamagedKey { .. }), "{error}");
}

#[test]
fn a_shredded_key_is_gone_and_the_others_stay() {
    let folder = tempfile::tempdir().unwrap();
    let ring = KeyRing::open(folder.path().join("keys")).unwrap();
    ring.create_run_key(run(1)).unwrap();
    ring.create_run_key(run(2)).unwrap();
    assert_eq!(ring.shred(run(1)).unwrap(), ShredOutcome::Now);
    assert_eq!(ring.shred(run(1)).unwrap(), ShredOutcome::Before);
    assert!(ring.is_shredded(run(1)).unwrap());
    assert!(!ring.is_shredded(run(2)).unwrap());
    assert!(ring.sealer(run(1)).unwrap().is_none());
}

#[test]
fn x04_a_shred_that_a_crash_cut_short_has_shredded() {
    let folder = tempfile::tempdir().unwrap();
    let ring = KeyRing::open(folder.path().join("keys")).unwrap();
    ring.create_run_key(run(1)).unwrap();
    let file = folder.path().join(format!("keys/{}.key", run(1)));
    fs::write(&file, [0; 32]).unwrap();
    assert!(ring.is_shredded(run(1)).unwrap());
    assert_eq!(ring.shred(run(1)).unwrap(), ShredOutcome::Now);
    assert!(!file.exists());
}

#[test]
fn x04_what_a_crash_left_of_a_new_key_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let ring = KeyRing::open(folder.path().join("keys")).unwrap();
    let unfinished = folder.path().join("keys/signing.new");
    fs::write(&unfinished, b"half").unwrap();
    ring.signing_key().unwrap();
    assert!(!unfinished.exists());
}
