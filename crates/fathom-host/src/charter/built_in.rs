//! The charters that come with the program.

use super::folder::CharterFiles;

/// Names of the charters that come with the binary.
pub const NAMES: [&str; 6] = ["default", "council", "rlm", "signalzero", "agency", "gaia"];

const DEFAULT: [(&str, &str); 4] = [
    (
        "charter.toml",
        include_str!("../../../../charters/default/charter.toml"),
    ),
    (
        "identity.toml",
        include_str!("../../../../charters/default/identity.toml"),
    ),
    (
        "persona.toml",
        include_str!("../../../../charters/default/persona.toml"),
    ),
    ("instructions.toml", INSTRUCTIONS),
];

const GAIA: [(&str, &str); 4] = [
    (
        "charter.toml",
        include_str!("../../../../charters/gaia/charter.toml"),
    ),
    (
        "identity.toml",
        include_str!("../../../../charters/gaia/identity.toml"),
    ),
    (
        "instructions.toml",
        include_str!("../../../../charters/gaia/instructions.toml"),
    ),
    (
        "persona.toml",
        include_str!("../../../../charters/gaia/persona.toml"),
    ),
];

const COUNCIL: [(&str, &str); 1] = [(
    "charter.toml",
    include_str!("../../../../charters/council/charter.toml"),
)];

const RLM: [(&str, &str); 1] = [(
    "charter.toml",
    include_str!("../../../../charters/rlm/charter.toml"),
)];

const AGENCY: [(&str, &str); 18] = [
    (
        "agents/creator.md",
        include_str!("../../../../charters/agency/agents/creator.md"),
    ),
    (
        "agents/doc.md",
        include_str!("../../../../charters/agency/agents/doc.md"),
    ),
    (
        "agents/engagement.md",
        include_str!("../../../../charters/agency/agents/engagement.md"),
    ),
    (
        "agents/orchestrator.md",
        include_str!("../../../../charters/agency/agents/orchestrator.md"),
    ),
    (
        "agents/planner.md",
        include_str!("../../../../charters/agency/agents/planner.md"),
    ),
    (
        "agents/publisher.md",
        include_str!("../../../../charters/agency/agents/publisher.md"),
    ),
    (
        "agents/verifier.md",
        include_str!("../../../../charters/agency/agents/verifier.md"),
    ),
    (
        "charter.toml",
        include_str!("../../../../charters/agency/charter.toml"),
    ),
    (
        "entities.json",
        include_str!("../../../../charters/agency/entities.json"),
    ),
    (
        "gateway.toml",
        include_str!("../../../../charters/agency/gateway.toml"),
    ),
    (
        "policies/engagement.cedar",
        include_str!("../../../../charters/agency/policies/engagement.cedar"),
    ),
    (
        "policies/limits.cedar",
        include_str!("../../../../charters/agency/policies/limits.cedar"),
    ),
    (
        "policies/publishing.cedar",
        include_str!("../../../../charters/agency/policies/publishing.cedar"),
    ),
    (
        "policies/verification.cedar",
        include_str!("../../../../charters/agency/policies/verification.cedar"),
    ),
    (
        "prompts/announcement.md",
        include_str!("../../../../charters/agency/prompts/announcement.md"),
    ),
    (
        "prompts/post-rubric.md",
        include_str!("../../../../charters/agency/prompts/post-rubric.md"),
    ),
    (
        "prompts/reply-rubric.md",
        include_str!("../../../../charters/agency/prompts/reply-rubric.md"),
    ),
    (
        "tools.toml",
        include_str!("../../../../charters/agency/tools.toml"),
    ),
];

const SIGNALZERO: [(&str, &str); 13] = [
    (
        "agents.json",
        include_str!("../../../../charters/signalzero/agents.json"),
    ),
    (
        "charter.toml",
        include_str!("../../../../charters/signalzero/charter.toml"),
    ),
    (
        "context.json",
        include_str!("../../../../charters/signalzero/context.json"),
    ),
    (
        "kits.json",
        include_str!("../../../../charters/signalzero/kits.json"),
    ),
    (
        "phases/00-symbolize-input.txt",
        include_str!("../../../../charters/signalzero/phases/00-symbolize-input.txt"),
    ),
    (
        "phases/01-recurse-thought.txt",
        include_str!("../../../../charters/signalzero/phases/01-recurse-thought.txt"),
    ),
    (
        "phases/02-synthesize.txt",
        include_str!("../../../../charters/signalzero/phases/02-synthesize.txt"),
    ),
    (
        "phases/03-validate.txt",
        include_str!("../../../../charters/signalzero/phases/03-validate.txt"),
    ),
    (
        "phases/04-build-narrative.txt",
        include_str!("../../../../charters/signalzero/phases/04-build-narrative.txt"),
    ),
    (
        "shared/00-system.txt",
        include_str!("../../../../charters/signalzero/shared/00-system.txt"),
    ),
    (
        "shared/01-commands.txt",
        include_str!("../../../../charters/signalzero/shared/01-commands.txt"),
    ),
    (
        "shared/02-symbol-format.txt",
        include_str!("../../../../charters/signalzero/shared/02-symbol-format.txt"),
    ),
    (
        "symbols.json",
        include_str!("../../../../charters/signalzero/symbols.json"),
    ),
];

/// The five initial instructions; a new charter begins with them too.
pub(super) const INSTRUCTIONS: &str =
    include_str!("../../../../charters/default/instructions.toml");

/// The files of a charter.
pub(super) fn files(name: &str) -> Option<CharterFiles> {
    let files: &[_] = match name {
        "default" => &DEFAULT,
        "council" => &COUNCIL,
        "rlm" => &RLM,
        "signalzero" => &SIGNALZERO,
        "agency" => &AGENCY,
        "gaia" => &GAIA,
        _ => return None,
    };
    let files = files.iter();
    Some(
        files
            .map(|(path, text)| ((*path).to_owned(), Some(text.as_bytes().to_vec())))
            .collect(),
    )
}
