//! `identity.toml` and `persona.toml`: who speaks, and how.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::findings::FindingList;
use super::limits::LIST_MAX;
use super::manifest::{SLUG, is_slug};
use super::problem::CharterProblem;
use super::strict_toml::{CharterSource, ParsedSource};
use crate::governance::identity::{persona_check, signature};

/// The file of the identity.
pub(crate) const IDENTITY_FILE: &str = "identity.toml";

/// The file of the persona.
pub(super) const PERSONA_FILE: &str = "persona.toml";

/// Identity of the speaker. It does not change in normal operation, and no persona overrules it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdentityText {
    /// Character traits.
    pub traits: Vec<String>,
    /// Rules that always hold.
    pub core_rules: Vec<String>,
    /// The creator's signature. One that does not fit is refused when the charter loads; whose it is, is asked when a
    /// run begins.
    pub signature: Option<IdentitySignatureText>,
}

/// A signature and the key that made it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdentitySignatureText {
    /// The public part of the key, as `ed25519:…`.
    pub key: String,
    /// The signature, in hexadecimal digits.
    pub value: String,
}

impl IdentityText {
    /// The identity as a model reads it; may be empty.
    pub fn text(&self) -> String {
        let mut text = String::new();
        sentence(&mut text, "Traits", &self.traits.join(", "));
        list(&mut text, "Rules", &self.core_rules);
        text
    }
}

/// Manner of speaking: tone and style, and layers that a project adds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonaText {
    pub tone: String,
    /// Notes on style.
    pub style_notes: String,
    /// Things that the persona avoids.
    pub constraints: Vec<String>,
    /// Further layers, in their order.
    pub layers: Vec<PersonaLayer>,
}

/// A part of a persona: context, a part to play, tools at hand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonaLayer {
    pub name: String,
    pub text: String,
}

impl PersonaText {
    /// The persona as a model reads it; may be empty.
    pub fn text(&self) -> String {
        let mut text = String::new();
        sentence(&mut text, "Tone", &self.tone);
        sentence(&mut text, "Style", &self.style_notes);
        list(&mut text, "Constraints", &self.constraints);
        for layer in &self.layers {
            sentence(&mut text, &layer.name, &layer.text);
        }
        text
    }
}

fn sentence(text: &mut String, title: &str, said: &str) {
    if !said.is_empty() {
        line_break(text);
        // Writing to a string cannot fail.
        let _ = write!(text, "{title}: {said}");
    }
}

fn list(text: &mut String, title: &str, entries: &[String]) {
    if !entries.is_empty() {
        line_break(text);
        let _ = write!(text, "{title}:");
        for entry in entries {
            let _ = write!(text, "\n- {entry}");
        }
    }
}

fn line_break(text: &mut String) {
    if !text.is_empty() {
        text.push('\n');
    }
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct IdentityTable {
    traits: Vec<Spanned<String>>,
    core_rules: Vec<Spanned<String>>,
    signature: Option<Spanned<SignatureTable>>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct SignatureTable {
    key: Option<String>,
    value: Option<String>,
}

/// Reads `identity.toml`. Without the charter's name the signature is not checked.
pub(super) fn identity(
    text: &str,
    charter: Option<&str>,
    findings: &mut FindingList,
) -> IdentityText {
    let source = CharterSource::whole(IDENTITY_FILE, text);
    let Some(read) = source.read::<IdentityTable>(findings) else {
        return IdentityText::default();
    };
    let file = &read.value;
    let signed_at = file.signature.as_ref().map(Spanned::span);
    let signature = file.signature.as_ref().and_then(|signature| {
        let SignatureTable { key, value } = signature.get_ref();
        let parts = [
            ("key", key, "key = \"…\""),
            ("value", value, "value = \"…\""),
        ];
        for (part, said, example) in parts {
            if said.is_none() && !read.dropped.has(&format!("signature.{part}")) {
                let key = part.to_owned();
                let flaw = CharterProblem::MissingKey { key, example };
                source.problem(Some(&signature.span()), flaw, findings);
            }
        }
        Some(IdentitySignatureText {
            key: key.clone()?,
            value: value.clone()?,
        })
    });
    let identity = IdentityText {
        traits: source.entries("traits", read.value.traits, findings),
        core_rules: source.entries("core_rules", read.value.core_rules, findings),
        signature,
    };
    if let (Some(IdentitySignatureText { key, value }), Some(charter)) =
        (&identity.signature, charter)
        // The signature covers the charter's name, too, so without a manifest it cannot be checked.
        && signature::signer(charter, signature::fingerprint(&identity), key, value).is_none()
    {
        source.problem(signed_at.as_ref(), CharterProblem::Signature, findings);
    }
    identity
}

/// The text of an `identity.toml` without the table of its signature.
pub(crate) fn without_signature(text: &str) -> String {
    let mut kept = String::new();
    let mut is_signature = false;
    for line in text.split_inclusive('\n') {
        let start = line.trim_start();
        // Works on lines, not on parsed TOML, so that comments and order of the rest survive the signing.
        if start.starts_with('[') {
            is_signature = start.starts_with("[signature]");
        }
        if !is_signature {
            kept.push_str(line);
        }
    }
    kept
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct PersonaTable {
    tone: Option<Spanned<String>>,
    style_notes: Option<Spanned<String>>,
    constraints: Vec<Spanned<String>>,
    layers: Vec<Spanned<LayerTable>>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct LayerTable {
    name: Option<Spanned<String>>,
    text: Option<Spanned<String>>,
}

/// Reads `persona.toml`, which may say nothing against the identity.
pub(super) fn persona(
    text: &str,
    identity: &IdentityText,
    findings: &mut FindingList,
) -> PersonaText {
    let source = CharterSource::whole(PERSONA_FILE, text);
    let Some(read) = source.read::<PersonaTable>(findings) else {
        return PersonaText::default();
    };
    // Read from the raw values: a layer that is dropped below for another problem must not hide this one.
    check_words(&source, &read.value, identity, findings);
    let layers = layers(&source, &read, findings);
    let plain = |said: Option<Spanned<String>>| {
        said.map(|said| said.get_ref().trim().to_owned())
            .unwrap_or_default()
    };
    PersonaText {
        tone: plain(read.value.tone),
        style_notes: plain(read.value.style_notes),
        constraints: source.entries("constraints", read.value.constraints, findings),
        layers,
    }
}

/// Adds every text of a persona that would overrule the identity.
fn check_words(
    source: &CharterSource<'_>,
    persona: &PersonaTable,
    identity: &IdentityText,
    findings: &mut FindingList,
) {
    let layers = persona.layers.iter().map(Spanned::get_ref);
    let names = layers.clone().filter_map(|layer| layer.name.as_ref());
    let texts = layers.filter_map(|layer| layer.text.as_ref());
    let texts = persona
        .tone
        .iter()
        .chain(&persona.style_notes)
        .chain(&persona.constraints)
        .chain(texts);
    for said in texts {
        if let Some(found) = persona_check::overruling(&identity.core_rules, said.get_ref()) {
            let persona_check::PersonaViolation { rule, words } = found;
            source.problem(
                Some(&said.span()),
                CharterProblem::Overrules { rule, words },
                findings,
            );
        }
    }
    for name in names.filter(|name| persona_check::is_label(name.get_ref())) {
        let (rule, words) = (persona_check::PersonaRule::Label, name.get_ref().clone());
        source.problem(
            Some(&name.span()),
            CharterProblem::Overrules { rule, words },
            findings,
        );
    }
}

fn layers(
    source: &CharterSource<'_>,
    read: &ParsedSource<PersonaTable>,
    findings: &mut FindingList,
) -> Vec<PersonaLayer> {
    let tables = &read.value.layers;
    let mut layers: Vec<PersonaLayer> = Vec::new();
    if let Some(first_over) = tables.get(LIST_MAX) {
        let flaw = CharterProblem::TooMany {
            what: "layers",
            count_max: LIST_MAX,
        };
        source.problem(Some(&first_over.span()), flaw, findings);
    }
    for table in tables {
        let LayerTable { name, text } = table.get_ref();
        let (Some(name), Some(text)) = (name, text) else {
            let parts = [
                ("name", name.is_some(), "name = \"…\""),
                ("text", text.is_some(), "text = \"…\""),
            ];
            for (part, is_there, example) in parts {
                if !is_there && !read.dropped.has(&format!("layers.{part}")) {
                    let key = part.to_owned();
                    let flaw = CharterProblem::MissingKey { key, example };
                    source.problem(Some(&table.span()), flaw, findings);
                }
            }
            continue;
        };
        if !is_slug(name.get_ref()) {
            source.bad("name", name, SLUG, findings);
        }
        if layers.iter().any(|layer| layer.name == *name.get_ref()) {
            let flaw = CharterProblem::DuplicateId {
                id: name.get_ref().clone(),
                first: format!("this {PERSONA_FILE}"),
            };
            source.problem(Some(&name.span()), flaw, findings);
        }
        if text.get_ref().trim().is_empty() {
            let what = format!("the text of the layer `{}`", name.get_ref());
            source.problem(Some(&text.span()), CharterProblem::Empty { what }, findings);
        }
        layers.push(PersonaLayer {
            name: name.get_ref().clone(),
            text: text.get_ref().trim().to_owned(),
        });
    }
    layers
}
