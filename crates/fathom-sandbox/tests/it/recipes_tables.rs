//! What recipes take for a table, its cells and their numbers.

use crate::recipes::{each, ended, on, say, silent, submitted};

/// What cells submit, each on its own material, where nothing is asked.
async fn submit_each(cases: &[(&str, String, &str, &str)]) {
    for (what, content, code, expected) in cases {
        let mut session = on(content).await;
        let end = ended(&mut session, &format!("SUBMIT({code})"), silent()).await;
        assert_eq!(&submitted(end), expected, "{what}");
    }
}

#[tokio::test]
async fn r01_numbers_are_those_that_are_written_down() {
    let column = |values: &[&str]| {
        let rows: Vec<String> = values.iter().map(|value| format!("n;{value}\n")).collect();
        format!("name;amount\n{}", rows.concat())
    };
    let sum = "recipes.aggregate('amount', 'sum')";
    let max = "recipes.aggregate('amount', 'max')";
    let both = "[recipes.aggregate('amount', op) for op in ('count', 'sum')]";
    submit_each(&[
        (
            "no digit before the point",
            column(&[".301", ".25"]),
            max,
            "0.301",
        ),
        ("money below one", column(&["$.50", "$1.25"]), sum, "1.75"),
        (
            "thousands",
            column(&["1,250", "$12,000,000.5"]),
            sum,
            "12001250.5",
        ),
        (
            "other commas",
            column(&["12,50", "7", "1,2,3", "0,123"]),
            both,
            "[1, 7]",
        ),
        (
            "accounts",
            column(&["(500)", "($1,000)", "200"]),
            sum,
            "-1300",
        ),
        (
            "signs",
            column(&["\u{2212}5", "-$20", "+3", "$-1"]),
            sum,
            "-23",
        ),
        ("times", column(&["850ms", "1.2s", "35 ms"]), max, "1200.0"),
        ("long times", column(&["2 min", "1h", "3min"]), sum, "65"),
        ("sizes", column(&["10KB", "2MB", "3 kb"]), sum, "2013"),
        ("one unit", column(&["10%", "20%"]), sum, "30"),
        (
            "money of two kinds",
            column(&["10 EUR", "20 EUR", "7 USD"]),
            both,
            "[3, 30]",
        ),
        ("short words", column(&["Rs.50", "No. 7"]), sum, "57"),
    ])
    .await;
    let mut session = on(&column(&["12,50", "3,25"])).await;
    let end = ended(&mut session, sum, silent()).await;
    let message = end.error.unwrap().message;
    assert!(message.as_str().contains("such as '12,50'"), "{message:?}");
    let mut session = on(&column(&["12,50", "3", "4ms", "5"])).await;
    let end = ended(&mut session, &format!("SUBMIT({sum})"), silent()).await;
    let said = end.output.head.as_str();
    assert!(
        said.contains("1 values of which it is not certain"),
        "{said}"
    );
    assert!(said.contains("1 numbers in other units"), "{said}");
    assert_eq!(submitted(end), "8");
}

#[tokio::test]
async fn r01_a_quote_that_nothing_closes_swallows_nothing() {
    let stray = |mark: char| {
        let row = move |n: u32| {
            let quote = if n == 100 || n == 900 { "\"" } else { "" };
            format!("{n}{mark}{quote}title {n}{mark}k{}\n", n % 2)
        };
        format!("id{mark}title{mark}kind\n{}", each(1_000, row))
    };
    let inches = stray(',').replace("\"title 900", "900\"");
    let count = "recipes.count_by_field('kind')";
    let halves = r#"{"k0": 500, "k1": 500}"#;
    let lines = |n: u32| format!("{n},\"one\ntwo, with a comma\n\nfour\",k{}\n", n % 2);
    let several = format!("id,text,kind\n{}", each(50, lines));
    let long = |n: u32| format!("{n},{},k\n", "y".repeat(if n == 30 { 200_000 } else { 1 }));
    submit_each(&[
        ("tabs", stray('\t'), count, halves),
        ("commas", stray(','), count, halves),
        ("closed by chance", inches, count, halves),
        (
            "never closed",
            stray(',').replacen("\"title 900", "title", 1),
            count,
            halves,
        ),
        (
            "cells of several lines",
            several.clone(),
            count,
            r#"{"k0": 25, "k1": 25}"#,
        ),
        (
            "a long cell",
            format!("id,text,kind\n{}", each(50, long)),
            count,
            r#"{"k": 50}"#,
        ),
    ])
    .await;
    // Records are judged, not their lines, and not the header.
    let mut session = on(&several).await;
    let code = "made = recipes.classify_each('two')\nSUBMIT([made['fits'], made['entries']])";
    let read = say(|prompt| {
        let is_whole = prompt.contains("one two, with a comma four");
        if is_whole { "yes" } else { "no" }.to_owned()
    });
    assert_eq!(submitted(ended(&mut session, code, read).await), "[50, 50]");
}

#[tokio::test]
async fn r01_a_value_is_counted_by_its_letters_alone() {
    let column = |values: &[&str]| {
        format!(
            "id,it\n{}",
            each(60, |n| {
                format!("{n},{}\n", values[n as usize % values.len()])
            })
        )
    };
    let levels = || column(&["error", "Error", "ERROR", "info"]);
    submit_each(&[
        (
            "a sign",
            column(&["1", "0"]),
            "recipes.count_by_field('it', '-1')",
            "0",
        ),
        (
            "marks",
            column(&["C++", "C", "Go"]),
            "recipes.count_by_field('it', 'c#')",
            "0",
        ),
        (
            "one letter",
            column(&["C++", "C", "Go"]),
            "recipes.count_by_field('it', 'c')",
            "20",
        ),
        (
            "small letters",
            levels(),
            "recipes.count_by_field('it', 'error')",
            "45",
        ),
        (
            "capitals",
            levels(),
            "recipes.count_by_field('it', 'ERROR')",
            "45",
        ),
        (
            "neither",
            levels(),
            "recipes.count_by_field('it', 'eRRor')",
            "45",
        ),
    ])
    .await;
}

#[tokio::test]
async fn r01_tables_are_known_however_they_are_written() {
    let status = |n: u32| ["ok", "ok", "bad"][n as usize % 3];
    let counts = r#"{"ok": 20, "bad": 10}"#;
    let count = "recipes.count_by_field('status')";
    let wide: Vec<String> = (0..24).map(|n| format!("c{n}")).collect();
    let pairs = |record: fn(u32, &str) -> String| each(30, |n| record(n, status(n)));
    submit_each(&[
        (
            "a first column without a name",
            format!(
                ",name,status\n{}",
                each(30, |n| format!("{n},n{n},{}\n", status(n)))
            ),
            count,
            counts,
        ),
        (
            "years as names",
            format!("name,2020,2021\n{}", each(9, |n| format!("n{n},{n},1\n"))),
            "[recipes.aggregate('2020', 'sum'), recipes.aggregate('2021', 'count')]",
            "[36, 9]",
        ),
        (
            "no header",
            each(30, |n| format!("n{n},{},{}\n", 2000 + n, 2001 + n)),
            "recipes.aggregate('column 2', 'count')",
            "30",
        ),
        (
            "pairs with commas",
            pairs(|n, status| format!("ts={n}, level=info, status={status}\n")),
            count,
            counts,
        ),
        (
            "an empty pair",
            pairs(|n, status| format!("user= status={status} n={n}\n")),
            "[recipes.count_by_field('user'), recipes.count_by_field('status')]",
            r#"[{"": 30}, {"ok": 20, "bad": 10}]"#,
        ),
        (
            "a pair in quotes",
            pairs(|n, status| {
                format!("n={n} msg=\"retry \\\"x\\\" after status=500\" status={status}\n")
            }),
            count,
            counts,
        ),
        (
            "a quote that is none",
            pairs(|_, status| format!("a 5\" pipe status={status} is 6\" long\n")),
            count,
            counts,
        ),
        (
            "pairs with colons",
            pairs(|n, status| format!("n: {n} status:  {status}\n")),
            count,
            counts,
        ),
        (
            "many columns",
            format!(
                "{},status\n{}",
                wide.join(","),
                each(30, |n| format!("{}{}\n", "v,".repeat(24), status(n)))
            ),
            "[[field['values'] for field in source['fields'] if field['name'] == 'status'] \
              for source in recipes.sample_inspect()['sources']]",
            r#"[[["ok", "bad"]]]"#,
        ),
    ])
    .await;
}

#[tokio::test]
async fn r01_objects_are_records_however_they_are_laid_out() {
    let status = |n: u32| ["ok", "ok", "bad"][n as usize % 3];
    let counts = r#"{"ok": 20, "bad": 10}"#;
    let count = "recipes.count_by_field('status')";
    let object = |n: u32| format!("{{\"id\": {n}, \"status\": \"{}\"}}", status(n));
    let objects = |between: &str| {
        let all: Vec<String> = (0..30).map(object).collect();
        all.join(between)
    };
    submit_each(&[
        ("one array", format!("[{}]", objects(",")), count, counts),
        (
            "an array over lines",
            format!("[\n  {}\n]\n", objects(",\n  ")),
            count,
            counts,
        ),
        (
            "objects over lines",
            objects("\n").replace(", ", ",\n  "),
            count,
            counts,
        ),
        (
            "a list in an object",
            format!("{{\n\"page\": 1,\n\"items\": [\n{}]\n}}", objects(",\n")),
            count,
            counts,
        ),
    ])
    .await;
    let long = objects(",").repeat(200);
    let mut session = on(&format!("[{long}")).await;
    let end = ended(&mut session, count, silent()).await;
    let message = end.error.unwrap().message;
    assert!(message.as_str().contains("this is no JSON"), "{message:?}");
}
