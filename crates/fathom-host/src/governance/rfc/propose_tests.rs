use fathom_core::unit::Timestamp;

use super::*;

#[test]
fn a_merge_that_cannot_be_read_is_not_one_that_never_was() {
    let mut act = GovernanceAct {
        seq: 1,
        at: Timestamp(1_000),
        subject: "0123456789ab".to_owned(),
        kind: MERGED.to_owned(),
        by: "os:tester".to_owned(),
        body: "{".to_owned(),
    };
    assert!(merged(std::slice::from_ref(&act)).is_err());
    act.kind = VOTED.to_owned();
    assert!(matches!(merged(&[act]), Ok(None)));
}
