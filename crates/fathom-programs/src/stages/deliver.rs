//! Delivery: blocks on their way to channels, and the end that waits for them.

use super::program::{BLOCK_CHARS, StagesProgram, after};
use super::prompts;
use super::report::BlockNote;
use fathom_core::channel::delivery::{
    ChannelDelivery, ChannelRoute, DOMAIN, DeliveryReport, DeliveryRequest, DeliveryState, SHELL,
};
use fathom_core::channel::marker::{BlockKind, Marker};
use fathom_core::council_bus::{CouncilRole, MessageDraft, MessageType};
use fathom_core::domain::{DomainAccess, DomainRequest};
use fathom_core::episode::program::{Ask, Program as _, ProgramView};
use fathom_core::episode::result::ProgramVerdict;
use fathom_core::id::AskId;
use fathom_core::journal::command::OutputBlock;
use fathom_core::text::Text;

impl StagesProgram {
    /// Says a block on its channels, and keeps it for the report.
    pub(super) fn show(
        &mut self,
        kind: BlockKind,
        text: &str,
        asks: &mut Vec<Ask>,
        view: &ProgramView<'_>,
    ) {
        self.say(kind, text, MessageType::Info, asks, view);
    }

    /// Tells everyone, and the council that Prime must look.
    pub(super) fn alarm(&mut self, text: &str, asks: &mut Vec<Ask>, view: &ProgramView<'_>) {
        let role = self.params.cast.verify;
        let draft = MessageDraft::escalation(role, text).at_risk(self.report.risk_level);
        asks.push(Ask::Post(Box::new(draft)));
        let kind = BlockKind::Marked(Marker::Interrupt);
        self.say(kind, text, MessageType::Escalation, asks, view);
    }

    fn say(
        &mut self,
        kind: BlockKind,
        text: &str,
        message: MessageType,
        asks: &mut Vec<Ask>,
        view: &ProgramView<'_>,
    ) {
        let marker = kind.goes_as();
        let place = self.report.blocks.len();
        self.report.blocks.push(BlockNote {
            marker: marker.as_str().to_owned(),
            text: prompts::bounded(text, BLOCK_CHARS),
            deliveries: Vec::new(),
        });
        // Commands are run, each as an effect of its own.
        let to: Vec<ChannelRoute> = self
            .params
            .ways(marker)
            .iter()
            .filter(|way| way.channel != SHELL)
            .cloned()
            .collect();
        if to.is_empty() {
            asks.push(Ask::Emit(OutputBlock::marked(kind, Text::from(text))));
            return;
        }
        let send = DeliveryRequest {
            block: u32::try_from(place).unwrap_or(u32::MAX),
            kind: kind.as_str().to_owned(),
            text: text.to_owned(),
            to,
            speaker: self.speaker(marker),
            message,
            risk: self.report.risk_level,
            confidence_milli: self.report.confidence_milli,
        };
        // A struct of strings and numbers always has a JSON form.
        let request = serde_json::to_string(&send).unwrap_or_default();
        self.delivering.insert(after(view, asks), place);
        asks.push(Ask::Domain(DomainRequest::new(
            DOMAIN,
            DomainAccess::Write,
            request,
        )));
    }

    /// Whose word a block is. The last plan is the judge's.
    fn speaker(&self, marker: Marker) -> CouncilRole {
        let cast = &self.params.cast;
        match marker {
            Marker::Plan => cast.plan,
            Marker::Interrupt => cast.observe,
            Marker::Verify => cast.verify,
            Marker::Execute | Marker::Response | Marker::ThoughtSeed => cast.act,
        }
    }

    /// A block was delivered, or was not.
    pub(super) fn on_delivered(&mut self, ask: AskId, answer: &str) -> Vec<Ask> {
        match serde_json::from_str::<DeliveryReport>(answer) {
            Ok(sent) => self.settle(ask, sent.deliveries),
            Err(_) => self.on_undelivered(ask, "the answer cannot be read"),
        }
    }

    /// Nothing of a block was delivered.
    pub(super) fn on_undelivered(&mut self, ask: AskId, why: &str) -> Vec<Ask> {
        let marker = self
            .delivering
            .get(&ask)
            .and_then(|place| self.report.blocks.get(*place))
            .and_then(|block| Marker::from_name(&block.marker));
        let ways = marker.map_or(&[][..], |marker| self.params.ways(marker));
        let failed = ways.iter().filter(|way| way.channel != SHELL);
        let failed = failed.map(|way| ChannelDelivery {
            channel: way.channel.clone(),
            log: way.log,
            state: DeliveryState::Failed,
            detail: Some(why.to_owned()),
        });
        let failed = failed.collect();
        self.settle(ask, failed)
    }

    fn settle(&mut self, ask: AskId, deliveries: Vec<ChannelDelivery>) -> Vec<Ask> {
        if let Some(place) = self.delivering.remove(&ask)
            && let Some(block) = self.report.blocks.get_mut(place)
        {
            block.deliveries = deliveries;
        }
        self.end()
    }

    /// Ends, if it is to and nothing is under way any more.
    pub(super) fn end(&mut self) -> Vec<Ask> {
        if !self.delivering.is_empty() {
            return Vec::new();
        }
        let Some(verdict) = self.ending.take() else {
            return Vec::new();
        };
        vec![Ask::Finish(Box::new(ProgramVerdict {
            report: self.report(),
            ..*verdict
        }))]
    }
}
