//! Settings from flags, variables and the file, the nearest first.

use super::{OtherRuns, OutputFormat, RunSettings, Verbosity};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use fathom_core::budget::amounts::Budget;
use fathom_core::contract::{RecursionPolicy, cap};
use fathom_host::charter::Charter;
use fathom_host::config::{self, CONCURRENCY, CONCURRENCY_MAX, HostConfig, PartialBudget};
use fathom_models::count_o200k;
use fathom_sandbox::InterpreterChoice;

use crate::args::GlobalFlags;
use crate::error::CliError;
use crate::settings::environment::{EnvVars, switch};
use crate::settings::models::{ModelArg, ModelArgs};

const CONFIG_FILE: &str = "fathom.toml";

pub(super) struct SettingSources<'a> {
    pub(super) flags: GlobalFlags,
    pub(super) variables: &'a EnvVars,
    pub(super) usual_charter: &'static str,
}

impl SettingSources<'_> {
    /// The home as flag or variable say it.
    pub(super) fn home(&self, folder: &Path) -> Option<PathBuf> {
        let said = self.flags.home.clone();
        let said = said.or_else(|| self.variables.get("FATHOM_HOME").map(PathBuf::from));
        said.map(|home| folder.join(home))
    }

    fn default_home(&self) -> Result<PathBuf, CliError> {
        let data = self.variables.get("XDG_DATA_HOME").map(PathBuf::from);
        // The specification wants a relative one to be ignored.
        data.filter(|data| data.is_absolute())
            .or_else(|| {
                let home = self.variables.get("HOME")?;
                Some(Path::new(home).join(".local/share"))
            })
            .map(|data| data.join("fathom"))
            .ok_or(CliError::NoHome)
    }

    /// Weights can be fetched again, so they belong in the cache.
    fn models_folder(&self, folder: &Path) -> Option<PathBuf> {
        if let Some(said) = self.variables.get("FATHOM_MODELS") {
            return Some(folder.join(said));
        }
        let cache = self.variables.get("XDG_CACHE_HOME").map(PathBuf::from);
        let cache = cache.filter(|cache| cache.is_absolute()).or_else(|| {
            let home = self.variables.get("HOME")?;
            Some(Path::new(home).join(".cache"))
        });
        cache.map(|cache| cache.join("fathom/models"))
    }

    pub(super) fn config(
        &self,
        folder: &Path,
        home: Option<&Path>,
    ) -> Result<(HostConfig, Option<PathBuf>), CliError> {
        let said = self.flags.config.clone();
        let said = said.or_else(|| self.variables.get("FATHOM_CONFIG").map(PathBuf::from));
        if let Some(file) = said {
            let file = folder.join(file);
            // A file that was named explicitly is trusted as a whole; only one that happens to lie in the folder is
            // not.
            return Ok((HostConfig::read(&file)?, Some(file)));
        }
        let home = home
            .map(Path::to_owned)
            .or_else(|| self.default_home().ok());
        let here = folder.join(CONFIG_FILE);
        let at_home = home.map(|home| home.join(CONFIG_FILE));
        let at_home = at_home.filter(|file| *file != here && is_there(file));
        if !is_there(&here) {
            let config = at_home.as_deref().map(HostConfig::read).transpose()?;
            return Ok((config.unwrap_or_default(), at_home));
        }
        let mut config = HostConfig::read(&here)?;
        if let Some(file) = at_home {
            let beside = file.parent().unwrap_or(folder);
            // A checkout's file may choose models and budgets, but not who approves, what is masked or where words go.
            config.keep_authority_of(HostConfig::read(&file)?, beside);
        }
        Ok((config, Some(here)))
    }

    pub(super) fn settle(
        self,
        folder: &Path,
        home: Option<PathBuf>,
        config: HostConfig,
        config_file: Option<PathBuf>,
    ) -> Result<RunSettings, CliError> {
        // A path in a file is meant from where the file lies.
        let beside = config_file.as_deref().and_then(Path::parent);
        let beside = beside.unwrap_or(folder).to_owned();
        let home = match (home, &config.home) {
            (Some(home), _) => home,
            (None, Some(home)) => beside.join(home),
            (None, None) => self.default_home()?,
        };
        let said = self.charter(folder, &beside, &config);
        // A broken charter is told by the command that needs it.
        let charter = Charter::find(&said.value, &said.folder, &home, &count_o200k).ok();
        Ok(RunSettings {
            home,
            heads: config.heads.as_ref().map(|heads| beside.join(heads)),
            form: self.form(&config)?,
            loudness: self.loudness(&config)?,
            others: self.others(&config)?,
            budget: self.budget(charter.as_ref().map(|c| c.budget), config.budget)?,
            recursion: self.recursion(
                config
                    .recursion
                    .clone()
                    // The table is taken whole from one source: its limits are chosen to fit each other.
                    .or_else(|| charter.as_ref()?.recursion.clone()),
            )?,
            depth: self.number("--max-depth", "FATHOM_MAX_DEPTH", self.flags.max_depth)?,
            concurrency: self.concurrency(config.concurrency)?,
            interpreter: self.interpreter()?,
            direct: config
                .direct
                .clone()
                .or_else(|| charter.as_ref()?.direct.clone())
                .unwrap_or_default(),
            charter: said,
            models_folder: self.models_folder(folder),
            hub_url: self.variables.get("HF_ENDPOINT").map(str::to_owned),
            symbols: config.symbols.clone(),
            people: config.people.clone(),
            discord: config.discord.clone(),
            redaction_rules: config
                .redaction_rules
                .as_ref()
                .map(|file| beside.join(file)),
            identity: Box::new(config.identity.clone()),
            model: self.model(folder, &beside, config),
            config_file,
        })
    }

    fn charter(&self, folder: &Path, beside: &Path, config: &HostConfig) -> ModelArg {
        let typed = self.flags.charter.as_deref();
        let typed = typed.or_else(|| self.variables.get("FATHOM_CHARTER"));
        match (typed, &config.charter) {
            (None, Some(filed)) => ModelArg {
                value: filed.clone(),
                folder: beside.to_owned(),
            },
            (typed, _) => ModelArg {
                value: typed.unwrap_or(self.usual_charter).to_owned(),
                folder: folder.to_owned(),
            },
        }
    }

    fn form(&self, config: &HostConfig) -> Result<OutputFormat, CliError> {
        let json = self.flags.json || switch("FATHOM_JSON", self.variables)? || config.json;
        Ok(if json {
            OutputFormat::Json
        } else {
            OutputFormat::Human
        })
    }

    fn loudness(&self, config: &HostConfig) -> Result<Verbosity, CliError> {
        if self.flags.quiet && self.flags.verbose > 0 {
            return Err(CliError::Arguments {
                message: "`--quiet` cannot be used with `-v`".to_owned(),
                hint: "remove one of them".to_owned(),
            });
        }
        // A flag of either kind beats both variables.
        Ok(if self.flags.quiet {
            Verbosity::Quiet
        } else if self.flags.verbose > 0 {
            Verbosity::Verbose
        } else if switch("FATHOM_QUIET", self.variables)? {
            Verbosity::Quiet
        } else if switch("FATHOM_VERBOSE", self.variables)? {
            Verbosity::Verbose
        } else if config.quiet {
            Verbosity::Quiet
        } else {
            Verbosity::Usual
        })
    }

    fn others(&self, config: &HostConfig) -> Result<OtherRuns, CliError> {
        let is_said = switch("FATHOM_NO_RESUME", self.variables)?;
        if is_said || self.flags.no_resume || config.no_resume {
            return Ok(OtherRuns::LeftAlone);
        }
        Ok(OtherRuns::Resumed)
    }

    /// The budget, dimension by dimension: flag over variable over file over charter over the usual.
    fn budget(
        &self,
        charter: Option<PartialBudget>,
        file: PartialBudget,
    ) -> Result<Budget, CliError> {
        // From the weakest source to the strongest: default, charter, file, variable, flag.
        let mut budget = file.over(charter.unwrap_or_default().over(config::BUDGET));
        let said = [
            ("FATHOM_BUDGET", self.variables.get("FATHOM_BUDGET")),
            ("--budget", self.flags.budget.as_deref()),
        ];
        for (what, value) in said {
            if let Some(value) = value {
                budget = crate::view::budget::part(what, value)?.over(budget);
            }
        }
        Ok(budget)
    }

    fn recursion(&self, file: Option<RecursionPolicy>) -> Result<RecursionPolicy, CliError> {
        let mut policy = file.unwrap_or_else(config::default_policy);
        let GlobalFlags {
            max_depth,
            max_children,
            ..
        } = self.flags;
        if let Some((what, value)) = self.number("--max-depth", "FATHOM_MAX_DEPTH", max_depth)? {
            policy.max_depth = capped(what, value, cap::DEPTH_MAX)?;
        }
        let children = self.number("--max-children", "FATHOM_MAX_CHILDREN", max_children)?;
        if let Some((what, value)) = children {
            policy.max_children = capped(what, value, cap::CHILDREN_MAX)?;
        }
        Ok(policy)
    }

    fn interpreter(&self) -> Result<InterpreterChoice, CliError> {
        let (what, said) = match &self.flags.interpreter {
            Some(typed) => ("--interpreter", typed.as_str()),
            None => match self.variables.get("FATHOM_INTERPRETER") {
                Some(said) => ("FATHOM_INTERPRETER", said),
                None => return Ok(InterpreterChoice::Auto),
            },
        };
        match said {
            "auto" => Ok(InterpreterChoice::Auto),
            "cpython" => Ok(InterpreterChoice::CPython),
            "monty" => Ok(InterpreterChoice::Monty),
            other => Err(CliError::BadValue {
                what: what.to_owned(),
                value: other.to_owned(),
                why: "expected auto, cpython or monty".to_owned(),
            }),
        }
    }

    fn concurrency(&self, file: Option<u32>) -> Result<u32, CliError> {
        let said = self.number(
            "--concurrency",
            "FATHOM_CONCURRENCY",
            self.flags.concurrency,
        )?;
        match said {
            None => Ok(file.unwrap_or(CONCURRENCY)),
            // With no call in flight a run would never end.
            Some((what, 0)) => Err(CliError::BadValue {
                what: what.to_owned(),
                value: "0".to_owned(),
                why: "must be at least 1".to_owned(),
            }),
            Some((what, value)) => capped(what, value, CONCURRENCY_MAX),
        }
    }

    fn number(
        &self,
        flag: &'static str,
        variable: &'static str,
        typed: Option<u64>,
    ) -> Result<Option<(&'static str, u64)>, CliError> {
        if let Some(value) = typed {
            return Ok(Some((flag, value)));
        }
        let Some(value) = self.variables.get(variable) else {
            return Ok(None);
        };
        match value.parse() {
            Ok(number) => Ok(Some((variable, number))),
            Err(_) => Err(CliError::BadValue {
                what: variable.to_owned(),
                value: value.to_owned(),
                why: "expected a whole number".to_owned(),
            }),
        }
    }

    fn model(self, folder: &Path, beside: &Path, config: HostConfig) -> ModelArgs {
        let said = |flag: Option<String>, variable: &str, file: Option<String>| {
            let typed = flag.or_else(|| self.variables.get(variable).map(str::to_owned));
            let typed = typed.map(|value| ModelArg {
                value,
                folder: folder.to_owned(),
            });
            typed.or_else(|| {
                file.map(|value| ModelArg {
                    value,
                    folder: beside.to_owned(),
                })
            })
        };
        let value = |said: Option<ModelArg>| said.map(|said| said.value);
        let flags = self.flags;
        ModelArgs {
            main: said(flags.model, "FATHOM_MODEL", config.model),
            sub: said(flags.sub_model, "FATHOM_SUB_MODEL", config.sub_model),
            base_url: value(said(flags.base_url, "FATHOM_BASE_URL", config.base_url)),
            api_key_env: value(said(
                flags.api_key_env,
                "FATHOM_API_KEY_ENV",
                config.api_key_env,
            )),
            api_key_header: value(said(
                flags.api_key_header,
                "FATHOM_API_KEY_HEADER",
                config.api_key_header,
            )),
        }
    }
}

/// `value` in the width that its cap has.
pub(super) fn capped<T: TryFrom<u64>>(what: &str, value: u64, cap: T) -> Result<T, CliError>
where
    u64: From<T>,
{
    let cap = u64::from(cap);
    let over = || CliError::OverCap {
        what: what.to_owned(),
        value,
        cap,
    };
    if value > cap {
        return Err(over());
    }
    T::try_from(value).map_err(|_| over())
}

/// True if the file exists. One that cannot be examined is read all the same, for the error that gives the reason.
fn is_there(file: &Path) -> bool {
    std::fs::metadata(file).map_or_else(
        |error| !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
        |_| true,
    )
}
