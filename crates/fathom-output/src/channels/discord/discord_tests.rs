use super::*;
use crate::channels::open::Open;
use crate::channels::{OutputChannel, OutputFilter};
use crate::routes::BlockFormat;

fn delivery(kind: BlockKind, text: &str) -> BlockDelivery {
    BlockDelivery {
        channel: OutputChannel::Discord,
        kind,
        block: 0,
        form: BlockFormat::Said,
        part: DeliveryPart::Whole(OutputFilter::whole(&Open, OutputChannel::Discord, text)),
    }
}

#[test]
fn g09_bodies_ping_nobody_and_open_no_link() {
    let said = delivery(BlockKind::Unmarked, "@everyone see https://example.org");
    let messages = messages(&said, "k1");
    assert_eq!(messages.len(), 1);
    assert_eq!(
        messages[0].webhook_body(),
        json!({
            "content": "@everyone see https://example.org",
            "allowed_mentions": {"parse": []},
            "flags": 4,
        })
    );
    let nonce = messages[0].nonce();
    assert_eq!(nonce.len(), 25);
    let mut bot = messages[0].webhook_body();
    bot["nonce"] = json!(nonce);
    bot["enforce_nonce"] = json!(true);
    assert_eq!(messages[0].bot_body(), bot);
}

#[test]
fn g09_a_message_has_the_same_nonce_again() {
    let long = delivery(BlockKind::Unmarked, &"word ".repeat(1_000));
    let first = messages(&long, "k1");
    assert_eq!(first.len(), 3);
    assert_eq!(first, messages(&long, "k1"));
    let others = messages(&long, "k2");
    let mut nonces: Vec<&str> = first
        .iter()
        .chain(&others)
        .map(DiscordMessage::nonce)
        .collect();
    nonces.sort_unstable();
    nonces.dedup();
    assert_eq!(nonces.len(), 6);
}

#[test]
fn g09_what_is_no_answer_says_what_it_is() {
    let content = |delivery: &BlockDelivery| -> Vec<String> {
        let messages = messages(delivery, "k");
        messages
            .iter()
            .map(|message| message.content().to_owned())
            .collect()
    };
    let marked = |marker| delivery(BlockKind::Marked(marker), "a");
    assert_eq!(content(&marked(Marker::Response)), ["a"]);
    assert_eq!(content(&marked(Marker::Verify)), ["**VERIFY**\na"]);
    assert_eq!(content(&delivery(BlockKind::Unmarked, " \n")), [""; 0]);
    let mut stopped = marked(Marker::Response);
    let DeliveryPart::Whole(text) = stopped.part.clone() else {
        unreachable!("it was made so");
    };
    stopped.part = DeliveryPart::Flawed(text, BlockFlaw::Stopped);
    assert_eq!(content(&stopped), ["a\n*(stopped here)*"]);
    stopped.part = DeliveryPart::Begin;
    assert_eq!(content(&stopped), [""; 0]);
}
