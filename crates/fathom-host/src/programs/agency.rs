//! Prepares a run of the agency: the brand's folder, the charter's crew and the tools of a lane.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use fathom_core::contract::{AgentRole, Autonomy, Contract, PermissionMode, RecursionPolicy};
use fathom_core::model::ModelSet;
use fathom_programs::agency::{
    AgencyBlueprint, AgencyConfig, AgencyCrew, AgencyTool, CapsuleSource, CrewMember,
    PublishingLane,
};
use fathom_tools::{ToolFacts, ToolsFile};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use crate::charter::agency::LaneTools;
use crate::charter::{AgentFile, Charter, ModelProfile};
use crate::effects::run_gateway::TENANT;
use crate::error::HostError;

/// What a brand says of itself, for people and for tools.
const BRAND_FILE: &str = "brand.toml";
/// What a brand says of itself, in words.
const BRAND_TEXT: &str = "brand.md";
/// The folder of what a brand knows.
const KNOWLEDGE: &str = "knowledge";
/// Most bytes of what one capsule is made of.
const SOURCE_BYTES_MAX: u64 = 256 * 1024;
/// Most files of what a brand knows.
const FILES_MAX: usize = 200;
/// Digits of the hash that names an occasion.
const OCCASION_DIGITS: usize = 12;

/// A brand, as its folder says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrandFolder {
    /// Its name.
    pub name: String,
    /// Values for the places in a charter's tools.
    pub values: BTreeMap<String, String>,
    /// What capsules are made of.
    pub sources: Vec<CapsuleSource>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BrandFile {
    name: String,
    tenant: String,
    account: String,
    url: String,
}

impl BrandFolder {
    /// Reads a brand's folder. `settings` stand over what its file says.
    pub fn read(folder: &Path, settings: &BTreeMap<String, String>) -> Result<Self, HostError> {
        let path = folder.join(BRAND_FILE);
        let broken = |cause: String| HostError::Brand {
            path: path.clone(),
            cause,
        };
        let file: BrandFile =
            toml::from_str(&text(&path)?).map_err(|error| broken(error.to_string()))?;
        let mut values = BTreeMap::from([
            (TENANT.to_owned(), file.tenant),
            ("account".to_owned(), file.account),
            ("url".to_owned(), file.url),
        ]);
        for (name, value) in settings {
            match values.get_mut(name) {
                Some(place) => place.clone_from(value),
                None => return Err(broken(format!("unknown value `{name}`"))),
            }
        }
        let url = values
            .get("url")
            .map_or("", |url| url.trim_end_matches('/'));
        let host = url.split_once("://").map(|(_, rest)| rest.to_owned());
        let host = host.filter(|host| !host.is_empty() && !host.contains(['/', '@', '?', '#']));
        let host = host.ok_or_else(|| {
            broken("invalid `url`; expected e.g. `https://platform.example`".into())
        })?;
        let private = host.parse::<std::net::SocketAddr>().is_ok();
        let private = if private {
            host.clone()
        } else {
            "none".to_owned()
        };
        values.insert("private".to_owned(), private);
        values.insert("host".to_owned(), host);
        let brand = text(&folder.join(BRAND_TEXT))?;
        let sources = vec![
            source("brand", brand),
            source("knowledge", knowledge(&folder.join(KNOWLEDGE))?),
        ];
        Ok(Self {
            name: file.name,
            values,
            sources: sources
                .into_iter()
                .filter(|source| !source.text.trim().is_empty())
                .collect(),
        })
    }
}

fn source(kind: &str, text: String) -> CapsuleSource {
    CapsuleSource {
        kind: kind.to_owned(),
        digest: hex(text.as_bytes()),
        text,
    }
}

fn hex(bytes: &[u8]) -> String {
    fathom_core::id::Digest(Sha256::digest(bytes).into()).to_string()
}

/// The texts of a folder one after the other, in the order of their names. One that is not there holds nothing.
fn knowledge(folder: &Path) -> Result<String, HostError> {
    let unreadable = |cause: std::io::Error| HostError::Brand {
        path: folder.to_owned(),
        cause: cause.to_string(),
    };
    if !folder.is_dir() {
        return Ok(String::new());
    }
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)?.take(FILES_MAX) {
        let path = entry.map_err(unreadable)?.path();
        if path
            .extension()
            .is_some_and(|ends| ends == "md" || ends == "txt")
        {
            files.push(path);
        }
    }
    files.sort();
    let mut all = String::new();
    for file in files {
        all.push_str(text(&file)?.trim_end());
        all.push_str("\n\n");
    }
    Ok(all)
}

fn text(path: &Path) -> Result<String, HostError> {
    let broken = |cause: String| HostError::Brand {
        path: path.to_owned(),
        cause,
    };
    let file = fs::File::open(path).map_err(|error| broken(error.to_string()))?;
    let mut text = String::new();
    file.take(SOURCE_BYTES_MAX + 1)
        .read_to_string(&mut text)
        .map_err(|error| broken(error.to_string()))?;
    if text.len() as u64 > SOURCE_BYTES_MAX {
        return Err(broken(format!("the file exceeds {SOURCE_BYTES_MAX} bytes")));
    }
    Ok(text)
}

/// What is wanted of an agency.
#[derive(Clone, Debug)]
pub struct AgencyRequest<'a> {
    /// What is to be reached.
    pub goal: &'a str,
    /// For whom.
    pub brand: &'a BrandFolder,
    /// By which lane of the charter.
    pub lane: &'a str,
    /// What names the occasion; the goal where nothing does. An occasion is published once.
    pub occasion: Option<&'a str>,
    /// With which models.
    pub models: &'a ModelSet,
}

/// The program's parameters and the contract of its root.
pub fn prepare(
    charter: &Charter,
    commission: &AgencyRequest<'_>,
    base: Contract,
) -> Result<(AgencyConfig, Contract), HostError> {
    let missing = |what: String| HostError::NoAgency {
        name: charter.name.clone(),
        what,
    };
    let agency = charter
        .agency
        .as_ref()
        .ok_or_else(|| missing("[agency]".into()))?;
    let gate = charter
        .gate
        .as_ref()
        .ok_or_else(|| missing("tools.toml".into()))?;
    let lane = agency.lanes.get(commission.lane).ok_or_else(|| {
        let lanes: Vec<&str> = agency.lanes.keys().map(String::as_str).collect();
        missing(format!(
            "lane `{}` (expected one of {})",
            commission.lane,
            lanes.join(", ")
        ))
    })?;
    let brand = commission.brand;
    let values = brand.values.iter().map(|(k, v)| (k.as_str(), v.as_str()));
    let tools = gate
        .tools_with(values)
        .map_err(|error| missing(error.to_string()))?;
    let declared = ToolsFile::read(&tools).map_err(|error| missing(error.to_string()))?;
    let tenant = brand.values.get(TENANT).cloned().unwrap_or_default();
    let facts = declared.tools.into_iter().map(|tool| {
        let mut facts = tool.facts;
        facts.target.tenant.clone_from(&tenant);
        (facts.spec.name.clone(), facts)
    });
    let facts: BTreeMap<String, ToolFacts> = facts.collect();
    let crew = crew(charter).map_err(missing)?;
    let profile = ModelProfile::of(&commission.models.main);
    let rules = agency.rules(profile);
    let prompt = |id: &str| {
        charter
            .prompts
            .get(id)
            .map_or("", |prompt| &prompt.text)
            .to_owned()
    };
    let contract = contract(&crew, base);
    let params = AgencyConfig {
        brand: brand.name.clone(),
        occasion: occasion(commission),
        sources: brand.sources.clone(),
        blueprint: AgencyBlueprint {
            kind: agency.blueprint.clone(),
            instructions: prompt(&agency.blueprint),
            title_chars_max: rules.title_chars,
            text_chars_max: rules.text_chars,
        },
        rubric: prompt(&agency.rubric),
        reply_rubric: prompt(&agency.reply_rubric),
        lane: offers(commission.lane, lane, &facts).map_err(missing)?,
        provider: commission.models.main.id.clone(),
        limits: rules.limits,
        crew,
    };
    Ok((params, contract))
}

/// What names the occasion: what a person called it, or the brand and the goal. No model has a say in it.
fn occasion(commission: &AgencyRequest<'_>) -> String {
    let named = commission.occasion.unwrap_or(commission.goal);
    let mut digits = hex(format!("{}\n{named}", commission.brand.name).as_bytes());
    digits.truncate(OCCASION_DIGITS);
    format!("occasion-{digits}")
}

fn offers(
    name: &str,
    lane: &LaneTools,
    facts: &BTreeMap<String, ToolFacts>,
) -> Result<PublishingLane, String> {
    let offer = |tool: &String| {
        let facts = facts.get(tool).ok_or_else(|| format!("tool `{tool}`"))?;
        Ok::<AgencyTool, String>(AgencyTool {
            tool: tool.clone(),
            class: facts.class,
            target: facts.target.clone(),
        })
    };
    Ok(PublishingLane {
        name: name.to_owned(),
        publish: offer(&lane.publish)?,
        seen: offer(&lane.seen)?,
        feed: lane.feed.as_ref().map(offer).transpose()?,
        reply: lane.reply.as_ref().map(offer).transpose()?,
        replied: lane.replied.as_ref().map(offer).transpose()?,
    })
}

fn crew(charter: &Charter) -> Result<AgencyCrew, String> {
    let member = |role: AgentRole| {
        let agent = charter.agents.values().find(|agent| agent.role == role);
        agent
            .map(member)
            .ok_or_else(|| format!("agent with the role {role}"))
    };
    Ok(AgencyCrew {
        planner: member(AgentRole::Planner)?,
        creator: member(AgentRole::Creator)?,
        publisher: member(AgentRole::Publisher)?,
        engagement: member(AgentRole::Engagement)?,
        verifier: member(AgentRole::Verifier)?,
        doc: member(AgentRole::Doc)?,
        orchestrator: member(AgentRole::Orchestrator)?,
    })
}

fn member(agent: &AgentFile) -> CrewMember {
    CrewMember {
        prompt: agent.prompt.clone(),
        allowed_tools: agent.allowed_tools.clone(),
        read_scopes: agent.read_scopes.clone(),
        write_scopes: agent.write_scopes.clone(),
        permission_mode: agent.permission_mode,
        autonomy: agent.autonomy,
    }
}

/// The root's contract: it passes on what its crew may do, and its role keeps it from doing any of it.
fn contract(crew: &AgencyCrew, base: Contract) -> Contract {
    let members = [
        &crew.planner,
        &crew.creator,
        &crew.publisher,
        &crew.engagement,
        &crew.verifier,
        &crew.doc,
        &crew.orchestrator,
    ];
    let all = |of: fn(&CrewMember) -> &Vec<String>| {
        let mut names: Vec<String> = members
            .iter()
            .flat_map(|member| of(member).clone())
            .collect();
        names.sort();
        names.dedup();
        names
    };
    Contract {
        recursion: RecursionPolicy { ..base.recursion },
        allowed_tools: all(|member| &member.allowed_tools),
        read_scopes: all(|member| &member.read_scopes),
        write_scopes: all(|member| &member.write_scopes),
        permission_mode: PermissionMode::Act,
        autonomy: members
            .iter()
            .map(|member| member.autonomy)
            .max()
            .unwrap_or(Autonomy::Suggest),
    }
}
