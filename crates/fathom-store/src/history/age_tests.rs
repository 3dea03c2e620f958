#[path = "../../tests/it/age_file.rs"]
mod age_file;

use super::*;
use age_file::Identity;

/// An identity and a file for it, both made by version 0.12.1 of the crate `age`.
const IDENTITY: &str = "AGE-SECRET-KEY-16U5MJD74XYWCKW9XMRP332ZMCPKZFWMRJUHQLWWM8T04Z58ED0USNTL6K8";
const FILE: &str = "YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IFgyNTUxOSB1aEpPVVUxYzRoWVc3OTZGMXJNdVBSTllFV1dpY0lFYmVKZFhsTG9\
zNEZjCjV5WVVOTm1vdkxFOWFLYnBPZnBtK1RqMUxFZmR4MzVlcnRTMDFJVG5UVnMKLT4gL2ZEOzotZ3JlYXNlICxHc1RKdSB1egoxdEk3QmpoelFERUZ3ck9\
qcVd4R2Q3UTBOeW1ETUQyQjBmdDZvQWhseWRhUlN5N2U3ZjRESTVWRjhpN0NxSHJvCndFVEhudWZOUENPdnlvNDdEQ0JIZitRYTdRNUMweFVMVXdNCi0tLSB\
2UjNUVDY2cWxVaHE3b1FybEIralduNk0vQ3JsWUNqZFF1YzJMZmdsNEVNCu6a0ZaymI3MhjPAIghn8kagEggrEPoywBFVD3W28nZ9vor+vyS7xKwpRVxjqfF\
D0OM3dM3G";

fn sealed(text: &[u8], to: &[&str]) -> Vec<u8> {
    let to: Vec<Recipient> = to.iter().map(|to| Recipient::read(to).unwrap()).collect();
    let drawn = Drawn::draw(to.len()).unwrap();
    let head = head(&to, &drawn).unwrap().unwrap();
    let mut body = Body::begin(head.into_bytes(), &drawn).unwrap();
    // As pieces that fit no chunk.
    for piece in text.chunks(1009) {
        body.write_all(piece).unwrap();
    }
    body.finish().unwrap()
}

#[test]
fn the_reader_of_these_tests_opens_what_age_wrote() {
    let file = base64::engine::general_purpose::STANDARD
        .decode(FILE)
        .unwrap();
    let plain = Identity::read(IDENTITY).open(&file).unwrap();
    assert_eq!(plain, b"made by another hand\n");
    assert_eq!(Identity::read(IDENTITY).secret(), IDENTITY);
    assert_eq!(Identity::generate().open(&file), None);
}

#[test]
fn every_length_about_a_chunk_opens_again() {
    let identity = Identity::read(IDENTITY);
    let stranger = Identity::generate().recipient();
    for bytes in [
        0,
        1,
        CHUNK_BYTES - 1,
        CHUNK_BYTES,
        CHUNK_BYTES + 1,
        2 * CHUNK_BYTES,
    ] {
        let text: Vec<u8> = (0..=250).cycle().take(bytes).collect();
        let file = sealed(&text, &[&stranger, &identity.recipient()]);
        assert!(identity.open(&file).unwrap() == text, "{bytes} bytes");
    }
}

#[test]
fn what_was_cut_or_changed_does_not_open() {
    let identity = Identity::read(IDENTITY);
    let file = sealed(&vec![7; 2 * CHUNK_BYTES], &[&identity.recipient()]);
    let chunk = CHUNK_BYTES + 16;
    for bytes in [file.len() - 1, file.len() - chunk, file.len() - 2 * chunk] {
        assert_eq!(identity.open(&file[..bytes]), None, "{bytes} bytes of it");
    }
    let mut swapped = file.clone();
    let (first, second) = swapped[file.len() - 2 * chunk..].split_at_mut(chunk);
    first.swap_with_slice(second);
    assert_eq!(identity.open(&swapped), None);
}

#[test]
fn no_two_files_share_a_key_or_a_nonce() {
    let to = Identity::generate().recipient();
    let (first, second) = (sealed(b"same", &[&to]), sealed(b"same", &[&to]));
    let (first, second) = (
        String::from_utf8_lossy(&first),
        String::from_utf8_lossy(&second),
    );
    for line in 1..4 {
        assert_ne!(first.lines().nth(line), second.lines().nth(line));
    }
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks(2);
    let digits = digits.map(|two| std::str::from_utf8(two).unwrap());
    digits
        .map(|two| u8::from_str_radix(two, 16).unwrap())
        .collect()
}

#[test]
fn derives_keys_as_rfc_5869_does() {
    let secret = [0x0b; 22];
    let salt: Vec<u8> = (0x00..=0x0c).collect();
    let info: Vec<u8> = (0xf0..=0xf9).collect();
    let first = "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf";
    assert_eq!(derive(&secret, &salt, &info).as_slice(), bytes(first));
    let third = "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d";
    assert_eq!(derive(&secret, &[], &[]).as_slice(), bytes(third));
}

#[test]
fn what_cannot_keep_a_secret_is_no_recipient() {
    let good = Identity::generate().recipient();
    assert!(Recipient::read(&good).is_some());
    let hrp = bech32::Hrp::parse("age").unwrap();
    let short = bech32::encode::<Bech32>(hrp, &[1; 31]).unwrap();
    let other_sum = bech32::encode::<bech32::Bech32m>(hrp, &[1; 32]).unwrap();
    let capitals = good.to_uppercase();
    for wrong in [
        &*capitals,
        &good[..61],
        &good[1..],
        &*short,
        &*other_sum,
        "age1",
        "",
    ] {
        assert!(Recipient::read(wrong).is_none(), "{wrong}");
    }
    // The point whose every multiple is nothing: anybody would know the key.
    let nothing = bech32::encode::<Bech32>(hrp, &[0; 32]).unwrap();
    let nothing = Recipient::read(&nothing).unwrap();
    let drawn = Drawn::draw(1).unwrap();
    assert!(head(&[nothing], &drawn).unwrap().is_none());
    assert!(head(&[], &drawn).unwrap().is_none());
}
