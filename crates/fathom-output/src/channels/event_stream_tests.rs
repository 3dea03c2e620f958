use fathom_core::channel::marker::{BlockKind, Marker};
use serde_json::{Value, json};

use super::*;
use crate::channels::open::Open;
use crate::channels::{OutputChannel, OutputFilter};

fn delivery(part: DeliveryPart, form: BlockFormat) -> BlockDelivery {
    BlockDelivery {
        channel: OutputChannel::Web,
        kind: BlockKind::Marked(Marker::Plan),
        block: 3,
        form,
        part,
    }
}

#[test]
fn g09_deliveries_are_frames_of_an_event_stream() {
    let mut frames = SseWriter::new();
    let text = OutputFilter::whole(&Open, OutputChannel::Web, "a");
    let written: Vec<String> = [
        (DeliveryPart::Begin, BlockFormat::Log),
        (DeliveryPart::Delta(text.clone()), BlockFormat::Said),
        (DeliveryPart::End(BlockEnd::Complete), BlockFormat::Said),
        (DeliveryPart::End(BlockEnd::Stopped), BlockFormat::Said),
        (DeliveryPart::Whole(text.clone()), BlockFormat::Said),
        (
            DeliveryPart::Flawed(text, BlockFlaw::TooLong),
            BlockFormat::Said,
        ),
    ]
    .into_iter()
    .map(|(part, form)| frames.frame(&delivery(part, form)))
    .collect();
    assert_eq!(
        written.concat(),
        r#"id: 1
event: begin
data: {"block":3,"kind":"plan","log":true}

id: 2
event: delta
data: {"block":3,"kind":"plan","log":false,"text":"a"}

id: 3
event: end
data: {"block":3,"kind":"plan","log":false}

id: 4
event: end
data: {"block":3,"kind":"plan","log":false,"flaw":"stopped"}

id: 5
event: block
data: {"block":3,"kind":"plan","log":false,"text":"a"}

id: 6
event: block
data: {"block":3,"kind":"plan","log":false,"text":"a","flaw":"too_long"}

"#
    );
    assert!(
        SseWriter::after(41)
            .frame(&delivery(DeliveryPart::Begin, BlockFormat::Said))
            .starts_with("id: 42\n")
    );
}

/// An event stream as a browser reads it: lines end with CR, LF or both, and a blank one ends a frame.
fn events(stream: &str) -> Vec<Vec<(String, String)>> {
    let lines = stream.replace("\r\n", "\n").replace('\r', "\n");
    let frames = lines.split("\n\n").filter(|frame| !frame.is_empty());
    let field = |line: &str| {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        (name.to_owned(), value.to_owned())
    };
    frames
        .map(|frame| frame.lines().map(field).collect())
        .collect()
}

#[test]
fn g09_no_text_ends_its_frame() {
    for text in [
        "a\n\nevent: delta\ndata: {}\n\n",
        "a\r\rid: 9\r",
        "\r\n\r\n:\u{2028}\u{2029}\u{85}\0",
        "\"}\n\n",
    ] {
        let clean = OutputFilter::whole(&Open, OutputChannel::Web, text);
        let frame =
            SseWriter::new().frame(&delivery(DeliveryPart::Delta(clean), BlockFormat::Said));
        let events = events(&frame);
        assert_eq!(events.len(), 1, "{frame:?}");
        let names: Vec<&str> = events[0].iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["id", "event", "data"], "{frame:?}");
        let data: Value = serde_json::from_str(&events[0][2].1).unwrap();
        assert_eq!(data["text"], json!(text));
    }
    assert!(events(KEEP_ALIVE)[0][0].0.is_empty(), "a comment");
}
