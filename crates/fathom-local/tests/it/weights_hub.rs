//! Weights from a hub, and what a hub can do wrong.

use std::time::Duration;

use fathom_local::weights::{
    FilePresence, HubSource, InstallMethod, InstallProgress, SourceList, WeightsFolder,
    WeightsSource,
};
use fathom_testkit::fake_hub::HubFault;
use fathom_testkit::model_server::ChunkGate;

use crate::weights::{FILE, Place, catalogue, content, hub_with, only_hub};

#[tokio::test]
async fn x05_weights_come_from_the_hub_and_are_found() {
    let content = content(300_000);
    let hub = hub_with(&content).await;
    let place = Place::new(&content, &[]);
    assert_eq!(place.store.find("tiny").unwrap_err().code(), "F0528");
    let done = place.install(&only_hub(&hub)).await;
    let installed = done.result.unwrap();
    let source = WeightsSource::Hub { url: hub.url() };
    assert_eq!(
        installed.files[0].how,
        InstallMethod::Fetched(source.clone())
    );
    assert_eq!(std::fs::read(place.file()).unwrap(), content);
    assert_eq!(place.left(), [FILE]);
    let found = place.store.find("default").unwrap();
    assert_eq!(found.name, "tiny");
    assert_eq!(found.weights(), Some(place.file().as_path()));
    assert!(place.store.folder().join("LICENSE-Apache-2.0.txt").exists());
    let last = InstallProgress::Downloading {
        file: FILE.to_owned(),
        source,
        done_bytes: 300_000,
        total_bytes: 300_000,
    };
    assert!(done.progress.contains(&last), "{:?}", done.progress);
    // What is there is not fetched again.
    let again = place.install(&only_hub(&hub)).await.result.unwrap();
    assert_eq!(again.files[0].how, InstallMethod::AlreadyThere);
    assert_eq!(hub.requests().len(), 1);
}

#[tokio::test]
async fn x05_a_hub_that_sends_elsewhere_is_followed() {
    let content = content(1_000);
    let hub = hub_with(&[]).await;
    hub.put_at("/blobs/1", &content);
    hub.fail([HubFault::Redirect("/blobs/1".to_owned())]);
    let place = Place::new(&content, &[]);
    place.install(&only_hub(&hub)).await.result.unwrap();
    assert_eq!(std::fs::read(place.file()).unwrap(), content);
}

#[tokio::test]
async fn x05_a_cut_download_goes_on_where_it_stopped() {
    let content = content(300_000);
    let hub = hub_with(&content).await;
    hub.fail([HubFault::CutAfter(100_000), HubFault::CutAfter(50_000)]);
    let place = Place::new(&content, &[]);
    place.install(&only_hub(&hub)).await.result.unwrap();
    assert_eq!(std::fs::read(place.file()).unwrap(), content);
    let from: Vec<Option<u64>> = hub.requests().iter().map(|request| request.from).collect();
    assert_eq!(from, [None, Some(100_000), Some(150_000)]);
}

#[tokio::test]
async fn x05_the_next_pull_uses_what_an_earlier_one_left() {
    let content = content(300_000);
    let hub = hub_with(&content).await;
    hub.fail(vec![HubFault::CutAfter(20_000); 5]);
    let place = Place::new(&content, &[]);
    let error = place.install(&only_hub(&hub)).await.result.unwrap_err();
    assert_eq!(error.code(), "F0524");
    assert!(
        error.to_string().contains("interrupted after 100000 bytes"),
        "{error}"
    );
    let tiny = place.store.catalogue().get("tiny").unwrap();
    let begun = FilePresence::Begun { bytes: 100_000 };
    assert_eq!(place.store.presence(tiny), begun);
    place.install(&only_hub(&hub)).await.result.unwrap();
    assert_eq!(hub.requests()[5].from, Some(100_000));
    assert_eq!(std::fs::read(place.file()).unwrap(), content);
}

#[tokio::test]
async fn x05_a_part_of_something_else_is_thrown_away() {
    let content = content(300_000);
    let place = Place::new(&content, &[]);
    // Other bytes, the whole length of them, and more than that.
    for left in [vec![7; 1_000], vec![7; 300_000], vec![7; 300_001]] {
        let hub = hub_with(&content).await;
        place.leave_part(&left);
        place.install(&only_hub(&hub)).await.result.unwrap();
        assert_eq!(std::fs::read(place.file()).unwrap(), content);
        assert_eq!(place.left(), [FILE]);
        std::fs::remove_file(place.file()).unwrap();
    }
}

#[tokio::test]
async fn x05_a_hub_without_ranges_sends_everything_again() {
    let content = content(300_000);
    let hub = hub_with(&content).await;
    hub.fail([HubFault::IgnoreRange]);
    let place = Place::new(&content, &[]);
    place.leave_part(&content[..1_000]);
    place.install(&only_hub(&hub)).await.result.unwrap();
    assert_eq!(hub.requests()[0].from, Some(1_000));
    assert_eq!(std::fs::read(place.file()).unwrap(), content);
}

#[tokio::test]
async fn x05_other_bytes_leave_nothing_behind() {
    let content = content(300_000);
    for fault in [
        HubFault::WrongBytes,
        HubFault::Instead(b"<html>log in first</html>".to_vec()),
        HubFault::Instead(vec![1; 300_001]),
    ] {
        let hub = hub_with(&content).await;
        hub.fail([fault]);
        let place = Place::new(&content, &[]);
        let error = place.install(&only_hub(&hub)).await.result.unwrap_err();
        assert_eq!(error.code(), "F0525");
        assert!(error.to_string().contains(&hub.url()), "{error}");
        assert!(error.to_string().contains("wrong content"), "{error}");
        assert_eq!(place.left(), [""; 0]);
        assert!(!place.store.is_installed("tiny"));
    }
}

#[tokio::test]
async fn x05_a_hub_that_refuses_stalls_or_is_not_there_is_named() {
    let content = content(300_000);
    for (fault, said) in [
        (HubFault::Status(404), "HTTP status 404"),
        (HubFault::Status(503), "HTTP status 503"),
        (HubFault::StallAfter(1_000), "interrupted after 1000 bytes"),
    ] {
        let hub = hub_with(&content).await;
        // A stall after a thousand bytes of the rest would get on; these do not.
        hub.fail([fault]);
        hub.fail(vec![HubFault::StallAfter(0); 4]);
        let place = Place::new(&content, &[]);
        let patience = Duration::from_millis(50);
        let sources = SourceList {
            hub: Some(HubSource::new(&hub.url()).with_stall_time_max(patience)),
            pip: None,
        };
        let error = place.install(&sources).await.result.unwrap_err();
        assert_eq!(error.code(), "F0524");
        assert!(error.to_string().contains(said), "{error}");
    }
    let gone = {
        let hub = hub_with(&content).await;
        hub.url()
    };
    let sources = SourceList {
        hub: Some(HubSource::new(&gone)),
        pip: None,
    };
    let place = Place::new(&content, &[]);
    let error = place.install(&sources).await.result.unwrap_err();
    assert!(error.to_string().contains("no connection"), "{error}");
    // It is not waited for a second time.
    let error = place.install(&sources).await.result.unwrap_err();
    assert!(
        error.to_string().contains("not reachable earlier"),
        "{error}"
    );
}

#[tokio::test]
async fn x05_two_installers_at_once_fetch_a_file_once() {
    let content = content(300_000);
    let hub = hub_with(&content).await;
    let gate = ChunkGate::new();
    hub.fail([HubFault::Held(gate.clone())]);
    let place = Place::new(&content, &[]);
    let sources = only_hub(&hub);
    let second = WeightsFolder::new(place.store.folder(), catalogue(&content, &[]));
    let mut waited = false;
    let mut report = |step| {
        if matches!(step, InstallProgress::Waiting { .. }) {
            waited = true;
            gate.open();
        }
    };
    let (first, second) = tokio::join!(
        place.install(&sources),
        second.install("tiny", &sources, &mut report)
    );
    assert!(matches!(
        first.result.unwrap().files[0].how,
        InstallMethod::Fetched(_)
    ));
    assert_eq!(second.unwrap().files[0].how, InstallMethod::AlreadyThere);
    assert!(waited);
    assert_eq!(hub.requests().len(), 1);
}

#[tokio::test]
async fn x05_a_full_disk_is_said_before_anything_is_fetched() {
    let content = content(300_000);
    let hub = hub_with(&content).await;
    let place = Place::new(&content, &[]);
    let full = place.store.clone().with_free_space(|_| Ok(299_999));
    let error = full.install("tiny", &only_hub(&hub), &mut |_| {}).await;
    let error = error.unwrap_err();
    assert_eq!(error.code(), "F0523");
    assert!(
        error
            .to_string()
            .contains("300000 bytes needed, 299999 free"),
        "{error}"
    );
    assert_eq!(hub.requests(), []);
    // What is there already needs no room.
    place.leave_part(&content[..1]);
    full.install("tiny", &only_hub(&hub), &mut |_| {})
        .await
        .unwrap();
}

#[tokio::test]
async fn x05_an_installation_that_is_given_up_goes_on_later() {
    let content = content(300_000);
    let hub = hub_with(&content).await;
    hub.fail([HubFault::StallAfter(100_000)]);
    let place = Place::new(&content, &[]);
    let sources = only_hub(&hub);
    {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let mut sender = Some(sender);
        let mut report = |step| {
            if let InstallProgress::Downloading {
                done_bytes: 100_000,
                ..
            } = step
                && let Some(sender) = sender.take()
            {
                sender.send(()).unwrap();
            }
        };
        tokio::select! {
            done = place.store.install("tiny", &sources, &mut report) => panic!("{done:?}"),
            heard = receiver => heard.unwrap(),
        }
    }
    assert!(!place.file().exists());
    place.install(&sources).await.result.unwrap();
    assert_eq!(hub.requests()[1].from, Some(100_000));
    assert_eq!(std::fs::read(place.file()).unwrap(), content);
}

#[tokio::test]
async fn x05_a_damaged_file_is_found_and_replaced() {
    let content = content(300_000);
    let hub = hub_with(&content).await;
    let place = Place::new(&content, &[]);
    place.install(&only_hub(&hub)).await.result.unwrap();
    for damage in [vec![7; 300_000], vec![7; 5]] {
        std::fs::write(place.file(), damage).unwrap();
        let error = place.store.find("tiny").unwrap_err();
        assert_eq!(error.code(), "F0529");
        assert_eq!(place.store.verify("tiny").unwrap_err().code(), "F0529");
        let done = place.install(&only_hub(&hub)).await;
        assert!(matches!(
            done.result.unwrap().files[0].how,
            InstallMethod::Fetched(_)
        ));
        let replacing = InstallProgress::Replacing {
            file: FILE.to_owned(),
        };
        assert!(done.progress.contains(&replacing));
        place.store.find("tiny").unwrap();
    }
    // Without a note of an earlier check the content is read again.
    std::fs::remove_dir_all(place.store.folder().join(".incoming")).unwrap();
    place.store.find("tiny").unwrap();
}

#[tokio::test]
async fn x05_a_folder_that_cannot_be_written_is_named() {
    let content = content(10);
    let hub = hub_with(&content).await;
    let place = Place::new(&content, &[]);
    std::fs::write(place.store.folder(), "a file").unwrap();
    let error = place.install(&only_hub(&hub)).await.result.unwrap_err();
    assert_eq!(error.code(), "F0522");
    assert!(error.to_string().contains("models"), "{error}");
}
