//! A labelled corpus: texts with personal data and secrets at known places, and texts that only look so.
//!
//! It is made from a seed and knows nothing of the recogniser: values are made by computing their check digits, not by
//! trying, and what surrounds them is written as people and programs write.

mod dates;
mod decoys;
mod records;
mod secrets;
mod values;

/// `SplitMix64`.
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap_or_default()
    }

    pub(crate) fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Characters of an alphabet.
    pub(crate) fn chars(&mut self, alphabet: &str, count: usize) -> String {
        let letters: Vec<char> = alphabet.chars().collect();
        (0..count)
            .map(|_| letters[self.below(letters.len())])
            .collect()
    }

    /// Digits, of which the first is not zero.
    pub(crate) fn digits(&mut self, count: usize) -> String {
        self.chars("123456789", 1) + &self.chars("0123456789", count - 1)
    }

    /// A pattern in which `#` is a digit, `N` one from 2 to 9, `M` from 1 to 9, `h` hexadecimal and `A` a letter.
    pub(crate) fn fill(&mut self, pattern: &str) -> String {
        pattern
            .chars()
            .map(|sign| match sign {
                '#' => self.chars("0123456789", 1),
                'N' => self.chars("23456789", 1),
                'M' => self.chars("123456789", 1),
                'h' => self.chars("0123456789abcdef", 1),
                'A' => self.chars("ABCDEFGHJKLMNPRSTWXYZ", 1),
                other => other.to_string(),
            })
            .collect()
    }
}

/// Where something stands that must be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Label {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The name of its entity.
    pub(crate) entity: &'static str,
    /// What it is in the table of figures: the entity, or a part of it.
    pub(crate) row: &'static str,
}

/// One text.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(crate) text: String,
    pub(crate) labels: Vec<Label>,
}

/// A value, and whether a word must announce it.
pub(crate) struct Value {
    pub(crate) entity: &'static str,
    pub(crate) row: &'static str,
    pub(crate) text: String,
    /// Words that announce it; with none of them, it stands alone.
    pub(crate) words: &'static [&'static str],
    pub(crate) needs_word: bool,
    /// What the value brings with it, around it: `$` stands for the value.
    pub(crate) frame: Option<String>,
}

/// How often each kind of value comes.
const OF_EACH: usize = 100;
const DECOYS: usize = 3_200;

/// Texts with values: prose, tables, logs, JSON and more, in several languages.
pub(crate) fn labelled(seed: u64) -> Vec<Sample> {
    let mut rng = Rng::new(seed);
    let mut samples = Vec::new();
    for maker in values::MAKERS {
        for _ in 0..OF_EACH {
            let value = maker(&mut rng);
            samples.push(framed(&mut rng, &value));
        }
    }
    for _ in 0..records::COUNT {
        samples.push(records::make(&mut rng));
    }
    samples
}

/// Texts in which nothing must be found.
pub(crate) fn look_alikes(seed: u64) -> Vec<Sample> {
    let mut rng = Rng::new(seed);
    (0..DECOYS)
        .map(|_| {
            let (decoy, alone) = decoys::make(&mut rng);
            let frame = if alone {
                "$".to_owned()
            } else {
                rng.pick(BARE).to_owned()
            };
            let (text, _) = put(&surround(&mut rng, &frame), &decoy);
            Sample {
                text,
                labels: Vec::new(),
            }
        })
        .collect()
}

/// Frames without a word that announces anything. `$` is the value.
const BARE: &[&str] = &[
    "Please have a look at $ before Friday.",
    "We got $ from the archive, and nobody knows why.",
    "($)",
    "\"$\"",
    "see <$>",
    "$; next",
    "value=$",
    "- $",
    "* item 3: $",
    "| 17 | $ | open |",
    "|$|",
    "17,$,open",
    "17;$;open",
    "open\t$\t17",
    "{\"row\": 17, \"value\": \"$\"}",
    "{\"values\":[\"$\"]}",
    "value: '$'",
    "<td>$</td>",
    "2026-03-04T12:33:21Z INFO worker=7 seen=$ took=12ms",
    "Mar  4 12:33:21 host app[4711]: got $ and went on",
    "[12:33:21] $",
    "Siehe $, bitte.",
    "Merci de vérifier $ avant lundi.",
    "Revisar $ mañana.",
    "Controllare $ domani.",
    "Kijk naar $ alstublieft.",
    "Proszę sprawdzić $ jutro.",
    "Favor conferir $ hoje.",
    "$",
    "Is it $?",
    "It is $!",
    "→ $ ←",
    "„$“",
    "id,value,state\n17,\"$\",open\n",
    "<entry id=\"17\" value=\"$\"/>",
    "level=info worker=7 seen=$ took=12ms",
    "seq 17 $ 4 ok",
    "INSERT INTO t VALUES (17, '$', NULL);",
    "- a: 1\n- b: $\n- c: 3",
    "/search?q=$&page=2",
    "`$`",
    "**$**",
    "$, $5.00 and more",
    "Se $ för mer.",
    "Bkz. $ lütfen.",
    "Смотрите $ завтра.",
    "Δείτε $ αύριο.",
    "请查看$，谢谢。",
    "これは$です。",
    "확인: $입니다.",
    "{\"a\":{\"b\":[1,2,{\"c\":\"$\"}]}}",
    "W0304 12:33:21.145 4711 main.rs:12] got $",
    "+---+\n| 3 | $ |\n+---+",
];

/// Frames with a word. `@` is the word.
const WITH_WORD: &[&str] = &[
    "@: $",
    "@ $",
    "My @ is $.",
    "Her @ was $, as far as I know.",
    "Meine @ ist $.",
    "Mon @ : $",
    "Mi @ es $.",
    "{\"@\": \"$\"}",
    "{\"name\": \"A\", \"@\":\"$\", \"n\": 3}",
    "@=$",
    "@ = '$'",
    "| @ | $ |",
    "| 3 | @: $ | ok |",
    "@;$",
    "@\t$",
    "<b>@</b>: $",
    "2026-03-04 12:33:21 INFO @=$ took=12ms",
    "$ (@)",
    "The @ on file: $",
    "Il suo @ è $.",
    "Haar @ is $.",
    "Jego @ to $.",
    "O @ dela é $.",
    "Hans @ är $.",
    "level=info @=$ took=12ms",
    "@,state\n$,open\n",
    "<@>$</@>",
    "- @: $\n- state: open",
    "@:\n  $",
    "{\"person\":{\"@\":\"$\",\"active\":true}}",
];

/// What may stand before and after, so that a value is not always alone.
const LEADS: &[&str] = &[
    "",
    "",
    "",
    "Dear team,\n",
    "Order 4 of 12. ",
    "# Notes\n\n",
    "We met in 2019 and paid 1.250,00 EUR. ",
    "v2.14.0: ",
    "Grüße aus Köln — ",
    "日本語のテキスト。",
];
const TRAILS: &[&str] = &[
    "",
    "",
    "",
    "\n",
    " Thanks!",
    "\nRegards, the team",
    " (page 12 of 40)",
    "\n\n2026-01-02",
    " 🙂",
];

fn framed(rng: &mut Rng, value: &Value) -> Sample {
    let frame = match &value.frame {
        Some(frame) => frame.clone(),
        None if value.needs_word || (!value.words.is_empty() && rng.chance(40)) => {
            let word = rng.pick(value.words);
            let frame = rng.pick(WITH_WORD);
            let frame = frame.replacen('$', "\u{1}", 1).replace('@', word);
            frame.replacen('\u{1}', "$", 1)
        }
        None => rng.pick(BARE).to_owned(),
    };
    let frame = surround(rng, &frame);
    let (text, start) = put(&frame, &value.text);
    Sample {
        text,
        labels: vec![Label {
            start,
            end: start + value.text.len(),
            entity: value.entity,
            row: value.row,
        }],
    }
}

fn surround(rng: &mut Rng, frame: &str) -> String {
    format!("{}{frame}{}", rng.pick(LEADS), rng.pick(TRAILS))
}

/// Puts a value in the place of `$`.
fn put(frame: &str, value: &str) -> (String, usize) {
    let start = frame.find('$').unwrap_or(frame.len());
    let (before, after) = frame.split_at(start);
    let after = after.strip_prefix('$').unwrap_or(after);
    (format!("{before}{value}{after}"), start)
}
