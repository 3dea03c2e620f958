//! A council for tests: its seats, its questions, and what it leaves.

use std::collections::BTreeMap;

use fathom_core::budget::amounts::Amounts;
use fathom_core::episode::result::EpisodeResult;
use fathom_core::text::Text;
use fathom_host::NewRun;
use fathom_programs::council::{
    CouncilConfig, CouncilReport, CouncilSeat, QuotedPassage, SeatReport, Vote,
};
use fathom_testkit::model_server::{ModelServer, ReplyBehaviour, SeenRequest};
use fathom_testkit::sample_council::contract;
pub(crate) use fathom_testkit::sample_council::{COMPLEX, sub_chiefs};
use serde_json::json;

use crate::fixture::{BUDGET, models, new_run};

/// Touches none.
pub(crate) const SIMPLE: &str = "Should we paint the door green?";

/// A seat that has a passage to go by.
pub(crate) fn seat(id: &str, word: &str) -> CouncilSeat {
    CouncilSeat {
        passages: vec![QuotedPassage {
            source: format!("docs/{id}.md"),
            line: 40 + u32::try_from(id.len()).expect("short"),
            text: format!("What the {id} handbook says of {word}."),
        }],
        ..fathom_testkit::sample_council::seat(id, word)
    }
}

pub(crate) fn council() -> CouncilConfig {
    fathom_testkit::sample_council::council(seat)
}

pub(crate) fn ask(question: &str, params: &CouncilConfig, server: &ModelServer) -> NewRun {
    NewRun {
        goal: Text::from(question),
        contract: contract(),
        ..new_run(params.spec(), models(server))
    }
}

pub(crate) fn calls(calls: u64) -> Amounts {
    Amounts {
        calls,
        ..BUDGET.amounts
    }
}

/// The seat that a request is for; none when it asks for a synthesis.
pub(crate) fn seat_of(seen: &SeenRequest) -> Option<&str> {
    let (_, rest) = seen.prompt.split_once("Your seat: ")?;
    Some(rest.split_once(". ")?.0)
}

/// How often each seat was asked.
pub(crate) fn requests(server: &ModelServer) -> BTreeMap<String, usize> {
    let mut requests = BTreeMap::new();
    for entry in server.log() {
        let seat = seat_of(&entry.seen).unwrap_or("synthesis").to_owned();
        *requests.entry(seat).or_default() += 1;
    }
    requests
}

/// Each of these seats was asked once, and nobody else.
pub(crate) fn once<'a>(seats: impl IntoIterator<Item = &'a str>) -> BTreeMap<String, usize> {
    let once = seats.into_iter().map(|seat| (seat.to_owned(), 1));
    once.collect()
}

/// A vote as a model gives it. Its reason names the seat, so that it can be told from all others.
pub(crate) fn vote(seen: &SeenRequest, vote: Vote, confidence: u8) -> ReplyBehaviour {
    let seat = seat_of(seen).unwrap_or("nobody");
    let vote = json!({
        "reasoning": format!("secret-of-{seat}"),
        "source": 1,
        "vote": vote,
        "confidence": confidence,
    });
    ReplyBehaviour::reply(vote.to_string())
}

pub(crate) fn approve(seen: &SeenRequest) -> ReplyBehaviour {
    vote(seen, Vote::Approve, 80)
}

pub(crate) fn report(result: &EpisodeResult) -> CouncilReport {
    let report = result.report.as_ref().expect("a council leaves a report");
    serde_json::from_str(report.as_str()).expect("a report")
}

/// The report of a seat by its path.
pub(crate) fn of<'a>(report: &'a CouncilReport, path: &str) -> &'a SeatReport {
    let mut parts = path.split('/');
    let find = |seats: &'a [SeatReport], id: &str| seats.iter().find(|seat| seat.seat == id);
    let chief = parts.next().and_then(|id| find(&report.votes, id));
    let seat = parts.try_fold(chief.expect("a chief"), |seat, id| find(&seat.children, id));
    seat.unwrap_or_else(|| panic!("{path} is not in the report"))
}
