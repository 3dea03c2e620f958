//! Texts that look like personal data and are none.

use super::Rng;

const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const HEX: &str = "0123456789abcdef";

/// A look-alike, and whether it stands for itself, without a frame around it.
pub(crate) fn make(rng: &mut Rng) -> (String, bool) {
    match rng.below(16) {
        0 | 1 => (broken_check(rng), false),
        2 => (number(rng), false),
        3 => (stamp(rng), false),
        4 => (version(rng), false),
        5 => (hash(rng), false),
        6 => (dotted(rng), false),
        7 => (part(rng), false),
        8 => (code(rng), false),
        9 => (broken_letters(rng), false),
        10 => (sentence(rng).to_owned(), true),
        11 => (setting(rng).to_owned(), true),
        12 => (goods(rng), false),
        13 => (line(rng), true),
        14 => (machine(rng), false),
        _ => (almost_key(rng), false),
    }
}

/// Numbers of goods and papers, with checks of their own that hold.
fn goods(rng: &mut Rng) -> String {
    match rng.below(7) {
        // Of goods: German ones begin like a card.
        0 | 1 => {
            let begin = rng.pick(&["400", "404", "420", "500", "590", "871", "30"]);
            let body = format!("{begin}{}", rng.chars("0123456789", 12 - begin.len()));
            format!("{body}{}", weighted_check(&body, &[1, 3]))
        }
        2 => {
            let body = format!("978{}", rng.digits(9));
            let check = weighted_check(&body, &[1, 3]);
            match rng.below(3) {
                0 => format!("{body}{check}"),
                1 => format!("978-{}-{}-{}-{check}", &body[3..4], &body[4..8], &body[8..]),
                _ => format!("ISBN 978 {} {} {check}", &body[3..6], &body[6..]),
            }
        }
        // Of telephones: fifteen digits that pass as a card would.
        3 => luhn(&format!("35{}", rng.chars("0123456789", 12))),
        // Of chips in them.
        4 => luhn(&format!("8949{}", rng.chars("0123456789", 14))),
        5 => rng.fill("0000-000M-####-####"),
        _ => rng.fill("1Z999AA1##########"),
    }
}

/// The digit that makes a weighted sum a multiple of ten.
fn weighted_check(body: &str, weights: &[u32]) -> u32 {
    let sum: u32 = body
        .chars()
        .filter_map(|digit| digit.to_digit(10))
        .zip(weights.iter().cycle())
        .map(|(digit, weight)| digit * weight)
        .sum();
    (10 - sum % 10) % 10
}

fn luhn(body: &str) -> String {
    let sum: u32 = body
        .chars()
        .rev()
        .filter_map(|digit| digit.to_digit(10))
        .enumerate()
        .map(|(place, digit)| match (place % 2, digit * 2) {
            (0, twice) => twice / 10 + twice % 10,
            _ => digit,
        })
        .sum();
    format!("{body}{}", (10 - sum % 10) % 10)
}

/// Whole lines of programs.
fn line(rng: &mut Rng) -> String {
    let pattern = rng.pick(&[
        "commit hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh (HEAD -> main)",
        "index hhhhhhh..hhhhhhh 100644",
        "@@ -1##,M +1##,M# @@ fn main() {",
        "Cannot reach http://127.0.0.1:8080/health: connection refused",
        "listening on 0.0.0.0:M###",
        "listening on [::1]:M###",
        "netmask 255.255.255.0 broadcast 255.255.255.255",
        "bind ::ffff:127.0.0.1 failed",
        "127.0.0.1 localhost",
        "GET /api/v2/items/M####?page=M&size=5# HTTP/1.1",
        "[2026-03-04 12:33:21.145] pid=1#### tid=14########## seq=M######",
        "api-7d9c6b8f4-x2x9z   1/1   Running   0   M#d",
        "Linux 6.1.0-1#-amd64 #1 SMP 6.1.M#-1 (2026-0M-1#) x86_64",
        "test result: ok. M## passed; 0 failed; finished in M.##s",
        "rustc 1.9M.0 (hhhhhhhhh 2026-0M-1#)",
        "CVE-2026-M#### affects 2.M.# through 2.M.##",
        "doi:10.M###/s4158#-0M#-#####-M",
        "arXiv:2M0M.#####v2",
        "M##.##.M## sits at 52.M#####, 13.M#####",
        "52.52000M# N, 13.40495M E",
        "pool: size=M# idle=M timeout=30000 retries=M",
        "getty@tty1.service: Succeeded.",
        "docker@sha256:hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh",
        "lodash@4.17.M#.tgz integrity sha512-hhhhhhhhhhhhhhhhhhhhhhhh==",
        "sprite@2x.webp M##x###",
        "-rw-r--r-- 1 root root 10##### Mar  4 12:33 core.M####",
        "UPDATE items SET price = M##.## WHERE id = 10#######",
        "IBAN check failed for field 3",
        "card declined (code 05), retry in 30 s",
        "phone support closes at 18:00",
        "Telefonzeiten: 08:00-12:00 und 13:00-17:00",
        "dob field is required",
        "token limit 128000 reached after 4#### tokens",
        "password policy v2.M: min 12, max 128",
        "the pass is at 2.M## m",
        "secret santa is on 2026-12-0M",
        "Score 3-2, 1-1, 4-0; seats 12-34-56",
        "hhhhhhhh hhhhhhhh hhhhhhhh hhhhhhhh",
        "epoch 17######## 17###########",
        "call 5 of 12, sms 3 of 4",
        "mobile: 4#%, desktop: 5#%",
        "fax: none",
        "Kontonummer folgt, BLZ 10000000",
        "CPF obrigatório; PESEL wymagany; BSN verplicht",
    ]);
    rng.fill(pattern)
}

/// What machines write.
fn machine(rng: &mut Rng) -> String {
    match rng.below(12) {
        0 => rng.fill("hhhhhhhh-hhhh-7hhh-bhhh-hhhhhhhhhhhh"),
        1 => rng.fill("order 70M########"),
        2 => rng.fill("#M20M-###-##"),
        3 => rng.fill("INV/2026/0M/####"),
        4 => rng.fill("1M:2#:3#.#####"),
        5 => rng.fill("W/\"hhhh-hhhhhhhhhhh\""),
        6 => wrong_case(rng),
        7 => rng.fill("arn:aws:s3:::bucket-M##/key.txt"),
        8 => rng.fill("WVWZZZ1KZ6W######"),
        9 => rng.fill("0.0.0.0"),
        10 => rng.fill("127.0.M.#"),
        _ => rng.fill("255.255.2M5.0"),
    }
}

/// An address of Ethereum in which the case of one letter is wrong.
fn wrong_case(rng: &mut Rng) -> String {
    let digits = rng.chars(HEX, 37) + "abc";
    let right = super::values::with_case(&digits);
    let wrong = |sign: char| {
        if sign.is_ascii_uppercase() {
            sign.to_ascii_lowercase()
        } else {
            sign.to_ascii_uppercase()
        }
    };
    // Both cases must be there, or there is nothing to check.
    let mixed = format!(
        "{}{}",
        &right[..39],
        right[39..].chars().map(wrong).collect::<String>()
    );
    if mixed.bytes().any(|byte| byte.is_ascii_lowercase())
        && mixed.bytes().any(|byte| byte.is_ascii_uppercase())
    {
        format!("0x{mixed}")
    } else {
        wrong_case(rng)
    }
}

/// A card whose last digit is wrong: every other digit fails.
fn broken_check(rng: &mut Rng) -> String {
    let body = format!("{}{}", rng.pick(&["4", "51", "37", "6011"]), rng.digits(11));
    let digits: Vec<u32> = body
        .chars()
        .filter_map(|digit| digit.to_digit(10))
        .collect();
    let whole = digits.len() + 1;
    let sum: u32 = digits
        .iter()
        .enumerate()
        .map(|(place, digit)| {
            let twice = digit * 2;
            if (whole - place).is_multiple_of(2) {
                twice / 10 + twice % 10
            } else {
                *digit
            }
        })
        .sum();
    let right = (10 - sum % 10) % 10;
    let wrong = (right + 1 + u32::try_from(rng.below(9)).unwrap_or_default()) % 10;
    let number = format!("{body}{wrong}");
    match rng.below(3) {
        0 if number.len() == 16 => {
            let four: Vec<&str> = (0..4).map(|part| &number[part * 4..part * 4 + 4]).collect();
            four.join(rng.pick(&[" ", "-"]))
        }
        1 => format!("ORD{number}"),
        _ => number,
    }
}

fn number(rng: &mut Rng) -> String {
    let pattern = rng.pick(&[
        "M#####",
        "M###.##",
        "M,###,###.##",
        "M.###.###,##",
        "M##,###",
        "order M#######",
        "Rechnung M####-##",
        "invoice 2026-M####",
        "0.M######",
        "M#%",
        "M###.##########",
        "ticket #M####",
        "EAN M####",
        "page M##/M##",
        "M##x M##",
        "$M,###.00",
        "M### ### EUR",
        "M.###.###",
        "chapter M.M.M",
        "000-##-####",
        "666-##-####",
        "9##-##-####",
        "M##-00-####",
        "M##-##-0000",
    ]);
    rng.fill(pattern)
}

fn stamp(rng: &mut Rng) -> String {
    let pattern = rng.pick(&[
        "2026-0M-1#",
        "2026-0M-1#T1#:2#:4#Z",
        "1#:2#:4#",
        "1#:2#:4#.###",
        "17########",
        "17###########",
        "17##############",
        "0M/1#/2026",
        "1#.0M.2026",
        "20260M1#",
        "20260M1#12####",
        "2026-0M-1# 1#:2#:4#,###",
        "2026-W1#-M",
        "UTC+0M:00",
        "+0M:30",
        "1#h 2#m",
        "Q3 2026",
        "1#/1#",
    ]);
    rng.fill(pattern)
}

fn version(rng: &mut Rng) -> String {
    let pattern = rng.pick(&[
        "1.M.#",
        "v1.M.#",
        "v1.M.#.#",
        "version 1.M.#.#",
        "release 1#.M.#.2#",
        "1.M.#-rc.1",
        "1.3.6.1.4.1.M##",
        "2026.M.#",
        "lib@1.M.#",
        "@scope/pkg@M.#.#",
        "1.M.#+build.##",
        "build 1.M.#.###",
        "M.#",
        "999.M##.1.1",
        "M.M.M.256",
    ]);
    rng.fill(pattern)
}

fn hash(rng: &mut Rng) -> String {
    match rng.below(7) {
        0 => rng.chars(HEX, 40),
        1 => rng.chars(HEX, 64),
        2 => format!("sha256:{}", rng.chars(HEX, 64)),
        3 => rng.fill("hhhhhhhh-hhhh-4hhh-ahhh-hhhhhhhhhhhh"),
        4 => format!("0x{}", rng.chars(HEX, 16)),
        5 => rng.chars(HEX, 7),
        _ => format!("0x{}", rng.chars(HEX, 64)),
    }
}

fn dotted(rng: &mut Rng) -> String {
    rng.pick(&[
        "www.example.com",
        "a.b.c.d",
        "com.example.app",
        "file.tar.gz",
        "user@localhost",
        "@handle",
        "icon@2x.png",
        "foo@bar",
        "git@github.com:org/repo.git",
        "std::vec::Vec",
        "fathom::core",
        "a::b",
        "ab::cd",
        "x.y.z",
        "main.rs:12:5",
        "https://example.com/path",
        "https://example.com:8080/a@b",
        "ssh://git@host/repo",
        "e.g.",
        "i.e.",
        "@dataclass",
        "std::net::1",
        "12:34",
        "1:2:3",
        "aa:bb:cc",
        "dead::beef",
        "localhost:8080",
        "node@18",
        "user@",
        "@ home",
        "me at example dot com",
        "AA:BB:CC:DD:EE:FF:00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD",
        "0:1:2:3:4:5",
        "http://host/?q=a:b@c",
    ])
    .to_owned()
}

fn part(rng: &mut Rng) -> String {
    let pattern = rng.pick(&[
        "PN-M##-M##-####",
        "M##-####-M",
        "ISBN 978-M-##-######-M",
        "SKU M####-##",
        "part M##-##-###",
        "A55",
        "B0M###",
        "M##-M##",
        "+M##",
        "+M#",
        "+M#.5 %",
        "C++17",
        "-M###",
        "M##x####",
        "RFC M###",
        "ISO 8601",
        "DIN 5008",
        "M## M##",
        "GH-M###",
        "M##/####",
        "+0 M## ### ###",
        "+M",
        "+M###",
        "a+M##########",
    ]);
    rng.fill(pattern)
}

fn code(rng: &mut Rng) -> String {
    rng.pick(&[
        "let x = 12345678;",
        "for i in 0..100000000 {",
        "0xDEADBEEF",
        "0b10101010",
        "1e10",
        "#ff8800",
        "0644",
        "x = [1, 2, 3, 4]",
        "SELECT 1",
        "a[123456789012]",
        "f(x, 100)",
        "U+1F600",
        "10 000 000",
        "1 2 3 4 5 6 7 8 9",
        "1-2-3-4-5-6-7-8",
        "8.8",
        "3.14159265358979",
        "127",
        "255.255.255",
        "1/2/3",
        "id_12345678901",
        "n12345678901x",
    ])
    .to_owned()
}

/// Codes of letters and digits whose check is wrong, by construction: check digits that no rule gives.
fn broken_letters(rng: &mut Rng) -> String {
    match rng.below(8) {
        // Check digits of accounts run from 02 to 98.
        0 => rng.fill("DE00##################"),
        1 => rng.fill("GB99NWBK##############"),
        2 => rng.fill("XX##################"),
        3 => rng.fill("DE89 #### #### ####"),
        // No letter I, O or U ever checks a Spanish number.
        4 => format!("{}{}", rng.digits(8), rng.pick(&["I", "O", "U"])),
        5 => rng.fill("DQ######A"),
        6 => rng.fill("GB######A"),
        _ => rng.fill("AB######Z"),
    }
}

fn sentence(rng: &mut Rng) -> &'static str {
    rng.pick(&[
        "The meeting is on 2026-05-17 at noon.",
        "Call me at 5.",
        "I was born in Rome.",
        "The token expired yesterday.",
        "Your password must have at least 12 characters.",
        "Password: required",
        "He is the bearer of bad news.",
        "The secret is to start early.",
        "She has a phone.",
        "Tel Aviv is a city of 460000 people.",
        "The mobile version 1.2.3 is out.",
        "We sold 4111 units in 2025 and 1111 in 2026.",
        "Room 12, floor 3, seat 45-46.",
        "Die Rechnung 2026-00123 vom 12.03.2026 ist offen.",
        "Le 12 mars 2026, la réunion.",
        "The password is wrong.",
        "Reset your password: see below.",
        "Add 3 tokens: one, two, three.",
        "api keys are rotated every 90 days",
        "Lot 123-45-678 and lot 12-345-6789.",
        "Fax machines are old.",
        "Deploy at 10.5 or 11.25 today.",
        "The DNI of a person is 8 digits.",
        "PESEL has 11 digits, BSN has 9.",
        "Look for the line -----BEGIN CERTIFICATE----- in the file.",
    ])
}

fn setting(rng: &mut Rng) -> &'static str {
    rng.pick(&[
        "api_key=YOUR_API_KEY_GOES_HERE_1",
        "password = <your password here>",
        "secret: ${VAULT_SECRET_PATH_1}",
        "token_count=128000",
        "max_tokens: 4096",
        "password: ********",
        "token: null",
        "api_key: \"xxxxxxxxxxxxxxxxxxxx1\"",
        "PASSWORD={{ db_password }}",
        "passwd: [redacted]",
        "secret_name = production-database",
        "password_min_length = 12",
        "access_token: string",
        "tokenizer: cl100k_base",
        "bearer_format: JWT",
        "key: primary",
        "client_secret = os.environ[\"CLIENT_SECRET_1\"]",
        "password = getpass()",
        "pass: true",
        "token = next(tokens)",
    ])
}

/// Keys that are too short, or that are placeholders.
fn almost_key(rng: &mut Rng) -> String {
    match rng.below(8) {
        0 => format!("ghp_{}", rng.chars(ALNUM, 12)),
        1 => format!("AKIA{}", rng.chars("ABCDEFG", 6)),
        2 => "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx".to_owned(),
        3 => format!("sk-{}", rng.chars("abcdefgh", 8)),
        4 => format!("eyJ{}", rng.chars(ALNUM, 20)),
        5 => format!("xoxb-{}", rng.digits(6)),
        // The last letters break the check.
        6 => "1A1zP1eP5QGefi2DMPTfTL5SLmv7Divxx".to_owned(),
        _ => "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdx".to_owned(),
    }
}
