//! Codes of letters and digits: bank accounts, national numbers with letters, coin addresses.

use bech32::segwit;

use super::{EntityKind, TextScan};
use crate::redact::check_digits;

const IBAN_CHARS_MAX: usize = 34;
const NINO_CHARS: usize = 9;
const NIR_CHARS: usize = 15;
const BECH32_CHARS_MAX: usize = 74;

impl TextScan<'_> {
    /// Examines a token with letters, or one or two letters that may precede a number.
    pub(super) fn mixed(&mut self, start: usize, end: usize) -> Option<usize> {
        let token = self.bytes[start..end].to_ascii_uppercase();
        let lead = token
            .iter()
            .take_while(|byte| byte.is_ascii_alphabetic())
            .count();
        if lead == 2 {
            let iban = self.iban(start, &token);
            if iban.is_some() {
                return iban;
            }
            let nino = self.nino(start);
            if nino.is_some() {
                return nino;
            }
        }
        if matches!(token.get(5..7), Some(b"2A" | b"2B"))
            && let Some(end) = self.corsican(start)
        {
            return Some(end);
        }
        if let Some(end) = self.dni(start, end, &token, lead) {
            return Some(end);
        }
        let entity = self.code(start, end, &token)?;
        self.push(entity, start, end);
        Some(end)
    }

    /// The entity of a whole token.
    fn code(&self, start: usize, end: usize, token: &[u8]) -> Option<EntityKind> {
        let text = &self.bytes[start..end];
        let hex = |bytes: &[u8]| bytes.iter().all(u8::is_ascii_hexdigit);
        match (text, text.len()) {
            ([b'0', b'x', rest @ ..], 42) if hex(rest) && check_digits::ethereum(rest) => {
                Some(EntityKind::Crypto)
            }
            // Keys of Twilio.
            ([b'S', b'K', rest @ ..], 34)
                if hex(rest) && !rest.iter().any(u8::is_ascii_uppercase) =>
            {
                Some(EntityKind::Secret)
            }
            ([b'1' | b'3', ..], 26..=35) if check_digits::base58_check(text) => {
                Some(EntityKind::Crypto)
            }
            ([b'b' | b'B', b'c' | b'C', b'1', ..], 14..=BECH32_CHARS_MAX)
                if segwit::decode(&self.text[start..end]).is_ok() =>
            {
                Some(EntityKind::Crypto)
            }
            (_, 16) if check_digits::it_codice_fiscale(token) => Some(EntityKind::ItCodiceFiscale),
            _ => None,
        }
    }

    /// Collects letters and digits across single gaps, as upper case; `None` if the text has fewer or
    /// continues.
    fn collect(&mut self, start: usize, wanted: usize) -> Option<(Vec<u8>, usize)> {
        let mut letters = Vec::with_capacity(wanted);
        let mut at = start;
        let mut gap = false;
        while letters.len() < wanted {
            match self.byte(at)? {
                byte if byte.is_ascii_alphanumeric() => {
                    letters.push(byte.to_ascii_uppercase());
                    gap = false;
                    at += 1;
                }
                b' ' | b'-' if !gap => {
                    gap = true;
                    at += 1;
                }
                // A non-breaking space.
                0xc2 if !gap && self.byte(at + 1) == Some(0xa0) => {
                    gap = true;
                    at += 2;
                }
                _ => break,
            }
        }
        self.count(at - start);
        (letters.len() == wanted && !self.joined_after(at)).then_some((letters, at))
    }

    fn iban(&mut self, start: usize, token: &[u8]) -> Option<usize> {
        let country = [token[0], token[1]];
        let length = check_digits::iban_length(country)?.min(IBAN_CHARS_MAX);
        if !token[2..].iter().take(2).all(u8::is_ascii_digit) {
            return None;
        }
        let (letters, end) = self.collect(start, length)?;
        if !check_digits::iban(&letters) {
            return None;
        }
        self.push(EntityKind::Iban, start, end);
        Some(end)
    }

    /// A French number with the place `2A` or `2B`.
    pub(super) fn corsican(&mut self, start: usize) -> Option<usize> {
        let (letters, end) = self.collect(start, NIR_CHARS)?;
        if !check_digits::fr_nir_of_corsica(&letters) {
            return None;
        }
        self.push(EntityKind::FrNir, start, end);
        Some(end)
    }

    /// National insurance: two letters, six digits, a letter from A to D.
    fn nino(&mut self, start: usize) -> Option<usize> {
        let (letters, end) = self.collect(start, NINO_CHARS)?;
        let first = |letter: u8| letter.is_ascii_uppercase() && !b"DFIQUV".contains(&letter);
        let never = [b"BG", b"GB", b"KN", b"NK", b"NT", b"TN", b"ZZ"];
        let shaped = first(letters[0])
            && first(letters[1])
            && letters[1] != b'O'
            && !never.iter().any(|pair| letters.starts_with(*pair))
            && letters[2..8].iter().all(u8::is_ascii_digit)
            && (b'A'..=b'D').contains(&letters[8]);
        let as_written = !self.bytes[start..end].iter().any(u8::is_ascii_lowercase);
        if !shaped || !(as_written || self.expected(EntityKind::UkNino, start, end)) {
            return None;
        }
        self.push(EntityKind::UkNino, start, end);
        Some(end)
    }

    /// Spanish numbers: eight digits and a letter; or `X`, `Y`, `Z`, seven digits and a letter.
    pub(super) fn dni(
        &mut self,
        start: usize,
        end: usize,
        token: &[u8],
        lead: usize,
    ) -> Option<usize> {
        let (first, wanted) = match (lead, token.first()?) {
            (0, _) => (None, 9),
            (1, b'X' | b'Y' | b'Z') => (Some(token[0] - b'X'), 9),
            _ => return None,
        };
        let whole = end - start == wanted;
        let in_parts = matches!(self.byte(end), Some(b'-' | b' ')) && end - start < wanted;
        if !whole && !in_parts {
            return None;
        }
        let (letters, end) = self.collect(start, wanted)?;
        let (number, letter) = letters.split_at(8);
        let mut digits: Vec<u8> = number.iter().map(|byte| byte.wrapping_sub(b'0')).collect();
        if let Some(first) = first {
            digits[0] = first;
        }
        let shaped = digits.iter().all(|&digit| digit < 10) && letter[0].is_ascii_uppercase();
        let lower = self.bytes[start..end].iter().any(u8::is_ascii_lowercase);
        let spaced = self.bytes[start..end].contains(&b' ');
        if !shaped
            || !check_digits::es_dni(check_digits::number(&digits), letter[0])
            || ((lower || spaced) && !self.expected(EntityKind::EsDni, start, end))
        {
            return None;
        }
        self.push(EntityKind::EsDni, start, end);
        Some(end)
    }
}
