//! `fathom models list`: which models are configured, what they cost and hold, how old the price list is, and which
//! weights are installed.

use fathom_core::model::{ModelSet, ModelSpec};
use fathom_models::{ModelFacts, PriceBasis, price_dates, price_list};
use serde::Serialize;

use crate::error::CliError;
use crate::exit_code::ExitStatus;
use crate::settings::environment;
use crate::settings::models::shown;
use crate::settings::{OutputFormat, RunSettings};
use crate::terminal::output;
use crate::terminal::styled_line::{LineStyle, StyledLine};
use crate::view::units;
use crate::view::weights::{self, WeightsJson};

#[derive(Serialize)]
struct ModelsJson {
    configured: Vec<ConfiguredJson>,
    prices: Vec<PricesJson>,
    models: Vec<ListedJson>,
    #[serde(flatten)]
    weights: WeightsJson,
}

/// A model on a provider's list.
#[derive(Serialize)]
struct ListedJson {
    model: String,
    window_tokens: Option<u64>,
    /// Dollars per million tokens.
    input_per_million: f64,
    output_per_million: f64,
}

/// A model that the settings name.
#[derive(Serialize)]
struct ConfiguredJson {
    /// The setting that names it.
    setting: &'static str,
    model: String,
    base_url: Option<String>,
    window_tokens: Option<u64>,
    /// Dollars per million tokens.
    input_per_million: f64,
    output_per_million: f64,
    /// `listed`, `free` or `unknown`.
    price: &'static str,
}

/// Date on which a provider's prices were read.
#[derive(Serialize)]
struct PricesJson {
    provider: &'static str,
    as_of: &'static str,
}

pub(crate) fn list(settings: &RunSettings) -> Result<ExitStatus, CliError> {
    let configured = configured(&settings.model.models(environment::key)?)?;
    let prices = price_dates().into_iter();
    let prices = prices
        .map(|(provider, as_of)| PricesJson { provider, as_of })
        .collect();
    let models = price_list()
        .into_iter()
        .map(|(provider, name, facts)| ListedJson {
            model: format!("{provider}/{name}"),
            window_tokens: facts.window_tokens,
            input_per_million: units::dollars(facts.price.input_per_million),
            output_per_million: units::dollars(facts.price.output_per_million),
        });
    let found = ModelsJson {
        configured,
        prices,
        models: models.collect(),
        weights: weights::listed(&weights::store(settings)?),
    };
    match settings.form {
        OutputFormat::Json => output::print_json(&found)?,
        OutputFormat::Human => output::print(&lines(&found))?,
    }
    Ok(ExitStatus::Ok)
}

fn configured(models: &ModelSet) -> Result<Vec<ConfiguredJson>, CliError> {
    let mut found = vec![one("model", &models.main)?];
    if models.sub != models.main {
        found.push(one("sub_model", &models.sub)?);
    }
    Ok(found)
}

fn one(setting: &'static str, spec: &ModelSpec) -> Result<ConfiguredJson, CliError> {
    let facts = facts(spec)?;
    Ok(ConfiguredJson {
        setting,
        model: spec.id.clone(),
        base_url: spec.base_url.clone(),
        window_tokens: facts.window_tokens,
        input_per_million: units::dollars(facts.price.input_per_million),
        output_per_million: units::dollars(facts.price.output_per_million),
        price: match facts.basis {
            PriceBasis::Listed => "listed",
            PriceBasis::Free => "free",
            PriceBasis::Unknown => "unknown",
        },
    })
}

/// Facts about a model that are known before the first call.
pub(crate) fn facts(spec: &ModelSpec) -> Result<ModelFacts, CliError> {
    if spec.provider() == fathom_host::models::embedded::PROVIDER {
        return Ok(ModelFacts::in_process(None));
    }
    let model = fathom_models::connect(spec, environment::key);
    let model = model.map_err(fathom_host::HostError::from)?;
    Ok(model.facts().clone())
}

fn lines(found: &ModelsJson) -> Vec<StyledLine> {
    let mut lines: Vec<StyledLine> = found
        .configured
        .iter()
        .map(|model| {
            let window = model.window_tokens.map_or_else(
                || match model.price {
                    "free" if model.model.starts_with("local/") => {
                        "runs in this process".to_owned()
                    }
                    _ => "window unknown".to_owned(),
                },
                |tokens| format!("window {}", units::count(tokens)),
            );
            let price = match model.price {
                "listed" => format!(
                    "${} in, ${} out per million tokens",
                    model.input_per_million, model.output_per_million
                ),
                "free" => "free".to_owned(),
                _ => "price unknown; a cost limit is not enforced".to_owned(),
            };
            StyledLine::new()
                .with(LineStyle::Faint, format!("{:<10}", model.setting))
                .with(LineStyle::Strong, shown(&model.model))
                .with(LineStyle::Plain, format!("   {window}   {price}"))
        })
        .collect();
    lines.extend(found.prices.iter().map(|prices| {
        StyledLine::new()
            .with(LineStyle::Faint, format!("{:<10}", "prices"))
            .with(
                LineStyle::Plain,
                format!("{} as of {}", prices.provider, prices.as_of),
            )
    }));
    let width = found.models.iter().map(|listed| listed.model.len()).max();
    let width = width.unwrap_or_default();
    lines.extend(found.models.iter().map(|listed| {
        let window = listed.window_tokens.map(units::count);
        StyledLine::from(format!(
            "  {:<width$}   window {:>5}   ${} in, ${} out per million tokens",
            listed.model,
            window.unwrap_or_default(),
            listed.input_per_million,
            listed.output_per_million,
        ))
    }));
    lines.extend(found.weights.lines());
    lines
}
