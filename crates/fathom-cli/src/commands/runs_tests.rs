use super::*;

fn id(text: &str) -> RunId {
    text.parse().unwrap()
}

#[test]
fn x01_the_table_leaves_out_columns_where_there_is_no_room() {
    use fathom_core::episode::result::EpisodeStatus;
    use fathom_core::id::Epoch;
    use fathom_store::RunState;
    let listed = |run: &str, status: &str, question: Option<&str>| ListedRun {
        info: RunInfo {
            run: id(run),
            epoch: Epoch(1),
            state: RunState::Finished(EpisodeStatus::Ok),
            program: "direct".into(),
            model: "openai/qwen3-32b".into(),
            created_at: Timestamp(1_000_000),
            updated_at: Timestamp(1_000_000),
            events: 3,
            episodes: 1,
            model_calls: 2,
            started_by: None,
        },
        short: run[..13].to_owned(),
        status: status.into(),
        tokens: 2_140,
        money: Nanodollars(1_234_567),
        question: question.map(str::to_owned),
    };
    let listed = [
        listed(
            "0199c2f4-1a2b-7000-8000-000000000001",
            "needs_review",
            Some("Should we move the customer\ndatabase before the \u{1b}[31mauth migration?"),
        ),
        listed("0199c2f4-1a2c-7000-8000-000000000001", "ok", None),
    ];
    let mut pictures = Vec::new();
    for width in [40, 60, 80, 120] {
        for line in table(Timestamp(1_250_000), &listed, width) {
            assert!(line.columns() <= width);
            pictures.push(line.plain());
        }
    }
    insta::assert_snapshot!(pictures.join("\n"));
}
