//! Any text is read as the same blocks however it is cut, loses nothing but its markers, and is commands within bounds. A
//! command that is shown is read as the same command.
#![no_main]

use fathom_core::channel::marker::{BlockKind, Marker, MarkerEvent, MarkerParser, blocks};
use fathom_core::channel::shell_words::{self, COMMANDS_MAX, WORDS_MAX};
use libfuzzer_sys::fuzz_target;

/// What is read of a text, with neighbouring pieces of text put together.
fn read<'a>(chunks: impl IntoIterator<Item = &'a str>) -> Vec<MarkerEvent> {
    let mut parser = MarkerParser::new();
    let mut read: Vec<MarkerEvent> = Vec::new();
    let mut pieces = Vec::new();
    for chunk in chunks {
        pieces.extend(parser.push(chunk));
    }
    pieces.extend(parser.finish());
    for piece in pieces {
        match (read.last_mut(), piece) {
            (Some(MarkerEvent::Text(said)), MarkerEvent::Text(text)) => said.push_str(&text),
            (_, piece) => read.push(piece),
        }
    }
    read
}

/// Blocks begin and end in pairs, only seeds inside others, and no text is outside of them.
fn well_formed(pieces: &[MarkerEvent]) {
    let seed = BlockKind::Marked(Marker::ThoughtSeed);
    let mut open = Vec::new();
    for piece in pieces {
        match piece {
            MarkerEvent::Start(kind) => {
                assert!(open.is_empty() || *kind == seed && open[0] != seed);
                open.push(*kind);
                assert!(open.len() <= 2);
            }
            MarkerEvent::Text(text) => assert!(!text.is_empty() && !open.is_empty()),
            MarkerEvent::End(kind) => assert_eq!(open.pop(), Some(*kind)),
        }
    }
    assert_eq!(open, []);
}

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let whole = read([&*text]);
    well_formed(&whole);
    let said: usize = whole
        .iter()
        .map(|piece| match piece {
            MarkerEvent::Text(text) => text.len(),
            MarkerEvent::Start(_) | MarkerEvent::End(_) => 0,
        })
        .sum();
    assert!(said <= text.len());
    let starts = whole
        .iter()
        .filter(|piece| matches!(piece, MarkerEvent::Start(_)));
    assert_eq!(blocks(&text).len(), starts.count());

    let mut buffer = [0; 4];
    let chars: Vec<String> = text
        .chars()
        .map(|c| c.encode_utf8(&mut buffer).to_owned())
        .collect();
    assert_eq!(read(chars.iter().map(String::as_str)), whole);
    // The first byte says where the text is cut in two.
    let cut = bytes.first().map_or(0, |byte| usize::from(*byte));
    let (before, after) = text.split_at(text.floor_char_boundary(cut));
    assert_eq!(read([before, after]), whole);

    let commands = shell_words::commands(&text);
    assert!(commands.len() <= COMMANDS_MAX + 1);
    for command in commands.into_iter().flatten() {
        assert!(command.words().count() <= WORDS_MAX);
        assert_eq!(shell_words::commands(&command.to_string()), [Ok(command)]);
    }
});
