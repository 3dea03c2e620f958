use super::*;
use crate::finding::printed;

#[test]
fn the_public_registry_and_path_crates_are_fine() {
    let text = "[[package]]\nname = \"a\"\n\n[[package]]\nname = \"b\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\n";
    assert!(check("Cargo.lock", text).is_empty());
}

#[test]
fn another_registry_is_found() {
    for source in [
        "registry+https://crates.example/index",
        "sparse+http://127.0.0.1:1/",
    ] {
        let text = format!("name = \"b\"\nsource = \"{source}\"\n");
        assert_eq!(
            printed(&check("Cargo.lock", &text)),
            ["Cargo.lock:2: an unusual registry address: lock against the public one"]
        );
    }
}

#[test]
fn an_address_in_a_package_lock_is_found() {
    let text = "{\n  \"resolved\": \"https://npm.example/a.tgz\"\n}";
    assert_eq!(check("console/package-lock.json", text).len(), 1);
    assert!(check("console/package-lock.json", "{\"resolved\": \"../a\"}").is_empty());
}

#[test]
fn other_files_may_speak_of_registries() {
    assert!(check("a.toml", "source = \"sparse+http://127.0.0.1:1/\"").is_empty());
}
