//! The variables that the library reads: keys of models, and the folder of weights.

use std::path::{Path, PathBuf};

/// A key of a model, by the name of its variable.
#[expect(
    clippy::disallowed_methods,
    reason = "the library is the edge for programs that embed it: keys stay in the environment"
)]
pub(crate) fn key(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|key| !key.is_empty())
}

/// The folder of weights, the same as the command line's: weights can be fetched again, so they lie in the cache.
pub(crate) fn models_folder() -> Option<PathBuf> {
    if let Some(folder) = key("FATHOM_MODELS") {
        return Some(PathBuf::from(folder));
    }
    let cache = key("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.filter(|cache| cache.is_absolute());
    let cache = cache.or_else(|| key("HOME").map(|home| Path::new(&home).join(".cache")));
    cache.map(|cache| cache.join("fathom/models"))
}
