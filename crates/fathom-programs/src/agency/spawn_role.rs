//! Spawning of one role by another: a child with that role's contract and no more.

use super::config::CrewMember;
use fathom_core::budget::amounts::Amounts;
use fathom_core::contract::spawn::{SpawnRequest, SpawnTrigger};
use fathom_core::contract::{AgentRole, Contract};
use fathom_core::episode::program::{Ask, ProgramView};
use fathom_core::journal::event::ProgramSpec;
use fathom_core::text::Text;

/// A child of one role.
pub(super) struct RoleChild<'a> {
    pub(super) kind: &'a str,
    pub(super) trigger: SpawnTrigger,
    pub(super) why: &'a str,
    pub(super) fetch: &'a str,
    pub(super) goal: String,
    pub(super) role: AgentRole,
    pub(super) program: ProgramSpec,
    pub(super) at_least: Amounts,
}

impl RoleChild<'_> {
    /// Asks for it, with what the role's agent file allows.
    pub(super) fn ask(self, member: &CrewMember, view: &ProgramView<'_>) -> Ask {
        Ask::Spawn(Box::new(SpawnRequest {
            child_type: self.kind.to_owned(),
            class: self.trigger.class(),
            trigger: self.trigger,
            why: Text::from(self.why),
            fetch: Text::from(self.fetch),
            return_format: Text::from("JSON"),
            goal: Text::new(self.goal),
            role: self.role,
            program: self.program,
            contract: Contract {
                recursion: view.contract.recursion.clone(),
                allowed_tools: member.allowed_tools.clone(),
                read_scopes: member.read_scopes.clone(),
                write_scopes: member.write_scopes.clone(),
                permission_mode: member.permission_mode,
                autonomy: member.autonomy.min(view.contract.autonomy),
            },
            at_least: self.at_least,
            at_most: Amounts::MAX,
            time_max: None,
        }))
    }
}

/// Minimum budget of one call.
pub(super) const ONE_CALL: Amounts = Amounts {
    tokens: 256,
    calls: 1,
    ..Amounts::ZERO
};
