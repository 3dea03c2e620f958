//! Errors of single values, without their place: the caller knows the file, the key or the flag.

/// A value that a configuration or a flag cannot have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigValueError {
    /// Something other than digits where a count is expected.
    #[error("`{value}` is not a whole number")]
    NotWhole { value: String },
    /// A budget has no such dimension.
    #[error(
        "unknown budget dimension `{key}`; expected one of tokens, calls, tools, time, cost, episodes"
    )]
    UnknownDimension { key: String },
    /// A duration without a unit, or too long to count.
    #[error("invalid duration `{text}`; expected e.g. `30s`, `5m` or `2h`")]
    Duration { text: String },
    /// Not an amount of dollars with at most nine decimals.
    #[error("invalid dollar amount `{text}`; expected e.g. `0.25`")]
    Dollars { text: String },
    /// Two of the creator and the roles share a key.
    #[error("`key:{fingerprint}` is used twice; the creator and each role need different keys")]
    SharedKey { fingerprint: String },
}
