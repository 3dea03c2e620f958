//! Ready-made cell programs on made-up data, with someone who answers what they ask.

use std::fmt::Write;

use fathom_core::sandbox::{
    CellCall, CellException, CellExceptionKind, CellOutcome, CellQuestion, CellReply, CellResult,
    ValueFormat,
};
use fathom_core::text::Text;
use fathom_core::unit::Millis;
use fathom_sandbox::{MaterialContent, SandboxMaterial, SandboxSession};

use crate::fixture::{cell, load, run_with, sandbox, text};

/// Says one thing to each prompt.
pub(crate) fn say(answer: impl Fn(&str) -> String) -> impl Fn(&CellQuestion) -> CellReply {
    move |question| match &question.call {
        CellCall::Query { prompts, .. } => {
            let said = |prompt: &Text| answer(prompt.as_str()).into();
            CellReply::Each(prompts.iter().map(said).map(CellOutcome::Said).collect())
        }
        other => panic!("recipes do not ask this: {other:?}"),
    }
}

pub(crate) fn silent() -> impl Fn(&CellQuestion) -> CellReply {
    say(|prompt| panic!("nothing is to be asked: {prompt}"))
}

pub(crate) async fn on(content: &str) -> SandboxSession {
    let sandbox = sandbox();
    let loaded = load(&sandbox, content).await;
    sandbox.session(&loaded, Vec::new())
}

pub(crate) async fn ended(
    session: &mut SandboxSession,
    code: &str,
    answer: impl FnMut(&CellQuestion) -> CellReply,
) -> CellResult {
    let mut cell = cell(code);
    // A busy machine is no failure.
    cell.limits.time = Millis(30_000);
    run_with(session, cell, answer).await
}

/// What a cell submits.
#[track_caller]
pub(crate) fn submitted(end: CellResult) -> String {
    match end.submitted {
        Some(value) => value.text.as_str().to_owned(),
        None => panic!("nothing was submitted: {end:?}"),
    }
}

/// Numbers that look like chance and are the same in every run.
fn chance(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    }
}

/// A log of about so many bytes with one line that is like no other.
fn log(seed: u64, bytes: usize, needle: &str) -> String {
    let mut chance = chance(seed);
    let place = usize::try_from(chance(bytes as u64)).unwrap();
    let (mut text, mut is_hidden) = (String::with_capacity(bytes + 200), false);
    while text.len() < bytes {
        if !is_hidden && text.len() >= place {
            text.push_str(needle);
            text.push('\n');
            is_hidden = true;
        }
        let (a, b, c) = (chance(1 << 31), chance(2000), chance(256));
        let _ = match chance(4) {
            0 => writeln!(
                text,
                "12:00:{:02} INFO job {a:x} done in {b} ms on rack {c}",
                b % 60
            ),
            1 => writeln!(
                text,
                "12:00:{:02} INFO user{c} changed password, session {a:x}",
                b % 60
            ),
            2 => writeln!(
                text,
                "12:00:{:02} WARN slow query took {b} ms, shard {c}",
                b % 60
            ),
            _ => writeln!(
                text,
                "12:00:{:02} DEBUG hit for key user:{a} ttl {b}",
                b % 60
            ),
        };
    }
    text
}

/// Copies what stands in the line, or says that it is not there, as a model would that reads well.
fn reader(prompt: &str) -> String {
    if prompt.contains("Reply yes or no") {
        return if prompt.contains("Line: 12:00:00 NOTE") {
            "yes"
        } else {
            "no"
        }
        .to_owned();
    }
    assert!(prompt.len() < 2_500, "a short prompt: {prompt}");
    match prompt.split_once("changed to ") {
        Some((_, rest)) => rest.lines().next().unwrap_or_default().to_owned(),
        None => "NOT FOUND".to_owned(),
    }
}

const NEEDLE: &str =
    "12:00:00 NOTE the maintenance password for rack 12 was changed to amber-otter-4711";
const ASKED: &str = "SUBMIT(recipes.find('What is the new maintenance password of rack 12?'))";

#[tokio::test]
async fn r01_a_line_like_no_other_is_found_wherever_it_stands() {
    for seed in 1..=3 {
        let mut session = on(&log(seed, 10_000_000, NEEDLE)).await;
        let end = ended(&mut session, ASKED, say(reader)).await;
        assert_eq!(submitted(end), "amber-otter-4711", "seed {seed}");
    }
}

#[tokio::test]
async fn r01_what_is_not_there_is_not_found() {
    let mut session = on(&log(4, 200_000, "nothing")).await;
    let end = ended(&mut session, ASKED, say(reader)).await;
    assert_eq!(submitted(end), "null");
}

#[tokio::test]
async fn r01_an_answer_that_stands_nowhere_is_none() {
    let mut session = on(&log(5, 100_000, NEEDLE)).await;
    let end = ended(&mut session, ASKED, say(|_| "zebra-99999".to_owned())).await;
    assert_eq!(submitted(end), "null");
}

#[tokio::test]
async fn r01_a_judge_who_prefers_another_line_is_heard() {
    let mut session = on(&log(6, 100_000, NEEDLE)).await;
    let against = |prompt: &str| {
        if prompt.contains("Reply yes or no") {
            let own = prompt.contains("Line: 12:00:00 NOTE");
            return if own { "no" } else { "yes" }.to_owned();
        }
        reader(prompt)
    };
    let end = ended(&mut session, ASKED, say(against)).await;
    assert_eq!(submitted(end), "null");
}

fn table(format: &str) -> String {
    let mut text = String::new();
    if format == "csv" {
        text.push_str("id,category,minutes,text\n");
    }
    for n in 0..5_000_u32 {
        let category = ["billing", "login", "login", "returns"][n as usize % 4];
        let minutes = n % 60;
        let _ = match format {
            "json" => writeln!(
                text,
                r#"{{"id": {n}, "category": "{category}", "minutes": {minutes}, "text": "login, billing"}}"#
            ),
            "csv" => writeln!(text, r#"{n},{category},{minutes},"login, ""billing"" {n}""#),
            "pairs" => writeln!(
                text,
                "id={n} category={category} minutes={minutes} text=\"login billing\""
            ),
            _ => writeln!(text, "[{n}] [{category}] a login and a billing, {minutes}"),
        };
    }
    text
}

#[tokio::test]
async fn r01_counts_are_exact_in_four_formats() {
    for (format, field) in [
        ("json", "category"),
        ("csv", "Category"),
        ("pairs", "category"),
        ("brackets", "bracket 2"),
    ] {
        let mut session = on(&table(format)).await;
        let all = format!("SUBMIT(recipes.count_by_field('{field}'))");
        let end = ended(&mut session, &all, silent()).await;
        assert_eq!(
            submitted(end),
            r#"{"login": 2500, "billing": 1250, "returns": 1250}"#,
            "{format}"
        );
        let one = format!("SUBMIT(recipes.count_by_field('{field}', 'Billing'))");
        let end = ended(&mut session, &one, silent()).await;
        assert_eq!(submitted(end), "1250", "{format}");
    }
}

#[tokio::test]
async fn r01_numbers_are_added_up() {
    let mut session = on(&table("csv")).await;
    let code = "SUBMIT([recipes.aggregate('minutes', op) for op in ('sum', 'max', 'min', 'median', 'count')] \
                + [recipes.aggregate('minutes', 'max', by='category')])";
    let end = ended(&mut session, code, silent()).await;
    let sum: u32 = (0..5_000_u32).map(|n| n % 60).sum();
    assert_eq!(
        submitted(end),
        format!(r#"[{sum}, 59, 0, 29.0, 5000, {{"billing": 56, "login": 58, "returns": 59}}]"#)
    );
    let end = ended(
        &mut session,
        "recipes.aggregate('nothing', 'sum')",
        silent(),
    )
    .await;
    let message = end.error.unwrap().message;
    assert!(
        message.as_str().contains("there are: category"),
        "{message:?}"
    );
}

#[tokio::test]
async fn r01_two_texts_are_compared_by_code_and_read_by_a_model() {
    let sandbox = sandbox();
    let clause = |n: u32| {
        format!(
            "{n}. The goods of annex {n} are delivered within {} days.\n",
            n % 90
        )
    };
    let old: String = (0..20_000).map(clause).collect();
    let new = old.replacen("within 77 days", "within 7 days", 1);
    let context = sandbox
        .load(vec![text("old", &old), text("new", &new)])
        .await;
    let mut session = sandbox.session(&context.unwrap(), Vec::new());
    let end = ended(
        &mut session,
        "SUBMIT(recipes.compare('old', 'new'))",
        silent(),
    )
    .await;
    let said = submitted(end);
    assert!(said.starts_with(r#"{"count": 1, "#), "{said}");
    assert!(
        said.contains("within 77 days") && said.contains("within 7 days"),
        "{said}"
    );
    let code = "SUBMIT(recipes.compare('old', 'new', 'When is annex 77 delivered?')['answer'])";
    let read = say(|prompt| {
        assert!(prompt.contains("within 77 days"), "{prompt}");
        "Within 7 days rather than 77.".to_owned()
    });
    assert_eq!(
        submitted(ended(&mut session, code, read).await),
        "Within 7 days rather than 77."
    );
    let code = "SUBMIT(recipes.compare('old', 'new', 'When is annex 77 delivered?').get('answer', 'none'))";
    let end = ended(&mut session, code, say(|_| "Within 400 days.".to_owned())).await;
    assert_eq!(submitted(end), "none");
}

#[tokio::test]
async fn r01_a_point_without_support_is_left_out() {
    let story = "The mill burned down in 1911.\nIt was rebuilt by Anna Berg in 1913.\n".repeat(40);
    let mut session = on(&story).await;
    let read = say(|prompt| {
        if prompt.contains("Notes:") {
            "- The mill burned down in 1911.\n- The mayor resigned in 1950."
        } else {
            "The mill burned down in 1911."
        }
        .to_owned()
    });
    let end = ended(&mut session, "SUBMIT(recipes.map_reduce_summary(2))", read).await;
    assert!(
        end.output
            .head
            .as_str()
            .contains("1 points without support")
    );
    assert_eq!(submitted(end), r#"["The mill burned down in 1911."]"#);
}

#[tokio::test]
async fn r01_entries_are_judged_one_by_one_or_by_a_sample() {
    let judge = || {
        say(|prompt| {
            let own = prompt.rsplit("Text: ").next().unwrap_or_default();
            if own.contains("broken") { "yes" } else { "no" }.to_owned()
        })
    };
    let letters = |count: u32| -> String {
        let letter = |n: u32| {
            if n.is_multiple_of(4) {
                format!("letter {n}: it is broken\n")
            } else {
                format!("letter {n}: thanks\n")
            }
        };
        (0..count).map(letter).collect()
    };
    let mut session = on(&letters(40)).await;
    let code = "made = recipes.classify_each('complaint')\nSUBMIT([made['fits'], made['entries'], made['is_estimate']])";
    assert_eq!(
        submitted(ended(&mut session, code, judge()).await),
        "[10, 40, false]"
    );
    let mut session = on(&letters(4_000)).await;
    let code = "made = recipes.classify_each('complaint')\n\
                SUBMIT(made['is_estimate'] and abs(made['estimate'] - 1000) <= made['give_or_take'])";
    assert_eq!(submitted(ended(&mut session, code, judge()).await), "true");
    let code =
        "SUBMIT(recipes.classify_each('complaint', data=['a', 'b', 'c', 'd', 'e'])['doubt'])";
    let end = ended(&mut session, code, say(|_| "yes".to_owned())).await;
    assert_eq!(submitted(end), "every entry was judged the same");
}

/// A small model says no to everything, but less firmly where it is yes: the two groups are told apart.
#[tokio::test]
async fn r01_a_judge_who_leans_one_way_is_heard_by_how_far() {
    let kinds = ["broken", "fine", "fine", "fine"];
    let letters = kinds
        .map(|kind| format!("the letter says {kind}\n"))
        .concat()
        .repeat(10);
    let code = "SUBMIT(recipes.classify_each('a complaint')['fits'])";
    for (word, broken, fine, fits) in [
        ("no", 200, 3_000, "10"),
        ("yes", 4_000, 900, "10"),
        // Groups so close are of some other kind.
        ("no", 2_400, 3_000, "0"),
        ("no", 1_000, 1_000, "0"),
    ] {
        let mut noise = (0..).map(|turn| turn % 10 * 30);
        let mut lean = |prompt: &Text| CellOutcome::Chosen {
            text: word.into(),
            margin_milli: if prompt.as_str().contains("broken") {
                broken
            } else {
                fine
            } + noise.next().unwrap(),
        };
        let answer = |question: &CellQuestion| match &question.call {
            CellCall::Query { prompts, .. } => {
                CellReply::Each(prompts.iter().map(&mut lean).collect())
            }
            other => panic!("recipes do not ask this: {other:?}"),
        };
        let mut session = on(&letters).await;
        assert_eq!(
            submitted(ended(&mut session, code, answer).await),
            fits,
            "{word} {broken} {fine}"
        );
    }
}

#[tokio::test]
async fn r01_pairs_and_passages_are_read() {
    let mut session = on("x").await;
    let code = "SUBMIT(recipes.pairwise('Are they of one kind?', ['red 1', 'blue 2', 'red 3']))";
    let alike = say(|prompt| {
        if prompt.matches("red").count() == 2 {
            "yes"
        } else {
            "no"
        }
        .to_owned()
    });
    assert_eq!(
        submitted(ended(&mut session, code, alike).await),
        r#"[["red 1", "red 3"]]"#
    );
    let mut session = on(&log(7, 100_000, NEEDLE)).await;
    let code = "SUBMIT(recipes.filter_then_read('Why was the maintenance password changed?'))";
    let read = say(|_| "It was changed to amber-otter-4711 [1].".to_owned());
    let said = submitted(ended(&mut session, code, read).await);
    assert!(
        said.contains("It was changed to amber-otter-4711.") && said.contains("NOTE"),
        "{said}"
    );
    let invented = say(|_| "Because of the audit of 1999 [1].".to_owned());
    assert_eq!(submitted(ended(&mut session, code, invented).await), "null");
}

/// Five thousand entries are twelve million pairs: those alike in what is rare are read, in little room.
#[tokio::test]
async fn r01_of_many_entries_the_likely_pairs_are_read() {
    let mut entries = String::new();
    for n in 0..5_000 {
        let part = if n % 2_500 == 7 { "gasket" } else { "part" };
        writeln!(
            entries,
            "report {n} from the yard: {part} {} is late",
            n % 2_500
        )
        .unwrap();
    }
    let mut session = on(&entries).await;
    let alike = say(|prompt| {
        if prompt.matches("gasket").count() == 2 {
            "yes"
        } else {
            "no"
        }
        .to_owned()
    });
    let code = "SUBMIT(recipes.pairwise('Which reports are about one another?'))";
    let end = ended(&mut session, code, alike).await;
    assert!(end.output.head.as_str().contains("300 likeliest pairs"));
    assert_eq!(
        submitted(end),
        r#"[["report 7 from the yard: gasket 7 is late", "report 2507 from the yard: gasket 7 is late"]]"#
    );
}

/// Material of every shape, and material that is meant to hurt.
#[tokio::test]
async fn r03_no_material_breaks_a_recipe() {
    let long = "x".repeat(5_000_000);
    let binary: String = (0..200_000_u32)
        .filter_map(|n| char::from_u32(n % 0x300))
        .collect();
    let turkish = "İstanbul'da şifre değişti: gizli-42 İİİ\n".repeat(200);
    let texts = [
        String::new(),
        "\n\n\n".to_owned(),
        format!("{long}\nsecret word {long}"),
        format!("{long} the secret word is heron {long}"),
        binary,
        turkish,
        "((((a+)+)+)+$\n".repeat(5_000),
        "{\"a\": [[[[[[".repeat(5_000),
        "a=\"".repeat(50_000),
        ",".repeat(300_000),
    ];
    let code = "\
        import json\n\
        recipes.find('What is the secret word?', ['((a+)+$', '[', 'İ', ''])\n\
        recipes.filter_then_read('secret', ['*'])\n\
        for call in (lambda: recipes.count_by_field('a'), lambda: recipes.aggregate('a', 'sum'),\n\
        \x20            lambda: recipes.map_reduce_summary(3)):\n\
        \x20   try:\n\
        \x20       call()\n\
        \x20   except LookupError:\n\
        \x20       pass\n\
        SUBMIT(len(json.dumps(recipes.sample_inspect())) < 4000)";
    for (number, content) in texts.iter().enumerate() {
        let mut session = on(content).await;
        let end = ended(&mut session, code, say(|_| "NOT FOUND".to_owned())).await;
        assert_eq!(submitted(end), "true", "text {number}");
    }
    let mut session = on(&texts[3]).await;
    let code = "SUBMIT(recipes.find('What is the secret word?'))";
    let read = say(|prompt| {
        assert!(prompt.len() < 2_500);
        if prompt.contains("is heron") {
            "heron"
        } else {
            "NOT FOUND"
        }
        .to_owned()
    });
    assert_eq!(submitted(ended(&mut session, code, read).await), "heron");
}

#[tokio::test]
async fn r01_recipes_work_on_material_of_any_shape() {
    let sandbox = sandbox();
    let list =
        "{\"kind\": \"a\", \"in\": {\"n\": 1}}\n{\"kind\": \"b\"}\n{\"kind\": \"a\"}\n\"kind\"\n";
    let lines = |name: &str| SandboxMaterial {
        name: name.to_owned(),
        form: ValueFormat::Lines,
        content: MaterialContent::Bytes(list.as_bytes().to_vec()),
    };
    let count = "SUBMIT(recipes.count_by_field('kind'))";
    let context = sandbox.load(vec![lines("x")]).await.unwrap();
    let mut session = sandbox.session(&context, Vec::new());
    assert_eq!(
        submitted(ended(&mut session, count, silent()).await),
        r#"{"a": 2, "b": 1}"#
    );
    let code = "from recipes import aggregate\nimport recipes as r\nSUBMIT([aggregate('in.n', 'sum'), r is recipes])";
    assert_eq!(
        submitted(ended(&mut session, code, silent()).await),
        "[1, true]"
    );
    let context = sandbox.load(vec![lines("x"), lines("y")]).await.unwrap();
    let mut session = sandbox.session(&context, Vec::new());
    assert_eq!(
        submitted(ended(&mut session, count, silent()).await),
        r#"{"a": 4, "b": 2}"#
    );
    for data in [
        "{'kind': 'a', 'n': {'x': 1}}",
        "[]",
        "{}",
        "5",
        "[None, 1, [2]]",
        "{'a': None}",
        "['kind=a x', 'kind=b y']",
    ] {
        let code = format!(
            "recipes.find('x y', data={data})\nSUBMIT(type(recipes.sample_inspect({data})).__name__)"
        );
        let end = ended(&mut session, &code, say(|_| "NOT FOUND".to_owned())).await;
        assert_eq!(submitted(end), "dict", "{data}");
    }
}

/// A judge who is held to no pattern, and whose replies are all cut off.
fn cut_off(answer: impl Fn(&str) -> String) -> impl Fn(&CellQuestion) -> CellReply {
    move |question| match &question.call {
        CellCall::Query { prompts, .. } => {
            let cut = |prompt: &Text| {
                CellOutcome::Fault(CellException {
                    kind: CellExceptionKind::Truncated,
                    message: "the reply ran into its output cap".into(),
                    partial: Some(answer(prompt.as_str()).into()),
                })
            };
            CellReply::Each(prompts.iter().map(cut).collect())
        }
        other => panic!("recipes do not ask this: {other:?}"),
    }
}

#[tokio::test]
async fn r01_yes_and_no_are_understood_however_they_are_said() {
    let letters = "'it is broken', 'thanks', 'broken again', 'all is well', 'broken', 'fine'";
    let classify = format!(
        "made = recipes.classify_each('complaint', data=[{letters}])\nSUBMIT([made['fits'], made['read']])"
    );
    let pairs = "SUBMIT(recipes.pairwise('Are they of one kind?', ['red 1', 'blue 2', 'red 3']))"
        .to_owned();
    let mut session = on("x").await;
    for (yes, no) in [("Yes", "No"), ("YES.", "**No**"), (" yes,", "no, it")] {
        let judge = move |prompt: &str| {
            let own = prompt.rsplit("Text: ").next().unwrap_or_default();
            let agrees = own.contains("broken") || prompt.matches("red").count() == 2;
            if agrees { yes } else { no }.to_owned()
        };
        for (code, wanted) in [(&classify, "[3, 6]"), (&pairs, r#"[["red 1", "red 3"]]"#)] {
            let end = ended(&mut session, code, say(judge)).await;
            assert_eq!(submitted(end), wanted, "{yes}: {code}");
            let end = ended(&mut session, code, cut_off(judge)).await;
            assert_eq!(submitted(end), wanted, "{yes}, cut off: {code}");
        }
    }
    for code in [&classify, &pairs] {
        let end = ended(&mut session, code, say(|_| "perhaps".to_owned())).await;
        let message = end.error.unwrap().message;
        assert!(message.as_str().contains("could be judged"), "{message:?}");
    }
}

#[tokio::test]
async fn r01_a_judge_is_heard_however_he_says_no() {
    let mut session = on(&log(8, 100_000, NEEDLE)).await;
    let against = |prompt: &str| {
        if prompt.contains("Reply yes or no") {
            let own = prompt.contains("Line: 12:00:00 NOTE");
            return if own { "No." } else { "Yes." }.to_owned();
        }
        reader(prompt)
    };
    let end = ended(&mut session, ASKED, say(against)).await;
    assert_eq!(submitted(end), "null");
}

/// So many records, made by their number.
pub(crate) fn each(count: u32, record: impl Fn(u32) -> String) -> String {
    (0..count).map(record).collect()
}

/// A model reads what it is shown: of a long line the place that was found.
#[tokio::test]
async fn r01_the_place_that_was_found_is_shown() {
    let read = |prompt: &str| {
        if prompt.contains("Reply yes or no") {
            return "yes".to_owned();
        }
        assert!(prompt.len() < 2_500, "a short prompt: {prompt}");
        let is_shown = prompt.contains("vault is ZEBRA-77");
        if is_shown { "ZEBRA-77" } else { "NOT FOUND" }.to_owned()
    };
    for (before, after) in [
        (20, 20),
        (60, 300),
        (170, 60),
        (400, 0),
        (700, 40),
        (900, 900),
    ] {
        let filler = |chars: usize| "dust ".repeat(chars / 5);
        let line = format!(
            "report: {}the access code of the vault is ZEBRA-77 {}",
            filler(before),
            filler(after)
        );
        let quiet = |kind: &str| {
            format!("Nothing much happened here today for group {kind} of the guards, they said.\n")
                .repeat(300)
        };
        let mut session = on(&format!("{}{line}\n{}", quiet("a"), quiet("b"))).await;
        let question = "'What is the access code of the vault?'";
        let find = format!("SUBMIT(recipes.find({question}))");
        let end = ended(&mut session, &find, say(read)).await;
        assert_eq!(submitted(end), "ZEBRA-77", "{before} and {after}");
        let read_there = format!(
            "made = recipes.filter_then_read({question})\nSUBMIT([made['answer'], 'ZEBRA-77' in made['lines'][0]])"
        );
        let end = ended(&mut session, &read_there, say(read)).await;
        assert_eq!(
            submitted(end),
            r#"["ZEBRA-77", true]"#,
            "{before} and {after}"
        );
    }
}

/// Some letters are longer when small, and what follows them is copied as it stands there.
#[tokio::test]
async fn r01_an_answer_is_copied_whole() {
    for name in ["Hauptstraße", "Haupt\u{fb01}eld", "İstanbul"] {
        let quiet = each(60, |n| format!("Zeile {n} ohne jeden Inhalt\n"));
        let mut session = on(&format!(
            "{quiet}Das Lager {name} hat die Kennung Straße 4711.\n"
        ))
        .await;
        let read = |prompt: &str| {
            if prompt.contains("Reply yes or no") {
                "yes"
            } else {
                "strasse 4711"
            }
            .to_owned()
        };
        let code = "SUBMIT(recipes.find('Welche Kennung hat das Lager?'))";
        let end = ended(&mut session, code, say(read)).await;
        assert_eq!(submitted(end), "Straße 4711", "{name}");
    }
}

/// What differs is counted by one rule, however much it is.
#[tokio::test]
async fn r01_differences_are_counted_alike_at_every_size() {
    let sandbox = sandbox();
    let keys = |count: u32, more: u32| each(count, |n| format!("key{n} = {}\n", n + more));
    let words = |n: u32, from: u32| each(50, |w| format!("word{} ", (n * 7 + w) % 900 + from));
    let long = |from: u32| each(500, |n| format!("clause {n}: {}{from}\n", words(n, 0)));
    for (what, old, new, expected) in [
        ("500 changed", keys(500, 0), keys(500, 1), "500"),
        ("501 changed", keys(501, 0), keys(501, 1), "501"),
        ("5000 changed", keys(5_000, 0), keys(5_000, 1), "5000"),
        ("long ones", long(1), long(2), "500"),
        (
            "repeated",
            "x\nx\nx\ny\n".to_owned(),
            "x\ny\n".to_owned(),
            "2",
        ),
        ("moved", "a\nb\nc\n".to_owned(), "c\na\nb\n".to_owned(), "0"),
        (
            "replaced",
            "a\nold\nb\n".to_owned(),
            "a\nnew\nb\n".to_owned(),
            "1",
        ),
        (
            "added",
            keys(40, 0),
            format!("one\n{}two\n", keys(40, 0)),
            "2",
        ),
    ] {
        let context = sandbox
            .load(vec![text("old", &old), text("new", &new)])
            .await;
        let mut session = sandbox.session(&context.unwrap(), Vec::new());
        let code = "import time\nbegin = time.time()\nSUBMIT([recipes.compare('old', 'new')['count'], time.time() - begin < 5])";
        let end = ended(&mut session, code, silent()).await;
        assert_eq!(submitted(end), format!("[{expected}, true]"), "{what}");
    }
}

/// A sample of many entries is drawn without holding all of them.
#[tokio::test]
async fn r01_many_entries_are_judged_in_little_room() {
    let sandbox = sandbox();
    let line = "2026-01-01 level=info msg=hello to everyone who reads what is written here\n";
    let content = line.repeat(100_000_000 / line.len());
    let loaded = load(&sandbox, &content).await;
    let mut session = sandbox.session(&loaded, Vec::new());
    let code = "\
        recipes.sample_inspect()\n\
        made = recipes.classify_each('greetings')\n\
        SUBMIT([made['entries'], made['read']])";
    let mut small = cell(code);
    small.limits.time = Millis(60_000);
    small.limits.memory = 64 << 20;
    let end = run_with(&mut session, small, say(|_| "yes".to_owned())).await;
    let entries = content.lines().count();
    assert_eq!(submitted(end), format!("[{entries}, 200]"));
}
