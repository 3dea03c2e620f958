use super::super::generated::{self, Draw};
use super::*;

/// What is read of a text that comes in these chunks, with neighbouring text put together.
fn read<'a>(chunks: impl IntoIterator<Item = &'a str>) -> Vec<MarkerEvent> {
    let mut parser = MarkerParser::new();
    let mut pieces = Vec::new();
    for chunk in chunks {
        join(&mut pieces, parser.push(chunk));
    }
    join(&mut pieces, parser.finish());
    pieces
}

fn join(pieces: &mut Vec<MarkerEvent>, more: Vec<MarkerEvent>) {
    for piece in more {
        match (pieces.last_mut(), piece) {
            (Some(MarkerEvent::Text(said)), MarkerEvent::Text(text)) => said.push_str(&text),
            (_, piece) => pieces.push(piece),
        }
    }
}

/// One line for people: `plan{…}`, with seeds inside.
fn shown(text: &str) -> String {
    let show = |piece: &MarkerEvent| match piece {
        MarkerEvent::Start(kind) => format!("{kind}{{"),
        MarkerEvent::Text(text) => text.escape_debug().to_string(),
        MarkerEvent::End(_) => "}".to_owned(),
    };
    read([text]).iter().map(show).collect()
}

#[track_caller]
fn check(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(shown(text), *expected, "{text:?}");
    }
}

#[test]
fn g08_markers_begin_blocks_at_line_starts() {
    check(&[
        ("PLAN: a\nRESPONSE: b\n", r"plan{a\n}response{b\n}"),
        ("PLAN:\n1. a\n2. b\n", r"plan{1. a\n2. b\n}"),
        ("PLAN:a", "plan{a}"),
        ("PLAN: \t\n  a", "plan{  a}"),
        ("PLAN:", "plan{}"),
        ("PLAN:\n\n a\n", r"plan{\n a\n}"),
        (
            "PLAN:\nEXECUTE:\nRESPONSE:\nINTERRUPT:\nVERIFY:\n",
            "plan{}execute{}response{}interrupt{}verify{}",
        ),
        ("PLAN: a\nPLAN: b\n", r"plan{a\n}plan{b\n}"),
        // One marker a line.
        ("PLAN: EXECUTE: ls\n", r"plan{EXECUTE: ls\n}"),
    ]);
}

#[test]
fn g08_what_only_looks_like_a_marker_is_text() {
    check(&[
        (" PLAN: a\n", r"unmarked{PLAN: a\n}"),
        ("RESPONSE: a\n EXECUTE: b\n", r"response{a\n EXECUTE: b\n}"),
        ("RESPONSE: a EXECUTE: b\n", r"response{a EXECUTE: b\n}"),
        ("plan: a\n", r"unmarked{plan: a\n}"),
        ("Plan: a\n", r"unmarked{Plan: a\n}"),
        ("PLAN a\n", r"unmarked{PLAN a\n}"),
        ("PLAN : a\n", r"unmarked{PLAN : a\n}"),
        ("PLANS: a\n", r"unmarked{PLANS: a\n}"),
        ("**PLAN:** a\n", r"unmarked{**PLAN:** a\n}"),
        ("THOUGHT-SEED: a\n", r"unmarked{THOUGHT-SEED: a\n}"),
        ("PLAN", "unmarked{PLAN}"),
        ("PPLAN: a", "unmarked{PPLAN: a}"),
        ("PLAN：a", "unmarked{PLAN：a}"),
        // A carriage return alone ends no line, and neither does anything else that a screen may break at.
        ("RESPONSE: a\rEXECUTE: b\n", r"response{a\rEXECUTE: b\n}"),
        (
            "RESPONSE: a\u{2028}EXECUTE: b\u{85}EXECUTE: c\u{b}EXECUTE: d",
            r"response{a\u{2028}EXECUTE: b\u{85}EXECUTE: c\u{b}EXECUTE: d}",
        ),
    ]);
}

#[test]
fn g08_text_without_a_marker_is_a_block() {
    check(&[
        ("", ""),
        ("\n \r\n\t", ""),
        ("Hello.\n", r"unmarked{Hello.\n}"),
        ("\n\n  Hello.\nPLAN: a", r"unmarked{Hello.\n}plan{a}"),
        ("\n\nPLAN: a", "plan{a}"),
    ]);
}

#[test]
fn g08_lines_end_with_lf_or_crlf() {
    check(&[
        (
            "PLAN:\r\na\r\nRESPONSE: b\r\n",
            r"plan{a\r\n}response{b\r\n}",
        ),
        (
            "PLAN: a\r\nTHOUGHT_SEED: s\r\n\r\nb\r\n",
            r"plan{a\r\nthought_seed{s\r\n\r\n}b\r\n}",
        ),
        (
            "RESPONSE:\r\n```\r\nPLAN: a\r\n```\r\nPLAN: b",
            r"response{```\r\nPLAN: a\r\n```\r\n}plan{b}",
        ),
    ]);
}

#[test]
fn g08_a_seed_interrupts_the_block_it_stands_in() {
    check(&[
        // It ends with a blank line, and the block goes on.
        (
            "PLAN: a\nTHOUGHT_SEED: s\n\nb\n",
            r"plan{a\nthought_seed{s\n\n}b\n}",
        ),
        (
            "PLAN: a\nTHOUGHT_SEED: s\nt\n \t\nb\n",
            r"plan{a\nthought_seed{s\nt\n \t\n}b\n}",
        ),
        // It ends at a marker, and so does the block.
        (
            "PLAN: a\nTHOUGHT_SEED: s\nRESPONSE: b\n",
            r"plan{a\nthought_seed{s\n}}response{b\n}",
        ),
        // A seed ends a seed, and both are in the block.
        (
            "PLAN: a\nTHOUGHT_SEED: s\nTHOUGHT_SEED: t\n\nb\n",
            r"plan{a\nthought_seed{s\n}thought_seed{t\n\n}b\n}",
        ),
        // It ends with the text.
        ("PLAN: a\nTHOUGHT_SEED: s", r"plan{a\nthought_seed{s}}"),
        // Blank lines before its first word end nothing.
        (
            "PLAN: a\nTHOUGHT_SEED:\n\n \ns\n\nb\n",
            r"plan{a\nthought_seed{\n \ns\n\n}b\n}",
        ),
        // In text without a marker, and with nothing around it.
        (
            "a\nTHOUGHT_SEED: s\n\nb",
            r"unmarked{a\nthought_seed{s\n\n}b}",
        ),
        ("THOUGHT_SEED: s\n\n\nb", r"thought_seed{s\n\n}unmarked{b}"),
        // Blank lines in a fence are code.
        (
            "PLAN: a\nTHOUGHT_SEED: s\n```\n\nPLAN: c\n```\n\nb",
            r"plan{a\nthought_seed{s\n```\n\nPLAN: c\n```\n\n}b}",
        ),
    ]);
}

#[test]
fn g08_markers_in_code_fences_are_text() {
    check(&[
        (
            "RESPONSE: a\n```\nEXECUTE: b\n```\nVERIFY: c\n",
            r"response{a\n```\nEXECUTE: b\n```\n}verify{c\n}",
        ),
        (
            "~~~~\nPLAN: a\n~~~\nPLAN: b\n~~~~\nPLAN: c",
            r"unmarked{~~~~\nPLAN: a\n~~~\nPLAN: b\n~~~~\n}plan{c}",
        ),
        // A fence may begin right after a marker.
        (
            "RESPONSE: ```sh\nEXECUTE: a\n```\nPLAN: b",
            r"response{```sh\nEXECUTE: a\n```\n}plan{b}",
        ),
        // One that is not closed ends with the text.
        (
            "RESPONSE:\n```\nEXECUTE: a\nPLAN: b\n",
            r"response{```\nEXECUTE: a\nPLAN: b\n}",
        ),
        // Code within a line is no fence.
        ("```a```\nPLAN: b", r"unmarked{```a```\n}plan{b}"),
    ]);
}

#[test]
fn g08_whole_texts_become_blocks_of_output() {
    let text = "RESPONSE:\r\n\r\n  a\nTHOUGHT_SEED: s\n\nb\n\n\nPLAN:\n";
    let blocks = blocks(text);
    let shown: Vec<_> = blocks
        .iter()
        .map(|block| (block.channel.as_str(), block.text.as_str()))
        .collect();
    assert_eq!(
        shown,
        [("response", "  a\nb"), ("thought_seed", "s"), ("plan", "")]
    );
    for kind in BlockKind::ALL {
        assert_eq!(
            OutputBlock::marked(kind, Text::default()).kind(),
            Some(kind)
        );
    }
    assert_eq!(
        BlockKind::Unmarked.goes_as(),
        Marker::Response,
        "a reply without a marker is for the user"
    );
}

#[test]
fn g08_any_chunking_reads_the_same() {
    let mut draw = Draw::new(8);
    let mut seen = [0; 7];
    for number in 0..500 {
        let text = generated::text(&mut draw);
        let whole = read([text.as_str()]);
        for piece in &whole {
            if let MarkerEvent::Start(kind) = piece {
                seen[BlockKind::ALL
                    .iter()
                    .position(|known| known == kind)
                    .unwrap()] += 1;
            }
        }
        let context = || format!("text {number}: {text:?}");
        for chunks in generated::every_split_in_two(&text) {
            assert_eq!(read(chunks), whole, "{}", context());
        }
        for bytes in 1..=64 {
            assert_eq!(read(generated::fixed(&text, bytes)), whole, "{}", context());
        }
        for _ in 0..200 {
            let chunks = generated::seven(&text, &mut draw);
            assert_eq!(read(chunks), whole, "{}", context());
        }
    }
    assert!(
        seen.iter().all(|count| *count > 100),
        "the texts hold every kind of block often: {seen:?}"
    );
}

/// Text of blocks is the text without markers and what follows them: nothing is lost, nothing invented.
#[test]
fn g08_all_text_but_markers_is_in_some_block() {
    let mut draw = Draw::new(9);
    let no_markers = |text: &str| {
        let mut text = text.to_owned();
        for marker in Marker::ALL {
            text = text.replace(marker.prefix(), "");
        }
        text.split_ascii_whitespace().collect::<String>()
    };
    for _ in 0..500 {
        let text = generated::text(&mut draw);
        let said: String = read([text.as_str()])
            .iter()
            .map(|piece| match piece {
                MarkerEvent::Text(text) => text.as_str(),
                MarkerEvent::Start(_) | MarkerEvent::End(_) => "",
            })
            .collect();
        assert_eq!(no_markers(&said), no_markers(&text), "{text:?}");
    }
}

#[test]
fn g08_hostile_texts_are_read_within_bounds() {
    // A long line is passed on at once: nothing is kept but the state.
    let mut parser = MarkerParser::new();
    parser.push("RESPONSE: ");
    let chunk = "x".repeat(64 * 1024);
    for _ in 0..160 {
        let said: usize = parser
            .push(&chunk)
            .iter()
            .map(|piece| match piece {
                MarkerEvent::Text(text) => text.len(),
                MarkerEvent::Start(_) | MarkerEvent::End(_) => 0,
            })
            .sum();
        assert_eq!(said, chunk.len());
    }
    // A marker that never ends holds back less than itself.
    let mut parser = MarkerParser::new();
    assert_eq!(parser.push("THOUGHT_SEED"), []);
    assert_eq!(
        parser.push("S")[1..],
        [MarkerEvent::Text("THOUGHT_SEEDS".into())]
    );

    let million = 1_000_000;
    assert_eq!(
        read(["PLAN:\n".repeat(million).as_str()]).len(),
        2 * million
    );
    assert_eq!(
        read(["THOUGHT_SEED:".repeat(million).as_str()]).len(),
        3,
        "one a line"
    );
    assert_eq!(
        read(["THOUGHT_SEED:\n".repeat(million).as_str()]).len(),
        2 * million
    );
    for text in [
        "`", "~", "\n", " ", "\r", "P", "`\n", "```\n", "PLAN:", "T\n",
    ] {
        let text = text.repeat(million);
        let pieces = read([text.as_str()]);
        assert!(pieces.len() <= 3, "{:?}", &pieces[..3]);
    }
}
