//! Errors of channels.

use fathom_core::channel::delivery::DeliveryState;
use fathom_output::redact::RedactError;
use fathom_store::StoreError;
use fathom_store::channels::ChannelStoreError;
use fathom_tools::ToolsError;

/// Reason why a block did not reach a channel, or why its delivery is unknown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChannelError {
    /// The channel store failed.
    #[error(transparent)]
    Kept(#[from] ChannelStoreError),
    /// The filters cannot be made, and nothing passes without them.
    #[error(transparent)]
    Filters(#[from] RedactError),
    /// The kill switch cannot be read.
    #[error(transparent)]
    Journal(#[from] StoreError),
    /// The configuration of Discord is incomplete or ambiguous.
    #[error("invalid Discord configuration: {what}")]
    Settings { what: String },
    /// The variable that holds the token is not set.
    #[error("environment variable `{variable}` with the Discord token is not set")]
    NoToken { variable: String },
    /// Discord does not take it.
    #[error("Discord rejected the message: {why}")]
    Refused { why: String },
    /// Discord cannot be reached.
    #[error("cannot reach Discord: {why}")]
    Unreached { why: String },
    /// It may be there.
    #[error("the message may have been delivered: {why}")]
    Unknown { why: String },
    /// The wait that Discord asks for is too long.
    #[error("rate limited by Discord for {seconds} s")]
    Limited { seconds: u64 },
    /// The kill switch is thrown.
    #[error("stopped by kill switch `{scope}`")]
    Killed {
        /// Scope of the rate limit.
        scope: String,
    },
    /// The channel does not exist or does not accept blocks.
    #[error("`{name}` is not a channel for blocks")]
    NoChannel { name: String },
}

impl ChannelError {
    /// The code a user can look up.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Kept(error) => error.code(),
            Self::Filters(error) => error.code(),
            Self::Journal(error) => error.code(),
            Self::Settings { .. } => "F1032",
            Self::NoToken { .. } => "F1033",
            Self::Refused { .. } => "F1034",
            Self::Unknown { .. } => "F1035",
            Self::Limited { .. } => "F1036",
            Self::Killed { .. } => "F1037",
            Self::NoChannel { .. } => "F1038",
            Self::Unreached { .. } => "F1039",
        }
    }

    /// Next step for the user, as an imperative sentence.
    pub fn hint(&self) -> String {
        match self {
            Self::Kept(error) => return error.hint(),
            Self::Filters(error) => return error.hint().into(),
            Self::Journal(error) => return error.hint(),
            Self::Settings { .. } => {
                "set `webhook` or `channel` in [channels.discord] to the number that Discord shows"
            }
            Self::NoToken { .. } => "set it, or name another variable with `token_env`",
            Self::Refused { .. } => "check the webhook or channel, the token and its permissions",
            Self::Unreached { .. } => "check the network and `url`",
            Self::Unknown { .. } => "check the channel; the message is not sent again",
            Self::Limited { .. } => "wait, and send fewer messages",
            Self::Killed { .. } => "see why with `fathom kill --show`, and lift it with `--lift`",
            Self::NoChannel { .. } => "use one of cli, web, discord, council and memory",
        }
        .to_owned()
    }

    /// The same of a message that may be there all the same.
    pub(super) fn into_unknown(self) -> Self {
        match self {
            Self::Unknown { why } => Self::Unknown { why },
            other => Self::Unknown {
                why: other.to_string(),
            },
        }
    }

    /// State that the error leaves the delivery in.
    pub(super) const fn state(&self) -> DeliveryState {
        match self {
            Self::Unknown { .. } => DeliveryState::Unknown,
            _ => DeliveryState::Failed,
        }
    }
}

impl From<ToolsError> for ChannelError {
    fn from(error: ToolsError) -> Self {
        Self::Settings {
            what: error.to_string(),
        }
    }
}
