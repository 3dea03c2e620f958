//! Broken charters, and what is said about each.

use super::findings::Findings;
use super::{built_in, check_files};

const MANIFEST: &str = "protocol = \"1.0.0\"\nname = \"mine\"\nversion = \"0.1.0\"\n";

/// What is said about a charter with this file, as the command line prints it.
fn said(file: &str, text: &str) -> String {
    let files = [("charter.toml", MANIFEST), (file, text)];
    let files = files
        .iter()
        .map(|(path, text)| ((*path).to_owned(), Some(text.as_bytes().to_vec())))
        .collect();
    let words = |text: &str| text.split_whitespace().count() as u64;
    let checked = check_files(&files, Findings::default(), &words);
    assert_eq!(checked.charter, None);
    let reports = checked.problems.iter().map(|problem| {
        format!(
            "error[{}]: {}\n{}\nhint: {}\n",
            problem.code(),
            problem.flaw,
            problem.picture().join("\n"),
            problem.hint()
        )
    });
    reports.collect()
}

#[track_caller]
pub(super) fn check(file: &str, text: &str, expected: &str) {
    assert_eq!(said(file, text).trim_end(), expected.trim());
}

/// The minimal `charter.toml`, and `more`.
pub(super) fn manifest(more: &str) -> String {
    format!("{MANIFEST}{more}")
}

/// The five initial instructions, and `more`.
fn registry(more: &str) -> String {
    format!("{}\n{more}", built_in::INSTRUCTIONS)
}

#[test]
fn x08_a_charter_that_is_not_toml() {
    check(
        "charter.toml",
        "name = \"mine",
        r#"
error[F0605]: invalid basic string, expected `"`
  --> charter.toml:1:13
  |
1 | name = "mine
  |             ^
hint: a string stands in quotes, a list in [ ], a table's name in [ ] on a line of its own
"#,
    );
    check(
        "charter.toml",
        "name = \"a\"\nname = \"b\"\n[packet\n",
        r#"
error[F0605]: duplicate key
  --> charter.toml:2:1
  |
2 | name = "b"
  | ^^^^
hint: a string stands in quotes, a list in [ ], a table's name in [ ] on a line of its own
error[F0605]: unclosed table, expected `]`
  --> charter.toml:3:8
  |
3 | [packet
  |        ^
hint: a string stands in quotes, a list in [ ], a table's name in [ ] on a line of its own
"#,
    );
}

#[test]
fn g08_routes_that_lead_nowhere_are_told_with_their_lines() {
    check(
        "charter.toml",
        &manifest(
            "[routes]\nPLAN = [\"cli\", \"pager\"]\nPLANS = [\"cli\"]\nVERIFY = [\"shell\"]\n",
        ),
        r#"
error[F1023]: `PLAN` is routed to unknown channel `pager`
  --> charter.toml:5:8
  |
5 | PLAN = ["cli", "pager"]
  |        ^^^^^^^^^^^^^^^^
hint: use cli, web, discord, council, shell or memory
error[F1021]: unknown marker `PLANS`
  --> charter.toml:6:1
  |
6 | PLANS = ["cli"]
  | ^^^^^
hint: use PLAN, EXECUTE, RESPONSE, THOUGHT_SEED, INTERRUPT or VERIFY
error[F1026]: `VERIFY` is routed to `shell`, which accepts only commands
  --> charter.toml:7:10
  |
7 | VERIFY = ["shell"]
  |          ^^^^^^^^^
hint: remove `shell` from the row
"#,
    );
}

#[test]
fn x08_keys_that_are_unknown() {
    check(
        "charter.toml",
        &manifest("modle = \"openai/x\"\n"),
        r#"
error[F0606]: there is no key `modle`
  --> charter.toml:4:1
  |
4 | modle = "openai/x"
  | ^^^^^
hint: there are protocol, name, description, version, packet, roles, router, budget, initiative, recursion, direct, council, phases, agency, stages, routes
"#,
    );
    check(
        "charter.toml",
        &manifest("[roles.oracle]\nmodel = \"openai/x\"\n"),
        r"
error[F0606]: there is no key `oracle`
  --> charter.toml:4:8
  |
4 | [roles.oracle]
  |        ^^^^^^
hint: there are prime, lite, codemind
",
    );
    check(
        "charter.toml",
        &manifest("[packet]\nmtu = 4096\nmaximum = 4096\n"),
        r"
error[F0606]: there is no key `maximum`
  --> charter.toml:6:1
  |
6 | maximum = 4096
  | ^^^^^^^
hint: there are mtu, sections
",
    );
    check(
        "agents/a.md",
        "---\nrole: doc\ntoml: true\n---\nDo it.\n",
        r"
error[F0606]: there is no key `toml`
  --> agents/a.md:3:1
  |
3 | toml: true
  | ^^^^
hint: there are id, name, role, model_role, description, allowed_tools, read_scopes, write_scopes, permission_mode, autonomy
",
    );
}

#[test]
fn x08_values_of_another_type() {
    check(
        "charter.toml",
        &manifest("[budget]\ntokens = \"many\"\n"),
        r#"
error[F0607]: `tokens` has the wrong type: it is string "many", expected a whole number that is not negative and not too large
  --> charter.toml:5:10
  |
5 | tokens = "many"
  |          ^^^^^^
hint: docs/charters.md lists every key with its type
"#,
    );
    check(
        "charter.toml",
        &manifest("[roles.lite]\nmodel = 3\n[roles.prime]\nname = 1\n"),
        r#"
error[F0607]: `model` has the wrong type: it is integer `3`, expected a string
  --> charter.toml:5:9
  |
5 | model = 3
  |         ^
hint: docs/charters.md lists every key with its type
error[F0608]: the key `model` is missing
  --> charter.toml:6:1
  |
6 | [roles.prime]
  | ^^^^^^^^^^^^^
hint: write `model = "PROVIDER/NAME"`
error[F0606]: there is no key `name`
  --> charter.toml:7:1
  |
7 | name = 1
  | ^^^^
hint: there are model, base_url, api_key_env, api_key_header
"#,
    );
    check(
        "identity.toml",
        "traits = \"calm\"\n",
        r#"
error[F0607]: `traits` has the wrong type: it is string "calm", expected a list
  --> identity.toml:1:10
  |
1 | traits = "calm"
  |          ^^^^^^
hint: docs/charters.md lists every key with its type
"#,
    );
}

#[test]
fn x08_keys_that_are_missing() {
    check(
        "charter.toml",
        "protocol = \"1.0.0\"\nname = \"mine\"\n",
        r#"
error[F0608]: the key `version` is missing
  --> charter.toml
hint: write `version = "0.1.0"`
"#,
    );
    check(
        "charter.toml",
        &manifest("[roles.lite]\nbase_url = \"http://127.0.0.1/v1\"\n"),
        r#"
error[F0608]: the key `model` is missing
  --> charter.toml:4:1
  |
4 | [roles.lite]
  | ^^^^^^^^^^^^
hint: write `model = "PROVIDER/NAME"`
"#,
    );
    check(
        "identity.toml",
        "[signature]\nkey = \"k\"\n",
        r#"
error[F0608]: the key `value` is missing
  --> identity.toml:1:1
  |
1 | [signature]
  | ^^^^^^^^^^^
hint: write `value = "…"`
"#,
    );
    check(
        "persona.toml",
        "[[layers]]\nname = \"project\"\n",
        r#"
error[F0608]: the key `text` is missing
  --> persona.toml:1:1
  |
1 | [[layers]]
  | ^^^^^^^^^^
hint: write `text = "…"`
"#,
    );
    check(
        "agents/a.md",
        "---\nname: A\n---\nDo it.\n",
        r"
error[F0608]: the key `role` is missing
  --> agents/a.md:2:1
  |
2 | name: A
  | ^
hint: write `role: planner`
",
    );
}

#[test]
fn g12_a_protocol_of_another_major_names_the_migration() {
    check(
        "charter.toml",
        "protocol = \"2.1.0\"\nname = \"mine\"\nversion = \"0.1.0\"\n",
        r#"
error[F0609]: protocol 2.1.0 is another major version; this build speaks 1.0.0
  --> charter.toml:1:12
  |
1 | protocol = "2.1.0"
  |            ^^^^^^^
hint: use a Fathom that speaks protocol 2, or take the charter back: "From protocol 2 to 1" in the guide of that Fathom
"#,
    );
    check(
        "charter.toml",
        "protocol = \"0.4.0\"\nname = \"mine\"\nversion = \"0.1.0\"\n",
        r#"
error[F0609]: protocol 0.4.0 is another major version; this build speaks 1.0.0
  --> charter.toml:1:12
  |
1 | protocol = "0.4.0"
  |            ^^^^^^^
hint: migrate it: "From protocol 0 to 1" in docs/charters.md
"#,
    );
}

#[test]
fn e03_values_above_their_hard_caps() {
    check(
        "charter.toml",
        &manifest("[recursion]\nmax_depth = 5\n"),
        r"
error[F0610]: `max_depth` is 5, the hard cap is 4
  --> charter.toml:5:13
  |
5 | max_depth = 5
  |             ^
hint: set `max_depth` to at most 4
",
    );
    check(
        "charter.toml",
        &manifest("[recursion.stop_conditions]\nsame_error_max = 101\n"),
        r"
error[F0610]: `same_error_max` is 101, the hard cap is 100
  --> charter.toml:5:18
  |
5 | same_error_max = 101
  |                  ^^^
hint: set `same_error_max` to at most 100
",
    );
    check(
        "charter.toml",
        &manifest("[packet]\nmtu = 99_000_000\n"),
        r"
error[F0610]: `mtu` is 99000000, the hard cap is 16000000
  --> charter.toml:5:7
  |
5 | mtu = 99_000_000
  |       ^^^^^^^^^^
hint: set `mtu` to at most 16000000
",
    );
}

#[test]
fn g02_packets_that_cannot_be() {
    check(
        "charter.toml",
        &manifest("[packet]\nmtu = 100\n"),
        r"
error[F0611]: `mtu` cannot be this: a packet has at least 512 tokens
  --> charter.toml:5:7
  |
5 | mtu = 100
  |       ^^^
hint: docs/charters.md says what each key takes
",
    );
    check(
        "charter.toml",
        &manifest("[packet]\nmtu = \"large\"\n"),
        r#"
error[F0611]: `mtu` cannot be this: write a number of tokens, as 4096, or "window"
  --> charter.toml:5:7
  |
5 | mtu = "large"
  |       ^^^^^^^
hint: docs/charters.md says what each key takes
"#,
    );
    check(
        "charter.toml",
        &manifest("[packet.sections]\nagents = 1.5\n"),
        r"
error[F0611]: `agents` cannot be this: a weight lies between 0 and 1 and has at most three decimals
  --> charter.toml:5:10
  |
5 | agents = 1.5
  |          ^^^
hint: docs/charters.md says what each key takes
",
    );
    check(
        "charter.toml",
        &manifest("[packet.sections]\nagents = 0\nsymbols = 0\nhistory = 0\n"),
        r"
error[F0611]: `sections` cannot be this: one weight must be above 0
  --> charter.toml:4:1
  |
4 | [packet.sections]
  | ^^^^^^^^^^^^^^^^^
hint: docs/charters.md says what each key takes
",
    );
}

#[test]
fn g11_models_that_cannot_be() {
    check(
        "charter.toml",
        &manifest("[roles.prime]\nmodel = \"gpt-4o\"\n"),
        r#"
error[F0611]: `model` cannot be this: a model is `PROVIDER/NAME`, as in `openai/gpt-4o-mini`
  --> charter.toml:5:9
  |
5 | model = "gpt-4o"
  |         ^^^^^^^^
hint: docs/charters.md says what each key takes
"#,
    );
    check(
        "charter.toml",
        &manifest("[roles.prime]\nmodel = \"opnai/gpt-4o\"\n"),
        r#"
error[F0617]: `opnai` is unknown
  --> charter.toml:5:9
  |
5 | model = "opnai/gpt-4o"
  |         ^^^^^^^^^^^^^^
hint: did you mean `openai`?
"#,
    );
}

#[test]
fn g11_servers_and_keys_that_cannot_be() {
    check(
        "charter.toml",
        &manifest("[roles.prime]\nmodel = \"openai/x\"\nbase_url = \"127.0.0.1\"\n"),
        r#"
error[F0611]: `base_url` cannot be this: it is not of the form `http://HOST/…`
  --> charter.toml:6:12
  |
6 | base_url = "127.0.0.1"
  |            ^^^^^^^^^^^
hint: docs/charters.md says what each key takes
"#,
    );
    check(
        "charter.toml",
        &manifest(
            "[roles.prime]\nmodel = \"openai/x\"\nbase_url = \"https://me:secret@host/v1\"\n",
        ),
        r"
error[F0611]: `base_url` cannot be this: a user or a password does not belong into a charter; name a variable with `api_key_env`
  --> charter.toml:6:12
  |
6 | base_url = ***************************
  |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: docs/charters.md says what each key takes
",
    );
    check(
        "charter.toml",
        &manifest("[roles.prime]\nmodel = \"openai/x\"\napi_key_env = \"sk-abc\"\n"),
        r"
error[F0611]: `api_key_env` cannot be this: it is not the name of a variable; the key itself does not belong into a charter
  --> charter.toml:6:15
  |
6 | api_key_env = ********
  |               ^^^^^^^^
hint: docs/charters.md says what each key takes
",
    );
    check(
        "charter.toml",
        &manifest("[roles.prime]\nmodel = \"openai/x\"\napi_key_header = \"two words\"\n"),
        r"
error[F0611]: `api_key_header` cannot be this: it is not the name of a header
  --> charter.toml:6:18
  |
6 | api_key_header = ***********
  |                  ^^^^^^^^^^^
hint: docs/charters.md says what each key takes
",
    );
}

#[test]
fn x08_values_that_mean_nothing() {
    check(
        "charter.toml",
        "protocol = \"one\"\nname = \"../mine\"\nversion = \"0.1\"\n",
        r#"
error[F0611]: `protocol` cannot be this: it is no version; write MAJOR.MINOR.PATCH, as in 1.0.0
  --> charter.toml:1:12
  |
1 | protocol = "one"
  |            ^^^^^
hint: docs/charters.md says what each key takes
error[F0611]: `name` cannot be this: a name is small letters, digits, `-` and `_`, begins with a letter and has at most 64 characters
  --> charter.toml:2:8
  |
2 | name = "../mine"
  |        ^^^^^^^^^
hint: docs/charters.md says what each key takes
error[F0611]: `version` cannot be this: it is no version; write MAJOR.MINOR.PATCH, as in 1.0.0
  --> charter.toml:3:11
  |
3 | version = "0.1"
  |           ^^^^^
hint: docs/charters.md says what each key takes
"#,
    );
    check(
        "charter.toml",
        &manifest("[budget]\ntime = \"soon\"\ncost = -1\n"),
        r#"
error[F0611]: `time` cannot be this: `soon` is no time; write `30s`, `5m` or `2h`
  --> charter.toml:5:8
  |
5 | time = "soon"
  |        ^^^^^^
hint: docs/charters.md says what each key takes
error[F0611]: `cost` cannot be this: `-1` is no amount of dollars; write `0.25`
  --> charter.toml:6:8
  |
6 | cost = -1
  |        ^^
hint: docs/charters.md says what each key takes
"#,
    );
    check(
        "agents/A b.md",
        "---\nrole: doc\n---\nDo it.\n",
        r"
error[F0611]: `id` cannot be this: it is the file's name, and a name is small letters, digits, `-` and `_`, begins with a letter and has at most 64 characters
  --> agents/A b.md
hint: docs/charters.md says what each key takes
",
    );
}

#[test]
fn x08_words_that_name_nothing() {
    check(
        "charter.toml",
        &manifest("[router]\nask = \"directly\"\n"),
        r#"
error[F0617]: `directly` is unknown
  --> charter.toml:5:7
  |
5 | ask = "directly"
  |       ^^^^^^^^^^
hint: did you mean `direct`?
"#,
    );
    check(
        "charter.toml",
        &manifest("[router]\nask = \"rlm\"\n"),
        r#"
error[F0617]: `rlm` is unknown
  --> charter.toml:5:7
  |
5 | ask = "rlm"
  |       ^^^^^
hint: there are direct, council, tools
"#,
    );
    check(
        "agents/a.md",
        "---\nrole: plannr\n---\nDo it.\n",
        r"
error[F0617]: `plannr` is unknown
  --> agents/a.md:2:7
  |
2 | role: plannr
  |       ^^^^^^
hint: did you mean `planner`?
",
    );
    check(
        "agents/a.md",
        "---\nrole: doc\nmodel_role: \"oracle\"\n---\nDo it.\n",
        r#"
error[F0617]: `oracle` is unknown
  --> agents/a.md:3:13
  |
3 | model_role: "oracle"
  |             ^^^^^^^^
hint: there are prime, lite, codemind
"#,
    );
}

#[test]
fn g05_instructions_that_cannot_be() {
    check(
        "instructions.toml",
        &registry(
            "[long]\nstage = \"plan\"\ntext = \"one two three four\"\nmax_tokens = 3\nlast_updated = 2026-01-31\n",
        ),
        r#"
error[F0619]: `text` has 4 tokens, at most 3 are allowed
   --> instructions.toml:31:8
   |
31 | text = "one two three four"
   |        ^^^^^^^^^^^^^^^^^^^^
hint: say it in 3 tokens: about 2 words
"#,
    );
    check(
        "instructions.toml",
        &registry(
            "[more]\nstage = \"plan\"\ntext = \"x\"\nmax_tokens = 65\nlast_updated = 2026-01-31\n",
        ),
        r"
error[F0610]: `max_tokens` is 65, the hard cap is 64
   --> instructions.toml:32:14
   |
32 | max_tokens = 65
   |              ^^
hint: set `max_tokens` to at most 64
",
    );
    check(
        "instructions.toml",
        &registry("[none]\nstage = \"plan\"\ntext = \"  \"\nlast_updated = 2026-01-31\n"),
        r#"
error[F0618]: the text of an instruction is empty
   --> instructions.toml:31:8
   |
31 | text = "  "
   |        ^^^^
hint: write something, or take it away
"#,
    );
    check(
        "instructions.toml",
        &registry("[Key]\nstage = \"dream\"\ntext = \"x\"\nlast_updated = \"yesterday\"\n"),
        r#"
error[F0611]: `Key` cannot be this: a key is small letters, digits and `_`, and begins with a letter
   --> instructions.toml:29:2
   |
29 | [Key]
   |  ^^^
hint: docs/charters.md says what each key takes
error[F0617]: `dream` is unknown
   --> instructions.toml:30:9
   |
30 | stage = "dream"
   |         ^^^^^^^
hint: there are plan, refine, observe, act, verify
error[F0611]: `last_updated` cannot be this: write the day alone, as 2026-01-31
   --> instructions.toml:32:16
   |
32 | last_updated = "yesterday"
   |                ^^^^^^^^^^^
hint: docs/charters.md says what each key takes
"#,
    );
    check(
        "instructions.toml",
        &registry("[less]\ntext = \"x\"\n"),
        r#"
error[F0608]: the key `stage` is missing
   --> instructions.toml:29:1
   |
29 | [less]
   | ^^^^^^
hint: write `stage = "plan"`
error[F0608]: the key `last_updated` is missing
   --> instructions.toml:29:1
   |
29 | [less]
   | ^^^^^^
hint: write `last_updated = 2026-01-31`
"#,
    );
}

#[test]
fn g05_the_five_initial_instructions_must_be_there_with_their_stages() {
    check(
        "instructions.toml",
        &built_in::INSTRUCTIONS.replace("[observer]", "[onlooker]"),
        r#"
error[F0621]: the instruction `observer` is missing
  --> instructions.toml
hint: add a table [observer] with `stage = "observe"`, `text` and `last_updated`
"#,
    );
    check(
        "instructions.toml",
        &built_in::INSTRUCTIONS.replace("\"observe\"", "\"act\""),
        r#"
error[F0621]: the instruction `observer` belongs to the stage `observe`
   --> instructions.toml:15:9
   |
15 | stage = "act"
   |         ^^^^^
hint: write `stage = "observe"`
"#,
    );
}

#[test]
fn x08_texts_that_are_empty() {
    check(
        "identity.toml",
        "core_rules = [\"Never guess.\", \" \"]\n",
        r#"
error[F0618]: an entry of `core_rules` is empty
  --> identity.toml:1:31
  |
1 | core_rules = ["Never guess.", " "]
  |                               ^^^
hint: write something, or take it away
"#,
    );
    check(
        "agents/a.md",
        "---\nrole: doc\n---\n\n",
        r"
error[F0618]: the text below the head is empty
  --> agents/a.md
hint: write something, or take it away
",
    );
    check(
        "prompts/p.md",
        " \n",
        r"
error[F0618]: the text below the head is empty
  --> prompts/p.md
hint: write something, or take it away
",
    );
}
