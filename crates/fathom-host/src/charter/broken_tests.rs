//! Broken charters, and what is said about each.

use super::findings::FindingList;
use super::{built_in, check_files};

const MANIFEST: &str = "protocol = \"1.0.0\"\nname = \"mine\"\nversion = \"0.1.0\"\n";

/// Findings for a charter with this file, as the command line prints them.
fn said(file: &str, text: &str) -> String {
    let files = [("charter.toml", MANIFEST), (file, text)];
    let files = files
        .iter()
        .map(|(path, text)| ((*path).to_owned(), Some(text.as_bytes().to_vec())))
        .collect();
    let words = |text: &str| text.split_whitespace().count() as u64;
    let checked = check_files(&files, FindingList::default(), &words);
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
hint: quote strings, put lists in [ ], and put each table's name in [ ] on its own line
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
hint: quote strings, put lists in [ ], and put each table's name in [ ] on its own line
error[F0605]: unclosed table, expected `]`
  --> charter.toml:3:8
  |
3 | [packet
  |        ^
hint: quote strings, put lists in [ ], and put each table's name in [ ] on its own line
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
error[F0606]: unknown key `modle`
  --> charter.toml:4:1
  |
4 | modle = "openai/x"
  | ^^^^^
hint: use one of protocol, name, description, version, packet, roles, router, budget, initiative, recursion, direct, council, phases, agency, stages, routes
"#,
    );
    check(
        "charter.toml",
        &manifest("[roles.oracle]\nmodel = \"openai/x\"\n"),
        r"
error[F0606]: unknown key `oracle`
  --> charter.toml:4:8
  |
4 | [roles.oracle]
  |        ^^^^^^
hint: use one of prime, lite, codemind
",
    );
    check(
        "charter.toml",
        &manifest("[packet]\nmtu = 4096\nmaximum = 4096\n"),
        r"
error[F0606]: unknown key `maximum`
  --> charter.toml:6:1
  |
6 | maximum = 4096
  | ^^^^^^^
hint: use one of mtu, sections
",
    );
    check(
        "agents/a.md",
        "---\nrole: doc\ntoml: true\n---\nDo it.\n",
        r"
error[F0606]: unknown key `toml`
  --> agents/a.md:3:1
  |
3 | toml: true
  | ^^^^
hint: use one of id, name, role, model_role, description, allowed_tools, read_scopes, write_scopes, permission_mode, autonomy
",
    );
}

#[test]
fn x08_values_of_another_type() {
    check(
        "charter.toml",
        &manifest("[budget]\ntokens = \"many\"\n"),
        r#"
error[F0607]: `tokens` has the wrong type: expected a whole number in range, found string "many"
  --> charter.toml:5:10
  |
5 | tokens = "many"
  |          ^^^^^^
hint: see docs/charters.md for every key and its type
"#,
    );
    check(
        "charter.toml",
        &manifest("[roles.lite]\nmodel = 3\n[roles.prime]\nname = 1\n"),
        r#"
error[F0607]: `model` has the wrong type: expected a string, found integer `3`
  --> charter.toml:5:9
  |
5 | model = 3
  |         ^
hint: see docs/charters.md for every key and its type
error[F0608]: missing key `model`
  --> charter.toml:6:1
  |
6 | [roles.prime]
  | ^^^^^^^^^^^^^
hint: add `model = "PROVIDER/NAME"`
error[F0606]: unknown key `name`
  --> charter.toml:7:1
  |
7 | name = 1
  | ^^^^
hint: use one of model, base_url, api_key_env, api_key_header
"#,
    );
    check(
        "identity.toml",
        "traits = \"calm\"\n",
        r#"
error[F0607]: `traits` has the wrong type: expected a list, found string "calm"
  --> identity.toml:1:10
  |
1 | traits = "calm"
  |          ^^^^^^
hint: see docs/charters.md for every key and its type
"#,
    );
}

#[test]
fn x08_keys_that_are_missing() {
    check(
        "charter.toml",
        "protocol = \"1.0.0\"\nname = \"mine\"\n",
        r#"
error[F0608]: missing key `version`
  --> charter.toml
hint: add `version = "0.1.0"`
"#,
    );
    check(
        "charter.toml",
        &manifest("[roles.lite]\nbase_url = \"http://127.0.0.1/v1\"\n"),
        r#"
error[F0608]: missing key `model`
  --> charter.toml:4:1
  |
4 | [roles.lite]
  | ^^^^^^^^^^^^
hint: add `model = "PROVIDER/NAME"`
"#,
    );
    check(
        "identity.toml",
        "[signature]\nkey = \"k\"\n",
        r#"
error[F0608]: missing key `value`
  --> identity.toml:1:1
  |
1 | [signature]
  | ^^^^^^^^^^^
hint: add `value = "…"`
"#,
    );
    check(
        "persona.toml",
        "[[layers]]\nname = \"project\"\n",
        r#"
error[F0608]: missing key `text`
  --> persona.toml:1:1
  |
1 | [[layers]]
  | ^^^^^^^^^^
hint: add `text = "…"`
"#,
    );
    check(
        "agents/a.md",
        "---\nname: A\n---\nDo it.\n",
        r"
error[F0608]: missing key `role`
  --> agents/a.md:2:1
  |
2 | name: A
  | ^
hint: add `role: planner`
",
    );
}

#[test]
fn g12_a_protocol_of_another_major_names_the_migration() {
    check(
        "charter.toml",
        "protocol = \"2.1.0\"\nname = \"mine\"\nversion = \"0.1.0\"\n",
        r#"
error[F0609]: protocol 2.1.0 is not supported; this build supports 1.0.0
  --> charter.toml:1:12
  |
1 | protocol = "2.1.0"
  |            ^^^^^^^
hint: use a version of Fathom that supports protocol 2, or migrate the charter back; see "From protocol 2 to 1" in that version's guide
"#,
    );
    check(
        "charter.toml",
        "protocol = \"0.4.0\"\nname = \"mine\"\nversion = \"0.1.0\"\n",
        r#"
error[F0609]: protocol 0.4.0 is not supported; this build supports 1.0.0
  --> charter.toml:1:12
  |
1 | protocol = "0.4.0"
  |            ^^^^^^^
hint: migrate it; see "From protocol 0 to 1" in docs/charters.md
"#,
    );
}

#[test]
fn e03_values_above_their_hard_caps() {
    check(
        "charter.toml",
        &manifest("[recursion]\nmax_depth = 5\n"),
        r"
error[F0610]: `max_depth` is 5, but the maximum is 4
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
error[F0610]: `same_error_max` is 101, but the maximum is 100
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
error[F0610]: `mtu` is 99000000, but the maximum is 16000000
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
error[F0611]: invalid value for `mtu`: must be at least 512 tokens
  --> charter.toml:5:7
  |
5 | mtu = 100
  |       ^^^
hint: see docs/charters.md for the values of each key
",
    );
    check(
        "charter.toml",
        &manifest("[packet]\nmtu = \"large\"\n"),
        r#"
error[F0611]: invalid value for `mtu`: expected a number of tokens such as 4096, or "window"
  --> charter.toml:5:7
  |
5 | mtu = "large"
  |       ^^^^^^^
hint: see docs/charters.md for the values of each key
"#,
    );
    check(
        "charter.toml",
        &manifest("[packet.sections]\nagents = 1.5\n"),
        r"
error[F0611]: invalid value for `agents`: a weight is a number from 0 to 1 with at most three decimals
  --> charter.toml:5:10
  |
5 | agents = 1.5
  |          ^^^
hint: see docs/charters.md for the values of each key
",
    );
    check(
        "charter.toml",
        &manifest("[packet.sections]\nagents = 0\nsymbols = 0\nhistory = 0\n"),
        r"
error[F0611]: invalid value for `sections`: at least one weight must be above 0
  --> charter.toml:4:1
  |
4 | [packet.sections]
  | ^^^^^^^^^^^^^^^^^
hint: see docs/charters.md for the values of each key
",
    );
}

#[test]
fn g11_models_that_cannot_be() {
    check(
        "charter.toml",
        &manifest("[roles.prime]\nmodel = \"gpt-4o\"\n"),
        r#"
error[F0611]: invalid value for `model`: expected `PROVIDER/NAME`, such as `openai/gpt-4o-mini`
  --> charter.toml:5:9
  |
5 | model = "gpt-4o"
  |         ^^^^^^^^
hint: see docs/charters.md for the values of each key
"#,
    );
    check(
        "charter.toml",
        &manifest("[roles.prime]\nmodel = \"opnai/gpt-4o\"\n"),
        r#"
error[F0617]: unknown name `opnai`
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
error[F0611]: invalid value for `base_url`: expected `http://HOST/…` or `https://HOST/…`
  --> charter.toml:6:12
  |
6 | base_url = "127.0.0.1"
  |            ^^^^^^^^^^^
hint: see docs/charters.md for the values of each key
"#,
    );
    check(
        "charter.toml",
        &manifest(
            "[roles.prime]\nmodel = \"openai/x\"\nbase_url = \"https://me:secret@host/v1\"\n",
        ),
        r"
error[F0611]: invalid value for `base_url`: user names and passwords are not allowed in a charter; use `api_key_env`
  --> charter.toml:6:12
  |
6 | base_url = ***************************
  |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: see docs/charters.md for the values of each key
",
    );
    check(
        "charter.toml",
        &manifest("[roles.prime]\nmodel = \"openai/x\"\napi_key_env = \"sk-abc\"\n"),
        r"
error[F0611]: invalid value for `api_key_env`: expected the name of an environment variable; the key itself is not allowed in a charter
  --> charter.toml:6:15
  |
6 | api_key_env = ********
  |               ^^^^^^^^
hint: see docs/charters.md for the values of each key
",
    );
    check(
        "charter.toml",
        &manifest("[roles.prime]\nmodel = \"openai/x\"\napi_key_header = \"two words\"\n"),
        r"
error[F0611]: invalid value for `api_key_header`: not a valid header name
  --> charter.toml:6:18
  |
6 | api_key_header = ***********
  |                  ^^^^^^^^^^^
hint: see docs/charters.md for the values of each key
",
    );
}

#[test]
fn x08_values_that_mean_nothing() {
    check(
        "charter.toml",
        "protocol = \"one\"\nname = \"../mine\"\nversion = \"0.1\"\n",
        r#"
error[F0611]: invalid value for `protocol`: invalid version; expected MAJOR.MINOR.PATCH, such as 1.0.0
  --> charter.toml:1:12
  |
1 | protocol = "one"
  |            ^^^^^
hint: see docs/charters.md for the values of each key
error[F0611]: invalid value for `name`: a name starts with a letter, uses only lowercase letters, digits, `-` and `_`, and has at most 64 characters
  --> charter.toml:2:8
  |
2 | name = "../mine"
  |        ^^^^^^^^^
hint: see docs/charters.md for the values of each key
error[F0611]: invalid value for `version`: invalid version; expected MAJOR.MINOR.PATCH, such as 1.0.0
  --> charter.toml:3:11
  |
3 | version = "0.1"
  |           ^^^^^
hint: see docs/charters.md for the values of each key
"#,
    );
    check(
        "charter.toml",
        &manifest("[budget]\ntime = \"soon\"\ncost = -1\n"),
        r#"
error[F0611]: invalid value for `time`: invalid duration `soon`; expected e.g. `30s`, `5m` or `2h`
  --> charter.toml:5:8
  |
5 | time = "soon"
  |        ^^^^^^
hint: see docs/charters.md for the values of each key
error[F0611]: invalid value for `cost`: invalid dollar amount `-1`; expected e.g. `0.25`
  --> charter.toml:6:8
  |
6 | cost = -1
  |        ^^
hint: see docs/charters.md for the values of each key
"#,
    );
    check(
        "agents/A b.md",
        "---\nrole: doc\n---\nDo it.\n",
        r"
error[F0611]: invalid value for `id`: the id is the file name; a name starts with a letter, uses only lowercase letters, digits, `-` and `_`, and has at most 64 characters
  --> agents/A b.md
hint: see docs/charters.md for the values of each key
",
    );
}

#[test]
fn x08_words_that_name_nothing() {
    check(
        "charter.toml",
        &manifest("[router]\nask = \"directly\"\n"),
        r#"
error[F0617]: unknown name `directly`
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
error[F0617]: unknown name `rlm`
  --> charter.toml:5:7
  |
5 | ask = "rlm"
  |       ^^^^^
hint: use one of direct, council, tools
"#,
    );
    check(
        "agents/a.md",
        "---\nrole: plannr\n---\nDo it.\n",
        r"
error[F0617]: unknown name `plannr`
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
error[F0617]: unknown name `oracle`
  --> agents/a.md:3:13
  |
3 | model_role: "oracle"
  |             ^^^^^^^^
hint: use one of prime, lite, codemind
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
error[F0619]: `text` has 4 tokens, but the maximum is 3
   --> instructions.toml:31:8
   |
31 | text = "one two three four"
   |        ^^^^^^^^^^^^^^^^^^^^
hint: shorten it to 3 tokens, about 2 words
"#,
    );
    check(
        "instructions.toml",
        &registry(
            "[more]\nstage = \"plan\"\ntext = \"x\"\nmax_tokens = 65\nlast_updated = 2026-01-31\n",
        ),
        r"
error[F0610]: `max_tokens` is 65, but the maximum is 64
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
hint: fill it in or remove it
"#,
    );
    check(
        "instructions.toml",
        &registry("[Key]\nstage = \"dream\"\ntext = \"x\"\nlast_updated = \"yesterday\"\n"),
        r#"
error[F0611]: invalid value for `Key`: a key starts with a letter and uses only lowercase letters, digits and `_`
   --> instructions.toml:29:2
   |
29 | [Key]
   |  ^^^
hint: see docs/charters.md for the values of each key
error[F0617]: unknown name `dream`
   --> instructions.toml:30:9
   |
30 | stage = "dream"
   |         ^^^^^^^
hint: use one of plan, refine, observe, act, verify
error[F0611]: invalid value for `last_updated`: expected a date such as 2026-01-31
   --> instructions.toml:32:16
   |
32 | last_updated = "yesterday"
   |                ^^^^^^^^^^^
hint: see docs/charters.md for the values of each key
"#,
    );
    check(
        "instructions.toml",
        &registry("[less]\ntext = \"x\"\n"),
        r#"
error[F0608]: missing key `stage`
   --> instructions.toml:29:1
   |
29 | [less]
   | ^^^^^^
hint: add `stage = "plan"`
error[F0608]: missing key `last_updated`
   --> instructions.toml:29:1
   |
29 | [less]
   | ^^^^^^
hint: add `last_updated = 2026-01-31`
"#,
    );
}

#[test]
fn g05_the_five_initial_instructions_must_be_there_with_their_stages() {
    check(
        "instructions.toml",
        &built_in::INSTRUCTIONS.replace("[observer]", "[onlooker]"),
        r#"
error[F0621]: missing instruction `observer`
  --> instructions.toml
hint: add a table [observer] with `stage = "observe"`, `text` and `last_updated`
"#,
    );
    check(
        "instructions.toml",
        &built_in::INSTRUCTIONS.replace("\"observe\"", "\"act\""),
        r#"
error[F0621]: instruction `observer` must have the stage `observe`
   --> instructions.toml:15:9
   |
15 | stage = "act"
   |         ^^^^^
hint: set `stage = "observe"`
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
hint: fill it in or remove it
"#,
    );
    check(
        "agents/a.md",
        "---\nrole: doc\n---\n\n",
        r"
error[F0618]: the text below the front matter is empty
  --> agents/a.md
hint: fill it in or remove it
",
    );
    check(
        "prompts/p.md",
        " \n",
        r"
error[F0618]: the text below the front matter is empty
  --> prompts/p.md
hint: fill it in or remove it
",
    );
}
