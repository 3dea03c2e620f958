//! Error of a reply without the object that was asked for.

/// Reason that a reply lacks the one JSON object that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ReplyError {
    #[error("the reply has no JSON object")]
    NoObject,
    /// An object has no end, or is nested too deeply.
    #[error("the reply has a JSON object without an end")]
    Cut,
    /// There are two or more.
    #[error("the reply has more than one JSON object")]
    Several,
    /// Its members are not those of the form.
    #[error("the reply's JSON object has another form: {0}")]
    Form(String),
}
