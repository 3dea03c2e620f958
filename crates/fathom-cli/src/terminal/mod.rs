//! The terminal: the one door to stdout and stderr, and what is drawn through it.

pub(crate) mod download_meter;
pub(crate) mod live_area;
pub(crate) mod logs;
pub(crate) mod masking;
pub(crate) mod output;
pub(crate) mod plain_text;
pub(crate) mod status_line;
pub(crate) mod styled_line;
pub(crate) mod table;
