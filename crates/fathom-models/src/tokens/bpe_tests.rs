//! The counts are those of the reference implementation, token for token.

use std::sync::LazyLock;

use fathom_core::model::CountPrecision;
use proptest::prelude::*;
use tiktoken_rs::CoreBPE;

use super::BpeVocabulary;

static REFERENCE_O200K: LazyLock<CoreBPE> = LazyLock::new(|| tiktoken_rs::o200k_base().unwrap());
static REFERENCE_CL100K: LazyLock<CoreBPE> = LazyLock::new(|| tiktoken_rs::cl100k_base().unwrap());

fn counts(text: &str) -> (Option<u64>, Option<u64>) {
    let exact = |vocabulary: BpeVocabulary| match vocabulary.count(text, u64::MAX) {
        Some((tokens, CountPrecision::Exact)) => Some(tokens),
        _ => None,
    };
    (exact(BpeVocabulary::O200k), exact(BpeVocabulary::Cl100k))
}

fn agree(text: &str) {
    let counts = counts(text);
    let wanted = (
        Some(REFERENCE_O200K.encode_ordinary(text).len() as u64),
        Some(REFERENCE_CL100K.encode_ordinary(text).len() as u64),
    );
    assert_eq!(counts, wanted, "{text:?}");
}

#[test]
fn g03_known_texts_have_their_published_counts() {
    // From OpenAI's own guide to counting tokens, for both vocabularies.
    let known = [
        ("antidisestablishmentarianism", 6, 6),
        ("2 + 2 = 4", 7, 7),
        ("お誕生日おめでとう", 8, 9),
        ("tiktoken is great!", 6, 6),
        ("", 0, 0),
    ];
    for (text, o200k, cl100k) in known {
        assert_eq!(counts(text), (Some(o200k), Some(cl100k)), "{text}");
    }
}

#[test]
fn g03_counts_agree_with_the_reference_on_awkward_texts() {
    for text in [
        " ",
        "  ",
        "a  b",
        "a \n  b",
        "\n\n\n",
        "trailing   ",
        "trailing \n \t ",
        "\r\n\r\nx",
        "I'll we'VE they're IT'S 's",
        "HTTPServer camelCase ÀÉÎ ǅungla ǅ",
        "1234567 ١٢٣٤ 12.5e-3",
        "e\u{301}a\u{308} \u{301}x",
        "//// ---- ===\n###/\n",
        "<|endoftext|> <|im_start|>",
        "fn main() {\n    println!(\"{x:?}\");\n}\n",
        "日本語テキスト、混在 text。",
        "👩‍👩‍👧‍👦 🇩🇪",
        "\u{a0}\u{2003}x\u{3000}y",
        "𝔘𝔫𝔦𝔠𝔬𝔡𝔢",
    ] {
        agree(text);
    }
}

#[test]
fn g03_long_runs_are_counted_without_running_away() {
    agree(&" ".repeat(5_000));
    agree(&"a".repeat(3_000));
    agree(&"ab1 ".repeat(3_000));
    // From a million spaces on the reference's engine overflows and panics. Here the work grows with the length alone.
    let spaces = format!("{}x", " ".repeat(100_000));
    let (tokens, exactness) = BpeVocabulary::O200k.count(&spaces, u64::MAX).unwrap();
    assert!(tokens > 100 && exactness == CountPrecision::UpperBound);
}

/// One word of many megabytes: what its count takes does not grow with it, and the bound is one.
#[test]
fn g03_a_word_without_end_is_counted_in_parts_and_only_as_far_as_it_matters() {
    for letters in ["a", "ab", "acgt", "xyzzy", "ä", "日", "="] {
        let word = letters.repeat(50_000 / letters.len());
        let exact = REFERENCE_O200K.encode_ordinary(&word).len() as u64;
        let (tokens, exactness) = BpeVocabulary::O200k.count(&word, u64::MAX).unwrap();
        assert_eq!(exactness, CountPrecision::UpperBound, "{letters}");
        assert!(
            (exact..exact + 8).contains(&tokens),
            "{letters}: {tokens}, not {exact}"
        );
        assert_eq!(
            BpeVocabulary::O200k.count(&word, exact - 1),
            None,
            "{letters}"
        );
    }
    let word = "a".repeat(15_000_000);
    assert_eq!(BpeVocabulary::O200k.count(&word, 100_000), None);
    assert_eq!(BpeVocabulary::O200k.count(&word, 1_000), None);
}

proptest! {
    #[test]
    fn g03_counts_agree_with_the_reference(text in any::<String>()) {
        agree(&text);
    }

    #[test]
    fn g03_counts_agree_on_white_space_words_and_marks(
        text in "([ \t\r\n\u{a0}]{0,4}[a-zA-Zäß'’0-9.,/#\u{301}日本]{0,5}){0,20}"
    ) {
        agree(&text);
    }
}

/// What people and programs write, in pieces.
const PIECES: [&str; 16] = [
    "fn main() { let x = &mut y[0..4]; }",
    "def f(x):\n\treturn x ** 2  # squared\n",
    "SELECT * FROM t WHERE a <> 'b';",
    "It's they'll DON'T",
    "😀👩‍👩‍👧‍👦",
    "🇩🇪 ❤️‍🔥",
    "ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ",
    "你好，世界。",
    "日本語のテキスト",
    "العربية ١٢٣",
    "0123456789",
    "3.14159e-10",
    "    ",
    " \t \r\n\n",
    "e\u{301}\u{323} ½ Ⅷ",
    "https://example.org/a?b=%20#c",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn g03_counts_agree_on_mixed_texts(
        pieces in proptest::collection::vec(proptest::sample::select(&PIECES[..]), 1..8),
        cut in 0_usize..6,
    ) {
        // Boundaries fall anywhere, not only between pieces.
        let text: String = pieces.concat().chars().skip(cut).collect();
        agree(&text);
    }
}
