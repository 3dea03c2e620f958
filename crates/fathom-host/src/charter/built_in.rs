//! The charters that come with the program.

use super::folder::Files;

/// Their names.
pub const NAMES: [&str; 1] = ["default"];

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

/// The five initial instructions; a new charter begins with them too.
pub(super) const INSTRUCTIONS: &str =
    include_str!("../../../../charters/default/instructions.toml");

/// The files of a charter.
pub(super) fn files(name: &str) -> Option<Files> {
    let files = match name {
        "default" => &DEFAULT,
        _ => return None,
    };
    let files = files.iter();
    Some(
        files
            .map(|(path, text)| ((*path).to_owned(), Some(text.as_bytes().to_vec())))
            .collect(),
    )
}
