//! Files that were made to break their readers.

use std::fs;

use fathom_material::{GatheredMaterial, MaterialDocument, Passage, PassageIndex, gather};

fn passages(name: &str, text: &str) -> Vec<Passage> {
    let documents = vec![MaterialDocument::new(name, text)];
    let gathered = GatheredMaterial {
        documents,
        skipped: Vec::new(),
    };
    PassageIndex::index(&gathered, None, &mut |_| {})
        .unwrap()
        .passages()
        .to_vec()
}

#[test]
fn c03_one_huge_line_is_left_out_or_cut() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("huge.txt"), vec![b'x'; 50 * 1024 * 1024]).unwrap();
    let gathered = gather(&[folder.path().to_owned()]).unwrap();
    assert_eq!(gathered.documents, []);
    let said = gathered.skipped[0].to_string();
    assert!(said.ends_with("it has more than 16777216 bytes"), "{said}");

    let words: Vec<String> = (0..300_000).map(|n| format!("word{n}.")).collect();
    let line = words.join(" ");
    for name in ["a.txt", "a.md", "a.html", "a.log", "a.csv"] {
        let found = passages(name, &line);
        assert!(found.len() > 1000, "{name}");
        assert!(
            found
                .iter()
                .all(|passage| passage.text.len() < 2000 && passage.first_line == 1),
            "{name}"
        );
    }
}

#[test]
fn c03_html_without_end_is_read() {
    let deep = "<div>".repeat(200_000) + "core";
    assert_eq!(passages("a.html", &deep)[0].text, "core");
    let attributes = format!("<p {}>seen", "a=b ".repeat(100_000));
    assert_eq!(passages("a.html", &attributes)[0].text, "seen");
    let entities = "&amp;&lt;&nosuch;&#x10ffff;&#0;".repeat(50_000);
    assert!(!passages("a.html", &entities).is_empty());
    for open in [
        "<table><tr><td>",
        "<tr><td>",
        "<pre> <b>\n",
        "<br>",
        "<p>a<td>",
        "<tr><td/><td>a<br>",
    ] {
        let document = MaterialDocument::new("a.html", open.repeat(100_000) + "core");
        assert!(document.plain().ends_with("core"), "{open}");
    }
    assert_eq!(passages("a.html", "<script>").len(), 0);
    assert_eq!(passages("a.html", "<p>seen<!-- ")[0].text, "seen");
    assert_eq!(
        passages("a.html", "<svg><svg></svg>hidden</svg>seen")[0].text,
        "seen"
    );
}

#[test]
fn c03_markdown_that_nests_is_read() {
    for text in [
        ">".repeat(100_000),
        "- ".repeat(50_000),
        "[".repeat(100_000),
        "*a".repeat(50_000),
        "`".repeat(100_000),
        "#".repeat(100_000),
        "|-".repeat(50_000),
        format!("a\n{}", "=".repeat(100_000)),
    ] {
        let found = passages("a.md", &text);
        assert!(
            found.iter().all(|passage| passage.text.len() < 4000),
            "{}",
            &text[..4]
        );
    }
}

#[test]
fn c03_bytes_that_are_no_text_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let bytes: Vec<u8> = (0..=255).cycle().take(10_000).collect();
    fs::write(folder.path().join("a.md"), &bytes).unwrap();
    fs::write(folder.path().join("b.html"), b"\xff\xfe\x00\xd8\x00\xd8").unwrap();
    fs::write(folder.path().join("empty.md"), b"").unwrap();
    let gathered = gather(&[folder.path().to_owned()]).unwrap();
    assert_eq!(gathered.skipped.len(), 2);
    let library = PassageIndex::index(&gathered, None, &mut |_| {}).unwrap();
    assert_eq!(library.passages(), []);
}

#[test]
fn c03_a_name_is_one_plain_line() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a\n\u{1b}[31mb.md"), b"text").unwrap();
    let gathered = gather(&[folder.path().to_owned()]).unwrap();
    assert!(!gathered.documents[0].source.contains(char::is_control));
}
