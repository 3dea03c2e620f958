//! Errors of values on the command line, in the words that clap puts after `invalid value … for …`.

use fathom_host::config::ConfigValueError;

/// A value on the command line that its flag cannot have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ArgumentValueError {
    #[error("expected a whole number")]
    NotWhole,
    #[error("expected a number")]
    NotANumber,
    #[error("expected a number from 0.1 to 3600")]
    SecondsOutOfRange,
    #[error("expected global, tenant:X, platform:X, account:X or action:X")]
    Scope,
    #[error("expected `name=value`")]
    Pair,
    #[error("expected `yes`, `no` or `abstain`")]
    Vote,
    #[error("the interval must be longer than zero")]
    EmptyInterval,
    #[error(transparent)]
    Config(#[from] ConfigValueError),
}
