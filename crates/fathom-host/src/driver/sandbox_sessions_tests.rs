use fathom_core::id::{Epoch, Seq};
use fathom_core::journal::event::{Event, JournalRecord};
use fathom_core::sandbox::{CellError, CellLimits, CellResult, ContextSource, ValueFormat};
use fathom_core::unit::Timestamp;
use fathom_sandbox::SandboxOptions;

use super::*;

#[tokio::test]
async fn r07_material_that_cannot_be_loaded_is_no_empty_material() {
    let sandbox = Sandbox::new(SandboxOptions::default());
    let bad = SandboxMaterial {
        name: "bad".to_owned(),
        form: ValueFormat::Json,
        content: MaterialContent::Bytes(b"{".to_vec()),
    };
    let given = ContextLoader::later(vec![bad]);
    for _ in 0..2 {
        let error = given.get(&sandbox).await.err().map(|error| error.code());
        assert_eq!(error, Some("F0804"));
    }
}

/// A record that runs a cell, and the one that ends it.
fn cell(number: u32, error: Option<CellErrorKind>) -> [JournalRecord; 2] {
    let ask = AskId(number);
    let error = error.map(|kind| CellError {
        kind,
        message: "as it ended".into(),
    });
    let end = CellResult {
        error,
        ..CellResult::default()
    };
    let run = Command::RunCell {
        ask,
        code: format!("cell {number}").into(),
        context: ContextSource::Given,
        limits: CellLimits::default(),
    };
    let finished = EventKind::CellFinished {
        ask,
        end: Box::new(end),
    };
    [(EventKind::Tick, vec![run]), (finished, Vec::new())].map(|(kind, commands)| JournalRecord {
        seq: Seq(0),
        epoch: Epoch(1),
        event: Event {
            at: Timestamp(0),
            kind,
        },
        commands,
    })
}

/// The session that lives on does not have them: after a restart it would be another one.
#[test]
fn r07_cells_that_were_lost_are_not_run_again() {
    let root = EpisodeId::root();
    let ends = [
        None,
        Some(CellErrorKind::TimedOut),
        Some(CellErrorKind::Raised),
        Some(CellErrorKind::Lost),
        None,
    ];
    let past = |ends: &[Option<CellErrorKind>]| -> Vec<String> {
        let records = ends.iter().zip(1..).flat_map(|(end, n)| cell(n, *end));
        let records: Vec<_> = records.collect();
        let mut notebooks = SessionHistories::read(records.iter().map(|record| (&root, record)));
        let notebook = notebooks.of.remove(&root).expect("it has cells");
        let codes = notebook
            .past
            .iter()
            .map(|cell| cell.code.as_str().to_owned());
        codes.collect()
    };
    assert_eq!(past(&ends[..3]), ["cell 1", "cell 3"]);
    assert_eq!(past(&ends), ["cell 5"]);
}
