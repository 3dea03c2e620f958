use super::*;

fn mistake(arguments: &[&str]) -> String {
    let error = super::super::parse(std::iter::once(&"fathom").chain(arguments)).unwrap_err();
    match read(&error) {
        UsageError::Mistake(error) => {
            let lines = error.lines();
            let lines: Vec<String> = lines
                .iter()
                .map(crate::terminal::styled_line::StyledLine::plain)
                .collect();
            lines.join("\n")
        }
        UsageError::Help(_) => "help".to_owned(),
        UsageError::Nothing(_) => "nothing".to_owned(),
    }
}

#[test]
fn x08_mistakes_in_arguments_have_a_code_and_a_hint() {
    let table: Vec<String> = [
        &["ask", "q", "--modle", "x"][..],
        &["ask", "q", "--zzz"],
        &["aks", "q"],
        &["zzz"],
        &["ask", "q", "--model"],
        &["ask", "q", "--max-depth", "many"],
        &["ask", "q", "--max-output", "0"],
        &["ask", "two", "words"],
        &["ask", "q", "--model", "a", "--model", "b"],
        &["show"],
        &["show", "x", "--at", "0.x:3"],
        &["fork", "x"],
        &["runs", "--json=yes"],
        &["models"],
        &[],
        &["--help"],
        &["ask", "--help"],
        &["--version"],
    ]
    .iter()
    .map(|arguments| format!("$ fathom {}\n{}", arguments.join(" "), mistake(arguments)))
    .collect();
    insta::assert_snapshot!(table.join("\n\n"));
}

#[test]
fn x01_global_flags_stand_before_or_after_the_command() {
    for arguments in [
        ["fathom", "--home", "h", "--json", "-v", "runs"],
        ["fathom", "runs", "--home", "h", "--json", "-v"],
        ["fathom", "--json", "runs", "-v", "--home", "h"],
    ] {
        let typed = super::super::parse(arguments).unwrap();
        assert_eq!(typed.flags.home.as_deref(), Some("h".as_ref()));
        assert!(typed.flags.json);
        assert_eq!(typed.flags.verbose, 1);
    }
}

#[test]
fn the_arguments_are_well_formed() {
    super::super::command().debug_assert();
}
