//! Charters as folders on a disk.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::limits::{FILE_BYTES_MAX, FILES_MAX};
use super::*;

const MANIFEST: &str = "protocol = \"1.0.0\"\nname = \"mine\"\nversion = \"0.1.0\"\n";

const AGENT: &str = "---\nid: a-1\nname: \"A: b\"\nrole: doc # why\nallowed_tools: [grep, 'http']\nread_scopes:\n  - plan\n  - >\n    x\n---\nDo it.\n";

fn words(text: &str) -> u64 {
    text.split_whitespace().count() as u64
}

/// A folder with `mine/charter.toml` in it.
fn place() -> (tempfile::TempDir, PathBuf) {
    let outside = tempfile::tempdir().expect("a folder");
    let folder = outside.path().join("mine");
    fs::create_dir(&folder).expect("made");
    fs::write(folder.join("charter.toml"), MANIFEST).expect("written");
    (outside, folder)
}

fn problems(folder: &Path) -> Vec<String> {
    let checked = check_folder(folder, &words).expect("it is there");
    assert_eq!(checked.charter.is_some(), checked.problems.is_empty());
    let said = checked.problems.iter();
    said.map(|problem| format!("{} {problem}", problem.code()))
        .collect()
}

#[test]
fn a_folder_without_a_manifest_is_no_charter() {
    let (_outside, folder) = place();
    fs::remove_file(folder.join("charter.toml")).expect("removed");
    assert_eq!(
        problems(&folder),
        ["F0604 charter.toml: missing file `charter.toml`"]
    );
}

#[test]
fn a_file_that_is_no_text_is_told_with_the_line_that_breaks() {
    let (_outside, folder) = place();
    fs::write(folder.join("persona.toml"), b"tone = \"x\"\n# \xff\n").expect("written");
    assert_eq!(
        problems(&folder),
        ["F0612 persona.toml:2:3: the file is not UTF-8 text"]
    );
}

#[test]
fn a_file_may_not_be_larger_than_its_limit() {
    let (_outside, folder) = place();
    let most = usize::try_from(FILE_BYTES_MAX).expect("small");
    fs::create_dir(folder.join("prompts")).expect("made");
    fs::write(folder.join("prompts/full.md"), "x".repeat(most)).expect("written");
    assert_eq!(problems(&folder), Vec::<String>::new());
    fs::write(folder.join("prompts/full.md"), "x".repeat(most + 1)).expect("written");
    assert_eq!(
        problems(&folder),
        ["F0613 prompts/full.md: the file is larger than 262144 bytes"]
    );
}

#[test]
fn a_folder_may_not_hold_more_files_than_its_limit() {
    let (_outside, folder) = place();
    fs::create_dir(folder.join("prompts")).expect("made");
    for number in 0..=FILES_MAX {
        fs::write(folder.join(format!("prompts/p{number}.md")), "x").expect("written");
    }
    assert_eq!(
        problems(&folder),
        ["F0614 prompts: too many files: the maximum is 256"]
    );
    fs::remove_file(folder.join("prompts/p0.md")).expect("removed");
    assert_eq!(problems(&folder), Vec::<String>::new());
    // Hidden ones count too: none may crowd out one that is seen.
    fs::write(folder.join("prompts/.hidden"), "x").expect("written");
    assert_eq!(
        problems(&folder),
        ["F0614 prompts: too many files: the maximum is 256"]
    );
}

#[test]
fn two_files_may_not_have_one_id() {
    let (_outside, folder) = place();
    fs::create_dir(folder.join("agents")).expect("made");
    fs::write(folder.join("agents/a.md"), "---\nrole: doc\n---\nx").expect("written");
    let second = "---\nrole: doc\nid: a\n---\nx";
    fs::write(folder.join("agents/b.md"), second).expect("written");
    assert_eq!(
        problems(&folder),
        ["F0616 agents/b.md:3:5: duplicate id `a`, first used in agents/a.md"]
    );
}

#[cfg(unix)]
#[test]
fn a_link_may_not_leave_the_folder() {
    use std::os::unix::fs::symlink;
    let (outside, folder) = place();
    fs::create_dir(folder.join("prompts")).expect("made");
    fs::write(folder.join("prompts/real.md"), "inside").expect("written");
    symlink("real.md", folder.join("prompts/alias.md")).expect("linked");
    assert_eq!(problems(&folder), Vec::<String>::new());
    fs::write(outside.path().join("secret"), "outside").expect("written");
    symlink("../../secret", folder.join("prompts/out.md")).expect("linked");
    symlink(outside.path(), folder.join("agents")).expect("linked");
    symlink("nowhere", folder.join("persona.toml")).expect("linked");
    let said = problems(&folder);
    assert_eq!(said.len(), 3, "{said:?}");
    assert_eq!(
        said[..1],
        ["F0615 agents: symlink points outside the charter folder"]
    );
    assert!(said[1].starts_with("F0622 persona.toml: cannot read the file: "));
    assert_eq!(
        said[2..],
        ["F0615 prompts/out.md: symlink points outside the charter folder"]
    );
}

#[test]
fn a_folder_in_the_place_of_a_file_cannot_be_read() {
    let (_outside, folder) = place();
    fs::create_dir(folder.join("identity.toml")).expect("made");
    assert_eq!(
        problems(&folder),
        ["F0622 identity.toml: cannot read the file: it is not a regular file"]
    );
}

#[test]
fn files_that_no_charter_has_are_a_warning() {
    let (_outside, folder) = place();
    fs::create_dir(folder.join("prompts")).expect("made");
    for file in ["notes.txt", "README.md", ".hidden", "prompts/p.txt"] {
        fs::write(folder.join(file), "x").expect("written");
    }
    let charter = Charter::load(&folder, &words).expect("usable");
    let said: Vec<_> = charter.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "notes.txt: unexpected file; ignored",
            "prompts/p.txt: unexpected file; ignored"
        ]
    );
}

#[test]
fn a_charter_is_found_by_built_in_name_path_and_name_in_the_home() {
    let (outside, folder) = place();
    let home = outside.path().join("home");
    fs::create_dir_all(home.join("charters/ours")).expect("made");
    let ours = MANIFEST.replace("mine", "ours");
    fs::write(home.join("charters/ours/charter.toml"), ours).expect("written");
    fs::create_dir_all(home.join("charters/default")).expect("made");
    let find = |said: &str, base: &Path| Charter::find(said, base, &home, &words);
    let name = |said: &str, base: &Path| find(said, base).map(|charter| charter.name).ok();
    let base = outside.path();
    assert_eq!(name("default", base).as_deref(), Some("default"));
    assert_eq!(name("mine", base).as_deref(), Some("mine"));
    assert_eq!(name("ours", base).as_deref(), Some("ours"));
    assert_eq!(name("./mine", base).as_deref(), Some("mine"));
    assert_eq!(name("../mine", &home).as_deref(), Some("mine"));
    let absolute = folder.display().to_string();
    assert_eq!(name(&absolute, &home).as_deref(), Some("mine"));
    let code = |said: &str| find(said, base).map_err(|error| error.code()).err();
    assert_eq!(code("theirs"), Some("F0601"));
    // From the home's own folder of charters these would lead to `mine`; as names they lead nowhere.
    for said in [
        "",
        "..",
        "../../mine",
        "ours/../../../mine",
        "/",
        "OURS",
        "a b",
    ] {
        let found = find(said, &home.join("charters/none"));
        let code = found
            .map_err(|error| error.code())
            .map(|charter| charter.name);
        assert!(matches!(code, Err("F0602" | "F0603")), "{said:?}: {code:?}");
    }
}

#[test]
fn a_new_charter_passes_its_check_and_nothing_is_overwritten() {
    let outside = tempfile::tempdir().expect("a folder");
    let parent = outside.path().join("deep/charters");
    let written = write("first", &parent).expect("written");
    assert_eq!(written.folder, parent.join("first"));
    let tokens = |text: &str| text.len() as u64 / 4;
    let charter = Charter::load(&written.folder, &tokens).expect("it passes");
    assert_eq!(charter.warnings, []);
    assert_eq!(charter.name, "first");
    assert_eq!(charter.instructions.len(), INITIAL.len());
    assert_eq!(charter.agents.len(), 1);
    for file in &written.files {
        assert!(written.folder.join(file).is_file(), "{file}");
    }
    fs::write(written.folder.join("persona.toml"), "tone = \"mine\"").expect("changed");
    let code = |name: &str| write(name, &parent).map_err(|error| error.code()).err();
    assert_eq!(code("first"), Some("F0627"));
    fs::create_dir(parent.join("empty")).expect("made");
    assert_eq!(code("empty"), Some("F0627"));
    for name in ["", "../up", "A", "a/b", ".", "default"] {
        assert_eq!(code(name), Some("F0602"), "{name:?}");
    }
    let kept = fs::read_to_string(written.folder.join("persona.toml")).expect("there");
    assert_eq!(kept, "tone = \"mine\"");
    let left = fs::read_dir(&parent).expect("there").count();
    assert_eq!(left, 2, "no draft stays behind");
}

#[test]
fn a_new_charter_that_cannot_be_written_leaves_nothing() {
    let outside = tempfile::tempdir().expect("a folder");
    let file = outside.path().join("file");
    fs::write(&file, "x").expect("written");
    let error = write("first", &file).expect_err("a file is no folder");
    assert_eq!(error.code(), "F0628");
    assert_eq!(fs::read_dir(outside.path()).expect("there").count(), 1);
}

#[test]
fn the_digest_is_of_what_a_charter_says() {
    let (_outside, folder) = place();
    let digest = || Charter::load(&folder, &words).expect("usable").digest();
    let first = digest();
    assert_eq!(first.len(), 64);
    let commented = format!("# why\n{}", MANIFEST.replace('\n', "\r\n"));
    fs::write(folder.join("charter.toml"), commented).expect("written");
    assert_eq!(digest(), first);
    fs::write(folder.join("persona.toml"), "tone = \"warm\"").expect("written");
    assert_ne!(digest(), first);
}

#[test]
fn a_charter_comes_back_from_its_json() {
    let outside = tempfile::tempdir().expect("a folder");
    let written = write("first", outside.path()).expect("written");
    let more = "[roles.prime]\nmodel = \"openai/x\"\n[budget]\ntime = \"30s\"\n[recursion]\nmax_depth = 1\n[direct]\nstream = false\n";
    let manifest = written.folder.join("charter.toml");
    let text = fs::read_to_string(&manifest).expect("there") + more;
    fs::write(&manifest, text).expect("written");
    let mut charter = Charter::load(&written.folder, &|_| 1).expect("usable");
    let json = serde_json::to_string(&charter).expect("JSON");
    let back: Charter = serde_json::from_str(&json).expect("a charter");
    assert_eq!(back.digest(), charter.digest());
    charter.folder = None;
    assert_eq!(back, charter);
}

/// Text that is now and then nearly right.
fn contents() -> impl Strategy<Value = Vec<u8>> {
    let nearly = "(\\+\\+\\+|---|\\[|\\]|=|\"|'|\\{|\\}|\n|\r|,|#| |name|role|text|stage|protocol|1\\.0\\.0|[a-z0-9é⚠]){0,60}";
    let head = "(\\[|\\]|\\{|\\}|\"|'|\n|\r|\t|,|#| |  |- |: |\\? |&|\\*|!|%|@|\\||>|~|<<|\\.\\.\\.|id|name|role|doc|allowed_tools|0|[a-z0-9é⚠\u{85}\u{2028}\u{feff}]){0,40}";
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..200),
        nearly.prop_map(String::into_bytes),
        head.prop_map(|head| format!("---\n{head}\n---\nx").into_bytes()),
        (0..AGENT.len(), any::<u8>()).prop_map(|(at, byte)| {
            let mut bytes = AGENT.as_bytes().to_vec();
            bytes[at] = byte;
            bytes
        }),
        (0..MANIFEST.len(), any::<u8>()).prop_map(|(at, byte)| {
            let mut bytes = MANIFEST.as_bytes().to_vec();
            bytes[at] = byte;
            bytes
        }),
        (0..built_in::INSTRUCTIONS.len(), any::<u8>()).prop_map(|(at, byte)| {
            let mut bytes = built_in::INSTRUCTIONS.as_bytes().to_vec();
            bytes[at] = byte;
            bytes
        }),
    ]
}

proptest! {
    #[test]
    fn any_bytes_in_any_file_are_a_charter_or_problems(
        given in proptest::collection::btree_map(
            prop_oneof![
                Just("charter.toml"), Just("identity.toml"), Just("persona.toml"), Just("instructions.toml"),
                Just("agents/a.md"), Just("agents/b.md"), Just("prompts/p.md"),
            ],
            contents(),
            0..7,
        )
    ) {
        let files = given.into_iter().map(|(path, bytes)| (path.to_owned(), Some(bytes))).collect();
        let checked = check_files(&files, FindingList::default(), &words);
        prop_assert_eq!(checked.charter.is_some(), checked.problems.is_empty());
        for problem in checked.problems.iter().chain(&checked.warnings) {
            prop_assert!(!problem.hint().is_empty());
            prop_assert!(problem.picture().iter().all(|line| !line.contains(char::is_control)));
        }
    }
}
