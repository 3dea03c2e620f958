//! Many calls at once, and a server that keeps failing.

use std::sync::Arc;

use fathom_core::model::ReplyMode;
use fathom_core::model::failure::FailureKind;
use fathom_models::{
    BREAKER_COOL_DOWN, BREAKER_FAILURES, CallLimiter, IN_FLIGHT_DEFAULT, ModelCatalog,
};
use fathom_testkit::model_server::{ChunkGate, ModelServer, ReplyBehaviour, SeenRequest};

use crate::asking::{ask, model, no_keys, request, spec};

#[tokio::test]
async fn x05_no_more_calls_are_in_flight_than_allowed() {
    let gate = ChunkGate::new();
    let held = gate.clone();
    let server =
        ModelServer::start(move |_: &SeenRequest| ReplyBehaviour::reply("ok").gated(&held))
            .await
            .unwrap();
    let (model, limiter) = (model("openai/x", &server), Arc::new(CallLimiter::default()));
    let calls: Vec<_> = (0..IN_FLIGHT_DEFAULT + 72)
        .map(|_| {
            let (model, limiter) = (Arc::clone(&model), Arc::clone(&limiter));
            tokio::spawn(async move {
                let _permit = limiter.acquire(model.endpoint()).await;
                ask(&*model, &request(ReplyMode::Whole)).await.result
            })
        })
        .collect();
    server.until(|log| log.len() == IN_FLIGHT_DEFAULT).await;
    gate.open();
    for call in calls {
        call.await.unwrap().unwrap();
    }
    assert_eq!(server.most_in_flight(), IN_FLIGHT_DEFAULT);
    assert_eq!(server.log().len(), IN_FLIGHT_DEFAULT + 72);
}

#[tokio::test]
async fn x05_a_server_that_keeps_failing_is_left_alone_then_tried() {
    let failures = (0..BREAKER_FAILURES).map(|_| ReplyBehaviour::status(500));
    let server = ModelServer::queued(failures.chain([ReplyBehaviour::reply("back")]))
        .await
        .unwrap();
    let catalog = ModelCatalog::new();
    // Two models on one server share its circuit.
    let one = catalog
        .connect(&spec("openai/one", &server), no_keys)
        .unwrap();
    let two = catalog
        .connect(&spec("openai/two", &server), no_keys)
        .unwrap();
    let request = request(ReplyMode::Whole);
    for model in [&one, &two].into_iter().cycle().take(BREAKER_FAILURES) {
        assert_eq!(
            ask(&**model, &request).await.failure().kind,
            FailureKind::Server
        );
    }
    for model in [&one, &two] {
        assert_eq!(
            ask(&**model, &request).await.failure().kind,
            FailureKind::CircuitOpen
        );
    }
    assert_eq!(server.log().len(), BREAKER_FAILURES);
    tokio::time::pause();
    tokio::time::advance(BREAKER_COOL_DOWN).await;
    tokio::time::resume();
    assert_eq!(ask(&*one, &request).await.reply().text.as_str(), "back");
}
