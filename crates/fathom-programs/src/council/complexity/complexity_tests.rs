use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;
use crate::council::CouncilSeat;

fn strings(words: &str) -> Vec<String> {
    words
        .split(", ")
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

fn domain(name: &str, words: &str) -> TopicDomain {
    TopicDomain {
        name: name.to_owned(),
        words: strings(words),
    }
}

fn seat(id: &str, lexicon: &str, sub_chiefs: Vec<CouncilSeat>) -> CouncilSeat {
    CouncilSeat {
        id: id.to_owned(),
        lexicon: strings(lexicon),
        sub_chiefs,
        ..CouncilSeat::default()
    }
}

fn detector() -> DetectorConfig {
    DetectorConfig {
        uncertainty: strings(
            "trade-off|trade-offs|tradeoff, depends on|depending on, multiple approaches, several factors, considering, \
             weighing, not sure",
        ),
        factor_openers: strings("considering, weighing, given, given that, taking into account"),
        factors: strings("cost|costs, latency, risk|risks, compliance"),
        domains: vec![
            domain("security", "security, auth, encrypt, permission"),
            domain("data", "database, schema, storage, 認証"),
            domain("network", "network, api, endpoint, latency"),
            domain("resources", "cost, budget, memory"),
        ],
        ..DetectorConfig::default()
    }
}

fn chiefs() -> Vec<CouncilSeat> {
    let keys = seat("keys", "key, certificate", Vec::new());
    let access = seat("access", "login, auth", vec![keys]);
    vec![
        seat(
            "IT",
            "",
            vec![
                seat("security", "auth, encrypt, breach", vec![access]),
                seat("network", "api, latency", Vec::new()),
            ],
        ),
        seat(
            "Data",
            "",
            vec![
                seat("schema", "schema, table", Vec::new()),
                seat("archive", "backup, storage", Vec::new()),
            ],
        ),
    ]
}

fn lens() -> ComplexityDetector {
    ComplexityDetector::new(&detector(), &chiefs())
}

fn assess(question: &str) -> ComplexityAssessment {
    lens().assess(question)
}

/// What an assessment says, on one line: `score | reasons | domains | seats`.
fn told(assessment: &ComplexityAssessment) -> String {
    let reasons: Vec<String> = assessment.reasons.iter().map(reason).collect();
    let parts = [
        assessment.score.to_string(),
        reasons.join(" "),
        assessment.domains.join(","),
        assessment.seats.join(","),
    ];
    parts
        .map(|part| {
            if part.is_empty() {
                "-".to_owned()
            } else {
                part
            }
        })
        .join(" | ")
}

fn reason(reason: &ComplexitySignal) -> String {
    match reason {
        ComplexitySignal::Length { tokens } => format!("length({tokens})"),
        ComplexitySignal::Uncertainty { phrases } => format!("uncertain({})", phrases.join(",")),
        ComplexitySignal::Domains { domains } => format!("domains({})", domains.join(",")),
        ComplexitySignal::Factors { factors } => format!("factors({})", factors.join(",")),
        ComplexitySignal::Learned { log_odds_milli } => format!("learned({log_odds_milli})"),
    }
}

fn factors(question: &str) -> Vec<String> {
    let detector = DetectorConfig {
        factors_min: 0,
        ..detector()
    };
    let found = ComplexityDetector::new(&detector, &[]).assess(question);
    let listed = found.reasons.into_iter().find_map(|reason| match reason {
        ComplexitySignal::Factors { factors } => Some(factors),
        _ => None,
    });
    listed.unwrap()
}

/// Questions, and what is told of each.
const QUESTIONS: &[(&str, &str)] = &[
    // Nothing, and nothing that can be read.
    ("", "0 | - | - | -"),
    ("   \n\t  ", "0 | - | - | -"),
    ("?!… — 🤷", "0 | - | - | -"),
    ("Shall we have lunch?", "0 | - | - | -"),
    // One domain, one seat; neither is a signal.
    ("Is the schema right?", "0 | - | data | Data/schema"),
    (
        "Is AUTH on?",
        "0 | - | security | IT/security,IT/security/access",
    ),
    // Words, not parts of words.
    (
        "Who is the author of the authority on authentication?",
        "0 | - | - | -",
    ),
    (
        "capital databases, encrypted networks, apis",
        "0 | - | - | -",
    ),
    (
        "The API's schema",
        "1 | domains(data,network) | data,network | IT/network,Data/schema",
    ),
    (
        "the API’s schema",
        "1 | domains(data,network) | data,network | IT/network,Data/schema",
    ),
    (
        "auth-migration",
        "0 | - | security | IT/security,IT/security/access",
    ),
    (
        "auth_token and apiKey",
        "0 | - | security | IT/security,IT/security/access",
    ),
    (
        "(auth)/[API]",
        "1 | domains(security,network) | security,network | IT/security,IT/security/access,IT/network",
    ),
    ("auth\u{301} is another word", "0 | - | - | -"),
    (
        "l'auth, «auth»",
        "0 | - | security | IT/security,IT/security/access",
    ),
    // Where words are not parted by spaces, Unicode parts them.
    ("这个認証怎么样", "0 | - | data | -"),
    // A domain named twice is one; several are in the charter's order.
    ("memory and budget", "0 | - | resources | -"),
    (
        "storage or auth",
        "1 | domains(security,data) | security,data | IT/security,IT/security/access,Data/archive",
    ),
    // A word in two domains' lexicons, or in a domain's and a factor's, is in both.
    ("latency", "0 | - | network | IT/network"),
    (
        "cost of latency",
        "1 | domains(network,resources) | network,resources | IT/network",
    ),
    // Uncertainty: different phrases, each once, in one of its forms.
    ("It depends on it.", "0 | - | - | -"),
    (
        "It depends on it and depends on him, depending on her.",
        "0 | - | - | -",
    ),
    (
        "A trade-off, which depends on it.",
        "1 | uncertain(trade-off,depends on) | - | -",
    ),
    (
        "Trade off? There are MULTIPLE  approaches.",
        "1 | uncertain(trade-off,multiple approaches) | - | -",
    ),
    ("tradeoffs depend on several small factors", "0 | - | - | -"),
    (
        "It depends. On the other hand, trade, off.",
        "0 | - | - | -",
    ),
    (
        "We are not\nsure; weighing.",
        "1 | uncertain(weighing,not sure) | - | -",
    ),
    // Factors: of the lexicon, listed, and both at once.
    (
        "cost, risks, compliance",
        "1 | factors(cost,risk,compliance) | resources | -",
    ),
    ("cost and costs and risk and risks", "0 | - | resources | -"),
    (
        "given noise, dust and heat",
        "1 | factors(noise,dust,heat) | - | -",
    ),
    ("given noise and dust", "0 | - | - | -"),
    (
        "Should we move, considering cost, latency and the auth migration?",
        "2 | domains(security,network,resources) factors(cost,latency,the auth migration) \
             | security,network,resources | IT/security,IT/security/access,IT/network",
    ),
    (
        "Should we move the customer database to the new cluster this quarter, considering cost, latency and the auth \
             migration?",
        "2 | domains(security,data,network,resources) factors(cost,latency,the auth migration) \
             | security,data,network,resources | IT/security,IT/security/access,IT/network",
    ),
    (
        "Weighing the trade-offs: cost, risk, compliance",
        "2 | uncertain(trade-off,weighing) factors(cost,risk,compliance) | resources | -",
    ),
    (
        "It depends on several factors: API, auth, given cost, risk and dust.",
        "3 | uncertain(depends on,several factors) domains(security,network,resources) factors(cost,risk,dust) \
             | security,network,resources | IT/security,IT/security/access,IT/network",
    ),
    // A seat below one that is not touched stays silent.
    ("a new login", "0 | - | - | -"),
    ("a new certificate and login", "0 | - | - | -"),
    ("a certificate after the breach", "0 | - | - | IT/security"),
    (
        "auth with a certificate",
        "0 | - | security | IT/security,IT/security/access,IT/security/access/keys",
    ),
    (
        "a table of backups, a backup",
        "0 | - | - | Data/schema,Data/archive",
    ),
];

#[test]
fn c01_questions_give_their_signals_domains_and_seats() {
    for (question, wanted) in QUESTIONS {
        let assessment = assess(question);
        assert_eq!(told(&assessment), *wanted, "{question}");
        assert_eq!(assessment.complex, assessment.score >= 2, "{question}");
    }
}

#[test]
fn c01_factors_are_listed_after_openers() {
    let table = [
        ("considering noise", "noise"),
        ("considering: noise, dust", "noise, dust"),
        ("considering the following: noise, dust", "noise, dust"),
        (
            "considering noise, dust: what now, my friend",
            "noise, dust",
        ),
        (
            "given that noise, dust as well as heat matter",
            "noise, dust, heat matter",
        ),
        ("taking into account noise or dust", "noise, dust"),
        ("noise, dust, heat", ""),
        (
            "considering noise, dust, and heat. Or, not",
            "noise, dust, heat",
        ),
        ("Given noise, dust, should we go, or stay?", "noise, dust"),
        ("Given noise and dust — stay, or go?", "noise, dust"),
        ("considering noise; dust & heat", "noise, dust, heat"),
        ("considering noise,dust,heat", "noise, dust, heat"),
        (
            "considering 1,000 users, 3.5 hours and CI/CD",
            "1 000 users, 3 5 hours, ci cd",
        ),
        (
            "considering:\n- noise\n- the dust\n  of years\n\n* heat\n\nAnd now, this",
            "noise, the dust of years, heat",
        ),
        ("weighing Noise, NOISE and noise", "noise"),
        ("considering the costs of moving, dust", "cost, dust"),
        ("considering noise given dust, heat", "noise, dust, heat"),
        ("considering", ""),
        ("考慮, considering 騒音、埃", "騒 音, 埃"),
        (
            "considering a one two three four five six seven eight nine ten eleven, dust, heat",
            "a one two three four five six seven eight nine ten eleven, dust, heat",
        ),
        (
            "considering a one two three four five six seven eight nine ten eleven twelve, dust, heat",
            "",
        ),
    ];
    for (question, wanted) in table {
        assert_eq!(factors(question).join(", "), wanted, "{question}");
    }
}

#[test]
fn c01_length_counts_above_its_threshold() {
    for (words, tokens, long) in [
        (0, 0, false),
        (1, 2, false),
        (384, 500, false),
        (385, 501, true),
    ] {
        let assessment = assess(&"word ".repeat(words));
        assert_eq!(assessment.features.tokens, tokens, "{words}");
        let reasons = if long {
            vec![ComplexitySignal::Length { tokens }]
        } else {
            Vec::new()
        };
        assert_eq!(assessment.reasons, reasons, "{words}");
    }
}

#[test]
fn c01_each_threshold_is_the_charters() {
    let question = "Weighing the trade-offs of auth and the API, given noise, dust, heat: risk.";
    let features = assess(question).features;
    assert_eq!(
        (features.uncertainty, features.domains, features.factors),
        (2, 2, 6)
    );
    let signals = |change: fn(&mut DetectorConfig)| {
        let mut detector = detector();
        change(&mut detector);
        let assessment = ComplexityDetector::new(&detector, &chiefs()).assess(question);
        (assessment.score, assessment.complex)
    };
    assert_eq!(signals(|_| {}), (3, true));
    assert_eq!(signals(|d| d.uncertainty_min = 3), (2, true));
    assert_eq!(signals(|d| d.domains_min = 3), (2, true));
    assert_eq!(signals(|d| d.factors_min = 6), (3, true));
    assert_eq!(signals(|d| d.factors_min = 7), (2, true));
    assert_eq!(signals(|d| d.score_min = 3), (3, true));
    assert_eq!(signals(|d| d.score_min = 4), (3, false));
    // Fourteen words are 18.2 tokens.
    assert_eq!(features.tokens, 19);
    assert_eq!(signals(|d| d.tokens_over = 19), (3, true));
    assert_eq!(signals(|d| d.tokens_over = 18), (4, true));
}

#[test]
fn c01_an_empty_charter_sees_length_alone() {
    let lens = ComplexityDetector::new(&DetectorConfig::default(), &[]);
    let assessment = lens.assess(&"considering cost, auth and risk ".repeat(200));
    assert_eq!(
        assessment.reasons,
        [ComplexitySignal::Length { tokens: 1300 }]
    );
    assert!(!assessment.complex);
}

#[test]
fn c01_entries_without_words_are_never_met() {
    let detector = DetectorConfig {
        uncertainty: strings("—, |, ?!"),
        uncertainty_min: 1,
        ..DetectorConfig::default()
    };
    let lens = ComplexityDetector::new(&detector, &[]);
    assert_eq!(lens.assess("— | ?! what").score, 0);
}

#[test]
fn c01_a_seat_below_the_deepest_level_is_not_named() {
    let mut chief = seat("0", "auth", Vec::new());
    for level in 1..6 {
        chief = seat(&level.to_string(), "auth", vec![chief]);
    }
    let lens = ComplexityDetector::new(&DetectorConfig::default(), &[chief]);
    assert_eq!(lens.assess("auth").seats, ["5/4", "5/4/3", "5/4/3/2"]);
}

#[test]
fn c01_what_is_kept_of_a_list_is_bounded() {
    let endless: Vec<String> = (0..100_000).map(|n| format!("item{n}")).collect();
    assert_eq!(
        factors(&format!("considering {}", endless.join(", "))).len(),
        32
    );
    let long = factors(&format!(
        "considering {}, {}",
        "é".repeat(1 << 20),
        "x".repeat(1 << 20)
    ));
    assert_eq!(long, ["é".repeat(80), "x".repeat(80)]);
}

#[test]
fn c01_megabytes_of_anything_take_linear_time() {
    let lens = lens();
    let noises = [
        "considering ",
        "given that ",
        "a\u{301}\u{302}",
        "\u{301}",
        "\u{200D}",
        "🏳️‍🌈",
        "🇩🇪",
        "’",
        "a’",
        "認",
        "ก",
        "\0",
        "a.",
        "É",
        "trade ",
        "trade-off ",
        "as well ",
        ", ",
        "\n-",
        "depends ",
        "considering a, ",
        "x",
    ];
    for noise in noises {
        let text = noise.repeat((2 << 20) / noise.len());
        let begin = now();
        lens.assess(&text);
        let took = now().duration_since(begin);
        // It takes some hundredths of a second; a look back over all words for every word would take hours.
        assert!(took < Duration::from_secs(10), "{noise:?}: {took:?}");
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "how time grows is what is looked at"
)]
fn now() -> Instant {
    Instant::now()
}

#[test]
fn c10_a_learned_rule_decides_and_the_signals_are_still_told() {
    let learned = LearnedRule {
        version: LearnedRule::VERSION,
        weights: vec![FeatureWeight {
            feature: QuestionFeature::Seats,
            weight_micro: 2_000_000,
            mean_micro: 1_000_000,
            scale_micro: 500_000,
        }],
        bias_micro: 0,
        threshold_micro: 3_000_000,
        ..LearnedRule::default()
    };
    let detector = DetectorConfig {
        learned: Some(learned),
        ..detector()
    };
    let lens = ComplexityDetector::new(&detector, &chiefs());
    let two_signals = "given cost, risk, dust and the API";
    let table = [
        (
            two_signals,
            "2 | domains(network,resources) factors(cost,risk,dust,the api) learned(-3000) | network,resources | IT/network",
            false,
        ),
        (
            "table and backup",
            "0 | learned(1000) | - | Data/schema,Data/archive",
            true,
        ),
    ];
    for (question, wanted, complex) in table {
        let assessment = lens.assess(question);
        assert_eq!(told(&assessment), wanted, "{question}");
        assert_eq!(assessment.complex, complex, "{question}");
    }
}

#[test]
fn c10_features_are_the_numbers_behind_the_signals() {
    let assessment =
        assess("Weighing trade-offs of auth, storage and the API, given noise, dust, heat");
    let wanted = QuestionFeatures {
        tokens: 17,
        uncertainty: 2,
        domains: 3,
        factors: 6,
        seats: 4,
        chiefs: 2,
        score: 3,
    };
    assert_eq!(assessment.features, wanted);
    let kept = serde_json::to_string(&assessment).unwrap();
    assert_eq!(
        serde_json::from_str::<ComplexityAssessment>(&kept).unwrap(),
        assessment
    );
}

#[test]
fn an_assessment_without_features_can_still_be_read() {
    let kept = r#"{"score":0,"complex":false,"reasons":[],"domains":[],"seats":[]}"#;
    assert_eq!(
        serde_json::from_str::<ComplexityAssessment>(kept).unwrap(),
        ComplexityAssessment::default()
    );
}

/// Pieces of questions, some of which are signals.
fn sentence() -> impl Strategy<Value = String> {
    let words = [
        "we",
        "auth",
        "API",
        "cost",
        "Risk",
        "considering",
        "given",
        "noise",
        "dust",
        "and",
        "trade-off",
        "depends on",
        "schema",
        "storage",
        "certificate",
        "the",
        "café",
        "認証",
        "author",
        "not sure",
        "or",
    ];
    let joint = prop::sample::select(vec![" ", " ", " ", ", ", "; ", "-", " / "]);
    let piece = (prop::sample::select(words.to_vec()), joint);
    prop::collection::vec(piece, 1..20).prop_map(|pieces| {
        let mut sentence = String::new();
        for (word, joint) in pieces {
            sentence.push_str(word);
            sentence.push_str(joint);
        }
        sentence + "end."
    })
}

/// Words that no lexicon has.
fn filler() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("zq[a-z]{1,8}", 0..30)
}

fn counts(question: &str) -> [u32; 6] {
    let QuestionFeatures {
        tokens,
        uncertainty,
        domains,
        factors,
        seats,
        chiefs,
        ..
    } = assess(question).features;
    [tokens, uncertainty, domains, factors, seats, chiefs]
}

proptest! {
    #[test]
    fn c01_case_changes_nothing(question in sentence()) {
        prop_assert_eq!(assess(&question), assess(&question.to_uppercase()));
        prop_assert_eq!(assess(&question), assess(&question.to_lowercase()));
    }

    #[test]
    fn c01_punctuation_around_it_changes_nothing(
        question in sentence(),
        before in "[ \n«“(*_!?.,#>-]{0,12}",
        after in "[ \n»”)*_!?.,-]{0,12}",
    ) {
        prop_assert_eq!(assess(&question), assess(&format!("{before}{question}{after}")));
    }

    #[test]
    fn c01_the_order_of_unrelated_words_changes_nothing(question in sentence(), words in filler(), seed: prop::sample::Index) {
        let mut turned = words.clone();
        if !turned.is_empty() {
            let by = seed.index(turned.len());
            turned.rotate_left(by);
        }
        let text = |words: &[String]| format!("{}. {question} {}", words.join(" "), words.join(" "));
        prop_assert_eq!(assess(&text(&words)), assess(&text(&turned)));
    }

    #[test]
    fn c01_a_further_sentence_lowers_no_count(first in sentence(), second in sentence()) {
        let alone = counts(&first);
        for both in [format!("{first} {second}"), format!("{second} {first}")] {
            for (count, least) in counts(&both).into_iter().zip(alone) {
                prop_assert!(count >= least, "{both}: {:?} after {alone:?}", counts(&both));
            }
        }
    }

    #[test]
    fn c01_no_text_is_too_strange(question in "(?s).{0,200}") {
        let assessment = assess(&question);
        prop_assert!(assessment.score <= 4);
        prop_assert_eq!(assess(&question), assessment);
    }
}
