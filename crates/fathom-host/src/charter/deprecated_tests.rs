use super::*;

const SINCE: CharterVersion = CharterVersion {
    major: 1,
    minor: 2,
    patch: 0,
};

const KNOWN: &[DeprecatedKey] = &[
    DeprecatedKey {
        file: "charter.toml",
        key: "packet.size",
        instead: "mtu",
        since: SINCE,
    },
    DeprecatedKey {
        file: "persona.toml",
        key: "voice",
        instead: "tone",
        since: SINCE,
    },
];

fn renamed(file: &str, text: &str, minor: u32) -> (String, Vec<(Range<usize>, CharterProblem)>) {
    let mut document = DeTable::parse(text).unwrap();
    let spoken = CharterVersion { minor, ..SINCE };
    let told = rename(document.get_mut(), file, KNOWN, spoken);
    let keys = document
        .get_ref()
        .keys()
        .map(|key| key.get_ref().to_string());
    let mut keys: Vec<String> = keys.collect();
    keys.sort();
    (keys.join(" "), told)
}

#[test]
fn g12_a_deprecated_key_is_read_and_warned_about_for_one_minor_version() {
    let text = "style_notes = \"short\"\nvoice = \"calm\"";
    let (keys, told) = renamed("persona.toml", text, 2);
    assert_eq!(keys, "style_notes tone");
    let [(at, flaw)] = told.as_slice() else {
        panic!("{told:?}");
    };
    assert_eq!(&text[at.clone()], "voice");
    assert_eq!(
        flaw.to_string(),
        "`voice` is deprecated since protocol 1.2.0; use `tone`"
    );
    assert_eq!(flaw.code(), "F0636");
    // Before it nobody wants it gone, after it nobody knows it.
    for minor in [1, 3] {
        assert_eq!(
            renamed("persona.toml", text, minor),
            ("style_notes voice".to_owned(), vec![])
        );
    }
    assert_eq!(renamed("identity.toml", text, 2).1, []);
}

#[test]
fn g12_a_deprecated_key_in_a_table_goes_to_the_new_key_of_that_table() {
    let mut document = DeTable::parse("size = 1\n[packet]\nsize = 4096").unwrap();
    let told = rename(document.get_mut(), "charter.toml", KNOWN, SINCE);
    assert_eq!(told.len(), 1);
    let top = document.get_ref();
    assert!(top.contains_key("size"));
    let DeValue::Table(packet) = top.get("packet").unwrap().get_ref() else {
        panic!("a table");
    };
    assert!(packet.contains_key("mtu") && !packet.contains_key("size"));
    let both = renamed("persona.toml", "voice = \"a\"\ntone = \"b\"", 2);
    assert_eq!(both, ("tone voice".to_owned(), vec![]));
}
