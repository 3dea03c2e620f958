//! The charters that come with the program.

use super::folder::Files;

/// Their names.
pub const NAMES: [&str; 3] = ["default", "council", "rlm"];

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

const COUNCIL: [(&str, &str); 1] = [(
    "charter.toml",
    include_str!("../../../../charters/council/charter.toml"),
)];

const RLM: [(&str, &str); 1] = [(
    "charter.toml",
    include_str!("../../../../charters/rlm/charter.toml"),
)];

/// The five initial instructions; a new charter begins with them too.
pub(super) const INSTRUCTIONS: &str =
    include_str!("../../../../charters/default/instructions.toml");

/// The files of a charter.
pub(super) fn files(name: &str) -> Option<Files> {
    let files: &[_] = match name {
        "default" => &DEFAULT,
        "council" => &COUNCIL,
        "rlm" => &RLM,
        _ => return None,
    };
    let files = files.iter();
    Some(
        files
            .map(|(path, text)| ((*path).to_owned(), Some(text.as_bytes().to_vec())))
            .collect(),
    )
}
