//! Values that must be found, with their check digits computed.

use sha2::{Digest as _, Sha256};

pub(crate) use super::dates::birth_date;
pub(crate) use super::secrets::password;
use super::secrets::{assigned_key, jwt, private_key, service_key};
use super::{Rng, Value};

pub(crate) const MAKERS: [fn(&mut Rng) -> Value; 30] = [
    email,
    phone_abroad,
    phone_home,
    card,
    card,
    iban,
    iban,
    ssn,
    ssn_in_words,
    nino,
    nhs,
    steuer_id,
    nir,
    dni,
    codice_fiscale,
    bsn,
    pesel,
    aadhaar,
    cpf,
    ip4,
    ip6,
    mac,
    url_credentials,
    crypto,
    birth_date,
    service_key,
    jwt,
    private_key,
    assigned_key,
    password,
];

pub(super) const DIGITS: &str = "0123456789";
pub(super) const LETTERS: &str = "abcdefghijklmnopqrstuvwxyz";
pub(super) const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
pub(super) const TOKEN: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
pub(super) const HEX: &str = "0123456789abcdef";

pub(super) fn value(entity: &'static str, text: String, words: &'static [&'static str]) -> Value {
    Value {
        entity,
        row: entity,
        text,
        words,
        needs_word: false,
        frame: None,
    }
}

pub(super) fn with_word(
    entity: &'static str,
    text: String,
    words: &'static [&'static str],
) -> Value {
    Value {
        needs_word: true,
        ..value(entity, text, words)
    }
}

pub(super) fn numbers(text: &str) -> Vec<u32> {
    text.chars()
        .filter_map(|digit| digit.to_digit(10))
        .collect()
}

/// Puts digits into groups.
pub(super) fn grouped(digits: &str, lengths: &[usize], gap: &str) -> String {
    let mut rest = digits;
    let mut groups = Vec::new();
    for &length in lengths {
        let (group, after) = rest.split_at(length);
        groups.push(group);
        rest = after;
    }
    groups.join(gap)
}

pub(crate) fn email(rng: &mut Rng) -> Value {
    let first = rng.pick(&[
        "ann",
        "j.doe",
        "maria.garcia",
        "O'Brien",
        "k",
        "info",
        "sales+eu",
        "max_muster",
        "lee-ann",
        "x9",
        "Jörg",
        "b%c",
        "no-reply",
        "δημήτρης",
        "first.middle.last",
        "2fast4u",
        "R_and_D",
    ]);
    let tail = if rng.chance(40) {
        rng.chars(DIGITS, 2)
    } else {
        String::new()
    };
    let host = rng.pick(&[
        "example",
        "mail.example",
        "uni-koeln",
        "my-firm",
        "post2",
        "a.b.c",
        "EXAMPLE",
        "müller",
        "xn--mller-kva",
        "students.uni-wien",
        "3com",
        "почта",
    ]);
    let top = rng.pick(&[
        "com",
        "org",
        "de",
        "co.uk",
        "museum",
        "io",
        "fr",
        "com.br",
        "PL",
        "photography",
        "ac.jp",
        "xn--p1ai",
        "ai",
    ]);
    value(
        "email",
        format!("{first}{tail}@{host}.{top}"),
        &["email", "E-Mail", "mail", "correo", "contact"],
    )
}

pub(crate) fn phone_abroad(rng: &mut Rng) -> Value {
    let pattern = rng.pick(&[
        "+1 N##-N##-####",
        "+1 (N##) N##-####",
        "+1N##N######",
        "+1.N##.N##.####",
        "+44 20 7### ####",
        "+44 7### ######",
        "+447#########",
        "+49 30 #######",
        "+49 (0)30 ######",
        "+49151########",
        "+49-89-######",
        "+33 6 ## ## ## ##",
        "+33 1 ## ## ## ##",
        "+336########",
        "+34 6## ### ###",
        "+34 91# ### ###",
        "+39 3## ### ####",
        "+39 06 #### ####",
        "+31 6 ########",
        "+31 20 ### ####",
        "+48 5## ### ###",
        "+91 9#### #####",
        "+919#########",
        "+55 11 9####-####",
        "+55 (11) 9####-####",
        "+41 79 ### ## ##",
        "+43 664 #######",
        "+45 ## ## ## ##",
        "+46 70 ### ## ##",
        "+81 90 #### ####",
        "+61 4## ### ###",
        "+353 8# ### ####",
        "+351 9## ### ###",
        "+972 5#-###-####",
        "+86 13# #### ####",
        "+7 9## ###-##-##",
        "+7 (495) ###-##-##",
        "+380 67 ### ## ##",
        "+90 53# ### ## ##",
        "+30 69# ### ####",
        "+420 60# ### ###",
        "+36 30 ### ####",
        "+40 72# ### ###",
        "+82 10-####-####",
        "+65 9### ####",
        "+64 21 ### ####",
        "+27 82 ### ####",
        "+234 80# ### ####",
        "+52 55 #### ####",
        "+54 9 11 ####-####",
        "+57 31# #######",
        "+62 812-####-####",
        "+63 917 ### ####",
        "+84 9# ### ## ##",
        "+92 30# #######",
        "+20 10 #### ####",
        "+971 50 ### ####",
        "+966 5# ### ####",
        "+852 9### ####",
        "+32 47# ## ## ##",
        "+47 9## ## ###",
        "+358 40 #######",
        "+44 (0)20 7### ####",
        "+1-N##-N##-####",
        "0049 30 #######",
        "0044 20 7### ####",
    ]);
    let mut value = value(
        "phone",
        rng.fill(pattern),
        &["Phone", "tel", "mobile", "Telefon", "Tél", "WhatsApp"],
    );
    value.row = "phone, with country code";
    value
}

pub(crate) fn phone_home(rng: &mut Rng) -> Value {
    let pattern = rng.pick(&[
        "(N##) N##-####",
        "N##-N##-####",
        "N##.N##.####",
        "020 7### ####",
        "07### ######",
        "030 #######",
        "0151 ########",
        "06 ## ## ## ##",
        "01 ## ## ## ##",
        "6## ### ###",
        "06-########",
        "9#### #####",
        "(11) 9####-####",
        "089/#######",
        "(030) #######",
        "01.##.##.##.##",
        "11 9####-####",
        "60# ### ###",
        "333 #######",
        "090-####-####",
        "020-#######",
        "1-N##-N##-####",
    ]);
    let mut value = with_word(
        "phone",
        rng.fill(pattern),
        &[
            "Phone",
            "phone number",
            "tel",
            "Tel.",
            "mobile",
            "Telefon",
            "telefono",
            "Handy",
            "fax",
            "call",
            "Tél",
            "telefoon",
            "celular",
            "contactPhone",
            "phone_number",
        ],
    );
    value.row = "phone, in its country";
    value
}

/// The digit that makes the sum of a card a multiple of ten.
fn with_luhn(body: &str) -> String {
    let sum: u32 = numbers(body)
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| match (place % 2 == 0, digit * 2) {
            (true, twice) if twice > 9 => twice - 9,
            (true, twice) => twice,
            (false, twice) => twice / 2,
        })
        .sum();
    format!("{body}{}", (10 - sum % 10) % 10)
}

pub(crate) fn card(rng: &mut Rng) -> Value {
    let (begin, length, groups): (&str, usize, &[usize]) = match rng.below(8) {
        0..=2 => ("4", 16, &[4, 4, 4, 4]),
        3 | 4 => (
            rng.pick(&["51", "52", "53", "54", "55", "2221", "2720"]),
            16,
            &[4, 4, 4, 4],
        ),
        5 => (rng.pick(&["34", "37"]), 15, &[4, 6, 5]),
        6 => (
            rng.pick(&["6011", "65", "3530", "3566", "6221", "649"]),
            16,
            &[4, 4, 4, 4],
        ),
        _ => (rng.pick(&["36", "38"]), 14, &[4, 6, 4]),
    };
    let body = format!("{begin}{}", rng.chars(DIGITS, length - begin.len() - 1));
    let number = with_luhn(&body);
    let gap = rng.pick(&["", " ", "-"]);
    value(
        "card",
        grouped(&number, groups, gap),
        &["card", "Visa", "Karte", "carte", "card number", "PAN"],
    )
}

pub(crate) fn iban(rng: &mut Rng) -> Value {
    let pattern = rng.pick(&[
        "DE##################",
        "NLAAAA##########",
        "FR###########h###########",
        "GBAAAA##############",
        "ES####################",
        "ITX######################",
        "AT################",
        "BE############",
        "CH#################",
        "PL########################",
        "PT#####################",
        "SE####################",
        "DK##############",
        "NO###########",
        "IEAAAA##############",
        "MTAAAA####################A##",
        "LU################",
        "FI##############",
        "TR#####0################",
        "GR#######################",
        "CZ####################",
        "ROAAAA################",
        "UA#########################",
        "SA##XXXXXXXXXXXXXXXXXX",
        "AE###################",
        "HU########################",
    ]);
    let (country, rest) = pattern.split_at(2);
    // Saudi accounts have letters and digits.
    let rest = rest.replace("XXXXXXXXXXXXXXXXXX", "hhhhhhhhhhhhhhhhhh");
    let body = rng.fill(&rest).to_uppercase();
    // Check digits by long division of the whole number, written out in digits.
    let written: String = format!("{body}{country}00")
        .chars()
        .map(|sign| sign.to_digit(36).unwrap_or_default().to_string())
        .collect();
    let rest = numbers(&written)
        .iter()
        .fold(0, |rest, digit| (rest * 10 + digit) % 97);
    let compact = format!("{country}{:02}{body}", 98 - rest);
    let text = match rng.below(5) {
        0 | 1 => compact,
        2 => compact.to_lowercase(),
        _ => {
            let letters: Vec<char> = compact.chars().collect();
            letters
                .chunks(4)
                .map(|four| four.iter().collect::<String>())
                .collect::<Vec<_>>()
                .join(" ")
        }
    };
    value(
        "iban",
        text,
        &["IBAN", "account", "Konto", "compte", "rekening"],
    )
}

fn ssn_digits(rng: &mut Rng) -> String {
    let area = match 1 + rng.below(898) {
        666 => 667,
        area => area,
    };
    format!(
        "{area:03}{:02}{:04}",
        1 + rng.below(99),
        1 + rng.below(9_999)
    )
}

pub(crate) fn ssn(rng: &mut Rng) -> Value {
    let digits = ssn_digits(rng);
    value(
        "us_ssn",
        grouped(&digits, &[3, 2, 4], "-"),
        &["SSN", "social security number", "ssn"],
    )
}

fn ssn_in_words(rng: &mut Rng) -> Value {
    let digits = ssn_digits(rng);
    let gap = rng.pick(&["", " "]);
    with_word(
        "us_ssn",
        grouped(&digits, &[3, 2, 4], gap),
        &["SSN", "Social Security", "ssn", "SSN number"],
    )
}

pub(crate) fn nino(rng: &mut Rng) -> Value {
    let letters = rng.pick(&["AB", "CE", "JK", "PR", "WM", "ZY", "SH", "NE", "TX"]);
    let text = format!("{letters}{}{}", rng.chars(DIGITS, 6), rng.chars("ABCD", 1));
    let text = if rng.chance(50) {
        grouped(&text, &[2, 2, 2, 2, 1], " ")
    } else {
        text
    };
    value(
        "uk_nino",
        text,
        &["NI number", "National Insurance number", "NINO"],
    )
}

pub(crate) fn nhs(rng: &mut Rng) -> Value {
    loop {
        let body = rng.digits(9);
        let sum: u32 = numbers(&body)
            .iter()
            .zip((2..=10).rev())
            .map(|(digit, weight)| digit * weight)
            .sum();
        let check = (11 - sum % 11) % 11;
        if check != 10 {
            let gap = rng.pick(&["", " ", "-"]);
            let text = grouped(&format!("{body}{check}"), &[3, 3, 4], gap);
            return with_word("uk_nhs", text, &["NHS number", "NHS", "NHS no"]);
        }
    }
}

/// Ten digits of which one comes twice and one is missing, and the check of ISO 7064.
pub(crate) fn steuer_id(rng: &mut Rng) -> Value {
    loop {
        let mut pool: Vec<u32> = (0..10).collect();
        let missing = rng.below(10);
        let twice = (missing + 1 + rng.below(9)) % 10;
        pool[missing] = u32::try_from(twice).unwrap_or_default();
        for place in (1..10).rev() {
            pool.swap(place, rng.below(place + 1));
        }
        if pool[0] == 0 {
            continue;
        }
        let check = pool.iter().fold(10, |product, digit| {
            let sum = (product + digit - 1) % 10 + 1;
            sum * 2 % 11
        });
        let check = match 11 - check {
            10 => 0,
            check => check,
        };
        let digits: String = pool.iter().map(ToString::to_string).collect();
        let text = format!("{digits}{check}");
        let text = if rng.chance(40) {
            grouped(&text, &[2, 3, 3, 3], " ")
        } else {
            text
        };
        return value(
            "de_steuer_id",
            text,
            &[
                "Steuer-ID",
                "Steueridentifikationsnummer",
                "IdNr",
                "Steuernummer",
            ],
        );
    }
}

pub(crate) fn nir(rng: &mut Rng) -> Value {
    // The letters of Corsica count as 19 and 18.
    let (place, counted) = match rng.below(8) {
        0 => ("2A".to_owned(), 19),
        1 => ("2B".to_owned(), 18),
        _ => {
            let number = 1 + rng.below(95);
            (format!("{number:02}"), number)
        }
    };
    let front = format!(
        "{}{:02}{:02}",
        1 + rng.below(2),
        rng.below(100),
        1 + rng.below(12)
    );
    let back = format!("{:03}{:03}", 1 + rng.below(900), 1 + rng.below(999));
    let number = format!("{front}{counted:02}{back}");
    let key = 97 - number.parse::<u64>().unwrap_or_default() % 97;
    let text = format!("{front}{place}{back}{key:02}");
    let text = match rng.below(3) {
        0 => text,
        1 => grouped(&text, &[13, 2], " "),
        _ => grouped(&text, &[1, 2, 2, 2, 3, 3, 2], " "),
    };
    value(
        "fr_nir",
        text,
        &["NIR", "numéro de sécurité sociale", "sécu"],
    )
}

pub(crate) fn dni(rng: &mut Rng) -> Value {
    pub(super) const LETTERS: [char; 23] = [
        'T', 'R', 'W', 'A', 'G', 'M', 'Y', 'F', 'P', 'D', 'X', 'B', 'N', 'J', 'Z', 'S', 'Q', 'V',
        'H', 'L', 'C', 'K', 'E',
    ];
    let (first, count) = if rng.chance(40) {
        (rng.pick(&["X", "Y", "Z"]), 7)
    } else {
        ("", 8)
    };
    let digits = rng.chars(DIGITS, count);
    let number = format!(
        "{}{digits}",
        first.replace('X', "0").replace('Y', "1").replace('Z', "2")
    );
    let letter = LETTERS[number.parse::<usize>().unwrap_or_default() % 23];
    let dash = rng.pick(&["", "-"]);
    let lead = if first.is_empty() {
        String::new()
    } else {
        format!("{first}{dash}")
    };
    value(
        "es_dni",
        format!("{lead}{digits}{dash}{letter}"),
        &["DNI", "NIE", "NIF"],
    )
}

pub(crate) fn codice_fiscale(rng: &mut Rng) -> Value {
    const ODD: [usize; 26] = [
        1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24,
        23,
    ];
    let body = format!(
        "{}{:02}{}{:02}{}{:03}",
        rng.chars("BCDFGLMNPRSTVZ", 6),
        rng.below(100),
        rng.chars("ABCDEHLMPRST", 1),
        1 + rng.below(28) + 40 * rng.below(2),
        rng.chars("ABCDEFGHIL", 1),
        1 + rng.below(999)
    );
    let sum: usize = body
        .chars()
        .enumerate()
        .map(|(place, sign)| {
            let worth = sign
                .to_digit(10)
                .map_or_else(|| sign as usize - 'A' as usize, |digit| digit as usize);
            if place.is_multiple_of(2) {
                ODD[worth]
            } else {
                worth
            }
        })
        .sum();
    let letters: Vec<char> = ('A'..='Z').collect();
    let text = format!("{body}{}", letters[sum % 26]);
    let text = if rng.chance(15) {
        text.to_lowercase()
    } else {
        text
    };
    value("it_codice_fiscale", text, &["codice fiscale", "C.F.", "CF"])
}

pub(crate) fn bsn(rng: &mut Rng) -> Value {
    loop {
        let body = rng.digits(8);
        let sum: u32 = numbers(&body)
            .iter()
            .zip((2..=9).rev())
            .map(|(digit, weight)| digit * weight)
            .sum();
        if sum % 11 < 10 {
            let text = format!("{body}{}", sum % 11);
            let text = if rng.chance(30) {
                grouped(&text, &[4, 2, 3], ".")
            } else {
                text
            };
            return with_word("nl_bsn", text, &["BSN", "bsn", "burgerservicenummer"]);
        }
    }
}

pub(crate) fn pesel(rng: &mut Rng) -> Value {
    let (year, month) = if rng.chance(80) {
        (40 + rng.below(60), 1 + rng.below(12))
    } else {
        (rng.below(24), 21 + rng.below(12))
    };
    let body = format!(
        "{year:02}{month:02}{:02}{}",
        1 + rng.below(28),
        rng.chars(DIGITS, 4)
    );
    let sum: u32 = numbers(&body)
        .iter()
        .zip([1, 3, 7, 9].iter().cycle())
        .map(|(digit, weight)| digit * weight)
        .sum();
    value(
        "pl_pesel",
        format!("{body}{}", (10 - sum % 10) % 10),
        &["PESEL", "pesel", "nr PESEL"],
    )
}

/// Verhoeff's check digit, by applying the permutation again and again.
pub(crate) fn aadhaar(rng: &mut Rng) -> Value {
    const STEP: [usize; 10] = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];
    let turn = |left: usize, right: usize| match (left / 5, right / 5) {
        (0, 0) => (left + right) % 5,
        (0, _) => 5 + (left + right) % 5,
        (_, 0) => 5 + (left + 10 - right) % 5,
        (_, _) => (left + 10 - right) % 5,
    };
    let body = rng.fill("N##########");
    let sum = numbers(&body)
        .iter()
        .rev()
        .enumerate()
        .fold(0, |sum, (place, digit)| {
            let moved = (0..=place).fold(*digit as usize, |digit, _| STEP[digit]);
            turn(sum, moved)
        });
    let check = (0..10)
        .find(|check| turn(sum, *check) == 0)
        .unwrap_or_default();
    let text = format!("{body}{check}");
    let words = &["Aadhaar", "aadhaar number", "UIDAI"];
    match rng.below(3) {
        0 => with_word("in_aadhaar", text, words),
        1 => value("in_aadhaar", grouped(&text, &[4, 4, 4], "-"), words),
        _ => value("in_aadhaar", grouped(&text, &[4, 4, 4], " "), words),
    }
}

pub(crate) fn cpf(rng: &mut Rng) -> Value {
    let mut digits = numbers(&rng.digits(9));
    for _ in 0..2 {
        let sum: u32 = digits
            .iter()
            .rev()
            .zip(2..)
            .map(|(digit, weight)| digit * weight)
            .sum();
        digits.push(if sum % 11 < 2 { 0 } else { 11 - sum % 11 });
    }
    let text: String = digits.iter().map(ToString::to_string).collect();
    let words = &["CPF", "cpf", "CPF nº"];
    if rng.chance(30) {
        return with_word("br_cpf", text, words);
    }
    let (front, back) = text.split_at(9);
    value(
        "br_cpf",
        format!("{}-{back}", grouped(front, &[3, 3, 3], ".")),
        words,
    )
}

pub(crate) fn ip4(rng: &mut Rng) -> Value {
    let text = format!(
        "{}.{}.{}.{}",
        128 + rng.below(96) - 127 * rng.below(2),
        rng.below(256),
        rng.below(256),
        1 + rng.below(254)
    );
    let mut value = value("ip", text, &["IP", "host", "client", "addr"]);
    value.row = "ip, version 4";
    value
}

fn ip6(rng: &mut Rng) -> Value {
    let pattern = rng.pick(&[
        "2001:db8::h",
        "fe80::hhh:hhhh:hhhh:hhhh",
        "2a02:hhhh:hhhh:hhhh::1",
        "2001:0db8:hhhh:hhhh:hhhh:hhhh:hhhh:hhhh",
        "2620:0:hhh::hh",
        "fd00:hhhh:hhhh::1",
    ]);
    let filled: String = rng.fill(pattern);
    let mut value = value(
        "ip",
        if rng.chance(20) {
            filled.to_uppercase()
        } else {
            filled
        },
        &["IP", "host", "client"],
    );
    value.row = "ip, version 6";
    value
}

fn mac(rng: &mut Rng) -> Value {
    let pattern = rng.pick(&["h#:hh:hh:hh:hh:hh", "h#-hh-hh-hh-hh-hh", "h#hh.hhah.hhhh"]);
    let filled = rng.fill(pattern);
    value(
        "mac",
        if rng.chance(40) {
            filled.to_uppercase()
        } else {
            filled
        },
        &["MAC", "hwaddr", "ether"],
    )
}

fn url_credentials(rng: &mut Rng) -> Value {
    let scheme = rng.pick(&["https", "postgres", "redis", "mongodb+srv", "ftp", "amqp"]);
    let (user, host) = (
        rng.pick(&["admin", "app", "deploy", "root", "user1"]),
        rng.pick(&["db.example.com", "10.9.8.7", "localhost:5432", "cache:6379"]),
    );
    let word = rng.chars(TOKEN, 12);
    let mut value = value("url_credentials", format!("{user}:{word}"), &[]);
    // The host's address is no credential, so it is one that nothing else looks like.
    let host = host.replace("10.9.8.7", "replica-2");
    value.frame = Some(format!("connect to {scheme}://$@{host}/main now"));
    value
}

fn crypto(rng: &mut Rng) -> Value {
    let bytes: Vec<u8> = (0..20).map(|_| rng.next().to_le_bytes()[0]).collect();
    let text = match rng.below(3) {
        0 => {
            let mut whole = vec![if rng.chance(50) { 0 } else { 5 }];
            whole.extend(&bytes);
            let check = Sha256::digest(Sha256::digest(&whole));
            whole.extend(&check[..4]);
            base58(&whole)
        }
        1 => bech32::segwit::encode_v0(bech32::hrp::BC, &bytes).unwrap_or_default(),
        _ => ethereum(rng),
    };
    value("crypto", text, &["wallet", "BTC", "address", "ETH"])
}

/// An address in one case, or with the case that checks it.
fn ethereum(rng: &mut Rng) -> String {
    let digits = rng.chars(HEX, 40);
    match rng.below(4) {
        0 => format!("0x{digits}"),
        1 => format!("0x{}", digits.to_uppercase()),
        _ => format!("0x{}", with_case(&digits)),
    }
}

/// A digit is upper case where the same digit of the hash is eight or more.
pub(crate) fn with_case(digits: &str) -> String {
    let hash = <sha3::Keccak256 as sha3::Digest>::digest(digits.as_bytes());
    let upper = |place: usize| {
        let pair = hash[place / 2];
        let check = if place.is_multiple_of(2) {
            pair / 16
        } else {
            pair % 16
        };
        check >= 8
    };
    digits
        .chars()
        .enumerate()
        .map(|(place, digit)| {
            if upper(place) {
                digit.to_ascii_uppercase()
            } else {
                digit
            }
        })
        .collect()
}

/// Base 58 by long division.
fn base58(bytes: &[u8]) -> String {
    const ALPHABET: &[u8] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
    let mut number: Vec<u32> = bytes.iter().map(|byte| u32::from(*byte)).collect();
    let mut text = Vec::new();
    while number.iter().any(|digit| *digit != 0) {
        let mut rest = 0;
        for digit in &mut number {
            let all = rest * 256 + *digit;
            *digit = all / 58;
            rest = all % 58;
        }
        text.push(char::from(ALPHABET[rest as usize]));
    }
    text.extend(bytes.iter().take_while(|byte| **byte == 0).map(|_| '1'));
    text.iter().rev().collect()
}
