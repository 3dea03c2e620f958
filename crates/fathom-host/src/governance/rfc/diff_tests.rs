use super::*;

const MANIFEST: &str = "protocol = \"1.0.0\"\nname = \"mine\"\nversion = \"1.0.0\"\n";

fn charter(files: &[(&str, &str)]) -> Charter {
    let dir = tempfile::tempdir().unwrap();
    let files = [("charter.toml", MANIFEST)].iter().chain(files);
    for (name, text) in files {
        let file = dir.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    Charter::load(dir.path(), &|_| 0).unwrap()
}

fn told(old: &[(&str, &str)], new: &[(&str, &str)]) -> Vec<String> {
    let changes = between(&charter(old), &charter(new));
    changes.iter().map(ToString::to_string).collect()
}

#[test]
fn g12_a_diff_names_file_key_old_and_new_and_how_grave_it_is() {
    let identity = (
        "identity.toml",
        "traits = [\"calm\"]\ncore_rules = [\"Never guess.\"]",
    );
    let changed = (
        "identity.toml",
        "traits = [\"calm\"]\ncore_rules = [\"Ask first.\"]",
    );
    assert_eq!(
        told(&[identity], &[changed]),
        [
            "major  identity.toml  core_rules: - \"Never guess.\"",
            "major  identity.toml  core_rules: + \"Ask first.\""
        ]
    );
    assert_eq!(
        told(
            &[("persona.toml", "tone = \"dry\"")],
            &[("persona.toml", "tone = \"warm\"")]
        ),
        ["patch  persona.toml  tone: \"dry\" → \"warm\""]
    );
    let prompt = |text| ("prompts/hello.md", text);
    assert_eq!(
        told(&[prompt("Hello.")], &[prompt("Good day.")]),
        ["patch  prompts/hello.md  text: \"Hello.\" → \"Good day.\""]
    );
    let more = told(&[], &[prompt("Hello.")]);
    assert!(
        more.iter()
            .all(|line| line.starts_with("minor  prompts/hello.md")),
        "{more:?}"
    );
    let gone = told(&[prompt("Hello.")], &[]);
    assert!(!gone.is_empty());
    assert!(
        gone.iter()
            .all(|line| line.starts_with("major  prompts/hello.md")),
        "{gone:?}"
    );
    let mtu = format!("{MANIFEST}[packet]\nmtu = 4096\n");
    assert_eq!(
        told(&[], &[("charter.toml", &mtu)]),
        ["minor  charter.toml  mtu: \"window\" → 4096"]
    );
    assert!(told(&[identity], &[identity]).is_empty());
}

#[test]
fn g12_another_order_of_rules_is_a_change_and_another_version_alone_is_none() {
    let rules = |text| ("identity.toml", text);
    let turned = told(
        &[rules("core_rules = [\"a b\", \"c d\"]")],
        &[rules("core_rules = [\"c d\", \"a b\"]")],
    );
    assert_eq!(
        turned,
        ["major  identity.toml  core_rules: [\"a b\",\"c d\"] → [\"c d\",\"a b\"]"]
    );
    let later = MANIFEST.replace("version = \"1.0.0\"", "version = \"2.0.0\"");
    assert!(told(&[], &[("charter.toml", &later)]).is_empty());
}

#[test]
fn g12_the_gravest_change_says_how_far_the_version_moves() {
    let version = |text: &str| text.parse::<CharterVersion>().unwrap();
    let steps = [
        (VersionBump::Patch, "1.2.3", "1.2.4"),
        (VersionBump::Minor, "1.2.3", "1.3.0"),
        (VersionBump::Major, "1.2.3", "2.0.0"),
        (VersionBump::Patch, "0.2.3", "0.2.4"),
        (VersionBump::Minor, "0.2.3", "0.2.4"),
        (VersionBump::Major, "0.2.3", "0.3.0"),
    ];
    for (bump, from, to) in steps {
        assert_eq!(
            bump.after(version(from)),
            version(to),
            "{bump} after {from}"
        );
    }
    let old = charter(&[("persona.toml", "tone = \"dry\"")]);
    let new = charter(&[("identity.toml", "traits = [\"calm\"]")]);
    assert_eq!(bump(&between(&old, &new)), VersionBump::Major);
    assert_eq!(bump(&[]), VersionBump::Patch);
}
