//! Which crate may depend on which.
//!
//! core ← adapters ← host ← server ← cli. An arrow may skip layers, never turn round. The binary
//! offers the server's `serve`, so cli stands above server.

use anyhow::Context;
use serde_json::Value;

use crate::finding::Finding;
use crate::tree::{self, Tree};

/// What would bring IO, time or chance into the pure core.
const IMPURE: [&str; 5] = ["tokio", "rand", "getrandom", "reqwest", "rusqlite"];

/// The crates whose doubles testkit offers.
const TESTKIT_USES: [&str; 4] = [
    "fathom-core",
    "fathom-store",
    "fathom-models",
    "fathom-host",
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Layer {
    Core,
    Adapter,
    Host,
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
        "fathom-host" => Layer::Host,
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
pub(super) fn check(metadata: &str, tree: &Tree) -> anyhow::Result<Vec<Finding>> {
    let metadata: Value = serde_json::from_str(metadata).context("cargo's metadata is no JSON")?;
    let top = text(&metadata, "workspace_root")?;
    let packages = list(&metadata, "packages")?;
    let names: Vec<&str> = packages
        .iter()
        .map(|package| text(package, "name"))
        .collect::<anyhow::Result<_>>()?;
    let mut findings = Vec::new();
    for package in packages {
        let owner = text(package, "name")?;
        let manifest = text(package, "manifest_path")?;
        let manifest = manifest
            .strip_prefix(top)
            .unwrap_or(manifest)
            .trim_start_matches('/');
        findings.extend(check_place(owner, manifest));
        for dependency in list(package, "dependencies")? {
            let edge = Edge {
                owner,
                target: text(dependency, "name")?,
                kind: match dependency.get("kind").and_then(Value::as_str) {
                    Some("dev") => Kind::Dev,
                    _ => Kind::Shipped,
                },
            };
            if let Some(message) = refusal(&edge, &names) {
                let line = line_of_dependency(tree.text(manifest), &edge);
                findings.push(Finding::new(manifest, line, message));
            }
        }
    }
    Ok(findings)
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
        let impure = owner == "fathom-core" && kind == Kind::Shipped && IMPURE.contains(&target);
        return impure
            .then(|| format!("the core is pure: `{target}` belongs in an adapter or the host"));
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
        Layer::Adapter => to == Layer::Core,
        Layer::Host => matches!(to, Layer::Core | Layer::Adapter),
        Layer::Server => matches!(to, Layer::Core | Layer::Adapter | Layer::Host),
        Layer::Cli => matches!(
            to,
            Layer::Core | Layer::Adapter | Layer::Host | Layer::Server
        ),
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
