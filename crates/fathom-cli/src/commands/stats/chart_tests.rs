use std::collections::BTreeSet;

use super::super::samples::councils;
use super::*;

/// Every text of the picture that is drawn.
fn texts(svg: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(svg).unwrap();
    let texts = document
        .descendants()
        .filter(|node| node.has_tag_name("text"));
    texts
        .map(|node| node.text().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn c09_a_chart_is_whole_xml_with_title_description_units_and_legend() {
    let svg = draw(&councils("network"), 30);
    let document = roxmltree::Document::parse(&svg).unwrap();
    let root = document.root_element();
    assert_eq!(root.tag_name().name(), "svg");
    assert_eq!(root.attribute("role"), Some("img"));
    assert!(root.attribute("viewBox").is_some());
    let child = |name: &str| root.children().find(|node| node.has_tag_name(name));
    let title = child("title").and_then(|node| node.text());
    assert_eq!(title, Some("Councils of the last 30 days"));
    let desc = child("desc").and_then(|node| node.text()).unwrap();
    assert!(desc.contains("Depth 1: 4 runs"), "{desc}");
    let texts = texts(&svg);
    for said in [
        "mean",
        "median",
        "seconds",
        "$ a run",
        "calls a run",
        "made",
        "reused",
        "levels of sub-chiefs asked",
        "chief",
        "sub-chief",
        "IT/security",
        "100 %",
    ] {
        assert!(texts.iter().any(|text| text == said), "{said}: {texts:?}");
    }
}

#[test]
fn c09_a_hostile_name_stays_text_in_the_chart() {
    let hostile = "</text><script>alert(1)</script>&\"'\u{0}\u{1b}[31m\u{ffff}]]>\u{202e}";
    let svg = draw(&councils(hostile), 30);
    let document = roxmltree::Document::parse(&svg).unwrap();
    let names: BTreeSet<&str> = document
        .descendants()
        .filter(roxmltree::Node::is_element)
        .map(|node| node.tag_name().name())
        .collect();
    let known = ["desc", "line", "rect", "style", "svg", "text", "title"];
    assert_eq!(names, BTreeSet::from(known));
    // The name itself is there, as text.
    let tips = document.descendants().filter_map(|node| node.text());
    assert!(
        tips.into_iter()
            .any(|tip| tip.contains("script>alert(1)</script>&\"'"))
    );
}

#[test]
fn c09_every_bar_and_text_is_inside_the_picture() {
    let svg = draw(&councils("network"), 30);
    let document = roxmltree::Document::parse(&svg).unwrap();
    let root = document.root_element();
    let number = |node: &roxmltree::Node<'_, '_>, name: &str| {
        let text = node.attribute(name).unwrap_or("0");
        text.parse::<f64>().unwrap()
    };
    let (width, height) = (number(&root, "width"), number(&root, "height"));
    let drawn = document
        .descendants()
        .filter(|node| node.has_tag_name("rect") || node.has_tag_name("text"));
    let mut count = 0;
    for node in drawn {
        let (x, y) = (number(&node, "x"), number(&node, "y"));
        assert!(x >= 0.0 && y >= 0.0, "{node:?}");
        if node.has_tag_name("rect") {
            assert!(x + number(&node, "width") <= width, "{node:?}");
            assert!(y + number(&node, "height") <= height, "{node:?}");
        }
        count += 1;
    }
    assert!(count > 60, "{count}");
}

#[test]
fn c09_where_nothing_costs_anything_tokens_are_drawn() {
    let mut free = councils("network");
    for row in &mut free.by_depth {
        if let Some(used) = &mut row.decided.used {
            used.cost = Nanodollars(0);
            used.cost_mean = Nanodollars(0);
        }
    }
    let texts = texts(&draw(&free, 30));
    assert!(texts.iter().any(|text| text == "tokens a run"));
    assert!(!texts.iter().any(|text| text.contains('$')), "{texts:?}");
}

#[test]
fn c09_many_seats_are_cut_and_said_so() {
    let mut many = councils("network");
    let seat = many.chiefs[0].clone();
    many.chiefs = vec![seat; SEATS_MAX + 2];
    let texts = texts(&draw(&many, 30));
    assert!(texts.iter().any(|text| text == "and 2 seats more"));
}

#[test]
fn numbers_are_short() {
    let shown = [0.0, 0.042, 0.42, 4.2, 42.4, 424.2].map(short);
    assert_eq!(shown, ["0", "0.04", "0.42", "4.2", "42", "424"]);
}
