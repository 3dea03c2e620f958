use std::sync::Arc;

use super::*;

fn endpoint(name: &str) -> EndpointId {
    EndpointId::new(name)
}

/// Polls everything that can make progress, without moving the clock.
async fn settle() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

type Order = Arc<Mutex<Vec<&'static str>>>;

/// A call that notes when it starts and goes on until told to end.
fn call(
    limiter: &Arc<CallLimiter>,
    server: &str,
    name: &'static str,
    order: &Order,
) -> (tokio::task::JoinHandle<()>, Arc<Notify>) {
    let (limiter, order, server) = (Arc::clone(limiter), Arc::clone(order), endpoint(server));
    let end = Arc::new(Notify::new());
    let told = Arc::clone(&end);
    let task = tokio::spawn(async move {
        let permit = limiter.acquire(&server).await;
        order.lock().unwrap().push(name);
        told.notified().await;
        drop(permit);
    });
    (task, end)
}

fn started(order: &Order) -> Vec<&'static str> {
    order.lock().unwrap().clone()
}

#[tokio::test(start_paused = true)]
async fn x05_calls_start_in_the_order_they_asked() {
    let (limiter, order) = (Arc::new(CallLimiter::new(2)), Order::default());
    let mut calls = Vec::new();
    for name in ["a", "b", "c", "d", "e"] {
        calls.push(call(&limiter, "s", name, &order));
        settle().await;
    }
    assert_eq!(started(&order), ["a", "b"]);
    for (index, so_far) in [(1, "c"), (0, "d"), (2, "e")] {
        calls[index].1.notify_one();
        settle().await;
        assert_eq!(started(&order).last(), Some(&so_far));
    }
}

#[tokio::test(start_paused = true)]
async fn x05_a_server_that_asked_to_wait_is_left_alone_until_then() {
    let (limiter, order) = (Arc::new(CallLimiter::new(8)), Order::default());
    limiter.pause(&endpoint("busy"), Duration::from_secs(3));
    let _first = call(&limiter, "busy", "first", &order);
    let _second = call(&limiter, "busy", "second", &order);
    let _other = call(&limiter, "other", "other", &order);
    settle().await;
    assert_eq!(started(&order), ["other"]);
    tokio::time::advance(Duration::from_millis(2_999)).await;
    settle().await;
    assert_eq!(started(&order), ["other"]);
    tokio::time::advance(Duration::from_millis(2)).await;
    settle().await;
    assert_eq!(started(&order), ["other", "first", "second"]);
}

#[tokio::test(start_paused = true)]
async fn x05_a_pause_reaches_those_who_wait_already_and_takes_no_place() {
    let (limiter, order) = (Arc::new(CallLimiter::new(1)), Order::default());
    let (_task, end) = call(&limiter, "busy", "a", &order);
    settle().await;
    let _waiting = call(&limiter, "busy", "b", &order);
    let (_other, other_end) = call(&limiter, "other", "c", &order);
    settle().await;
    limiter.pause(&endpoint("busy"), Duration::from_secs(5));
    // A shorter one does not end the longer.
    limiter.pause(&endpoint("busy"), Duration::from_secs(1));
    end.notify_one();
    settle().await;
    assert_eq!(started(&order), ["a", "c"]);
    other_end.notify_one();
    tokio::time::advance(Duration::from_secs(2)).await;
    settle().await;
    assert_eq!(started(&order), ["a", "c"]);
    tokio::time::advance(Duration::from_secs(4)).await;
    settle().await;
    assert_eq!(started(&order), ["a", "c", "b"]);
}

#[tokio::test(start_paused = true)]
async fn x05_a_call_given_up_in_the_queue_or_at_its_turn_leaves_its_place() {
    let (limiter, order) = (Arc::new(CallLimiter::new(1)), Order::default());
    let (_task, end) = call(&limiter, "s", "a", &order);
    settle().await;
    let (queued, _) = call(&limiter, "s", "queued", &order);
    settle().await;
    let server = endpoint("s");
    let mut at_its_turn = Box::pin(limiter.acquire(&server));
    tokio::select! {
        biased;
        _ = &mut at_its_turn => panic!("the only place is taken"),
        () = settle() => {}
    }
    queued.abort();
    settle().await;
    end.notify_one();
    settle().await;
    // Its turn has come, nobody has looked, and now it goes.
    drop(at_its_turn);
    let _last = call(&limiter, "s", "last", &order);
    settle().await;
    assert_eq!(started(&order), ["a", "last"]);
}
