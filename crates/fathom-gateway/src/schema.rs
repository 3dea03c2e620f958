//! The Cedar schema: the vocabulary of policies.

use std::fmt::Write as _;

use crate::error::GatewayError;

/// Roles, accounts and the facts of a question; everything except the names of actions.
pub const SCHEMA: &str = include_str!("schema.cedarschema");

/// Longest name of an action, in bytes.
const ACTION_BYTES_MAX: usize = 128;

/// The schema with a charter's actions. An action that is not listed is denied, and a policy that names it is
/// refused.
pub fn with_actions<'a>(
    actions: impl IntoIterator<Item = &'a str>,
) -> Result<String, GatewayError> {
    let mut schema = SCHEMA.to_owned();
    for action in actions {
        // The name is written between quotes into the schema's source below, so nothing that could end the
        // string may pass.
        let is_plain =
            |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':' | '/');
        if action.is_empty() || action.len() > ACTION_BYTES_MAX || !action.chars().all(is_plain) {
            let action: String = action.chars().take(64).collect();
            return Err(GatewayError::Settings {
                what: format!("invalid action name `{action}`"),
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
