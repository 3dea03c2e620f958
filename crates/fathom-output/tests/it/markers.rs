//! From a model's stream to deliveries.

use std::sync::Arc;

use fathom_core::channel::marker::{BlockKind, Marker};
use fathom_output::channels::shell_block::{self, ShellBlockError};
use fathom_output::channels::{
    BlockDelivery, BlockEnd, BlockFlaw, DeliveryPart, FilterStream, OutputChannel, TextFilter,
};
use fathom_output::markers::{BLOCK_BYTES_MAX, BlockRouter};
use fathom_output::routes::{BlockFormat, RouteTable};

/// Masks `secret`, wherever a stream is cut, and tells the channel.
struct Mask;

struct Masking {
    mask: String,
    held: String,
}

impl TextFilter for Mask {
    fn open(&self, channel: OutputChannel) -> Box<dyn FilterStream> {
        let mask = format!("<{channel}>");
        let held = String::new();
        Box::new(Masking { mask, held })
    }
}

impl FilterStream for Masking {
    fn push(&mut self, text: &str) -> String {
        let all = std::mem::take(&mut self.held) + text;
        let masked = all.replace("secret", &self.mask);
        // What may be the beginning of the word waits.
        let kept = (1..6)
            .rev()
            .find(|kept| masked.ends_with(&"secret"[..*kept]));
        let (now, later) = masked.split_at(masked.len() - kept.unwrap_or(0));
        later.clone_into(&mut self.held);
        now.to_owned()
    }

    fn finish(self: Box<Self>) -> String {
        self.held
    }
}

fn router() -> BlockRouter {
    BlockRouter::new(Arc::new(RouteTable::default()), Arc::new(Mask))
}

fn route<'a>(chunks: impl IntoIterator<Item = &'a str>) -> Vec<BlockDelivery> {
    let mut router = router();
    let mut deliveries = Vec::new();
    for chunk in chunks {
        deliveries.extend(router.push(chunk));
    }
    deliveries.extend(router.finish());
    deliveries
}

/// One line a delivery.
fn shown(deliveries: &[BlockDelivery]) -> String {
    let show = |delivery: &BlockDelivery| {
        let part = match &delivery.part {
            DeliveryPart::Begin => "begin".to_owned(),
            DeliveryPart::Delta(text) => format!("{:?}", text.as_str()),
            DeliveryPart::End(BlockEnd::Complete) => "end".to_owned(),
            DeliveryPart::End(BlockEnd::Stopped) => "stopped".to_owned(),
            DeliveryPart::Whole(text) => format!("whole {:?}", text.as_str()),
            DeliveryPart::Flawed(text, flaw) => format!("{flaw:?} {:?}", text.as_str()),
        };
        let log = match delivery.form {
            BlockFormat::Said => "",
            BlockFormat::Log => " log",
        };
        let BlockDelivery {
            channel,
            kind,
            block,
            ..
        } = delivery;
        format!("{channel}{log} {block} {kind}: {part}\n")
    };
    deliveries.iter().map(show).collect()
}

#[test]
fn g08_blocks_go_to_their_channels_in_order() {
    let text = "PLAN:\n1. look\nTHOUGHT_SEED: cache it\n\n2. say\nEXECUTE: ls -la\nRESPONSE: Done.\nVERIFY: success\n";
    assert_eq!(
        shown(&route([text])),
        r#"cli log 0 plan: begin
cli log 0 plan: "1. look\n"
council 1 thought_seed: whole "cache it"
memory 1 thought_seed: whole "cache it"
cli log 0 plan: "2. say\n"
cli log 0 plan: end
council 0 plan: whole "1. look\n2. say"
shell 2 execute: whole "ls -la"
cli 3 response: begin
web 3 response: begin
cli 3 response: "Done.\n"
web 3 response: "Done.\n"
cli 3 response: end
web 3 response: end
discord 3 response: whole "Done."
cli 4 verify: begin
web 4 verify: begin
cli 4 verify: "success\n"
web 4 verify: "success\n"
cli 4 verify: end
web 4 verify: end
discord 4 verify: whole "success"
council 4 verify: whole "success"
memory 4 verify: whole "success"
"#
    );
}

#[test]
fn g08_text_without_a_marker_goes_where_a_response_goes() {
    let shown = shown(&route(["Hel", "lo."]));
    assert_eq!(
        shown,
        r#"cli 0 unmarked: begin
web 0 unmarked: begin
cli 0 unmarked: "Hel"
web 0 unmarked: "Hel"
cli 0 unmarked: "lo."
web 0 unmarked: "lo."
cli 0 unmarked: end
web 0 unmarked: end
discord 0 unmarked: whole "Hello."
"#
    );
}

#[test]
fn g08_a_charter_without_routes_for_a_block_delivers_it_nowhere() {
    let matrix = RouteTable::parse("[routes]\nRESPONSE = []").unwrap();
    let mut router = BlockRouter::new(Arc::new(matrix), Arc::new(Mask));
    assert_eq!(router.push("RESPONSE: a\nmore"), []);
    assert_eq!(router.finish(), []);
}

#[test]
fn g10_every_delivery_passes_the_filter_of_its_channel() {
    let text = "PLAN: a secret\nEXECUTE: secret\nRESPONSE: a secret\nTHOUGHT_SEED: secrets\n\nINTERRUPT: secret\nVERIFY: secret";
    let mut seen = Vec::new();
    for cut in 0..=text.len() {
        let (one, two) = text.split_at(cut);
        let deliveries = route([one, two]);
        let all = joined(&deliveries);
        assert!(!shown(&all).contains("secret\""), "{all:?}");
        for delivery in &all {
            let text = match &delivery.part {
                DeliveryPart::Delta(text)
                | DeliveryPart::Whole(text)
                | DeliveryPart::Flawed(text, _) => text.as_str(),
                DeliveryPart::Begin | DeliveryPart::End(_) => continue,
            };
            assert!(
                text.contains(&format!("<{}>", delivery.channel)),
                "{delivery:?}"
            );
            assert!(!text.contains("secret"), "{delivery:?}");
            seen.push(delivery.channel);
        }
    }
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen, OutputChannel::ALL);
}

/// Deliveries with the deltas of a block put together, by channel.
fn joined(deliveries: &[BlockDelivery]) -> Vec<BlockDelivery> {
    let mut all: Vec<BlockDelivery> = Vec::new();
    for delivery in deliveries {
        let before = all.iter_mut().find(|known| {
            matches!(known.part, DeliveryPart::Delta(_))
                && (known.channel, known.block) == (delivery.channel, delivery.block)
        });
        match (before.map(|known| &mut known.part), &delivery.part) {
            (Some(DeliveryPart::Delta(said)), DeliveryPart::Delta(more)) => said.append(more),
            _ => all.push(delivery.clone()),
        }
    }
    all.sort_by_key(|delivery| (delivery.channel, delivery.block));
    all
}

#[test]
fn g08_deliveries_are_the_same_at_any_chunking() {
    let text = "Hi secret\r\nPLAN:\r\n1. sec\nTHOUGHT_SEED: a secret\n\n2. ret 🦀\n```\nEXECUTE: no\n```\nEXECUTE: ls 'a b'\nRESPONSE: Größe: secretsecret\n\nVERIFY:";
    let whole = joined(&route([text]));
    let cuts: Vec<usize> = (0..=text.len())
        .filter(|at| text.is_char_boundary(*at))
        .collect();
    for (index, &first) in cuts.iter().enumerate() {
        for &second in &cuts[index..] {
            let chunks = [&text[..first], &text[first..second], &text[second..]];
            assert_eq!(joined(&route(chunks)), whole, "cut at {first} and {second}");
        }
    }
}

fn commands(deliveries: &[BlockDelivery]) -> Vec<Result<String, ShellBlockError>> {
    let shell = deliveries
        .iter()
        .filter(|delivery| delivery.channel == OutputChannel::Shell);
    shell
        .flat_map(shell_block::commands)
        .map(|read| read.map(|argv| argv.to_string()))
        .collect()
}

#[test]
fn g09_commands_are_what_the_model_wrote_or_not_run() {
    let run = |text: &str| commands(&route([text]));
    assert_eq!(
        run("EXECUTE:\n```sh\nls -la\nrm -rf '/a b'\n```\n"),
        [Ok("ls -la".to_owned()), Ok("rm -rf '/a b'".to_owned())]
    );
    assert!(matches!(
        run("EXECUTE: echo $(id)")[..],
        [Err(ShellBlockError::Refused(_))]
    ));
    // A filter that masks a part of a path makes it another path.
    assert_eq!(
        run("EXECUTE: rm -rf /secret/x"),
        [Err(ShellBlockError::Flawed(BlockFlaw::Altered))]
    );
    assert_eq!(run("EXECUTE:\n\n"), []);
    // In a fence it is text of somebody else.
    assert_eq!(run("RESPONSE:\n```\nEXECUTE: ls\n```\n"), []);

    let long = format!("EXECUTE: ls {}", "a".repeat(BLOCK_BYTES_MAX));
    assert_eq!(
        run(&long),
        [Err(ShellBlockError::Flawed(BlockFlaw::TooLong))]
    );
}

#[test]
fn g09_a_command_that_was_cut_off_is_not_run() {
    let mut router = router();
    let mut deliveries = router.push("EXECUTE: ls\nRESPONSE: a\nEXECUTE: rm -rf /tmp");
    deliveries.extend(router.stop());
    assert_eq!(
        commands(&deliveries),
        [
            Ok("ls".to_owned()),
            Err(ShellBlockError::Flawed(BlockFlaw::Stopped))
        ]
    );
}

#[test]
fn g08_a_stopped_stream_says_so_on_every_channel() {
    let mut router = router();
    let mut deliveries = router.push("RESPONSE: a\nTHOUGHT_SEED: b");
    deliveries.extend(router.stop());
    let last = deliveries.split_off(deliveries.len() - 5);
    assert_eq!(
        shown(&last),
        r#"council 1 thought_seed: Stopped "b"
memory 1 thought_seed: Stopped "b"
cli 0 response: stopped
web 0 response: stopped
discord 0 response: Stopped "a"
"#
    );
}

#[test]
fn g08_a_block_without_end_is_streamed_and_cut() {
    let mut router = router();
    let chunk = "x".repeat(64 * 1024);
    router.push("VERIFY: ");
    let mut streamed = 0;
    for _ in 0..20 {
        for delivery in router.push(&chunk) {
            match (delivery.channel, delivery.part) {
                (OutputChannel::Cli, DeliveryPart::Delta(text)) => streamed += text.as_str().len(),
                (OutputChannel::Web, DeliveryPart::Delta(_)) => {}
                other => panic!("{other:?}"),
            }
        }
    }
    assert_eq!(streamed, 20 * chunk.len());
    for delivery in router.finish() {
        match delivery.part {
            DeliveryPart::End(BlockEnd::Complete) => assert!(delivery.channel.streams()),
            DeliveryPart::Flawed(text, BlockFlaw::TooLong) => {
                assert_eq!(text.as_str().len(), BLOCK_BYTES_MAX);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn g08_a_block_that_is_there_goes_the_same_way() {
    let mut router = router();
    let kind = BlockKind::Marked(Marker::Verify);
    let whole = router.block(kind, "fail: a secret\n");
    assert_eq!(joined(&whole), joined(&route(["VERIFY: fail: a secret\n"])));
    let second = router.block(BlockKind::Unmarked, "b");
    assert!(second.iter().all(|delivery| delivery.block == 1));
}
