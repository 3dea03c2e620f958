//! Differences between two charters, and the version bump that they require.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::charter::{Charter, CharterVersion};

/// Part of a version that must move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VersionBump {
    /// A better wording.
    Patch,
    /// Something new works, or works differently.
    Minor,
    /// Something old no longer works, or who speaks is another.
    Major,
}

impl fmt::Display for VersionBump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Patch => "patch",
            Self::Minor => "minor",
            Self::Major => "major",
        })
    }
}

impl VersionBump {
    /// The least version after `from`. Below 1.0.0 each step is one smaller: nothing is promised there.
    pub fn after(self, from: CharterVersion) -> CharterVersion {
        let CharterVersion {
            major,
            minor,
            patch,
        } = from;
        let next = |major, minor, patch| CharterVersion {
            major,
            minor,
            patch,
        };
        match (self, major) {
            // Before 1.0.0 every part moves one place to the right, as SemVer has it.
            (Self::Major, 0) | (Self::Minor, 1..) => next(major, minor + 1, 0),
            (Self::Major, _) => next(major + 1, 0, 0),
            (Self::Minor, 0) | (Self::Patch, _) => next(major, minor, patch + 1),
        }
    }
}

/// One thing that is different.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CharterChange {
    /// The file, from the charter's folder.
    pub file: String,
    /// The key in it.
    pub key: String,
    /// Old value; none when the key is new.
    pub old: Option<Value>,
    /// New value; none when the key is removed.
    pub new: Option<Value>,
    /// Version bump that the change requires.
    pub bump: VersionBump,
}

impl CharterChange {
    /// True if the change is about the identity itself, and not only its signature.
    pub fn is_of_identity(&self) -> bool {
        self.file == "identity.toml" && !self.key.starts_with("signature")
    }
}

/// `identity.toml  core_rules: + "Never guess."`
impl fmt::Display for CharterChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<5}  {}  {}: ", self.bump, self.file, self.key)?;
        match (&self.old, &self.new) {
            (Some(old), Some(new)) => write!(f, "{old} → {new}"),
            (None, Some(new)) => write!(f, "+ {new}"),
            (Some(old), None) => write!(f, "- {old}"),
            (None, None) => Ok(()),
        }
    }
}

/// Effect of a change on a key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum KeyChange {
    Added,
    Removed,
    Changed,
}

/// Version bumps by key: every part must match, `*` is any part, and further parts do not matter.
///
/// The first matching rule decides. Without one, a removal is major; new and changed keys are minor.
const RULES: [(&str, &[KeyChange], VersionBump); 16] = {
    use KeyChange::{Added, Changed, Removed};
    const ANY: &[KeyChange] = &[Added, Removed, Changed];
    [
        ("identity.signature", ANY, VersionBump::Patch),
        ("identity", ANY, VersionBump::Major),
        ("protocol", ANY, VersionBump::Major),
        // Tools and policies decide what may happen outside, so no change of them is small.
        ("gate", ANY, VersionBump::Major),
        ("persona", ANY, VersionBump::Patch),
        ("description", ANY, VersionBump::Patch),
        ("prompts.*.text", &[Changed], VersionBump::Patch),
        ("prompts.*.description", &[Changed], VersionBump::Patch),
        ("agents.*.prompt", &[Changed], VersionBump::Patch),
        ("agents.*.name", &[Changed], VersionBump::Patch),
        ("agents.*.description", &[Changed], VersionBump::Patch),
        ("instructions.*.text", &[Changed], VersionBump::Patch),
        (
            "instructions.*.last_updated",
            &[Changed],
            VersionBump::Patch,
        ),
        ("budget", ANY, VersionBump::Minor),
        ("roles", ANY, VersionBump::Minor),
        ("mtu", ANY, VersionBump::Minor),
    ]
};

/// Everything that is different, file by file. The version itself is not.
pub fn between(old: &Charter, new: &Charter) -> Vec<CharterChange> {
    // A charter always has a JSON form: its digest is made of it.
    let json = |charter: &Charter| serde_json::to_value(charter).unwrap_or_default();
    let (mut old, mut new) = (json(old), json(new));
    for side in [&mut old, &mut new] {
        if let Some(object) = side.as_object_mut() {
            // Both are compared by hand: the version must change, and the name must not.
            object.remove("version");
            object.remove("name");
        }
    }
    let mut changes = Vec::new();
    walk(&mut Vec::new(), Some(&old), Some(&new), &mut changes);
    changes.sort_by(|a, b| (&a.file, &a.key).cmp(&(&b.file, &b.key)));
    changes
}

/// Version bump that all the changes require.
pub fn bump(changes: &[CharterChange]) -> VersionBump {
    let bumps = changes.iter().map(|change| change.bump);
    bumps.max().unwrap_or(VersionBump::Patch)
}

fn walk(
    path: &mut Vec<String>,
    old: Option<&Value>,
    new: Option<&Value>,
    changes: &mut Vec<CharterChange>,
) {
    let there = |value: &&Value| !value.is_null();
    let (old, new) = (old.filter(there), new.filter(there));
    if old == new {
        return;
    }
    match (old, new) {
        (Some(Value::Object(_)), Some(Value::Object(_)) | None)
        | (None, Some(Value::Object(_))) => {
            let keys = |value: Option<&Value>| {
                let object = value.and_then(Value::as_object);
                object
                    .into_iter()
                    .flat_map(|object| object.keys().cloned())
                    .collect::<Vec<_>>()
            };
            let all: BTreeSet<String> = keys(old).into_iter().chain(keys(new)).collect();
            for key in all {
                let of =
                    |value: Option<&'_ Value>| value.and_then(|value| value.get(&key)).cloned();
                let (old, new) = (of(old), of(new));
                path.push(key);
                walk(path, old.as_ref(), new.as_ref(), changes);
                path.pop();
            }
        }
        (Some(Value::Array(old)), Some(Value::Array(new))) => lists(path, old, new, changes),
        (old, new) => changes.push(change(path, old, new)),
    }
}

/// Entries that came and went. The same entries in another order are a change of the whole list.
fn lists(path: &[String], old: &[Value], new: &[Value], changes: &mut Vec<CharterChange>) {
    let before = changes.len();
    for gone in old.iter().filter(|entry| !new.contains(entry)) {
        changes.push(change(path, Some(gone), None));
    }
    for added in new.iter().filter(|entry| !old.contains(entry)) {
        changes.push(change(path, None, Some(added)));
    }
    // The same entries in another order, which is a change as well, since order is precedence.
    if changes.len() == before {
        let whole = |list: &[Value]| Value::Array(list.to_vec());
        changes.push(change(path, Some(&whole(old)), Some(&whole(new))));
    }
}

fn change(path: &[String], old: Option<&Value>, new: Option<&Value>) -> CharterChange {
    let deed = match (old, new) {
        (None, _) => KeyChange::Added,
        (_, None) => KeyChange::Removed,
        _ => KeyChange::Changed,
    };
    let (file, key) = place(path);
    CharterChange {
        file,
        key,
        old: old.cloned(),
        new: new.cloned(),
        bump: judge(path, deed),
    }
}

fn judge(path: &[String], deed: KeyChange) -> VersionBump {
    let fits = |rule: &str| {
        let mut parts = path.iter();
        rule.split('.')
            .all(|part| parts.next().is_some_and(|own| part == "*" || own == part))
    };
    let mut rules = RULES.iter();
    let rule = rules.find(|(rule, deeds, _)| fits(rule) && deeds.contains(&deed));
    match (rule, deed) {
        (Some((_, _, bump)), _) => *bump,
        (None, KeyChange::Removed) => VersionBump::Major,
        (None, KeyChange::Added | KeyChange::Changed) => VersionBump::Minor,
    }
}

/// The file that a key stands in, and the key there.
fn place(path: &[String]) -> (String, String) {
    let part = |at: usize| path.get(at).map_or("", String::as_str);
    let rest = |from: usize| path.get(from..).unwrap_or_default().join(".");
    match part(0) {
        first @ ("identity" | "persona" | "instructions") => (format!("{first}.toml"), rest(1)),
        first @ ("agents" | "prompts") => (format!("{first}/{}.md", part(1)), rest(2)),
        "gate" => ("tools.toml, gateway.toml, policies".to_owned(), rest(1)),
        _ => ("charter.toml".to_owned(), rest(0)),
    }
}

#[cfg(test)]
#[path = "diff_tests.rs"]
mod tests;
