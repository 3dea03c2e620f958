//! A model that replies from a file, for tests and demonstrations.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use fathom_core::model::failure::{FailureKind, ModelFailure};
use fathom_core::model::tool_call;
use fathom_core::model::{ModelRequest, ReplyMode, RequestEstimate};
use fathom_core::text::Text;
use regex::Regex;
use serde::Deserialize;
use serde_json::Value;

use super::render;
use crate::clock;
use crate::error::ModelsError;
use crate::http::classify_failure::{
    self, DETAIL_CHARS_MAX, ProviderMessage, RETRY_AFTER_MAX, clean,
};
use crate::http::endpoint::EndpointId;
use crate::http::exchange::timed_out;
use crate::http::reply_builder::{ProviderStop, ReplyBuilder};
use crate::model::{CallFuture, Model, TokenSink};
use crate::prices::{ModelFacts, PriceBasis};
use crate::tokens::{self, TokenCounter};

/// Maximum number of characters shown of a request without a matching line.
const UNFIT_CHARS_MAX: usize = 120;

/// One line as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptLine {
    r#match: Option<String>,
    reply: Option<String>,
    #[serde(default)]
    tool_calls: Vec<WrittenCall>,
    error: Option<WrittenError>,
    usage: Option<WrittenUsage>,
    #[serde(default)]
    delay_ms: u64,
    #[serde(default = "once")]
    times: u64,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCall {
    name: String,
    /// An object; a string stands for anything a model may write instead.
    arguments: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenError {
    status: u16,
    retry_after_s: Option<f64>,
    message: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenUsage {
    #[serde(rename = "input_tokens", alias = "prompt_tokens")]
    input: u64,
    #[serde(rename = "output_tokens", alias = "completion_tokens")]
    output: u64,
    /// Accepted for compatibility and ignored.
    #[serde(default, rename = "total_tokens")]
    _total: u64,
}

fn once() -> u64 {
    1
}

/// A mistake in a line of a script.
#[derive(Debug, thiserror::Error)]
enum LineFault {
    #[error(transparent)]
    Json(serde_json::Error),
    #[error("`match`: {0}")]
    Match(regex::Error),
    #[error("`times` is 0: the line would never answer")]
    NeverAnswers,
    #[error("has both `tool_calls` and `error`")]
    CallsAndError,
    #[error("has neither `reply` nor `error`")]
    NoAnswer,
    #[error("has both `reply` and `error`")]
    ReplyAndError,
    #[error("`status` is {0}, not from 400 to 599")]
    Status(u16),
    #[error("`retry_after_s`: {0}")]
    RetryAfter(std::time::TryFromFloatSecsError),
}

/// Answer of a line.
#[derive(Clone)]
enum ScriptAnswer {
    Reply {
        text: Arc<str>,
        calls: Arc<[WrittenCall]>,
        usage: Option<WrittenUsage>,
    },
    Failure(ModelFailure),
}

/// One parsed line.
struct ScriptEntry {
    fits: Option<Regex>,
    answer: ScriptAnswer,
    delay: Duration,
    times: u64,
}

impl ScriptEntry {
    fn mean(written: ScriptLine) -> Result<Self, LineFault> {
        let fits = written
            .r#match
            .map(|pattern| Regex::new(&pattern).map_err(LineFault::Match))
            .transpose()?;
        if written.times == 0 {
            return Err(LineFault::NeverAnswers);
        }
        let has_calls = !written.tool_calls.is_empty();
        let answer = match (written.reply, written.error) {
            (None, Some(_)) if has_calls => {
                return Err(LineFault::CallsAndError);
            }
            (None, None) if !has_calls => {
                return Err(LineFault::NoAnswer);
            }
            (text, None) => ScriptAnswer::Reply {
                text: text.unwrap_or_default().into(),
                calls: written.tool_calls.into(),
                usage: written.usage,
            },
            (None, Some(error)) => ScriptAnswer::Failure(fail(error)?),
            (Some(_), Some(_)) => return Err(LineFault::ReplyAndError),
        };
        Ok(Self {
            fits,
            answer,
            delay: Duration::from_millis(written.delay_ms),
            times: written.times,
        })
    }
}

fn fail(error: WrittenError) -> Result<ModelFailure, LineFault> {
    if !(400..600).contains(&error.status) {
        return Err(LineFault::Status(error.status));
    }
    let wait = error
        .retry_after_s
        .map(|seconds| {
            Duration::try_from_secs_f64(seconds.min(RETRY_AFTER_MAX.as_secs_f64()))
                .map_err(LineFault::RetryAfter)
        })
        .transpose()?;
    let said = ProviderMessage {
        message: error
            .message
            .unwrap_or_else(|| "as the script says".to_owned()),
        ..ProviderMessage::default()
    };
    Ok(classify_failure::status(
        error.status,
        &said,
        wait.map(classify_failure::millis),
    ))
}

/// A script and the number of answers of each line.
pub(crate) struct ModelScript {
    path: PathBuf,
    lines: Vec<ScriptEntry>,
    used: Mutex<Vec<u64>>,
}

impl fmt::Debug for ModelScript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Script")
            .field("path", &self.path)
            .field("lines", &self.lines.len())
            .finish_non_exhaustive()
    }
}

impl ModelScript {
    /// Parses a script.
    pub(crate) fn parse(path: &Path, text: &str) -> Result<Self, ModelsError> {
        let lines = text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty())
            .map(|(index, line)| {
                serde_json::from_str(line)
                    .map_err(LineFault::Json)
                    .and_then(ScriptEntry::mean)
                    .map_err(|cause| ModelsError::ScriptLine {
                        path: path.to_owned(),
                        line: index + 1,
                        cause: cause.to_string(),
                    })
            })
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            path: path.to_owned(),
            used: Mutex::new(vec![0; lines.len()]),
            lines,
        })
    }

    /// The answer of the first unused line that matches.
    fn take(&self, rendered: &str) -> Result<(ScriptAnswer, Duration), ModelFailure> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let fitting = self.lines.iter().zip(used.iter_mut()).find(|(line, used)| {
            **used < line.times
                && line
                    .fits
                    .as_ref()
                    .is_none_or(|fits| fits.is_match(rendered))
        });
        if let Some((line, used)) = fitting {
            *used += 1;
            return Ok((line.answer.clone(), line.delay));
        }
        let left = self
            .lines
            .iter()
            .zip(used.iter())
            .filter(|(line, used)| **used < line.times)
            .count();
        let last = rendered.lines().last().unwrap_or_default();
        let detail = format!(
            "no unused line of `{}` fits ({left} of {} lines left); the request ends: {}",
            self.path.display(),
            self.lines.len(),
            clean(last, UNFIT_CHARS_MAX),
        );
        let detail = clean(&detail, DETAIL_CHARS_MAX);
        Err(ModelFailure::unsent(FailureKind::Rejected, detail))
    }
}

/// A model that replies from a script.
#[derive(Debug)]
pub(crate) struct ScriptedModel {
    id: String,
    endpoint: EndpointId,
    script: Arc<ModelScript>,
    counter: TokenCounter,
    facts: ModelFacts,
}

impl ScriptedModel {
    pub(crate) fn new(id: &str, script: Arc<ModelScript>, counter: TokenCounter) -> Self {
        Self {
            id: id.to_owned(),
            endpoint: EndpointId::new(id),
            script,
            counter,
            facts: ModelFacts::unlisted(PriceBasis::Free),
        }
    }

    async fn speak(
        &self,
        request: &ModelRequest,
        deltas: &mut TokenSink<'_>,
        heard: &mut ReplyBuilder,
    ) -> Result<(), ModelFailure> {
        let (answer, delay) = self.script.take(&render(request))?;
        if !delay.is_zero() {
            clock::wait(delay).await;
        }
        let (text, calls, usage) = match answer {
            ScriptAnswer::Failure(failure) => return Err(failure),
            ScriptAnswer::Reply { text, calls, usage } => (text, calls, usage),
        };
        for call in calls.iter() {
            let arguments = match &call.arguments {
                Value::String(arguments) => arguments.clone(),
                arguments => arguments.to_string(),
            };
            hear_call(heard, &call.name, &arguments)?;
        }
        let text: Arc<str> = if heard.offered && calls.is_empty() {
            // Such a line stands for a model without tool calls of its own.
            let (text, calls) = tool_call::out_of_words(text.to_string());
            for call in calls {
                hear_call(heard, call.name.as_str(), call.arguments.as_str())?;
            }
            text.into()
        } else {
            text
        };
        match request.delivery {
            ReplyMode::Whole => heard.text.push_str(&text),
            ReplyMode::Streamed => {
                for word in text.split_inclusive(char::is_whitespace) {
                    heard.text.push_str(word);
                    deltas(word);
                    // A listener may interrupt between two words.
                    tokio::task::yield_now().await;
                }
            }
        }
        heard.stop = Some(ProviderStop::Complete);
        heard.input_tokens = usage.map(|usage| usage.input);
        heard.output_tokens = usage.map(|usage| usage.output);
        Ok(())
    }
}

fn hear_call(heard: &mut ReplyBuilder, name: &str, arguments: &str) -> Result<(), ModelFailure> {
    heard.call(None, name, arguments).map_err(|_| {
        let detail = "the line has too many calls of tools";
        ModelFailure::unsent(FailureKind::Rejected, detail)
    })
}

impl Model for ScriptedModel {
    fn id(&self) -> &str {
        &self.id
    }

    fn endpoint(&self) -> &EndpointId {
        &self.endpoint
    }

    fn facts(&self) -> &ModelFacts {
        &self.facts
    }

    fn measure(&self, request: &ModelRequest) -> Result<RequestEstimate, ModelFailure> {
        self.counter.measure(request, &self.facts, 0)
    }

    fn count(&self, text: &str) -> u64 {
        self.counter.count(text).0
    }

    fn call<'a>(
        &'a self,
        request: &'a ModelRequest,
        deltas: &'a mut TokenSink<'_>,
    ) -> CallFuture<'a> {
        Box::pin(async move {
            let started = clock::now();
            tokens::check(request)?;
            let mut heard = ReplyBuilder::of(request);
            let speaking = self.speak(request, deltas, &mut heard);
            let outcome = match tokio::time::timeout(request.timeout.into(), speaking).await {
                Ok(outcome) => outcome,
                Err(_) => Err(timed_out(request.timeout)),
            };
            if let Err(mut failure) = outcome {
                failure.partial = Text::from(heard.text);
                return Err(failure);
            }
            let latency = classify_failure::millis(clock::now() - started);
            heard.settle(self, request, &self.counter, latency)
        })
    }
}
