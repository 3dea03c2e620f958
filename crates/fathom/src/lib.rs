//! Fathom as a library: the same engine, homes and records as the command line's, for programs in Rust.
//!
//! A question goes in, an answer comes out, and everything between is in a journal: which model was asked what, what it
//! cost, which code ran, which effect was allowed by whom. Every run has a budget that holds for its whole tree of
//! sub-questions. A run can be resumed after a crash, replayed without a model, and forked at any record.
//!
//! | to … | call |
//! |---|---|
//! | open a home | [`Fathom::open`], [`Fathom::builder`] |
//! | ask | [`Fathom::ask`], [`Fathom::council`], [`Fathom::explore`], [`Fathom::phases`], [`Fathom::think`] |
//! | choose a model | [`RunRequest::model`], [`ModelChoice`] |
//! | set limits | [`RunRequest::budget`], [`RunRequest::contract`] |
//! | follow a run | [`StartedRun::events`], [`StartedRun::view`] |
//! | wait for it | [`StartedRun::answer`], [`StartedRun::wait`] |
//! | decide | [`Fathom::approvals`], [`Fathom::approve`], [`Fathom::deny`] |
//! | look back | [`Fathom::runs`], [`Fathom::show`], [`Fathom::replay`], [`Fathom::verify`] |
//! | go on | [`Fathom::resume`], [`Fathom::fork`], [`Fathom::cancel`] |
//!
//! Everything that fails does so with a [`FathomError`], which has a stable code and a hint.
//!
//! The examples below are the files in `examples/` of this crate. Their model is a script, so each runs as it stands, with
//! `cargo run -p fathom --example NAME` or as a test of this page; any other model does as well.
//!
//! # Ask
//!
//! ```
#![doc = include_str!("../examples/ask.rs")]
//! ```
//!
//! # Have a council decide over files
//!
//! ```
#![doc = include_str!("../examples/council.rs")]
//! ```
//!
//! # Explore a log of 5 MB
//!
//! The model never sees the log: it writes code, which runs in a sandbox process without files and network. That takes a
//! `CPython` of at least version 3.10 in one of the usual places.
//!
//! ```
#![doc = include_str!("../examples/explore.rs")]
//! ```
//!
//! # Carry out an effect after an approval
//!
//! ```
#![doc = include_str!("../examples/approval.rs")]
//! ```
//!
//! # Stream the events of a run
//!
//! ```
#![doc = include_str!("../examples/events.rs")]
//! ```
//!
//! # Replay and verify
//!
//! ```
#![doc = include_str!("../examples/replay.rs")]
//! ```
#![warn(missing_docs)]

mod builder;
mod environment;
mod error;
mod events;
mod home;
mod model_choice;
mod preparation;
mod request;
mod run;

pub use builder::FathomBuilder;
pub use error::FathomError;
pub use events::{RunEvent, RunEventKind, RunEvents};
pub use home::Fathom;
pub use model_choice::ModelChoice;
pub use request::{
    AskOptions, CouncilOptions, ExploreOptions, PhasesOptions, RunRequest, ThinkOptions,
};
pub use run::{RunAnswer, RunOutcome, StartedRun};

/// Names of runs, of their parts, and of approvals.
pub mod ids {
    pub use fathom_core::id::{Digest, EpisodeId, InvalidId, RunId, Seq};
    pub use fathom_store::ApprovalId;
}

/// Limits of a run: a [`Budget`](limits::Budget) of amounts, and a [`Contract`](limits::Contract) of what it may do.
pub mod limits {
    pub use fathom_core::budget::amounts::{Amounts, Budget, Dimension};
    pub use fathom_core::contract::{Autonomy, Contract, PermissionMode, RecursionPolicy};
    pub use fathom_core::episode::result::BudgetUse;
    pub use fathom_core::unit::{Millis, Nanodollars, Timestamp};
    pub use fathom_host::config::PartialBudget;
}

/// Effects, the decisions about them, and the approvals that they wait for.
pub mod approvals {
    pub use fathom_core::effect::{
        ApprovalTerms, EffectOutcome, EffectRequest, EffectTarget, PolicyDecision,
    };
    pub use fathom_host::governance::people::{ApprovalRequest, ApprovalView};
    pub use fathom_store::{ApprovalRecord, ApprovalState};
}

/// The record of runs, read back.
pub mod records {
    pub use fathom_core::contract::stop::StopReason;
    pub use fathom_core::episode::result::EpisodeStatus;
    pub use fathom_core::run::step::ReplayDifference;
    pub use fathom_host::ReplayReport;
    pub use fathom_host::view::run::{EpisodeState, EpisodeView, RecordRef, RunView};
    pub use fathom_store::{RunInfo, RunState, Verification, VerifyProblem};
}
