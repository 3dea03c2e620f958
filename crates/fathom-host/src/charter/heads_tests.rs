//! Heads of Markdown files that cannot be, and what is said about each.

use super::broken::check;
use super::findings::FindingList;
use super::{check_files, limits};

/// The codes, places and messages for a charter with an agent that has this head.
fn said(head: &str) -> Vec<String> {
    let manifest = "protocol = \"1.0.0\"\nname = \"mine\"\nversion = \"0.1.0\"\n";
    let agent = format!("---\n{head}\n---\nDo it.\n");
    let files = [("charter.toml", manifest), ("agents/a.md", &agent)];
    let files = files
        .iter()
        .map(|(path, text)| ((*path).to_owned(), Some(text.as_bytes().to_vec())))
        .collect();
    let checked = check_files(&files, FindingList::default(), &|_| 1);
    let problems = checked.problems.iter();
    problems
        .map(|problem| format!("{} {problem}", problem.code()))
        .collect()
}

#[test]
fn e10_a_head_needs_its_two_lines() {
    check(
        "agents/a.md",
        "---\nrole: doc\n",
        r"
error[F0620]: unterminated front matter: a second line `---` is missing
  --> agents/a.md:1:1
  |
1 | ---
  | ^^^
hint: start the file with a line `---`, YAML such as `role: planner`, and another line `---`, then the text
",
    );
    check(
        "agents/a.md",
        "Do it.\n",
        r"
error[F0620]: the file must start with front matter between two lines `---`
  --> agents/a.md:1:1
  |
1 | Do it.
  | ^^^^^^
hint: start the file with a line `---`, YAML such as `role: planner`, and another line `---`, then the text
",
    );
}

#[test]
fn e10_a_head_in_toml_is_refused() {
    for file in ["agents/a.md", "prompts/p.md"] {
        let expected = format!(
            r"
error[F0620]: front matter is YAML between two lines `---`, not TOML
  --> {file}:1:1
  |
1 | +++
  | ^^^
hint: start the file with a line `---`, YAML such as `role: planner`, and another line `---`, then the text
"
        );
        check(file, "+++\nid = \"a\"\n+++\nDo it.\n", &expected);
    }
}

#[test]
fn e10_heads_that_are_no_yaml() {
    check(
        "prompts/p.md",
        "---\nid: p\ndescription: a: b\n---\nDo it.\n",
        r"
error[F0620]: mapping values are not allowed in this context
  --> prompts/p.md:3:15
  |
3 | description: a: b
  |               ^
hint: start the file with a line `---`, YAML such as `role: planner`, and another line `---`, then the text
",
    );
    let table = [
        (
            "- role",
            "2:1: front matter must consist of lines `key: value`",
        ),
        (
            "role = \"doc\"",
            "2:1: front matter must consist of lines `key: value`",
        ),
        ("role: doc\nallowed_tools: [x", "3:16: unclosed bracket '['"),
        ("role: doc\nrole: doc", "3:1: duplicate key"),
        (
            "role: doc\n? [a, b]\n: x",
            "3:3: a key must be a single word",
        ),
        (
            "name: é\nrole: \"é\" \"",
            "3:11: invalid trailing content after double-quoted scalar",
        ),
    ];
    for (head, expected) in table {
        assert_eq!(said(head), [format!("F0620 agents/a.md:{expected}")]);
    }
}

#[test]
fn e10_what_a_head_does_not_take_from_yaml() {
    let references = "anchors, aliases and tags (`&`, `*`, `!`) are not allowed in front matter";
    let table = [
        ("name: &a doc\nrole: *a", "2:10", references),
        ("role: *a", "2:7", references),
        ("role: !!str doc", "2:13", references),
        ("allowed_tools: &a [*a]", "2:19", references),
        (
            "role: doc\n...\nname: x",
            "4:1",
            "front matter must be a single YAML document",
        ),
        (
            "%YAML 1.2\nrole: doc",
            "2:1",
            "YAML directives are disallowed",
        ),
    ];
    for (head, place, why) in table {
        assert_eq!(said(head), [format!("F0620 agents/a.md:{place}: {why}")]);
    }
    assert_eq!(
        said("role: doc\n<<: {name: x}"),
        ["F0606 agents/a.md:3:1: unknown key `<<`"]
    );
}

#[test]
fn e10_values_of_a_head_have_their_types() {
    check(
        "agents/a.md",
        "---\nrole: doc\nname: [a, b]\n---\nDo it.\n",
        r"
error[F0607]: `name` has the wrong type: expected a string, found sequence
  --> agents/a.md:3:7
  |
3 | name: [a, b]
  |       ^^^^^^
hint: see docs/charters.md for every key and its type
",
    );
    assert_eq!(
        said(
            "role: doc\nallowed_tools:\n- x\n- 3\nread_scopes: y\nname: 1.5\ndescription: True\nid: {x: 1}"
        ),
        [
            "F0607 agents/a.md:5:3: `allowed_tools` has the wrong type: expected a string, found integer `3`",
            "F0607 agents/a.md:6:14: `read_scopes` has the wrong type: expected a list, found string \"y\"",
            "F0607 agents/a.md:7:7: `name` has the wrong type: expected a string, found floating point `1.5`",
            "F0607 agents/a.md:8:14: `description` has the wrong type: expected a string, found boolean `true`",
            "F0607 agents/a.md:9:5: `id` has the wrong type: expected a string, found map",
        ]
    );
    assert_eq!(
        said("role: doc\nname: '1.5'\nallowed_tools: ['3', 2026-01-31]"),
        Vec::<String>::new()
    );
}

#[test]
fn e10_a_key_without_a_value_is_empty() {
    assert_eq!(
        said("role:\nname: ~\nread_scopes:\nallowed_tools:\n  -\n  - x"),
        [
            "F0617 agents/a.md:2:1: unknown name ``",
            "F0618 agents/a.md:3:7: `name` is empty",
            "F0607 agents/a.md:4:1: `read_scopes` has the wrong type: expected a list, found string \"\"",
            "F0618 agents/a.md:6:4: an entry of `allowed_tools` is empty",
        ]
    );
    for head in ["", "# nothing"] {
        assert_eq!(said(head), ["F0608 agents/a.md:2:1: missing key `role`"]);
    }
}

#[test]
fn e10_a_head_is_bounded() {
    let head = |bytes: usize| format!("role: doc\n#{}", "x".repeat(bytes - "role: doc\n#\n".len()));
    let too_large = "F0620 agents/a.md:2:1: front matter exceeds 16384 bytes";
    assert_eq!(said(&head(limits::HEAD_BYTES_MAX)), Vec::<String>::new());
    assert_eq!(said(&head(limits::HEAD_BYTES_MAX + 1)), [too_large]);
    for (open, column) in [("[", 9), ("{", 9), ("- ", 17), ("a: {", 36)] {
        let too_deep = format!("F0620 agents/a.md:2:{column}: recursion limit exceeded");
        assert_eq!(said(&open.repeat(4_000)), [too_deep]);
    }
}
