use std::pin::pin;
use std::task::{Context, Poll, Waker};

use super::*;

fn poll<T>(future: std::pin::Pin<&mut impl Future<Output = T>>) -> Poll<T> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

fn ready<T>(future: impl Future<Output = T>) -> T {
    match poll(pin!(future)) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("it waits"),
    }
}

#[test]
fn the_longest_offered_place_is_wanted_first_and_goes_to_who_asked_first() {
    let pool = SessionPool::new(2);
    let mut a = ready(pool.place());
    let mut b = ready(pool.place());
    b.offer();
    a.offer();
    let mut first = pin!(pool.place());
    let mut second = pin!(pool.place());
    assert!(poll(first.as_mut()).is_pending());
    assert!(!b.keep(), "it is wanted back");
    assert!(a.keep(), "nobody wants it yet");
    ready(b.wanted());
    assert!(poll(second.as_mut()).is_pending());
    drop(b);
    assert!(poll(second.as_mut()).is_pending());
    let Poll::Ready(first) = poll(first.as_mut()) else {
        panic!("the place was not handed on");
    };
    // Who offers while someone waits is told at once.
    a.offer();
    ready(a.wanted());
    drop(a);
    let Poll::Ready(_second) = poll(second.as_mut()) else {
        panic!("the place was not handed on");
    };
    drop(first);
    ready(pool.place());
}

#[test]
fn a_place_for_someone_who_is_gone_is_not_lost() {
    let pool = SessionPool::new(1);
    let a = ready(pool.place());
    {
        let gone = pin!(pool.place());
        assert!(poll(gone).is_pending());
    }
    drop(a);
    let b = ready(pool.place());
    {
        let mut handed = pin!(pool.place());
        assert!(poll(handed.as_mut()).is_pending());
        drop(b);
        // Handed over and never taken.
    }
    ready(pool.place());
}

#[test]
fn who_is_gone_drives_nobody_out() {
    let pool = SessionPool::new(1);
    let mut a = ready(pool.place());
    {
        let gone = pin!(pool.place());
        assert!(poll(gone).is_pending());
    }
    a.offer();
    assert!(poll(pin!(a.wanted())).is_pending(), "nobody waits");
    assert!(a.keep());
}
