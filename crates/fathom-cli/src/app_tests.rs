use super::*;

#[test]
fn eight_digits_are_enough_once_their_minute_is_over() {
    let run: RunId = "0199c2f4-1a2b-7000-8000-000000000001".parse().unwrap();
    let began = 0x0199_c2f4_1a2b;
    assert!(!is_first_group_over(run, Timestamp(began)));
    assert!(!is_first_group_over(run, Timestamp(0x0199_c2f4_ffff)));
    assert!(is_first_group_over(run, Timestamp(0x0199_c2f5_0000)));
}
