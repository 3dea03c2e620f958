//! What policies may speak about.

use std::fmt::Write as _;

use crate::error::GatewayError;

/// Roles, accounts and the facts of a question; all but the names of actions.
pub const SCHEMA: &str = include_str!("schema.cedarschema");

/// Longest name of an action, in bytes.
const ACTION_BYTES_MAX: usize = 128;

/// The schema with a charter's actions. What is not named there is denied, and a policy that speaks of it is refused.
pub fn with_actions<'a>(
    actions: impl IntoIterator<Item = &'a str>,
) -> Result<String, GatewayError> {
    let mut schema = SCHEMA.to_owned();
    for action in actions {
        let is_plain =
            |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':' | '/');
        if action.is_empty() || action.len() > ACTION_BYTES_MAX || !action.chars().all(is_plain) {
            let action: String = action.chars().take(64).collect();
            return Err(GatewayError::Settings {
                what: format!("`{action}` is no name of an action"),
            });
        }
        let _infallible = write!(
            schema,
            "\naction \"{action}\" appliesTo {{ principal: Role, resource: Account, context: Asked }};"
        );
    }
    schema.push('\n');
    Ok(schema)
}
