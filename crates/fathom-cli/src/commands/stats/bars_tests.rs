use super::*;

#[test]
fn an_axis_goes_in_round_steps_to_the_highest_bar_or_above() {
    for most in [0.000_003, 0.04, 0.9, 1.0, 3.3, 7.0, 12.0, 99.0, 101.0, 5e6] {
        let ticks = ticks(most);
        let last = ticks.last().copied().unwrap();
        assert!(last >= most && last <= most * 2.0, "{most}: {ticks:?}");
        assert!((3..=6).contains(&ticks.len()), "{most}: {ticks:?}");
    }
    assert_eq!(ticks(0.0), [0.0, 1.0]);
    assert_eq!(ticks(f64::NAN), [0.0, 1.0]);
}

#[test]
fn labels_of_an_axis_have_the_decimals_they_need() {
    assert_eq!(tick_label(5.0, 2.5), "5.0");
    assert_eq!(tick_label(7.5, 2.5), "7.5");
    assert_eq!(tick_label(20.0, 10.0), "20");
    assert_eq!(tick_label(0.002, 0.001), "0.002");
    assert_eq!(tick_label(5_000.0, 2_500.0), "5k");
}
