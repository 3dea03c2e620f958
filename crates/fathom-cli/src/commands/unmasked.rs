//! `--original`: what is otherwise masked, for those who may decide.

use fathom_host::governance::people::OsUser;

use crate::app::App;
use crate::error::CliError;
use crate::terminal::masking::{self, Unmasked};
use crate::terminal::output;
use crate::terminal::styled_line::{LineStyle, StyledLine};

/// Shows values as they are from now on, when the user may decide here, and says so aloud.
pub(super) fn lift(app: &App, why: Unmasked) -> Result<(), CliError> {
    // Only people with a role in this home may see what was masked.
    let person = app.runtime.check_user(&OsUser::current())?;
    let said = format!("personal data and secrets are shown unmasked to {person}");
    // Said first, so that whoever looks at the screen knows why it shows personal data.
    output::say(&[StyledLine::new().with(LineStyle::Odd, said)]);
    masking::lift(why);
    Ok(())
}
