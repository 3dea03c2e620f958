//! Messages of the council protocol: what is said, in whose name, and about what.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::role::CouncilRole;
use crate::fnv::fnv1a;
use crate::id::{AskId, EpisodeId};
use crate::packet::PacketRisk;
use crate::text::{Text, VisitTexts};
use crate::unit::{PerMille, Timestamp};

/// Most characters of a sender's name.
pub const SENDER_CHARS_MAX: usize = 64;

/// Names a message within its run, in eight hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct MessageId(u32);

impl MessageId {
    /// The message that this ask of this episode posts. No two asks of one episode share an id.
    pub fn of(episode: &EpisodeId, ask: AskId) -> Self {
        /// Odd, so that multiplying by it maps no two numbers to one.
        const SPREAD: u32 = 0x9e37_79b1;
        let hash = fnv1a(&format!("message/{episode}"));
        let folded = u32::try_from((hash >> 32) ^ (hash & 0xffff_ffff)).unwrap_or_default();
        Self(folded.wrapping_add(ask.0.wrapping_mul(SPREAD)))
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", self.0)
    }
}

impl From<MessageId> for String {
    fn from(id: MessageId) -> Self {
        id.to_string()
    }
}

/// Text that is not a message id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a message id has eight hexadecimal digits")]
pub struct InvalidMessageId;

impl TryFrom<String> for MessageId {
    type Error = InvalidMessageId;

    fn try_from(text: String) -> Result<Self, InvalidMessageId> {
        let is_digits = text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_digits {
            return Err(InvalidMessageId);
        }
        u32::from_str_radix(&text, 16)
            .map(Self)
            .map_err(|_| InvalidMessageId)
    }
}

/// The purpose of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum MessageType {
    /// Puts a plan or an action to the vote.
    Proposal,
    /// Votes on a proposal.
    Vote,
    /// Says something that is not binding.
    Info,
    /// Calls for Prime's attention.
    Escalation,
    /// Says that a role became active or inactive.
    Heartbeat,
}

/// A vote on a motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MotionVote {
    Yes,
    No,
    Abstain,
}

impl MotionVote {
    /// Every ballot.
    pub const ALL: [Self; 3] = [Self::Yes, Self::No, Self::Abstain];

    /// As it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Abstain => "abstain",
        }
    }

    /// The ballot that a vote's content states: the whole first line and nothing else. Reasons come below it.
    pub fn read(content: &str) -> Option<Self> {
        // The whole line: a reason that begins with `no` in a sentence is not a vote.
        let line = content.lines().next()?.trim();
        Self::ALL.into_iter().find(|ballot| ballot.as_str() == line)
    }
}

impl fmt::Display for MotionVote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The state that a heartbeat reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HeartbeatState {
    /// The role is heard.
    Active,
    /// The role has been silent for too long.
    Inactive,
}

impl HeartbeatState {
    /// As it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Inactive => "inactive",
        }
    }

    /// The pulse that a heartbeat's content states.
    pub fn read(content: &str) -> Option<Self> {
        [Self::Active, Self::Inactive]
            .into_iter()
            .find(|pulse| pulse.as_str() == content.trim())
    }
}

/// A message that is not yet stamped. One that breaks the protocol cannot be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageDraft {
    kind: MessageType,
    parent_id: Option<MessageId>,
    role: CouncilRole,
    confidence: Option<PerMille>,
    risk_level: PacketRisk,
    content: Text,
}

impl MessageDraft {
    fn new(kind: MessageType, role: CouncilRole, content: Text) -> Self {
        Self {
            kind,
            parent_id: None,
            role,
            confidence: None,
            risk_level: PacketRisk::Low,
            content,
        }
    }

    /// Puts `content` to the vote.
    pub fn proposal(role: CouncilRole, content: impl Into<Text>) -> Self {
        Self::new(MessageType::Proposal, role, content.into())
    }

    /// Votes on `motion`, with a reason.
    pub fn vote(role: CouncilRole, motion: MessageId, ballot: MotionVote, reason: &str) -> Self {
        let content = format!("{ballot}\n{reason}");
        Self::new(MessageType::Vote, role, content.trim_end().into()).about(motion)
    }

    /// Says something that is not binding.
    pub fn info(role: CouncilRole, content: impl Into<Text>) -> Self {
        Self::new(MessageType::Info, role, content.into())
    }

    /// Calls for Prime's attention.
    pub fn escalation(role: CouncilRole, content: impl Into<Text>) -> Self {
        Self::new(MessageType::Escalation, role, content.into())
    }

    /// Says that a role became active or inactive.
    pub fn heartbeat(role: CouncilRole, pulse: HeartbeatState) -> Self {
        Self::new(MessageType::Heartbeat, role, pulse.as_str().into())
    }

    /// Says which message it is about.
    #[must_use]
    pub fn about(mut self, message: MessageId) -> Self {
        self.parent_id = Some(message);
        self
    }

    /// Says how sure the role is.
    #[must_use]
    pub const fn confident(mut self, confidence: Option<PerMille>) -> Self {
        self.confidence = confidence;
        self
    }

    /// Says how much is at stake.
    #[must_use]
    pub const fn at_risk(mut self, risk: PacketRisk) -> Self {
        self.risk_level = risk;
        self
    }

    /// The message as this episode sends it with this ask.
    pub fn stamp(self, episode: &EpisodeId, ask: AskId, at: Timestamp) -> Envelope {
        Envelope {
            msg_id: MessageId::of(episode, ask),
            parent_id: self.parent_id,
            timestamp: at,
            sender: episode.to_string(),
            role: self.role,
            kind: self.kind,
            confidence: self.confidence,
            risk_level: self.risk_level,
            content: self.content,
        }
    }
}

/// A message on the bus.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "EnvelopeFields", try_from = "EnvelopeFields")]
pub struct Envelope {
    pub msg_id: MessageId,
    /// The message it is about; a vote always has one.
    pub parent_id: Option<MessageId>,
    pub timestamp: Timestamp,
    /// The sender on the bus: the id of an episode, or a person's name.
    pub sender: String,
    /// The role in whose name it speaks.
    pub role: CouncilRole,
    pub kind: MessageType,
    /// Confidence of the role, if stated.
    pub confidence: Option<PerMille>,
    pub risk_level: PacketRisk,
    pub content: Text,
}

impl VisitTexts for Envelope {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        f(&mut self.content);
    }
}

impl Envelope {
    /// Reads a message, strictly.
    pub fn read(json: &str) -> Result<Self, EnvelopeError> {
        let form: EnvelopeFields =
            serde_json::from_str(json).map_err(|error| EnvelopeError::Form {
                cause: error.to_string(),
            })?;
        Self::try_from(form)
    }
}

/// Reasons why something is not a message of the protocol.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnvelopeError {
    /// It lacks a field, has one too many, or one of the wrong kind.
    #[error("this is no envelope: {cause}")]
    Form { cause: String },
    /// Its confidence is not between 0 and 1.
    #[error("confidence is {said}, not between 0 and 1")]
    Confidence { said: String },
    /// Its sender is not a valid name.
    #[error("a sender has 1 to {SENDER_CHARS_MAX} printable characters")]
    Sender,
    /// It votes on nothing.
    #[error("a VOTE names the proposal it is about in parent_id")]
    NoMotion,
    /// It is a vote that says neither yes nor no nor that it abstains.
    #[error("the first line of a VOTE is `yes`, `no` or `abstain`")]
    NoBallot,
    /// It is a heartbeat that says something else.
    #[error("a HEARTBEAT says `active` or `inactive`")]
    NoPulse,
}

/// An envelope as it is written: the nine fields of the protocol, every one of them there.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EnvelopeFields {
    msg_id: MessageId,
    // Read this way a field may be null and not be absent, as the protocol has it.
    #[serde(deserialize_with = "Option::deserialize")]
    parent_id: Option<MessageId>,
    timestamp: Timestamp,
    sender: String,
    role: CouncilRole,
    #[serde(rename = "type")]
    kind: MessageType,
    #[serde(deserialize_with = "Option::deserialize")]
    confidence: Option<f64>,
    risk_level: PacketRisk,
    content: Text,
}

impl From<Envelope> for EnvelopeFields {
    fn from(envelope: Envelope) -> Self {
        Self {
            msg_id: envelope.msg_id,
            parent_id: envelope.parent_id,
            timestamp: envelope.timestamp,
            sender: envelope.sender,
            role: envelope.role,
            kind: envelope.kind,
            confidence: envelope.confidence.map(PerMille::fraction),
            risk_level: envelope.risk_level,
            content: envelope.content,
        }
    }
}

impl TryFrom<EnvelopeFields> for Envelope {
    type Error = EnvelopeError;

    fn try_from(form: EnvelopeFields) -> Result<Self, EnvelopeError> {
        let length = form.sender.chars().count();
        if !(1..=SENDER_CHARS_MAX).contains(&length) || form.sender.chars().any(char::is_control) {
            return Err(EnvelopeError::Sender);
        }
        if form.kind == MessageType::Vote && form.parent_id.is_none() {
            return Err(EnvelopeError::NoMotion);
        }
        // What is sealed was looked at before it was sealed.
        if !form.content.is_closed() {
            let content = form.content.as_str();
            match form.kind {
                MessageType::Vote if MotionVote::read(content).is_none() => {
                    return Err(EnvelopeError::NoBallot);
                }
                MessageType::Heartbeat if HeartbeatState::read(content).is_none() => {
                    return Err(EnvelopeError::NoPulse);
                }
                _ => {}
            }
        }
        Ok(Self {
            msg_id: form.msg_id,
            parent_id: form.parent_id,
            timestamp: form.timestamp,
            sender: form.sender,
            role: form.role,
            kind: form.kind,
            confidence: form.confidence.map(thousandths).transpose()?,
            risk_level: form.risk_level,
            content: form.content,
        })
    }
}

/// A share between 0 and 1 to the nearest thousandth.
fn thousandths(share: f64) -> Result<PerMille, EnvelopeError> {
    if !(0.0..=1.0).contains(&share) {
        return Err(EnvelopeError::Confidence {
            said: share.to_string(),
        });
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and 1000"
    )]
    let milli = (share * 1000.0).round() as u16;
    PerMille::new(milli).map_err(|_| EnvelopeError::Confidence {
        said: share.to_string(),
    })
}
