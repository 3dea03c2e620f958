//! Whatever a worker of the sandbox sends is a message or none, within bounds. A question that is written down is read as the
//! same question.
#![no_main]

// The file itself: the rest of its crate, with an interpreter, would take minutes to compile with counters.
#[path = "../../../crates/fathom-sandbox/src/frames.rs"]
#[expect(dead_code, reason = "what the host sends is not read here")]
mod frames;

use fathom_core::sandbox::{CellCall, CellError, CellOutput, CellValue};
use frames::{BATCH_MAX, ERROR_BYTES_MAX, FRAME_BYTES_MAX, FromWorker, PrintedFrame};
use libfuzzer_sys::fuzz_target;
use serde_json::json;

/// Limits of output, from nothing to more than there is.
const OUTPUT_BYTES_MAX: [u32; 5] = [0, 1, 2, 65, u32::MAX];

fuzz_target!(|bytes: &[u8]| {
    // As one message, and as a stream of them.
    message(bytes);
    let mut rest = bytes;
    while let Some((length, after)) = rest.split_first_chunk() {
        let length = u32::from_be_bytes(*length) as usize;
        if length > FRAME_BYTES_MAX || length > after.len() {
            return;
        }
        let (json, after) = after.split_at(length);
        message(json);
        rest = after;
    }
});

fn message(json: &[u8]) {
    let Ok(message) = FromWorker::parse(json) else {
        return;
    };
    let cell = message.cell();
    match message {
        FromWorker::Ask { id, call, .. } => {
            assert!((1..=BATCH_MAX).contains(&call.count()));
            let call = CellCall::from(call);
            let again = written(cell, id, &call);
            match FromWorker::parse(again.as_bytes()) {
                Ok(FromWorker::Ask {
                    cell: of,
                    id: number,
                    call: read,
                }) => assert_eq!((of, number, CellCall::from(read)), (cell, id, call)),
                other => panic!("{again}: {other:?}"),
            }
        }
        FromWorker::Submit { value, .. } | FromWorker::Draft { value, .. } => {
            assert!(CellValue::from(value).text.as_str().len() <= json.len());
        }
        FromWorker::Printed { output, .. } => bounded(&output),
        FromWorker::End { output, error, .. } => {
            bounded(&output);
            let error = error.map(CellError::from);
            let length = error.map_or(0, |error| error.message.as_str().len());
            assert!(length <= ERROR_BYTES_MAX);
        }
    }
}

fn bounded(output: &PrintedFrame<'_>) {
    for bytes_max in OUTPUT_BYTES_MAX {
        let CellOutput { head, tail, bytes } = output.kept(bytes_max);
        let kept = head.as_str().len() + tail.map_or(0, |tail| tail.as_str().len());
        assert!(kept <= bytes_max as usize);
        assert!(kept as u64 <= bytes);
    }
}

/// A question as a worker would ask it.
fn written(cell: u32, id: u32, call: &CellCall) -> String {
    let call = match call {
        CellCall::Query {
            prompts,
            pattern,
            tokens_max,
        } => json!({"query": {
            "prompts": prompts.iter().map(|text| text.as_str()).collect::<Vec<_>>(),
            "pattern": pattern.as_ref().map(|text| text.as_str()),
            "tokens_max": tokens_max,
        }}),
        CellCall::Recurse { tasks } => {
            let tasks = tasks.iter().map(|task| {
                let context = task.context.as_ref();
                let context =
                    context.map(|given| json!({"form": given.form, "text": given.text.as_str()}));
                json!({"goal": task.goal.as_str(), "context": context})
            });
            json!({"recurse": {"tasks": tasks.collect::<Vec<_>>()}})
        }
        CellCall::Budget => json!("budget"),
    };
    json!({"ask": {"cell": cell, "id": id, "call": call}}).to_string()
}
