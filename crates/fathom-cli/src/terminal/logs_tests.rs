use std::io;
use std::sync::{Arc, Mutex};

use super::*;

#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<String>>>);

impl Write for Kept {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        self.0
            .lock()
            .unwrap()
            .push(String::from_utf8_lossy(event).into_owned());
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The writer masks what it is given at once, so that an event must not come in pieces.
#[test]
fn g10_an_event_is_one_write_with_the_fields_of_its_spans() {
    let kept = Kept::default();
    let to = kept.clone();
    let subscriber = subscriber(EnvFilter::new("trace"), move || to.clone());
    tracing::subscriber::with_default(subscriber, || {
        let span = tracing::info_span!("call", to = "ann@example.org");
        let _inside = span.enter();
        tracing::warn!(
            detail = "key ghp_016C7e2fBLAq4XAOVtYvSNlRuCDXWz1ebx9T",
            "call failed"
        );
        tracing::info!("two");
    });
    let events = kept.0.lock().unwrap();
    assert_eq!(events.len(), 2, "{events:?}");
    let shown = crate::terminal::masking::masked_for_all(&events[0]);
    assert!(shown.contains(r#"call{to="[email]"}"#), "{shown}");
    assert!(shown.contains(r#"detail="key [secret]""#), "{shown}");
}
