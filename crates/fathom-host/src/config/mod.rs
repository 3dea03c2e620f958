//! `fathom.toml`: read strictly, with file, line and key in every complaint.

pub(crate) mod limit_tables;
mod value_error;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use fathom_core::budget::amounts::{Amounts, Budget};
use fathom_core::contract::RecursionPolicy;
use fathom_core::council_bus::CouncilRole;
use fathom_core::unit::{Millis, Nanodollars};
use fathom_programs::direct;
use fathom_store::PublicKey;
use fathom_store::symbols::{RedisAddress, SymbolStoreError};
use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::channels::DiscordTarget;
use crate::config::limit_tables::{BudgetTable, RecursionTable, TableError, TableErrorKind};
use crate::domains::SymbolStoreLocation;
use crate::error::HostError;
use crate::governance::identity::TrustConfig;
use crate::governance::people::ApproverRoster;

pub use value_error::ConfigValueError;

/// Most calls of a run that may be in flight at once, whatever a configuration says.
pub const CONCURRENCY_MAX: u32 = 4096;

/// Default number of calls of a run in flight at once.
pub const CONCURRENCY: u32 = 128;

/// Default budget of a run.
pub const BUDGET: Budget = Budget {
    amounts: Amounts {
        tokens: 200_000,
        calls: 64,
        tools: 32,
        money: Nanodollars(1_000_000_000),
        episodes: 12,
    },
    time: Millis(300_000),
};

/// Explicitly set parts of a budget; the others keep their values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PartialBudget {
    /// Tokens.
    pub tokens: Option<u64>,
    /// Model calls.
    pub calls: Option<u64>,
    /// Tool calls.
    pub tools: Option<u64>,
    /// Wall time.
    pub time: Option<Millis>,
    /// Money.
    pub cost: Option<Nanodollars>,
    /// Episodes.
    pub episodes: Option<u64>,
}

impl PartialBudget {
    /// True if no dimension is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// `budget` with these parts put in.
    pub fn over(self, budget: Budget) -> Budget {
        let Amounts {
            tokens,
            calls,
            tools,
            money,
            episodes,
        } = budget.amounts;
        Budget {
            amounts: Amounts {
                tokens: self.tokens.unwrap_or(tokens),
                calls: self.calls.unwrap_or(calls),
                tools: self.tools.unwrap_or(tools),
                money: self.cost.unwrap_or(money),
                episodes: self.episodes.unwrap_or(episodes),
            },
            time: self.time.unwrap_or(budget.time),
        }
    }

    /// Sets one part from text, as in `time=30s`.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), ConfigValueError> {
        let whole = || {
            value
                .replace('_', "")
                .parse::<u64>()
                .map_err(|_| ConfigValueError::NotWhole {
                    value: value.to_owned(),
                })
        };
        match key {
            "tokens" => self.tokens = Some(whole()?),
            "calls" => self.calls = Some(whole()?),
            "tools" => self.tools = Some(whole()?),
            "episodes" => self.episodes = Some(whole()?),
            "time" => self.time = Some(parse_time(value)?),
            "cost" => self.cost = Some(parse_cost(value)?),
            _ => {
                return Err(ConfigValueError::UnknownDimension {
                    key: key.to_owned(),
                });
            }
        }
        Ok(())
    }
}

/// Reads `250ms`, `30s`, `5m` or `2h`.
pub fn parse_time(text: &str) -> Result<Millis, ConfigValueError> {
    let complaint = || ConfigValueError::Duration {
        text: text.to_owned(),
    };
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let factor = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err(complaint()),
    };
    number
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(factor))
        .map(Millis)
        .ok_or_else(complaint)
}

/// Reads dollars with up to nine decimals, as `0.25`.
pub fn parse_cost(text: &str) -> Result<Nanodollars, ConfigValueError> {
    let complaint = || ConfigValueError::Dollars {
        text: text.to_owned(),
    };
    let (whole, fraction) = text
        .trim_start_matches('$')
        .split_once('.')
        .unwrap_or((text.trim_start_matches('$'), ""));
    // `parse` would accept a sign, and a budget below zero has no meaning.
    let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if fraction.len() > 9 || !is_number(whole) || !is_number(fraction) || whole.is_empty() {
        return Err(complaint());
    }
    let nanos: u64 = format!("{fraction:0<9}").parse().map_err(|_| complaint())?;
    whole
        .parse::<u64>()
        .ok()
        .and_then(|dollars| dollars.checked_mul(1_000_000_000)?.checked_add(nanos))
        .map(Nanodollars)
        .ok_or_else(complaint)
}

/// Contents of a `fathom.toml`. All keys are optional.
#[derive(Clone, Debug, Default)]
pub struct HostConfig {
    /// Data folder.
    pub home: Option<PathBuf>,
    /// Name or folder of the charter.
    pub charter: Option<String>,
    /// True if output is JSON.
    pub json: bool,
    /// True if only errors are printed.
    pub quiet: bool,
    /// True if other unfinished runs are not resumed.
    pub no_resume: bool,
    /// `PROVIDER/NAME` of the main model.
    pub model: Option<String>,
    /// `PROVIDER/NAME` of the model of children and leaf calls.
    pub sub_model: Option<String>,
    /// Server of the main model.
    pub base_url: Option<String>,
    /// Variable that holds the key.
    pub api_key_env: Option<String>,
    /// Header that carries the key.
    pub api_key_header: Option<String>,
    /// Calls in flight at once.
    pub concurrency: Option<u32>,
    /// File for signed heads, best on another disk.
    pub heads: Option<PathBuf>,
    /// Parts of the budget.
    pub budget: PartialBudget,
    /// The recursion policy.
    pub recursion: Option<RecursionPolicy>,
    /// Parameters of `direct`.
    pub direct: Option<direct::DirectConfig>,
    /// Location of the symbols.
    pub symbols: SymbolStoreConfig,
    /// Roles of people.
    pub people: Option<ApproverRoster>,
    /// The channel on Discord.
    pub discord: Option<DiscordTarget>,
    /// File of rules for what is masked in everything that is shown.
    pub redaction_rules: Option<PathBuf>,
    /// Whose signature of an identity counts.
    pub identity: TrustConfig,
}

/// `[channels]` as it stands in the file.
#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct ChannelsTable {
    discord: Option<Spanned<DiscordTarget>>,
}

/// `[redaction]` as it stands in the file.
#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct RedactionTable {
    rules: Option<PathBuf>,
}

/// `[identity]` as it stands in the file.
#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct IdentityTable {
    creator: Option<PublicKey>,
    required: bool,
    prime: Option<PublicKey>,
    lite: Option<PublicKey>,
    codemind: Option<PublicKey>,
}

impl IdentityTable {
    /// Whom it names; says what cannot be. One key in two parts would be one word that counts twice.
    fn trust(self) -> Result<TrustConfig, ConfigValueError> {
        let roles = [
            (CouncilRole::Prime, self.prime),
            (CouncilRole::Lite, self.lite),
            (CouncilRole::CodeMind, self.codemind),
        ];
        let roles = roles.into_iter();
        let roles: BTreeMap<CouncilRole, PublicKey> =
            roles.filter_map(|(role, key)| Some((role, key?))).collect();
        let mut keys: Vec<&PublicKey> = Vec::new();
        for key in self.creator.iter().chain(roles.values()) {
            if keys.contains(&key) {
                return Err(ConfigValueError::SharedKey {
                    fingerprint: key.fingerprint(),
                });
            }
            keys.push(key);
        }
        Ok(TrustConfig {
            creator: self.creator,
            required: self.required,
            roles,
        })
    }
}

/// Location of the symbols: in the home unless a Redis server is named.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SymbolStoreConfig {
    /// Address of the server, without a password.
    pub redis: Option<String>,
    /// Variable that holds the address, which may have a password.
    pub redis_env: Option<String>,
    /// Prefix of the keys on the server.
    pub prefix: Option<String>,
}

impl SymbolStoreConfig {
    /// Default prefix of the keys on a server.
    const PREFIX: &'static str = "fathom";

    /// Resolves the location. `read_env` looks up a variable.
    pub fn settle(
        &self,
        read_env: impl Fn(&str) -> Option<String>,
    ) -> Result<SymbolStoreLocation, SymbolStoreError> {
        let what = |what: String| SymbolStoreError::Address { what };
        let address = match (&self.redis_env, &self.redis) {
            (None, None) => return Ok(SymbolStoreLocation::Home),
            (Some(_), Some(_)) => {
                return Err(what(
                    "set either `redis` or `redis_env`, not both".to_owned(),
                ));
            }
            (Some(variable), None) => read_env(variable)
                .ok_or_else(|| what(format!("environment variable `{variable}` is not set")))?,
            // What stands before `@` may be a password, and this file is often checked in.
            (None, Some(address)) if address.contains('@') => {
                return Err(what(
                    "passwords are not allowed in the file; use `redis_env`".to_owned(),
                ));
            }
            (None, Some(address)) => address.clone(),
        };
        let prefix = self.prefix.as_deref().unwrap_or(Self::PREFIX);
        Ok(SymbolStoreLocation::Redis(RedisAddress::parse(
            &address, prefix,
        )?))
    }
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct ConfigFile {
    home: Option<PathBuf>,
    charter: Option<String>,
    json: bool,
    quiet: bool,
    no_resume: bool,
    model: Option<String>,
    sub_model: Option<String>,
    base_url: Option<String>,
    api_key_env: Option<String>,
    api_key_header: Option<String>,
    concurrency: Option<Spanned<u32>>,
    heads: Option<PathBuf>,
    budget: BudgetTable,
    recursion: Option<RecursionTable>,
    direct: Option<direct::DirectConfig>,
    symbols: SymbolStoreConfig,
    people: Option<Spanned<BTreeMap<String, Vec<String>>>>,
    channels: ChannelsTable,
    redaction: RedactionTable,
    identity: Option<Spanned<IdentityTable>>,
}

/// Text with its file name, for complaints that point into it.
struct ConfigSource<'a> {
    file: &'a Path,
    text: &'a str,
}

impl ConfigSource<'_> {
    fn line(&self, span: &Range<usize>) -> usize {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        before.matches('\n').count() + 1
    }

    /// The key that stands on the line of `span`, or the table it lies in.
    fn key(&self, span: &Range<usize>) -> Option<String> {
        let line = self.text.lines().nth(self.line(span) - 1)?;
        let key = line.split(['=', '#']).next()?.trim();
        (!key.is_empty()).then(|| key.trim_matches(['[', ']', '"']).to_owned())
    }

    fn complaint(&self, span: Option<&Range<usize>>, message: impl Into<String>) -> HostError {
        HostError::ConfigSyntax {
            file: self.file.to_owned(),
            line: span.map_or(1, |span| self.line(span)),
            key: span.and_then(|span| self.key(span)),
            message: message.into(),
        }
    }

    /// Converts the problem of a shared table to an error of this file.
    fn refusal(&self, wrong: TableError) -> HostError {
        match wrong.why {
            TableErrorKind::OverCap { value, cap } => HostError::OverCap {
                file: self.file.to_owned(),
                line: self.line(&wrong.span),
                key: wrong.key,
                value,
                cap,
            },
            TableErrorKind::Senseless(message) => self.complaint(Some(&wrong.span), message),
        }
    }
}

impl HostConfig {
    /// Takes the settings of authority (approvers, trusted keys, masking, channels) from `home`, so that the file of a
    /// folder cannot override them. Paths in `home` are relative to `beside`.
    pub fn keep_authority_of(&mut self, home: Self, beside: &Path) {
        // These come from the home's file where it has them: the file of some checkout must not make its author an
        // approver, trust another key, unmask output or send words elsewhere.
        self.people = home.people.or(self.people.take());
        self.discord = home.discord.or(self.discord.take());
        let rules = home.redaction_rules.map(|rules| beside.join(rules));
        self.redaction_rules = rules.or(self.redaction_rules.take());
        // The table is taken whole: single keys of a folder mixed with the home's could add up to a majority.
        if home.identity != TrustConfig::default() {
            self.identity = home.identity;
        }
    }

    /// Reads a file that must be there.
    pub fn read(file: &Path) -> Result<Self, HostError> {
        let text = std::fs::read_to_string(file).map_err(|source| HostError::ConfigUnreadable {
            file: file.to_owned(),
            source,
        })?;
        Self::parse(file, &text)
    }

    /// Reads the text of `file`.
    pub fn parse(file: &Path, text: &str) -> Result<Self, HostError> {
        let source = ConfigSource { file, text };
        let read: ConfigFile = toml::from_str(text)
            .map_err(|error| source.complaint(error.span().as_ref(), error.message()))?;
        if let Some(concurrency) = &read.concurrency
            && !(1..=CONCURRENCY_MAX).contains(concurrency.get_ref())
        {
            return Err(HostError::OverCap {
                file: file.to_owned(),
                line: source.line(&concurrency.span()),
                key: "concurrency",
                value: u64::from(*concurrency.get_ref()),
                cap: u64::from(CONCURRENCY_MAX),
            });
        }
        let mut wrong = Vec::new();
        let budget = read.budget.part(&mut wrong);
        let recursion = read.recursion.map(|table| table.policy(&mut wrong));
        // One error at a time, unlike a charter: this file is short, and a command cannot start with half of it.
        if let Some(first) = wrong.into_iter().next() {
            return Err(source.refusal(first));
        }
        let people = read.people.map(|people| {
            let span = people.span();
            let roster = ApproverRoster::new(people.into_inner());
            roster.map_err(|error| source.complaint(Some(&span), error.to_string()))
        });
        if let Some(discord) = &read.channels.discord {
            let checked = discord.get_ref().check();
            checked.map_err(|error| source.complaint(Some(&discord.span()), error.to_string()))?;
        }
        let identity = read.identity.map(|table| {
            let span = table.span();
            let trust = table.into_inner().trust();
            trust.map_err(|error| source.complaint(Some(&span), error.to_string()))
        });
        Ok(Self {
            people: people.transpose()?,
            discord: read.channels.discord.map(Spanned::into_inner),
            identity: identity.transpose()?.unwrap_or_default(),
            home: read.home,
            charter: read.charter,
            json: read.json,
            quiet: read.quiet,
            no_resume: read.no_resume,
            model: read.model,
            sub_model: read.sub_model,
            base_url: read.base_url,
            api_key_env: read.api_key_env,
            api_key_header: read.api_key_header,
            concurrency: read.concurrency.map(Spanned::into_inner),
            heads: read.heads,
            budget,
            recursion,
            direct: read.direct,
            symbols: read.symbols,
            redaction_rules: read.redaction.rules,
        })
    }
}

/// Default recursion policy of `ask`: it may have an answer reviewed, and nothing more.
pub fn default_policy() -> RecursionPolicy {
    RecursionPolicy {
        allowed_child_types: vec![direct::CRITIQUE.to_owned()],
        ..RecursionPolicy::default()
    }
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
