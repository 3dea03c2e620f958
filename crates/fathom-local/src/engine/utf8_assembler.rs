//! Joins the bytes of tokens into whole characters.

/// The text of a reply so far.
#[derive(Debug, Default)]
pub(crate) struct Utf8Assembler {
    text: String,
    /// The start of an incomplete character.
    tail: Vec<u8>,
}

impl Utf8Assembler {
    /// Adds the bytes of the next token.
    pub(crate) fn hear(&mut self, bytes: &[u8]) {
        self.tail.extend_from_slice(bytes);
        let mut rest = std::mem::take(&mut self.tail);
        loop {
            match std::str::from_utf8(&rest) {
                Ok(whole) => {
                    self.text.push_str(whole);
                    return;
                }
                Err(error) => {
                    let (whole, broken) = rest.split_at(error.valid_up_to());
                    self.text.push_str(&String::from_utf8_lossy(whole));
                    // No error length: the bytes end within a character, and the next token may complete it.
                    let Some(wrong) = error.error_len() else {
                        self.tail = broken.to_vec();
                        return;
                    };
                    self.text.push(char::REPLACEMENT_CHARACTER);
                    rest = broken[wrong..].to_vec();
                }
            }
        }
    }

    /// The complete characters so far.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The whole text. An incomplete character becomes a replacement character.
    pub(crate) fn end(mut self) -> String {
        if !self.tail.is_empty() {
            self.text.push(char::REPLACEMENT_CHARACTER);
        }
        self.text
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Utf8Assembler;

    #[test]
    fn a_cut_character_waits_for_its_end() {
        let mut speech = Utf8Assembler::default();
        speech.hear(&[b'a', 0xF0, 0x9F]);
        assert_eq!(speech.text(), "a");
        speech.hear(&[0x98, 0x80, b'!']);
        assert_eq!(speech.text(), "a😀!");
        speech.hear(&[0xE2, 0x82]);
        assert_eq!(speech.end(), "a😀!\u{FFFD}");
    }

    proptest! {
        #[test]
        fn any_bytes_in_any_pieces_read_like_the_whole(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..5), 0..20),
        ) {
            let whole = pieces.concat();
            let mut speech = Utf8Assembler::default();
            for piece in &pieces {
                speech.hear(piece);
            }
            prop_assert_eq!(speech.end(), String::from_utf8_lossy(&whole).into_owned());
        }
    }
}
