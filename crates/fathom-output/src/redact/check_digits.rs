//! Check digits and other tests of numbers.
//!
//! Digits come as values from 0 to 9, letters as upper-case ASCII.

use sha2::{Digest as _, Sha256};
use sha3::Keccak256;

/// Cards: every second digit from the right is doubled.
pub(super) fn luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, &digit)| {
            let doubled = u32::from(digit) << (place & 1);
            doubled / 10 + doubled % 10
        })
        .sum();
    sum.is_multiple_of(10)
}

/// True if an issuer uses cards with this prefix and length.
pub(super) fn card_issuer(digits: &[u8]) -> bool {
    let begin = |count: usize| number(&digits[..count]);
    let length = digits.len();
    match (begin(2), length) {
        // Visa.
        (40..=49, 13 | 16 | 19)
        // MasterCard, Discover and UnionPay, JCB.
        | (51..=55, 16)
        | (35 | 62 | 65, 16..=19)
        // American Express.
        | (34 | 37, 15)
        // Diners Club.
        | (36 | 38 | 39, 14..=19)
        // Maestro.
        | (50 | 56..=58 | 63 | 67..=69, 13..=19) => true,
        (22..=27, 16) => (2221..=2720).contains(&begin(4)),
        (30, 14..=19) => (300..=305).contains(&begin(3)) || begin(4) == 3095,
        (60, 16..=19) => begin(4) == 6011 || begin(3) == 604,
        (64, 16..=19) => (644..=649).contains(&begin(3)),
        _ => false,
    }
}

/// The value of a few digits.
pub(super) fn number(digits: &[u8]) -> u64 {
    digits
        .iter()
        .fold(0, |value, &digit| value * 10 + u64::from(digit))
}

/// Remainder of letters and digits modulo 97, where letters count from 10.
pub(super) fn modulo_97(letters: impl Iterator<Item = u8>) -> u32 {
    letters.fold(0, |rest, letter| match letter {
        b'0'..=b'9' => (rest * 10 + u32::from(letter - b'0')) % 97,
        b'A'..=b'Z' => (rest * 100 + u32::from(letter - b'A') + 10) % 97,
        _ => rest,
    })
}

/// Length of a country's account numbers.
pub(super) fn iban_length(country: [u8; 2]) -> Option<usize> {
    Some(match &country {
        b"NO" => 15,
        b"BE" => 16,
        b"DK" | b"FI" | b"FK" | b"FO" | b"GL" | b"NL" | b"SD" => 18,
        b"MK" | b"SI" => 19,
        b"AT" | b"BA" | b"EE" | b"KZ" | b"LT" | b"LU" | b"MN" | b"XK" => 20,
        b"CH" | b"HR" | b"LI" | b"LV" => 21,
        b"BG" | b"BH" | b"CR" | b"DE" | b"GB" | b"GE" | b"IE" | b"ME" | b"RS" | b"VA" => 22,
        b"AE" | b"GI" | b"IL" | b"IQ" | b"OM" | b"SO" | b"TL" => 23,
        b"AD" | b"CZ" | b"ES" | b"MD" | b"PK" | b"RO" | b"SA" | b"SE" | b"SK" | b"TN" | b"VG" => 24,
        b"LY" | b"PT" | b"ST" => 25,
        b"IS" | b"TR" => 26,
        b"BI" | b"DJ" | b"FR" | b"GR" | b"IT" | b"MC" | b"MR" | b"SM" => 27,
        b"AL" | b"AZ" | b"BY" | b"CY" | b"DO" | b"GT" | b"HN" | b"HU" | b"LB" | b"NI" | b"PL"
        | b"SV" => 28,
        b"BR" | b"EG" | b"PS" | b"QA" | b"UA" => 29,
        b"JO" | b"KW" | b"MU" | b"YE" => 30,
        b"MT" | b"SC" => 31,
        b"LC" => 32,
        b"RU" => 33,
        _ => return None,
    })
}

/// True if upper-case letters and digits form an account number.
pub(super) fn iban(text: &[u8]) -> bool {
    let Some((head, rest)) = text.split_at_checked(4) else {
        return false;
    };
    // Without the two digits, every 97th run of words after `it` or `at` would pass.
    let given_out =
        head[2..].iter().all(u8::is_ascii_digit) && !matches!(&head[2..], b"00" | b"01" | b"99");
    given_out
        && iban_length([head[0], head[1]]) == Some(text.len())
        && modulo_97(rest.iter().chain(head).copied()) == 1
}

/// Social security number: no area, group or serial of zeros, and no area that was never used.
pub(super) fn us_ssn(digits: &[u8]) -> bool {
    let (area, group, serial) = (
        number(&digits[..3]),
        number(&digits[3..5]),
        number(&digits[5..]),
    );
    // Numbers that became known through advertisements and belong to no one.
    let printed_in_adverts = matches!((area, group, serial), (78, 5, 1120) | (219, 9, 9999));
    digits.len() == 9
        && !matches!(area, 0 | 666 | 900..)
        && group != 0
        && serial != 0
        && !printed_in_adverts
}

/// Health service number: weights from 10 to 2, modulo 11.
pub(super) fn uk_nhs(digits: &[u8]) -> bool {
    let sum: u32 = weighted(&digits[..9], &[10, 9, 8, 7, 6, 5, 4, 3, 2]);
    let check = (11 - sum % 11) % 11;
    digits.len() == 10 && check == u32::from(digits[9])
}

/// German tax number: one digit of the first ten comes twice or thrice, at least one is missing, and ISO 7064 holds.
pub(super) fn de_steuer_id(digits: &[u8]) -> bool {
    if digits.len() != 11 || digits[0] == 0 {
        return false;
    }
    let mut counts = [0_u8; 10];
    for &digit in &digits[..10] {
        counts[usize::from(digit)] += 1;
    }
    let repeated = counts.iter().filter(|&&count| count > 1).count();
    if repeated != 1 || counts.iter().any(|&count| count > 3) {
        return false;
    }
    let mut product = 10;
    for &digit in &digits[..10] {
        let sum = match (u32::from(digit) + product) % 10 {
            0 => 10,
            sum => sum,
        };
        product = (2 * sum) % 11;
    }
    (11 - product) % 10 == u32::from(digits[10])
}

/// French number: sex, year, month, place and serial, with two digits of 97 minus the remainder.
pub(super) fn fr_nir(digits: &[u8]) -> bool {
    digits.len() == 15
        && matches!(digits[0], 1 | 2)
        && matches!(number(&digits[3..5]), 1..=12 | 20..=42 | 50..=99)
        && number(&digits[13..]) == 97 - number(&digits[..13]) % 97
}

/// A French number of Corsica, as letters and digits: its place is `2A` or `2B`, which count as 19 and 18.
pub(super) fn fr_nir_of_corsica(letters: &[u8]) -> bool {
    let place: [u8; 2] = match letters.get(5..7) {
        Some(b"2A") => [1, 9],
        Some(b"2B") => [1, 8],
        _ => return false,
    };
    let mut digits: Vec<u8> = letters
        .iter()
        .map(|letter| letter.wrapping_sub(b'0'))
        .collect();
    digits[5..7].copy_from_slice(&place);
    digits.iter().all(|&digit| digit < 10) && fr_nir(&digits)
}

/// Numbers of goods: weights 1 and 3.
pub(super) fn ean_13(digits: &[u8]) -> bool {
    let sum: u32 = weighted(digits, &[1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1]);
    digits.len() == 13 && sum.is_multiple_of(10)
}

/// An address of Ethereum, without `0x`: where it has small and capital letters, they check it (EIP-55).
pub(super) fn ethereum(digits: &[u8]) -> bool {
    if !digits.iter().any(u8::is_ascii_lowercase) || !digits.iter().any(u8::is_ascii_uppercase) {
        return true;
    }
    let hash = <Keccak256 as sha3::Digest>::digest(digits.to_ascii_lowercase());
    digits.iter().enumerate().all(|(place, digit)| {
        let pair = hash[place / 2];
        let check = if place % 2 == 0 {
            pair >> 4
        } else {
            pair & 0xf
        };
        !digit.is_ascii_alphabetic() || digit.is_ascii_uppercase() == (check >= 8)
    })
}

/// The letter of a Spanish number.
pub(super) fn es_dni(number: u64, letter: u8) -> bool {
    const LETTERS: &[u8; 23] = b"TRWAGMYFPDXBNJZSQVHLCKE";
    usize::try_from(number % 23).is_ok_and(|place| LETTERS[place] == letter)
}

/// Italian tax code: six letters, a date, a place, and a letter that checks them. Digits may be written as letters where
/// two people would have the same code.
pub(super) fn it_codice_fiscale(text: &[u8]) -> bool {
    const ODD: [u32; 26] = [
        1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24,
        23,
    ];
    if text.len() != 16 {
        return false;
    }
    let shaped = text.iter().enumerate().all(|(place, letter)| match place {
        0..=5 | 11 | 15 => letter.is_ascii_uppercase(),
        8 => b"ABCDEHLMPRST".contains(letter),
        _ => letter.is_ascii_digit() || b"LMNPQRSTUV".contains(letter),
    });
    let sum: u32 = text[..15]
        .iter()
        .enumerate()
        .map(|(place, &letter)| {
            let value = match letter {
                b'0'..=b'9' => letter - b'0',
                _ => letter.wrapping_sub(b'A') % 26,
            };
            // Places count from one, so the first is odd.
            if place % 2 == 0 {
                ODD[usize::from(value)]
            } else {
                u32::from(value)
            }
        })
        .sum();
    shaped && sum % 26 == u32::from(text[15].wrapping_sub(b'A'))
}

/// Dutch number: weights from 9 to 2, and the last digit taken away, modulo 11.
pub(super) fn nl_bsn(digits: &[u8]) -> bool {
    if digits.len() != 9 || digits.iter().all(|&digit| digit == digits[0]) {
        return false;
    }
    let sum = weighted(&digits[..8], &[9, 8, 7, 6, 5, 4, 3, 2]);
    sum % 11 == u32::from(digits[8]) % 11
}

/// Polish number: a date with the century in its month, and weights 1, 3, 7, 9.
pub(super) fn pl_pesel(digits: &[u8]) -> bool {
    if digits.len() != 11 {
        return false;
    }
    // Months tell the century, and only people of two centuries are alive.
    let month = number(&digits[2..4]);
    let day = number(&digits[4..6]);
    let sum = weighted(&digits[..10], &[1, 3, 7, 9, 1, 3, 7, 9, 1, 3]);
    matches!(month, 1..=12 | 21..=32)
        && (1..=31).contains(&day)
        && (10 - sum % 10) % 10 == u32::from(digits[10])
}

/// Brazilian number: two check digits, and not the same digit throughout.
pub(super) fn br_cpf(digits: &[u8]) -> bool {
    if digits.len() != 11 || digits.iter().all(|&digit| digit == digits[0]) {
        return false;
    }
    let check = |sum: u32| match 11 - sum % 11 {
        10 | 11 => 0,
        check => check,
    };
    check(weighted(&digits[..9], &[10, 9, 8, 7, 6, 5, 4, 3, 2])) == u32::from(digits[9])
        && check(weighted(&digits[..10], &[11, 10, 9, 8, 7, 6, 5, 4, 3, 2]))
            == u32::from(digits[10])
}

fn weighted(digits: &[u8], weights: &[u32]) -> u32 {
    digits
        .iter()
        .zip(weights)
        .map(|(&digit, weight)| u32::from(digit) * weight)
        .sum()
}

/// Verhoeff's check, over the symmetries of a pentagon.
pub(super) fn verhoeff(digits: &[u8]) -> bool {
    const PERMUTE: [[u8; 10]; 8] = [
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
        [1, 5, 7, 6, 2, 8, 3, 0, 9, 4],
        [5, 8, 0, 3, 7, 9, 6, 1, 4, 2],
        [8, 9, 1, 6, 0, 4, 3, 5, 2, 7],
        [9, 4, 5, 3, 1, 2, 6, 8, 7, 0],
        [4, 2, 8, 6, 5, 7, 3, 9, 0, 1],
        [2, 7, 9, 3, 8, 0, 6, 4, 1, 5],
        [7, 0, 4, 6, 9, 1, 3, 2, 5, 8],
    ];
    let product = digits
        .iter()
        .rev()
        .enumerate()
        .fold(0, |so_far, (place, &digit)| {
            pentagon(so_far, PERMUTE[place % 8][usize::from(digit)])
        });
    product == 0
}

/// The product of two symmetries of a pentagon: 0 to 4 turn it, 5 to 9 turn it over.
fn pentagon(left: u8, right: u8) -> u8 {
    match (left < 5, right < 5) {
        (true, true) => (left + right) % 5,
        (true, false) => (left + right - 5) % 5 + 5,
        (false, true) => (left - 5 + 5 - right) % 5 + 5,
        (false, false) => (left - 5 + 5 - (right - 5)) % 5,
    }
}

/// An address of Bitcoin in its old form: 25 bytes, of which the last four check the others.
pub(super) fn base58_check(text: &[u8]) -> bool {
    const ALPHABET: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
    let mut bytes = [0_u8; 25];
    for letter in text {
        let Some(value) = ALPHABET.iter().position(|known| known == letter) else {
            return false;
        };
        let mut carry = u32::try_from(value).unwrap_or_default();
        for byte in bytes.iter_mut().rev() {
            carry += 58 * u32::from(*byte);
            *byte = (carry & 0xff) as u8;
            carry >>= 8;
        }
        if carry != 0 {
            return false;
        }
    }
    let (body, check) = bytes.split_at(21);
    matches!(body[0], 0 | 5) && Sha256::digest(Sha256::digest(body))[..4] == *check
}

#[cfg(test)]
#[path = "check_digits_tests.rs"]
mod tests;
