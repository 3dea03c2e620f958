//! A copy of a history for others, in the format of age.

use std::io::{self, Write};

use super::age::{self, Body, Drawn, Recipient};
use super::{HistoryError, SessionHistoryStore};

/// Maximum number of a recipient's characters shown in an error.
const SHOWN_CHARS_MAX: usize = 16;

impl SessionHistoryStore {
    /// Writes all entries, one JSON object a line, encrypted with `age` for the recipients (`age1…`).
    ///
    /// Users may give an identity, which is a secret, instead of a recipient: an error never repeats it.
    pub fn export_age(
        &mut self,
        recipients: &[&str],
        out: &mut dyn Write,
    ) -> Result<(), HistoryError> {
        let recipients = recipients
            .iter()
            .map(|recipient| {
                Recipient::read(recipient.trim()).ok_or_else(|| no_recipient(recipient))
            })
            .collect::<Result<Vec<Recipient>, _>>()?;
        let broken = |source| HistoryError::Export { source };
        let drawn = Drawn::draw(recipients.len()).map_err(broken)?;
        let head = age::head(&recipients, &drawn).map_err(broken)?;
        let head = head.ok_or_else(|| no_recipient(""))?;
        let entries = self.read()?;
        let write = || -> io::Result<()> {
            out.write_all(head.as_bytes())?;
            let mut body = Body::begin(out, &drawn)?;
            for entry in &entries {
                serde_json::to_writer(&mut body, entry)?;
                body.write_all(b"\n")?;
            }
            body.finish()?.flush()
        };
        write().map_err(broken)
    }
}

fn no_recipient(said: &str) -> HistoryError {
    let said = said.trim();
    let recipient = if said.to_ascii_lowercase().contains("secret") {
        "(a secret)".to_owned()
    } else {
        said.chars().take(SHOWN_CHARS_MAX).collect()
    };
    HistoryError::Recipient { recipient }
}
