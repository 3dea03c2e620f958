//! What was typed of the commands that act.

use std::path::PathBuf;

use clap::Args;

/// Has seven roles work on a goal.
#[derive(Args, Debug)]
pub(crate) struct Agency {
    /// What is to be reached; `-` reads it from stdin
    pub(crate) goal: Option<String>,
    /// Folder of the brand: brand.toml, brand.md, knowledge/*.md
    #[arg(long, value_name = "DIR", default_value = "examples/brand")]
    pub(crate) brand: PathBuf,
    /// Way to the platform, as the charter names it: api or browser
    #[arg(long, value_name = "NAME", default_value = "api")]
    pub(crate) lane: String,
    /// What names the occasion [default: the goal]; one occasion is published once
    #[arg(long, value_name = "NAME")]
    pub(crate) occasion: Option<String>,
    /// A value of brand.toml, as `url=http://127.0.0.1:8790`
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    pub(crate) set: Vec<(String, String)>,
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or("it is written as `name=value`")?;
    Ok((name.to_owned(), value.to_owned()))
}
