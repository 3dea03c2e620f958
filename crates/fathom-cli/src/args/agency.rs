//! Arguments of the commands that act.

use std::path::PathBuf;

use clap::Args;

use super::value_error::ArgumentValueError;

/// Arguments of `fathom agency`.
#[derive(Args, Debug)]
pub(crate) struct AgencyArgs {
    /// The goal; `-` reads it from stdin
    pub(crate) goal: Option<String>,
    /// Brand folder, with brand.toml, brand.md and knowledge/*.md
    #[arg(long, value_name = "DIR", default_value = "examples/brand")]
    pub(crate) brand: PathBuf,
    /// How to reach the platform, as named in the charter: api or browser
    #[arg(long, value_name = "NAME", default_value = "api")]
    pub(crate) lane: String,
    /// Name that makes the publication unique; each name is published once [default: the goal]
    #[arg(long, value_name = "NAME")]
    pub(crate) occasion: Option<String>,
    /// Override a value of brand.toml, such as `url=http://127.0.0.1:8790`
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    pub(crate) set: Vec<(String, String)>,
}

/// Reads `name=value`.
fn pair(text: &str) -> Result<(String, String), ArgumentValueError> {
    let (name, value) = text.split_once('=').ok_or(ArgumentValueError::Pair)?;
    Ok((name.to_owned(), value.to_owned()))
}
