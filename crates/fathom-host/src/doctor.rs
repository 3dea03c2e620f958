//! The health of everything that is configured.

use fathom_core::model::{ModelSpec, Models};
use fathom_models::HealthState;

use crate::runtime::Runtime;

/// The health of one thing.
#[derive(Clone, Debug)]
pub struct Health {
    /// What was looked at.
    pub what: String,
    /// Whether it is as it should be.
    pub ok: bool,
    /// What was seen.
    pub detail: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Runtime {
    /// Looks at the home, the journal, its heads and the models.
    pub async fn doctor(&self, models: &Models) -> Vec<Health> {
        let mut found = vec![self.home_health(), self.journal_health()];
        found.push(self.model_health(&models.main).await);
        if models.sub != models.main {
            found.push(self.model_health(&models.sub).await);
        }
        found
    }

    fn home_health(&self) -> Health {
        let home = self.home();
        Health {
            what: "home".into(),
            ok: true,
            detail: format!("{}, private to you", home.folder().display()),
            hint: None,
        }
    }

    fn journal_health(&self) -> Health {
        let (ok, detail, hint) = match self.verify(None) {
            Ok(verification) if verification.problems.is_empty() => {
                let events = verification.events;
                (
                    true,
                    format!("{events} events, chains and heads are whole"),
                    None,
                )
            }
            Ok(verification) => (
                false,
                format!("{} problems", verification.problems.len()),
                Some("`fathom verify` says where".to_owned()),
            ),
            Err(error) => (false, error.to_string(), Some(error.hint())),
        };
        Health {
            what: "journal".into(),
            ok,
            detail,
            hint,
        }
    }

    async fn model_health(&self, spec: &ModelSpec) -> Health {
        let (ok, detail, hint) = match fathom_models::health(spec, self.read_env()).await {
            Ok(health) => {
                let hint = match health.state {
                    HealthState::Up => None,
                    HealthState::UnknownModel => Some("check the name after the slash"),
                    HealthState::KeyRefused => {
                        Some("check the key, `--api-key-env` names its variable")
                    }
                    HealthState::Down => Some("start the server, or check `--base-url`"),
                };
                let ok = health.state == HealthState::Up;
                (ok, health.detail, hint.map(str::to_owned))
            }
            Err(error) => (false, error.to_string(), Some(error.hint())),
        };
        Health {
            what: format!("model {}", spec.id),
            ok,
            detail,
            hint,
        }
    }
}
