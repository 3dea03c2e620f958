//! Nothing reaches a channel but through the filters: planted values, however the stream is cut.

use std::collections::BTreeSet;
use std::sync::Arc;

use fathom_output::channels::event_stream::SseWriter;
use fathom_output::channels::{
    BlockDelivery, DeliveryPart, FilterStream, OutputChannel, TextFilter, discord, shell_block,
};
use fathom_output::markers::BlockRouter;
use fathom_output::redact::{RedactRules, RedactStream, TextRedactor};
use fathom_output::routes::RouteTable;

/// The redactor between a model and its channels.
struct Filters(TextRedactor);

struct OnItsWay(RedactStream);

impl TextFilter for Filters {
    fn open(&self, _: OutputChannel) -> Box<dyn FilterStream> {
        Box::new(OnItsWay(self.0.stream()))
    }
}

impl FilterStream for OnItsWay {
    fn push(&mut self, text: &str) -> String {
        self.0.push(text)
    }

    fn finish(mut self: Box<Self>) -> String {
        self.0.finish()
    }
}

/// Values, and what of them must not be seen anywhere.
const PLANTED: [(&str, &str); 5] = [
    ("ann.planted@kestrel-post.de", "planted@"),
    ("4539 1488 0343 6467", "4539 1488"),
    ("DE89 3704 0044 0532 0130 00", "3704 0044"),
    ("ghp_016C7e2fBLAq4XAOVtYvSNlRuCDXWz1ebx9T", "016C7e2fBLA"),
    ("https://ann:Zq8mV7planted@db.kestrel.de/x", "Zq8mV7"),
];

fn stream() -> String {
    let values: Vec<&str> = PLANTED.iter().map(|(value, _)| *value).collect();
    let values = values.join(" and ");
    let blocks = [
        "PLAN",
        "RESPONSE",
        "EXECUTE",
        "THOUGHT_SEED",
        "INTERRUPT",
        "VERIFY",
    ];
    let blocks = blocks.map(|marker| format!("{marker}: it is {values}.\nIt was {values}.\n"));
    blocks.concat()
}

/// Every delivery of the stream as its channel sends it.
fn sent(deliveries: &[BlockDelivery]) -> Vec<(OutputChannel, String)> {
    let mut frames = SseWriter::new();
    let mut sent = Vec::new();
    for delivery in deliveries {
        let text = match &delivery.part {
            DeliveryPart::Begin | DeliveryPart::End(_) => String::new(),
            DeliveryPart::Delta(text)
            | DeliveryPart::Whole(text)
            | DeliveryPart::Flawed(text, _) => text.as_str().to_owned(),
        };
        let wire = match delivery.channel {
            OutputChannel::Web => frames.frame(delivery),
            OutputChannel::Discord => {
                let messages = discord::messages(delivery, "key");
                let bodies = messages
                    .iter()
                    .map(|message| message.bot_body().to_string());
                bodies.collect::<Vec<_>>().concat()
            }
            // A command that the filters changed is not run.
            OutputChannel::Shell => format!("{:?}", shell_block::commands(delivery)),
            OutputChannel::Cli | OutputChannel::Council | OutputChannel::Memory => text.clone(),
        };
        sent.push((delivery.channel, format!("{text}\n{wire}")));
    }
    sent
}

#[test]
fn g10_no_channel_gets_a_planted_value() {
    let redactor = TextRedactor::new(&RedactRules::builtin().unwrap(), None).unwrap();
    let filter: Arc<dyn TextFilter> = Arc::new(Filters(redactor));
    let text = stream();
    for bytes in [1, 7, 64, text.len()] {
        let mut router = BlockRouter::new(Arc::new(RouteTable::default()), Arc::clone(&filter));
        let mut deliveries = Vec::new();
        for piece in text.as_bytes().chunks(bytes) {
            deliveries.extend(router.push(str::from_utf8(piece).unwrap()));
        }
        deliveries.extend(router.finish());
        let sent = sent(&deliveries);
        let channels: BTreeSet<OutputChannel> = sent.iter().map(|(channel, _)| *channel).collect();
        assert_eq!(
            channels,
            OutputChannel::ALL.into(),
            "every channel is walked"
        );
        for channel in OutputChannel::ALL {
            let own = sent.iter().filter(|(to, _)| *to == channel);
            let all: String = own.map(|(_, text)| text.as_str()).collect();
            for (value, needle) in PLANTED {
                assert!(!all.contains(needle), "{channel} shows {value}: {all}");
            }
            assert!(
                all.contains("[email]"),
                "{channel} in pieces of {bytes}: {all}"
            );
        }
    }
}
