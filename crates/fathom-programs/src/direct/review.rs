//! Review of an answer: a child that judges it against the rubric before it goes out.

use super::config::{DirectConfig, ReviewRules};
use super::prompts::JUDGE;
use fathom_core::budget::amounts::Amounts;
use fathom_core::contract::spawn::{SpawnClass, SpawnRequest, SpawnTrigger};
use fathom_core::contract::{AgentRole, Contract, RecursionPolicy};
use fathom_core::episode::program::{Ask, ProgramView};
use fathom_core::text::Text;
use fathom_core::unit::Millis;

/// The kind of child that judges an answer.
pub const CRITIQUE: &str = "critique";

/// The request for a child that judges `answer`.
pub(super) fn critique(
    review: &ReviewRules,
    goal: &str,
    answer: &str,
    timeout: Millis,
    view: &ProgramView<'_>,
) -> Ask {
    let judge = DirectConfig {
        system: JUDGE.to_owned(),
        // A verdict is a word and two sentences; a judge that needs more has lost its task.
        output_tokens_max: 256,
        continuations_max: 0,
        // The same answer should get the same verdict.
        temperature_milli: Some(0),
        timeout,
        ..DirectConfig::default()
    };
    // Its own depth is the deepest that its contract allows: a judge starts no episodes.
    let recursion = RecursionPolicy {
        max_depth: view.depth + 1,
        ..view.contract.recursion.clone()
    };
    Ask::Spawn(Box::new(SpawnRequest {
        child_type: CRITIQUE.to_owned(),
        class: SpawnClass::Critique,
        trigger: SpawnTrigger::HighStakesAction,
        why: "the answer goes out only after a second look".into(),
        fetch: "a judgement of the answer against the rubric".into(),
        return_format: "PASS or FAIL, then the reason".into(),
        goal: Text::new(format!(
            "Rubric:\n{}\n\nQuestion:\n{}\n\nAnswer:\n{}",
            review.rubric, goal, answer
        )),
        role: AgentRole::Verifier,
        program: judge.spec(),
        contract: Contract {
            recursion,
            ..Contract::default()
        },
        // Enough for a verdict and its reason.
        at_least: Amounts {
            tokens: 64,
            calls: 1,
            ..Amounts::ZERO
        },
        // One call, and one more for an empty reply.
        at_most: Amounts {
            calls: 2,
            episodes: 1,
            ..Amounts::MAX
        },
        time_max: None,
    }))
}
