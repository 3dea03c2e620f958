//! Answers that were given before: when they are used again, and when they must not be.

use fathom_core::episode::result::EpisodeResult;
use fathom_host::Runtime;
use fathom_programs::council::{CouncilConfig, CouncilReport, ReusePolicy, Vote};
use fathom_testkit::model_server::ModelServer;

use crate::fixture::{check, finished, host};
use crate::panel::{COMPLEX, approve, ask, council, report, sub_chiefs};
use crate::weights::with_embeddings;

fn reusing(reuse: ReusePolicy) -> CouncilConfig {
    CouncilConfig { reuse, ..council() }
}

async fn decide(
    host: &Runtime,
    question: &str,
    params: &CouncilConfig,
    server: &ModelServer,
) -> (EpisodeResult, CouncilReport) {
    let handle = host
        .start(ask(question, params, server))
        .expect("it starts");
    let run = handle.run();
    let result = finished(handle).await;
    check(host, run);
    let report = report(&result);
    (result, report)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c10_the_same_packet_is_answered_from_before_and_costs_nothing() {
    let server = ModelServer::start(approve).await.expect("a port");
    let dir = tempfile::tempdir().expect("a folder");
    let params = reusing(ReusePolicy::Same);
    let (first, _) = decide(&host(dir.path()), COMPLEX, &params, &server).await;
    assert_eq!(first.budget.spent.calls, 9);
    // Another process of the same home.
    let host = host(dir.path());
    let (second, report) = decide(&host, COMPLEX, &params, &server).await;
    assert_eq!(server.log().len(), 9, "nothing more was asked");
    assert_eq!(
        (second.budget.spent.calls, second.budget.spent.tokens),
        (0, 0)
    );
    assert_eq!((report.vote, report.reused_calls), (Some(Vote::Approve), 9));
    let seats = report.votes.iter().flat_map(|chief| &chief.children);
    for seat in seats {
        let reused = seat.reused.as_ref().expect("it says so");
        assert_eq!(reused.similarity.get(), 1000);
    }
    let other = format!("{COMPLEX} Really?");
    decide(&host, &other, &params, &server).await;
    assert_eq!(server.log().len(), 18, "another question is asked");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c10_what_was_shredded_is_asked_again() {
    let server = ModelServer::start(approve).await.expect("a port");
    let dir = tempfile::tempdir().expect("a folder");
    let host = host(dir.path());
    let params = reusing(ReusePolicy::Same);
    let handle = host
        .start(ask(COMPLEX, &params, &server))
        .expect("it starts");
    let run = handle.run();
    finished(handle).await;
    host.shred(run).expect("it is shredded");
    let (again, report) = decide(&host, COMPLEX, &params, &server).await;
    assert_eq!((again.budget.spent.calls, report.reused_calls), (9, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c10_without_leave_nothing_is_used_again() {
    let server = ModelServer::start(approve).await.expect("a port");
    let dir = tempfile::tempdir().expect("a folder");
    let host = host(dir.path());
    decide(&host, COMPLEX, &reusing(ReusePolicy::Same), &server).await;
    decide(&host, COMPLEX, &reusing(ReusePolicy::Off), &server).await;
    assert_eq!(server.log().len(), 18);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c10_a_similar_question_is_answered_from_before_where_the_charter_says_so() {
    let server = ModelServer::start(approve).await.expect("a port");
    let dir = tempfile::tempdir().expect("a folder");
    let host = with_embeddings(dir.path());
    let similar = ReusePolicy::Similar {
        similarity_min_milli: 900,
    };
    decide(&host, COMPLEX, &reusing(similar), &server).await;
    let reworded = COMPLEX.replace("Should we move", "Shall we move");
    let (result, report) = decide(&host, &reworded, &reusing(similar), &server).await;
    assert_eq!(server.log().len(), 9, "nothing more was asked");
    assert_eq!(result.budget.spent.calls, 0);
    for path in sub_chiefs() {
        let reused = crate::panel::of(&report, &path).reused.clone();
        let similarity = reused.expect("it says so").similarity.get();
        assert!((900..1000).contains(&similarity), "{similarity}");
    }
    // Another matter in the same words is another question, and so is the same one on other material.
    let unlike = "Should the team paint the auth cluster, considering cost, latency, backup, the database, the rollout \
                  and the pipeline of the holiday party?";
    decide(&host, unlike, &reusing(similar), &server).await;
    assert_eq!(server.log().len(), 18);
    let elsewhere = CouncilConfig {
        material: "other".to_owned(),
        ..reusing(similar)
    };
    decide(&host, &reworded, &elsewhere, &server).await;
    assert!(server.log().len() > 18);
}
