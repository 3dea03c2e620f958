//! Counts against the families' own tokenizers, put together from the vocabulary and merges in the GGUF file and the
//! rules that each family publishes.

use std::path::Path;

use fathom_local::engine::ModelTokenizer;
use fathom_local::engine::gguf::GgufHeader;
use tokenizers::models::bpe::{BPE, Vocab};
use tokenizers::normalizers::NFC;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::digits::Digits;
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::{PreTokenizerWrapper, SplitDelimiterBehavior, Tokenizer};

use crate::engine_model::{QWEN, SMALLEST, weights};

const STRINGS: usize = 2000;

const QWEN_WORDS: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// What the strings are put together from.
const FRAGMENTS: [&str; 40] = [
    "fn main() {\n    println!(\"{}\", x);\n}\n",
    "for (int i = 0; i < n; ++i)\r\n\t{\r\n",
    "SELECT * FROM t WHERE a='b' AND c<>1;",
    "def f(x):\n        return x**2  # squared\n",
    "</div>\n<p class=\"a-b_c\">",
    "x+=1;y-=2;z*=3;//////",
    "Hello, world!",
    "It's we'll they'd I'M DON'T he'S",
    " the quick  brown   fox    jumps",
    "😀",
    "👩‍👩‍👧‍👦🏴‍☠️",
    "🇩🇪🇫🇷 ❤️‍🔥",
    "ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ",
    "ꭰꭱꭲ Ꮳ",
    "你好,世界。",
    "這是一個測試",
    "日本語のテキスト、カタカナ。",
    "한국어 텍스트",
    "العربية ١٢٣",
    "हिन्दी १२३ नमस्ते",
    "Ελληνικά Ünïcödé",
    "e\u{301}a\u{308}o\u{302}\u{323}",
    "\u{1EA5}\u{212B}\u{2126}ﬁ",
    "n\u{303}\u{303}\u{303}",
    "0123456789",
    "3.14159 2,71828 1e-9",
    "½ ² Ⅷ ① ٣ ৪",
    " ",
    "  ",
    "        ",
    "\t",
    "\t\t  \t",
    "\n",
    "\r\n",
    "\n\n\n",
    "\r\n\r\n ",
    "\u{A0}\u{2003}\u{3000}",
    "\u{200B}\u{FEFF}\0",
    "https://example.org/a?b=c&d=%20#e",
    "__init__.py::Foo<Bar<'a>>->&mut [u8; 4]",
];

/// Mixed strings, the same every time.
fn strings() -> Vec<String> {
    let mut state = 0x00C0_FFEE_u64;
    let mut next = move |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    (0..STRINGS)
        .map(|_| {
            let mut text = String::new();
            for _ in 0..=next(8) {
                let fragment = FRAGMENTS[next(FRAGMENTS.len())];
                // Often a part of it, so that boundaries fall anywhere.
                let chars: Vec<char> = fragment.chars().collect();
                let begin = if next(2) == 0 { 0 } else { next(chars.len()) };
                text.extend(&chars[begin..]);
            }
            text
        })
        .collect()
}

fn reference(path: &Path, words: Vec<PreTokenizerWrapper>) -> Tokenizer {
    let header = GgufHeader::read(path).unwrap();
    let texts = |key| {
        let strings = header.strings(key).unwrap();
        strings
            .iter()
            .map(|bytes| String::from_utf8(bytes.clone()).unwrap())
    };
    let vocab: Vocab = texts("tokenizer.ggml.tokens").zip(0..).collect();
    let merges = texts("tokenizer.ggml.merges")
        .map(|merge| {
            let (left, right) = merge.split_once(' ').unwrap();
            (left.to_owned(), right.to_owned())
        })
        .collect();
    let model = BPE::builder()
        .vocab_and_merges(vocab, merges)
        .build()
        .unwrap();
    let mut tokenizer = Tokenizer::new(model);
    tokenizer.with_pre_tokenizer(Some(Sequence::new(words)));
    tokenizer
}

fn compare(path: &Path, reference: &Tokenizer) {
    let vocabulary = ModelTokenizer::load(path).unwrap();
    let strings = strings();
    assert_eq!(strings.len(), STRINGS);
    let wrong: Vec<_> = strings
        .iter()
        .filter_map(|text| {
            let ours = vocabulary.count(text);
            let theirs = reference.encode(text.as_str(), false).unwrap().len() as u64;
            (ours != theirs).then_some((text, ours, theirs))
        })
        .collect();
    let total: u64 = strings.iter().map(|text| vocabulary.count(text)).sum();
    assert!(total > 20_000, "{total} tokens are no comparison");
    assert!(
        wrong.is_empty(),
        "{} differ: {:#?}",
        wrong.len(),
        &wrong[..wrong.len().min(5)]
    );
}

#[test]
fn g03_counts_are_those_of_the_smollm_tokenizer() {
    let path = weights(&[SMALLEST]);
    let words = vec![
        PreTokenizerWrapper::Digits(Digits::new(true)),
        PreTokenizerWrapper::ByteLevel(ByteLevel::new(false, true, true)),
    ];
    compare(&path, &reference(&path, words));
}

#[test]
fn g03_counts_are_those_of_the_qwen_tokenizer() {
    let path = weights(&QWEN);
    let pattern = SplitPattern::Regex(QWEN_WORDS.to_owned());
    let split = Split::new(pattern, SplitDelimiterBehavior::Isolated, false).unwrap();
    let words = vec![
        PreTokenizerWrapper::Split(split),
        PreTokenizerWrapper::ByteLevel(ByteLevel::new(false, false, false)),
    ];
    let mut reference = reference(&path, words);
    reference.with_normalizer(Some(NFC));
    compare(&path, &reference);
}
