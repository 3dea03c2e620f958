//! Charters: folders that configure a run, read strictly.
//!
//! [`Charter::find`] takes what a user said, a name or a path. [`check`] tells all that is wrong with a charter at
//! once, each with file, line, column, code and hint; [`Charter::load`] wants nothing to be wrong.
//!
//! Absences: no file outside the charter's folder is read, no text of a charter becomes a path, and no key to a
//! model's server stands in one, only the name of the variable that holds it.

pub mod agency;
mod agent_files;
pub mod built_in;
pub mod council;
mod deprecated;
mod error;
mod findings;
mod folder;
mod front_matter;
mod identity_persona;
mod instructions;
pub mod limits;
mod manifest;
mod models;
mod of_run;
pub mod phases;
mod problem;
mod routes;
mod run_frame;
mod starter;
mod strict_toml;
pub mod tool_policies;
mod version;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use fathom_core::contract::RecursionPolicy;
use fathom_core::model::{ModelSet, ModelSpec};
use fathom_programs::{direct, stages};
use serde::{Deserialize, Serialize};

pub use agency::AgencyCharter;
pub use agent_files::{AgentFile, PromptFile};
pub use council::{BallotRules, ComplexityJudge, CouncilCharter, LEARNED_FILE, ModelProfile};
pub use error::CharterError;
pub use findings::{Finding, SourceLocation};
pub(crate) use identity_persona::{IDENTITY_FILE, without_signature};
pub use identity_persona::{IdentitySignatureText, IdentityText, PersonaLayer, PersonaText};
pub use instructions::{INITIAL, InstructionStage, StageInstruction};
pub use manifest::{CommandRouter, PacketMtu, PacketSections};
pub use models::{CouncilRole, ModelRoles};
pub use phases::PhasesCharter;
pub use problem::CharterProblem;
pub use routes::ChannelRoutes;
pub(crate) use run_frame::charter_files;
pub use starter::{WrittenCharter, write};
pub use tool_policies::{PlaceholderError, ToolPolicies};
pub use version::{CharterVersion, PROTOCOL, VersionError};

use crate::config::PartialBudget;
use crate::learning;
use agent_files::MarkdownShelf;
use findings::FindingList;
use folder::CharterFiles;

/// Counts the tokens of a text.
pub type CountTokens<'a> = &'a dyn Fn(&str) -> u64;

/// The charter of a run for which none is named.
pub const DEFAULT: &str = "default";

/// The folder of a home that holds charters by name.
pub const HOME_FOLDER: &str = "charters";

/// A charter, checked: what a run needs of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Charter {
    /// Version of the protocol it is written for.
    pub protocol: CharterVersion,
    pub name: String,
    /// Its own version.
    pub version: CharterVersion,
    /// Purpose of the charter.
    pub description: String,
    /// Maximum packet size.
    pub mtu: PacketMtu,
    /// Shares of the sections of a phase loop's packet.
    pub sections: PacketSections,
    pub identity: IdentityText,
    pub persona: PersonaText,
    /// The registry of task instructions; empty, or with the five initial ones.
    pub instructions: BTreeMap<String, StageInstruction>,
    /// Agents by their ids.
    pub agents: BTreeMap<String, AgentFile>,
    /// Texts by their ids.
    pub prompts: BTreeMap<String, PromptFile>,
    /// Models of the council's roles, as they are written; [`Charter::model`] is the one to ask.
    pub roles: ModelRoles<Option<ModelSpec>>,
    /// Programs by the command that starts them.
    pub router: CommandRouter,
    /// Parts of the budget.
    pub budget: PartialBudget,
    /// Parts of the budget for one idea that is come back to in an idle moment.
    #[serde(default, skip_serializing_if = "PartialBudget::is_empty")]
    pub initiative: PartialBudget,
    /// The recursion policy.
    pub recursion: Option<RecursionPolicy>,
    /// Parameters of `direct`.
    pub direct: Option<direct::DirectConfig>,
    pub council: Option<CouncilCharter>,
    /// The phase loop.
    pub phases: Option<PhasesCharter>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agency: Option<AgencyCharter>,
    /// Settings for staged thinking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stages: Option<stages::StagesConfig>,
    /// Destinations of blocks by marker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub routes: Option<ChannelRoutes>,
    /// Tools and policies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<ToolPolicies>,
    /// The folder it was read from; a built-in one has none.
    #[serde(skip)]
    pub folder: Option<PathBuf>,
    /// Findings that do not prevent its use.
    #[serde(skip)]
    pub warnings: Vec<Finding>,
}

/// Result of checking a charter.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckReport {
    /// The charter, when nothing is wrong.
    pub charter: Option<Charter>,
    /// Findings that prevent its use.
    pub problems: Vec<Finding>,
    /// Findings that do not prevent its use.
    pub warnings: Vec<Finding>,
}

impl CheckReport {
    /// The charter, or everything that is wrong with what was called `said`.
    fn charter(self, said: impl Into<String>) -> Result<Charter, CharterError> {
        self.charter.ok_or_else(|| CharterError::Broken {
            said: said.into(),
            problems: self.problems,
        })
    }
}

/// Meaning of the name or path that a user gave for a charter.
#[derive(Clone, Debug, PartialEq, Eq)]
enum CharterRef {
    BuiltIn(CharterFiles),
    Folder(PathBuf),
}

/// Checks what a user calls `said`: a built-in name, the path of a folder as seen from `base`, or the name of a folder
/// among the charters of `home`.
pub fn check(
    said: &str,
    base: &Path,
    home: &Path,
    count: CountTokens<'_>,
) -> Result<CheckReport, CharterError> {
    match meant(said, base, home)? {
        CharterRef::BuiltIn(files) => Ok(check_files(&files, FindingList::default(), count)),
        CharterRef::Folder(folder) => check_folder(&folder, count),
    }
}

fn meant(said: &str, base: &Path, home: &Path) -> Result<CharterRef, CharterError> {
    // Built-in names win over folders, so that a folder in some checkout cannot pose as `default`.
    if let Some(files) = built_in::files(said) {
        return Ok(CharterRef::BuiltIn(files));
    }
    let given = base.join(said);
    if !said.is_empty() && given.is_dir() {
        return Ok(CharterRef::Folder(given));
    }
    // What follows is a name, and a name never leads out of the home.
    let folder = home.join(HOME_FOLDER);
    if !manifest::is_slug(said) {
        return Err(CharterError::BadName {
            said: said.to_owned(),
            why: "no such folder, and a name must not contain `/`, `.` or capital letters",
        });
    }
    let named = folder.join(said);
    if named.is_dir() {
        Ok(CharterRef::Folder(named))
    } else {
        Err(CharterError::NotFound {
            said: said.to_owned(),
            folder: Some(folder),
        })
    }
}

fn read_folder(folder: &Path, findings: &mut FindingList) -> Result<CharterFiles, CharterError> {
    folder::read(folder, findings).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => CharterError::NotFound {
            said: folder.display().to_string(),
            folder: None,
        },
        _ => CharterError::Unreadable {
            folder: folder.to_owned(),
            source,
        },
    })
}

fn check_folder(folder: &Path, count: CountTokens<'_>) -> Result<CheckReport, CharterError> {
    let mut findings = FindingList::default();
    let files = read_folder(folder, &mut findings)?;
    let mut checked = check_files(&files, findings, count);
    if let Some(charter) = &mut checked.charter {
        charter.folder = Some(folder.to_owned());
    }
    Ok(checked)
}

fn check_files(
    files: &CharterFiles,
    mut findings: FindingList,
    count: CountTokens<'_>,
) -> CheckReport {
    let charter = assemble(files, count, &mut findings);
    let FindingList {
        mut problems,
        warnings,
    } = findings;
    problems.sort_by_key(Finding::order);
    // A charter with a problem is never used, not even for the parts that are fine.
    let charter = charter.filter(|_| problems.is_empty());
    let charter = charter.map(|charter| Charter {
        warnings: warnings.clone(),
        ..charter
    });
    CheckReport {
        charter,
        problems,
        warnings,
    }
}

/// Reads every file, whatever the others say.
fn assemble(
    files: &CharterFiles,
    count: CountTokens<'_>,
    findings: &mut FindingList,
) -> Option<Charter> {
    if !files.contains_key(manifest::FILE) {
        let file = manifest::FILE;
        findings.problem(file, None, CharterProblem::MissingFile { file });
    }
    let mut manifest: Option<manifest::CharterManifest> = None;
    let mut identity = IdentityText::default();
    let mut persona = PersonaText::default();
    let mut instructions = BTreeMap::new();
    let mut agents = MarkdownShelf::new();
    let mut prompts = MarkdownShelf::new();
    let mut learned = None;
    let mut phase_files = phases::PhaseFiles::new();
    let mut gate_files = tool_policies::GateFiles::default();
    for (file, content) in files {
        let content = content.as_deref();
        let Some(text) = content.and_then(|bytes| text(file, bytes, findings)) else {
            continue;
        };
        match file.as_str() {
            manifest::FILE => manifest = manifest::read(text, findings),
            // Files come in the order of their names, so the charter's is known, and then the identity.
            identity_persona::IDENTITY_FILE => {
                let charter = manifest.as_ref().map(|read| read.name.as_str());
                identity = identity_persona::identity(text, charter, findings);
            }
            identity_persona::PERSONA_FILE => {
                persona = identity_persona::persona(text, &identity, findings);
            }
            instructions::FILE => instructions = instructions::read(text, count, findings),
            council::LEARNED_FILE => match learning::read(text) {
                Ok(rule) => learned = Some(rule),
                Err(error) => findings.problem(file, None, CharterProblem::NotLearned(error)),
            },
            file if phase_files.take(file, text, findings) => {}
            file if gate_files.take(file, text) => {}
            file if file.starts_with(folder::AGENTS) => {
                let _ = agent_files::agent(file, text, &mut agents, findings);
            }
            file => {
                let _ = agent_files::prompt(file, text, &mut prompts, findings);
            }
        }
    }
    // Every other file was read before this, so that one check reports the problems of all files.
    let mut manifest = manifest?;
    if let Some(council) = &mut manifest.council {
        council.learn(learned, findings);
    }
    phase_files.join(&mut manifest.phases, findings);
    let gate = gate_files.read(findings);
    let prompts = prompts.into_things();
    if let Some(agency) = &manifest.agency {
        agency.check(gate.as_ref(), &prompts, findings);
    }
    warn_about_length(manifest.mtu, &identity, &persona, count, findings);
    Some(Charter {
        protocol: manifest.protocol,
        name: manifest.name,
        version: manifest.version,
        description: manifest.description,
        mtu: manifest.mtu,
        sections: manifest.sections,
        identity,
        persona,
        instructions,
        agents: agents.into_things(),
        prompts,
        roles: manifest.roles,
        router: manifest.router,
        budget: manifest.budget,
        initiative: manifest.initiative,
        recursion: manifest.recursion,
        direct: manifest.direct,
        council: manifest.council,
        phases: manifest.phases,
        agency: manifest.agency,
        stages: manifest.stages,
        routes: manifest.routes,
        gate,
        folder: None,
        warnings: Vec::new(),
    })
}

fn text<'a>(file: &str, bytes: &'a [u8], findings: &mut FindingList) -> Option<&'a str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(error) => {
            // The place is counted in the part that is text, since an editor counts characters, too.
            let good = bytes.get(..error.valid_up_to()).unwrap_or_default();
            let good = String::from_utf8_lossy(good);
            let place = strict_toml::place(&good, good.len()..good.len());
            findings.problem(file, Some(place), CharterProblem::NotText);
            None
        }
    }
}

/// Identity and persona that no packet takes whole are shortened in each, which costs something every time.
fn warn_about_length(
    mtu: PacketMtu,
    identity: &IdentityText,
    persona: &PersonaText,
    count: CountTokens<'_>,
    findings: &mut FindingList,
) {
    let identity_tokens = count(&identity.text());
    let texts = [
        (
            identity_persona::IDENTITY_FILE,
            "the identity",
            identity_tokens,
            mtu.identity_tokens_max(),
        ),
        (
            identity_persona::PERSONA_FILE,
            "the persona",
            count(&persona.text()),
            mtu.persona_tokens_max(identity_tokens),
        ),
    ];
    for (file, what, tokens, tokens_max) in texts {
        if tokens > tokens_max {
            let flaw = CharterProblem::WillBeShortened {
                what,
                tokens,
                tokens_max,
            };
            findings.warning(file, None, flaw);
        }
    }
}

impl Charter {
    /// A charter that comes with the program.
    pub fn built_in(name: &str) -> Result<Self, CharterError> {
        let files = built_in::files(name).ok_or_else(|| CharterError::NotFound {
            said: name.to_owned(),
            folder: None,
        })?;
        // Its texts are counted by a test, so that no start has to.
        check_files(&files, FindingList::default(), &|_| 0).charter(name)
    }

    /// Reads the charter in a folder.
    pub fn load(folder: &Path, count: CountTokens<'_>) -> Result<Self, CharterError> {
        check_folder(folder, count)?.charter(folder.display().to_string())
    }

    /// Reads what a user calls `said`: a built-in name, the path of a folder as seen from `base`, or the name of a
    /// folder among the charters of `home`.
    pub fn find(
        said: &str,
        base: &Path,
        home: &Path,
        count: CountTokens<'_>,
    ) -> Result<Self, CharterError> {
        match meant(said, base, home)? {
            CharterRef::BuiltIn(_) => Self::built_in(said),
            CharterRef::Folder(folder) => check_folder(&folder, count)?.charter(said),
        }
    }

    /// The model of a role, if the charter names one. Paths of scripts are relative to the charter's folder.
    pub fn model(&self, role: CouncilRole) -> Option<ModelSpec> {
        let mut spec = self.roles.get(role).clone()?;
        if let (Some(folder), Some(file)) = (&self.folder, spec.id.strip_prefix("script/")) {
            spec.id = format!("script/{}", folder.join(file).display());
        }
        Some(spec)
    }

    /// The run's models, with the charter's in their roles.
    pub fn cast(&self, models: ModelSet) -> ModelSet {
        ModelSet {
            prime: self.model(CouncilRole::Prime),
            lite: self.model(CouncilRole::Lite),
            code_mind: self.model(CouncilRole::CodeMind),
            ..models
        }
    }
}

#[cfg(test)]
#[path = "charter_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "broken_tests.rs"]
mod broken;

#[cfg(test)]
#[path = "folder_tests.rs"]
mod folders;

#[cfg(test)]
#[path = "heads_tests.rs"]
mod heads;
