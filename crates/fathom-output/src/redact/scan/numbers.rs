//! Numbers: groups of digits with single separators, and the entities they can be.

use super::{EntityKind, TextScan};
use crate::redact::check_digits;

/// Maximum number of groups in a number.
pub(super) const GROUPS_MAX: usize = 8;
/// Maximum number of digits in a number.
const DIGITS_MAX: usize = 24;

/// Separator before a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum DigitGap {
    /// None: the first group.
    #[default]
    Begin,
    Space,
    Dash,
    Dot,
    Slash,
    /// A bracket, with or without a space or dash beside it.
    Bracket,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DigitGroup {
    pub start: usize,
    pub end: usize,
    pub gap: DigitGap,
}

impl DigitGroup {
    pub(super) fn len(self) -> usize {
        self.end - self.start
    }
}

/// Groups of digits that may be one number.
#[derive(Debug)]
pub(super) struct DigitRun {
    groups: [DigitGroup; GROUPS_MAX],
    count: usize,
}

impl DigitRun {
    pub(super) fn groups(&self) -> &[DigitGroup] {
        &self.groups[..self.count]
    }
}

/// A format of a number: the lengths of its groups, and its separators.
struct NumberForm {
    entity: EntityKind,
    lengths: &'static [usize],
    gaps: &'static [DigitGap],
    strength: MatchStrength,
}

/// Strength of a format by itself.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MatchStrength {
    /// Its check digits and format are enough.
    Alone,
    /// Too many other numbers look the same: a context word is needed.
    WithContext,
}

const fn form(
    entity: EntityKind,
    lengths: &'static [usize],
    gaps: &'static [DigitGap],
    strength: MatchStrength,
) -> NumberForm {
    NumberForm {
        entity,
        lengths,
        gaps,
        strength,
    }
}

const SPACE: &[DigitGap] = &[DigitGap::Space];
const DASH: &[DigitGap] = &[DigitGap::Dash];
const DOT: &[DigitGap] = &[DigitGap::Dot];

/// Separators are repeated: one stands for all.
const FORMS: [NumberForm; 31] = {
    use EntityKind as E;
    use MatchStrength::{Alone, WithContext};
    [
        form(E::FrNir, &[15], &[], Alone),
        form(E::FrNir, &[13, 2], SPACE, Alone),
        form(E::FrNir, &[1, 2, 2, 2, 3, 3, 2], SPACE, Alone),
        form(E::Card, &[4, 4, 4, 4], SPACE, Alone),
        form(E::Card, &[4, 4, 4, 4], DASH, Alone),
        form(E::Card, &[4, 6, 5], SPACE, Alone),
        form(E::Card, &[4, 6, 5], DASH, Alone),
        form(E::Card, &[4, 6, 4], SPACE, Alone),
        form(E::Card, &[4, 6, 4], DASH, Alone),
        form(E::Card, &[4, 4, 4, 4, 3], SPACE, Alone),
        form(E::UsSsn, &[3, 2, 4], DASH, Alone),
        form(E::UsSsn, &[3, 2, 4], SPACE, WithContext),
        form(E::UsSsn, &[9], &[], WithContext),
        form(E::DeSteuerId, &[11], &[], Alone),
        form(E::DeSteuerId, &[2, 3, 3, 3], SPACE, Alone),
        form(E::PlPesel, &[11], &[], Alone),
        form(
            E::BrCpf,
            &[3, 3, 3, 2],
            &[DigitGap::Dot, DigitGap::Dot, DigitGap::Dash],
            Alone,
        ),
        form(E::BrCpf, &[11], &[], WithContext),
        form(E::BrCpf, &[9, 2], DASH, WithContext),
        form(E::InAadhaar, &[4, 4, 4], SPACE, Alone),
        form(E::InAadhaar, &[4, 4, 4], DASH, Alone),
        form(E::InAadhaar, &[12], &[], WithContext),
        form(E::UkNhs, &[3, 3, 4], SPACE, WithContext),
        form(E::UkNhs, &[3, 3, 4], DASH, WithContext),
        form(E::UkNhs, &[10], &[], WithContext),
        form(E::NlBsn, &[9], &[], WithContext),
        form(E::NlBsn, &[4, 2, 3], DOT, WithContext),
        form(E::NlBsn, &[4, 2, 3], SPACE, WithContext),
        form(E::NlBsn, &[3, 3, 3], SPACE, WithContext),
        form(E::NlBsn, &[3, 3, 3], DOT, WithContext),
        form(E::NlBsn, &[8], &[], WithContext),
    ]
};

impl NumberForm {
    fn fits(&self, groups: &[DigitGroup]) -> bool {
        groups[0].len() == self.lengths[0]
            && groups.len() >= self.lengths.len()
            && self
                .lengths
                .iter()
                .zip(groups)
                .all(|(length, group)| group.len() == *length)
            && groups[1..self.lengths.len()]
                .iter()
                .enumerate()
                .all(|(place, group)| self.gaps[place % self.gaps.len()] == group.gap)
    }
}

impl TextScan<'_> {
    /// Examines a number from its first group.
    pub(super) fn number(&mut self, start: usize) -> Option<usize> {
        let run = self.groups_from(start);
        let groups = run.groups();
        let last = groups.last()?;
        self.count(last.end - start);
        if self.char_before(start) == Some('+') {
            return self.phone_abroad(&run, start - usize::from(start > 0));
        }
        if self.inside_number(start) {
            return None;
        }
        if let Some(end) = dotted(groups) {
            return self.ip4(start, end);
        }
        if groups[0].len() == 8 {
            let end = self.spanish(start, groups[0].end);
            if end.is_some() {
                return end;
            }
        }
        if let [one, two, three] = groups
            && (one.len(), two.len(), three.len()) == (1, 2, 2)
        {
            let end = self.corsican(start);
            if end.is_some() {
                return end;
            }
        }
        self.identity(groups).or_else(|| self.phone_at_home(&run))
    }

    fn spanish(&mut self, start: usize, end: usize) -> Option<usize> {
        let token = self.bytes[start..end].to_vec();
        self.dni(start, end, &token, 0)
    }

    /// Cards and national numbers.
    fn identity(&mut self, groups: &[DigitGroup]) -> Option<usize> {
        let first = groups[0];
        let mut choice: Option<(EntityKind, usize)> = None;
        if (13..=19).contains(&first.len()) && !self.number_goes_on(first.end) {
            let digits = self.digits(&groups[..1]);
            if card(&digits) {
                choice = Some((EntityKind::Card, first.end));
            }
        }
        for form in &FORMS {
            if !form.fits(groups) {
                continue;
            }
            let (own, rest) = groups.split_at(form.lengths.len());
            let end = own[own.len() - 1].end;
            if self.number_goes_on(end)
                || (form.entity != EntityKind::Card && self.pattern_goes_on(own, rest))
            {
                continue;
            }
            let digits = self.digits(own);
            let holds = holds(form.entity, &digits);
            if holds && self.expected(form.entity, first.start, end) {
                choice = Some((form.entity, end));
                break;
            }
            if holds && form.strength == MatchStrength::Alone && choice.is_none() {
                choice = Some((form.entity, end));
            }
        }
        let (entity, end) = choice?;
        self.push(entity, first.start, end);
        Some(end)
    }

    /// True if similar groups precede or follow: then these are part of something longer.
    fn pattern_goes_on(&self, own: &[DigitGroup], rest: &[DigitGroup]) -> bool {
        let (Some(first), Some(last)) = (own.first(), own.last()) else {
            return false;
        };
        let after = rest.first().is_some_and(|next| {
            next.gap == last.gap && (next.gap != DigitGap::Space || next.len() == last.len())
        });
        let mut behind = self.bytes[..first.start].iter().rev().skip(1);
        let length = behind
            .clone()
            .take(GROUPS_MAX)
            .take_while(|byte| byte.is_ascii_alphanumeric())
            .count();
        let before = own.len() > 1
            && self.char_before(first.start) == Some(' ')
            && length == first.len()
            && behind.next().is_some_and(u8::is_ascii_digit);
        after || before
    }

    /// Collects groups from the first one.
    fn groups_from(&self, start: usize) -> DigitRun {
        let mut run = DigitRun {
            groups: [DigitGroup::default(); GROUPS_MAX],
            count: 0,
        };
        let (mut at, mut gap) = (start, DigitGap::Begin);
        while run.count < GROUPS_MAX {
            let length = self.bytes[at..]
                .iter()
                .take(DIGITS_MAX + 1)
                .take_while(|byte| byte.is_ascii_digit())
                .count();
            let end = at + length;
            let too_long = length > DIGITS_MAX;
            if length == 0 || too_long || (run.count > 0 && self.joined_after(end)) {
                break;
            }
            run.groups[run.count] = DigitGroup {
                start: at,
                end,
                gap,
            };
            run.count += 1;
            let Some((next, bytes)) = gap_at(&self.bytes[end..]) else {
                break;
            };
            (at, gap) = (end + bytes, next);
        }
        run
    }

    /// True if the number continues to the left: after `.` or `-` and a digit.
    fn inside_number(&self, start: usize) -> bool {
        start >= 2
            && matches!(self.bytes[start - 1], b'.' | b'-')
            && self.bytes[start - 2].is_ascii_digit()
    }

    fn number_goes_on(&self, end: usize) -> bool {
        matches!(self.byte(end), Some(b'.' | b'-'))
            && self.byte(end + 1).is_some_and(|byte| byte.is_ascii_digit())
    }

    pub(super) fn digits(&self, groups: &[DigitGroup]) -> Vec<u8> {
        groups
            .iter()
            .flat_map(|group| &self.bytes[group.start..group.end])
            .map(|byte| byte - b'0')
            .collect()
    }
}

/// The end of four groups separated by dots, if there is no fifth.
fn dotted(groups: &[DigitGroup]) -> Option<usize> {
    let dots = groups
        .iter()
        .skip(1)
        .take_while(|group| group.gap == DigitGap::Dot)
        .count();
    (dots == 3).then(|| groups[3].end)
}

fn card(digits: &[u8]) -> bool {
    // Cards of thirteen digits hardly exist any more; article numbers are everywhere, and one in ten would
    // pass.
    check_digits::card_issuer(digits) && check_digits::luhn(digits) && !check_digits::ean_13(digits)
}

fn holds(entity: EntityKind, digits: &[u8]) -> bool {
    match entity {
        EntityKind::Card => card(digits),
        EntityKind::FrNir => check_digits::fr_nir(digits),
        EntityKind::UsSsn => check_digits::us_ssn(digits),
        EntityKind::DeSteuerId => check_digits::de_steuer_id(digits),
        EntityKind::PlPesel => check_digits::pl_pesel(digits),
        EntityKind::BrCpf => check_digits::br_cpf(digits),
        EntityKind::InAadhaar => digits[0] > 1 && check_digits::verhoeff(digits),
        EntityKind::UkNhs => check_digits::uk_nhs(digits),
        // An old number of eight digits is one of nine that starts with zero.
        EntityKind::NlBsn if digits.len() == 8 => check_digits::nl_bsn(&[&[0], digits].concat()),
        EntityKind::NlBsn => check_digits::nl_bsn(digits),
        _ => false,
    }
}

/// The separator between two groups, and its size.
fn gap_at(bytes: &[u8]) -> Option<(DigitGap, usize)> {
    let (gap, length) = match bytes {
        [b')', b' ' | b'-' | b'/', ..] | [b' ' | b'-', b'(', ..] => (DigitGap::Bracket, 2),
        [b')' | b'(', ..] => (DigitGap::Bracket, 1),
        [b' ', ..] => (DigitGap::Space, 1),
        [b'-', ..] => (DigitGap::Dash, 1),
        [b'.', ..] => (DigitGap::Dot, 1),
        [b'/', ..] => (DigitGap::Slash, 1),
        // Non-breaking space, non-breaking hyphen and en dash.
        [0xc2, 0xa0, ..] => (DigitGap::Space, 2),
        [0xe2, 0x80, 0x91 | 0x93, ..] => (DigitGap::Dash, 3),
        _ => return None,
    };
    bytes
        .get(length)
        .is_some_and(u8::is_ascii_digit)
        .then_some((gap, length))
}
