use super::route;
use crate::rlm::config::{MaterialItem, MaterialSource};
use crate::rlm::material_fields::{MaterialField, MaterialFields};
use crate::rlm::recipe::Recipe;
use fathom_core::id::Digest;
use fathom_core::sandbox::ValueFormat;

fn given(name: &str) -> MaterialItem {
    MaterialItem {
        name: name.to_owned(),
        form: ValueFormat::Text,
        bytes: 0,
        chars: 0,
        lines: 0,
        preview: String::new(),
        digest: Digest::default(),
        place: MaterialSource::Passed,
    }
}

fn field(name: &str, is_number: bool, values: &[&str]) -> MaterialField {
    MaterialField {
        name: name.to_owned(),
        is_number,
        values: values.iter().map(|&value| value.to_owned()).collect(),
    }
}

fn tickets() -> MaterialFields {
    MaterialFields {
        fields: vec![
            field("id", true, &[]),
            field("category", false, &["billing", "delivery", "login"]),
            field("priority", false, &["low", "normal", "high"]),
            field("minutes", true, &["54", "12"]),
            field("column 3", false, &["INFO", "ERROR", "for"]),
        ],
    }
}

fn count(field: &str, value: &str) -> Recipe {
    let (field, value) = (field.to_owned(), value.to_owned());
    Recipe::CountByField { field, value }
}

fn aggregate(op: &str, by: &str) -> Recipe {
    Recipe::Aggregate {
        field: "minutes".to_owned(),
        op: op.to_owned(),
        by: by.to_owned(),
    }
}

fn summary(bullets: u8) -> Recipe {
    Recipe::MapReduceSummary { bullets }
}

#[test]
fn plain_questions_are_decided_and_others_are_not() {
    let find = || Some(Recipe::Find { keywords: vec![] });
    let read = || Some(Recipe::FilterThenRead { keywords: vec![] });
    let cases = [
        (
            "How many tickets are there in each category?",
            Some(count("category", "")),
        ),
        (
            "How many tickets are there per category?",
            Some(count("category", "")),
        ),
        ("Count the tickets by priority", Some(count("priority", ""))),
        (
            "Which categories are most common?",
            Some(count("category", "")),
        ),
        (
            "How many billing tickets are there?",
            Some(count("category", "billing")),
        ),
        (
            "How many tickets have the category login?",
            Some(count("category", "login")),
        ),
        (
            "How many ERROR lines are there?",
            Some(count("column 3", "ERROR")),
        ),
        (
            "What is the average of minutes?",
            Some(aggregate("mean", "")),
        ),
        (
            "total minutes by category",
            Some(aggregate("sum", "category")),
        ),
        ("What is the highest minutes?", Some(aggregate("max", ""))),
        ("Summarise it in three bullets", Some(summary(3))),
        ("Give me an overview", Some(summary(5))),
        ("What is the password of rack 12?", find()),
        ("What is the highest pressure of the valve?", find()),
        ("Who took parcel 4?", find()),
        ("Why did the build fail?", read()),
        (
            "Which tickets contradict each other?",
            Some(Recipe::Pairwise {}),
        ),
        (
            "Find pairs of tickets about the same fault",
            Some(Recipe::Pairwise {}),
        ),
        ("List the duplicates", Some(Recipe::Pairwise {})),
        ("What did the pilots tell each other?", find()),
        (
            "How many tickets are about trouble with signing in?",
            Some(Recipe::ClassifyEach {
                label: "trouble with signing in".to_owned(),
            }),
        ),
        ("How many tickets about a delivery are there?", None),
        // Meanings, several conditions, nothing that is written down.
        ("How many tickets are complaints?", None),
        ("How many tickets mention a late delivery?", None),
        ("How many high priority billing tickets are there?", None),
        ("How many customers are angry?", None),
        ("How many lines are there for web?", None),
        ("What is the average of minutes for billing?", None),
        (
            "What is the average of minutes of tickets that Anna closed?",
            None,
        ),
        ("How many tickets are not billing?", None),
        ("How many billing tickets were opened after March?", None),
        ("How many high priority tickets are about refunds?", None),
        ("What does the executive summary say about revenue?", find()),
        ("What is the gist of this file?", Some(summary(5))),
        ("Is the contract valid?", None),
        ("", None),
    ];
    for (question, expected) in cases {
        assert_eq!(
            route(question, &[given("t")], &tickets()),
            expected,
            "{question}"
        );
    }
}

/// A condition that no count of one value would heed is left to the model.
#[test]
fn a_question_that_says_more_than_a_value_is_not_decided() {
    let paid = || Some(count("status", "paid"));
    let orders = MaterialFields {
        fields: vec![
            field("status", false, &["paid", "open"]),
            field("total", true, &["20", "30"]),
        ],
    };
    let cases = [
        ("How many orders were paid?", paid()),
        ("How many paid orders do I have in this file?", paid()),
        ("How many shop orders have the status paid?", paid()),
        ("What is the number of paid entries in shop.csv?", paid()),
        ("How many orders were paid in March?", None),
        ("How many orders were paid in 2024?", None),
        ("How many orders were not paid?", None),
        ("How many orders were paid by Ada?", None),
        ("How many paid orders are in group A?", None),
        ("How many large orders were paid?", None),
        ("How many refunds were paid?", None),
        ("How many different statuses are there?", None),
        (
            "How many different status values are there?",
            Some(count("status", "")),
        ),
        ("How many orders of March are there per status?", None),
        ("How many different orders were paid?", None),
    ];
    for (question, expected) in cases {
        assert_eq!(
            route(question, &[given("data/shop.csv")], &orders),
            expected,
            "{question}"
        );
    }
}

#[test]
fn two_pieces_are_compared() {
    let two = [given("a.txt"), given("b.txt")];
    let question = "How did the time for payment change?";
    let compare = Recipe::Compare {
        a: "a.txt".to_owned(),
        b: "b.txt".to_owned(),
    };
    assert_eq!(
        route(question, &two, &MaterialFields::default()),
        Some(compare)
    );
    let read = Recipe::FilterThenRead { keywords: vec![] };
    assert_eq!(
        route(question, &two[..1], &MaterialFields::default()),
        Some(read)
    );
}
