use super::*;

/// Test of an entity's digits.
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
    // "You look at who could gain access": twenty letters, modulo 97.
    assert!(!iban(b"ATWHOCOULDGAINACCESS"));
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

#[test]
fn numbers_of_corsica_and_no_others_with_letters() {
    let key = |number: u64| format!("{:02}", 97 - number % 97);
    for (place, counted) in [("2A", 1_850_519_123_456_u64), ("2B", 1_850_518_123_456)] {
        let text = format!("18505{place}123456{}", key(counted));
        assert!(fr_nir_of_corsica(text.as_bytes()), "{text}");
        let wrong = format!("18505{place}123456{}", key(counted + 1));
        assert!(!fr_nir_of_corsica(wrong.as_bytes()), "{wrong}");
    }
    assert!(!fr_nir_of_corsica(b"185052C12345600"));
    assert!(!fr_nir_of_corsica(b"185052A"));
}

/// Examples of EIP-55.
#[test]
fn letters_of_both_cases_check_an_address() {
    for address in [
        "5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
        "fB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
        "52908400098527886E0F7030069857D2E4169EE7",
        "de709f2102306220921060314715629080e2fb77",
    ] {
        assert!(ethereum(address.as_bytes()), "{address}");
    }
    assert!(!ethereum(b"5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD"));
    assert!(!ethereum(b"5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"));
}

#[test]
fn numbers_of_goods_are_known() {
    let digits = |text: &str| -> Vec<u8> { text.bytes().map(|byte| byte - b'0').collect() };
    assert!(ean_13(&digits("4006381333931")));
    assert!(!ean_13(&digits("4006381333932")));
}
