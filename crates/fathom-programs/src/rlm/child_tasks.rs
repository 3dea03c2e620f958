//! Child episodes that a cell starts, each on material of its parent or on a part that the cell hands over.

use super::config::{MaterialItem, MaterialSource, RlmConfig};
use super::prompts::PREVIEWS_MAX;
use fathom_core::budget::amounts::Amounts;
use fathom_core::contract::spawn::{SpawnClass, SpawnRequest, SpawnTrigger};
use fathom_core::contract::{AgentRole, Contract};
use fathom_core::episode::program::{Ask, ProgramView};
use fathom_core::id::Digest;
use fathom_core::journal::event::ProgramSpec;
use fathom_core::sandbox::{CellTask, ContextSource, ValueFormat};

/// Specification of a child that works on the material of its parent.
pub(super) fn sharing(params: &RlmConfig) -> ProgramSpec {
    let inherited = |(index, given): (usize, &MaterialItem)| MaterialItem {
        name: given.name.clone(),
        // The child's prompt shows no more previews than this, and every child's specification goes into the journal.
        preview: if index < PREVIEWS_MAX {
            given.preview.clone()
        } else {
            String::new()
        },
        place: MaterialSource::Passed,
        ..*given
    };
    let given = params.given.iter().enumerate().map(inherited).collect();
    child(params, given, params.source)
}

/// Specification of a child with the settings of its parent.
pub(super) fn child(
    params: &RlmConfig,
    given: Vec<MaterialItem>,
    source: ContextSource,
) -> ProgramSpec {
    let child = RlmConfig {
        given,
        // The parent's model is told of them; a child cannot do anything about it.
        skipped: Vec::new(),
        source,
        // The schema is for the answer to the user; a child's answer goes back to code.
        schema: None,
        turns_max: params.turns_max,
        limits: params.limits,
        output_tokens_max: params.output_tokens_max,
        leaf_tokens_max: params.leaf_tokens_max,
        timeout: params.timeout,
        temperature_milli: params.temperature_milli,
        reuse: params.reuse,
        recipes: params.recipes,
    };
    child.spec()
}

/// The request for a child that works on `task`.
pub(super) fn spawn(task: &CellTask, program: ProgramSpec, view: &ProgramView<'_>) -> Ask {
    Ask::Spawn(Box::new(SpawnRequest {
        child_type: super::program::NAME.to_owned(),
        class: SpawnClass::Work,
        trigger: SpawnTrigger::OversizedInput,
        why: "a part of the material needs a look of its own".into(),
        fetch: "an answer to the goal from this part".into(),
        return_format: "text".into(),
        goal: task.goal.clone(),
        role: AgentRole::Creator,
        program,
        contract: Contract {
            recursion: view.contract.recursion.clone(),
            ..Contract::default()
        },
        // Enough for one short call: with less the child would end before it starts.
        at_least: Amounts {
            tokens: 64,
            calls: 1,
            ..Amounts::ZERO
        },
        // What the parent has left bounds it already; a guess here could only be too tight.
        at_most: Amounts::MAX,
        time_max: None,
    }))
}

/// Description of a part that a cell handed over.
pub(super) fn passed(text: &str, form: ValueFormat) -> MaterialItem {
    MaterialItem {
        name: "part".to_owned(),
        form,
        bytes: text.len() as u64,
        chars: text.chars().count() as u64,
        lines: text.lines().count() as u64,
        preview: text.chars().take(super::program::PREVIEW_CHARS).collect(),
        // The part lives in the journal with the cell's question, so there is no file to verify.
        digest: Digest::default(),
        place: MaterialSource::Passed,
    }
}
