use super::*;

#[track_caller]
fn check_code(raw: &str, code: &str) {
    assert_eq!(RustSource::parse(raw).code, code);
}

#[test]
fn comments_are_blank() {
    check_code("a // b\nc", "a     \nc");
    check_code("a /* b /* c */ d */ e", "a                   e");
    check_code("/// docs\nfn f() {}", "        \nfn f() {}");
}

#[test]
fn strings_are_blank() {
    check_code(r#"f("a // b", c)"#, r"f(        , c)");
    check_code(r#"f("a\"b")"#, r"f(      )");
    check_code("r#\"a\"b\"# + c", "         + c");
    check_code("br\"\\\" + c", "      + c");
}

#[test]
fn raw_identifiers_and_words_that_end_in_r_stay() {
    check_code("r#type + c", "r#type + c");
    check_code("for\"a\"", "for   ");
}

#[test]
fn characters_are_blank_and_lifetimes_stay() {
    check_code(
        "['\"', 'a', '\\'', '\\n', '\\u{e9}', 'é']",
        "[   ,    ,     ,     ,         ,     ]",
    );
    check_code("&'a str, 'b: loop", "&'a str, 'b: loop");
}

#[test]
fn offsets_do_not_move() {
    let raw = "let é = \"été\"; // où\nlet b = 'é';";
    let source = RustSource::parse(raw);
    assert_eq!(source.code.len(), raw.len());
    assert_eq!(source.code.find("let b"), raw.find("let b"));
}

#[test]
fn a_preamble_is_attributes_and_docs_in_any_order() {
    let raw = "struct A;\n/// First.\n/// Second.\n#[one(\"]\")]\n// aside\n#[two]\nfn f() {}";
    let source = RustSource::parse(raw);
    let preamble = source.preamble(raw.find("fn f").unwrap());
    assert_eq!(preamble.attributes, ["#[two]", "#[one(\"]\")]"]);
    assert_eq!(preamble.first_doc_line, Some(" First."));
}

#[test]
fn a_preamble_stops_at_the_item_before() {
    let raw = "#[one]\nconst A: [u8; 1] = [0];\nfn f() {}";
    let preamble = RustSource::parse(raw).preamble(raw.find("fn f").unwrap());
    assert!(preamble.attributes.is_empty());
    assert_eq!(preamble.first_doc_line, None);
}

#[test]
fn test_regions_cover_modules_and_functions_and_nothing_else() {
    let raw = "fn a() {}\n#[cfg(test)]\nmod tests { fn b() {} }\nfn c() {}\n#[tokio::test(flavor = \"x\")]\nasync fn d() { e() }\nfn f() {}";
    let regions = RustSource::parse(raw).test_regions();
    let inside = |name: &str| {
        let offset = raw.find(name).unwrap();
        regions.iter().any(|region| region.contains(&offset))
    };
    assert!(!inside("fn a"));
    assert!(inside("fn b"));
    assert!(!inside("fn c"));
    assert!(inside("e()"));
    assert!(!inside("fn f"));
}

#[test]
fn comments_and_literals_are_told_apart() {
    let raw = "f(\"a // b\", 'c'); // d\n/* e */";
    let source = RustSource::parse(raw);
    let at = |ranges: &[std::ops::Range<usize>]| -> Vec<&str> {
        ranges.iter().map(|range| &raw[range.clone()]).collect()
    };
    assert_eq!(at(&source.comments), ["// d", "/* e */"]);
    assert_eq!(at(&source.literals), ["\"a // b\"", "'c'"]);
}

#[test]
fn documentation_is_read_block_by_block() {
    let raw = "//! Top.\n\n/// One.\n///\n///  Two.\nfn f() {}\n// aside\n//// line\n/// Three.\nfn g() {}";
    let source = RustSource::parse(raw);
    let blocks: Vec<Vec<&str>> = source
        .doc_blocks()
        .into_iter()
        .map(|block| block.lines)
        .collect();
    assert_eq!(
        blocks,
        [vec!["Top."], vec!["One.", "", " Two."], vec!["Three."]]
    );
    assert_eq!(source.doc_blocks()[1].offset, 10);
}
