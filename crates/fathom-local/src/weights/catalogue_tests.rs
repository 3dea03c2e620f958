use super::*;

/// Two models, the second in eleven parts that are listed as text sorts them.
fn text() -> String {
    let sha = "ab".repeat(32);
    let mut parts: Vec<String> = (1..=11)
        .map(|part| {
            format!(
                r#"{{ part = {part}, project = "p-part{part}", version = "1.0", bytes = 1, sha256 = "{sha}", member = "m" }}"#
            )
        })
        .collect();
    parts.sort();
    let parts = parts.join(", ");
    format!(
        r#"
        [[weights]]
        name = "big"
        aliases = ["default"]
        title = "Big"
        licence = "Apache-2.0"
        language = {{ tier = 1, memory_bytes = 1000, stands_in = true }}
        [[weights.files]]
        role = "weights"
        file = "big.gguf"
        bytes = 11
        sha256 = "{sha}"
        hub = {{ repo = "owner/big", path = "big.gguf" }}
        wheels = [{parts}]
        "#
    )
}

fn cause(text: &str) -> String {
    match WeightsCatalogue::parse(text) {
        Err(WeightsError::Catalogue { cause }) => cause,
        other => panic!("{other:?}"),
    }
}

#[test]
fn x05_the_built_in_catalogue_knows_every_tier() {
    let catalogue = WeightsCatalogue::built_in().unwrap();
    for (alias, name, files) in [
        ("default", "qwen2.5-coder-1.5b", 1),
        ("small", "qwen2.5-coder-0.5b", 1),
        ("smoke", "smollm2-135m", 1),
        ("embeddings", "minilm", 2),
    ] {
        let weights = catalogue.get(alias).unwrap();
        assert_eq!((weights.name.as_str(), weights.files.len()), (name, files));
        assert_eq!(weights.licence, "Apache-2.0");
        let of_name = catalogue.get(name).unwrap();
        assert_eq!(of_name.files[0].sha256, weights.files[0].sha256);
    }
    let parts = |name: &str| catalogue.get(name).unwrap().files[0].wheels.len();
    assert_eq!((parts("default"), parts("small")), (22, 6));
}

#[test]
fn parts_are_joined_by_number_and_not_by_name() {
    let catalogue = WeightsCatalogue::parse(&text()).unwrap();
    let wheels = &catalogue.all()[0].files[0].wheels;
    let order: Vec<&str> = wheels.iter().map(|wheel| wheel.project.as_str()).collect();
    assert_eq!(order[..2], ["p-part1", "p-part2"]);
    assert_eq!(order[8..], ["p-part9", "p-part10", "p-part11"]);
    assert_eq!(wheels[9].file_name(), "p_part10-1.0-py3-none-any.whl");
}

#[test]
fn a_catalogue_that_could_write_elsewhere_is_refused() {
    let replaced = |from: &str, to: &str| text().replacen(from, to, 1);
    for (text, said) in [
        (
            replaced("\"big.gguf\"", "\"../big.gguf\""),
            "invalid file name",
        ),
        (
            replaced("\"big.gguf\"", "\".big.gguf\""),
            "invalid file name",
        ),
        (replaced("owner/big", "owner/../big"), "invalid place"),
        (replaced("p-part3", "p -r evil"), "invalid wheel"),
        (replaced("\"1.0\"", "\"1.0\\n-r x\""), "invalid wheel"),
        (replaced("part = 7", "part = 70"), "has no part 7"),
        (
            replaced("[\"default\"]", "[\"big\"]"),
            "duplicate name `big`",
        ),
        (
            replaced("\"weights\"\n", "\"tokenizer\"\n"),
            "must have exactly one file",
        ),
        (replaced("abab", "abag"), "SHA-256"),
        (replaced("bytes = 11", "bites = 11"), "bites"),
    ] {
        let cause = cause(&text);
        assert!(cause.contains(said), "{said}: {cause}");
    }
}

#[test]
fn an_unknown_name_is_told_what_there_is() {
    let catalogue = WeightsCatalogue::built_in().unwrap();
    for (name, nearest) in [
        ("smol", Some("smollm2-135m")),
        ("defualt", Some("default")),
        ("minilm2", Some("minilm")),
        ("llama", None),
    ] {
        let error = catalogue.get(name).unwrap_err();
        assert_eq!(error.code(), "F0521");
        let hint = error.hint();
        assert!(hint.contains("qwen2.5-coder-1.5b, default"), "{hint}");
        match nearest {
            Some(nearest) => assert!(
                hint.contains(&format!("did you mean `{nearest}`?")),
                "{hint}"
            ),
            None => assert!(!hint.contains("did you mean"), "{hint}"),
        }
    }
}
