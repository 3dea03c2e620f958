use std::collections::BTreeMap;

use fathom_core::contract::{AgentRole, PermissionMode};
use fathom_core::model::{ModelRole, ModelSet, ModelSpec};
use fathom_core::unit::{Millis, Nanodollars};

use super::folder::CharterFiles;
use super::*;

/// One token a word: enough to be over a limit, and the same everywhere.
fn words(text: &str) -> u64 {
    text.split_whitespace().count() as u64
}

const MANIFEST: &str = "protocol = \"1.0.0\"\nname = \"mine\"\nversion = \"0.1.0\"\n";

fn files(files: &[(&str, &str)]) -> CharterFiles {
    let given = files
        .iter()
        .map(|(path, text)| ((*path).to_owned(), Some(text.as_bytes().to_vec())));
    given.collect()
}

fn checked(given: &[(&str, &str)]) -> CheckReport {
    check_files(&files(given), FindingList::default(), &words)
}

fn good(given: &[(&str, &str)]) -> Charter {
    let checked = checked(given);
    assert_eq!(checked.problems, []);
    checked.charter.expect("nothing is wrong")
}

/// A minimal charter whose `charter.toml` goes on with `more`.
fn mine(more: &str) -> Charter {
    good(&[("charter.toml", &format!("{MANIFEST}{more}"))])
}

/// The five initial instructions, and `more`.
fn registry(more: &str) -> String {
    format!("{}\n{more}", built_in::INSTRUCTIONS)
}

#[test]
fn g02_the_packet_is_as_large_as_the_charter_says() {
    assert_eq!(mine("").mtu, PacketMtu::Window);
    assert_eq!(mine("[packet]\nmtu = \"window\"").mtu, PacketMtu::Window);
    assert_eq!(mine("").frame().mtu_tokens, None);
    let small = mine("[packet]\nmtu = 4096");
    assert_eq!(small.mtu, PacketMtu::Tokens(4096));
    assert_eq!(small.frame().mtu_tokens, Some(4096));
}

#[test]
fn g02_identity_and_persona_too_long_for_a_packet_are_a_warning() {
    let traits = vec!["\"word\""; 40].join(", ");
    let identity = format!("traits = [{traits}]");
    let persona = format!("tone = \"{}\"", "word ".repeat(30));
    let of = |mtu: &str| {
        let charter = good(&[
            ("charter.toml", &format!("{MANIFEST}[packet]\nmtu = {mtu}")),
            ("identity.toml", &identity),
            ("persona.toml", &persona),
        ]);
        let said = charter.warnings.iter().map(ToString::to_string);
        said.collect::<Vec<_>>()
    };
    assert_eq!(of("\"window\""), Vec::<String>::new());
    assert_eq!(of("4096"), Vec::<String>::new());
    // 6 % of 600 are 36; 3 % of the 564 that are left are 16.
    assert_eq!(
        of("600"),
        [
            "identity.toml: the identity has 41 tokens, but a packet has room for 36; it will be shortened",
            "persona.toml: the persona has 31 tokens, but a packet has room for 16; it will be shortened",
        ]
    );
}

#[test]
fn p07_weights_of_the_sections_are_charter_data() {
    assert_eq!(mine("").sections, PacketSections::default());
    let said = mine("[packet.sections]\nagents = 0\nhistory = 0.125").sections;
    let expected = PacketSections {
        agents_milli: 0,
        symbols_milli: 500,
        history_milli: 125,
    };
    assert_eq!(said, expected);
}

#[test]
fn g11_roles_map_to_models_and_fall_back_to_those_of_the_run() {
    let charter = mine(
        "[roles.lite]\nmodel = \"openai/small\"\nbase_url = \"http://127.0.0.1:8000/v1\"\n\
         api_key_env = \"SMALL_KEY\"\napi_key_header = \"x-api-key\"",
    );
    let run = ModelSet::new(
        ModelSpec::named("openai/main"),
        ModelSpec::named("openai/sub"),
    );
    let small = ModelSpec {
        id: "openai/small".into(),
        base_url: Some("http://127.0.0.1:8000/v1".into()),
        api_key_env: Some("SMALL_KEY".into()),
        api_key_header: Some("x-api-key".into()),
    };
    let cast = charter.cast(run.clone());
    assert_eq!(cast.get(ModelRole::Lite), &small);
    assert_eq!(cast.get(ModelRole::Prime), &run.main);
    assert_eq!(cast.get(ModelRole::CodeMind), &run.main);
    assert_eq!(cast.get(ModelRole::Sub), &run.sub);
    assert_eq!(mine("").cast(run.clone()), run);
}

#[test]
fn g11_a_script_is_meant_from_the_charters_folder() {
    let mut charter = mine("[roles.prime]\nmodel = \"script/answers.jsonl\"");
    let id = |charter: &Charter| charter.model(CouncilRole::Prime).map(|spec| spec.id);
    assert_eq!(id(&charter).as_deref(), Some("script/answers.jsonl"));
    charter.folder = Some("there".into());
    assert_eq!(id(&charter).as_deref(), Some("script/there/answers.jsonl"));
}

#[test]
fn g12_another_major_is_refused_and_a_newer_minor_warned_about() {
    let with = |protocol: &str| {
        let text = MANIFEST.replacen("1.0.0", protocol, 1);
        checked(&[("charter.toml", &text)])
    };
    for (protocol, migration) in [
        ("0.9.0", "From protocol 0 to 1"),
        ("2.0.0", "From protocol 2 to 1"),
    ] {
        let checked = with(protocol);
        assert_eq!(checked.charter, None);
        let [problem] = &checked.problems[..] else {
            panic!("{:?}", checked.problems);
        };
        assert_eq!(problem.code(), "F0609");
        assert!(problem.hint().contains(migration), "{}", problem.hint());
    }
    let newer = with("1.3.0");
    let charter = newer.charter.expect("usable");
    let codes: Vec<_> = charter.warnings.iter().map(Finding::code).collect();
    assert_eq!(codes, ["F0624"]);
    assert_eq!(with("1.0.7").warnings, []);
}

#[test]
fn g12_versions_are_three_plain_numbers() {
    let version = |text: &str| text.parse::<CharterVersion>();
    assert_eq!(
        version("1.20.3").map(|v| v.to_string()),
        Ok("1.20.3".into())
    );
    for text in [
        "", "1", "1.0", "1.0.0.0", "01.0.0", "1.0.x", "1.-0.0", "1..0", "+1.0.0",
    ] {
        assert_eq!(version(text), Err(VersionError), "{text:?}");
    }
}

#[test]
fn g06_identity_and_persona_become_plain_text() {
    let charter = good(&[
        ("charter.toml", MANIFEST),
        (
            "identity.toml",
            "traits = [\"calm\", \" exact \"]\ncore_rules = [\"Never guess.\"]",
        ),
        (
            "persona.toml",
            "tone = \"warm\"\nstyle_notes = \"short\"\nconstraints = [\"no slang\"]\n[[layers]]\nname = \"project\"\ntext = \"Handbook.\"",
        ),
    ]);
    assert_eq!(
        charter.identity.text(),
        "Traits: calm, exact\nRules:\n- Never guess."
    );
    assert_eq!(
        charter.persona.text(),
        "Tone: warm\nStyle: short\nConstraints:\n- no slang\nproject: Handbook."
    );
    assert_eq!(charter.identity.signature, None);
    let bare = mine("");
    assert_eq!(
        (bare.identity.text(), bare.persona.text()),
        Default::default()
    );
}

#[test]
fn g05_the_registry_has_the_five_initial_keys_and_further_ones() {
    let more = "[tidy_up_2]\nstage = \"act\"\ntext = \" Leave it clean. \"\nmax_tokens = 5\nlast_updated = \"2026-02-28\"";
    let charter = good(&[
        ("charter.toml", MANIFEST),
        ("instructions.toml", &registry(more)),
    ]);
    for (key, stage) in INITIAL {
        assert_eq!(charter.instructions[key].stage, stage, "{key}");
        assert_eq!(charter.instructions[key].max_tokens, 64, "{key}");
    }
    let expected = StageInstruction {
        text: "Leave it clean.".into(),
        stage: InstructionStage::Act,
        max_tokens: 5,
        last_updated: "2026-02-28".into(),
    };
    assert_eq!(charter.instructions["tidy_up_2"], expected);
    assert_eq!(charter.instructions.len(), 6);
    assert_eq!(mine("").instructions, BTreeMap::new());
}

#[test]
fn e10_agents_and_prompts_are_markdown_with_a_head() {
    let charter = good(&[
        ("charter.toml", MANIFEST),
        (
            "agents/critic.md",
            "---\r\nrole: verifier\r\nmodel_role: codemind\r\nallowed_tools: [grep]\r\nwrite_scopes:\r\n- plan\r\npermission_mode: act\r\n---\r\nLook\r\ntwice.\r\n",
        ),
        (
            "agents/b.md",
            "---\n# why\nid: other\nname: 'The Other'\nrole: \"doc\"\ndescription: >\n  One\n  line\n---\nWrite it down.",
        ),
        ("prompts/hello.md", "Hello.\n---\nNo head.\n"),
        ("prompts/rule.md", "---\n---\n---\nBelow a rule.\n"),
        (
            "prompts/x.md",
            "---\nid: bye\ndescription: At the end\n---\nBye.",
        ),
    ]);
    let critic = &charter.agents["critic"];
    assert_eq!(
        (critic.name.as_str(), critic.role),
        ("critic", AgentRole::Verifier)
    );
    assert_eq!(critic.model_role, Some(CouncilRole::CodeMind));
    assert_eq!(critic.allowed_tools, ["grep"]);
    assert_eq!(critic.write_scopes, ["plan"]);
    assert_eq!(critic.permission_mode, PermissionMode::Act);
    assert_eq!(critic.prompt, "Look\ntwice.");
    let other = &charter.agents["other"];
    assert_eq!(
        (other.name.as_str(), other.permission_mode),
        ("The Other", PermissionMode::ReadOnly)
    );
    assert_eq!(other.description, "One line");
    let texts: Vec<_> = charter
        .prompts
        .iter()
        .map(|(id, prompt)| (id.as_str(), prompt.text.as_str()))
        .collect();
    assert_eq!(
        texts,
        [
            ("bye", "Bye."),
            ("hello", "Hello.\n---\nNo head."),
            ("rule", "---\nBelow a rule."),
        ]
    );
}

#[test]
fn e03_budget_recursion_and_direct_are_as_in_the_configuration() {
    let charter = mine(
        "[budget]\ntime = \"30s\"\ncost = 0.5\n[recursion]\nmax_depth = 4\n[recursion.stop_conditions]\n\
         same_error_max = 9\n[direct]\noutput_tokens_max = 77\n[router]\nask = \"direct\"",
    );
    assert_eq!(charter.budget.time, Some(Millis(30_000)));
    assert_eq!(charter.budget.cost, Some(Nanodollars(500_000_000)));
    assert_eq!(charter.budget.tokens, None);
    let policy = charter.recursion.expect("said");
    assert_eq!(
        (policy.max_depth, policy.stop_conditions.same_error_max),
        (4, 9)
    );
    assert_eq!(policy.check(), Ok(()));
    assert_eq!(
        charter.direct.map(|direct| direct.output_tokens_max),
        Some(77)
    );
    assert_eq!(charter.router.ask, "direct");
}

#[test]
fn x08_every_problem_of_a_charter_is_told_at_once() {
    let checked = checked(&[
        (
            "charter.toml",
            "protocol = 1\nnmae = \"x\"\nversion = \"one\"\n[recursion]\nmax_depth = 9\nmax_children = \"six\"\nmax_deep = 1\n[roles.prime]\nmodel = \"gpt\"",
        ),
        ("identity.toml", "traits = [\"\"]"),
        ("persona.toml", "tone = "),
        ("agents/a.md", "no head"),
    ]);
    let said: Vec<_> = checked
        .problems
        .iter()
        .map(|p| format!("{} {p}", p.code()))
        .collect();
    assert_eq!(
        said,
        [
            "F0608 charter.toml: missing key `name`",
            "F0607 charter.toml:1:12: `protocol` has the wrong type: expected a string, found integer `1`",
            "F0606 charter.toml:2:1: unknown key `nmae`",
            "F0611 charter.toml:3:11: invalid value for `version`: invalid version; expected MAJOR.MINOR.PATCH, such as 1.0.0",
            "F0610 charter.toml:5:13: `max_depth` is 9, but the maximum is 4",
            "F0607 charter.toml:6:16: `max_children` has the wrong type: expected a whole number in range, found string \"six\"",
            "F0606 charter.toml:7:1: unknown key `max_deep`",
            "F0611 charter.toml:9:9: invalid value for `model`: expected `PROVIDER/NAME`, such as `openai/gpt-4o-mini`",
            "F0620 agents/a.md:1:1: the file must start with front matter between two lines `---`",
            "F0618 identity.toml:1:11: an entry of `traits` is empty",
            "F0605 persona.toml:1:8: string values must be quoted, expected literal string",
        ]
    );
    assert_eq!(checked.charter, None);
}

#[test]
fn a_flood_of_problems_is_cut_off() {
    let keys: Vec<String> = (0..20_000).map(|number| format!("k{number} = 1")).collect();
    let keys = keys.join("\n");
    let checked = checked(&[("charter.toml", &keys)]);
    assert_eq!(checked.problems.len(), limits::FINDINGS_MAX);
    assert_eq!(checked.charter, None);
}

#[test]
fn the_line_shown_is_short_and_holds_the_place() {
    let text = format!("{MANIFEST}description = \"{}\"\u{1b}[31m", "é".repeat(500));
    let checked = checked(&[("charter.toml", &text)]);
    let place = checked.problems[0].place.clone().expect("a place");
    assert!(place.excerpt.chars().count() <= 96);
    assert!(!place.excerpt.contains('\u{1b}'));
    assert_eq!((place.line, place.column), (4, 517));
    assert_eq!(place.before, 32);
}

#[test]
fn g05_the_default_charter_is_within_every_limit() {
    let charter = Charter::built_in(DEFAULT).expect("built in");
    assert_eq!(charter.warnings, []);
    assert_eq!(charter.protocol, PROTOCOL);
    assert_eq!(charter.mtu, PacketMtu::Window);
    assert_eq!(
        (charter.identity.text(), charter.persona.text()),
        Default::default()
    );
    assert_eq!(charter.roles, ModelRoles::default());
    assert_eq!(charter.instructions.len(), INITIAL.len());
    for (key, stage) in INITIAL {
        let instruction = &charter.instructions[key];
        assert_eq!(instruction.stage, stage, "{key}");
        let tokens = fathom_models::count_o200k(&instruction.text);
        assert!(
            (1..=limits::INSTRUCTION_TOKENS_MAX).contains(&tokens),
            "{key}: {tokens}"
        );
    }
    let names =
        built_in::NAMES.map(|name| Charter::built_in(name).map(|charter| charter.name).ok());
    assert_eq!(names, built_in::NAMES.map(|name| Some(name.to_owned())));
    assert_eq!(
        Charter::built_in("none")
            .map_err(|error| error.code())
            .err(),
        Some("F0601")
    );
}
