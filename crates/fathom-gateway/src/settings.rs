//! Settings beside the policies: `gateway.toml` of a charter.

use std::collections::{BTreeMap, BTreeSet};

use fathom_core::contract::{AgentRole, Autonomy};
use fathom_core::unit::Millis;
use serde::Deserialize;

use crate::annotations;
use crate::error::GatewayError;
use crate::schema;
use crate::trip_switch::TripWindow;

/// Maximum number of calls that a window covers.
const WINDOW_CALLS_MAX: u32 = 1_000;

/// Settings beside the policies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewaySettings {
    /// Actions that policies may name. All others are denied.
    pub actions: Vec<String>,
    /// Flags that are set at first.
    pub flags: BTreeSet<String>,
    /// Maximum autonomy by role.
    pub autonomy_max: BTreeMap<AgentRole, Autonomy>,
    /// Error window that trips the kill switch.
    pub trip: TripWindow,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SettingsFile {
    actions: Vec<String>,
    #[serde(default)]
    flags: BTreeMap<String, bool>,
    #[serde(default)]
    autonomy: BTreeMap<AgentRole, Autonomy>,
    #[serde(default)]
    trip: TripSettings,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct TripSettings {
    errors_max: u32,
    of: u32,
    per: String,
}

impl Default for TripSettings {
    fn default() -> Self {
        Self {
            errors_max: 5,
            of: 20,
            per: "10m".to_owned(),
        }
    }
}

impl GatewaySettings {
    /// Reads TOML.
    pub fn parse(text: &str) -> Result<Self, GatewayError> {
        let file: SettingsFile =
            toml::from_str(text).map_err(|error| refused(error.to_string()))?;
        // Only for its check: the names must be refused here, with the file that they come from, not when the
        // bundle is made.
        schema::with_actions(file.actions.iter().map(String::as_str))?;
        let flags = file.flags.into_iter();
        let trip = window(&file.trip)?;
        Ok(Self {
            actions: file.actions,
            flags: flags
                .filter_map(|(flag, set)| set.then_some(flag))
                .collect(),
            autonomy_max: file.autonomy,
            trip,
        })
    }

    /// Schema that this charter's policies are checked against.
    pub fn schema(&self) -> Result<String, GatewayError> {
        schema::with_actions(self.actions.iter().map(String::as_str))
    }
}

fn refused(what: String) -> GatewayError {
    GatewayError::Settings { what }
}

fn window(trip: &TripSettings) -> Result<TripWindow, GatewayError> {
    let per: Millis = annotations::duration(&trip.per).ok_or_else(|| {
        refused(format!(
            "invalid duration `{}`; expected e.g. `10m`",
            trip.per
        ))
    })?;
    if trip.errors_max == 0 || trip.errors_max > trip.of || trip.of > WINDOW_CALLS_MAX {
        return Err(refused(format!(
            "`errors_max` must be from 1 to `of`, and `of` at most {WINDOW_CALLS_MAX}"
        )));
    }
    Ok(TripWindow {
        errors_max: trip.errors_max,
        of: trip.of,
        per,
    })
}
