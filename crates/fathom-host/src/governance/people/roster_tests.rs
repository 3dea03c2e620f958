use super::*;

#[test]
fn a_name_is_found_by_its_number() {
    let list = "root:x:0:0::/root:/bin/sh\nbroken\n:x:7:\nada:x:1000:1000:Ada:/home/ada:/bin/sh\n";
    assert_eq!(name_in(list, 1000).as_deref(), Some("ada"));
    assert_eq!(name_in(list, 0).as_deref(), Some("root"));
    assert_eq!(name_in(list, 7), None);
    assert_eq!(name_in(list, 1001), None);
    let nameless = OsUser {
        uid: 1001,
        name: None,
    };
    assert_eq!(nameless.to_string(), "os:1001");
}

#[test]
fn e17_a_person_has_the_roles_that_the_roster_gives() {
    let roster = ApproverRoster::new([
        ("operator".to_owned(), vec!["os:ada".to_owned()]),
        ("auditor".to_owned(), vec!["key:0123".to_owned()]),
    ])
    .unwrap();
    let operator = ["operator".to_owned()];
    assert!(roster.has("os:ada", &operator));
    assert!(roster.has("os:ada", &[]));
    assert!(!roster.has("key:0123", &operator));
    assert!(roster.has("key:0123", &[]));
    assert!(!roster.has("os:eve", &[]));
    let wrong = ApproverRoster::new([("operator".to_owned(), vec!["ada".to_owned()])]);
    assert!(
        wrong
            .unwrap_err()
            .to_string()
            .contains("invalid person `ada`")
    );
}
