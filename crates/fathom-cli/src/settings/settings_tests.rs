use std::ffi::OsString;

use fathom_core::unit::{Millis, Nanodollars};

use super::*;

/// A folder with a `fathom.toml`, a home with another, and variables.
struct Place {
    folder: tempfile::TempDir,
    variables: Vec<(&'static str, String)>,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data").display().to_string();
        Self {
            folder,
            variables: vec![("XDG_DATA_HOME", data)],
        }
    }

    fn file(self, name: &str, text: &str) -> Self {
        let file = self.folder.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
        self
    }

    fn variable(mut self, name: &'static str, value: &str) -> Self {
        self.variables.push((name, value.to_owned()));
        self
    }

    fn settle(&self, arguments: &str) -> Result<RunSettings, CliError> {
        let arguments = format!("fathom {arguments} doctor");
        let typed = crate::args::parse(arguments.split_whitespace()).unwrap();
        let look_up = |name: &str| {
            let found = self
                .variables
                .iter()
                .rev()
                .find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        };
        let variables = EnvVars::read(look_up)?;
        let charter = fathom_host::charter::DEFAULT;
        RunSettings::read(typed.flags, &variables, self.folder.path(), charter)
    }

    fn error(&self, arguments: &str) -> String {
        let error = self.settle(arguments).unwrap_err();
        let folder = self.folder.path().display().to_string();
        format!("{} {error}", error.code()).replace(&folder, "DIR")
    }
}

#[test]
fn x01_a_flag_beats_a_variable_and_a_variable_beats_the_file() {
    let file = "model = \"openai/file\"\nconcurrency = 3\n[budget]\ntokens = 1\ncalls = 1\ntools = 1\n\
                [recursion]\nmax_depth = 1\nmax_children = 1\n";
    let place = Place::new()
        .file("fathom.toml", file)
        .variable("FATHOM_MODEL", "openai/variable")
        .variable("FATHOM_CONCURRENCY", "4")
        .variable("FATHOM_BUDGET", "tokens=2,calls=2")
        .variable("FATHOM_MAX_DEPTH", "2")
        .variable("FATHOM_MAX_CHILDREN", "2");
    let named = |settings: &RunSettings| settings.model.main.clone().unwrap().value;

    let settings = place.settle("").unwrap();
    assert_eq!(named(&settings), "openai/variable");
    assert_eq!(settings.concurrency, 4);
    assert_eq!(settings.recursion.max_depth, 2);

    let flags =
        "--model openai/flag --concurrency 5 --budget tokens=3 --max-depth 0 --max-children 3";
    let settings = place.settle(flags).unwrap();
    assert_eq!(named(&settings), "openai/flag");
    assert_eq!(settings.concurrency, 5);
    assert_eq!(settings.recursion.max_depth, 0);
    assert_eq!(settings.recursion.max_children, 3);
    let amounts = settings.budget.amounts;
    assert_eq!([amounts.tokens, amounts.calls, amounts.tools], [3, 2, 1]);
    assert_eq!(
        amounts.episodes,
        fathom_host::config::BUDGET.amounts.episodes
    );
}

#[test]
fn e06_every_dimension_of_a_budget_can_be_said() {
    let budget = "--budget tokens=20_000,calls=8,tools=2,time=30s,cost=0.25,episodes=3";
    let budget = Place::new().settle(budget).unwrap().budget;
    assert_eq!(budget.time, Millis(30_000));
    assert_eq!(budget.amounts.money, Nanodollars(250_000_000));
    assert_eq!(budget.amounts.episodes, 3);
}

#[test]
fn x01_the_file_is_found_here_then_in_the_home() {
    let here = Place::new()
        .file("fathom.toml", "model = \"openai/here\"")
        .file("home/fathom.toml", "model = \"openai/home\"")
        .file(
            "other.toml",
            "model = \"openai/other\"\nhome = \"elsewhere\"",
        );
    let named = |arguments: &str| here.settle(arguments).unwrap().model.main.unwrap().value;
    assert_eq!(named("--home home"), "openai/here");
    assert_eq!(named("--home home --config other.toml"), "openai/other");
    let elsewhere = here.settle("--config other.toml").unwrap().home;
    assert_eq!(elsewhere, here.folder.path().join("elsewhere"));

    let home = Place::new().file("data/fathom/fathom.toml", "model = \"openai/home\"");
    let settings = home.settle("").unwrap();
    assert_eq!(settings.home, home.folder.path().join("data/fathom"));
    assert_eq!(settings.model.main.unwrap().value, "openai/home");
}

#[test]
fn x01_the_home_has_a_usual_place() {
    let bare = Place {
        folder: tempfile::tempdir().unwrap(),
        variables: vec![],
    };
    assert_eq!(bare.settle("").unwrap_err().code(), "F0125");
    let with_home = bare.variable("HOME", "/h");
    assert_eq!(
        with_home.settle("").unwrap().home,
        Path::new("/h/.local/share/fathom")
    );
    let relative = with_home.variable("XDG_DATA_HOME", "rel");
    assert_eq!(
        relative.settle("").unwrap().home,
        Path::new("/h/.local/share/fathom")
    );
    let said = relative.variable("FATHOM_HOME", "mine");
    assert_eq!(
        said.settle("").unwrap().home,
        said.folder.path().join("mine")
    );
    assert_eq!(
        said.settle("--home /other").unwrap().home,
        Path::new("/other")
    );
}

#[test]
fn e03_x08_what_cannot_be_meant_is_said_with_its_name() {
    let place = Place::new;
    let errors = [
        place().error("--max-depth 5"),
        place().error("--max-children 10001"),
        place().error("--concurrency 4097"),
        place().error("--concurrency 0"),
        place().variable("FATHOM_MAX_DEPTH", "5").error(""),
        place().variable("FATHOM_MAX_DEPTH", "deep").error(""),
        place().variable("FATHOM_QUIET", "maybe").error(""),
        place().error("--budget tokens"),
        place().error("--budget tokens=many"),
        place().error("--budget time=30"),
        place().error("--budget cost=cheap"),
        place().error("--budget speed=1"),
        place().error("--budget tokens=1,,calls=2"),
        place().variable("FATHOM_BUDGET", "tokens=-1").error(""),
        place().error("--quiet -v"),
        place().error("--config gone.toml"),
        place().file("fathom.toml", "model = 3").error(""),
        place()
            .file("fathom.toml", "[recursion]\nmax_depth = 9")
            .error(""),
    ];
    insta::assert_snapshot!(errors.join("\n"));
}

#[test]
fn x01_switches_can_be_variables() {
    let place = Place::new()
        .variable("FATHOM_JSON", "1")
        .variable("FATHOM_QUIET", "yes")
        .variable("FATHOM_NO_RESUME", "true");
    let settings = place.settle("").unwrap();
    assert_eq!(settings.form, OutputFormat::Json);
    assert_eq!(settings.loudness, Verbosity::Quiet);
    assert_eq!(settings.others, OtherRuns::LeftAlone);
    assert_eq!(place.settle("-v").unwrap().loudness, Verbosity::Verbose);
    let off = Place::new()
        .variable("FATHOM_JSON", "0")
        .settle("")
        .unwrap();
    assert_eq!(off.form, OutputFormat::Human);
    assert_eq!(off.others, OtherRuns::Resumed);
    assert!(Place::new().settle("--charter default").is_ok());
}

#[test]
fn json_is_recognised_before_anything_is_parsed() {
    let wants = |words: &str| {
        let words: Vec<OsString> = words.split(' ').map(OsString::from).collect();
        wants_json(&words, |_| None)
    };
    assert!(wants("fathom aks --json"));
    assert!(!wants("fathom ask -- --json"));
    assert!(!wants("fathom ask q"));
}

#[test]
fn g06_a_folders_file_takes_nothing_from_what_the_homes_says_of_authority() {
    let key = format!("ed25519:{}", "a1".repeat(32));
    let home = format!(
        "[identity]\ncreator = \"{key}\"\nrequired = true\n[redaction]\nrules = \"mine.toml\"\n"
    );
    let folder =
        "model = \"ollama/a\"\n[identity]\nrequired = false\n[redaction]\nrules = \"none.toml\"\n";
    let place = Place::new()
        .file("data/fathom/fathom.toml", &home)
        .file("fathom.toml", folder);
    let settings = place.settle("").unwrap();
    assert!(settings.identity.required && settings.identity.creator.is_some());
    let rules = settings.redaction_rules.unwrap();
    assert_eq!(rules, place.folder.path().join("data/fathom/mine.toml"));
    assert_eq!(
        settings.config_file,
        Some(place.folder.path().join("fathom.toml"))
    );
}
