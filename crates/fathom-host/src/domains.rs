//! Domains that outlive runs, which read and change them: the symbols and the session histories.

use std::sync::{Arc, Mutex, PoisonError};

use fathom_core::contract::AgentRole;
use fathom_core::domain::records::{
    EngagementEvent, RecordAnswer, RecordDraft, RecordFault, RecordKind, TEXT_CHARS_MAX,
    TITLE_CHARS_MAX, check_id,
};
use fathom_core::domain::symbols::{
    self, SymbolAnswer, SymbolFault, SymbolFaultKind, SymbolRequest,
};
use fathom_core::domain::{DomainRequest, owners};
use fathom_core::effect::EffectTarget;
use fathom_core::id::{AskId, EpisodeId, RunId};
use fathom_core::journal::event::EventKind;
use fathom_core::text::Text;
use fathom_core::unit::Timestamp;
use fathom_programs::phases;
use fathom_store::channels::ChannelStore;
use fathom_store::history::{HistoryEntry, HistoryHead, SessionHistoryStore};
use fathom_store::records::{DomainRecords, RecordCaller};
use fathom_store::symbols::{RedisAddress, RequestKey, SymbolStore, VersionedSymbols};
use fathom_store::{HomeFolder, Journal, RunQuery};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::channels::ChannelOutlets;
use crate::error::HostError;
use crate::material::symbol_embedding;
use crate::models::embedded::EmbeddedModels;
use crate::runtime::run_reader::{self, RunReader};

/// Location of the symbols.
#[derive(Clone, Default)]
pub enum SymbolStoreLocation {
    /// In a file of the home.
    #[default]
    Home,
    /// On a Redis server.
    Redis(RedisAddress),
}

/// Request to a session.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
enum HistoryRequest {
    Append {
        session: String,
        entries: Vec<phases::SessionEntry>,
    },
}

/// Answer of a session. The head in the journal shows later if the end of the history was cut off.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct HistoryAnswer {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) head: Option<HistoryHead>,
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

/// Most flags that are looked at.
const FLAGS_MAX: usize = 1_000;

/// Most comments that are taken in at once.
const COMMENTS_MAX: usize = 200;

/// A comment as an event; nothing when it has no id that could name one.
fn event(comment: &serde_json::Value, target: &EffectTarget) -> Option<RecordDraft> {
    let said = |key: &str| match comment.get(key)? {
        serde_json::Value::String(said) => Some(said.clone()),
        serde_json::Value::Number(said) => Some(said.to_string()),
        _ => None,
    };
    let id = said("id").filter(|id| check_id(id).is_ok())?;
    let bounded = |text: String, chars_max: usize| text.chars().take(chars_max).collect::<String>();
    let author = said("author").filter(|author| !author.trim().is_empty());
    // What is there already is found by its body, so nothing in it may depend on when it was fetched.
    let body = EngagementEvent {
        platform: target.platform.clone(),
        account: target.account.clone(),
        action: "comment".to_owned(),
        author: bounded(
            author.unwrap_or_else(|| "someone".to_owned()),
            TITLE_CHARS_MAX,
        ),
        text: bounded(said("text").unwrap_or_default(), TEXT_CHARS_MAX),
        about: said("post").map(|post| bounded(post, TITLE_CHARS_MAX)),
        at_ms: comment
            .get("at_ms")
            .and_then(serde_json::Value::as_u64)
            .map_or(Timestamp(0), Timestamp),
    };
    Some(RecordDraft {
        kind: RecordKind::EngagementEvent,
        id,
        body: serde_json::to_value(body).ok()?,
        evidence: Vec::new(),
    })
}

/// The episode that asks.
pub(crate) struct DomainCaller {
    pub(crate) run: RunId,
    pub(crate) role: AgentRole,
    pub(crate) episode: EpisodeId,
    pub(crate) ask: AskId,
    pub(crate) at: Timestamp,
}

/// The domains of a home.
pub struct DomainStores {
    home: HomeFolder,
    journal: Arc<dyn Journal>,
    at: SymbolStoreLocation,
    embedded: Arc<EmbeddedModels>,
    symbols: Mutex<Option<Arc<VersionedSymbols>>>,
    records: Mutex<Option<Arc<DomainRecords>>>,
    /// One history at a time is written in this process.
    writing: Mutex<()>,
    /// Channels for the delivery of blocks.
    pub(crate) outlets: Arc<ChannelOutlets>,
}

impl DomainStores {
    pub(crate) fn new(
        home: HomeFolder,
        journal: Arc<dyn Journal>,
        at: SymbolStoreLocation,
        embedded: Arc<EmbeddedModels>,
        outlets: ChannelOutlets,
    ) -> Self {
        Self {
            home,
            journal,
            at,
            embedded,
            symbols: Mutex::default(),
            records: Mutex::default(),
            writing: Mutex::default(),
            outlets: Arc::new(outlets),
        }
    }

    /// The symbols. They are opened when they are first wanted; a server that did not answer is asked again.
    pub fn symbols(&self) -> Result<Arc<VersionedSymbols>, HostError> {
        let mut kept = self.symbols.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(symbols) = &*kept {
            return Ok(Arc::clone(symbols));
        }
        let embed = symbol_embedding(&self.embedded);
        let symbols = Arc::new(match &self.at {
            SymbolStoreLocation::Home => {
                VersionedSymbols::in_file(&self.home.symbols_path(), embed)?
            }
            SymbolStoreLocation::Redis(address) => VersionedSymbols::on_redis(address, embed)?,
        });
        *kept = Some(Arc::clone(&symbols));
        Ok(symbols)
    }

    /// Store of deliveries, their feeds and the kept seeds.
    pub fn channels(&self) -> Result<ChannelStore, HostError> {
        Ok(self.home.open_channels()?)
    }

    /// Plans, assets, events and all other records that have owners.
    pub fn records(&self) -> Result<Arc<DomainRecords>, HostError> {
        let mut kept = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(records) = &*kept {
            return Ok(Arc::clone(records));
        }
        let records = Arc::new(self.home.open_records()?);
        *kept = Some(Arc::clone(&records));
        Ok(records)
    }

    /// The flags as people have set them, each with whether it is set.
    pub(crate) fn flags(&self) -> Vec<(String, bool)> {
        let found = self
            .records()
            .and_then(|records| Ok(records.list(RecordKind::Flag, 0, FLAGS_MAX)?));
        // Flags that cannot be read count as off, so that nothing is allowed by a flag that could not be checked.
        let found = found.unwrap_or_else(|error| {
            tracing::warn!(code = error.code(), %error, "cannot read the flags");
            Vec::new()
        });
        found
            .into_iter()
            .map(|flag| {
                (
                    flag.id,
                    flag.body.get("value") == Some(&serde_json::Value::Bool(true)),
                )
            })
            .collect()
    }

    /// Takes in what a feed brought: what people said, as they said it.
    pub(crate) fn ingest(
        &self,
        target: &EffectTarget,
        receipt: &str,
        at: Timestamp,
    ) -> Result<(), HostError> {
        let receipt: serde_json::Value = serde_json::from_str(receipt).unwrap_or_default();
        let body = receipt.get("body").unwrap_or(&receipt);
        let comments = body.get("comments").unwrap_or(body).as_array();
        let records = self.records()?;
        for comment in comments.into_iter().flatten().take(COMMENTS_MAX) {
            if let Some(draft) = event(comment, target) {
                records.ingest(&target.platform, at, &draft)?;
            }
        }
        Ok(())
    }

    /// The history of a session, checked against what the journal knows of its end.
    pub fn history(&self, session: &str) -> Result<SessionHistoryStore, HostError> {
        let known = self.known_head(session)?;
        Ok(self.home.open_history(session, known.as_ref())?)
    }

    /// End of the history at the last write of a run, taken from the newest run of the session that wrote.
    fn known_head(&self, session: &str) -> Result<Option<HistoryHead>, HostError> {
        let query = RunQuery::newest(RunQuery::LIMIT_MAX);
        for info in self.journal.list_runs(&query)? {
            if info.program != phases::NAME || !self.is_of(info.run, session)? {
                continue;
            }
            let reading = RunReader::of(&*self.journal, &self.home, info.run)?;
            // Later answers first: only the newest head is as long as the file has to be.
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

    /// True if the run belongs to the session, by its first record.
    fn is_of(&self, run: RunId, session: &str) -> Result<bool, HostError> {
        let Some(started) = run_reader::started(&*self.journal, &self.home, run)? else {
            return Ok(false);
        };
        let params = phases::PhasesConfig::read(&started.program);
        Ok(params.is_ok_and(|params| params.session.as_deref() == Some(session)))
    }

    /// Answers a run. An error is an answer as well, so that the run can report it and continue.
    pub(crate) fn carry_out(&self, asking: &DomainCaller, request: &DomainRequest) -> Option<Text> {
        let said = request.request.as_str();
        let answer = match request.domain.as_str() {
            symbols::DOMAIN => serde_json::to_string(&self.ask_symbols(asking, said)),
            phases::HISTORY => serde_json::to_string(&self.ask_history(asking, said)),
            domain if owners(domain).is_some() => {
                serde_json::to_string(&self.ask_records(asking, request))
            }
            _ => return None,
        };
        Some(Text::new(answer.unwrap_or_default()))
    }

    fn ask_symbols(&self, asking: &DomainCaller, said: &str) -> SymbolAnswer {
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
            tracing::warn!(code = error.code(), %error, "symbol store request failed");
            let message = format!("{error} ({}; hint: {})", error.code(), error.hint());
            fault(SymbolFaultKind::Unavailable, message)
        })
    }

    fn ask_records(&self, asking: &DomainCaller, request: &DomainRequest) -> RecordAnswer {
        let asker = RecordCaller {
            run: asking.run,
            episode: asking.episode.clone(),
            role: asking.role,
            ask: asking.ask,
            at: asking.at,
        };
        let answer = self
            .records()
            .and_then(|records| Ok(records.carry_out(&asker, request)?));
        answer.unwrap_or_else(|error| {
            tracing::warn!(code = error.code(), %error, "record store request failed");
            let message = format!("{error} ({}; hint: {})", error.code(), error.hint());
            RecordFault::unavailable(message).into()
        })
    }

    fn ask_history(&self, asking: &DomainCaller, said: &str) -> HistoryAnswer {
        match self.append(asking, said) {
            Ok(head) => HistoryAnswer {
                head: Some(head),
                fault: None,
            },
            Err(error) => {
                tracing::warn!(code = error.code(), %error, "cannot store the session");
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

    fn append(&self, asking: &DomainCaller, said: &str) -> Result<HistoryHead, HostError> {
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
        // The head is read from the journal and checked before the write; a second writer in between would look like a
        // cut-off tail.
        let _one_at_a_time = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut history = self.history(&session)?;
        let key = RequestKey::new(asking.run, &asking.episode, asking.ask);
        Ok(history.append(&key.to_string(), &entries)?)
    }
}
