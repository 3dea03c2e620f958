//! A call on its way to a request that fits: what is known of it, and what the host is asked about it.

use std::collections::BTreeMap;

use super::shorten_call::MARK_TOKENS;
use crate::contract::stop::ShortenStage;
use crate::episode::program::ModelAsk;
use crate::id::AskId;
use crate::journal::command::Command;
use crate::model::{ModelReply, ModelRequest, ModelRole, RequestEstimate};
use crate::packet::{HeaderField, KeptEntries, PacketHeader, RenderedField, render};
use crate::text::Text;

/// A call on its way to a request that fits.
#[derive(Clone, Debug)]
pub(crate) struct PackingCall {
    ask: ModelAsk,
    /// The header as the charter has it.
    given: PacketHeader,
    /// The header as it is shown.
    header: PacketHeader,
    /// The rung that was tried last for a field that is too long.
    rungs: BTreeMap<HeaderField, ShortenStage>,
    /// Questions to the host so far.
    round: u16,
    /// An earlier answer to the request as it was measured last.
    recalled: Option<Box<ModelReply>>,
    stage: PackingStage,
}

/// Stages of packing.
#[derive(Clone, Debug)]
pub(super) enum PackingStage {
    /// Header and prompt are being measured, and these texts weighed.
    Weighing {
        weigh: Vec<Text>,
        /// The field whose shorter form is among them, with its limit.
        judged: Option<(HeaderField, u64)>,
    },
    /// The host is shortening a field.
    Shortening { field: HeaderField, limit: u64 },
    /// A model is shortening a field.
    Errand {
        field: HeaderField,
        limit: u64,
        errand: AskId,
    },
    /// Everything together is being measured.
    Fitting {
        bare: RequestEstimate,
        kept: Vec<KeptEntries>,
        squeeze: u64,
        rounds: u8,
    },
}

impl PackingCall {
    /// A call with the header as the charter has it, and as it is shown.
    pub(super) fn new(ask: ModelAsk, given: PacketHeader, header: PacketHeader) -> Self {
        Self {
            ask,
            given,
            header,
            rungs: BTreeMap::new(),
            round: 0,
            recalled: None,
            stage: PackingStage::Weighing {
                weigh: Vec::new(),
                judged: None,
            },
        }
    }

    pub(super) const fn ask(&self) -> &ModelAsk {
        &self.ask
    }

    pub(super) const fn model(&self) -> ModelRole {
        self.ask.model
    }

    pub(super) const fn stage(&self) -> &PackingStage {
        &self.stage
    }

    pub(super) fn set_stage(&mut self, stage: PackingStage) {
        self.stage = stage;
    }

    /// The call after an answer to this question, ready for the next one. A late answer to an earlier question finds none.
    pub(super) fn answered(&self, round: u16) -> Option<Self> {
        (self.round == round).then(|| self.next_question())
    }

    /// The call after the answer to its present question.
    pub(super) fn next_question(&self) -> Self {
        Self {
            // Questions are numbered, for the host may answer an earlier one after the stage has changed.
            round: self.round.saturating_add(1),
            ..self.clone()
        }
    }

    /// A header field as it is shown.
    pub(super) fn shown(&self, field: HeaderField) -> Option<&RenderedField> {
        self.header.get(field)
    }

    pub(super) fn show(&mut self, field: HeaderField, shown: RenderedField) {
        self.header.set(field, shown);
    }

    /// Shows a header field again as the charter has it.
    pub(super) fn restore(&mut self, field: HeaderField) {
        let given = self.given.get(field).cloned().unwrap_or_default();
        self.header.set(field, given);
    }

    /// The rung that was tried last for a field.
    pub(super) fn rung(&self, field: HeaderField) -> Option<ShortenStage> {
        self.rungs.get(&field).copied()
    }

    pub(super) fn try_rung(&mut self, field: HeaderField, rung: ShortenStage) {
        self.rungs.insert(field, rung);
    }

    /// Notes an earlier answer, if one may stand for the request as it was measured.
    pub(super) fn recall(&mut self, earlier: Option<&ModelReply>) {
        self.recalled = earlier
            .filter(|_| self.may_recall())
            .map(|reply| Box::new(reply.clone()));
    }

    pub(super) fn recalled(&self) -> Option<&ModelReply> {
        self.recalled.as_deref()
    }

    pub(super) fn request(&self, kept: &[KeptEntries]) -> ModelRequest {
        let ask = &self.ask;
        ModelRequest {
            messages: render(&self.header, &ask.packet, kept),
            output_tokens_max: ask.output_tokens_max,
            temperature_milli: ask.temperature_milli,
            schema: ask.schema.clone(),
            pattern: ask.pattern.clone(),
            tools: ask.tools.clone(),
            seed: ask.seed,
            delivery: ask.delivery,
            timeout: ask.timeout,
        }
    }

    /// The command whose answer moves it on; none while a model is at it.
    pub(super) fn outstanding(&self, id: AskId) -> Option<Command> {
        let measure = |kept: &[KeptEntries], weigh: &[Text]| Command::Measure {
            ask: id,
            model: self.ask.model,
            request: self.request(kept),
            weigh: weigh.to_vec(),
            recall: self
                .ask
                .recall
                .clone()
                .filter(|_| self.is_whole())
                .map(Box::new),
            once: self.ask.once && self.is_whole(),
            round: self.round,
        };
        match &self.stage {
            PackingStage::Weighing { weigh, .. } => Some(measure(&[], weigh)),
            PackingStage::Fitting { kept, .. } => Some(measure(kept, &[])),
            PackingStage::Shortening { field, limit } => Some(Command::Summarise {
                ask: id,
                model: self.ask.model,
                text: self.original(*field),
                tokens_max: u32::try_from(limit.saturating_sub(MARK_TOKENS)).unwrap_or(u32::MAX),
                round: self.round,
            }),
            // The errand is a call of its own and says itself what it waits for.
            PackingStage::Errand { .. } => None,
        }
    }

    /// True if an earlier answer may stand for the request as it is being measured: not while it is only a part of it.
    fn may_recall(&self) -> bool {
        (self.ask.once || self.ask.recall.is_some()) && self.is_whole()
    }

    fn is_whole(&self) -> bool {
        match self.stage {
            PackingStage::Fitting { .. } => true,
            // Without entries what is measured first is all there is.
            PackingStage::Weighing { .. } => !self.has_entries(),
            PackingStage::Shortening { .. } | PackingStage::Errand { .. } => false,
        }
    }

    /// True if it has anything that may be left out.
    pub(super) fn has_entries(&self) -> bool {
        let shares = &self.ask.packet.shares;
        shares.iter().any(|share| !share.entries.is_empty())
    }

    pub(super) fn original(&self, field: HeaderField) -> Text {
        self.given
            .get(field)
            .map(|shown| shown.text.clone())
            .unwrap_or_default()
    }

    /// The call of a model that shortens a field for this one, if there is one.
    pub(crate) fn errand(&self) -> Option<AskId> {
        match self.stage {
            PackingStage::Errand { errand, .. } => Some(errand),
            PackingStage::Weighing { .. }
            | PackingStage::Shortening { .. }
            | PackingStage::Fitting { .. } => None,
        }
    }
}
