//! Which model is taken, and what else lies in the folder.

use fathom_local::weights::{
    ChoiceReason, FallbackRule, FilePresence, WeightsCatalogue, WeightsFolder,
};

/// A store in which the files of these models are present by size; they are sparse, so they take no room.
fn store_with(names: &[&str]) -> (tempfile::TempDir, WeightsFolder) {
    let folder = tempfile::tempdir().expect("a folder");
    let store = WeightsFolder::new(
        folder.path(),
        WeightsCatalogue::built_in().expect("a catalogue"),
    );
    for name in names {
        for file in &store.catalogue().get(name).expect("it is known").files {
            let sparse = std::fs::File::create(store.path(file)).expect("a file");
            sparse.set_len(file.bytes).expect("a size");
        }
    }
    (folder, store)
}

#[test]
fn x05_a_smaller_model_stands_in_only_when_asked_or_when_memory_is_short() {
    const ENOUGH: Option<u64> = Some(8_000_000_000);
    const SHORT: Option<u64> = Some(1_500_000_000);
    let big = "qwen2.5-coder-1.5b";
    let small = "qwen2.5-coder-0.5b";
    for (installed, memory, smaller, taken, said) in [
        (vec![], ENOUGH, FallbackRule::WhenMemoryIsShort, big, big),
        (vec![], None, FallbackRule::WhenMissing, big, big),
        (
            vec!["small"],
            ENOUGH,
            FallbackRule::WhenMemoryIsShort,
            big,
            big,
        ),
        (
            vec!["small"],
            ENOUGH,
            FallbackRule::WhenMissing,
            small,
            "qwen2.5-coder-0.5b instead of qwen2.5-coder-1.5b, which is not installed",
        ),
        (
            vec!["default", "small"],
            ENOUGH,
            FallbackRule::WhenMissing,
            big,
            big,
        ),
        // The 135M only exercises the machinery.
        (vec!["smoke"], ENOUGH, FallbackRule::WhenMissing, big, big),
        (
            vec!["default"],
            SHORT,
            FallbackRule::WhenMemoryIsShort,
            small,
            "qwen2.5-coder-0.5b instead of qwen2.5-coder-1.5b, which needs 2.4 GB of memory: 1.5 GB are available",
        ),
    ] {
        let (_folder, store) = store_with(&installed);
        let choice = store.choose("default", memory, smaller).unwrap();
        assert_eq!(choice.name, taken, "{installed:?} {memory:?} {smaller:?}");
        assert_eq!(choice.to_string(), said);
    }
}

#[test]
fn x05_a_machine_that_holds_no_model_is_told_so() {
    let (_folder, store) = store_with(&[]);
    let chosen = store.choose("default", Some(100_000_000), FallbackRule::WhenMissing);
    let error = chosen.unwrap_err();
    assert_eq!(error.code(), "F0531");
    assert!(error.to_string().contains("qwen2.5-coder-0.5b"), "{error}");
    // What was named is still refused when it does not fit, and embeddings have no tiers.
    let smoke = store.choose("smoke", Some(1), FallbackRule::WhenMissing);
    assert_eq!(smoke.unwrap_err().code(), "F0531");
    let minilm = store.choose("embeddings", Some(1), FallbackRule::WhenMissing);
    assert_eq!(minilm.unwrap().why, ChoiceReason::Wanted);
    let unknown = store.choose("gpt", None, FallbackRule::WhenMissing);
    assert_eq!(unknown.unwrap_err().code(), "F0521");
}

#[test]
fn x05_files_beside_the_catalogue_can_be_used() {
    let (folder, store) = store_with(&["smoke", "minilm"]);
    std::fs::write(folder.path().join("mine.gguf"), "weights").unwrap();
    std::fs::write(folder.path().join("notes.txt"), "text").unwrap();
    let others = store.others();
    assert_eq!(others.len(), 1);
    assert_eq!((others[0].name.as_str(), others[0].bytes), ("mine", 7));
    for name in ["mine", "mine.gguf"] {
        let found = store.find(name).unwrap();
        assert_eq!(found.weights(), Some(others[0].path.as_path()));
    }
    assert_eq!(store.find("../mine").unwrap_err().code(), "F0521");
    let presence = |name: &str| store.presence(store.catalogue().get(name).unwrap());
    assert_eq!(presence("minilm"), FilePresence::Installed);
    assert_eq!(presence("default"), FilePresence::Missing);
    // The size is right and the content is not: what is used is checked.
    assert_eq!(store.find("minilm").unwrap_err().code(), "F0529");
}
