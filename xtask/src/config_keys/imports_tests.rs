use super::*;

#[test]
fn names_stand_for_paths() {
    let code = "use serde::Deserialize;\npub(super) use fathom_core::programs::{council, direct::{self, Review as Checked}, stages};\n\
                use crate::{\n    a::B,\n    c,\n};\nmod rules;\npub mod inline { use x::Y; }\n";
    let imports = Imports::of(code);
    let path = |name| imports.path(name).map(|path| path.join("::"));
    assert_eq!(path("Deserialize").as_deref(), Some("serde::Deserialize"));
    assert_eq!(
        path("council").as_deref(),
        Some("fathom_core::programs::council")
    );
    assert_eq!(
        path("direct").as_deref(),
        Some("fathom_core::programs::direct")
    );
    assert_eq!(
        path("Checked").as_deref(),
        Some("fathom_core::programs::direct::Review")
    );
    assert_eq!(path("Review"), None);
    assert_eq!(path("B").as_deref(), Some("crate::a::B"));
    assert_eq!(path("c").as_deref(), Some("crate::c"));
    assert_eq!(path("rules").as_deref(), Some("self::rules"));
    assert_eq!(path("nothing"), None);
}
