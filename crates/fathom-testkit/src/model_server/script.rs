//! Behaviour from a file, in the form of `script/FILE`: JSON lines, the first unused line that fits answers.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use std::{fs, io};

use regex::Regex;
use serde::Deserialize;

use super::behaviour::{ReplyBehaviour, ReportedUsage, ServerAction, ServerBehaviour};
use super::sample::sample;
use super::wire::SeenRequest;

/// A script file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptError {
    /// It cannot be read.
    #[error("cannot read `{}`", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    /// A line is not as it should be.
    #[error("{}:{line}: {cause}", path.display())]
    Line {
        path: PathBuf,
        /// The line, counted from one.
        line: usize,
        cause: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptRow {
    #[serde(default, rename = "match", with = "pattern")]
    fits: Option<Regex>,
    reply: Option<String>,
    #[serde(default)]
    tool_calls: Vec<CallLine>,
    error: Option<ErrorLine>,
    usage: Option<UsageLine>,
    #[serde(default)]
    delay_ms: u64,
    #[serde(default = "once")]
    times: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallLine {
    name: String,
    arguments: serde_json::Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ErrorLine {
    status: u16,
    retry_after_s: Option<f64>,
}

#[derive(Deserialize)]
struct UsageLine {
    #[serde(alias = "prompt_tokens")]
    input_tokens: u64,
    #[serde(alias = "completion_tokens")]
    output_tokens: u64,
}

fn once() -> u64 {
    1
}

mod pattern {
    use regex::Regex;
    use serde::{Deserialize, Deserializer, de::Error};

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Regex>, D::Error> {
        let pattern = Option::<String>::deserialize(deserializer)?;
        pattern
            .map(|pattern| Regex::new(&pattern).map_err(D::Error::custom))
            .transpose()
    }
}

/// Behaviour read from a file. A request that no line fits is answered with the least that its schema allows.
pub struct ServerScript {
    latency: Duration,
    lines: Mutex<Vec<ScriptRow>>,
}

impl ServerScript {
    /// A script without lines, which answers after `latency`.
    pub fn empty(latency: Duration) -> Self {
        Self {
            latency,
            lines: Mutex::default(),
        }
    }

    /// Reads a script; `latency` comes on top of each line's own delay.
    pub fn read(path: &Path, latency: Duration) -> Result<Self, ScriptError> {
        let text = fs::read_to_string(path).map_err(|source| ScriptError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        let lines = text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty())
            .map(|(index, line)| {
                serde_json::from_str(line).map_err(|cause| ScriptError::Line {
                    path: path.to_owned(),
                    line: index + 1,
                    cause: cause.to_string(),
                })
            })
            .collect::<Result<_, _>>()?;
        Ok(Self {
            latency,
            lines: Mutex::new(lines),
        })
    }
}

impl ServerBehaviour for ServerScript {
    fn behave(&self, seen: &SeenRequest) -> ReplyBehaviour {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let fitting = lines.iter_mut().find(|line| {
            let fits = line.fits.as_ref();
            line.times > 0 && fits.is_none_or(|fits| fits.is_match(&seen.prompt))
        });
        let Some(line) = fitting else {
            let text = match &seen.schema {
                Some(schema) => sample(schema).to_string(),
                None => "ok".to_owned(),
            };
            return ReplyBehaviour::reply(text).after(self.latency);
        };
        line.times -= 1;
        let mut behaviour = match (&line.reply, &line.error) {
            (Some(reply), _) => ReplyBehaviour::reply(reply),
            (None, Some(error)) => {
                let status = ReplyBehaviour::status(error.status);
                match error.retry_after_s {
                    Some(seconds) => status.header("retry-after", &seconds.to_string()),
                    None => status,
                }
            }
            (None, None) => ReplyBehaviour::reply(""),
        };
        if let ServerAction::Reply(reply) = &mut behaviour.act {
            let calls = line.tool_calls.iter();
            reply.calls = calls
                .map(|call| (call.name.clone(), call.arguments.to_string()))
                .collect();
        }
        if let (Some(usage), ServerAction::Reply(reply)) = (&line.usage, &mut behaviour.act) {
            reply.usage = ReportedUsage::Says {
                input: usage.input_tokens,
                output: usage.output_tokens,
            };
        }
        behaviour.after(self.latency + Duration::from_millis(line.delay_ms))
    }
}
