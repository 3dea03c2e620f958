//! A panic is a bug, and is reported like every other error.

use std::panic::PanicHookInfo;
use std::sync::{Mutex, PoisonError};

use crate::error::CliError;
use crate::terminal::output;

static LAST: Mutex<Option<String>> = Mutex::new(None);

/// Has panics reported in one line and a hint, without a wall of frames.
pub(crate) fn report_panics() {
    std::panic::set_hook(Box::new(|info| {
        let what = describe(info);
        output::say(&CliError::Bug { what: what.clone() }.lines());
        // The hook has the place of the panic, and `catch_unwind` does not; this carries it over for `--json`.
        *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some(what);
    }));
}

/// The last panic as an error.
pub(crate) fn last() -> CliError {
    let last = LAST.lock().unwrap_or_else(PoisonError::into_inner).take();
    CliError::Bug {
        what: last.unwrap_or_else(|| "panic without a message".to_owned()),
    }
}

fn describe(info: &PanicHookInfo<'_>) -> String {
    let said = info.payload_as_str().unwrap_or("no message");
    let place = info.location().map_or_else(String::new, |place| {
        format!(" at {}:{}", place.file(), place.line())
    });
    format!("internal error: {said}{place}")
}
