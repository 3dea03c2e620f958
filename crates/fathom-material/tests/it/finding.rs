use std::sync::Arc;
use std::sync::atomic::Ordering;

use fathom_material::{
    BoxedEmbedError, EmbedProgress, GatheredMaterial, MaterialDocument, MaterialError, Passage,
    PassageIndex, PassageQuery, SemanticIndex, TextEmbedder, VectorKey, VectorStore as _,
};

use crate::toy::{Memory, Toy};

const QUESTION: &str = "Should we move the database?";

fn count(text: &str) -> usize {
    text.split_whitespace().count()
}

fn gathered(documents: &[(&str, String)]) -> GatheredMaterial {
    GatheredMaterial {
        documents: documents
            .iter()
            .map(|(name, text)| MaterialDocument::new(*name, text.as_str()))
            .collect(),
        skipped: Vec::new(),
    }
}

fn toy() -> SemanticIndex {
    SemanticIndex::new(Arc::new(Toy::default()))
}

fn library(documents: &[(&str, String)], meaning: Option<SemanticIndex>) -> PassageIndex {
    PassageIndex::index(&gathered(documents), meaning, &mut |_| {}).unwrap()
}

fn find(library: &PassageIndex, focus: &str, lexicon: &[&str], tokens_max: usize) -> Vec<Passage> {
    let lexicon: Vec<String> = lexicon.iter().map(|&word| word.to_owned()).collect();
    let query = PassageQuery {
        question: QUESTION,
        focus,
        lexicon: &lexicon,
    };
    library.find(&query, tokens_max, &count).unwrap()
}

/// A paragraph that is long enough to stand by itself.
fn paragraph(sentence: &str, times: usize) -> String {
    vec![sentence; times].join(" ")
}

fn bakery(paragraphs: usize) -> String {
    let filler = |n: usize| {
        paragraph(
            &format!("Loaf number {n} left the oven of shop {n} with a fine crust of flour."),
            4,
        )
    };
    (0..paragraphs).map(filler).collect::<Vec<_>>().join("\n\n")
}

const PLANT: &str = "If we move the database before the password change, security suffers. The password of the old server is \
                     known to many, and the move would carry it along. Wait until every person has a password of their own, \
                     and look at the security of the backups as well, which nobody has done yet.";
const PARAPHRASE: &str = "An intruder could read all records while we carry them to the other building. Put a lock on the van, \
                          and let two people go along with it, since what we hold is worth a great deal to others. Nobody has \
                          thought of this so far, and the insurance does not pay for it in any case.";

#[test]
fn c03_the_passage_is_found_wherever_it_stands_with_its_line() {
    for place in [0, 7, 30, 59] {
        let mut paragraphs: Vec<String> = bakery(60).split("\n\n").map(str::to_owned).collect();
        paragraphs.insert(place, PLANT.to_owned());
        let text = paragraphs.join("\n\n");
        for meaning in [None, Some(toy())] {
            let library = library(&[("docs/plan.md", text.clone())], meaning);
            let found = find(&library, "Security.", &["password"], 120);
            assert_eq!(found[0].text, PLANT);
            assert_eq!(&*found[0].source, "docs/plan.md");
            assert_eq!(found[0].first_line as usize, place * 2 + 1);
            assert!(
                found.len() < 4,
                "never the whole, and never its beginning: {found:?}"
            );
        }
    }
}

#[test]
fn c03_other_words_for_the_same_are_found_by_meaning_alone() {
    let text = format!("{}\n\n{PARAPHRASE}\n\n{}", bakery(30), bakery(20));
    let documents = [("plan.txt", text)];
    let has = |found: &[Passage]| found.iter().any(|passage| passage.text == PARAPHRASE);
    assert!(has(&find(
        &library(&documents, Some(toy())),
        "Security.",
        &["password"],
        120
    )));
    assert!(!has(&find(
        &library(&documents, None),
        "Security.",
        &["password"],
        120
    )));
}

#[test]
fn c03_each_point_of_view_gets_its_own() {
    let money = "What it would cost to move the database is in the budget of May. The budget holds for this year, and the cost \
                 of the move is a third of it. Whoever wants to spend more than that must ask the board, which meets in June \
                 and again in the autumn, when the figures of the summer are known.";
    let text = [
        bakery(20),
        PLANT.to_owned(),
        bakery(10),
        money.to_owned(),
        bakery(5),
    ]
    .join("\n\n");
    let library = library(&[("plan.txt", text)], Some(toy()));
    assert_eq!(
        find(&library, "Security.", &["password", "security"], 80)[0].text,
        PLANT
    );
    assert_eq!(
        find(&library, "Money.", &["cost", "budget"], 80)[0].text,
        money
    );
}

#[test]
fn c03_what_has_nothing_to_do_with_it_is_not_given() {
    let library = library(&[("bread.txt", bakery(50))], Some(toy()));
    assert_eq!(find(&library, "Security.", &["password"], 400), []);
}

#[test]
fn c03_the_cap_holds_for_what_is_said() {
    let part = |n: usize| {
        format!(
            "## Database {n}\n\n{} in {n} steps.",
            paragraph("We move the database of the town hall", n % 7 + 3)
        )
    };
    let text = (0..80).map(part).collect::<Vec<_>>().join("\n\n");
    let library = library(&[("a.md", text)], Some(toy()));
    for tokens_max in [1, 20, 60, 150, 400] {
        let found = find(&library, "", &[], tokens_max);
        let said: usize = found.iter().map(|passage| count(&passage.said())).sum();
        assert!(said <= tokens_max, "{said} of {tokens_max}");
        assert_eq!(found.is_empty(), tokens_max == 1);
    }
}

#[test]
fn c03_a_passage_over_the_cap_is_cut_at_a_sentence_and_marked() {
    let library = library(&[("a.txt", format!("{PLANT}\n\n{}", bakery(3)))], None);
    let found = find(&library, "Security.", &["password"], 20);
    assert_eq!(found.len(), 1);
    assert_eq!(
        found[0].text,
        format!(
            "If we move the database before the password change, security suffers.{}",
            Passage::CUT
        )
    );
}

#[test]
fn c03_copies_do_not_fill_the_cap() {
    let copies: Vec<String> = (0..5)
        .map(|n| PLANT.replace("many", &format!("{n} people")))
        .collect();
    let text = [copies.join("\n\n"), PARAPHRASE.to_owned(), bakery(20)].join("\n\n");
    let found = find(
        &library(&[("a.txt", text)], Some(toy())),
        "Security.",
        &["password"],
        130,
    );
    let texts: Vec<&str> = found.iter().map(|passage| passage.text.as_str()).collect();
    assert_eq!(texts, [copies[0].as_str(), PARAPHRASE]);
}

#[test]
fn c03_of_several_passages_never_all() {
    let text = format!("{PLANT}\n\n{PARAPHRASE}");
    let found = find(
        &library(&[("a.txt", text)], Some(toy())),
        "Security.",
        &["password"],
        4000,
    );
    assert_eq!(found.len(), 1);
    let found = find(
        &library(&[("a.txt", PLANT.to_owned())], None),
        "Security.",
        &["password"],
        4000,
    );
    assert_eq!(found.len(), 1, "one passage is all there is");
}

#[test]
fn c03_vectors_are_computed_once() {
    let embed = Arc::new(Toy::default());
    let kept = Arc::new(Memory::default());
    let meaning = SemanticIndex::new(embed.clone()).kept_in(kept.clone());
    let documents = gathered(&[("a.txt", bakery(100)), ("copy.txt", bakery(100))]);
    let mut told = Vec::new();
    PassageIndex::index(&documents, Some(meaning.clone()), &mut |progress| {
        told.push(progress);
    })
    .unwrap();
    assert_eq!(
        embed.embedded.load(Ordering::Relaxed),
        100,
        "the copy is the same"
    );
    assert_eq!(
        told,
        [64, 100].map(|done| EmbedProgress { done, total: 100 })
    );

    told.clear();
    PassageIndex::index(&documents, Some(meaning), &mut |progress| {
        told.push(progress);
    })
    .unwrap();
    assert_eq!(embed.embedded.load(Ordering::Relaxed), 100);
    assert_eq!(told, []);

    let keys: Vec<VectorKey> = kept.0.lock().unwrap().keys().copied().collect();
    assert!(kept.get(&keys).iter().all(Option::is_some));
    assert_ne!(
        VectorKey::new("toy", "text"),
        VectorKey::new("other", "text")
    );
}

#[test]
fn c03_vectors_of_another_kind_that_were_kept_are_computed_again() {
    let kept = Arc::new(Memory::default());
    let documents = gathered(&[("a.txt", bakery(3))]);
    let meaning = toy().kept_in(kept.clone());
    PassageIndex::index(&documents, Some(meaning.clone()), &mut |_| {}).unwrap();
    kept.0
        .lock()
        .unwrap()
        .values_mut()
        .for_each(|vector| *vector = vec![f32::NAN; 7]);
    let mut told = 0;
    PassageIndex::index(&documents, Some(meaning), &mut |progress| {
        told = progress.total;
    })
    .unwrap();
    assert_eq!(told, 3);
}

struct Broken(Vec<Vec<f32>>);

impl TextEmbedder for Broken {
    fn model(&self) -> &'static str {
        "broken"
    }

    fn embed(&self, _: &[&str]) -> Result<Vec<Vec<f32>>, BoxedEmbedError> {
        if self.0.is_empty() {
            Err("no weights".into())
        } else {
            Ok(self.0.clone())
        }
    }
}

#[test]
fn an_embedding_model_that_fails_is_an_error() {
    let code = |vectors: &[&[f32]]| {
        let vectors = vectors.iter().map(|vector| vector.to_vec()).collect();
        let meaning = SemanticIndex::new(Arc::new(Broken(vectors)));
        let documents = gathered(&[
            ("a.txt", PLANT.to_owned()),
            ("b.txt", PARAPHRASE.to_owned()),
        ]);
        let error = PassageIndex::index(&documents, Some(meaning), &mut |_| {}).unwrap_err();
        assert!(!error.hint().is_empty());
        matches!(
            error,
            MaterialError::Embedding { .. } | MaterialError::BadVectors { .. }
        )
        .then(|| error.code())
    };
    assert_eq!(code(&[]), Some("F0707"));
    assert_eq!(code(&[&[1.0]]), Some("F0708"));
    assert_eq!(code(&[&[1.0], &[1.0, 2.0]]), Some("F0708"));
    assert_eq!(code(&[&[1.0], &[f32::NAN]]), Some("F0708"));
    assert_eq!(code(&[&[], &[]]), Some("F0708"));
}
