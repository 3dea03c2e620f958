use super::*;

fn lock(packages: &[(&str, &str)]) -> String {
    let blocks = packages.iter().map(|(name, version)| {
        format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\nsource = \"x\"\n\n")
    });
    format!("version = 4\n\n{}", blocks.collect::<String>())
}

#[test]
fn packages_are_counted() {
    let text = lock(&[("a", "1.0.0"), ("a", "2.0.0"), ("b", "0.1.0")]);
    let figures: Vec<String> = Lock::parse(&text)
        .figures()
        .iter()
        .map(|figure| format!("{} {}", figure.name, figure.value))
        .collect();
    assert_eq!(figures, ["locked-crates 3", "locked-twice 1"]);
}

#[test]
fn versions_differ_where_cargo_says_so() {
    let text = lock(&[
        ("a", "1.0.0"),
        ("a", "1.9.0"),
        ("b", "0.1.0"),
        ("b", "0.1.9"),
        ("b", "0.2.0"),
        ("c", "0.0.1"),
        ("c", "0.0.2"),
        ("d", "1.2.0+build.1"),
        ("d", "2.0.0-rc.1"),
    ]);
    let repeated: Vec<String> = Lock::parse(&text)
        .repeated()
        .into_iter()
        .map(|(name, versions)| format!("{name} {}", versions.join(" ")))
        .collect();
    assert_eq!(
        repeated,
        [
            "b 0.1.0 0.2.0",
            "c 0.0.1 0.0.2",
            "d 1.2.0+build.1 2.0.0-rc.1"
        ]
    );
}
