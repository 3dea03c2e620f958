//! Deliveries of an episode on channels: a fold over its records, for those who look on.

use fathom_core::channel::delivery::{
    ChannelDelivery, ChannelRoute, DOMAIN, DeliveryReport, DeliveryRequest, SHELL,
};
use fathom_core::channel::marker::{BlockKind, Marker};
use fathom_core::id::AskId;
use fathom_core::journal::command::{Command, OutputBlock};
use fathom_core::journal::event::EventKind;

/// A block, from the record that asked for it to what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveredBlock {
    pub marker: Marker,
    /// Text as it was said; whoever shows it filters it.
    pub text: String,
    /// Routes that it takes.
    pub to: Vec<ChannelRoute>,
    /// Outcome of each delivery; `None` while it is under way.
    pub deliveries: Option<Vec<ChannelDelivery>>,
    ask: Option<AskId>,
}

/// All that an episode said, in order.
#[derive(Clone, Debug, Default)]
pub struct DeliveriesView(Vec<DeliveredBlock>);

impl DeliveriesView {
    /// The blocks, in order.
    pub fn iter(&self) -> impl Iterator<Item = &DeliveredBlock> {
        self.0.iter()
    }

    pub(crate) fn on_command(&mut self, command: &Command) {
        match command {
            Command::Domain { ask, request } if request.domain == DOMAIN => {
                // A new owner asks again for what was not answered.
                let is_known = self.0.iter().any(|block| block.ask == Some(*ask));
                if let Ok(send) = serde_json::from_str::<DeliveryRequest>(request.request.as_str())
                    && let Some(kind) = BlockKind::from_name(&send.kind)
                    && !is_known
                {
                    self.0.push(DeliveredBlock {
                        marker: kind.goes_as(),
                        text: send.text,
                        to: send.to,
                        deliveries: None,
                        ask: Some(*ask),
                    });
                }
            }
            Command::Emit { block } => self.0.extend(emitted(block)),
            _ => {}
        }
    }

    pub(crate) fn on_event(&mut self, kind: &EventKind) {
        let (answered, sent) = match kind {
            EventKind::DomainAnswered { ask, answer } => {
                let sent = serde_json::from_str::<DeliveryReport>(answer.as_str());
                (ask, sent.unwrap_or_default())
            }
            // Settled without deliveries: a block that stays open would hold back all later ones on the screen.
            EventKind::Refused { ask, .. } => (ask, DeliveryReport::default()),
            _ => return,
        };
        let mut blocks = self.0.iter_mut();
        if let Some(block) = blocks.find(|block| block.ask == Some(*answered)) {
            block.deliveries = Some(sent.deliveries);
        }
    }
}

/// A block that no channel shows: it stands in the record, and commands go to the shell from there.
fn emitted(block: &OutputBlock) -> Option<DeliveredBlock> {
    let marker = block.kind()?.goes_as();
    let shell = ChannelRoute {
        channel: SHELL.to_owned(),
        log: false,
    };
    let to = if marker == Marker::Execute {
        vec![shell]
    } else {
        Vec::new()
    };
    Some(DeliveredBlock {
        marker,
        text: block.text.as_str().to_owned(),
        to,
        deliveries: Some(Vec::new()),
        ask: None,
    })
}
