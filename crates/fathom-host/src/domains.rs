//! What outlives runs and is looked at and changed by them: the symbols, and the histories of sessions.

use std::sync::{Arc, Mutex, PoisonError};

use fathom_core::domain::DomainRequest;
use fathom_core::event::EventKind;
use fathom_core::id::{AskId, EpisodeId, RunId};
use fathom_core::programs::phases;
use fathom_core::symbols::{self, SymbolAnswer, SymbolFault, SymbolFaultKind, SymbolRequest};
use fathom_core::text::Text;
use fathom_core::unit::Timestamp;
use fathom_store::history::{Head, History, HistoryEntry};
use fathom_store::symbols::{RedisAddress, RequestKey, SymbolStore, Symbols};
use fathom_store::{ChainCheck, Home, Journal, RunQuery};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::error::HostError;
use crate::local::Embedded;
use crate::material::symbol_embedding;
use crate::reading::Reading;

/// Where the symbols are.
#[derive(Clone, Default)]
pub enum SymbolsAt {
    /// In a file of the home.
    #[default]
    Home,
    /// On a Redis server.
    Redis(RedisAddress),
}

/// What a session is asked for.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
enum HistoryRequest {
    Append {
        session: String,
        entries: Vec<phases::Entry>,
    },
}

/// What a session answers. The head in the journal is what shows later that the end of the history was cut off.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct HistoryAnswer {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) head: Option<Head>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fault: Option<HistoryFault>,
}

#[derive(Debug, Serialize, Deserialize)]
struct HistoryFault {
    code: String,
    message: String,
}

/// The key of a request that no run makes. It is another one each time.
#[expect(
    clippy::disallowed_methods,
    reason = "a request by hand has no run that names it"
)]
pub fn by_hand() -> RequestKey {
    RequestKey::new(RunId::new(Uuid::now_v7()), &EpisodeId::root(), AskId(0))
}

/// Who asks.
pub(crate) struct Asking {
    pub(crate) run: RunId,
    pub(crate) episode: EpisodeId,
    pub(crate) ask: AskId,
    pub(crate) at: Timestamp,
}

/// The domains of a home.
pub struct Domains {
    home: Home,
    journal: Arc<dyn Journal>,
    at: SymbolsAt,
    embedded: Arc<Embedded>,
    symbols: Mutex<Option<Arc<Symbols>>>,
    /// One history at a time is written in this process.
    writing: Mutex<()>,
}

impl Domains {
    pub(crate) fn new(
        home: Home,
        journal: Arc<dyn Journal>,
        at: SymbolsAt,
        embedded: Arc<Embedded>,
    ) -> Self {
        Self {
            home,
            journal,
            at,
            embedded,
            symbols: Mutex::default(),
            writing: Mutex::default(),
        }
    }

    /// The symbols. They are opened when they are first wanted; a server that did not answer is asked again.
    pub fn symbols(&self) -> Result<Arc<Symbols>, HostError> {
        let mut kept = self.symbols.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(symbols) = &*kept {
            return Ok(Arc::clone(symbols));
        }
        let embed = symbol_embedding(&self.embedded);
        let symbols = Arc::new(match &self.at {
            SymbolsAt::Home => Symbols::in_file(&self.home.symbols_path(), embed)?,
            SymbolsAt::Redis(address) => Symbols::on_redis(address, embed)?,
        });
        *kept = Some(Arc::clone(&symbols));
        Ok(symbols)
    }

    /// The history of a session, checked against what the journal knows of its end.
    pub fn history(&self, session: &str) -> Result<History, HostError> {
        let known = self.known_head(session)?;
        Ok(self.home.open_history(session, known.as_ref())?)
    }

    /// Where the history ended when a run last wrote to it, by the newest run of the session that did.
    fn known_head(&self, session: &str) -> Result<Option<Head>, HostError> {
        let query = RunQuery::newest(RunQuery::LIMIT_MAX);
        for info in self.journal.list_runs(&query)? {
            if info.program != phases::NAME || !self.is_of(info.run, session)? {
                continue;
            }
            let reading = Reading::of(&*self.journal, &self.home, info.run)?;
            let heads = reading.records.iter().rev().filter_map(|read| {
                let EventKind::DomainAnswered { answer, .. } = &read.record.event.kind else {
                    return None;
                };
                serde_json::from_str::<HistoryAnswer>(answer.as_str())
                    .ok()?
                    .head
            });
            if let Some(head) = heads.into_iter().next() {
                return Ok(Some(head));
            }
        }
        Ok(None)
    }

    /// Whether a run belongs to a session, by its first record.
    fn is_of(&self, run: RunId, session: &str) -> Result<bool, HostError> {
        let Some(sealer) = self.home.keys().sealer(run)? else {
            return Ok(false);
        };
        let Some(first) = self.journal.records(run).next() else {
            return Ok(false);
        };
        let first = first?;
        let mut check = ChainCheck::new(run, first.episode.clone());
        let Ok(mut record) = check.step(&first.bytes, &first.hash) else {
            return Ok(false);
        };
        sealer.open(&mut record, |address| self.journal.blob(run, address))?;
        let EventKind::Started(started) = &record.event.kind else {
            return Ok(false);
        };
        let params = phases::Params::read(&started.program);
        Ok(params.is_ok_and(|params| params.session.as_deref() == Some(session)))
    }

    /// Answers a run. Whatever goes wrong is an answer too, so that the run can say so and go on.
    pub(crate) fn carry_out(&self, asking: &Asking, request: &DomainRequest) -> Option<Text> {
        let said = request.request.as_str();
        let answer = match request.domain.as_str() {
            symbols::DOMAIN => serde_json::to_string(&self.ask_symbols(asking, said)),
            phases::HISTORY => serde_json::to_string(&self.ask_history(asking, said)),
            _ => return None,
        };
        Some(Text::new(answer.unwrap_or_default()))
    }

    fn ask_symbols(&self, asking: &Asking, said: &str) -> SymbolAnswer {
        let fault = |kind, message: String| SymbolAnswer {
            fault: Some(SymbolFault { kind, message }),
            ..SymbolAnswer::default()
        };
        let request: SymbolRequest = match serde_json::from_str(said) {
            Ok(request) => request,
            Err(error) => return fault(SymbolFaultKind::Invalid, error.to_string()),
        };
        let key = RequestKey::new(asking.run, &asking.episode, asking.ask);
        let answer = self
            .symbols()
            .and_then(|symbols| Ok(symbols.carry_out(&key, &request)?));
        answer.unwrap_or_else(|error| {
            tracing::warn!(code = error.code(), %error, "the symbols did not answer");
            let message = format!("{error} ({}; hint: {})", error.code(), error.hint());
            fault(SymbolFaultKind::Unavailable, message)
        })
    }

    fn ask_history(&self, asking: &Asking, said: &str) -> HistoryAnswer {
        match self.append(asking, said) {
            Ok(head) => HistoryAnswer {
                head: Some(head),
                fault: None,
            },
            Err(error) => {
                tracing::warn!(code = error.code(), %error, "the session was not kept");
                HistoryAnswer {
                    head: None,
                    fault: Some(HistoryFault {
                        code: error.code().to_owned(),
                        message: format!("{error} (hint: {})", error.hint()),
                    }),
                }
            }
        }
    }

    fn append(&self, asking: &Asking, said: &str) -> Result<Head, HostError> {
        let HistoryRequest::Append { session, entries } =
            serde_json::from_str(said).map_err(|error| HostError::BadRequest {
                domain: phases::HISTORY,
                cause: error.to_string(),
            })?;
        let entries: Vec<HistoryEntry> = entries
            .into_iter()
            .map(|entry| HistoryEntry {
                who: entry.who,
                text: entry.text,
                at_ms: asking.at,
                run: asking.run,
            })
            .collect();
        let _one_at_a_time = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut history = self.history(&session)?;
        let key = RequestKey::new(asking.run, &asking.episode, asking.ask);
        Ok(history.append(&key.to_string(), &entries)?)
    }
}
