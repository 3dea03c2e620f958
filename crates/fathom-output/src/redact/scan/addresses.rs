//! Addresses of mail, hosts and network cards, and credentials inside addresses.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::{CLASSES, DIGIT, EntityKind, HEX, LETTER, TextScan, is_unspaced, joins};

/// Maximum size of a mail address before `@`.
const LOCAL_BYTES_MAX: usize = 64;
/// Maximum size of a host name.
const HOST_BYTES_MAX: usize = 253;
/// Maximum size of credentials inside an address.
const CREDENTIALS_BYTES_MAX: usize = 512;
/// A user name alone is not a secret; a token has at least this length.
const LONE_TOKEN_BYTES_MIN: usize = 20;
const IP6_BYTES_MAX: usize = 45;
/// Extensions of file names that look like mail addresses: `icon@2x.png`.
const FILE_ENDINGS: [&str; 27] = [
    "avif", "css", "gif", "gz", "html", "ico", "jpeg", "jpg", "js", "json", "jsx", "min", "pdf",
    "png", "service", "socket", "svg", "tgz", "timer", "toml", "tsx", "txt", "webp", "woff", "xml",
    "yaml", "yml",
];

/// True for addresses of no particular host: this one, none, a mask or all.
fn is_nobodys(address: Ipv4Addr) -> bool {
    address.is_loopback() || address.is_unspecified() || address.octets()[0] == 255
}

impl TextScan<'_> {
    /// A mail address, from its `@`.
    pub(super) fn email(&mut self, at: usize) {
        let (start, mut end) = (self.local_start(at), self.host_end(at + 1));
        self.count(end - start);
        // A file name may consist of an address and an extension.
        let top = loop {
            let Some((host, top)) = self.text[at + 1..end].rsplit_once('.') else {
                return;
            };
            if !FILE_ENDINGS.contains(&top.to_ascii_lowercase().as_str()) {
                break top;
            }
            end = at + 1 + host.len();
        };
        let is_top = top.chars().count() >= 2
            && (top.chars().all(char::is_alphabetic) || top.starts_with("xn--"));
        let is_repository = &self.text[start..at] == "git" && self.byte(end) == Some(b':');
        let follows_credentials = self.credential_ends.binary_search(&at).is_ok();
        if start < at && is_top && !is_repository && !follows_credentials {
            self.push(EntityKind::Email, start, end);
        }
    }

    fn local_start(&self, at: usize) -> usize {
        let mut start = at;
        let unspaced = self.char_before(at).is_some_and(is_unspaced);
        for (place, letter) in self.text[..at].char_indices().rev() {
            if is_unspaced(letter) && !unspaced {
                break;
            }
            let inside = letter.is_alphanumeric()
                || matches!(letter, '_' | '%' | '+' | '-' | '&')
                || (letter == '.' && start < at && self.bytes[start] != b'.')
                || (letter == '\'' && start < at && self.letters_around(place));
            if !inside || at - place > LOCAL_BYTES_MAX {
                break;
            }
            start = place;
        }
        while matches!(self.byte(start), Some(b'.' | b'-' | b'&' | b'%')) && start < at {
            start += 1;
        }
        start
    }

    fn letters_around(&self, at: usize) -> bool {
        self.char_before(at).is_some_and(char::is_alphabetic)
            && self.char_after(at + 1).is_some_and(char::is_alphabetic)
    }

    fn host_end(&self, start: usize) -> usize {
        let mut end = start;
        for (place, letter) in self.text[start..].char_indices() {
            let place = start + place;
            // In scripts without spaces, the next word starts here.
            if is_unspaced(letter) && self.bytes[place - 1].is_ascii_alphanumeric() {
                break;
            }
            let inside = letter.is_alphanumeric()
                || letter == '-'
                || (letter == '.' && place > start && self.bytes[place - 1] != b'.');
            if !inside || place - start >= HOST_BYTES_MAX {
                break;
            }
            end = place + letter.len_utf8();
        }
        while end > start && matches!(self.bytes[end - 1], b'.' | b'-') {
            end -= 1;
        }
        end
    }

    /// `user:password` of an address, from its `://`.
    pub(super) fn credentials(&mut self, scheme_end: usize, start: usize) {
        if !self
            .char_before(scheme_end)
            .is_some_and(char::is_alphanumeric)
        {
            return;
        }
        let mut at_sign = None;
        let mut colon = None;
        let mut seen = 0;
        for (place, &byte) in self.bytes[start..].iter().enumerate() {
            seen = place;
            match byte {
                b'@' => at_sign = Some(start + place),
                b':' if colon.is_none() => colon = Some(start + place),
                b'/' | b'?' | b'#' | b'"' | b'\'' | b'<' | b'>' | b'`' => break,
                _ if byte.is_ascii_whitespace() || place >= CREDENTIALS_BYTES_MAX => break,
                _ => {}
            }
        }
        self.count(seen);
        let Some(end) = at_sign else {
            return;
        };
        let has_word = colon.is_some_and(|colon| colon + 1 < end);
        if has_word || end - start >= LONE_TOKEN_BYTES_MIN {
            self.credential_ends.push(end);
            self.push(EntityKind::UrlCredentials, start, end);
        }
    }

    /// An IPv4 address.
    pub(super) fn ip4(&mut self, start: usize, end: usize) -> Option<usize> {
        let address = self.text[start..end].parse::<Ipv4Addr>().ok()?;
        if self.after_version(start) {
            return None;
        }
        if !is_nobodys(address) {
            self.push(EntityKind::Ip, start, end);
        }
        Some(end)
    }

    /// True if the word before announces a version.
    fn after_version(&self, start: usize) -> bool {
        let floor = start.saturating_sub(16);
        let head = self.bytes[floor..start]
            .trim_ascii_end()
            .to_ascii_lowercase();
        let head = head.strip_suffix(b":").unwrap_or(&head);
        [
            b"version".as_slice(),
            b" ver",
            b"ver.",
            b"release",
            b"build",
            b"section",
            b" v",
            b"firmware",
            b"driver",
        ]
        .iter()
        .any(|word| head.ends_with(word))
    }

    /// An IPv6 address, from its first character.
    pub(super) fn ip6(&mut self, start: usize) -> Option<usize> {
        if self
            .char_before(start)
            .is_some_and(|before| joins(before) || matches!(before, ':' | '.'))
        {
            return None;
        }
        let inside = |byte: &u8| {
            CLASSES[usize::from(*byte)] & (DIGIT | HEX) != 0 || matches!(byte, b':' | b'.')
        };
        let length = self.bytes[start..]
            .iter()
            .take(IP6_BYTES_MAX + 1)
            .take_while(|byte| inside(byte))
            .count();
        self.count(length);
        let mut end = start + length;
        while end > start && (self.bytes[end - 1] == b'.' || self.text[start..end].ends_with("::."))
        {
            end -= 1;
        }
        if self.text[start..end].ends_with(':') && !self.text[start..end].ends_with("::") {
            end -= 1;
        }
        let text = &self.text[start..end];
        if self.joined_after(end) || !text.bytes().any(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let address = text.parse::<Ipv6Addr>().ok()?;
        let groups: Vec<&str> = text.split(':').filter(|group| !group.is_empty()).collect();
        // Names in code (`a1::b2`) and fingerprints of eight pairs look the same.
        let is_name = !text.starts_with("::") && groups.len() < 3 && groups[0].len() < 3;
        let is_fingerprint = groups.len() == 8 && groups.iter().all(|group| group.len() == 2);
        if is_name || is_fingerprint {
            return None;
        }
        let of_this_host = address.is_loopback()
            || address.is_unspecified()
            || address.to_ipv4_mapped().is_some_and(is_nobodys);
        if !of_this_host {
            self.push(EntityKind::Ip, start, end);
        }
        Some(end)
    }

    /// The address of a network card, from its first token: six pairs, or three groups of four with dots.
    pub(super) fn mac(&mut self, start: usize, end: usize) -> Option<usize> {
        let sign = self.byte(end)?;
        let (pieces, width) = match (end - start, sign) {
            (2, b':' | b'-') => (6, 2),
            (4, b'.') => (3, 4),
            _ => return None,
        };
        if self
            .char_before(start)
            .is_some_and(|before| matches!(before, ':' | '-' | '.'))
        {
            return None;
        }
        let length = pieces * (width + 1) - 1;
        let text = self.bytes.get(start..start + length)?;
        self.count(length);
        let shaped = text.iter().enumerate().all(|(place, byte)| {
            if place % (width + 1) == width {
                *byte == sign
            } else {
                CLASSES[usize::from(*byte)] & (DIGIT | HEX) != 0
            }
        });
        let end = start + length;
        let goes_on = self.byte(end) == Some(sign)
            && self
                .byte(end + 1)
                .is_some_and(|byte| CLASSES[usize::from(byte)] & (DIGIT | LETTER) != 0);
        let only_digits = width == 4 && text.iter().all(|byte| !byte.is_ascii_alphabetic());
        if !shaped || goes_on || only_digits || self.joined_after(end) {
            return None;
        }
        self.push(EntityKind::Mac, start, end);
        Some(end)
    }
}
