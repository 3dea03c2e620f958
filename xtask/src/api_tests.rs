use super::snapshot;

fn of(text: &str) -> Vec<String> {
    let lines = snapshot([("crates/fathom/src/home.rs", text)].into_iter());
    lines.lines().map(str::to_owned).collect()
}

#[test]
fn h03_public_items_are_listed_with_their_owner() {
    let text = "\
/// Docs.
pub struct Home {
    pub name: String,
    secret: u8,
}

impl Home {
    /// Docs.
    pub fn open(
        folder: &Path,
        name: &str,
    ) -> Result<Self, Error> {
        let pub_like = 1;
    }

    pub(crate) fn inner(&self) {}
}
";
    assert_eq!(
        of(text),
        [
            "impl Home: pub fn open(folder: &Path, name: &str) -> Result<Self, Error>",
            "pub struct Home",
            "pub struct Home: pub name: String",
        ]
    );
}

#[test]
fn h03_variants_imports_and_trait_impls_are_listed() {
    let text = "\
pub use home::{
    Home, Place,
};

#[non_exhaustive]
pub enum End {
    /// Docs.
    Done(Answer),
    Open {
        run: RunId,
    },
}

impl Stream for Home {
    type Item = u8;
}

pub mod ids {
    pub use core::RunId;
}
";
    assert_eq!(
        of(text),
        [
            "impl Stream for Home",
            "pub enum End",
            "pub enum End: Done(Answer)",
            "pub enum End: Open",
            "pub enum End: Open { run: RunId }",
            "pub mod ids",
            "pub mod ids: pub use core::RunId",
            "pub use home::{Home, Place}",
        ]
    );
}
