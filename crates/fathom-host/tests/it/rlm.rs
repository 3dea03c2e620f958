//! Questions about material far beyond the window, with real sandboxes and a scripted model server.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use fathom_core::budget::amounts::Dimension;
use fathom_core::contract::RecursionPolicy;
use fathom_core::contract::spawn::SpawnClass;
use fathom_core::contract::stop::StopReason;
use fathom_core::episode::result::{EpisodeResult, EpisodeStatus};
use fathom_core::packet::PacketFrame;
use fathom_core::sandbox::{CellErrorKind, ValueFormat};
use fathom_core::text::Text;
use fathom_core::unit::{Millis, Nanodollars};
use fathom_host::programs::rlm::{PlainCallRule, RlmRequest};
use fathom_host::{HostError, NewRun, RunEnd, RunHandle, Runtime};
use fathom_programs::rlm::{RlmConfig, RlmReport};
use fathom_programs::{direct, rlm};
use fathom_testkit::model_server::{
    ChunkGate, ModelServer, ReplyBehaviour, ReportedUsage, SeenRequest,
};
use fathom_testkit::sample_records::answered_prompts;

use crate::fixture::{BUDGET, check, finished, host, models, new_run};

/// A model whose turns run these cells one after the other; whatever else it is asked, `leaf` answers.
pub(crate) async fn coder(
    cells: &'static [&'static str],
    leaf: impl Fn(&SeenRequest) -> ReplyBehaviour + Send + Sync + 'static,
) -> ModelServer {
    ModelServer::start(move |seen: &SeenRequest| {
        if !is_turn(seen) {
            return leaf(seen);
        }
        let turn = seen.prompt.matches("\nassistant: ").count();
        let code = cells
            .get(turn)
            .copied()
            .unwrap_or("SUBMIT('too many turns')");
        ReplyBehaviour::reply(format!("```repl\n{code}\n```"))
    })
    .await
    .expect("a port")
}

fn is_turn(seen: &SeenRequest) -> bool {
    seen.prompt.contains("\nThe question:\n")
}

pub(crate) fn said(seen: &SeenRequest) -> ReplyBehaviour {
    ReplyBehaviour::reply(format!(
        "about {}",
        seen.prompt.trim_start_matches("user: ").trim()
    ))
}

pub(crate) fn exploration(path: &Path) -> RlmRequest {
    RlmRequest {
        goal: Text::default(),
        paths: vec![path.to_owned()],
        text: None,
        params: RlmConfig::default(),
        plain: PlainCallRule::Never,
        direct: direct::DirectConfig::default(),
    }
}

fn recursion() -> RecursionPolicy {
    RecursionPolicy {
        max_depth: 2,
        max_children: 2000,
        max_total_episodes: 4000,
        allowed_child_types: vec![rlm::NAME.to_owned()],
        allowed_classes: vec![SpawnClass::Work],
        ..RecursionPolicy::default()
    }
}

async fn explored(
    host: &Runtime,
    server: &ModelServer,
    exploration: RlmRequest,
) -> (NewRun, Option<fathom_host::programs::rlm::SandboxContext>) {
    let models = models(server);
    let explored = host
        .explore(exploration, &models, &PacketFrame::default())
        .await
        .expect("it is read");
    let mut new = new_run(explored.program, models);
    new.goal = Text::from("Which host failed first?");
    new.contract.recursion = recursion();
    (new, explored.context)
}

pub(crate) async fn begin(
    host: &Runtime,
    server: &ModelServer,
    exploration: RlmRequest,
) -> RunHandle {
    let (new, context) = explored(host, server, exploration).await;
    host.start_in(new, context.expect("a sandbox"))
        .expect("it starts")
}

fn report(result: &EpisodeResult) -> RlmReport {
    let report = result.report.as_ref().expect("a report");
    serde_json::from_str(report.as_str()).expect("JSON")
}

pub(crate) fn answer(result: &EpisodeResult) -> &str {
    result.answer.as_ref().map_or("", Text::as_str)
}

/// A log of some two megabytes with one line that matters.
fn log(folder: &Path) -> std::path::PathBuf {
    let path = folder.join("hosts.log");
    let mut text = String::new();
    for n in 0..40_000 {
        let line = if n == 31_337 {
            "09:41:07 web-3 FAILED disk is gone\n".to_owned()
        } else {
            format!(
                "09:{:02}:{:02} web-{} ok, {n} requests\n",
                n / 600 % 60,
                n % 60,
                n % 7
            )
        };
        text.push_str(&line);
    }
    fs::write(&path, text).expect("a file");
    path
}

/// What came of exploring the usual log; its record was checked.
async fn explored_log(dir: &Path, server: &ModelServer) -> EpisodeResult {
    let host = host(dir);
    let handle = begin(&host, server, exploration(&log(dir))).await;
    let run = handle.run();
    let result = finished(handle).await;
    check(&host, run);
    result
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r01_code_finds_what_no_window_holds() {
    let dir = tempfile::tempdir().expect("a folder");
    let server = coder(
        &[
            "import re\nhits = re.findall(r'^.*FAILED.*$', context, re.M)\nprint(len(context), hits)",
            "SUBMIT(hits[0].split()[1])",
        ],
        said,
    )
    .await;
    let result = explored_log(dir.path(), &server).await;
    assert_eq!(
        (result.status, answer(&result)),
        (EpisodeStatus::Ok, "web-3")
    );
    assert_eq!(report(&result).iterations, 2);
    for entry in server.log() {
        let seen = entry.seen.prompt.len();
        assert!(seen < 20_000, "{seen} bytes went out");
    }
    assert!(server.log()[0].seen.prompt.contains("40000 lines"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r02_leaf_calls_and_children_answer_code() {
    let dir = tempfile::tempdir().expect("a folder");
    let server = ModelServer::start(|seen: &SeenRequest| {
        let prompt = &seen.prompt;
        let code = if !is_turn(seen) {
            return said(seen);
        } else if prompt.contains("The question:\nWhich host") {
            "parts = [context[:12], context[12:30]]\n\
             each = rlm_query_batched(['how long?', 'how long is it?'], contexts=parts)\n\
             SUBMIT([llm_query('web-3'), llm_query_batched(['a', 'b']), each, budget()['calls'] > 0])"
        } else {
            "SUBMIT(str(len(context)))"
        };
        ReplyBehaviour::reply(format!("```repl\n{code}\n```"))
    })
    .await
    .expect("a port");
    let result = explored_log(dir.path(), &server).await;
    let expected = r#"["about web-3", ["about a", "about b"], ["12", "18"], true]"#;
    assert_eq!(
        (result.status, answer(&result)),
        (EpisodeStatus::Ok, expected)
    );
    let report = report(&result);
    assert_eq!((report.subcalls, report.children), (3, 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r02_a_prompt_of_many_children_reaches_the_model_once() {
    let dir = tempfile::tempdir().expect("a folder");
    let server = ModelServer::start(|seen: &SeenRequest| {
        let code = if !is_turn(seen) {
            return said(seen);
        } else if seen.prompt.contains("The question:\nWhich host") {
            "each = rlm_query_batched([f'part {n}' for n in range(8)])\n\
             SUBMIT(', '.join(sorted(set(each + [llm_query('web-3')]))))"
        } else {
            "SUBMIT(llm_query('web-3'))"
        };
        ReplyBehaviour::reply(format!("```repl\n{code}\n```"))
    })
    .await
    .expect("a port");
    let result = explored_log(dir.path(), &server).await;
    assert_eq!(
        (result.status, answer(&result)),
        (EpisodeStatus::Ok, "about web-3")
    );
    let log = server.log();
    let asked = log.iter().filter(|entry| !is_turn(&entry.seen)).count();
    assert_eq!((asked, result.budget.spent.calls), (1, 10));
}

/// Cells and questions have the same numbers in each episode: what a grandchild shares is what its parent was handed, not what
/// its parent hands to others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r02_a_grandchild_shares_what_its_parent_was_handed() {
    let dir = tempfile::tempdir().expect("a folder");
    let server = ModelServer::start(|seen: &SeenRequest| {
        let code = if seen.prompt.contains("The question:\nWhich host") {
            "SUBMIT(rlm_query('ask others', context='all of it'))"
        } else if seen.prompt.contains("The question:\nask others") {
            "parts = rlm_query_batched(['a', 'b'], contexts=['first', 'second'])\n\
             SUBMIT(', '.join(parts + [rlm_query('whole?')]))"
        } else {
            "SUBMIT(context)"
        };
        ReplyBehaviour::reply(format!("```repl\n{code}\n```"))
    })
    .await
    .expect("a port");
    let result = explored_log(dir.path(), &server).await;
    assert_eq!(
        (result.status, answer(&result)),
        (EpisodeStatus::Ok, "first, second, all of it")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r03_a_cell_without_an_end_is_ended_and_the_run_goes_on() {
    let dir = tempfile::tempdir().expect("a folder");
    let server = coder(
        &["kept = 1", "while True: pass", "SUBMIT(f'kept {kept}')"],
        said,
    )
    .await;
    let host = host(dir.path());
    let mut exploration = exploration(&log(dir.path()));
    exploration.params.limits.time = Millis(300);
    let result = finished(begin(&host, &server, exploration).await).await;
    assert_eq!(
        (result.status, answer(&result)),
        (EpisodeStatus::Ok, "kept 1")
    );
    let cells = report(&result).cells;
    assert_eq!(cells[1].error, Some(CellErrorKind::TimedOut));
    assert!(cells[1].took < Millis(800), "{:?}", cells[1]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r03_a_run_that_is_out_of_time_ends_its_cell() {
    let dir = tempfile::tempdir().expect("a folder");
    let server = coder(&["while True: pass"], said).await;
    let host = host(dir.path());
    let (mut new, context) = explored(&host, &server, exploration(&log(dir.path()))).await;
    new.budget.time = Millis(600);
    let handle = host
        .start_in(new, context.expect("a sandbox"))
        .expect("it starts");
    let result = finished(handle).await;
    assert_eq!(result.status, EpisodeStatus::NeedsReview);
    assert!(
        result.budget.time_spent < Millis(900),
        "{:?}",
        result.budget
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r04_faults_are_exceptions_and_never_text() {
    let dir = tempfile::tempdir().expect("a folder");
    let server = coder(
        &["out = []\n\
           for word in ['empty', 'filtered', 'cut', 'fine']:\n    \
               try:\n        \
                   out.append(llm_query(word))\n    \
               except QueryError as e:\n        \
                   out.append(type(e).__name__)\n\
           mixed = llm_query_batched(['empty', 'good'])\n\
           out.append([isinstance(mixed[0], Empty), mixed[1]])\n\
           SUBMIT(out)"],
        |seen| {
            if seen.prompt.contains("empty") {
                ReplyBehaviour::reply("")
            } else if seen.prompt.contains("filtered") {
                ReplyBehaviour::status(400)
                    .body(r#"{"error": {"code": "content_filter", "message": "no"}}"#)
            } else if seen.prompt.contains("cut") {
                ReplyBehaviour::reply("half of")
                    .finish(fathom_testkit::model_server::FinishCode::Length)
            } else {
                said(seen)
            }
        },
    )
    .await;
    let host = host(dir.path());
    let result = finished(begin(&host, &server, exploration(&log(dir.path()))).await).await;
    let said = answer(&result);
    assert_eq!(result.status, EpisodeStatus::Ok, "{said}");
    let expected = r#"["Empty", "Refused", "Truncated", "about fine", [true, "about good"]]"#;
    // What a provider calls a filtered prompt differs; it is an exception in any case.
    assert_eq!(said.replace("Unavailable", "Refused"), expected);
}

/// A thousand leaf calls, of which the second half gets no answer: the time is kept, and so is what the first half brought.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r04_the_time_of_a_thousand_calls_is_kept_and_so_is_what_they_brought() {
    let dir = tempfile::tempdir().expect("a folder");
    let cells: &[&str] = &[
        "answer['content'] = f\"{len(llm_query_batched([f'part {n}' for n in range(500)]))} parts\"\n\
         llm_query_batched([f'stalled {n}' for n in range(500)])",
    ];
    let server = coder(cells, |seen| {
        if seen.prompt.contains("stalled") {
            ReplyBehaviour::stall()
        } else {
            said(seen)
        }
    })
    .await;
    let host = host(dir.path());
    let (mut new, context) = explored(&host, &server, exploration(&log(dir.path()))).await;
    new.budget.time = Millis(4_000);
    let handle = host
        .start_in(new, context.expect("a sandbox"))
        .expect("it starts");
    let run = handle.run();
    let result = finished(handle).await;
    assert_eq!(answer(&result), "500 parts");
    let dimension = Dimension::Time;
    assert_eq!(
        result.stop_reason,
        StopReason::BudgetExhausted { dimension }
    );
    assert!(
        result.budget.time_spent < Millis(4_500),
        "{:?}",
        result.budget
    );
    check(&host, run);
}

type Change = fn(&mut NewRun);

/// Calls, tokens and money over a thousand leaf calls at once: nothing is spent beyond, and what came back is the answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r04_caps_hold_over_a_thousand_calls_and_the_rest_is_kept() {
    let cells: &[&str] = &[
        "replies = llm_query_batched([f'part {n}' for n in range(1000)])\n\
                            good = [r for r in replies if isinstance(r, str)]\n\
                            bad = {type(r).__name__ for r in replies if not isinstance(r, str)}\n\
                            answer['content'] = f'{len(good)} parts, {bad}'\n\
                            print(answer)",
        "SUBMIT(answer['content'])",
    ];
    let caps: [(&str, Change); 3] = [
        ("calls", |new| new.budget.amounts.calls = 200),
        ("tokens", |new| new.budget.amounts.tokens = 40_000),
        ("money", |new| {
            new.budget.amounts.money = Nanodollars(10_000_000);
            // A name that has a price.
            new.models.main.id = "openai/gpt-4o-mini".to_owned();
            new.models.sub.id = "openai/gpt-4o-mini".to_owned();
        }),
    ];
    for (name, cap) in caps {
        let dir = tempfile::tempdir().expect("a folder");
        let usage = ReportedUsage::Says {
            input: 20,
            output: 10,
        };
        let server = coder(cells, move |seen| said(seen).usage(usage)).await;
        let host = host(dir.path());
        let mut wanted = exploration(&log(dir.path()));
        wanted.params.leaf_tokens_max = 16;
        let (mut new, context) = explored(&host, &server, wanted).await;
        cap(&mut new);
        let limit = new.budget.amounts;
        let handle = host
            .start_in(new, context.expect("a sandbox"))
            .expect("it starts");
        let run = handle.run();
        let result = finished(handle).await;
        let spent = result.budget.spent;
        assert!(spent.exceeds(&limit).is_none(), "{name}: {spent:?}");
        assert_eq!(spent.calls, server.log().len() as u64, "{name}");
        assert_eq!(spent.money.0 > 0, name == "money");
        assert!(
            answer(&result).contains("BudgetExceeded"),
            "{name}: {}",
            answer(&result)
        );
        // The model could still say so: leaf calls leave the last one to it.
        assert_eq!(result.status, EpisodeStatus::Ok, "{name}");
        let log = server.log();
        let last = log.last().expect("there were calls");
        assert!(last.seen.prompt.contains("your last turn"), "{name}");
        check(&host, run);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r05_a_prompt_beyond_the_window_is_refused_with_its_size() {
    let dir = tempfile::tempdir().expect("a folder");
    let server = coder(
        &["try:\n    llm_query(context * 4)\nexcept TooLarge as e:\n    SUBMIT(str(e))"],
        said,
    )
    .await;
    let host = host(dir.path());
    let mut models = models(&server);
    // A model whose window is known.
    models.sub.id = "openai/gpt-4o-mini".to_owned();
    models.main.id = "openai/gpt-4o-mini".to_owned();
    let read = host
        .explore(
            exploration(&log(dir.path())),
            &models,
            &PacketFrame::default(),
        )
        .await
        .expect("it is read");
    let handle = host
        .start_in(
            new_run(read.program, models),
            read.context.expect("a sandbox"),
        )
        .expect("it starts");
    let result = finished(handle).await;
    let said = answer(&result).to_owned();
    let bytes = 4 * fs::metadata(log(dir.path())).expect("a file").len();
    let numbers: Vec<u64> = said
        .split(' ')
        .filter_map(|word| word.parse().ok())
        .collect();
    assert!(
        numbers[0] > bytes / 4 && numbers[0] < bytes / 2,
        "{bytes} bytes: {said}"
    );
    // Its window, less the shortest reply.
    assert!(said.contains("the model takes 127984"), "{said}");
    assert_eq!(server.log().len(), 1, "the leaf call was not sent");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r06_what_fits_goes_out_as_a_plain_call() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("note.txt");
    fs::write(&path, "web-3 failed at nine").expect("a file");
    let server = ModelServer::replying("web-3").await.expect("a port");
    let host = host(dir.path());
    let mut wanted = exploration(&path);
    wanted.plain = PlainCallRule::IfItFits;
    let (new, context) = explored(&host, &server, wanted).await;
    assert!(context.is_none());
    assert_eq!(new.program.name, direct::NAME);
    let result = finished(host.start(new).expect("it starts")).await;
    assert_eq!(answer(&result), "web-3");
    assert!(server.log()[0].seen.prompt.contains("web-3 failed at nine"));
    // Unless the user says otherwise, and where not an accepted value.
    for (path, plain) in [
        (path, PlainCallRule::Never),
        (log(dir.path()), PlainCallRule::IfItFits),
    ] {
        let mut wanted = exploration(&path);
        wanted.plain = plain;
        let (new, context) = explored(&host, &server, wanted).await;
        assert!(context.is_some());
        assert_eq!(new.program.name, rlm::NAME);
    }
}

/// Interrupted in the middle of a batch: no reply that is in the journal is asked for again, and state before it is back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r07_a_run_goes_on_in_a_new_process_where_it_was() {
    let dir = tempfile::tempdir().expect("a folder");
    let gate = ChunkGate::new();
    gate.release(40);
    let held = gate.clone();
    let server = coder(
        &[
            "before = llm_query('before')",
            "replies = llm_query_batched([f'part {n}' for n in range(60)])\nSUBMIT(f'{before}, {len(set(replies))}')",
        ],
        move |seen| {
            if seen.prompt.contains("part") {
                said(seen).gated(&held)
            } else {
                said(seen)
            }
        },
    )
    .await;
    let path = log(dir.path());
    let first = host(dir.path());
    let handle = begin(&first, &server, exploration(&path)).await;
    let run = handle.run();
    server
        .until(|log| log.iter().filter(|entry| !is_turn(&entry.seen)).count() == 61)
        .await;
    handle.interrupt();
    assert!(matches!(handle.end().await, RunEnd::Interrupted));
    let durable: Vec<String> = replied(&first, run);
    drop(first);
    gate.open();
    let second = host(dir.path());
    let result = finished(second.resume(run).expect("it goes on")).await;
    assert_eq!(
        (result.status, answer(&result)),
        (EpisodeStatus::Ok, "about before, 60")
    );
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for entry in server.log() {
        *seen.entry(entry.seen.prompt.trim().to_owned()).or_default() += 1;
    }
    for prompt in durable {
        assert_eq!(seen.get(&prompt), Some(&1), "{prompt}");
    }
    check(&second, run);
}

/// Prompts of the leaf calls whose replies are in the journal, as the server sees them.
fn replied(host: &Runtime, run: fathom_core::id::RunId) -> Vec<String> {
    let records = host.records(run).expect("it can be read");
    let prompts = answered_prompts(records.into_iter().map(|(_, record)| record));
    assert!(!prompts.is_empty(), "nothing was durable");
    prompts
        .iter()
        .map(|prompt| format!("user: {prompt}"))
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r07_material_that_changed_is_not_gone_on_with() {
    let dir = tempfile::tempdir().expect("a folder");
    let gate = ChunkGate::new();
    let held = gate.clone();
    let server = coder(&["SUBMIT(llm_query('x'))"], move |seen| {
        said(seen).gated(&held)
    })
    .await;
    let path = log(dir.path());
    let first = host(dir.path());
    let handle = begin(&first, &server, exploration(&path)).await;
    let run = handle.run();
    server.until(|log| log.len() == 2).await;
    handle.interrupt();
    handle.end().await;
    let before = fs::read(&path).expect("it is there");
    fs::write(&path, "something else").expect("a file");
    let error = first.resume(run).err().expect("it is refused");
    assert_eq!(error.code(), "F0410", "{error}");
    fs::write(&path, before).expect("a file");
    gate.open();
    let result = finished(first.resume(run).expect("it goes on")).await;
    assert_eq!(answer(&result), "about x");
}

/// A thousand children with sandboxes of their own, side by side.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r02_many_children_work_side_by_side_and_none_fails() {
    let dir = tempfile::tempdir().expect("a folder");
    let server = ModelServer::start(|seen: &SeenRequest| {
        let code = if seen.prompt.contains("The question:\nWhich host") {
            "r = rlm_query_batched([f'q{n}' for n in range(1000)], contexts=[f'part {n}' for n in range(1000)])\n\
             SUBMIT(str(sum(x == f'part {n}' for n, x in enumerate(r))))"
        } else {
            "SUBMIT(context)"
        };
        ReplyBehaviour::reply(format!("```repl\n{code}\n```")).after(Duration::from_millis(5))
    })
    .await
    .expect("a port");
    let host = host(dir.path());
    let (mut new, context) = explored(&host, &server, exploration(&log(dir.path()))).await;
    new.budget = BUDGET;
    new.budget.amounts.tokens = 100_000_000;
    new.budget.amounts.episodes = 2000;
    // On a machine that builds something beside it, it takes most of a minute.
    new.budget.time = Millis(240_000);
    let handle = host
        .start_in(new, context.expect("a sandbox"))
        .expect("it starts");
    let run = handle.run();
    let result = finished(handle).await;
    assert_eq!(
        (result.status, answer(&result)),
        (EpisodeStatus::Ok, "1000")
    );
    check(&host, run);
}

#[tokio::test]
async fn r01_nothing_to_read_is_an_error_with_a_code() {
    let dir = tempfile::tempdir().expect("a folder");
    let empty = dir.path().join("empty");
    fs::create_dir(&empty).expect("a folder");
    let server = ModelServer::replying("x").await.expect("a port");
    let host = host(&dir.path().join("home"));
    let models = models(&server);
    let error = host
        .explore(exploration(&empty), &models, &PacketFrame::default())
        .await
        .err()
        .expect("there is nothing");
    assert!(matches!(error, HostError::NoMaterial { .. }), "{error}");
    assert_eq!(error.code(), "F0409");
}

/// Leaf calls that an earlier run was told are not made again, even where that run has not ended.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c10_leaf_calls_are_answered_with_what_an_earlier_run_was_told() {
    let dir = tempfile::tempdir().expect("a folder");
    let gate = ChunkGate::new();
    let held = gate.clone();
    let cells: &[&str] = &[
        "replies = llm_query_batched([f'part {n}' for n in range(30)])\n\
         SUBMIT(f\"{len(set(replies))}, {llm_query('the last')}\")",
    ];
    let server = coder(cells, move |seen| {
        if seen.prompt.contains("the last") {
            said(seen).gated(&held)
        } else {
            said(seen)
        }
    })
    .await;
    let wanted = || {
        let mut wanted = exploration(&log(dir.path()));
        wanted.params.reuse = true;
        wanted
    };
    let host = host(dir.path());
    let first = begin(&host, &server, wanted()).await;
    server.until(|log| log.len() == 32).await;
    first.interrupt();
    assert!(matches!(first.end().await, RunEnd::Interrupted));
    gate.open();
    let second = begin(&host, &server, wanted()).await;
    let run = second.run();
    let result = finished(second).await;
    assert_eq!(
        (result.status, answer(&result)),
        (EpisodeStatus::Ok, "30, about the last")
    );
    // Another turn, and the one call that was not answered.
    assert_eq!(server.log().len(), 34);
    assert_eq!(result.budget.spent.calls, 2);
    check(&host, run);
}

#[tokio::test]
async fn r01_what_is_no_json_lines_in_a_folder_is_text_and_that_is_said() {
    let dir = tempfile::tempdir().expect("a folder");
    let logs = dir.path().join("logs");
    fs::create_dir(&logs).expect("a folder");
    fs::write(logs.join("good.jsonl"), "{}\n").expect("a file");
    fs::write(logs.join("bad.jsonl"), "{}\n\n{\n").expect("a file");
    let server = ModelServer::replying("x").await.expect("a port");
    let host = host(&dir.path().join("home"));
    let models = models(&server);
    let read = host
        .explore(exploration(&logs), &models, &PacketFrame::default())
        .await
        .expect("it is read");
    let skipped: Vec<String> = read.skipped.iter().map(ToString::to_string).collect();
    assert_eq!(skipped.len(), 1, "{skipped:?}");
    let said = "bad.jsonl` was taken as text: line 3 is no JSON";
    assert!(skipped[0].ends_with(said), "{skipped:?}");
    let params = RlmConfig::read(&read.program).expect("its own");
    let forms: Vec<ValueFormat> = params.given.iter().map(|given| given.form).collect();
    assert_eq!(forms, [ValueFormat::Text, ValueFormat::Lines]);
    // One that was named is an error, which says what can be done.
    let error = host
        .explore(
            exploration(&logs.join("bad.jsonl")),
            &models,
            &PacketFrame::default(),
        )
        .await
        .err()
        .expect("it is refused");
    assert_eq!(error.code(), "F0804", "{error}");
    assert!(error.hint().contains(".txt"), "{}", error.hint());
}

/// Small material is read by each session, large material once: what is taken must not hang on that.
#[tokio::test]
async fn r01_lines_that_not_all_can_read_are_refused_at_every_size() {
    let dir = tempfile::tempdir().expect("a folder");
    let server = ModelServer::replying("x").await.expect("a port");
    let host = host(&dir.path().join("home"));
    let models = models(&server);
    let explore = async |path: &Path| {
        let wanted = exploration(path);
        host.explore(wanted, &models, &PacketFrame::default()).await
    };
    let nested = "[".repeat(5_000) + &"]".repeat(5_000);
    let large = format!("\"{}\"\n", "x".repeat(1 << 20));
    for before in ["1\n", &large] {
        for line in ["NaN", "[Infinity]", &nested] {
            let folder = dir.path().join("lines");
            fs::create_dir_all(&folder).expect("a folder");
            let path = folder.join("a.jsonl");
            fs::write(&path, format!("{before}{line}\n")).expect("a file");
            let error = explore(&path).await.err().expect("it is refused");
            assert_eq!(error.code(), "F0804", "{error}");
            assert!(error.to_string().contains("a.jsonl: line 2"), "{error}");
            let read = explore(&folder).await.expect("it is text");
            assert_eq!(read.skipped.len(), 1, "{:?}", read.skipped);
        }
    }
}
