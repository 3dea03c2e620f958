//! Converts a charter to the frame of a run, and a frame back to a charter.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use fathom_core::packet::{IdentityProvenance, IdentitySignature, PacketFrame};
use sha2::{Digest as _, Sha256};

use super::findings::FindingList;
use super::problem::CharterProblem;
use super::{Charter, CharterError, PacketMtu, check_files, identity_persona, read_folder};
use crate::governance::identity::signature;

/// Texts of a charter's files by their names in its folder.
pub(crate) type CharterTexts = BTreeMap<String, String>;

impl Charter {
    /// The charter that a run began with, as it stands now.
    pub(crate) fn of_frame(frame: &PacketFrame) -> Result<Self, CharterError> {
        match &frame.charter_folder {
            Some(folder) => Self::load(Path::new(folder), &|_| 0),
            // `charter` is `NAME VERSION`, and a name has no space.
            None => Self::built_in(frame.charter.split(' ').next().unwrap_or_default()),
        }
    }

    /// The charter in a folder as it would be without its signature, which may not fit any more, and the text of its
    /// identity.
    pub(crate) fn without_signature(folder: &Path) -> Result<(Self, String), CharterError> {
        let mut findings = FindingList::default();
        let mut files = read_folder(folder, &mut findings)?;
        let bytes = files
            .remove(identity_persona::IDENTITY_FILE)
            .flatten()
            .unwrap_or_default();
        let text = identity_persona::without_signature(&String::from_utf8_lossy(&bytes));
        files.insert(
            identity_persona::IDENTITY_FILE.to_owned(),
            Some(text.clone().into_bytes()),
        );
        let checked = check_files(&files, findings, &|_| 0);
        let mut charter = checked.charter(folder.display().to_string())?;
        if charter.identity.signature.is_some() {
            let mut findings = FindingList::default();
            let flaw = CharterProblem::BadValue {
                key: "signature".to_owned(),
                why: "expected a table [signature]".to_owned(),
            };
            findings.problem(identity_persona::IDENTITY_FILE, None, flaw);
            return Err(CharterError::Broken {
                said: charter.name,
                problems: findings.problems,
            });
        }
        charter.folder = Some(folder.to_owned());
        Ok((charter, text))
    }

    /// The name of the charter in a folder, whose signature need not fit yet.
    pub fn name_in(folder: &Path) -> Result<String, CharterError> {
        Ok(Self::without_signature(folder)?.0.name)
    }

    /// The charter that these files would be.
    pub(crate) fn of_texts(name: &str, texts: &CharterTexts) -> Result<Self, CharterError> {
        let texts = texts.iter();
        let files = texts.map(|(file, text)| (file.clone(), Some(text.clone().into_bytes())));
        check_files(&files.collect(), FindingList::default(), &|_| 0).charter(name)
    }

    /// Frame of every packet of a run under this charter.
    pub fn frame(&self) -> PacketFrame {
        let texts = self.instructions.iter();
        PacketFrame {
            charter: format!("{} {}", self.name, self.version),
            charter_digest: self.digest(),
            charter_folder: self
                .folder
                .as_ref()
                .map(|folder| folder.display().to_string()),
            provenance: Some(IdentityProvenance {
                protocol: self.protocol.to_string(),
                identity: signature::fingerprint(&self.identity).to_string(),
                signature: self
                    .identity
                    .signature
                    .clone()
                    .map(|made| IdentitySignature {
                        key: made.key,
                        value: made.value,
                    }),
            }),
            values: BTreeMap::new(),
            mtu_tokens: match self.mtu {
                PacketMtu::Window => None,
                PacketMtu::Tokens(tokens) => Some(tokens),
            },
            identity: self.identity.text().into(),
            persona: self.persona.text().into(),
            instructions: texts
                .map(|(key, instruction)| (key.clone(), instruction.text.as_str().into()))
                .collect(),
        }
    }

    /// SHA-256 of what the charter says, in hexadecimal digits. Comments, order and place of its files do not count.
    pub fn digest(&self) -> String {
        // A struct of strings and numbers always has a JSON form, and its keys keep their order.
        let content = serde_json::to_vec(self).unwrap_or_default();
        let mut hash = Sha256::new();
        // The tag keeps this digest apart from others over the same bytes; its number changes with the form.
        hash.update(b"fathom charter 1\n");
        hash.update(&content);
        let mut digits = String::new();
        for byte in hash.finalize() {
            // Writing to a string cannot fail.
            let _ = write!(digits, "{byte:02x}");
        }
        digits
    }
}

/// The texts of all files that belong to the charter in a folder. Files that are not UTF-8 are left out, since no
/// charter with one loads.
pub(crate) fn charter_files(folder: &Path) -> Result<CharterTexts, CharterError> {
    let files = read_folder(folder, &mut FindingList::default())?.into_iter();
    let texts = files.filter_map(|(file, bytes)| Some((file, String::from_utf8(bytes?).ok()?)));
    Ok(texts.collect())
}
