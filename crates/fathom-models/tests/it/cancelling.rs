//! A call that is dropped ends on the wire too.

use fathom_core::model::ReplyMode;
use fathom_testkit::model_server::{ChunkGate, ModelServer, ReplyBehaviour, RequestOutcome};
use tokio::sync::mpsc;

use crate::asking::{PROVIDERS, ask, model, request};

#[tokio::test]
async fn x05_dropping_a_call_closes_its_connection() {
    for id in PROVIDERS {
        let server = ModelServer::queued([ReplyBehaviour::stall()])
            .await
            .unwrap();
        let model = model(id, &server);
        let call =
            tokio::spawn(async move { ask(&*model, &request(ReplyMode::Whole)).await.result });
        server.until(|log| log.len() == 1).await;
        call.abort();
        server
            .until(|log| log[0].outcome == RequestOutcome::ClientGone)
            .await;
    }
}

#[tokio::test]
async fn x05_words_arrive_as_they_are_said_and_stop_when_the_call_is_dropped() {
    for id in PROVIDERS {
        let gate = ChunkGate::new();
        let behaviour = ReplyBehaviour::chunks(["one", " two", " three"]).gated(&gate);
        let server = ModelServer::queued([behaviour]).await.unwrap();
        let model = model(id, &server);
        let (words, mut heard) = mpsc::channel(8);
        let call = tokio::spawn(async move {
            let mut hear = |said: &str| words.try_send(said.to_owned()).unwrap();
            model.call(&request(ReplyMode::Streamed), &mut hear).await
        });
        for wanted in ["one", " two"] {
            gate.release(1);
            assert_eq!(heard.recv().await.as_deref(), Some(wanted), "{id}");
        }
        assert!(heard.try_recv().is_err());
        call.abort();
        server
            .until(|log| log[0].outcome == RequestOutcome::ClientGone)
            .await;
        assert_eq!(heard.recv().await, None, "{id}");
    }
}
