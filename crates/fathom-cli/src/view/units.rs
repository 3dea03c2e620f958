//! Numbers as a person reads them at a glance.

use fathom_core::unit::{Millis, Nanodollars, Timestamp};

/// `950`, `2.1k`, `40k`, `1.5M`.
pub(crate) fn count(number: u64) -> String {
    const STEPS: [(u64, &str); 3] = [(1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")];
    for (step, unit) in STEPS {
        if number >= step {
            let tenths = number / (step / 10);
            return if tenths < 100 {
                format!("{}.{}{unit}", tenths / 10, tenths % 10)
            } else {
                format!("{}{unit}", tenths / 10)
            };
        }
    }
    number.to_string()
}

/// `466 kB`, `98 MB`, `1.1 GB`.
pub(crate) fn bytes(number: u64) -> String {
    let text = count(number);
    let digits = text.trim_end_matches(char::is_alphabetic);
    let unit = text.trim_start_matches(digits);
    format!("{digits} {unit}B")
}

/// `0.8 s`, `42 s`, `3 m 20 s`, `5 m`, `2 h 5 m`.
pub(crate) fn span(Millis(millis): Millis) -> String {
    let seconds = millis / 1000;
    match seconds {
        0..10 => format!("{seconds}.{} s", millis % 1000 / 100),
        10..60 => format!("{seconds} s"),
        60..3600 => two(seconds / 60, "m", seconds % 60, "s"),
        3600..86_400 => two(seconds / 3600, "h", seconds % 3600 / 60, "m"),
        _ => two(seconds / 86_400, "d", seconds % 86_400 / 3600, "h"),
    }
}

/// Latency of one call: `12 ms`, else a time span.
pub(crate) fn latency(Millis(millis): Millis) -> String {
    if millis < 1000 {
        format!("{millis} ms")
    } else {
        span(Millis(millis))
    }
}

/// A limit, which is usually round: `30 s`, `5 m`.
pub(crate) fn limit_span(Millis(millis): Millis) -> String {
    if millis < 10_000 && millis.is_multiple_of(1000) {
        format!("{} s", millis / 1000)
    } else {
        span(Millis(millis))
    }
}

fn two(large: u64, large_unit: &str, small: u64, small_unit: &str) -> String {
    if small == 0 {
        format!("{large} {large_unit}")
    } else {
        format!("{large} {large_unit} {small} {small_unit}")
    }
}

/// Age in one unit: `12 s`, `4 m`, `3 h`, `2 d`.
pub(crate) fn age(now: Timestamp, then: Timestamp) -> String {
    let seconds = now.since(then).0 / 1000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} m", seconds / 60),
        3600..86_400 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// `$0.00`, `$0.25`, `$12.50`; below a cent two digits that count: `$0.0012`. Never less than it is.
pub(crate) fn cost(Nanodollars(nanos): Nanodollars) -> String {
    const CENT: u64 = 10_000_000;
    const DOLLAR: u64 = 1_000_000_000;
    if nanos == 0 || nanos >= CENT {
        let cents = nanos.div_ceil(CENT);
        return format!("${}.{:02}", cents / 100, cents % 100);
    }
    let mut step = CENT / 10;
    let mut decimals = 3;
    while nanos < step {
        step /= 10;
        decimals += 1;
    }
    // One digit more than the first that counts, rounded up.
    let (step, decimals) = if step > 1 {
        (step / 10, decimals + 1)
    } else {
        (step, decimals)
    };
    let digits = nanos.div_ceil(step) * step;
    let fraction = format!("{:09}", digits % DOLLAR);
    let shown = fraction.get(..decimals).unwrap_or(&fraction);
    format!("${}.{}", digits / DOLLAR, shown.trim_end_matches('0'))
}

/// Dollars as a number for JSON: exact to the ninth decimal.
pub(crate) fn dollars(Nanodollars(nanos): Nanodollars) -> f64 {
    const DOLLAR: u64 = 1_000_000_000;
    let text = format!("{}.{:09}", nanos / DOLLAR, nanos % DOLLAR);
    text.parse().unwrap_or(0.0)
}

/// A moment in UTC, as `2026-11-15T18:04:09Z`.
pub(crate) fn moment(Timestamp(millis): Timestamp) -> String {
    let seconds = millis / 1000;
    let (day, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, date) = civil(day);
    format!(
        "{year:04}-{month:02}-{date:02}T{:02}:{:02}:{:02}Z",
        second / 3600,
        second % 3600 / 60,
        second % 60
    )
}

/// Year, month and day of a day counted from 1970, in the calendar of 400-year cycles that begin in March.
fn civil(days: u64) -> (u64, u64, u64) {
    const CYCLE_DAYS: u64 = 146_097;
    let days = days + 719_468;
    let (cycle, day) = (days / CYCLE_DAYS, days % CYCLE_DAYS);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (cycle * 400 + year + u64::from(month <= 2), month, date)
}

/// `1 call`, `2 calls`.
pub(crate) fn many(number: u64, one: &str, more: &str) -> String {
    if number == 1 {
        format!("1 {one}")
    } else {
        format!("{} {more}", count(number))
    }
}

#[cfg(test)]
#[path = "units_tests.rs"]
mod tests;
