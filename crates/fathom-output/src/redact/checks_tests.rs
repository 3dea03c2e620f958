use super::*;

/// Whether digits hold.
type Check = fn(&[u8]) -> bool;

fn digits(text: &str) -> Vec<u8> {
    text.bytes()
        .filter(u8::is_ascii_digit)
        .map(|byte| byte - b'0')
        .collect()
}

/// Numbers that are printed in the rules themselves, or in textbooks; one digit more is never right.
#[test]
fn numbers_that_are_known_hold_and_their_neighbours_do_not() {
    let all: [(Check, &str); 9] = [
        (luhn, "4111 1111 1111 1111"),
        (us_ssn, "536-22-1234"),
        (uk_nhs, "943 476 5919"),
        (de_steuer_id, "86095742719"),
        (fr_nir, "2 55 08 14 168 025 38"),
        (nl_bsn, "111222333"),
        (pl_pesel, "44051401359"),
        (br_cpf, "529.982.247-25"),
        (verhoeff, "2363"),
    ];
    for (check, text) in all {
        let mut number = digits(text);
        assert!(check(&number), "{text}");
        if text != "536-22-1234" {
            let last = number.len() - 1;
            number[last] = (number[last] + 1) % 10;
            assert!(!check(&number), "{text} with another last digit");
        }
    }
}

#[test]
fn social_security_numbers_that_were_never_given_out() {
    for text in [
        "000-12-3456",
        "666-12-3456",
        "900-12-3456",
        "123-00-4567",
        "123-45-0000",
        "078-05-1120",
    ] {
        assert!(!us_ssn(&digits(text)), "{text}");
    }
}

#[test]
fn codes_with_letters() {
    assert!(iban(b"GB82WEST12345698765432"));
    assert!(!iban(b"GB82WEST12345698765433"));
    assert!(!iban(b"GB82WEST1234569876543"));
    assert!(es_dni(12_345_678, b'Z'));
    assert!(!es_dni(12_345_679, b'Z'));
    assert!(it_codice_fiscale(b"RSSMRA85T10A562S"));
    assert!(!it_codice_fiscale(b"RSSMRA85T10A562T"));
    assert!(base58_check(b"1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"));
    assert!(!base58_check(b"1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb"));
}

#[test]
fn cards_of_no_issuer() {
    assert!(card_issuer(&digits("4111111111111111")));
    assert!(!card_issuer(&digits("411111111111111")));
    assert!(!card_issuer(&digits("1111111111111111")));
}
