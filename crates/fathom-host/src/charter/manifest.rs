//! `charter.toml`: what the charter is, which models its roles have, and how runs are bounded.

use fathom_core::contract::RecursionPolicy;
use fathom_core::model::ModelSpec;
use fathom_core::packet::{HeaderField, HeaderLimits};
use fathom_programs::{council, direct, phases, stages, tools_loop};
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::agency::{AgencyCharter, AgencyTable};
use super::council::{CouncilCharter, CouncilTable, RunBounds};
use super::findings::FindingList;
use super::limits::{self, MTU_TOKENS_MAX, MTU_TOKENS_MIN};
use super::models::{ModelRoles, RoleTables};
use super::phases::{PhasesCharter, PhasesTable};
use super::problem::CharterProblem;
use super::routes::{ChannelRoutes, RoutesTable};
use super::strict_toml::{CharterSource, ParsedSource, unknown_word};
use super::version::{CharterVersion, PROTOCOL};
use crate::config::limit_tables::{BudgetTable, RecursionTable};
use crate::config::{BUDGET, PartialBudget, default_policy};

/// The file's name.
pub(super) const FILE: &str = "charter.toml";

/// Programs that a router may name.
const PROGRAMS: [&str; 3] = [direct::NAME, council::NAME, tools_loop::NAME];

/// Maximum packet size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "MtuRecord", try_from = "MtuRecord")]
pub enum PacketMtu {
    /// As large as the model's window less the output cap.
    #[default]
    Window,
    /// A fixed number of tokens.
    Tokens(u64),
}

impl PacketMtu {
    /// Maximum tokens of an identity that a packet takes whole, if the window is not known.
    pub fn identity_tokens_max(self) -> u64 {
        self.limits().of(HeaderField::Identity, 0)
    }

    /// Maximum tokens of a persona that a packet takes whole beside an identity of `identity_tokens`.
    pub fn persona_tokens_max(self, identity_tokens: u64) -> u64 {
        let identity = identity_tokens.min(self.identity_tokens_max());
        self.limits().of(HeaderField::Persona, identity)
    }

    const fn limits(self) -> HeaderLimits {
        // The window is not known before a model is chosen, so lengths are checked against no limit but the header's
        // own.
        let mtu_tokens = match self {
            Self::Window => u64::MAX,
            Self::Tokens(tokens) => tokens,
        };
        HeaderLimits { mtu_tokens }
    }
}

/// The word for a packet as large as the window.
const WINDOW: &str = "window";

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum MtuRecord {
    Tokens(u64),
    Word(String),
}

impl From<PacketMtu> for MtuRecord {
    fn from(mtu: PacketMtu) -> Self {
        match mtu {
            PacketMtu::Window => Self::Word(WINDOW.to_owned()),
            PacketMtu::Tokens(tokens) => Self::Tokens(tokens),
        }
    }
}

impl TryFrom<MtuRecord> for PacketMtu {
    type Error = &'static str;

    fn try_from(record: MtuRecord) -> Result<Self, &'static str> {
        match record {
            MtuRecord::Tokens(tokens) => Ok(Self::Tokens(tokens)),
            MtuRecord::Word(word) if word == WINDOW => Ok(Self::Window),
            MtuRecord::Word(_) => Err("expected a number of tokens or \"window\""),
        }
    }
}

/// Shares of the sections of a phase loop's packet in the room that is left, in thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PacketSections {
    /// The agent roster.
    pub agents_milli: u16,
    /// The symbol ledger.
    pub symbols_milli: u16,
    /// Recent history.
    pub history_milli: u16,
}

impl Default for PacketSections {
    fn default() -> Self {
        Self {
            agents_milli: 200,
            symbols_milli: 500,
            history_milli: 300,
        }
    }
}

/// Programs by the command that starts them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandRouter {
    /// The program of `fathom ask`.
    pub ask: String,
    /// The program of `fathom council`.
    pub council: String,
    /// The program of `fathom phases`.
    pub phases: String,
}

impl Default for CommandRouter {
    fn default() -> Self {
        Self {
            ask: direct::NAME.to_owned(),
            council: council::NAME.to_owned(),
            phases: phases::NAME.to_owned(),
        }
    }
}

/// Checked contents of `charter.toml`.
#[derive(Clone, Debug)]
pub(super) struct CharterManifest {
    pub(super) protocol: CharterVersion,
    pub(super) name: String,
    pub(super) description: String,
    pub(super) version: CharterVersion,
    pub(super) mtu: PacketMtu,
    pub(super) sections: PacketSections,
    pub(super) roles: ModelRoles<Option<ModelSpec>>,
    pub(super) router: CommandRouter,
    pub(super) budget: PartialBudget,
    pub(super) initiative: PartialBudget,
    pub(super) recursion: Option<RecursionPolicy>,
    pub(super) direct: Option<direct::DirectConfig>,
    pub(super) council: Option<CouncilCharter>,
    pub(super) phases: Option<PhasesCharter>,
    pub(super) agency: Option<AgencyCharter>,
    pub(super) stages: Option<stages::StagesConfig>,
    pub(super) routes: Option<ChannelRoutes>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct ManifestFile {
    protocol: Option<Spanned<String>>,
    name: Option<Spanned<String>>,
    description: Option<Spanned<String>>,
    version: Option<Spanned<String>>,
    packet: PacketTable,
    roles: RoleTables,
    router: RouterTable,
    budget: BudgetTable,
    initiative: BudgetTable,
    recursion: Option<RecursionTable>,
    direct: Option<direct::DirectConfig>,
    council: Option<Spanned<CouncilTable>>,
    phases: Option<PhasesTable>,
    agency: Option<AgencyTable>,
    stages: Option<stages::StagesConfig>,
    routes: Option<RoutesTable>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct PacketTable {
    mtu: Option<Spanned<toml::Value>>,
    sections: Option<Spanned<SectionsTable>>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct SectionsTable {
    agents: Option<Spanned<f64>>,
    symbols: Option<Spanned<f64>>,
    history: Option<Spanned<f64>>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct RouterTable {
    ask: Option<Spanned<String>>,
    council: Option<Spanned<String>>,
    phases: Option<Spanned<String>>,
}

/// Reads the file. Where something is wrong, `findings` says so and a usual value stands in its place.
pub(super) fn read(text: &str, findings: &mut FindingList) -> Option<CharterManifest> {
    let source = CharterSource::whole(FILE, text);
    let read = source.read::<ManifestFile>(findings)?;
    complain_about_missing(&source, &read, findings);
    let ParsedSource {
        value: file,
        dropped,
    } = read;
    let mut wrong = Vec::new();
    let budget = file.budget.part(&mut wrong);
    let initiative = file.initiative.part(&mut wrong);
    let table = file.recursion;
    let recursion = table.clone().map(|table| table.policy(&mut wrong));
    source.all_wrong(wrong, findings);
    let has_council = file.council.is_some() || dropped.has("council");
    let council = file.council.map(|said| {
        let bounds = RunBounds {
            policy: &recursion.clone().unwrap_or_else(default_policy),
            table: table.as_ref(),
            budget: budget.over(BUDGET),
        };
        super::council::read(said, &bounds, &source, &dropped, findings)
    });
    Some(CharterManifest {
        protocol: protocol(&source, file.protocol.as_ref(), findings),
        name: name(&source, file.name.as_ref(), findings),
        description: description(&source, file.description.as_ref(), findings),
        version: version(&source, "version", file.version.as_ref(), findings).unwrap_or(PROTOCOL),
        mtu: mtu(&source, file.packet.mtu.as_ref(), findings),
        sections: sections(&source, file.packet.sections.as_ref(), findings),
        roles: file.roles.read(&source, &dropped, findings),
        router: router(&source, file.router, has_council, findings),
        budget,
        initiative,
        recursion,
        direct: file.direct,
        council,
        phases: file
            .phases
            .map(|table| super::phases::read(table, &source, findings)),
        agency: file
            .agency
            .map(|table| super::agency::read(table, &source, findings)),
        stages: file.stages,
        routes: file
            .routes
            .map(|table| super::routes::read(table, &source, findings)),
    })
}

fn complain_about_missing(
    source: &CharterSource<'_>,
    read: &ParsedSource<ManifestFile>,
    findings: &mut FindingList,
) {
    let file = &read.value;
    let needed = [
        ("protocol", file.protocol.is_some(), "protocol = \"1.0.0\""),
        ("name", file.name.is_some(), "name = \"my-charter\""),
        ("version", file.version.is_some(), "version = \"0.1.0\""),
    ];
    for (key, is_there, example) in needed {
        if !is_there && !read.dropped.has(key) {
            let key = key.to_owned();
            source.problem(None, CharterProblem::MissingKey { key, example }, findings);
        }
    }
}

fn version(
    source: &CharterSource<'_>,
    key: &str,
    said: Option<&Spanned<String>>,
    findings: &mut FindingList,
) -> Option<CharterVersion> {
    let said = said?;
    match said.get_ref().parse() {
        Ok(version) => Some(version),
        Err(no_version) => {
            source.bad(key, said, no_version.to_string(), findings);
            None
        }
    }
}

fn protocol(
    source: &CharterSource<'_>,
    said: Option<&Spanned<String>>,
    findings: &mut FindingList,
) -> CharterVersion {
    let Some(version) = version(source, "protocol", said, findings) else {
        return PROTOCOL;
    };
    let span = said.map(Spanned::span);
    if version.major != PROTOCOL.major {
        source.problem(
            span.as_ref(),
            CharterProblem::OtherMajor { said: version },
            findings,
        );
    } else if version.minor > PROTOCOL.minor {
        let place = span.map(|span| source.place(&span));
        findings.warning(FILE, place, CharterProblem::NewerMinor { said: version });
    }
    version
}

fn name(
    source: &CharterSource<'_>,
    said: Option<&Spanned<String>>,
    findings: &mut FindingList,
) -> String {
    let Some(said) = said else {
        return String::new();
    };
    if !is_slug(said.get_ref()) {
        source.bad("name", said, SLUG, findings);
    }
    said.get_ref().clone()
}

fn description(
    source: &CharterSource<'_>,
    said: Option<&Spanned<String>>,
    findings: &mut FindingList,
) -> String {
    let Some(said) = said else {
        return String::new();
    };
    if said.get_ref().chars().count() > limits::DESCRIPTION_CHARS_MAX {
        let why = format!("exceeds {} characters", limits::DESCRIPTION_CHARS_MAX);
        source.bad("description", said, why, findings);
    }
    said.get_ref().trim().to_owned()
}

fn mtu(
    source: &CharterSource<'_>,
    said: Option<&Spanned<toml::Value>>,
    findings: &mut FindingList,
) -> PacketMtu {
    let Some(said) = said else {
        return PacketMtu::default();
    };
    let why = match said.get_ref() {
        toml::Value::String(word) if word == WINDOW => return PacketMtu::Window,
        toml::Value::Integer(tokens) => match u64::try_from(*tokens) {
            Ok(tokens) if tokens > MTU_TOKENS_MAX => {
                let flaw = CharterProblem::OverCap {
                    key: "mtu".to_owned(),
                    value: tokens,
                    cap: MTU_TOKENS_MAX,
                };
                source.problem(Some(&said.span()), flaw, findings);
                return PacketMtu::default();
            }
            Ok(tokens) if tokens >= MTU_TOKENS_MIN => return PacketMtu::Tokens(tokens),
            _ => format!("must be at least {MTU_TOKENS_MIN} tokens"),
        },
        _ => "expected a number of tokens such as 4096, or \"window\"".to_owned(),
    };
    source.bad("mtu", said, why, findings);
    PacketMtu::default()
}

fn sections(
    source: &CharterSource<'_>,
    said: Option<&Spanned<SectionsTable>>,
    findings: &mut FindingList,
) -> PacketSections {
    let mut sections = PacketSections::default();
    let Some(said) = said else {
        return sections;
    };
    let table = said.get_ref();
    let places = [
        ("agents", &table.agents, &mut sections.agents_milli),
        ("symbols", &table.symbols, &mut sections.symbols_milli),
        ("history", &table.history, &mut sections.history_milli),
    ];
    for (key, weight, place) in places {
        let Some(weight) = weight else {
            continue;
        };
        if let Some(milli) = thousandths(*weight.get_ref(), 1_000) {
            *place = milli;
        } else {
            let why = "a weight is a number from 0 to 1 with at most three decimals";
            source.bad(key, weight, why, findings);
        }
    }
    if sections.agents_milli + sections.symbols_milli + sections.history_milli == 0 {
        source.bad(
            "sections",
            said,
            "at least one weight must be above 0",
            findings,
        );
    }
    sections
}

/// Converts `number` to thousandths; `None` if it is negative, above `milli_max` or not a multiple of 0.001.
pub(super) fn thousandths(number: f64, milli_max: u16) -> Option<u16> {
    /// Maximum distance of a decimal fraction from the nearest binary one.
    const ROUNDING: f64 = 1e-9;
    // Searches the grid instead of rounding: `0.1234` must be refused, and `0.1` must not fail for its binary form.
    let is_same = |milli: &u16| (f64::from(*milli) / 1000.0 - number).abs() < ROUNDING;
    (0..=milli_max).find(is_same)
}

fn router(
    source: &CharterSource<'_>,
    said: RouterTable,
    has_council: bool,
    findings: &mut FindingList,
) -> CommandRouter {
    let mut router = CommandRouter::default();
    let commands = [
        (said.ask, &PROGRAMS[..], &mut router.ask),
        // Their commands print the report of one program, so no other can answer them.
        (said.council, &[council::NAME], &mut router.council),
        (said.phases, &[phases::NAME], &mut router.phases),
    ];
    for (said, programs, place) in commands {
        let Some(said) = said else {
            continue;
        };
        let program = said.get_ref();
        if !programs.contains(&program.as_str()) {
            let known = programs.iter().map(|&known| known.to_owned()).collect();
            let flaw = unknown_word(program.clone(), known);
            source.problem(Some(&said.span()), flaw, findings);
        } else if program == council::NAME && !has_council {
            let flaw = CharterProblem::MissingKey {
                key: "council".to_owned(),
                example: "[[council.chief]]",
            };
            source.problem(Some(&said.span()), flaw, findings);
        }
        *place = said.into_inner();
    }
    router
}

/// Rule for a name, as its error states it.
pub(super) const SLUG: &str = "a name starts with a letter, uses only lowercase letters, digits, `-` and `_`, and has at most 64 characters";

/// True if the text can be a name or an ID: it is safe as a file name and in a terminal.
pub(super) fn is_slug(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.len() <= limits::NAME_CHARS_MAX
        && text.chars().all(is_part)
}
