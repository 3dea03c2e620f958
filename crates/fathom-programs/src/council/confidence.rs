//! Confidence that a voter states.

use serde_json::Value;

use fathom_core::unit::PerMille;

/// A confidence that is no share of a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConfidenceError;

/// Words that make a number something else than a confidence: `80 to 90`, `8 out of 10`.
const GOES_ON: [&str; 4] = ["to", "out", "of", "or"];

/// A number at the beginning of a text, and where it ends.
///
/// `85`, `85%`, `85 percent` and `85/100` are per cent. A number with a point, up to 1.0 and without a sign of per cent is
/// a fraction: `0.85`. So `1` is one per cent and `1.0` is all.
pub(crate) fn at_start(text: &str) -> Result<(PerMille, usize), ConfidenceError> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let mut end = digits(text);
    if end == 0 {
        return Err(ConfidenceError);
    }
    let mut has_point = false;
    if let Some(decimals) = text.get(end..).and_then(|rest| rest.strip_prefix('.')) {
        let count = digits(decimals);
        if count > 0 {
            has_point = true;
            end += 1 + count;
        }
    }
    let (number, rest) = text.split_at(end);
    let unit = unit(rest);
    let rest = rest.get(unit..).unwrap_or_default();
    if goes_on(rest) {
        return Err(ConfidenceError);
    }
    let value = number.parse().map_err(|_| ConfidenceError)?;
    Ok((share(value, has_point && unit == 0)?, end + unit))
}

/// The confidence in a JSON value; nothing for null.
pub(crate) fn of_value(value: &Value) -> Result<Option<PerMille>, ConfidenceError> {
    match value {
        Value::Null => Ok(None),
        Value::Number(number) => {
            let value = number.as_f64().ok_or(ConfidenceError)?;
            share(value, number.is_f64()).map(Some)
        }
        Value::String(text) => {
            let text = text.trim();
            let (milli, end) = at_start(text)?;
            if end == text.len() {
                Ok(Some(milli))
            } else {
                Err(ConfidenceError)
            }
        }
        Value::Bool(_) | Value::Array(_) | Value::Object(_) => Err(ConfidenceError),
    }
}

/// Length of a percent sign with the white space before it; zero if there is none.
fn unit(text: &str) -> usize {
    let sign = text.trim_start_matches([' ', '\u{a0}']);
    let before = text.len() - sign.len();
    for unit in ["%", "/100", "percent", "per cent"] {
        let is_unit = sign
            .get(..unit.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(unit));
        if is_unit {
            return before + unit.len();
        }
    }
    0
}

/// True if the rest makes it another number, or a range.
fn goes_on(rest: &str) -> bool {
    if rest.starts_with(|c: char| c.is_alphanumeric() || c == '/' || c == '%') {
        return true;
    }
    let next = rest.trim_start_matches([' ', '\u{a0}', '.', ',', '-', '–', '—', '/', '%']);
    let gap = rest.get(..rest.len() - next.len()).unwrap_or_default();
    if next.starts_with(|c: char| c.is_ascii_digit()) {
        return !gap.is_empty() && !gap.ends_with(". ") && !gap.ends_with(", ");
    }
    let word = next.split(|c: char| !c.is_alphanumeric()).next();
    gap.trim().is_empty()
        && word.is_some_and(|word| GOES_ON.iter().any(|other| word.eq_ignore_ascii_case(other)))
}

fn share(value: f64, may_be_fraction: bool) -> Result<PerMille, ConfidenceError> {
    let milli = if may_be_fraction && value <= 1.0 {
        value * 1000.0
    } else {
        value * 10.0
    };
    if !(0.0..=1000.0).contains(&milli) {
        return Err(ConfidenceError);
    }
    // Within these bounds the text of the rounded number is a small integer, or `-0`.
    let text = format!("{milli:.0}");
    let milli = text.parse().map_err(|_| ConfidenceError)?;
    PerMille::new(milli).map_err(|_| ConfidenceError)
}
