//! Reads files of age-encryption.org with one's identity, as strictly as the exports need it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use bech32::{Bech32, Hrp};
use chacha20poly1305::aead::{Aead as _, KeyInit as _};
use chacha20poly1305::{ChaCha20Poly1305, Nonce};
use curve25519_dalek::MontgomeryPoint;
use hmac::{Hmac, Mac as _};
use sha2::Sha256;

const SEALED_CHUNK_BYTES: usize = 64 * 1024 + 16;

/// A secret that opens what was sealed for its recipient.
pub(crate) struct Identity([u8; 32]);

impl Identity {
    pub(crate) fn generate() -> Self {
        let mut secret = [0; 32];
        getrandom::fill(&mut secret).unwrap();
        Self(secret)
    }

    pub(crate) fn read(text: &str) -> Self {
        let (hrp, secret) = bech32::decode(text).unwrap();
        assert_eq!(hrp.as_str(), "AGE-SECRET-KEY-");
        Self(secret.try_into().unwrap())
    }

    pub(crate) fn secret(&self) -> String {
        let hrp = Hrp::parse("age-secret-key-").unwrap();
        bech32::encode_upper::<Bech32>(hrp, &self.0).unwrap()
    }

    pub(crate) fn recipient(&self) -> String {
        let hrp = Hrp::parse("age").unwrap();
        bech32::encode::<Bech32>(hrp, self.public().as_bytes()).unwrap()
    }

    fn public(&self) -> MontgomeryPoint {
        MontgomeryPoint::mul_base_clamped(self.0)
    }

    /// The text of a file; none where it was sealed for others, or is not whole.
    pub(crate) fn open(&self, file: &[u8]) -> Option<Vec<u8>> {
        let marker = b"\n--- ";
        let mac_at = file.windows(marker.len()).position(|part| part == marker)?;
        let (signed, rest) = file.split_at(mac_at + 4);
        let line_end = rest.iter().position(|byte| *byte == b'\n')?;
        let mac = STANDARD_NO_PAD.decode(&rest[1..line_end]).ok()?;
        let (nonce, mut body) = rest[line_end + 1..].split_at_checked(16)?;

        let lines: Vec<&str> = std::str::from_utf8(signed).ok()?.lines().collect();
        assert_eq!(lines[0], "age-encryption.org/v1");
        let mut stanzas = lines.windows(2);
        let file_key = stanzas.find_map(|pair| self.unwrap(pair[0], pair[1]))?;
        let expected = hmac(&hkdf(&file_key, b"", b"header"), &[signed]);
        assert_eq!(mac, expected, "the head was changed");

        let cipher = ChaCha20Poly1305::new((&hkdf(&file_key, nonce, b"payload")).into());
        let mut plain = Vec::new();
        for count in 0_u64.. {
            let (chunk, rest) = body.split_at(body.len().min(SEALED_CHUNK_BYTES));
            let mut nonce = [0; 12];
            nonce[3..11].copy_from_slice(&count.to_be_bytes());
            nonce[11] = u8::from(rest.is_empty());
            let opened = cipher.decrypt(&Nonce::from(nonce), chunk).ok()?;
            assert!(!opened.is_empty() || count == 0, "an empty chunk too many");
            plain.extend(opened);
            if rest.is_empty() {
                break;
            }
            body = rest;
        }
        Some(plain)
    }

    fn unwrap(&self, arguments: &str, body: &str) -> Option<Vec<u8>> {
        let share = STANDARD_NO_PAD
            .decode(arguments.strip_prefix("-> X25519 ")?)
            .unwrap();
        let share = MontgomeryPoint(share.try_into().unwrap());
        let shared = share.mul_clamped(self.0);
        let salt = [*share.as_bytes(), *self.public().as_bytes()].concat();
        let key = hkdf(shared.as_bytes(), &salt, b"age-encryption.org/v1/X25519");
        let body = STANDARD_NO_PAD.decode(body).unwrap();
        let cipher = ChaCha20Poly1305::new((&key).into());
        cipher.decrypt(&Nonce::default(), &*body).ok()
    }
}

fn hmac(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut mac = <Hmac<Sha256> as hmac::KeyInit>::new_from_slice(key).unwrap();
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

fn hkdf(secret: &[u8], salt: &[u8], info: &[u8]) -> [u8; 32] {
    hmac(&hmac(salt, &[secret]), &[info, &[1]])
}
