use super::*;
use fathom_core::model::failure::FailureKind;
use fathom_store::channels::ChannelStoreError;
use fathom_store::records::RecordStoreError;

fn run() -> RunId {
    crate::view::run_tests::run_id()
}

fn all() -> Vec<CliError> {
    let io = || io::Error::from(io::ErrorKind::NotFound);
    vec![
        CliError::NoQuestion { command: "council" },
        CliError::OverCap {
            what: "--max-depth".into(),
            value: 9,
            cap: 4,
        },
        CliError::BadValue {
            what: "--budget".into(),
            value: "x".into(),
            why: "expected KEY=VALUE, such as `tokens=20000`, found `x`".into(),
        },
        CliError::NoScript {
            file: "gone.jsonl".into(),
            source: io(),
        },
        CliError::OutOfReach {
            run: run(),
            short: "0199c2f4".into(),
            failure: Box::new(ModelFailure::unsent(
                FailureKind::Connection,
                "nobody \u{1b}[1mlistens",
            )),
        },
        CliError::Interrupted {
            run: run(),
            short: "0199c2f4".into(),
        },
        CliError::Run {
            run: run(),
            error: HostError::ConfigUnreadable {
                file: "f".into(),
                source: io(),
            },
        },
        CliError::Bug {
            what: "internal error: x".into(),
        },
    ]
}

#[test]
fn x08_every_error_has_code_causes_and_hint() {
    let text: Vec<String> = all()
        .iter()
        .map(|error| {
            let lines: Vec<String> = error.lines().iter().map(StyledLine::plain).collect();
            format!("exit {}\n{}", error.exit().code(), lines.join("\n"))
        })
        .collect();
    insta::assert_snapshot!(text.join("\n\n"));
}

#[test]
fn x08_errors_as_json_carry_code_message_hint_and_run() {
    for error in all() {
        let json = serde_json::to_value(error.json()).unwrap();
        assert_eq!(json["error"]["code"], error.code());
        assert_eq!(json["error"]["message"], error.to_string());
        assert_eq!(json["error"]["hint"], error.hint());
        assert_eq!(json.get("run").is_some(), error.run().is_some());
    }
}

#[test]
fn x08_a_store_that_cannot_be_used_is_out_of_reach() {
    let (found, known) = (9, 1);
    let channels = ChannelStoreError::NewerFormat { found, known };
    let records = RecordStoreError::NewerFormat { found, known };
    for error in [HostError::from(channels), HostError::from(records)] {
        assert_eq!(CliError::from(error).exit(), ExitStatus::Unreachable);
    }
}
