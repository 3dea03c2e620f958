//! Texts with everything in them that a parser of blocks may trip over, the same for the same seed, and ways to cut them.

use std::iter;

/// Random numbers of a seed.
pub(super) struct Draw(u64);

impl Draw {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `bound`.
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        usize::try_from(z % bound as u64).unwrap()
    }

    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }
}

const MARKERS: [&str; 8] = [
    "PLAN:",
    "EXECUTE:",
    "RESPONSE:",
    "THOUGHT_SEED:",
    "THOUGHT_SEED:",
    "THOUGHT_SEED:",
    "INTERRUPT:",
    "VERIFY:",
];
const NEARLY: [&str; 10] = [
    "PLAN",
    "PLA",
    "EXECUTE :",
    "RESPONS:",
    "THOUGHT_",
    "THOUGHT_SEEDS:",
    " PLAN:",
    "VERIFY；",
    "I",
    "plan:",
];
const FENCES: [&str; 10] = [
    "```", "~~~", "````", "  ```", "    ```", "```sh", "``` a`b", "``", "~~~ x", "```\t",
];
const WORDS: [&str; 12] = [
    "ls -la",
    "a",
    "Größe",
    "日本語",
    "🦀🏳️‍🌈",
    "e\u{301}",
    "`code`",
    ": ",
    "\r",
    "\t",
    "  ",
    "0.87",
];
const ENDS: [&str; 6] = ["\n", "\n", "\n", "\r\n", "\r\n", ""];

/// A text of up to a few dozen lines; one in twenty has a long line too.
pub(super) fn text(draw: &mut Draw) -> String {
    let mut text = String::new();
    for _ in 0..=draw.below(24) {
        match draw.below(10) {
            0..=2 => text.push_str(draw.pick(&MARKERS)),
            3 => text.push_str(draw.pick(&NEARLY)),
            4 => text.push_str(draw.pick(&FENCES)),
            5 | 6 => {
                text.push_str(draw.pick(&["\n", "\r\n", " \n"]));
                continue;
            }
            _ => {}
        }
        for _ in 0..draw.below(4) {
            text.push_str(draw.pick(&[" ", "", "\t"]));
            text.push_str(draw.pick(&WORDS));
        }
        text.push_str(draw.pick(&ENDS));
    }
    if draw.below(20) == 0 {
        text.push_str(&draw.pick(&["long ", "`", "~", "P"]).repeat(200));
    }
    text
}

pub(super) fn every_split_in_two(text: &str) -> impl Iterator<Item = [&str; 2]> {
    let places = (0..=text.len()).filter(|at| text.is_char_boundary(*at));
    places.map(|at| text.split_at(at).into())
}

/// Chunks of so many bytes, or a few more where a character would be cut.
pub(super) fn fixed(text: &str, bytes: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    iter::from_fn(move || {
        let (chunk, after) = rest.split_at(rest.ceil_char_boundary(bytes));
        rest = after;
        (!chunk.is_empty()).then_some(chunk)
    })
}

/// Seven chunks, some of them empty.
pub(super) fn seven<'a>(text: &'a str, draw: &mut Draw) -> Vec<&'a str> {
    let mut places: Vec<usize> = (0..6)
        .map(|_| text.ceil_char_boundary(draw.below(text.len() + 1)))
        .collect();
    places.sort_unstable();
    let mut chunks = Vec::new();
    let mut from = 0;
    for to in places.into_iter().chain([text.len()]) {
        chunks.push(&text[from..to]);
        from = to;
    }
    chunks
}
