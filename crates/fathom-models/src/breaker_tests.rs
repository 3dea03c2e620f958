use super::*;

fn breaker() -> Arc<CircuitBreaker> {
    Arc::new(CircuitBreaker::new(EndpointId::new("http://127.0.0.1:9")))
}

fn end(breaker: &Arc<CircuitBreaker>, outcome: Option<FailureKind>) {
    breaker.admit().unwrap().settle(outcome);
}

fn open(breaker: &Arc<CircuitBreaker>) {
    for _ in 0..BREAKER_FAILURES {
        end(breaker, Some(FailureKind::Server));
    }
}

#[tokio::test(start_paused = true)]
async fn x05_five_failures_in_a_row_open_the_circuit() {
    let breaker = breaker();
    for kind in [
        FailureKind::Server,
        FailureKind::Connection,
        FailureKind::Timeout,
        FailureKind::Server,
    ] {
        end(&breaker, Some(kind));
    }
    breaker.admit().unwrap().settle(Some(FailureKind::Server));
    let refused = breaker.admit().unwrap_err();
    assert_eq!(refused.kind, FailureKind::CircuitOpen);
    assert_eq!(
        refused.billing,
        fathom_core::model::failure::CallBilling::Nothing
    );
    assert_eq!(refused.retry_after, Some(fathom_core::unit::Millis(15_000)));
    assert!(refused.detail.as_str().contains("15.0 s"), "{refused}");
}

/// A server that is away for a moment fails all calls that are on their way then.
#[tokio::test(start_paused = true)]
async fn x05_calls_that_fail_together_count_once() {
    for (kind, opens) in [(FailureKind::Server, false), (FailureKind::Timeout, true)] {
        let breaker = breaker();
        let wave: Vec<_> = (0..20).map(|_| breaker.admit().unwrap()).collect();
        tokio::time::advance(Duration::from_millis(100)).await;
        for call in wave {
            call.settle(Some(kind));
        }
        assert_eq!(breaker.admit().is_err(), opens, "{kind}");
    }
}

#[tokio::test(start_paused = true)]
async fn x05_an_answer_of_any_kind_breaks_the_row() {
    for answer in [
        None,
        Some(FailureKind::RateLimited),
        Some(FailureKind::Rejected),
    ] {
        let breaker = breaker();
        for _ in 0..3 {
            for _ in 1..BREAKER_FAILURES {
                end(&breaker, Some(FailureKind::Server));
            }
            end(&breaker, answer);
        }
        assert!(breaker.admit().is_ok());
    }
}

#[tokio::test(start_paused = true)]
async fn x05_failures_far_apart_do_not_open_it() {
    let breaker = breaker();
    for _ in 0..20 {
        end(&breaker, Some(FailureKind::Server));
        tokio::time::advance(BREAKER_WINDOW / 3).await;
    }
    assert!(breaker.admit().is_ok());
}

#[tokio::test(start_paused = true)]
async fn x05_after_the_cool_down_one_call_tries() {
    let breaker = breaker();
    open(&breaker);
    tokio::time::advance(BREAKER_COOL_DOWN).await;
    let probe = breaker.admit().unwrap();
    assert_eq!(breaker.admit().unwrap_err().kind, FailureKind::CircuitOpen);
    probe.settle(Some(FailureKind::Connection));
    assert!(breaker.admit().is_err());
    tokio::time::advance(BREAKER_COOL_DOWN).await;
    end(&breaker, None);
    assert!(breaker.admit().is_ok());
    assert!(breaker.admit().is_ok());
}

#[tokio::test(start_paused = true)]
async fn x05_a_probe_that_is_given_up_leaves_the_trying_to_the_next() {
    let breaker = breaker();
    open(&breaker);
    tokio::time::advance(BREAKER_COOL_DOWN).await;
    drop(breaker.admit().unwrap());
    let probe = breaker.admit().unwrap();
    probe.settle(Some(FailureKind::Cancelled));
    assert!(breaker.admit().is_ok());
}

#[tokio::test(start_paused = true)]
async fn x05_late_failures_do_not_reopen_what_a_probe_closed() {
    let breaker = breaker();
    let late = breaker.admit().unwrap();
    open(&breaker);
    late.settle(Some(FailureKind::Timeout));
    tokio::time::advance(BREAKER_COOL_DOWN).await;
    end(&breaker, None);
    assert!(breaker.admit().is_ok());
}
