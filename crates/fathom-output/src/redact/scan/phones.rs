//! Telephone numbers: with a country code anywhere, without one if a context word or a region makes them
//! likely.

use std::ops::RangeInclusive;

use super::numbers::{DigitGap, DigitGroup, DigitRun};
use super::{EntityKind, PhoneRegion, TextScan, joins};

/// Number of digits of a national number after a context word.
const ANNOUNCED_DIGITS: RangeInclusive<usize> = 7..=12;
/// Maximum number of groups of a national number.
const HOME_GROUPS_MAX: usize = 6;

impl TextScan<'_> {
    /// A number with country code, from its first group. `start` is the position of `+`.
    pub(super) fn phone_abroad(&mut self, run: &DigitRun, start: usize) -> Option<usize> {
        let before = self.char_before(start);
        if before.is_some_and(|before| joins(before) || before == '+') {
            return None;
        }
        let end = self.abroad_end(run.groups(), 0)?;
        self.push(EntityKind::Phone, start, end);
        Some(end)
    }

    /// End of a number whose country code starts after `skip` digits.
    fn abroad_end(&self, groups: &[DigitGroup], skip: usize) -> Option<usize> {
        let mut digits = Vec::new();
        let mut end = None;
        for (place, group) in groups.iter().enumerate() {
            if group.gap == DigitGap::Slash && place < 2 {
                break;
            }
            // `+49 (0)30`: the zero is dialled only within the country.
            let trunk = place > 0
                && group.len() == 1
                && group.gap == DigitGap::Bracket
                && self.bytes[group.start] == b'0'
                && self.byte(group.end) == Some(b')');
            if trunk {
                continue;
            }
            digits.extend(self.digits(&[*group]));
            let number = digits.get(skip..)?;
            let Some((code, lengths)) = country(number) else {
                if number.len() >= 3 {
                    return None;
                }
                continue;
            };
            let national = number.len().saturating_sub(code);
            if national > *lengths.end() {
                break;
            }
            if lengths.contains(&national) && !self.joined_after(group.end) {
                end = Some(group.end);
            }
        }
        end
    }

    /// A number without country code, or with one after two zeros.
    pub(super) fn phone_at_home(&mut self, run: &DigitRun) -> Option<usize> {
        let groups = run.groups();
        let first = groups[0];
        let bracket = self.char_before(first.start) == Some('(')
            && groups
                .get(1)
                .is_some_and(|next| next.gap == DigitGap::Bracket);
        let start = first.start - usize::from(bracket && first.start > 0);
        let announced = self.in_context(EntityKind::Phone, start, first.end);
        let end = self
            .zeros_end(groups, announced)
            .or_else(|| self.home_end(groups, bracket, announced))?;
        self.push(EntityKind::Phone, start, end);
        Some(end)
    }

    /// `0049 30 …`.
    fn zeros_end(&self, groups: &[DigitGroup], announced: bool) -> Option<usize> {
        let first = groups[0];
        // `10:00:00 2024-05-02`: the zeros end a time or a fraction.
        let before = first
            .start
            .checked_sub(2)
            .and_then(|at| self.bytes.get(at..at + 2));
        let is_part = before.is_some_and(|b| b[0].is_ascii_digit() && matches!(b[1], b':' | b'.'));
        if is_part || groups.get(1..).is_some_and(is_date) {
            return None;
        }
        let zeros = self.text[first.start..first.end].starts_with("00");
        let end = zeros.then(|| self.abroad_end(groups, 2)).flatten()?;
        (announced || end != first.end).then_some(end)
    }

    fn home_end(&self, groups: &[DigitGroup], bracket: bool, announced: bool) -> Option<usize> {
        if is_date(groups) {
            return None;
        }
        let mut best = None;
        let mut digits = Vec::new();
        let mut lengths = Vec::new();
        for (place, group) in groups.iter().take(HOME_GROUPS_MAX).enumerate() {
            // A short number after a dash and a space is a separate one.
            let other = place > 1
                && group.gap == DigitGap::Space
                && group.len() < 3
                && groups[place - 1].gap != DigitGap::Space;
            if other || self.joined_after(group.end) {
                break;
            }
            digits.extend(self.digits(&[*group]));
            lengths.push(group.len());
            let certain = bracket && north_american(&digits, &lengths);
            let known = |region: &PhoneRegion| is_home(*region, &digits, &lengths);
            let configured = self.rules.regions.iter().any(known);
            let expected = announced && ANNOUNCED_DIGITS.contains(&digits.len());
            if certain || configured || expected {
                best = Some(group.end);
            }
            if certain {
                break;
            }
        }
        best
    }
}

/// True if groups are a date: `2024-05-17`, `17.05.2024`, `5/17/24`.
fn is_date(groups: &[DigitGroup]) -> bool {
    let lengths: Vec<usize> = groups.iter().take(3).map(|group| group.len()).collect();
    let gaps = groups.get(1).zip(groups.get(2));
    let same = gaps.is_some_and(|(one, two)| {
        one.gap == two.gap && matches!(one.gap, DigitGap::Dash | DigitGap::Dot | DigitGap::Slash)
    });
    same && matches!(lengths[..], [4, 1..=2, 1..=2] | [1..=2, 1..=2, 4 | 2]) && groups.len() < 5
}

fn north_american(digits: &[u8], lengths: &[usize]) -> bool {
    let digits = match (digits.len(), digits) {
        (11, [1, rest @ ..]) => rest,
        (10, digits) => digits,
        _ => return false,
    };
    matches!(lengths, [3, 3, 4] | [1, 3, 3, 4] | [10 | 11] | [3, 7])
        && digits[0] > 1
        && digits[3] > 1
}

/// True if digits are written like a number of a region.
fn is_home(region: PhoneRegion, digits: &[u8], lengths: &[usize]) -> bool {
    let count = digits.len();
    let zero = digits[0] == 0 && digits.get(1).is_some_and(|&digit| digit != 0);
    match region {
        PhoneRegion::Us => north_american(digits, lengths),
        PhoneRegion::Gb => zero && (10..=11).contains(&count),
        PhoneRegion::De => zero && (8..=12).contains(&count),
        PhoneRegion::Fr | PhoneRegion::Nl => zero && count == 10,
        PhoneRegion::Es => count == 9 && digits[0] >= 6,
        PhoneRegion::It => (zero || digits[0] == 3) && (9..=11).contains(&count),
        PhoneRegion::Pl => count == 9 && matches!(lengths, [3, 3, 3] | [2, 3, 2, 2]),
        PhoneRegion::In => count == 10 && digits[0] >= 6,
        PhoneRegion::Br => (10..=11).contains(&count) && lengths.len() >= 2 && digits[0] != 0,
    }
}

/// Number of digits of a country code, and of the digits after it.
fn country(digits: &[u8]) -> Option<(usize, RangeInclusive<usize>)> {
    let (first, second) = (*digits.first()?, digits.get(1).copied());
    let lengths = match (first, second?) {
        (1, area) => return (area > 1).then_some((1, 10..=10)),
        (7, _) => return Some((1, 10..=10)),
        (3, 0) | (5, 2 | 7 | 8) | (9, 0 | 1 | 8) => 10..=10,
        (2, 7) | (3, 1 | 3 | 4) | (4, 0 | 1 | 8) | (5, 6) | (6, 1) | (9, 3 | 4) => 9..=9,
        (4, 5 | 7) | (5, 3) | (6, 5) => 8..=8,
        (3, 2 | 6) | (5, 1) | (6, 6) => 8..=9,
        (2, 0) | (6, 3 | 4) | (8, 2) => 8..=10,
        (4, 4) | (8, 1 | 4) | (9, 2) => 9..=10,
        (5, 4 | 5) | (8, 6) => 10..=11,
        (3 | 4, 9) => 6..=11,
        (4, 3) => 7..=13,
        (4, 6) | (6, 0) | (9, 5) => 7..=10,
        (6, 2) => 8..=12,
        (2, 1..=6 | 9)
        | (3, 5 | 7 | 8)
        | (4, 2)
        | (5, 0 | 9)
        | (6, 7..=9)
        | (8, 0 | 5 | 7 | 8)
        | (9, 6 | 7 | 9) => return Some((3, 6..=12)),
        _ => return None,
    };
    Some((2, lengths))
}
