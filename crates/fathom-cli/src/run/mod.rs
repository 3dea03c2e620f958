//! Starting, following and ending a run from the command line.

pub(crate) mod background_resume;
pub(crate) mod conclude;
pub(crate) mod embedded_models;
pub(crate) mod follow;
pub(crate) mod launch;
pub(crate) mod signals;
