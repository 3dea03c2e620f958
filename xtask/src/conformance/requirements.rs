//! The requirements that the table lists, from `requirements.txt`.

use anyhow::bail;

const SOURCE: &str = include_str!("../requirements.txt");

/// Letters that an ID begins with, one for each subject.
const LETTERS: &[u8] = b"ECPGRXHQTUVDSWN";

/// A group of requirements under one heading.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Section {
    pub(crate) title: String,
    pub(crate) requirements: Vec<Requirement>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Requirement {
    pub(crate) id: String,
    pub(crate) phrase: String,
}

pub(crate) fn all() -> anyhow::Result<Vec<Section>> {
    parse(SOURCE)
}

/// Lines are `# title` or `E01 phrase`; blank lines separate.
pub(crate) fn parse(text: &str) -> anyhow::Result<Vec<Section>> {
    let mut sections: Vec<Section> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        if let Some(title) = line.strip_prefix("# ") {
            sections.push(Section {
                title: title.to_owned(),
                requirements: Vec::new(),
            });
        } else if !line.trim().is_empty() {
            let Some((id, phrase)) = line.split_once(' ').filter(|(id, _)| is_id(id)) else {
                bail!("line {number} of the requirements is no `E01 phrase`: `{line}`");
            };
            if sections
                .iter()
                .flat_map(|section| &section.requirements)
                .any(|known| known.id == id)
            {
                bail!("line {number} of the requirements repeats `{id}`");
            }
            let Some(section) = sections.last_mut() else {
                bail!("line {number} of the requirements stands before any heading");
            };
            section.requirements.push(Requirement {
                id: id.to_owned(),
                phrase: phrase.trim().to_owned(),
            });
        }
    }
    Ok(sections)
}

/// Whether a word has the shape of an ID: `E06`.
pub(crate) fn is_id(word: &str) -> bool {
    matches!(
        word.as_bytes(),
        [letter, tens, ones]
            if LETTERS.contains(letter) && tens.is_ascii_digit() && ones.is_ascii_digit()
    )
}

#[cfg(test)]
#[path = "requirements_tests.rs"]
mod tests;
