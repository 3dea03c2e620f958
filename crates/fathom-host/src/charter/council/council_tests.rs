use fathom_core::unit::Millis;
use fathom_models::count_o200k;
use fathom_programs::council::{ConfidenceSource, ReusePolicy, SynthesisMode};

use super::super::{Charter, check_files};
use super::*;

const MANIFEST: &str = "protocol = \"1.0.0\"\nname = \"mine\"\nversion = \"0.1.0\"\n";

/// Room for nine chiefs, or for two with two sub-chiefs each.
pub(super) const ROOM: &str = "[budget]\ncalls = 100\n[recursion]\nmax_depth = 2\nmax_children = 9\n\
                               allowed_child_types = [\"chief\", \"sub_chief\"]\nallowed_classes = [\"work\"]\n";

/// A chief with nobody below.
pub(super) const CHIEF: &str = "[[council.chief]]\nid = \"IT\"\nfocus = \"Systems.\"\n";

/// The minimal `charter.toml`, and `more`.
pub(super) fn checked(more: &str) -> super::super::CheckReport {
    let text = format!("{MANIFEST}{more}");
    let files = [("charter.toml".to_owned(), Some(text.into_bytes()))];
    check_files(&files.into(), FindingList::default(), &|_| 0)
}

fn good(more: &str) -> Charter {
    let checked = checked(more);
    assert_eq!(checked.problems, []);
    checked.charter.expect("nothing is wrong")
}

fn warnings(more: &str) -> Vec<String> {
    let warnings = good(more).warnings;
    let said = warnings.iter();
    said.map(|warning| format!("{} {warning}", warning.code()))
        .collect()
}

/// The rules of a council with one chief and these keys.
fn rules(keys: &str) -> BallotRules {
    let charter = good(&format!("{ROOM}[council]\n{keys}\n{CHIEF}"));
    charter.council.expect("said").remote
}

fn built_in() -> CouncilCharter {
    let charter = Charter::built_in("council").expect("built in");
    charter.council.expect("said")
}

/// A sub-chief so many levels below the chief above it.
pub(super) fn sub_chief(level: usize, id: &str) -> String {
    let header = format!("council.chief{}", ".sub_chief".repeat(level));
    format!("[[{header}]]\nid = \"{id}\"\nfocus = \"Part.\"\nlexicon = [\"word\"]\n")
}

/// A council of so many chiefs with so many sub-chiefs each.
fn tree(chiefs: usize, sub_chiefs: usize) -> String {
    let mut text = String::new();
    for chief in 0..chiefs {
        text.push_str(&CHIEF.replace("IT", &format!("C{chief}")));
        for sub in 0..sub_chiefs {
            text.push_str(&sub_chief(1, &format!("s{sub}")));
        }
    }
    text
}

/// Lists with which a question can give every signal.
const DETECTOR: &str =
    "[council.detector]\nuncertainty = [\"unsure\", \"unclear\"]\nfactor_openers = [\"given\"]\n";

#[test]
fn c02_the_built_in_council_has_chiefs_with_sub_chiefs_of_their_own() {
    let council = built_in();
    let seats: Vec<(&str, Vec<&str>)> = council
        .chiefs
        .iter()
        .map(|chief| {
            let below = chief.sub_chiefs.iter();
            (
                chief.id.as_str(),
                below.map(|seat| seat.id.as_str()).collect(),
            )
        })
        .collect();
    assert_eq!(
        seats,
        [
            ("IT", vec!["security", "infrastructure", "network"]),
            ("Data", vec!["schema", "pipeline", "archive"]),
            ("Ops", vec!["cost", "reliability", "delivery", "people"]),
        ]
    );
    let sub_chiefs = council.chiefs.iter().flat_map(|chief| &chief.sub_chiefs);
    for seat in sub_chiefs {
        let words = seat.lexicon.len();
        assert!((12..=25).contains(&words), "{}: {words} words", seat.id);
        assert_eq!(seat.sub_chiefs, [], "{}", seat.id);
    }
}

#[test]
fn c02_the_texts_of_the_built_in_council_are_short() {
    let council = built_in();
    for profile in [ModelProfile::Local, ModelProfile::Remote] {
        let tokens = count_o200k(&council.rules(profile).instructions);
        assert!((60..=120).contains(&tokens), "{profile:?}: {tokens}");
    }
    let below = council.chiefs.iter().flat_map(|chief| &chief.sub_chiefs);
    for seat in council.chiefs.iter().chain(below) {
        let tokens = count_o200k(&seat.focus);
        assert!((12..=36).contains(&tokens), "{}: {tokens}", seat.id);
    }
    let charter = Charter::built_in("council").expect("built in");
    assert_eq!(charter.warnings, []);
    assert_eq!(charter.identity.text() + &charter.persona.text(), "");
}

#[test]
fn c07_the_built_in_council_fits_three_chiefs_with_four_sub_chiefs_each() {
    let charter = Charter::built_in("council").expect("built in");
    let policy = charter.recursion.expect("said");
    assert!(policy.max_total_episodes >= 16);
    assert!(
        charter
            .budget
            .episodes
            .is_some_and(|episodes| episodes >= 16)
    );
    let council = charter.council.expect("said");
    for profile in [ModelProfile::Local, ModelProfile::Remote] {
        let params = council.params(profile);
        assert_eq!(params.depth_max, 1, "{profile:?}");
        assert_eq!(policy.max_depth, params.depth_max + 1, "{profile:?}");
    }
}

#[test]
fn c05_the_built_in_council_measures_the_confidence_of_the_embedded_model() {
    let council = built_in();
    let local = council.params(ModelProfile::Local);
    let measured = ConfidenceSource::Measured {
        samples: 3,
        temperature_milli: 800,
    };
    assert_eq!(local.confidence, measured);
    assert_eq!(local.reasoning_chars_max, Some(240));
    assert_eq!(
        (local.timeout, local.voter_time),
        (Millis(480_000), Millis(480_000))
    );
    assert_eq!(council.passage_tokens(ModelProfile::Local), 400);
    let remote = council.params(ModelProfile::Remote);
    assert_eq!(remote.confidence, ConfidenceSource::Stated);
    assert_eq!(remote.timeout, Millis(60_000));
    assert_eq!(council.passage_tokens(ModelProfile::Remote), 1_200);
    // What a profile does not say is as in the council.
    assert_eq!(local.instructions, remote.instructions);
    assert_eq!(local.chiefs, remote.chiefs);
    let local = ModelSpec::named("local/small");
    assert_eq!(ModelProfile::of(&local), ModelProfile::Local);
    assert_eq!(
        ModelProfile::of(&ModelSpec::named("openai/local")),
        ModelProfile::Remote
    );
}

#[test]
fn c01_thresholds_and_lexicons_are_charter_data() {
    let charter = good(&format!(
        "{ROOM}[council.detector]\ntokens_over = 9\nscore_min = 1\nfactors = [\"cost\", \" data loss \"]\n\
         [council.detector.domains]\nzeta = [\"z\"]\nAlpha = [\"a\", \"b\"]\n{CHIEF}"
    ));
    let detector = charter.council.expect("said").detector;
    assert_eq!((detector.tokens_over, detector.score_min), (9, 1));
    assert_eq!(
        (
            detector.uncertainty_min,
            detector.domains_min,
            detector.factors_min
        ),
        (2, 2, 3)
    );
    assert_eq!(detector.factors, ["cost", "data loss"]);
    let domains = detector.domains.iter();
    let domains: Vec<_> = domains
        .map(|domain| (&domain.name[..], domain.words.len()))
        .collect();
    assert_eq!(domains, [("zeta", 1), ("Alpha", 2)]);
    let built_in = built_in().detector;
    assert_eq!(built_in.tokens_over, 500);
    assert_eq!(built_in.domains.len(), 5);
    assert_eq!(built_in.domains[0].name, "security");
}

#[test]
fn c05_rules_are_read_key_by_key() {
    assert_eq!(rules(""), BallotRules::default());
    assert_eq!(
        rules("confidence = \"stated\"").confidence,
        ConfidenceSource::Stated
    );
    let measured = ConfidenceSource::Measured {
        samples: 16,
        temperature_milli: 2_000,
    };
    let said = rules("confidence = { samples = 16, temperature = 2 }").confidence;
    assert_eq!(said, measured);
    assert_eq!(
        rules("synthesis = \"model\"").synthesis,
        SynthesisMode::Model
    );
    assert_eq!(rules("").reuse, ReusePolicy::Same);
    assert_eq!(rules("reuse = \"off\"").reuse, ReusePolicy::Off);
    let similar = ReusePolicy::Similar {
        similarity_min_milli: 920,
    };
    assert_eq!(rules("reuse = { similar = 0.92 }").reuse, similar);
    let said = rules(
        "depth = 0\nsub_chiefs_max = 2\ncompare = true\npassage_tokens = 50\nreasoning_chars = 40\n\
         output_tokens = 32\nstructured = false\ntimeout = \"1s\"\nvoter_time = \"1s\"\ninstructions = \" Vote. \"",
    );
    let expected = BallotRules {
        depth_max: 0,
        sub_chiefs_max: 2,
        compare: true,
        passage_tokens_max: 50,
        reasoning_chars_max: 40,
        output_tokens_max: 32,
        structured: false,
        timeout: Millis(1_000),
        voter_time: Millis(1_000),
        instructions: "Vote.".into(),
        ..BallotRules::default()
    };
    assert_eq!(said, expected);
}

#[test]
fn c07_the_run_must_have_room_for_the_whole_tree() {
    let of = |episodes: u32, depth: u8| {
        let checked = checked(&format!(
            "[budget]\nepisodes = {episodes}\ncalls = 10000\n[recursion]\nmax_total_episodes = {episodes}\n\
             allowed_child_types = [\"chief\", \"sub_chief\"]\nallowed_classes = [\"work\"]\n\
             [council]\ndepth = {depth}\n{DETECTOR}{}",
            tree(3, 6)
        ));
        let problems = checked.problems.iter();
        let said: Vec<_> = problems.map(|problem| problem.flaw.to_string()).collect();
        said
    };
    // Four at most are asked of the six below each chief.
    assert_eq!(of(16, 1), Vec::<String>::new());
    assert_eq!(
        of(15, 1),
        [
            "`max_total_episodes` of [recursion] is 15, but the council needs at least 16",
            "`episodes` of [budget] is 15, but the council needs at least 16",
        ]
    );
    assert_eq!(of(4, 0), Vec::<String>::new());
    assert_eq!(of(3, 0).len(), 2);
    // A depth that the tree does not have needs no room.
    assert_eq!(of(16, 3), Vec::<String>::new());
}

#[test]
fn c07_a_profile_needs_its_room_too() {
    let text = format!(
        "[recursion]\nallowed_child_types = [\"chief\"]\nallowed_classes = [\"work\"]\n\
         [council]\ndepth = 0\n[council.local]\ndepth = 1\n{DETECTOR}{}",
        tree(1, 1)
    );
    let problems = checked(&text).problems;
    let said: Vec<_> = problems
        .iter()
        .map(|problem| problem.flaw.to_string())
        .collect();
    let expected = ["the council needs `sub_chief` in `allowed_child_types` of [recursion]"];
    assert_eq!(said, expected);
}

#[test]
fn c07_a_budget_with_too_few_calls_is_a_warning() {
    let of = |calls: u32, keys: &str| {
        let room = ROOM.replace("calls = 100", &format!("calls = {calls}"));
        warnings(&format!(
            "{room}[council]\n{keys}\n{DETECTOR}{}",
            tree(2, 2)
        ))
    };
    // Two calls a vote, so that one is below the closing mark; three shares a chief, three of them for the council.
    assert_eq!(of(18, ""), Vec::<String>::new());
    assert_eq!(
        of(17, ""),
        ["F0633 charter.toml:11:1: 17 calls may not be enough for every vote; 18 are"]
    );
    assert_eq!(
        of(72, "confidence = { samples = 5, temperature = 1 }"),
        Vec::<String>::new()
    );
    assert_eq!(
        of(71, "confidence = { samples = 5, temperature = 1 }").len(),
        1
    );
    assert_eq!(of(18, "compare = true").len(), 1);
    assert_eq!(of(18, "synthesis = \"model\"").len(), 1);
    assert_eq!(of(6, "depth = 0"), Vec::<String>::new());
}

#[test]
fn c01_a_detector_that_never_finds_a_question_complex_is_a_warning() {
    let of = |lists: &str, chiefs: &str| {
        warnings(&format!(
            "{ROOM}[council]\n[council.detector]\n{lists}\n{chiefs}"
        ))
    };
    assert_eq!(
        of("", &tree(1, 1)),
        [
            "F0634 charter.toml:11:1: sub-chiefs are never asked: a question can give only 1 of the 2 signals needed"
        ]
    );
    assert_eq!(of("", CHIEF), Vec::<String>::new());
    assert_eq!(of("score_min = 1", &tree(1, 1)), Vec::<String>::new());
    assert_eq!(of("factors = [\"a\", \"b\"]", &tree(1, 1)).len(), 1);
    assert_eq!(
        of("factors = [\"a\", \"b\", \"c\"]", &tree(1, 1)),
        Vec::<String>::new()
    );
}

#[test]
fn c02_a_word_that_is_there_twice_is_a_warning_and_counts_once() {
    let text = format!(
        "{ROOM}{DETECTOR}{CHIEF}[[council.chief.sub_chief]]\nid = \"net\"\nfocus = \"Net.\"\n\
         lexicon = [\"api\", \"DNS\", \"Api\"]\n"
    );
    assert_eq!(
        warnings(&text),
        ["F0632 charter.toml:20:26: duplicate word `Api` in `lexicon`"]
    );
    let council = good(&text).council.expect("said");
    assert_eq!(council.chiefs[0].sub_chiefs[0].lexicon, ["api", "DNS"]);
}

#[test]
fn c02_seats_nest_down_to_the_third_level() {
    let room = ROOM.replace("max_depth = 2", "max_depth = 4");
    let mut text = format!("{room}{DETECTOR}{CHIEF}");
    for level in 1..=3 {
        text.push_str(&sub_chief(level, &format!("s{level}")));
    }
    let deep = text.replace(
        "[council.detector]",
        "[council]\ndepth = 3\n[council.detector]",
    );
    let council = good(&deep).council.expect("said");
    let mut seats = &council.chiefs;
    let mut ids = Vec::new();
    while let Some(seat) = seats.first() {
        ids.push(seat.id.as_str());
        seats = &seat.sub_chiefs;
    }
    assert_eq!(ids, ["IT", "s1", "s2", "s3"]);
}

#[test]
fn what_a_council_says_is_in_the_digest_and_comes_back_from_json() {
    let digest = |word: &str| {
        let text = format!(
            "{ROOM}{DETECTOR}{CHIEF}[[council.chief.sub_chief]]\nid = \"a\"\nfocus = \"A.\"\nlexicon = [\"{word}\"]\n"
        );
        good(&text).digest()
    };
    assert_ne!(digest("one"), digest("two"));
    assert_eq!(digest("one"), digest("one"));
    let charter = Charter::built_in("council").expect("built in");
    let json = serde_json::to_string(&charter).expect("JSON");
    let back: Charter = serde_json::from_str(&json).expect("a charter");
    assert_eq!(back, charter);
}

#[test]
fn the_guide_shows_a_whole_council_with_the_usual_values() {
    let guide = include_str!("../../../../../docs/charters.md");
    let blocks = guide.split("```toml\n").skip(1);
    let blocks = blocks.filter_map(|block| block.split("```").next());
    let mut of_council = blocks.filter(|block| block.starts_with("[council]"));
    let shown = of_council.next().expect("an example");
    let charter = good(&format!("{ROOM}{shown}"));
    assert_eq!(charter.warnings, []);
    let council = charter.council.expect("said");
    assert_eq!(council.remote, BallotRules::default());
    assert_eq!(council.local.passage_tokens_max, 400);
    assert_eq!(council.detector.domains.len(), 2);
}
