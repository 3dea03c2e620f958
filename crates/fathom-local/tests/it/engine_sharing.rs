//! Calls that begin alike.

use fathom_core::model::ChatMessage;
use fathom_core::model::Speaker;

use crate::engine_model::{ask, ask_all, says, smallest};

const CALLS: usize = 9;

fn header() -> String {
    "The harbour of the town lies open to the north, and every spring the council meets to decide what is to be done \
     about it. "
        .repeat(14)
}

#[tokio::test]
async fn nine_calls_with_one_header_read_it_once() {
    let engine = smallest();
    let requests = (0..CALLS)
        .map(|index| {
            let mut request = says(
                &format!("You are number {index}. Say what you think of it."),
                12,
            );
            request
                .messages
                .insert(0, ChatMessage::new(Speaker::System, header()));
            request
        })
        .collect();
    let header_tokens = engine.count(&header());
    let replies = ask_all(&engine, requests).await;
    let shared: Vec<u64> = replies
        .into_iter()
        .map(|reply| {
            let reply = reply.unwrap();
            assert!(!reply.text.is_blank());
            reply.timing.unwrap().shared_tokens
        })
        .collect();
    let sharing = shared
        .iter()
        .filter(|&&tokens| tokens >= header_tokens)
        .count();
    assert_eq!(sharing, CALLS - 1, "{shared:?} of {header_tokens}");
    let stats = engine.stats();
    // What made room for a change of threads is read again.
    let readings = 2 + stats.calls_set_back;
    assert!(stats.tokens_read < readings * header_tokens, "{stats:?}");
}

#[tokio::test]
async fn a_later_call_finds_what_an_earlier_one_read() {
    let engine = smallest();
    let mut request = says(&header(), 8);
    let first = ask(&engine, &request).await.unwrap();
    assert_eq!(first.timing.unwrap().shared_tokens, 0);
    request
        .messages
        .push(ChatMessage::new(Speaker::Assistant, first.text.as_str()));
    request
        .messages
        .push(ChatMessage::new(Speaker::User, "Go on."));
    let second = ask(&engine, &request).await.unwrap();
    let shared = second.timing.unwrap().shared_tokens;
    assert!(
        shared >= first.usage.input_tokens,
        "{shared} of {}",
        first.usage.input_tokens
    );
    // The same again is read but for its last token.
    let third = ask(&engine, &request).await.unwrap();
    assert_eq!(
        third.timing.unwrap().shared_tokens,
        third.usage.input_tokens - 1
    );
}

#[tokio::test]
async fn a_leader_that_is_given_up_leaves_the_others_whole() {
    let engine = smallest();
    let request = says(&format!("{} First.", header()), 8);
    let others: Vec<_> = (0..3)
        .map(|index| says(&format!("{} {index}?", header()), 8))
        .collect();
    let mut ignore = |_: &str| {};
    let mut leader = engine.call(&request, &mut ignore);
    // Polled until it is at work, so that the others find it there.
    while engine.stats().steps == 0 {
        tokio::select! {
            biased;
            _ = &mut leader => break,
            () = tokio::task::yield_now() => {}
        }
    }
    let calls = ask_all(&engine, others);
    drop(leader);
    for reply in calls.await {
        assert!(!reply.unwrap().text.is_blank());
    }
}
