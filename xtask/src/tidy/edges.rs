//! Which crate may depend on which.
//!
//! core ← programs ← host ← facade ← server ← cli, and core ← adapters ← host. An arrow may skip layers,
//! never turn round. The binary offers the server's `serve`, so cli stands above server. What the two
//! need of the layers below the facade they get from the facade; what they still take past it is counted.

use anyhow::Context;
use serde_json::Value;

use super::Checked;
use crate::finding::Finding;
use crate::ratchet::Violation;
use crate::tree::{self, Tree};

/// What would bring IO, time or chance into the pure core.
const IMPURE: [&str; 5] = ["tokio", "rand", "getrandom", "reqwest", "rusqlite"];

/// The crates whose doubles testkit offers.
const TESTKIT_USES: [&str; 5] = [
    "fathom-core",
    "fathom-programs",
    "fathom-store",
    "fathom-models",
    "fathom-host",
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Layer {
    Core,
    Programs,
    Adapter,
    Host,
    Facade,
    Server,
    Cli,
    Testkit,
    Xtask,
}

fn layer(name: &str) -> Option<Layer> {
    Some(match name {
        "fathom-core" => Layer::Core,
        "fathom-store" | "fathom-models" | "fathom-local" | "fathom-material"
        | "fathom-sandbox" | "fathom-gateway" | "fathom-tools" | "fathom-output" => Layer::Adapter,
        "fathom-programs" => Layer::Programs,
        "fathom-host" => Layer::Host,
        "fathom" => Layer::Facade,
        "fathom-server" => Layer::Server,
        "fathom-cli" => Layer::Cli,
        "fathom-testkit" => Layer::Testkit,
        "xtask" => Layer::Xtask,
        _ => return None,
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Normal and build dependencies: part of what is shipped.
    Shipped,
    Dev,
}

struct Edge<'a> {
    owner: &'a str,
    target: &'a str,
    kind: Kind,
}

/// Checks the output of `cargo metadata --no-deps`; the tree lends the manifests' lines.
pub(super) fn check(metadata: &str, tree: &Tree) -> anyhow::Result<Checked> {
    let metadata: Value = serde_json::from_str(metadata).context("cargo's metadata is no JSON")?;
    let top = text(&metadata, "workspace_root")?;
    let packages = list(&metadata, "packages")?;
    let names: Vec<&str> = packages
        .iter()
        .map(|package| text(package, "name"))
        .collect::<anyhow::Result<_>>()?;
    let mut checked = Checked::default();
    for package in packages {
        let owner = text(package, "name")?;
        let manifest = text(package, "manifest_path")?;
        let manifest = manifest
            .strip_prefix(top)
            .unwrap_or(manifest)
            .trim_start_matches('/');
        checked.findings.extend(check_place(owner, manifest));
        for dependency in list(package, "dependencies")? {
            let edge = Edge {
                owner,
                target: text(dependency, "name")?,
                kind: match dependency.get("kind").and_then(Value::as_str) {
                    Some("dev") => Kind::Dev,
                    _ => Kind::Shipped,
                },
            };
            let finding = |message| {
                let line = line_of_dependency(tree.text(manifest), &edge);
                Finding::new(manifest, line, message)
            };
            if let Some(message) = refusal(&edge, &names) {
                checked.findings.push(finding(message));
            } else if passes_facade(&edge, &names) {
                let message = format!("`{owner}` uses `{}` past the facade `fathom`", edge.target);
                let key = format!("{owner}/{}", edge.target);
                checked
                    .violations
                    .push(Violation::new("past-facade", key, finding(message)));
            }
        }
    }
    Ok(checked)
}

/// Whether the binary or the server ships something of below the facade that it did not get from there.
fn passes_facade(edge: &Edge<'_>, workspace: &[&str]) -> bool {
    let is_above = matches!(layer(edge.owner), Some(Layer::Server | Layer::Cli));
    let is_below = matches!(
        layer(edge.target),
        Some(Layer::Core | Layer::Programs | Layer::Adapter | Layer::Host)
    );
    is_above && is_below && edge.kind == Kind::Shipped && workspace.contains(&edge.target)
}

/// A crate has a layer, and its folder has its name.
fn check_place(name: &str, manifest: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    if layer(name).is_none() {
        let message =
            format!("`{name}` has no place in the layers: give it one in xtask's edges.rs");
        findings.push(Finding::whole(manifest, message));
    }
    if tree::file_name(tree::folder(manifest)) != name {
        findings.push(Finding::whole(
            manifest,
            format!("the folder of `{name}` has another name"),
        ));
    }
    findings
}

/// Why an edge must not be, or nothing.
fn refusal(edge: &Edge<'_>, workspace: &[&str]) -> Option<String> {
    let Edge {
        owner,
        target,
        kind,
    } = *edge;
    if !workspace.contains(&target) {
        let is_pure = matches!(layer(owner), Some(Layer::Core | Layer::Programs));
        let impure = is_pure && kind == Kind::Shipped && IMPURE.contains(&target);
        return impure.then(|| {
            format!("core and programs are pure: `{target}` belongs in an adapter or the host")
        });
    }
    let (from, to) = (layer(owner)?, layer(target)?);
    if to == Layer::Testkit && kind == Kind::Shipped {
        return Some(format!(
            "`{owner}` ships `{target}`: testkit is a dev-dependency only"
        ));
    }
    let allowed = match from {
        _ if to == Layer::Testkit => from != Layer::Testkit,
        Layer::Core => false,
        Layer::Programs | Layer::Adapter => to == Layer::Core,
        Layer::Host => matches!(to, Layer::Core | Layer::Programs | Layer::Adapter),
        Layer::Facade => matches!(
            to,
            Layer::Core | Layer::Programs | Layer::Adapter | Layer::Host
        ),
        Layer::Server => !matches!(to, Layer::Server | Layer::Cli | Layer::Xtask),
        Layer::Cli => !matches!(to, Layer::Cli | Layer::Xtask),
        Layer::Testkit => TESTKIT_USES.contains(&target),
        Layer::Xtask => true,
    };
    (!allowed).then(|| match (from, to) {
        (Layer::Adapter, Layer::Adapter) => {
            format!("`{owner}` uses `{target}`: adapters meet in the host only")
        }
        _ => format!("`{owner}` uses `{target}`, against the direction of the layers"),
    })
}

/// The line of the manifest that names the dependency, under the right table.
fn line_of_dependency(manifest: Option<&str>, edge: &Edge<'_>) -> usize {
    let mut in_dev = false;
    for (index, line) in manifest.unwrap_or_default().lines().enumerate() {
        if line.starts_with('[') {
            in_dev = line.contains("dev-dependencies");
        }
        let names_it = line
            .trim_start_matches(['[', '"'])
            .split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_'))
            .any(|word| word == edge.target);
        if names_it && in_dev == (edge.kind == Kind::Dev) && !line.starts_with("name") {
            return index + 1;
        }
    }
    1
}

fn text<'a>(value: &'a Value, key: &str) -> anyhow::Result<&'a str> {
    let found = value.get(key).and_then(Value::as_str);
    found.with_context(|| format!("cargo's metadata has no `{key}`"))
}

fn list<'a>(value: &'a Value, key: &str) -> anyhow::Result<&'a Vec<Value>> {
    let found = value.get(key).and_then(Value::as_array);
    found.with_context(|| format!("cargo's metadata has no `{key}`"))
}

#[cfg(test)]
#[path = "edges_tests.rs"]
mod tests;
