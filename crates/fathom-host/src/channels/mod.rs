//! Delivers blocks: through the filters, each once, with what became of it.
//!
//! The request is durable before it comes here, and comes again after a crash. What is kept in the home is kept in one step
//! with the note that it is done. What leaves the house is written down before it is sent.

mod discord;
mod error;

use std::sync::{Arc, Mutex, PoisonError};

use fathom_core::channel::delivery::{
    ChannelDelivery, ChannelRoute, DeliveryReport, DeliveryRequest, DeliveryState,
};
use fathom_core::channel::marker::{BlockKind, Marker};
use fathom_core::council_bus::{MessageDraft, MessageType};
use fathom_core::id::{AskId, EpisodeId, RunId};
use fathom_core::text::Text;
use fathom_core::unit::{PerMille, Timestamp};
use fathom_output::channels::{
    BlockDelivery, DeliveryPart, FilteredText, OutputChannel, OutputFilter, event_stream,
};
use fathom_output::redact::{RedactRules, TextRedactor};
use fathom_output::routes::BlockFormat;
use fathom_store::channels::{ChannelStore as Kept, DeliveryId, NewSeed, SeedKind};
use fathom_store::{HomeFolder, Journal};

pub use discord::{DiscordTarget, DiscordTargetError};
pub use error::ChannelError;

use crate::clock::Clock;
use crate::runtime::RuntimeOptions;
use discord::DiscordChannel;

/// The channels of a home.
pub(crate) struct ChannelOutlets {
    home: HomeFolder,
    journal: Arc<dyn Journal>,
    clock: Arc<dyn Clock>,
    discord: Option<DiscordChannel>,
    filter: Option<TextRedactor>,
    open: Mutex<Option<OpenChannels>>,
}

/// Resources that all deliveries share, opened with the first one.
#[derive(Clone)]
struct OpenChannels {
    kept: Kept,
    filter: TextRedactor,
}

/// The ask and the episode that a delivery belongs to.
pub(crate) struct DeliveryAsk {
    pub(crate) run: RunId,
    pub(crate) episode: EpisodeId,
    pub(crate) ask: AskId,
    pub(crate) at: Timestamp,
}

impl ChannelOutlets {
    pub(crate) fn new(
        home: &HomeFolder,
        journal: &Arc<dyn Journal>,
        options: &RuntimeOptions,
    ) -> Self {
        let discord = options.discord.clone();
        Self {
            home: home.clone(),
            journal: Arc::clone(journal),
            clock: Arc::clone(&options.clock),
            discord: discord.map(|at| DiscordChannel::new(at, options.read_env)),
            filter: options.filter.clone(),
            open: Mutex::default(),
        }
    }

    /// Delivers a block wherever it is to go, and says what became of it.
    pub(crate) async fn deliver(&self, said: &DeliveryAsk, request: &str) -> Text {
        let deliveries = match serde_json::from_str::<DeliveryRequest>(request) {
            Ok(send) => {
                let mut deliveries = Vec::new();
                for way in &send.to {
                    deliveries.push(self.note(said, &send, way).await);
                }
                deliveries
            }
            Err(error) => {
                tracing::warn!(%error, "cannot read a delivery");
                Vec::new()
            }
        };
        let sent = DeliveryReport { deliveries };
        Text::new(serde_json::to_string(&sent).unwrap_or_default())
    }

    async fn note(
        &self,
        said: &DeliveryAsk,
        send: &DeliveryRequest,
        way: &ChannelRoute,
    ) -> ChannelDelivery {
        let (state, detail) = match self.one(said, send, way).await {
            Ok(state) => (state, None),
            Err(error) => {
                let (code, channel) = (error.code(), way.channel.as_str());
                tracing::warn!(code, channel, %error, "cannot deliver a block");
                let detail = format!("{error} ({code}; hint: {})", error.hint());
                (error.state(), Some(detail))
            }
        };
        ChannelDelivery {
            channel: way.channel.clone(),
            log: way.log,
            state,
            detail,
        }
    }

    async fn one(
        &self,
        said: &DeliveryAsk,
        send: &DeliveryRequest,
        way: &ChannelRoute,
    ) -> Result<DeliveryState, ChannelError> {
        let no_channel = || ChannelError::NoChannel {
            name: way.channel.clone(),
        };
        let channel = OutputChannel::from_name(&way.channel).ok_or_else(no_channel)?;
        let kind = BlockKind::from_name(&send.kind).ok_or_else(no_channel)?;
        let open = self.open()?;
        let id = format!("{}/{}/{}", said.run, said.episode, send.block);
        let of = DeliveryId {
            id: &id,
            channel: channel.as_str(),
        };
        // Filtered here and not by the channel, so that no channel can forget it.
        let clean = OutputFilter::whole(&open.filter, channel, &send.text);
        match channel {
            // Whoever follows the run shows it, out of the record.
            OutputChannel::Cli => {}
            OutputChannel::Web => {
                let delivery = whole(channel, kind, send, way, clean);
                let bodies = [event_stream::event(&delivery)];
                open.kept.publish(of, said.run, &bodies, said.at)?;
            }
            OutputChannel::Council => {
                let bodies = [envelope(said, send, &clean)];
                open.kept.publish(of, said.run, &bodies, said.at)?;
            }
            OutputChannel::Memory => open.kept.remember(
                of,
                &NewSeed {
                    id: &id,
                    run: said.run,
                    kind: match kind.goes_as() {
                        Marker::ThoughtSeed => SeedKind::ThoughtSeed,
                        _ => SeedKind::Verify,
                    },
                    // The memory keeps the text unfiltered: it stays in the home, as the journal does, and is filtered
                    // where it is shown.
                    text: &send.text,
                    created: said.at,
                },
            )?,
            OutputChannel::Discord => {
                let Some(discord) = &self.discord else {
                    return Ok(DeliveryState::Absent);
                };
                let delivery = whole(channel, kind, send, way, clean);
                let post = discord::OutgoingBlock {
                    of,
                    delivery: &delivery,
                    kept: &open.kept,
                    journal: &*self.journal,
                    clock: &*self.clock,
                };
                discord.deliver(&post).await?;
            }
            // Blocks never go to a shell; commands go there only as effects, which the gateway decides on.
            OutputChannel::Shell => return Err(no_channel()),
        }
        Ok(DeliveryState::Delivered)
    }

    fn open(&self) -> Result<OpenChannels, ChannelError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = &*open {
            return Ok(open.clone());
        }
        let made = OpenChannels {
            kept: self.home.open_channels()?,
            filter: match &self.filter {
                Some(own) => own.clone(),
                None => TextRedactor::new(&RedactRules::builtin()?, None)?,
            },
        };
        // Only a success is kept, so a store that could not be opened is tried again with the next block.
        *open = Some(made.clone());
        Ok(made)
    }
}

fn whole(
    channel: OutputChannel,
    kind: BlockKind,
    send: &DeliveryRequest,
    way: &ChannelRoute,
    clean: FilteredText,
) -> BlockDelivery {
    BlockDelivery {
        channel,
        kind,
        block: send.block,
        form: if way.log {
            BlockFormat::Log
        } else {
            BlockFormat::Said
        },
        part: DeliveryPart::Whole(clean),
    }
}

/// A block as a message of the council protocol.
fn envelope(said: &DeliveryAsk, send: &DeliveryRequest, clean: &FilteredText) -> String {
    let content = Text::from(clean.as_str());
    let draft = match send.message {
        MessageType::Escalation => MessageDraft::escalation(send.speaker, content),
        _ => MessageDraft::info(send.speaker, content),
    };
    let confidence = send
        .confidence_milli
        .and_then(|milli| PerMille::new(milli).ok());
    let draft = draft.at_risk(send.risk).confident(confidence);
    let envelope = draft.stamp(&said.episode, said.ask, said.at);
    serde_json::to_string(&envelope).unwrap_or_default()
}

#[cfg(test)]
#[path = "channels_tests.rs"]
mod tests;
