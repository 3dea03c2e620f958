use std::collections::BTreeSet;

use super::*;

#[test]
fn every_command_is_in_one_group() {
    let groups = GROUPS.iter();
    let grouped: Vec<&str> = groups
        .flat_map(|(_, names)| names.iter().copied())
        .collect();
    let command = Cli::command();
    let known: BTreeSet<&str> = command
        .get_subcommands()
        .map(clap::Command::get_name)
        .collect();
    assert_eq!(grouped.iter().copied().collect::<BTreeSet<_>>(), known);
    assert_eq!(grouped.len(), known.len());
}

#[test]
fn the_commands_stand_below_their_headings_in_eighty_columns() {
    let help = command().term_width(80).render_help().to_string();
    let (commands, flags) = help.split_once("Global flags:").unwrap();
    for line in commands.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    for (heading, names) in GROUPS {
        let (_, below) = commands.split_once(&format!("\n{heading}:\n")).unwrap();
        let listed = below.lines().take(names.len());
        let listed: Vec<&str> = listed
            .filter_map(|line| line.split_whitespace().next())
            .collect();
        assert_eq!(listed, names);
    }
    assert!(flags.contains("--base-url"));
    assert!(flags.contains("Exit codes:"));
}
