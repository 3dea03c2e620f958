//! Packing a program's message into a request that fits: weigh, shorten, leave out, measure.
//!
//! A header field over its limit goes down a ladder: the host's extractive summariser, then Lite, then Prime, then
//! the ask is refused. Every rung leaves an event. What was shortened once in an episode is not shortened again.

use super::Governor;
use super::packing_call::{PackingCall, PackingStage};
use super::shorten_call::shortening;
use super::token_weights::hash;
use crate::budget::ledger::BudgetAccounts;
use crate::contract::stop::{Refusal, ShortenStage};
use crate::episode::program::ModelAsk;
use crate::governor::pending::PendingAsk;
use crate::id::AskId;
use crate::journal::command::Command;
use crate::model::{ChatMessage, ModelReply, ModelRole, RequestEstimate};
use crate::packet::{
    FitLimit, Framing, HeaderField, HeaderLimits, PacketHeader, RenderedField, SUMMARY_MARK, fit,
};
use crate::text::Text;

/// Tokens that a chat template or a line break may add to an entry.
const ENTRY_TOKENS: u64 = 8;
/// Measurements of the packed whole after which all that may be left out is left out.
const ROUNDS_MAX: u8 = 6;

impl<L: BudgetAccounts> Governor<L> {
    /// Begins to pack what a program wants to say.
    pub(super) fn pack(&mut self, id: AskId, ask: ModelAsk, out: &mut Vec<Command>) {
        let frame = &self.started.frame;
        let shown = |text: &Text| RenderedField {
            text: if text.is_blank() {
                Text::default()
            } else {
                text.clone()
            },
            shortened_from: None,
        };
        let mut given = match ask.packet.voice {
            Framing::Framed => PacketHeader {
                identity: shown(&frame.identity),
                persona: shown(&frame.persona),
                instruction: RenderedField::default(),
            },
            Framing::Plain => PacketHeader::default(),
        };
        if let Some(key) = &ask.packet.instruction {
            let Some(text) = frame.instructions.get(key) else {
                let what = format!("task instruction `{key}`");
                return self.refuse(id, Refusal::Unavailable { what }, out);
            };
            given.instruction = shown(text);
        }
        let mut header = given.clone();
        for field in HeaderField::HEADER {
            if let Some(given) = given.get(field)
                && let Some(shorter) = self.scales.shortened(ask.model, field, &given.text)
            {
                header.set(field, shorter.clone());
            }
        }
        let packing = PackingCall::new(ask, given, header);
        // It takes its place now, so that calls are admitted in the order of asking, however long their packing takes.
        self.queue.insert(id);
        self.weigh(id, packing, None, out);
    }

    /// Has header and prompt measured, and whatever has no weight yet.
    fn weigh(
        &mut self,
        id: AskId,
        mut packing: PackingCall,
        judged: Option<(HeaderField, u64)>,
        out: &mut Vec<Command>,
    ) {
        let model = packing.model();
        let fields = HeaderField::HEADER
            .iter()
            .filter_map(|field| packing.shown(*field));
        let entries = packing.ask().packet.shares.iter().flat_map(|s| &s.entries);
        let texts = fields
            .map(|shown| &shown.text)
            .chain(entries.map(|entry| &entry.text));
        let mut weigh: Vec<Text> = Vec::new();
        let mut seen = std::collections::BTreeSet::new();
        for text in texts {
            if self.scales.weight(model, text).is_none() && seen.insert(hash(text)) {
                weigh.push(text.clone());
            }
        }
        packing.set_stage(PackingStage::Weighing { weigh, judged });
        self.wait(id, packing, out);
    }

    /// Says what is outstanding and keeps the packing until the answer comes.
    fn wait(&mut self, id: AskId, packing: PackingCall, out: &mut Vec<Command>) {
        out.extend(packing.outstanding(id));
        self.pending
            .insert(id, PendingAsk::Packing(Box::new(packing)));
    }

    /// The packing that this question was about, ready for the next one. A late answer to an earlier question finds
    /// none.
    fn asked(&self, id: AskId, round: u16) -> Option<PackingCall> {
        let Some(PendingAsk::Packing(packing)) = self.pending.get(id) else {
            return None;
        };
        packing.answered(round)
    }

    /// True if a summary answers the present question about this call.
    pub(super) fn awaits_summary(&self, id: AskId, round: u16) -> bool {
        self.is_shortening(id) && self.asked(id, round).is_some()
    }

    /// A measurement came back.
    pub(crate) fn on_measured(
        &mut self,
        id: AskId,
        measured: RequestEstimate,
        weights: &[u64],
        recalled: Option<&ModelReply>,
        round: u16,
        out: &mut Vec<Command>,
    ) {
        let Some(mut packing) = self.asked(id, round) else {
            return;
        };
        packing.recall(recalled);
        match packing.stage().clone() {
            PackingStage::Weighing { weigh, judged } => {
                self.scales.learn(packing.model(), &weigh, weights);
                if let Some((field, limit)) = judged {
                    self.judge(id, &mut packing, field, limit, out);
                }
                self.shorten_or_fit(id, packing, measured, out);
            }
            PackingStage::Fitting {
                bare,
                kept,
                squeeze,
                rounds,
            } => {
                // Weights do not add up to the whole, since tokenizers merge across borders. So the whole is measured
                // again, and what it is over is squeezed out of the shares; `ROUNDS_MAX` bounds that.
                let mtu = self.room_beside(packing.ask().output_tokens_max, &measured);
                let over = measured.input_tokens.saturating_sub(mtu);
                if over == 0 {
                    self.packed(id, &packing, &kept, bare, measured, out);
                } else {
                    let squeeze = squeeze.saturating_add(over);
                    self.fit_shares(id, packing, bare, squeeze, rounds + 1, out);
                }
            }
            // Nothing is being measured in these stages. A late answer to an earlier question is ignored; it is no
            // reason to panic.
            PackingStage::Shortening { .. } | PackingStage::Errand { .. } => {}
        }
    }

    /// True if the host was asked to shorten a field of this call.
    pub(super) fn is_shortening(&self, id: AskId) -> bool {
        matches!(self.pending.get(id), Some(PendingAsk::Packing(packing))
            if matches!(packing.stage(), PackingStage::Shortening { .. }))
    }

    /// Looks at a shorter form of a field: it stays when it keeps the limit.
    fn judge(
        &mut self,
        id: AskId,
        packing: &mut PackingCall,
        field: HeaderField,
        limit: u64,
        out: &mut Vec<Command>,
    ) {
        let Some(shown) = packing.shown(field).cloned() else {
            return;
        };
        let model = packing.model();
        let after = self.scales.sure_weight(model, &shown.text);
        self.report_rung(id, packing, field, limit, Some(after), out);
        let original = packing.original(field);
        if after <= limit {
            self.scales
                .remember_shortened(model, field, &original, shown);
        } else {
            // The next rung shortens the original. A summary of a summary would lose more.
            packing.restore(field);
        }
    }

    fn report_rung(
        &mut self,
        id: AskId,
        packing: &PackingCall,
        field: HeaderField,
        limit: u64,
        after: Option<u64>,
        out: &mut Vec<Command>,
    ) {
        let Some(by) = packing.rung(field) else {
            return;
        };
        let before = self
            .scales
            .sure_weight(packing.model(), &packing.original(field));
        let report = Command::ReportShortening {
            ask: id,
            field,
            by,
            limit,
            before,
            after,
        };
        self.report(report, out);
    }

    fn shorten_or_fit(
        &mut self,
        id: AskId,
        mut packing: PackingCall,
        measured: RequestEstimate,
        out: &mut Vec<Command>,
    ) {
        let model = packing.model();
        let limits = HeaderLimits {
            mtu_tokens: self.room_beside(packing.ask().output_tokens_max, &measured),
        };
        let mut before = 0;
        for field in HeaderField::HEADER {
            let Some(shown) = packing.shown(field) else {
                continue;
            };
            let tokens = self.scales.sure_weight(model, &shown.text);
            let limit = limits.of(field, before);
            if tokens > limit {
                if shown.shortened_from.is_some() {
                    // It was short enough for another packet; this one has less room.
                    let original = packing.original(field);
                    self.scales.forget_shortened(model, field, &original);
                    packing.restore(field);
                }
                return self.next_rung(id, packing, field, limit, out);
            }
            before += tokens;
        }
        // Where only the window is in the way, the output cap shrinks for header and prompt.
        let ask = packing.ask();
        let least = ask.output_tokens_min.max(1).min(ask.output_tokens_max);
        let limit = self.room_beside(least, &measured);
        if measured.input_tokens > limit {
            let reason = Refusal::TokenBudget {
                field: HeaderField::Prompt,
                tokens: measured.input_tokens,
                limit,
            };
            return self.refuse(id, reason, out);
        }
        if packing.has_entries() {
            self.fit_shares(id, packing, measured, 0, 0, out);
        } else {
            self.packed(id, &packing, &[], measured, measured, out);
        }
    }

    /// Tries the next way to shorten a field, or refuses the ask when there is none left.
    fn next_rung(
        &mut self,
        id: AskId,
        mut packing: PackingCall,
        field: HeaderField,
        limit: u64,
        out: &mut Vec<Command>,
    ) {
        let rung = match packing.rung(field) {
            None => ShortenStage::Local,
            Some(ShortenStage::Local) => ShortenStage::Lite,
            Some(ShortenStage::Lite) => ShortenStage::Prime,
            Some(ShortenStage::Prime) => {
                let tokens = self
                    .scales
                    .sure_weight(packing.model(), &packing.original(field));
                let reason = Refusal::TokenBudget {
                    field,
                    tokens,
                    limit,
                };
                return self.refuse(id, reason, out);
            }
        };
        packing.try_rung(field, rung);
        let model = match rung {
            ShortenStage::Local => {
                packing.set_stage(PackingStage::Shortening { field, limit });
                return self.wait(id, packing, out);
            }
            ShortenStage::Lite => ModelRole::Lite,
            ShortenStage::Prime => ModelRole::Prime,
        };
        // A number of its own: it is measured, reserved and recorded like any other call.
        let errand = self.next_ask;
        self.next_ask = errand.next();
        let ask = shortening(model, &packing.original(field), limit);
        packing.set_stage(PackingStage::Errand {
            field,
            limit,
            errand,
        });
        // The errand is served first, so the one who waits for it makes room at the head of the queue.
        self.queue.remove(&id);
        self.pending
            .insert(id, PendingAsk::Packing(Box::new(packing)));
        self.scales.begin_errand(errand, id);
        self.pack(errand, ask, out);
    }

    /// A shorter text came back from the host or a model, or the word that there is none.
    pub(super) fn on_shortened(
        &mut self,
        id: AskId,
        shorter: Option<&Text>,
        out: &mut Vec<Command>,
    ) {
        let Some(PendingAsk::Packing(packing)) = self.pending.get(id) else {
            return;
        };
        let mut packing = packing.next_question();
        let (&PackingStage::Shortening { field, limit }
        | &PackingStage::Errand { field, limit, .. }) = packing.stage()
        else {
            return;
        };
        self.queue.insert(id);
        if let Some(shorter) = shorter.filter(|text| !text.is_blank()) {
            let original = packing.original(field);
            let before = self.scales.sure_weight(packing.model(), &original);
            let text = Text::new(format!("{SUMMARY_MARK} {}", shorter.as_str().trim()));
            let shown = RenderedField {
                text,
                shortened_from: Some(before),
            };
            packing.show(field, shown);
            self.weigh(id, packing, Some((field, limit)), out);
        } else {
            self.report_rung(id, &packing, field, limit, None, out);
            self.next_rung(id, packing, field, limit, out);
        }
        self.pump(out);
    }

    /// Hands the outcome of an errand to the call that it shortens a field for. False if `id` is a program's own call.
    pub(crate) fn close_errand(
        &mut self,
        id: AskId,
        shorter: Option<&Text>,
        out: &mut Vec<Command>,
    ) -> bool {
        let Some(outer) = self.scales.end_errand(id) else {
            return false;
        };
        self.on_shortened(outer, shorter, out);
        true
    }

    /// Forgets an errand that nobody waits for any more. False if `id` is a program's own call.
    pub(crate) fn drop_errand(&mut self, id: AskId) -> bool {
        self.scales.end_errand(id).is_some()
    }

    /// Takes the earlier answer that stands for a call, with the call.
    pub(crate) fn take_recalled(&mut self) -> Option<(AskId, ModelReply)> {
        self.recalled.take()
    }

    /// Picks the entries that fit and has the whole measured.
    fn fit_shares(
        &mut self,
        id: AskId,
        mut packing: PackingCall,
        bare: RequestEstimate,
        squeeze: u64,
        rounds: u8,
        out: &mut Vec<Command>,
    ) {
        let model = packing.model();
        let mtu = self.room_beside(packing.ask().output_tokens_max, &bare);
        let header: u64 = self.header_tokens(&packing).sum();
        let after_prompt = mtu
            .saturating_sub(bare.input_tokens)
            .saturating_sub(squeeze);
        let room = FitLimit {
            after_header: mtu.saturating_sub(header),
            after_prompt: if rounds < ROUNDS_MAX { after_prompt } else { 0 },
        };
        let weight =
            |entry: &ChatMessage| self.scales.sure_weight(model, &entry.text) + ENTRY_TOKENS;
        let shares = &packing.ask().packet.shares;
        let tokens: Vec<Vec<u64>> = shares
            .iter()
            .map(|share| share.entries.iter().map(weight).collect())
            .collect();
        let kept = fit(shares, &tokens, room);
        // Without any entry the whole is the bare request, which has been measured.
        if rounds == 0 && kept.iter().all(|kept| kept.from == kept.to) {
            return self.packed(id, &packing, &kept, bare, bare, out);
        }
        packing.set_stage(PackingStage::Fitting {
            bare,
            kept,
            squeeze,
            rounds,
        });
        self.wait(id, packing, out);
    }
}
