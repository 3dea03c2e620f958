use fathom_core::cell::Form;
use fathom_sandbox::Options;

use super::*;

#[tokio::test]
async fn r07_material_that_cannot_be_loaded_is_no_empty_material() {
    let sandbox = Sandbox::new(Options::default());
    let bad = Material {
        name: "bad".to_owned(),
        form: Form::Json,
        content: Content::Bytes(b"{".to_vec()),
    };
    let given = GivenContext::later(vec![bad]);
    for _ in 0..2 {
        let error = given.get(&sandbox).await.err().map(|error| error.code());
        assert_eq!(error, Some("F0804"));
    }
}
