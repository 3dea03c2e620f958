//! A copy of a history for others, in the format of age.

use std::io::{self, Write};

use age::x25519;

use super::{History, HistoryError};

/// Maximum number of a recipient's characters shown in an error.
const SHOWN_CHARS_MAX: usize = 16;

impl History {
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
                recipient
                    .trim()
                    .parse()
                    .map_err(|_| no_recipient(recipient))
            })
            .collect::<Result<Vec<x25519::Recipient>, _>>()?;
        let recipients = recipients.iter().map(|one| one as &dyn age::Recipient);
        let encryptor =
            age::Encryptor::with_recipients(recipients).map_err(|_| no_recipient(""))?;
        let entries = self.read()?;
        let write = || -> io::Result<()> {
            let mut sealed = encryptor.wrap_output(&mut *out)?;
            for entry in &entries {
                serde_json::to_writer(&mut sealed, entry)?;
                sealed.write_all(b"\n")?;
            }
            sealed.finish()?.flush()
        };
        write().map_err(|source| HistoryError::Export { source })
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
