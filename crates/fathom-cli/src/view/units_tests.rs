use super::*;

#[test]
fn counts_are_short() {
    for (number, expected) in [
        (0, "0"),
        (999, "999"),
        (1000, "1.0k"),
        (2140, "2.1k"),
        (9_999, "9.9k"),
        (40_000, "40k"),
        (40_900, "40k"),
        (1_500_000, "1.5M"),
        (2_000_000_000, "2.0G"),
    ] {
        assert_eq!(count(number), expected);
    }
}

#[test]
fn spans_are_short() {
    for (millis, expected) in [
        (0, "0.0 s"),
        (849, "0.8 s"),
        (9_999, "9.9 s"),
        (42_700, "42 s"),
        (60_000, "1 m"),
        (200_000, "3 m 20 s"),
        (7_500_000, "2 h 5 m"),
        (90_000_000, "1 d 1 h"),
    ] {
        assert_eq!(span(Millis(millis)), expected);
    }
    assert_eq!(limit_span(Millis(5000)), "5 s");
    assert_eq!(limit_span(Millis(1500)), "1.5 s");
    assert_eq!(limit_span(Millis(300_000)), "5 m");
}

#[test]
fn costs_show_what_counts_and_never_less() {
    for (nanos, expected) in [
        (0, "$0.00"),
        (1, "$0.000000001"),
        (1_234_567, "$0.0013"),
        (9_990_001, "$0.01"),
        (10_000_000, "$0.01"),
        (250_000_000, "$0.25"),
        (250_000_001, "$0.26"),
        (12_500_000_000, "$12.50"),
    ] {
        assert_eq!(cost(Nanodollars(nanos)), expected, "{nanos}");
    }
}

#[test]
fn dollars_are_numbers() {
    assert!((dollars(Nanodollars(250_000_000)) - 0.25).abs() < 1e-12);
    assert!((dollars(Nanodollars(1)) - 1e-9).abs() < 1e-15);
}

#[test]
fn moments_are_in_the_calendar() {
    for (millis, expected) in [
        (0, "1970-01-01T00:00:00Z"),
        (951_782_400_000, "2000-02-29T00:00:00Z"),
        (1_709_251_199_999, "2024-02-29T23:59:59Z"),
        (1_709_251_200_000, "2024-03-01T00:00:00Z"),
        (4_102_444_800_000, "2100-01-01T00:00:00Z"),
    ] {
        assert_eq!(moment(Timestamp(millis)), expected);
    }
}

#[test]
fn ages_have_one_unit() {
    let now = Timestamp(1_000_000_000);
    for (before, expected) in [
        (12_000, "12 s"),
        (250_000, "4 m"),
        (3_700_000, "1 h"),
        (200_000_000, "2 d"),
    ] {
        assert_eq!(age(now, Timestamp(now.0 - before)), expected);
    }
    assert_eq!(age(Timestamp(0), now), "0 s");
}

#[test]
fn bytes_have_their_unit_apart() {
    for (number, text) in [
        (7, "7 B"),
        (466_247, "466 kB"),
        (98_362_432, "98 MB"),
        (1_117_320_768, "1.1 GB"),
    ] {
        assert_eq!(bytes(number), text);
    }
}
