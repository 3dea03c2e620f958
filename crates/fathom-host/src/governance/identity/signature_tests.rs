use super::*;

fn identity() -> IdentityText {
    IdentityText {
        traits: vec!["calm".into(), "exact".into()],
        core_rules: vec!["Never guess.".into(), "Keep private data private.".into()],
        signature: None,
    }
}

fn key() -> ApproverKey {
    let dir = tempfile::tempdir().unwrap();
    ApproverKey::create(&dir.path().join("creator.key")).unwrap()
}

#[test]
fn g06_every_changed_byte_of_an_identity_breaks_its_signature() {
    let key = key();
    let signature = sign("mine", &identity(), &key);
    let holds = |changed: &IdentityText| {
        signer(
            "mine",
            fingerprint(changed),
            &signature.key,
            &signature.value,
        ) == Some(key.public())
    };
    assert!(holds(&identity()));
    let mut tried = 0;
    for list in 0..2 {
        for entry in 0..2 {
            let length = if list == 0 {
                identity().traits[entry].len()
            } else {
                identity().core_rules[entry].len()
            };
            for at in 0..length {
                let mut changed = identity();
                let text = if list == 0 {
                    &mut changed.traits[entry]
                } else {
                    &mut changed.core_rules[entry]
                };
                let letter = if &text[at..=at] == "x" { "y" } else { "x" };
                text.replace_range(at..=at, letter);
                assert!(!holds(&changed), "{changed:?}");
                tried += 1;
            }
        }
    }
    assert_eq!(tried, 47);
}

#[test]
fn g06_nothing_moves_between_entries_and_lists() {
    let of = |traits: &[&str], rules: &[&str]| {
        let owned = |list: &[&str]| list.iter().map(|entry| (*entry).to_owned()).collect();
        fingerprint(&IdentityText {
            traits: owned(traits),
            core_rules: owned(rules),
            signature: None,
        })
    };
    let different = [
        of(&["ab", "c"], &[]),
        of(&["a", "bc"], &[]),
        of(&["abc"], &[]),
        of(&["ab"], &["c"]),
        of(&[], &["ab", "c"]),
        of(&["c", "ab"], &[]),
        of(&["ab", "c", ""], &[]),
        of(&[], &[]),
    ];
    for (at, one) in different.iter().enumerate() {
        assert!(!different[at + 1..].contains(one), "{at}");
    }
}

#[test]
fn g06_a_signature_of_another_key_or_of_something_else_is_none() {
    let (creator, other) = (key(), key());
    let signature = sign("mine", &identity(), &creator);
    let identity = fingerprint(&identity());
    let by = |key: &str, value: &str| signer("mine", identity, key, value);
    assert_eq!(by(&other.public().to_string(), &signature.value), None);
    assert_eq!(by("k", "v"), None);
    assert_eq!(by(&signature.key, ""), None);
    // A signature over the bare fingerprint, as another use of the key might make it.
    assert_eq!(by(&signature.key, &creator.sign_message(&identity.0)), None);
    assert_eq!(by(&signature.key, &signature.value), Some(creator.public()));
    // What was signed for one charter is not signed for another.
    let for_another = signer("prod", identity, &signature.key, &signature.value);
    assert_eq!(for_another, None);
}
