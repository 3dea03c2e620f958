//! Messages on Discord, each at most once where Discord can tell, and reported where it cannot.
//!
//! That a message is begun is written down before it is sent. A bot's message carries a nonce that Discord knows again for
//! some minutes, so one whose answer was lost is sent again at once. Later, and by a webhook, which has none, it is not: it
//! may be there.

use std::sync::Arc;
use std::time::Duration;

use fathom_core::effect::EffectTarget;
use fathom_core::unit::{Millis, Timestamp};
use fathom_output::channels::BlockDelivery;
use fathom_output::channels::discord::{self, DiscordMessage, SendOutcome};
use fathom_store::Journal;
use fathom_store::channels::{ChannelStore as Kept, DeliveryId, DeliveryProgress};
use fathom_tools::json_post::{JsonPoster, KeyPlace, PostError, PostResponse};
use fathom_tools::{PlatformKey, SystemResolver};
use serde::Deserialize;
use tokio::sync::Mutex;

use super::error::ChannelError;
use crate::clock::{Clock, until};
use crate::effects::pause;

/// Longest wait for a limit before a message is given up.
// A delivery holds the queue of this channel, so a longer limit is reported instead of waited out.
const WAIT_MAX: Duration = Duration::from_mins(1);
/// Maximum number of attempts for a message that does not get through.
const TRIES_MAX: u32 = 4;
/// The wait between two tries that Discord said nothing about.
// Half a second: long enough for a dropped connection to be over, short against the minute of `WAIT_MAX`.
const AGAIN_AFTER: Millis = Millis(500);
/// Time after its first attempt within which a bot's message may be sent again: Discord looks for a nonce only among
/// the last few minutes.
const KNOWN_FOR: Millis = Millis(120_000);

/// Destination of messages on Discord.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiscordTarget {
    /// Scheme, host and port. Nothing else is reached.
    #[serde(default = "usual_url")]
    pub url: String,
    /// The number of a webhook.
    #[serde(default)]
    pub webhook: Option<String>,
    /// The number of a channel that a bot writes to.
    #[serde(default)]
    pub channel: Option<String>,
    /// The variable that holds the token.
    #[serde(default = "usual_variable")]
    pub token_env: String,
}

fn usual_url() -> String {
    "https://discord.com".to_owned()
}

fn usual_variable() -> String {
    "FATHOM_DISCORD_TOKEN".to_owned()
}

/// Whose messages they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DiscordSender {
    Webhook,
    Bot,
}

/// A destination that is incomplete or ambiguous.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DiscordTargetError {
    /// IDs are numbers of at most 20 digits, and go into a path as they are.
    #[error("invalid Discord ID `{id}`")]
    InvalidId { id: String },
    /// None or both are set.
    #[error("set exactly one of `webhook` and `channel`")]
    Ambiguous,
}

impl DiscordTarget {
    /// Checks that the destination is complete and its IDs are numbers.
    pub fn check(&self) -> Result<(), DiscordTargetError> {
        self.way().map(drop)
    }

    fn way(&self) -> Result<(DiscordSender, String), DiscordTargetError> {
        let number = |id: &str| {
            let is_number =
                // The id goes into the path of a request, so anything but digits could change the path. Snowflakes have
                // at most 20.
                !id.is_empty() && id.len() <= 20 && id.bytes().all(|b| b.is_ascii_digit());
            is_number
                .then(|| id.to_owned())
                .ok_or_else(|| DiscordTargetError::InvalidId { id: id.to_owned() })
        };
        match (&self.webhook, &self.channel) {
            (Some(id), None) => Ok((
                DiscordSender::Webhook,
                format!("/api/webhooks/{}", number(id)?),
            )),
            (None, Some(id)) => {
                let path = format!("/api/v10/channels/{}/messages", number(id)?);
                Ok((DiscordSender::Bot, path))
            }
            _ => Err(DiscordTargetError::Ambiguous),
        }
    }
}

/// The way to Discord. One message at a time goes there, so that they stay in order and keep its limits.
pub(super) struct DiscordChannel {
    at: DiscordTarget,
    read_env: fn(&str) -> Option<String>,
    /// Nothing is sent before this moment.
    free_from: Mutex<Timestamp>,
}

/// A block on its way.
pub(super) struct OutgoingBlock<'a> {
    pub(super) of: DeliveryId<'a>,
    pub(super) delivery: &'a BlockDelivery,
    pub(super) kept: &'a Kept,
    pub(super) journal: &'a dyn Journal,
    pub(super) clock: &'a dyn Clock,
}

impl OutgoingBlock<'_> {
    fn note(&self, progress: DeliveryProgress) -> Result<(), ChannelError> {
        Ok(self.kept.note(self.of, progress)?)
    }

    /// The kill switch covers what leaves the house.
    fn check_kill(&self) -> Result<(), ChannelError> {
        let target = EffectTarget {
            // A message on a channel belongs to no tenant and no account; only scopes of the platform, the action and
            // `global` stop it.
            tenant: String::new(),
            platform: "discord".to_owned(),
            account: "none".to_owned(),
            action: "deliver".to_owned(),
        };
        let kills = self.journal.kills()?;
        match kills.iter().find(|order| order.scope.covers(&target)) {
            None => Ok(()),
            Some(order) => Err(ChannelError::Killed {
                scope: order.scope.to_string(),
            }),
        }
    }
}

/// Outcome of one attempt.
enum PostOutcome {
    /// It is there.
    Sent,
    /// It is not there, and may be tried again.
    NotThere(ChannelError),
    /// It may be there.
    Lost(String),
}

impl DiscordChannel {
    pub(super) fn new(at: DiscordTarget, read_env: fn(&str) -> Option<String>) -> Self {
        Self {
            at,
            read_env,
            free_from: Mutex::new(Timestamp(0)),
        }
    }

    /// Delivers a block, from where it was left.
    pub(super) async fn deliver(&self, post: &OutgoingBlock<'_>) -> Result<(), ChannelError> {
        let messages = discord::messages(post.delivery, post.of.id);
        // Held while messages are sent: two blocks at once would mix their messages and exceed the rate limit together.
        let mut free_from = self.free_from.lock().await;
        // Whoever was here before may have delivered it.
        let mut progress = post.kept.progress(post.of)?;
        let done = usize::try_from(progress.sent).unwrap_or(usize::MAX);
        let rest = messages.get(done..).unwrap_or_default();
        if rest.is_empty() {
            return Ok(());
        }
        let sent = self.send(rest, &mut progress, post, &mut free_from).await;
        post.note(DeliveryProgress {
            is_over: true,
            ..progress
        })?;
        match sent {
            // What came after a try that may have arrived says nothing about it.
            Err(error) if progress.begun > progress.sent => Err(error.into_unknown()),
            other => other,
        }
    }

    async fn send(
        &self,
        messages: &[DiscordMessage],
        progress: &mut DeliveryProgress,
        post: &OutgoingBlock<'_>,
        free_from: &mut Timestamp,
    ) -> Result<(), ChannelError> {
        let (sender, path) = self.at.way().map_err(|error| ChannelError::Settings {
            what: error.to_string(),
        })?;
        let variable = &self.at.token_env;
        let token = (self.read_env)(variable).ok_or_else(|| ChannelError::NoToken {
            variable: variable.clone(),
        })?;
        let line = BlockSender {
            poster: JsonPoster::new(&self.at.url, Arc::new(SystemResolver))?,
            key: PlatformKey::new(token),
            sender,
            path,
        };
        for message in messages {
            line.send(message, progress, post, free_from).await?;
        }
        Ok(())
    }
}

/// The way one block takes.
struct BlockSender {
    poster: JsonPoster,
    key: PlatformKey,
    sender: DiscordSender,
    path: String,
}

impl BlockSender {
    /// Sends one message, and tries again where that is safe. As long as it may be there, more is begun than sent.
    async fn send(
        &self,
        message: &DiscordMessage,
        progress: &mut DeliveryProgress,
        post: &OutgoingBlock<'_>,
        free_from: &mut Timestamp,
    ) -> Result<(), ChannelError> {
        let mut last = ChannelError::Unknown {
            why: "sending was interrupted by a crash, and the message cannot be found again"
                .to_owned(),
        };
        for _ in 0..TRIES_MAX {
            // A message that was begun and not confirmed may have arrived, so it is repeated only where Discord
            // recognises it.
            let may_be_there = progress.begun > progress.sent;
            let sent_at = post.clock.now().max(*free_from);
            if may_be_there && !self.is_known_again(progress.begun_at, sent_at) {
                return Err(last);
            }
            let wait = until(post.clock, *free_from);
            if wait > WAIT_MAX {
                let seconds = wait.as_secs();
                return Err(ChannelError::Limited { seconds });
            }
            pause(millis(wait)).await;
            // Checked after the wait and before every attempt: a switch may have been set while this message waited.
            post.check_kill()?;
            if !may_be_there {
                // Written before the request, so that after a crash the next process knows that the message may have
                // arrived.
                progress.begun = progress.sent + 1;
                progress.begun_at = post.clock.now();
                post.note(*progress)?;
            }
            let tried = self.try_once(message, free_from, post.clock).await;
            // The note is taken back only for an attempt that certainly failed, and only if none before it is in doubt.
            if !may_be_there && matches!(tried, Ok(PostOutcome::NotThere(_)) | Err(_)) {
                progress.begun = progress.sent;
                post.note(*progress)?;
            }
            match tried? {
                PostOutcome::Sent => {
                    progress.sent += 1;
                    return post.note(*progress);
                }
                PostOutcome::NotThere(error) => last = error,
                PostOutcome::Lost(why) => last = ChannelError::Unknown { why },
            }
        }
        Err(last)
    }

    /// True if a message first tried at `begun_at` may be sent again at `again_at`.
    fn is_known_again(&self, begun_at: Timestamp, again_at: Timestamp) -> bool {
        match self.sender {
            // Webhooks have no nonce: a repeated message would appear twice.
            DiscordSender::Webhook => false,
            DiscordSender::Bot => again_at.since(begun_at) <= KNOWN_FOR,
        }
    }

    async fn try_once(
        &self,
        message: &DiscordMessage,
        free_from: &mut Timestamp,
        clock: &dyn Clock,
    ) -> Result<PostOutcome, ChannelError> {
        let (place, body) = match self.sender {
            DiscordSender::Webhook => (KeyPlace::Path, message.webhook_body()),
            DiscordSender::Bot => (KeyPlace::Header("Bot"), message.bot_body()),
        };
        let posted = self
            .poster
            .post(&self.path, (&self.key, place), &body)
            .await;
        let PostResponse { status, body, .. } = match &posted {
            Ok(posted) => posted,
            Err(PostError::Refused(error)) => {
                return Err(ChannelError::Settings {
                    what: error.to_string(),
                });
            }
            Err(PostError::NotSent(why)) => {
                *free_from = clock.now().plus(AGAIN_AFTER);
                let why = why.clone();
                return Ok(PostOutcome::NotThere(ChannelError::Unreached { why }));
            }
            Err(PostError::Lost(why)) => {
                *free_from = clock.now().plus(AGAIN_AFTER);
                return Ok(PostOutcome::Lost(why.clone()));
            }
        };
        let header = |name: &str| posted.as_ref().ok().and_then(|posted| posted.header(name));
        let plan = discord::read(*status, header, body);
        *free_from = clock.now().plus(millis(plan.wait));
        let said = format!("HTTP status {status}");
        Ok(match plan.fate {
            SendOutcome::Sent => PostOutcome::Sent,
            SendOutcome::TooEarly => PostOutcome::NotThere(ChannelError::Limited {
                seconds: plan.wait.as_secs(),
            }),
            // The server broke off, so the wait it names may be none at all.
            SendOutcome::Unknown => {
                *free_from = (*free_from).max(clock.now().plus(AGAIN_AFTER));
                PostOutcome::Lost(said)
            }
            SendOutcome::Refused => return Err(ChannelError::Refused { why: said }),
        })
    }
}

fn millis(wait: Duration) -> Millis {
    Millis(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX))
}
