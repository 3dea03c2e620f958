//! The council's roles and the models they have.

pub use fathom_core::council_bus::CouncilRole;
use fathom_core::model::ModelSpec;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::findings::FindingList;
use super::problem::CharterProblem;
use super::strict_toml::{CharterSource, DroppedKeys, unknown_word};

/// Providers that a model's name may begin with.
const PROVIDERS: [&str; 5] = ["local", "openai", "anthropic", "ollama", "script"];

/// One thing for each role.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelRoles<T> {
    /// Of Prime.
    pub prime: T,
    /// Of Lite.
    pub lite: T,
    /// Of `CodeMind`.
    pub codemind: T,
}

impl<T> ModelRoles<T> {
    /// That of one role.
    pub const fn get(&self, role: CouncilRole) -> &T {
        match role {
            CouncilRole::Prime => &self.prime,
            CouncilRole::Lite => &self.lite,
            CouncilRole::CodeMind => &self.codemind,
        }
    }
}

/// `[roles]` as it stands in the file.
#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RoleTables {
    prime: Option<Spanned<RoleTable>>,
    lite: Option<Spanned<RoleTable>>,
    codemind: Option<Spanned<RoleTable>>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct RoleTable {
    model: Option<Spanned<String>>,
    base_url: Option<Spanned<String>>,
    api_key_env: Option<Spanned<String>>,
    api_key_header: Option<Spanned<String>>,
}

impl RoleTables {
    pub(super) fn read(
        self,
        source: &CharterSource<'_>,
        dropped: &DroppedKeys,
        findings: &mut FindingList,
    ) -> ModelRoles<Option<ModelSpec>> {
        let mut spec = |role: CouncilRole, table: Option<Spanned<RoleTable>>| {
            let table = table?;
            let had_model = dropped.has(&format!("roles.{}.model", role.as_str()));
            if table.get_ref().model.is_none() && !had_model {
                let flaw = CharterProblem::MissingKey {
                    key: "model".to_owned(),
                    example: "model = \"PROVIDER/NAME\"",
                };
                source.problem(Some(&table.span()), flaw, findings);
            }
            spec(source, table.into_inner(), findings)
        };
        ModelRoles {
            prime: spec(CouncilRole::Prime, self.prime),
            lite: spec(CouncilRole::Lite, self.lite),
            codemind: spec(CouncilRole::CodeMind, self.codemind),
        }
    }
}

/// The model of a role, where it has one.
fn spec(
    source: &CharterSource<'_>,
    table: RoleTable,
    findings: &mut FindingList,
) -> Option<ModelSpec> {
    let RoleTable {
        model,
        base_url,
        api_key_env,
        api_key_header,
    } = table;
    if let Some(url) = &base_url
        && let Err(why) = check_url(url.get_ref())
    {
        // An address with `@` may hold a password, which must not get into an excerpt on the terminal or in a log.
        if url.get_ref().contains('@') {
            source.bad_secret("base_url", url, why, findings);
        } else {
            source.bad("base_url", url, why, findings);
        }
    }
    if let Some(variable) = &api_key_env
        && let Err(why) = check_variable(variable.get_ref())
    {
        // People paste the key itself here by mistake, so the value is never shown.
        source.bad_secret("api_key_env", variable, why, findings);
    }
    if let Some(header) = &api_key_header
        && let Err(why) = check_header(header.get_ref())
    {
        source.bad_secret("api_key_header", header, why, findings);
    }
    let model = model?;
    check_model(source, &model, findings);
    Some(ModelSpec {
        id: model.into_inner(),
        base_url: base_url.map(Spanned::into_inner),
        api_key_env: api_key_env.map(Spanned::into_inner),
        api_key_header: api_key_header.map(Spanned::into_inner),
    })
}

fn check_model(source: &CharterSource<'_>, model: &Spanned<String>, findings: &mut FindingList) {
    let parts = model.get_ref().split_once('/');
    let Some((provider, name)) = parts.filter(|(_, name)| !name.trim().is_empty()) else {
        let why = "expected `PROVIDER/NAME`, such as `openai/gpt-4o-mini`";
        return source.bad("model", model, why, findings);
    };
    if !PROVIDERS.contains(&provider) {
        let known = PROVIDERS.map(str::to_owned).to_vec();
        let flaw = unknown_word(provider.to_owned(), known);
        source.problem(Some(&model.span()), flaw, findings);
    } else if name.chars().any(char::is_control) {
        source.bad("model", model, "contains control characters", findings);
    }
}

fn check_url(url: &str) -> Result<(), &'static str> {
    let rest = url
        .strip_prefix("http://")
        .or_else(|| url.strip_prefix("https://"))
        .ok_or("expected `http://HOST/…` or `https://HOST/…`")?;
    let host = rest.split('/').next().unwrap_or_default();
    if host.is_empty() || url.contains(|c: char| c.is_whitespace() || c.is_control()) {
        Err("expected `http://HOST/…` or `https://HOST/…`")
    } else if host.contains('@') {
        Err("user names and passwords are not allowed in a charter; use `api_key_env`")
    } else {
        Ok(())
    }
}

fn check_variable(name: &str) -> Result<(), &'static str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if begins && name.chars().all(is_part) {
        Ok(())
    } else {
        Err(
            "expected the name of an environment variable; the key itself is not allowed in a charter",
        )
    }
}

fn check_header(name: &str) -> Result<(), &'static str> {
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    if !name.is_empty() && name.chars().all(is_token) {
        Ok(())
    } else {
        Err("not a valid header name")
    }
}
