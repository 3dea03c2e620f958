use proptest::prelude::*;

use super::*;

fn cut(framing: FrameKind, pieces: &[&[u8]]) -> Vec<String> {
    let mut frames = FrameReader::new(framing);
    let mut all: Vec<String> = pieces
        .iter()
        .flat_map(|piece| frames.push(piece).unwrap())
        .collect();
    all.extend(frames.finish());
    all
}

#[test]
fn x05_events_are_read_as_the_standard_says() {
    let body = "\u{feff}: comment\nevent: x\ndata: one\n\ndata:two\ndata: lines\n\nid: 7\nretry: 10\n\nunknown\ndata: \r\ndata: last\r\n\r\n";
    assert_eq!(
        cut(FrameKind::Events, &[body.as_bytes()]),
        ["one", "two\nlines", "last"]
    );
}

#[test]
fn x05_a_last_event_without_its_empty_line_is_kept() {
    assert_eq!(cut(FrameKind::Events, &[b"data: a\n\ndata: b"]), ["a", "b"]);
    assert_eq!(cut(FrameKind::Lines, &[b"{1}\n\n{2}"]), ["{1}", "{2}"]);
}

#[test]
fn x08_a_frame_without_end_is_refused() {
    let mut frames = FrameReader::new(FrameKind::Events);
    let endless = vec![b'x'; FRAME_BYTES_MAX / 2];
    assert_eq!(frames.push(&endless), Ok(Vec::new()));
    assert_eq!(frames.push(&endless), Ok(Vec::new()));
    assert_eq!(frames.push(b"x"), Err(FrameError::TooLarge));
    assert_eq!(
        FrameReader::new(FrameKind::Lines).push(b"\xff\xfe\n"),
        Err(FrameError::NotText)
    );
}

proptest! {
    #[test]
    fn x05_the_frames_do_not_depend_on_how_the_network_cuts(
        body in "(data: [a-zé{}\"]{0,6}\r?\n|\r?\n|:[a-z]{0,3}\n){0,12}",
        at in any::<proptest::sample::Index>(),
    ) {
        let bytes = body.as_bytes();
        let (left, right) = bytes.split_at(at.index(bytes.len() + 1));
        for framing in [FrameKind::Events, FrameKind::Lines] {
            prop_assert_eq!(cut(framing, &[left, right]), cut(framing, &[bytes]));
        }
    }
}
