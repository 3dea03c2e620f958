//! Material on its way into packets: each seat gets what concerns it, and nobody gets it all.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use fathom_host::programs::council::{CouncilContext, PreparedCouncil};
use fathom_host::{HostError, Runtime};
use fathom_programs::council::CouncilConfig;
use fathom_testkit::model_server::ModelServer;

use crate::fixture::{check, finished, host, models};
use crate::panel::{COMPLEX, approve, ask, council, once, requests, seat, seat_of, sub_chiefs};
use crate::weights::with_embeddings;

const TOKENS_MAX: u32 = 400;

/// What is planted for each seat, in its word.
const PLANTS: [(&str, &str); 9] = [
    (
        "IT/security",
        "The auth service still shares one key among nine teams, which the move would spread to the new cluster.",
    ),
    (
        "IT/infrastructure",
        "The new cluster has room for the customer database until spring, and no spare node after that.",
    ),
    (
        "IT/network",
        "Measured latency from the shops to the new site is nineteen milliseconds, three times that of today.",
    ),
    (
        "Data/schema",
        "Seventeen tables of the customer database use a column type that the other engine does not know.",
    ),
    (
        "Data/pipeline",
        "The nightly pipeline reads the customer database through a driver nobody maintains.",
    ),
    (
        "Data/archive",
        "The last backup of the customer database took nine hours to bring back, three more than the plan allows.",
    ),
    (
        "Ops/money",
        "The cost of running both sites until March is twenty-six thousand, which no forecast has.",
    ),
    (
        "Ops/people",
        "Two of the four people in the team that would move the customer database are away in that month.",
    ),
    (
        "Ops/release",
        "A rollout in the last week of the quarter leaves two days before the freeze.",
    ),
];

/// A folder of notes on other things; each seat's passage stands in one of them. Gives the line of each.
fn notes(folder: &Path) -> Vec<(String, String)> {
    let mut places = Vec::new();
    for number in 0..30_usize {
        let mut text = format!("# Note {number}\n\n");
        for paragraph in 0..24_usize {
            let (a, b) = (number * 7 + paragraph, number + paragraph * 11);
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "On day {a} the garden behind house {b} had frost again; the apple trees of row {paragraph} were wrapped \
                 in straw, and the neighbours of lane {number} lent their ladders until the evening bell.\n"
            );
            if let Some((path, plant)) = PLANTS.get(number / 3).filter(|_| number % 3 == 1)
                && paragraph == 5 + number % 13
            {
                let line = text.lines().count() + 1;
                let _ = writeln!(
                    text,
                    "{plant} Nobody has looked into this since the summer.\n"
                );
                places.push(((*path).to_owned(), format!("note-{number}.md:{line}")));
            }
        }
        fs::write(folder.join(format!("note-{number}.md")), text).expect("a note");
    }
    fs::write(
        folder.join("picture.png"),
        [0x89, b'P', b'N', b'G', 0, 1, 2, 3],
    )
    .expect("a file");
    places
}

fn convene(
    host: &Runtime,
    params: &mut CouncilConfig,
    folder: &Path,
    server: &ModelServer,
) -> Result<(PreparedCouncil, usize), HostError> {
    let context = CouncilContext {
        paths: vec![folder.to_owned()],
        text: None,
        tokens_max: TOKENS_MAX,
    };
    let mut embedded = 0;
    let models = models(server);
    let convened = host.convene(params, COMPLEX, &context, &models, &mut |progress| {
        embedded = progress.done;
    })?;
    Ok((convened, embedded))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c03_every_packet_holds_what_concerns_its_seat_and_never_the_whole() {
    let server = ModelServer::start(approve).await.expect("a port");
    let dir = tempfile::tempdir().expect("a folder");
    let material = tempfile::tempdir().expect("a folder");
    let places = notes(material.path());
    let host = with_embeddings(dir.path());
    let mut params = council();
    params.chiefs[2].sub_chiefs.push(seat("holidays", "beach"));
    let (convened, embedded) =
        convene(&host, &mut params, material.path(), &server).expect("it is read");
    assert!(convened.words_only.is_none());
    assert_eq!(embedded, convened.passages);
    let skipped: Vec<&str> = convened.skipped.iter().map(|s| s.source.as_str()).collect();
    assert!(
        matches!(skipped.as_slice(), [one] if one.ends_with("picture.png")),
        "{skipped:?}"
    );

    let handle = host
        .start(ask(COMPLEX, &params, &server))
        .expect("it starts");
    let run = handle.run();
    finished(handle).await;
    check(&host, run);
    let asked = sub_chiefs();
    assert_eq!(
        requests(&server),
        once(asked.iter().map(String::as_str)),
        "nobody else was asked"
    );
    let bytes: u64 = fs::read_dir(material.path())
        .expect("the folder")
        .map(|entry| {
            entry
                .and_then(|entry| entry.metadata())
                .expect("a file")
                .len()
        })
        .sum();
    for entry in server.log() {
        let prompt = &entry.seen.prompt;
        let path = seat_of(&entry.seen).expect("a seat");
        let (_, plant) = PLANTS
            .iter()
            .find(|(seat, _)| *seat == path)
            .expect("a plant");
        assert!(
            prompt.contains(plant),
            "{path} did not get its passage: {prompt}"
        );
        let (_, place) = places
            .iter()
            .find(|(seat, _)| seat == path)
            .expect("a place");
        assert!(
            prompt.contains(&format!("/{place}\n")),
            "{path}: {place} is not in {prompt}"
        );
        assert!(
            (prompt.len() as u64) * 10 < bytes,
            "{} of {bytes} bytes",
            prompt.len()
        );
    }

    // The same folder again: nothing is embedded twice, and the passages are the same.
    let mut again = council();
    again.chiefs[2].sub_chiefs.push(seat("holidays", "beach"));
    let (_, embedded) = convene(&host, &mut again, material.path(), &server).expect("it is read");
    assert_eq!(embedded, 0);
    assert_eq!(again, params);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c03_without_embeddings_the_search_goes_by_words_and_says_so() {
    let server = ModelServer::start(approve).await.expect("a port");
    let dir = tempfile::tempdir().expect("a folder");
    let material = tempfile::tempdir().expect("a folder");
    notes(material.path());
    let host = host(dir.path());
    let mut params = council();
    let (convened, _) = convene(&host, &mut params, material.path(), &server).expect("it is read");
    assert!(convened.words_only.is_some());
    let security = &params.chiefs[0].sub_chiefs[0];
    let found = security
        .passages
        .iter()
        .any(|passage| passage.text.contains(PLANTS[0].1));
    assert!(found, "{:?}", security.passages);
    let missing = convene(&host, &mut params, Path::new("/nowhere/at/all"), &server);
    assert_eq!(missing.expect_err("it is not there").code(), "F0701");
}
