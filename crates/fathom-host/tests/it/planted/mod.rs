//! What a seat needs is found wherever it stands in two megabytes of other things.

mod corpus;
mod plants;
mod topics;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use fathom_host::material::meaning;
use fathom_local::embedding::SentenceEmbedder;
use fathom_material::{
    GatheredMaterial, MaterialDocument, PassageIndex, PassageQuery, SemanticIndex, VectorKey,
    VectorStore,
};

use corpus::{Chance, Paper, papers};
use plants::{QUESTION, SEATS, SeatPlants, TUNED};

use crate::weights::folder;

const SEEDS: u64 = 100;
const CORPUS_BYTES: usize = 2_000_000;

/// The rest is standing text that every paper repeats, and that is embedded once.
const OWN_BYTES: usize = 400_000;

/// What a seat may be given: as the charter has it, and with the embedded model.
const TOKENS_MAX: usize = 1_200;
const LOCAL_TOKENS_MAX: usize = 400;

/// As many tokens as the tokenizers of small models make of English prose.
fn count(text: &str) -> usize {
    text.len().div_ceil(4)
}

/// A file of weights. A test that cannot find it fails: skipping it would show nothing.
fn weight(name: &str) -> PathBuf {
    let path = folder().join(name);
    assert!(
        path.is_file(),
        "`{}` is not found: `make test` pulls the weights, FATHOM_TEST_WEIGHTS names another folder",
        path.display()
    );
    path
}

fn library(papers: &[Paper], meaning: &SemanticIndex) -> PassageIndex {
    let gathered = GatheredMaterial {
        documents: papers
            .iter()
            .map(|paper| MaterialDocument::new(paper.name.as_str(), paper.text()))
            .collect(),
        skipped: Vec::new(),
    };
    PassageIndex::index(&gathered, Some(meaning.clone()), &mut |_| {})
        .expect("the corpus is indexed")
}

/// Keeps vectors as long as a test runs, so that the papers are embedded once.
#[derive(Default)]
struct InMemory(Mutex<HashMap<VectorKey, Vec<f32>>>);

impl VectorStore for InMemory {
    fn get(&self, keys: &[VectorKey]) -> Vec<Option<Vec<f32>>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        keys.iter().map(|key| kept.get(key).cloned()).collect()
    }

    fn put(&self, vectors: &[(VectorKey, Vec<f32>)]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(vectors.iter().cloned());
    }
}

/// In how many seeds each seat got what was planted for it.
#[derive(Debug)]
struct Score {
    /// With the room that the charter gives.
    whole: Vec<u64>,
    /// With the room that the embedded model has.
    local: Vec<u64>,
}

/// The seat that got least.
fn least(seats: &[u64]) -> u64 {
    seats.iter().copied().min().unwrap_or_default()
}

/// Puts a passage for each seat anywhere into the papers, and sees who gets it.
fn score(
    papers: &[Paper],
    meaning: &SemanticIndex,
    plants: fn(&SeatPlants) -> Vec<&'static str>,
) -> Score {
    let mut score = Score {
        whole: vec![0; SEATS.len()],
        local: vec![0; SEATS.len()],
    };
    for seed in 0..SEEDS {
        let mut chance = Chance::new(1000 + seed);
        let mut papers = papers.to_vec();
        let mut planted = Vec::new();
        for seat in &SEATS {
            let variants = plants(seat);
            let plant = variants[chance.below(variants.len())];
            let at = chance.below(papers.len());
            let paragraphs = &mut papers[at].paragraphs;
            let place = 1 + chance.below(paragraphs.len());
            paragraphs.insert(place, plant.to_owned());
            planted.push(plant);
        }
        let library = library(&papers, meaning);
        for (index, (seat, plant)) in SEATS.iter().zip(planted).enumerate() {
            score.whole[index] += u64::from(gets(&library, seat, plant, TOKENS_MAX));
            score.local[index] += u64::from(gets(&library, seat, plant, LOCAL_TOKENS_MAX));
        }
    }
    score
}

fn gets(library: &PassageIndex, seat: &SeatPlants, plant: &str, tokens_max: usize) -> bool {
    let lexicon: Vec<String> = seat.lexicon.split(", ").map(str::to_owned).collect();
    let query = PassageQuery {
        question: QUESTION,
        focus: seat.focus,
        lexicon: &lexicon,
    };
    let found = library
        .find(&query, tokens_max, &count)
        .expect("the library is searched");
    let tokens: usize = found.iter().map(|passage| count(&passage.said())).sum();
    assert!(tokens <= tokens_max, "{tokens} tokens for {}", seat.seat);
    found.iter().any(|passage| passage.text.contains(plant))
}

#[test]
fn c03_planted_passages_reach_their_seats() {
    let embedder = SentenceEmbedder::load(
        &weight("minilm.safetensors"),
        &weight("minilm-tokenizer.json"),
    )
    .expect("the embedding model is loaded");
    let meaning = meaning(Arc::new(embedder), None).kept_in(Arc::new(InMemory::default()));
    let papers = papers(7, OWN_BYTES, CORPUS_BYTES);
    let bytes: usize = papers.iter().map(|paper| paper.text().len()).sum();
    assert!(bytes >= CORPUS_BYTES);

    let lexical = score(&papers, &meaning, |seat| seat.lexical.to_vec());
    let paraphrased = score(&papers, &meaning, |seat| seat.paraphrased[..TUNED].to_vec());
    let unseen = score(&papers, &meaning, |seat| {
        [&seat.paraphrased[TUNED..], &seat.fresh].concat()
    });

    for caps in [&lexical.local, &lexical.whole] {
        assert!(least(caps) * 100 >= SEEDS * 95, "{lexical:?}");
    }
    for caps in [&paraphrased.local, &paraphrased.whole, &unseen.whole] {
        assert!(
            least(caps) * 100 >= SEEDS * 85,
            "{paraphrased:?} {unseen:?}"
        );
    }
    // Where a seat gets a third of the room, single ones of what nothing was tuned on do not reach theirs.
    let plants = SEEDS * SEATS.len() as u64;
    let found: u64 = unseen.local.iter().sum();
    assert!(found * 100 >= plants * 85, "{unseen:?}");
    assert!(least(&unseen.local) * 100 >= SEEDS * 65, "{unseen:?}");
}

/// The paraphrases are what they are called: they share hardly a word with the question or their seat.
#[test]
fn c03_paraphrases_share_hardly_a_word() {
    for seat in &SEATS {
        let about = format!("{QUESTION} {}", seat.lexicon);
        for plant in seat.paraphrased.iter().chain(&seat.fresh) {
            let shared: HashSet<String> = long_words(plant)
                .intersection(&long_words(&about))
                .cloned()
                .collect();
            assert!(shared.len() <= 1, "{}: {shared:?}", seat.seat);
        }
        for plant in seat.lexical {
            let shared = long_words(plant).intersection(&long_words(&about)).count();
            assert!(shared >= 4, "{}: {shared}", seat.seat);
        }
    }
}

/// Words that carry something, in lower case.
fn long_words(text: &str) -> HashSet<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.len() > 3)
        .map(str::to_lowercase)
        .filter(|word| !["this", "should"].contains(&word.as_str()))
        .collect()
}
