//! The end of the packing: the request stands, and what is known of it goes into the record.

use super::Governor;
use super::packing_call::PackingCall;
use crate::budget::ledger::BudgetAccounts;
use crate::governor::pending::{Attempt, PackedCall};
use crate::id::AskId;
use crate::journal::command::Command;
use crate::model::{ChatMessage, RequestEstimate};
use crate::packet::{HeaderField, KeptEntries, PacketId, PacketItem, PacketMeta};

impl<L: BudgetAccounts> Governor<L> {
    pub(super) fn header_tokens<'a>(
        &'a self,
        packing: &'a PackingCall,
    ) -> impl Iterator<Item = u64> + 'a {
        HeaderField::HEADER.iter().filter_map(|field| {
            let shown = packing.shown(*field)?;
            Some(self.scales.sure_weight(packing.model(), &shown.text))
        })
    }

    /// The request stands: from here on it is a call like any other.
    pub(super) fn packed(
        &mut self,
        id: AskId,
        packing: &PackingCall,
        kept: &[KeptEntries],
        bare: RequestEstimate,
        measured: RequestEstimate,
        out: &mut Vec<Command>,
    ) {
        // An earlier answer stands for the call, so it never competes for budget.
        if let Some(reply) = packing.recalled() {
            self.queue.remove(&id);
            self.pending.remove(id);
            self.recalled = Some((id, reply.clone()));
            return;
        }
        let request = packing.request(kept);
        let meta = self.meta(id, packing, kept, bare);
        if self.scales.served_by(id).is_none() {
            self.scales.note_packet(meta.id);
        }
        let ask = packing.ask();
        let call = PackedCall {
            model: ask.model,
            request,
            output_tokens_min: ask.output_tokens_min,
            on_outage: ask.on_outage,
            may_close: ask.may_close,
            meta,
        };
        self.hold_call(id, call, measured, Attempt::FIRST, None);
        self.pump(out);
    }

    fn meta(
        &self,
        id: AskId,
        packing: &PackingCall,
        kept: &[KeptEntries],
        bare: RequestEstimate,
    ) -> PacketMeta {
        let model = packing.model();
        let packet = &packing.ask().packet;
        let mut items = Vec::new();
        let mut header = 0;
        for field in HeaderField::HEADER {
            if let Some(shown) = packing.shown(field)
                && !shown.text.is_blank()
            {
                let tokens = self.scales.sure_weight(model, &shown.text);
                header += tokens;
                items.push(PacketItem {
                    name: field.to_string(),
                    tokens,
                    entries: None,
                    shortened_from: shown.shortened_from,
                });
            }
        }
        for (share, kept) in packet.shares.iter().zip(kept) {
            let count = |entries: usize| u32::try_from(entries).unwrap_or(u32::MAX);
            let entries = share.entries.get(kept.from..kept.to).unwrap_or_default();
            let weight = |entry: &ChatMessage| self.scales.sure_weight(model, &entry.text);
            items.push(PacketItem {
                name: share.name.clone(),
                tokens: entries.iter().map(weight).sum(),
                entries: Some((count(entries.len()), count(share.entries.len()))),
                shortened_from: None,
            });
        }
        items.push(PacketItem {
            name: HeaderField::Prompt.to_string(),
            tokens: bare.input_tokens.saturating_sub(header),
            entries: None,
            shortened_from: None,
        });
        let parent = match self.scales.served_by(id) {
            Some(outer) => Some(PacketId::of(&self.id, outer)),
            None => self.scales.last_packet(),
        };
        PacketMeta {
            id: PacketId::of(&self.id, id),
            parent,
            at: self.clock.last(),
            identity: self
                .started
                .frame
                .provenance
                .as_ref()
                .map(|known| known.identity.clone()),
            confidence_milli: packet.confidence_milli,
            risk: packet.risk,
            retries: None,
            items,
        }
    }

    /// Most tokens of a packet beside an output of so many.
    pub(super) fn room_beside(&self, output_tokens: u32, measured: &RequestEstimate) -> u64 {
        // The window holds input and output together; the MTU of the charter bounds the packet alone.
        let of_window = measured
            .window_tokens
            .map(|window| window.saturating_sub(output_tokens.into()));
        let of_charter = self.started.frame.mtu_tokens;
        of_charter
            .into_iter()
            .chain(of_window)
            .min()
            .unwrap_or(u64::MAX)
    }
}
