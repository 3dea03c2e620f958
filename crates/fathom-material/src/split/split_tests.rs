use proptest::prelude::*;

use super::break_points::{at_lines, at_sentences, sentence_ends, weight};
use super::passages;
use crate::limits::PASSAGE_WORDS_MAX;
use crate::passage::Passage;
use crate::read_documents::{DocumentFormat, MaterialDocument};

fn split(name: &str, text: &str) -> Vec<Passage> {
    passages(&MaterialDocument::new(name, text))
}

/// `lines | headings | text`, each passage on a line of its own.
fn table(passages: &[Passage]) -> Vec<String> {
    passages
        .iter()
        .map(|passage| {
            let Passage {
                first_line,
                last_line,
                headings,
                ..
            } = passage;
            let text = passage.text.replace('\n', "¶");
            let end: String = text
                .chars()
                .rev()
                .take(20)
                .collect::<Vec<_>>()
                .into_iter()
                .rev()
                .collect();
            let start: String = text.chars().take(28).collect();
            format!("{first_line}-{last_line} | {headings} | {start} … {end}")
        })
        .collect()
}

fn words(count: usize, word: &str) -> String {
    vec![word; count].join(" ") + "."
}

#[test]
fn c03_markdown_is_split_at_headings_and_paragraphs() {
    let text = format!(
        "# Report\n\n## Costs\n\n{}\n\n{}\n\n```sh\ncargo run\n```\n\n## Latency\n\n- one item\n- another item\n",
        words(60, "money"),
        words(60, "price"),
    );
    assert_eq!(
        table(&split("a.md", &text)),
        [
            "1-5 |  | # Report¶¶## Costs¶¶money mo … y money money money.",
            "7-7 | Report > Costs | price price price price pric … e price price price.",
            "9-11 | Report > Costs | ```sh¶cargo run¶``` … ```sh¶cargo run¶```",
            "13-16 | Report | ## Latency¶¶- one item¶- ano …  item¶- another item",
        ]
    );
}

#[test]
fn c03_html_keeps_its_lines_and_loses_its_scripts() {
    let text = "<!doctype html>\n<html><head><title>Plan</title>\n<script>\nvar secret = 1 < 2;\n</script>\n<style>p { color: red }</style>\n\
                </head>\n<body>\n<h1>Move</h1>\n<p>The database &amp; its\n<b>cluster</b> move.</p>\n<h2>Cost</h2>\n<table>\n<tr><td>disk</td>\
                <td>12</td></tr>\n</table>\n<svg><text>drawn</text></svg></body></html>";
    assert_eq!(
        table(&split("a.html", text)),
        [
            "2-11 |  | Plan¶¶Move¶¶The database & i …  & its cluster move.",
            "12-14 | Plan > Move | Cost¶¶disk\t12 … Cost¶¶disk\t12",
        ]
    );
}

#[test]
fn c03_long_paragraphs_are_cut_at_sentences() {
    let sentence = "The new cluster keeps three copies of each row on separate disks. ";
    let text = sentence.repeat(40);
    let parts = split("a.txt", &text);
    assert!(parts.len() > 3);
    for part in &parts {
        assert!(part.text.starts_with("The new") && part.text.ends_with("disks."));
        assert!(weight(&part.text) <= PASSAGE_WORDS_MAX);
    }
}

#[test]
fn c03_logs_and_tables_are_cut_at_lines() {
    let log: Vec<String> = (1..=100)
        .map(|n| format!("12:00 host-{n} took {n} ms to answer"))
        .collect();
    let parts = split("a.log", &log.join("\n"));
    for part in &parts {
        assert!(
            part.text
                .starts_with(&format!("12:00 host-{} took", part.first_line))
        );
        assert!(part.text.ends_with("to answer"));
    }
    let rows: Vec<String> = (2..=90)
        .map(|n| format!("{n},Berlin,a customer of the east"))
        .collect();
    let parts = split("a.csv", &format!("id,city,remark\n{}", rows.join("\n")));
    assert!(parts.len() > 1);
    for part in parts.iter().skip(1) {
        assert_eq!(&*part.headings, "id,city,remark");
        assert!(
            part.text
                .starts_with(&format!("{},Berlin", part.first_line))
        );
    }
}

#[test]
fn c03_pages_are_the_lines_of_a_pdf() {
    let text = format!(
        "{}\n\n{}\u{c}{}\n",
        words(50, "first"),
        words(50, "still"),
        words(50, "second")
    );
    let document = MaterialDocument {
        format: DocumentFormat::Pages,
        ..MaterialDocument::new("a.pdf", text)
    };
    let pages: Vec<u32> = passages(&document)
        .iter()
        .map(|passage| passage.first_line)
        .collect();
    assert_eq!(pages, [1, 1, 2]);
}

#[test]
fn sentences_end_where_the_next_begins() {
    let text = "It costs 3.5 million, i.e. too much. \"Really?\" Yes! 本当です。次の文。";
    let mut start = 0;
    let sentences: Vec<&str> = sentence_ends(text)
        .into_iter()
        .map(|end| text[std::mem::replace(&mut start, end)..end].trim())
        .collect();
    assert_eq!(
        sentences,
        [
            "It costs 3.5 million, i.e. too much.",
            "\"Really?\"",
            "Yes!",
            "本当です。",
            "次の文。"
        ]
    );
}

#[test]
fn one_endless_word_is_cut_between_characters() {
    let parts = at_sentences(&"ß".repeat(100_000)).len();
    assert!(parts > 100);
    let parts = split("a.txt", &"x".repeat(1_000_000));
    assert!(
        parts
            .iter()
            .all(|part| weight(&part.text) <= PASSAGE_WORDS_MAX)
    );
}

/// A line of a passage is a line of the document.
fn stands_at(document: &str, passage: &Passage) -> bool {
    let lines: Vec<&str> = document.split('\n').collect();
    let first = passage.text.split('\n').next().unwrap_or_default().trim();
    lines[passage.first_line as usize - 1].contains(first)
        && passage.last_line as usize <= lines.len()
}

proptest! {
    #[test]
    fn c03_cuts_cover_the_text_in_order(text in "[a-zß。.! \\n]{0,4000}") {
        for parts in [at_sentences(&text), at_lines(&text)] {
            let mut at = 0;
            for part in parts {
                prop_assert_eq!(part.start, at);
                prop_assert!(text.is_char_boundary(part.end));
                at = part.end;
            }
            prop_assert_eq!(at, text.len());
        }
    }

    #[test]
    fn c03_passages_stand_where_they_say(text in "([#>*`| -]{0,3}[a-zé]{0,12}[.!?]? ?|\\n|\\n\\n){0,120}") {
        for name in ["a.txt", "a.md", "a.log"] {
            for passage in split(name, &text) {
                prop_assert!(stands_at(&text, &passage), "{} {:?}", name, passage);
            }
        }
    }

    #[test]
    fn c03_any_html_is_read(text in "(<[/!]?[a-z0-9 =\"]{0,8}>?|</?(table|tr|td|p|pre|br|h1)>|&[a-z#0-9]{0,5};?|[a-zé \\n]{0,20}){0,60}") {
        let lines = text.split('\n').count();
        let outline = super::html::outline(&text);
        prop_assert!(outline.lines.is_sorted());
        prop_assert!(outline.blocks.is_sorted_by(|a, b| a.range.end < b.range.start));
        for passage in split("a.html", &text) {
            prop_assert!(passage.first_line >= 1 && passage.last_line as usize <= lines);
        }
    }
}
