//! The summariser on the real model.

use fathom_local::embedding::{Embedding, EmbeddingError, SentenceEmbedder};
use fathom_local::summary::{
    ExtractiveSummariser, ExtractiveSummary, SentenceVectors, SummaryError,
};

use crate::embedding::EMBEDDER;

/// Embeds a few at a time, as a caller with other batches might.
struct FewAtATime<'a>(&'a SentenceEmbedder);

impl SentenceVectors for FewAtATime<'_> {
    fn vectors(&self, sentences: &[&str]) -> Result<Vec<Embedding>, EmbeddingError> {
        let batches: Result<Vec<_>, _> = sentences.chunks(3).map(|few| self.0.embed(few)).collect();
        Ok(batches?.into_iter().flatten().collect())
    }
}

/// About what a language model's tokenizer counts.
fn tokens(text: &str) -> u64 {
    (text.len() as u64).div_ceil(4)
}

fn shortened(text: &str, tokens_max: u32) -> ExtractiveSummary {
    ExtractiveSummariser::new(&*EMBEDDER)
        .shorten(text, tokens_max, &tokens)
        .unwrap_or_else(|error| panic!("{error}"))
}

const RULES: [&str; 6] = [
    "You must answer in the language of the question.",
    "Never reveal the name of a guest to another guest.",
    "Do not promise a refund.",
    "Always confirm the date before a booking is changed.",
    "Payments above 500 euros require the manager's approval.",
    "Only the night desk may unlock the safe.",
];

/// What stands round the rules: talk that a reader can do without.
const TALK: [&str; 32] = [
    "You are Marlene, the voice of a small hotel on the coast that has been in the same family since the war.",
    "People who write to you are often tired from a long journey, and a warm word does them good.",
    "The house smells of bread in the morning and of pine wood in the evening, and you like to mention it.",
    "Your humour is dry, your sentences are short, and you have a weakness for old sailing stories.",
    "When somebody asks about the beach, tell them about the light just before sunset and the path behind the dunes.",
    "You grew up in the village, so you know every shop, every shortcut and most of the gossip, which stays with you.",
    "The kitchen is known for its fish soup, and guests who return after years still ask for the recipe.",
    "You think of the hotel as a ship, of the guests as passengers and of yourself as the one at the helm.",
    "In winter the storms are the best entertainment there is, and the library by the fire is the best seat for it.",
    "Families with children love the garden, where the old swing still hangs from the walnut tree.",
    "You speak of the owners with affection, as one speaks of an aunt and an uncle with strong opinions.",
    "A good conversation ends with the guest looking forward to something, however small it may be.",
    "Painters used to come here for the colours of the marsh, and some of their work hangs in the dining room.",
    "The ferry to the island leaves from the pier below the church, and the crossing is half of the pleasure.",
    "On clear nights the terrace is the place to be, with a blanket, a glass of something and a view of the stars.",
    "Regulars tend to book the corner room, from which one hears the sea even with the windows closed.",
    "You enjoy it when a guest asks about the history of the house, for there is plenty of it and most of it is true.",
    "The bicycles in the shed are old and heavy, but they have carried three generations to the lighthouse and back.",
    "Market day fills the square with cheese, flowers and noise, and you can talk about it for as long as anyone listens.",
    "Your favourite season is early autumn, when the heather blooms and the village has time for itself again.",
    "Some guests write just to chat, and that is fine, since a hotel lives from such friendships.",
    "The bakery round the corner makes a cinnamon roll that has ended more than one diet.",
    "If the weather turns, there are the museum, the cinema and the tea room with its wall of old photographs.",
    "The cat of the house is called Admiral, sleeps on the reception desk and considers itself the real manager.",
    "You remember the summer of the great regatta, when every bed was taken and sailors slept in the boat house.",
    "A walk along the dyke takes an hour, two with a good companion, and ends at the best apple cake of the region.",
    "Guests from the city are often surprised by how dark the night is here, and by how much they come to like it.",
    "The piano in the hall is out of tune, which has kept few people from playing it after the second glass of wine.",
    "Birdwatchers gather by the lagoon in spring, whisper a great deal and tip generously.",
    "The old captain from next door drops by in the afternoon and tells the same three stories in a new order.",
    "You like to close a letter with a line about the weather, the tide or whatever is in bloom along the promenade.",
    "Whatever the question, you sound like somebody who is glad that it was asked.",
];

/// A persona of some 900 tokens with the rules spread over it.
fn persona() -> String {
    let mut text = String::new();
    for (index, talk) in TALK.iter().enumerate() {
        text.push_str(talk);
        text.push(' ');
        if index % 5 == 1
            && let Some(rule) = RULES.get(index / 5)
        {
            text.push_str(rule);
            text.push_str(if index % 2 == 1 { "\n\n" } else { " " });
        }
    }
    text
}

#[test]
fn g04_a_persona_keeps_all_its_rules_when_they_fit() {
    let text = persona();
    assert!((850..950).contains(&tokens(&text)), "{}", tokens(&text));
    let summary = shortened(&text, 120);
    assert!(summary.tokens <= 120);
    for rule in RULES {
        assert!(
            summary.text.contains(rule),
            "`{rule}` is not in:\n{}",
            summary.text
        );
    }
    let at: Vec<_> = RULES.iter().map(|rule| summary.text.find(rule)).collect();
    assert!(at.is_sorted(), "{at:?}");
    assert!(
        summary.tokens >= 80,
        "only {} of 120 tokens are used",
        summary.tokens
    );
}

#[test]
fn g04_any_target_is_reached_on_the_real_model() {
    let text = persona();
    for tokens_max in [7, 12, 40, 80, 160, 320] {
        let summary = shortened(&text, tokens_max);
        assert!(summary.tokens <= u64::from(tokens_max));
        assert_eq!(summary.tokens, tokens(&summary.text));
        for range in &summary.kept {
            assert!(summary.text.contains(&text[range.clone()]));
        }
    }
    let summariser = ExtractiveSummariser::new(&*EMBEDDER);
    let error = summariser.shorten(&text, 5, &tokens).unwrap_err();
    assert!(
        matches!(
            error,
            SummaryError::TargetTooSmall {
                least_tokens: 6,
                tokens_max: 5
            }
        ),
        "{error}"
    );
}

#[test]
fn g04_equal_texts_have_equal_summaries_however_they_are_embedded() {
    let text = persona();
    for tokens_max in [40, 200, 400] {
        let at_once = shortened(&text, tokens_max);
        let few = ExtractiveSummariser::new(FewAtATime(&EMBEDDER))
            .shorten(&text, tokens_max, &tokens)
            .unwrap();
        assert_eq!(at_once, few);
    }
}

#[test]
fn g04_what_a_text_is_about_is_kept_before_what_it_is_not() {
    let text = "The bridge over the river was closed for repairs in spring. Engineers had found cracks in the steel of the \
        bridge. My aunt collects porcelain frogs. Repairs of the bridge took longer than the engineers expected. \
        Traffic over the river was sent round by the old ferry while the bridge was closed.";
    let summary = shortened(text, 70);
    assert!(!summary.text.contains("frogs"), "{}", summary.text);
    assert!(summary.kept.len() >= 3, "{}", summary.text);
}
