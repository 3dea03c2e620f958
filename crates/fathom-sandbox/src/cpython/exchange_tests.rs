//! A base process that does not answer in time.

use rustix::net::{RecvFlags, recv};

use super::*;

#[tokio::test(start_paused = true)]
async fn r03_a_late_reply_is_never_taken_for_that_to_the_next_order() {
    let (control, theirs) = ControlSocket::pair().unwrap();
    let turn = Mutex::new(());
    let order = ForkOrder::Session {
        memory: 1,
        material: None,
    };
    let error = exchange(&control, &turn, &order, &[]).await.unwrap_err();
    assert!(error.to_string().contains("timed out"), "{error}");
    rustix::net::send(
        &theirs,
        br#"{"process": 1}"#,
        rustix::net::SendFlags::empty(),
    )
    .unwrap();
    let error = exchange(&control, &turn, &order, &[]).await.unwrap_err();
    assert!(error.to_string().contains("it ended"), "{error}");
    let mut orders = 0;
    while recv(&theirs, &mut [0; 256], RecvFlags::DONTWAIT).is_ok() {
        orders += 1;
    }
    assert_eq!(orders, 1, "nothing is asked of it any more");
}
