use proptest::prelude::*;

use super::*;

/// Commands as JSON lists, refusals as their cause.
fn shown(text: &str) -> Vec<String> {
    commands(text)
        .into_iter()
        .map(|read| match read {
            Ok(argv) => serde_json::to_string(&argv).unwrap(),
            Err(ArgvError { line, cause }) => format!("{line}: {cause:?}"),
        })
        .collect()
}

#[track_caller]
fn check(cases: &[(&str, &[&str])]) {
    for (text, expected) in cases {
        assert_eq!(shown(text), *expected, "{text:?}");
    }
}

#[test]
fn g09_a_line_is_a_list_of_arguments() {
    check(&[
        ("", &[]),
        ("ls -la  /tmp\t", &[r#"["ls","-la","/tmp"]"#]),
        ("ls\n\n  pwd\r\n", &[r#"["ls"]"#, r#"["pwd"]"#]),
        // It is only text: what may be run is for others to say.
        ("rm -rf /", &[r#"["rm","-rf","/"]"#]),
        ("a 'b c' \"d e\" f\\ g", &[r#"["a","b c","d e","f g"]"#]),
        ("a'b'\"c\"d", &[r#"["abcd"]"#]),
        ("a '' \"\"", &[r#"["a","",""]"#]),
        (r#"a "\"\\\$\` \n""#, &[r#"["a","\"\\$` \\n"]"#]),
        (r"a 'b\'", &[r#"["a","b\\"]"#]),
        ("a 'b\tc'", &[r#"["a","b\tc"]"#]),
        ("größe 日本 '🦀 x'", &[r#"["größe","日本","🦀 x"]"#]),
        ("a \\\n  b \\\r\n c\nd", &[r#"["a","b","c"]"#, r#"["d"]"#]),
    ]);
}

#[test]
fn g09_nothing_is_expanded() {
    check(&[
        (
            "a * ? [x] ~ {b,c} !d e=f",
            &[r#"["a","*","?","[x]","~","{b,c}","!d","e=f"]"#],
        ),
        (
            "echo '$(rm -rf /)' '`id`' '$HOME' 'a;b|c&&d>e<f'",
            &[r#"["echo","$(rm -rf /)","`id`","$HOME","a;b|c&&d>e<f"]"#],
        ),
        (
            r#"echo "a;b|c&&d>e<f(g)""#,
            &[r#"["echo","a;b|c&&d>e<f(g)"]"#],
        ),
        (
            r"echo \$HOME \; \| \> \`",
            &[r#"["echo","$HOME",";","|",">","`"]"#],
        ),
    ]);
}

#[test]
fn g09_what_a_shell_would_do_more_is_refused() {
    check(&[
        ("echo $(rm -rf /)", &["1: Expansion('$')"]),
        ("echo \"$(id)\"", &["1: Expansion('$')"]),
        ("echo `id`", &["1: Expansion('`')"]),
        ("echo \"`id`\"", &["1: Expansion('`')"]),
        ("rm -rf $HOME", &["1: Expansion('$')"]),
        ("$ ls", &["1: Expansion('$')"]),
        ("ls; rm x", &["1: Operator(';')"]),
        ("ls | sh", &["1: Operator('|')"]),
        ("ls && rm x", &["1: Operator('&')"]),
        ("ls &", &["1: Operator('&')"]),
        ("ls > x", &["1: Operator('>')"]),
        ("sh < x", &["1: Operator('<')"]),
        ("(ls)", &["1: Operator('(')"]),
        ("PATH=/x ls", &["1: Assignment"]),
        ("'' a", &["1: NoProgram"]),
        ("a \\", &["1: OpenEscape"]),
        ("a 'b", &["1: OpenQuote"]),
    ]);
}

#[test]
fn g09_no_part_of_a_refused_command_becomes_another() {
    check(&[
        // The text of a quote.
        (
            "echo 'a\nrm -rf /\n'\nls",
            &["1: LineEndInQuotes", r#"["ls"]"#],
        ),
        ("echo \"a\nrm -rf /\n", &["1: LineEndInQuotes"]),
        ("echo \"a\\\nrm -rf /\"", &["1: LineEndInQuotes"]),
        ("echo 'a\r\nrm -rf /\r\n'", &["1: LineEndInQuotes"]),
        ("echo $x 'a\nrm -rf /'", &["1: Expansion('$')"]),
        // The text of a here-document.
        ("cat > x << EOF\nrm -rf /\nEOF\nls", &["1: Operator('>')"]),
        ("cat <<EOF\nrm -rf /\nEOF\nls", &["1: HereDocument"]),
        ("a b\\\n; c\nls", &["1: Operator(';')", r#"["ls"]"#]),
    ]);
    let block = "for f in a b; do\nrm -rf /\ndone";
    let all: Result<Vec<ArgumentVector>, ArgvError> = commands(block).into_iter().collect();
    assert_eq!(
        all.unwrap_err().to_string(),
        "line 1: `;` joins or redirects commands in a shell, and there is none"
    );
}

#[test]
fn g09_comments_and_fences_are_no_commands() {
    check(&[
        ("# a\n  # b; c\nls # d $e\n", &[r#"["ls"]"#]),
        ("ls a#b '#c'", &[r##"["ls","a#b","#c"]"##]),
        ("```sh\nls\n```\n", &[r#"["ls"]"#]),
        ("~~~\r\nls\r\n~~~\r\n", &[r#"["ls"]"#]),
        ("```ls```", &["1: Expansion('`')"]),
    ]);
}

#[test]
fn g09_what_cannot_be_seen_is_refused() {
    check(&[
        ("ls\rrm x", &["1: Invisible('\\r')"]),
        ("ls '\0'", &["1: Invisible('\\0')"]),
        ("ls \\\u{1b}[2K", &["1: Invisible('\\u{1b}')"]),
        ("ls \u{202e}x", &["1: Invisible('\\u{202e}')"]),
        ("ls \"\u{2066}\"", &["1: Invisible('\\u{2066}')"]),
        ("ls \u{85}", &["1: Invisible('\\u{85}')"]),
    ]);
}

#[test]
fn g09_hostile_blocks_are_read_within_bounds() {
    let many = shown(&"a\n".repeat(1_000_000));
    assert_eq!(many.len(), COMMANDS_MAX + 1);
    assert_eq!(many.last().unwrap(), "33: TooManyCommands");
    assert_eq!(shown(&"a ".repeat(WORDS_MAX + 1)), ["1: TooManyWords"]);
    assert_eq!(shown(&"a".repeat(10_000_000)), ["1: TooLong"]);
    assert_eq!(shown(&"'".repeat(10_000_001)), ["1: TooLong"]);
    assert_eq!(shown(&"\\\n".repeat(1_000_000)), ["1: TooLong"]);
    assert_eq!(shown(&"```\n".repeat(1_000_000)), [""; 0]);
}

proptest! {
    /// What a person is shown is what would be run.
    #[test]
    fn g09_a_command_that_is_shown_is_read_as_the_same(
        program in "[a-z./$`'\" ;|\\\\#~é🦀-]{1,12}",
        args in prop::collection::vec("[^\\p{Cc}\u{202a}-\u{202e}\u{2066}-\u{2069}]{0,12}", 0..6),
    ) {
        let mut words = vec![program];
        words.extend(args);
        let argv = ArgumentVector::try_from(words).unwrap();
        prop_assert_eq!(commands(&argv.to_string()), [Ok(argv)]);
    }

    /// Whatever is written, no command has in it what no person can see.
    #[test]
    fn g09_no_command_hides_anything(text in "[ -~\n\r\t\0\u{1b}\u{202e}é]{0,80}") {
        for argv in commands(&text).into_iter().flatten() {
            prop_assert!(!argv.program().is_empty());
            prop_assert!(argv.words().all(|word| !word.contains(is_invisible)));
        }
    }
}
