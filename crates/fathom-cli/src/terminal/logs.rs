//! Logs of the libraries on stderr, enabled by `FATHOM_LOG`.
//!
//! An event becomes one line with the fields of its spans, and the line passes the filters of
//! [`crate::terminal::masking`]. An exporter of another kind takes its lines from the same writer, or its fields
//! through the same filters.

use std::io::Write;

use tracing::Subscriber;
use tracing_subscriber::filter::EnvFilter;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::error::CliError;
use crate::terminal::output::LogWriter;

/// The variable that says what is logged, as `warn` or `fathom_models=debug`.
pub(crate) const VARIABLE: &str = "FATHOM_LOG";

/// Begins to log what `wanted` names; nothing where it names nothing.
pub(crate) fn begin(wanted: Option<&str>) -> Result<(), CliError> {
    let Some(wanted) = wanted else {
        return Ok(());
    };
    let filter = EnvFilter::try_new(wanted).map_err(|error| CliError::BadValue {
        what: VARIABLE.to_owned(),
        value: wanted.to_owned(),
        why: error.to_string(),
    })?;
    subscriber(filter, || LogWriter)
        .try_init()
        .map_err(|error| CliError::Setup(std::io::Error::other(error)))
}

/// Events as lines, each written at once.
fn subscriber<W: Write + 'static>(
    filter: EnvFilter,
    writer: impl Fn() -> W + Send + Sync + 'static,
) -> impl Subscriber + Send + Sync {
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .with_writer(writer)
        .finish()
}

#[cfg(test)]
#[path = "logs_tests.rs"]
mod tests;
