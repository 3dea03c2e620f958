//! Where tests find the weights that `make test` pulls.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use fathom_host::models::embedded::EmbeddedModels;
use fathom_host::{Runtime, RuntimeOptions};

/// The folder of weights.
#[expect(
    clippy::disallowed_methods,
    reason = "tests find the weights through the environment"
)]
pub(crate) fn folder() -> PathBuf {
    std::env::var_os("FATHOM_TEST_WEIGHTS")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("XDG_CACHE_HOME")?).join("fathom/models")))
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache/fathom/models")))
        .unwrap_or_default()
}

/// A host whose embedding model is there.
pub(crate) fn with_embeddings(home: &Path) -> Runtime {
    Runtime::open(RuntimeOptions {
        embedded: Arc::new(EmbeddedModels::new(folder())),
        ..RuntimeOptions::new(home.to_owned(), |_| None)
    })
    .expect("the home opens")
}
