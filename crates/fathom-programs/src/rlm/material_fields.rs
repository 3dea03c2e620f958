//! Fields found in the material. They were printed in a cell, so they are read strictly and trusted in nothing.

use serde::Deserialize;

use fathom_core::sandbox::CellResult;

/// The cell that looks.
pub(super) const LOOK: &str = "import json\nprint(json.dumps(recipes.sample_inspect()))";

/// Most bytes that it prints.
pub(super) const LOOK_BYTES_MAX: u32 = 8 << 10;

const SOURCES_MAX: usize = 3;
const FIELDS_MAX: usize = 40;
const VALUES_MAX: usize = 8;
const CHARS_MAX: usize = 60;

/// The fields of the material.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MaterialFields {
    pub(super) fields: Vec<MaterialField>,
}

/// A field, with some of its values that occur more than once.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MaterialField {
    pub(super) name: String,
    pub(super) is_number: bool,
    pub(super) values: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InspectionOutput {
    sources: Vec<FactSource>,
}

#[derive(Deserialize)]
struct FactSource {
    fields: Vec<MaterialField>,
}

impl MaterialFields {
    /// Reads what the cell printed; nothing is known when it is not what it should be.
    pub(super) fn read(end: &CellResult) -> Self {
        if end.error.is_some() || end.output.tail.is_some() {
            return Self::default();
        }
        let Ok(look) = serde_json::from_str::<InspectionOutput>(end.output.head.as_str().trim())
        else {
            return Self::default();
        };
        let mut facts = Self::default();
        let fields = look.sources.into_iter().take(SOURCES_MAX);
        for mut field in fields.flat_map(|source| source.fields.into_iter().take(FIELDS_MAX)) {
            let known = facts.fields.iter().any(|other| other.name == field.name);
            if !known && is_short(&field.name) {
                field.values.retain(|value| is_short(value));
                field.values.truncate(VALUES_MAX);
                facts.fields.push(field);
            }
        }
        facts
    }

    pub(super) fn field(&self, name: &str) -> Option<&MaterialField> {
        self.fields.iter().find(|field| field.name == name)
    }
}

fn is_short(text: &str) -> bool {
    !text.is_empty() && text.chars().count() <= CHARS_MAX
}
