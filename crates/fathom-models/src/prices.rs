//! Prices and context windows of models, as dated data.

use std::net::IpAddr;
use std::sync::LazyLock;

use fathom_core::model::ModelPrice;
use fathom_core::unit::Nanodollars;
use reqwest::Url;
use serde::Deserialize;

use crate::error::ModelsError;
use crate::tokens::BpeVocabulary;

static LIST: LazyLock<Result<PriceList, toml::de::Error>> =
    LazyLock::new(|| toml::from_str(include_str!("../prices.toml")));

/// Source of a price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriceBasis {
    /// The provider's list, on the date that [`price_dates`] gives.
    Listed,
    /// The model runs on this machine, or is simulated.
    Free,
    /// Unknown. It counts as zero, so a limit on cost is not enforced: the user should be told.
    Unknown,
}

/// Static facts of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelFacts {
    pub price: ModelPrice,
    /// Source of the price.
    pub basis: PriceBasis,
    /// Input and output together, in tokens.
    pub window_tokens: Option<u64>,
    pub(crate) vocabulary: Option<BpeVocabulary>,
    pub(crate) sampling: TemperatureSupport,
    pub(crate) cap: OutputCap,
    pub(crate) schema: SchemaSupport,
}

impl ModelFacts {
    /// True if the price can be relied on.
    pub fn price_known(&self) -> bool {
        self.basis != PriceBasis::Unknown
    }

    /// Facts of a model in this process; its window is known once it is loaded.
    pub fn in_process(window_tokens: Option<u64>) -> Self {
        Self {
            window_tokens,
            ..Self::unlisted(PriceBasis::Free)
        }
    }

    /// Facts of a model that is not listed.
    pub(crate) fn unlisted(basis: PriceBasis) -> Self {
        Self {
            price: ModelPrice::default(),
            basis,
            window_tokens: None,
            vocabulary: None,
            sampling: TemperatureSupport::Accepted,
            cap: OutputCap::MaxTokens,
            schema: SchemaSupport::Native,
        }
    }
}

/// Support for a temperature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TemperatureSupport {
    Accepted,
    TurnedAway,
}

/// Name of the field that caps the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OutputCap {
    #[default]
    MaxTokens,
    MaxCompletionTokens,
}

/// Way of enforcing a schema on a reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SchemaSupport {
    #[default]
    Native,
    Tool,
}

/// Location of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerLocation {
    Loopback,
    Elsewhere,
}

impl ServerLocation {
    pub(crate) fn of(url: &Url) -> Self {
        let host = url.host_str().unwrap_or_default();
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let loopback = bare.eq_ignore_ascii_case("localhost")
            || bare
                .parse()
                .is_ok_and(|address: IpAddr| address.is_loopback());
        if loopback {
            Self::Loopback
        } else {
            Self::Elsewhere
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceList {
    provider: Vec<ProviderList>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProviderList {
    name: String,
    as_of: String,
    model: Vec<PriceLine>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceLine {
    name: String,
    input: f64,
    output: f64,
    window: u64,
    tokenizer: Option<BpeVocabulary>,
    #[serde(default = "yes")]
    sampling: bool,
    #[serde(default)]
    cap: OutputCap,
    #[serde(default)]
    schema: SchemaSupport,
}

fn yes() -> bool {
    true
}

impl PriceLine {
    fn facts(&self) -> ModelFacts {
        ModelFacts {
            price: ModelPrice {
                input_per_million: nanodollars(self.input),
                output_per_million: nanodollars(self.output),
            },
            basis: PriceBasis::Listed,
            window_tokens: Some(self.window),
            vocabulary: self.tokenizer,
            sampling: if self.sampling {
                TemperatureSupport::Accepted
            } else {
                TemperatureSupport::TurnedAway
            },
            cap: self.cap,
            schema: self.schema,
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "list prices are small positive numbers, which a test asserts"
)]
fn nanodollars(dollars: f64) -> Nanodollars {
    Nanodollars((dollars * 1e9).round() as u64)
}

/// Date of each provider's prices: provider and ISO date.
pub fn price_dates() -> Vec<(&'static str, &'static str)> {
    let providers = LIST.as_ref().map(|list| list.provider.as_slice());
    providers
        .unwrap_or_default()
        .iter()
        .map(|provider| (provider.name.as_str(), provider.as_of.as_str()))
        .collect()
}

/// Every listed model: provider, name and facts.
pub fn price_list() -> Vec<(&'static str, &'static str, ModelFacts)> {
    let providers = LIST.as_ref().map(|list| list.provider.as_slice());
    let providers = providers.unwrap_or_default().iter();
    providers
        .flat_map(|provider| {
            let models = provider.model.iter();
            models.map(|line| (provider.name.as_str(), line.name.as_str(), line.facts()))
        })
        .collect()
}

/// The facts of `provider`'s model `name` on a server at `place`.
pub(crate) fn facts(
    provider: &str,
    name: &str,
    place: ServerLocation,
) -> Result<ModelFacts, ModelsError> {
    let list = LIST.as_ref().map_err(|cause| ModelsError::Prices {
        cause: cause.to_string(),
    })?;
    let listed = list
        .provider
        .iter()
        .filter(|of| of.name == provider)
        .flat_map(|of| &of.model)
        .find(|line| names(&line.name, name));
    Ok(match (listed, place) {
        (Some(line), _) => line.facts(),
        // A server on this machine costs nothing, whatever it serves.
        (None, ServerLocation::Loopback) => ModelFacts::unlisted(PriceBasis::Free),
        (None, ServerLocation::Elsewhere) => ModelFacts::unlisted(PriceBasis::Unknown),
    })
}

/// True if `name` is the model `listed` or a dated version of it. `gpt-4o` is not `gpt-4o-audio-preview`.
fn names(listed: &str, name: &str) -> bool {
    let Some(rest) = name.strip_prefix(listed) else {
        return false;
    };
    match rest.strip_prefix('-') {
        None => rest.is_empty(),
        Some("latest") => true,
        Some(version) => {
            let mut groups = version.split('-');
            let digits = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
            groups
                .next()
                .is_some_and(|year| year.len() >= 4 && digits(year))
                && groups.all(|group| group.len() == 2 && digits(group))
        }
    }
}

#[cfg(test)]
#[path = "prices_tests.rs"]
mod tests;
