//! Keys as the types declare them that a file is read into.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use anyhow::bail;
use regex::Regex;

use super::ROOTS;
use super::imports::Imports;
use crate::finding::Finding;
use crate::pattern;
use crate::sources::Source;

/// A type that a file, or a table of it, is read into.
pub(super) struct Root<'a> {
    file: &'a str,
    table: Option<&'a str>,
    owner: &'a str,
    name: &'a str,
    place: &'a str,
    line: usize,
}

/// A key of a file, with the place that declares it.
#[derive(Clone)]
pub(super) struct Key<'a> {
    pub(super) file: &'a str,
    /// With the tables it lies in, as in `recursion.max_depth`; `*` stands for a name that people choose.
    pub(super) name: String,
    pub(super) path: &'a str,
    pub(super) text: &'a str,
    pub(super) offset: usize,
}

pub(super) fn parse_roots(text: &str) -> anyhow::Result<Vec<Root<'_>>> {
    let mut roots = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let [file, table, owner, name, place] = words.as_slice() else {
            bail!(
                "{ROOTS}, line {}: expected `FILE TABLE CRATE TYPE PLACE`",
                index + 1
            );
        };
        roots.push(Root {
            file,
            table: Some(*table).filter(|table| *table != "-"),
            owner,
            name,
            place,
            line: index + 1,
        });
    }
    Ok(roots)
}

/// A struct that serde reads, with its fields.
struct Type<'a> {
    path: &'a str,
    owner: &'a str,
    text: &'a str,
    /// The type that serde reads in its place, where `try_from` or `from` says so.
    reads: Option<&'a str>,
    fields: Vec<Field<'a>>,
}

struct Field<'a> {
    key: String,
    type_name: &'a str,
    is_flat: bool,
    offset: usize,
}

/// Structs that serde reads, by name.
pub(super) struct Types<'a> {
    by_name: BTreeMap<&'a str, Vec<Type<'a>>>,
    /// By file.
    imports: BTreeMap<&'a str, Imports<'a>>,
}

impl<'a> Types<'a> {
    pub(super) fn of(sources: &'a [Source<'a>]) -> Self {
        static STRUCT: LazyLock<Regex> = LazyLock::new(|| {
            pattern::constant(r"(?:\bpub(?:\([^)]*\))?\s+)?\bstruct\s+(\w+)(?:<[^{;(]*>)?\s*\{")
        });
        let mut by_name: BTreeMap<&str, Vec<Type<'_>>> = BTreeMap::new();
        let mut imports = BTreeMap::new();
        for source in sources.iter().filter(|source| source.is_product()) {
            if !source.shipped.contains("Deserialize") {
                continue;
            }
            imports.insert(source.path, Imports::of(&source.shipped));
            for captures in STRUCT.captures_iter(&source.shipped) {
                if let (Some(item), Some(name)) = (captures.get(0), captures.get(1))
                    && let Some(found) = read_type(source, item.start(), item.end() - 1)
                {
                    by_name.entry(name.as_str()).or_default().push(found);
                }
            }
        }
        Self { by_name, imports }
    }

    /// The struct that a path such as `direct::Params` means in the file of another.
    fn resolve(&self, path: &str, from: &Type<'a>) -> Option<&Type<'a>> {
        let mut segments: Vec<&str> = path.split("::").collect();
        let name = *segments.last()?;
        let candidates = self.by_name.get(name)?;
        if segments.len() == 1 {
            let is_beside = |found: &&Type<'_>| found.path == from.path;
            if let Some(found) = candidates.iter().find(is_beside) {
                return Some(found);
            }
        }
        let imports = self.imports.get(from.path)?;
        // A name may come from a module that the file has a `mod` of: two steps.
        for _ in 0..2 {
            if let Some(import) = imports.path(segments[0]) {
                segments.splice(..1, import.iter().copied());
            }
        }
        let owner = match segments[0] {
            "crate" | "super" | "self" => from.owner.to_owned(),
            root if root.starts_with("fathom") => root.replace('_', "-"),
            _ => return None,
        };
        let in_crate = candidates.iter().filter(|found| found.owner == owner);
        // A type may lie below the module that passes it on, so the path that shares most modules is meant.
        in_crate.max_by_key(|found| {
            let modules = found
                .path
                .split('/')
                .map(|part| part.trim_end_matches(".rs"));
            modules.filter(|module| segments.contains(module)).count()
        })
    }
}

fn read_type<'a>(source: &'a Source<'a>, item: usize, body: usize) -> Option<Type<'a>> {
    static READS: LazyLock<Regex> =
        LazyLock::new(|| pattern::constant(r#"\b(?:try_from|from)\s*=\s*"(\w+)""#));
    let attributes = source.rust.preamble(item).attributes;
    let is_read = attributes
        .iter()
        .any(|attribute| attribute.starts_with("#[derive") && attribute.contains("Deserialize"));
    if !is_read {
        return None;
    }
    let serde = attributes
        .iter()
        .filter(|attribute| attribute.starts_with("#[serde"));
    let reads = serde.filter_map(|attribute| READS.captures(attribute)?.get(1));
    let end = source.rust.closing(body)?;
    Some(Type {
        path: source.path,
        owner: source.owner,
        text: source.rust.raw,
        reads: reads.map(|reads| reads.as_str()).next(),
        fields: fields(source, body + 1, end),
    })
}

/// The fields between two offsets, which commas outside of brackets part.
fn fields<'a>(source: &'a Source<'a>, start: usize, end: usize) -> Vec<Field<'a>> {
    let mut fields = Vec::new();
    let mut depth = 0_i32;
    let mut piece = start;
    for (offset, byte) in source.rust.code[start..end].bytes().enumerate() {
        match byte {
            b'<' | b'(' | b'[' | b'{' => depth += 1,
            b'>' | b')' | b']' | b'}' => depth -= 1,
            b',' if depth == 0 => {
                fields.extend(field(source, piece, start + offset));
                piece = start + offset + 1;
            }
            _ => {}
        }
    }
    fields.extend(field(source, piece, end));
    fields
}

fn field<'a>(source: &'a Source<'a>, start: usize, end: usize) -> Option<Field<'a>> {
    static FIELD: LazyLock<Regex> = LazyLock::new(|| {
        pattern::constant(r"(?s)(?:^|[\s\]])(?:pub(?:\([^)]*\))?\s+)?(?:r#)?(\w+):\s+(.+)$")
    });
    static RENAME: LazyLock<Regex> =
        LazyLock::new(|| pattern::constant(r#"\brename\s*=\s*"([^"]+)""#));
    let captures = FIELD.captures(&source.rust.code[start..end])?;
    let (name, type_name) = (captures.get(1)?, captures.get(2)?);
    let attributes = &source.rust.raw[start..start + name.start()];
    let has = |word: &str| {
        let mut serde = attributes.split("#[serde(").skip(1);
        serde.any(|rest| {
            rest.split(")]")
                .next()
                .is_some_and(|inside| inside.split(", ").any(|part| part == word))
        })
    };
    if has("skip") || has("skip_deserializing") {
        return None;
    }
    let renamed = RENAME
        .captures(attributes)
        .and_then(|captures| captures.get(1));
    Some(Field {
        key: renamed.unwrap_or(name).as_str().to_owned(),
        type_name: type_name.as_str().trim(),
        is_flat: has("flatten"),
        offset: start + name.start(),
    })
}

/// Every key of every file; a root that is not there is a finding.
pub(super) fn keys<'a>(
    roots: &[Root<'a>],
    types: &Types<'a>,
    findings: &mut Vec<Finding>,
) -> Vec<Key<'a>> {
    let mut keys = Vec::new();
    for root in roots {
        let names = root.name.split('|');
        let candidates = names.flat_map(|name| types.by_name.get(name).into_iter().flatten());
        let mut candidates =
            candidates.filter(|found| found.owner == root.owner && found.path.contains(root.place));
        let Some(found) = candidates.next() else {
            let message = format!(
                "no struct `{}` that serde reads is in `{}` of {}: write where it is now",
                root.name, root.place, root.owner
            );
            findings.push(Finding::new(ROOTS, root.line, message));
            continue;
        };
        let prefix = root.table.unwrap_or_default().to_owned();
        Walk {
            types,
            file: root.file,
            keys: &mut keys,
            above: Vec::new(),
        }
        .take(found, &prefix);
    }
    keys.sort_by(|a, b| (a.file, &a.name).cmp(&(b.file, &b.name)));
    keys.dedup_by(|a, b| a.file == b.file && a.name == b.name);
    keys
}

/// From a type down to its keys.
struct Walk<'w, 'a> {
    types: &'w Types<'a>,
    file: &'a str,
    keys: &'w mut Vec<Key<'a>>,
    /// Types that the walk is inside of: a seat has seats below it.
    above: Vec<*const Type<'a>>,
}

impl<'a> Walk<'_, 'a> {
    fn take(&mut self, found: &Type<'a>, prefix: &str) {
        self.above.push(std::ptr::from_ref(found));
        for field in &found.fields {
            let name = match prefix {
                _ if field.is_flat => prefix.to_owned(),
                "" => field.key.clone(),
                prefix => format!("{prefix}.{}", field.key),
            };
            self.follow(found, field, field.type_name, name);
        }
        self.above.pop();
    }

    fn follow(&mut self, found: &Type<'a>, field: &Field<'a>, type_name: &str, name: String) {
        if let Some((outer, inner)) = generic(type_name) {
            let is_map = matches!(outer, "BTreeMap" | "HashMap");
            let before = self.keys.len();
            let below = if is_map {
                format!("{name}.*")
            } else {
                name.clone()
            };
            self.follow(found, field, inner, below.clone());
            // A map of plain values is one key.
            if let [key] = &mut self.keys[before..]
                && key.name == below
            {
                key.name = name;
            }
            return;
        }
        let mut target = self.types.resolve(type_name, found);
        if let Some(stand_in) = target
            && let Some(reads) = stand_in.reads
        {
            target = self.types.resolve(reads, stand_in);
        }
        match target.filter(|target| !self.above.contains(&std::ptr::from_ref(*target))) {
            Some(target) => self.take(target, &name),
            None => self.keys.push(Key {
                file: self.file,
                name,
                path: found.path,
                text: found.text,
                offset: field.offset,
            }),
        }
    }
}

/// The name and the last argument of `Option<T>` or `BTreeMap<K, V>`.
fn generic(type_name: &str) -> Option<(&str, &str)> {
    let (outer, inside) = type_name.trim().strip_suffix('>')?.split_once('<')?;
    let mut depth = 0_i32;
    let last_comma = inside
        .char_indices()
        .filter(|(_, c)| {
            match c {
                '<' | '(' | '[' => depth += 1,
                '>' | ')' | ']' => depth -= 1,
                _ => {}
            }
            *c == ',' && depth == 0
        })
        .last();
    let last = last_comma.map_or(inside, |(at, _)| &inside[at + 1..]);
    let outer = outer.rsplit("::").next().unwrap_or(outer);
    Some((outer, last.trim()))
}

#[cfg(test)]
#[path = "declared_tests.rs"]
mod tests;
