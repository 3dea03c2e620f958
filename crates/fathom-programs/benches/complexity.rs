//! How long it takes to tell whether a question of two thousand words is complex.
//!
//! Not a test: it prints what it saw. `make bench` runs it.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark reads clocks and prints"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use fathom_programs::council::CouncilSeat;
use fathom_programs::council::complexity::{ComplexityDetector, DetectorConfig, TopicDomain};

const WORDS: usize = 2_000;
const SEATS: usize = 12;
const SEAT_WORDS: usize = 15;
const DOMAINS: usize = 4;
const FACTORS: usize = 30;
const ROUNDS: usize = 2_000;

/// Plain prose, from which words are drawn: what matters is how long words are and how often they are known.
const PROSE: &str = "\
The billing team has asked whether the old reports could be closed before the end of the year, and what would have to \
happen first. At the moment every night a job copies the orders of the day into a second store, from which people in \
finance build their tables by hand. Nobody likes it: the job fails twice a month, its author left in spring, and the \
store grows by a third each year. On the other hand, those tables are what the auditors know, and they were promised \
that nothing changes while they work. A new tool was tried by two people for six weeks; they say that it is faster, \
that it depends on a stable network, and that the API's limits are low. Considering cost, latency, the auth-migration \
and how tired the team is, there are several ways to go on: keep it all, move the reports alone, or move everything at \
once with a freeze of about two weeks. If we move, permissions and encryption keys have to be set up again for roughly \
four hundred users, backups need a new schedule, and the dashboards that show capacity and memory will be wrong for \
some days. Given the budget of this quarter as well as the holidays in August, is it wise to begin now?";

/// Words that lexicons are made of, with a number where there are not enough.
const TERMS: &str = "\
security auth permission permissions encryption encrypt keys users audit auditors store storage schema query orders \
tables database network api endpoint latency limits bandwidth cost budget resource capacity memory backups schedule \
freeze migration cluster pipeline archive reports dashboards finance billing holidays quarter team";

/// Draws numbers, the same in every run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % bound
    }

    fn of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }

    /// One entry in five has two words, one in two is in the prose.
    fn lexicon(&mut self, entries: usize) -> Vec<String> {
        let terms: Vec<&str> = TERMS.split(' ').collect();
        let entry = |at: usize| match at % 5 {
            0 => format!("{} {}", self.of(&terms), self.of(&terms)),
            1 | 2 => format!("{}{at}", self.of(&terms)),
            _ => self.of(&terms).to_owned(),
        };
        (0..entries).map(entry).collect()
    }
}

fn main() {
    let mut draw = Draw(7);
    let detector = DetectorConfig {
        uncertainty: draw.lexicon(20),
        factor_openers: vec!["considering".into(), "given".into(), "weighing".into()],
        factors: draw.lexicon(FACTORS),
        domains: (0..DOMAINS)
            .map(|at| TopicDomain {
                name: format!("domain {at}"),
                words: draw.lexicon(SEAT_WORDS),
            })
            .collect(),
        ..DetectorConfig::default()
    };
    let mut seat = |at: usize| CouncilSeat {
        id: format!("seat {at}"),
        lexicon: draw.lexicon(SEAT_WORDS),
        ..CouncilSeat::default()
    };
    let chief = CouncilSeat {
        id: "chief".into(),
        sub_chiefs: (0..SEATS).map(&mut seat).collect(),
        ..CouncilSeat::default()
    };
    let prose: Vec<&str> = PROSE.split(' ').collect();
    let words: Vec<&str> = (0..WORDS).map(|_| draw.of(&prose)).collect();
    let question = words.join(" ");

    let begin = Instant::now();
    let lens = ComplexityDetector::new(&detector, &[chief]);
    let making = begin.elapsed();
    let mut took: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let begin = Instant::now();
            black_box(lens.assess(black_box(&question)));
            begin.elapsed()
        })
        .collect();
    took.sort_unstable();
    let seen = lens.assess(&question).features;
    println!(
        "assessing {WORDS} words ({} bytes) against {SEATS} seats, {DOMAINS} domains and {FACTORS} factors, {ROUNDS} rounds\n\
         fastest {:>8.2?}   median {:>8.2?}   99th of 100 {:>8.2?}   wanted < 50 µs\n\
         made ready once in {making:.2?}; found {} factors, {} domains and {} seats",
        question.len(),
        took[0],
        took[ROUNDS / 2],
        took[ROUNDS * 99 / 100],
        seen.factors,
        seen.domains,
        seen.seats,
    );
}
