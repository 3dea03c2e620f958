use super::*;
use crate::redact::rules::RedactRules;

fn masked(text: &str) -> Vec<String> {
    let rules =
        RedactRules::parse("format = 1\nversion = \"1\"\n[profanity]\nallow = [\"shitty\"]\n")
            .unwrap();
    let profanity = ProfanityFilter::new(&rules.profanity).unwrap().unwrap();
    let edits = profanity.edits(text);
    edits
        .iter()
        .map(|edit| text[edit.start..edit.end].to_owned())
        .collect()
}

#[test]
fn whole_words_with_endings_and_signs() {
    for word in [
        "shit", "SHIT", "sh1t", "$hit", "fucking", "fuckers", "b1tches", "@sshole",
    ] {
        assert_eq!(masked(&format!("you {word}, there")), [word], "{word}");
    }
    assert_eq!(masked("what shit!"), ["shit"]);
}

#[test]
fn other_words_are_left_alone() {
    for text in [
        "Scunthorpe",
        "shiitake",
        "class",
        "mishit",
        "shitake mushrooms",
        "455 5417",
        "shitty",
        "the A55",
        "5#17",
    ] {
        assert_eq!(masked(text), Vec::<String>::new(), "{text}");
    }
}
