use super::*;

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let file = folder.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, bytes).unwrap();
    };
    write("b.md", b"second");
    write("a/deep.txt", b"\xef\xbb\xbffirst");
    write("c.bin", b"\x00\x01\xff");
    write(".hidden", b"secret");
    write(".git/config", b"secret");
    folder
}

#[test]
fn x01_context_is_read_from_folders_in_order_without_what_is_hidden_or_no_text() {
    let folder = folder();
    let gathered = material(&[folder.path().to_owned()]).unwrap();
    let texts: Vec<&str> = gathered
        .material
        .iter()
        .map(|piece| piece.text.as_str())
        .collect();
    assert_eq!(texts, ["first", "second"]);
    assert!(gathered.material[0].source.ends_with("a/deep.txt"));
    assert_eq!(gathered.warnings.len(), 1);
    assert!(gathered.warnings[0].contains("c.bin"));
}

#[test]
fn x08_a_file_that_was_named_must_be_text() {
    let folder = folder();
    let error = |name: &str| material(&[folder.path().join(name)]).unwrap_err().code();
    assert_eq!(error("c.bin"), "F0122");
    assert_eq!(error("gone.md"), "F0121");
}

#[test]
fn x08_an_input_has_a_largest_size() {
    assert_eq!(text("it", "12345".as_bytes(), 5).unwrap(), "12345");
    assert_eq!(
        text("it", "123456".as_bytes(), 5).unwrap_err().code(),
        "F0124"
    );
    let mut gathered = InputMaterial::default();
    let mut left = 3;
    assert!(take(&mut gathered, &mut left, "a".into(), "12".into()).is_ok());
    assert!(take(&mut gathered, &mut left, "b".into(), "12".into()).is_err());
}

#[test]
fn a_folder_without_text_is_worth_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let gathered = material(&[folder.path().to_owned()]).unwrap();
    assert!(gathered.warnings[0].contains("contains no text files"));
}

#[test]
fn a_rubric_is_text_or_a_file() {
    assert_eq!(rubric("be kind").unwrap(), "be kind");
    let folder = folder();
    let file = format!("@{}", folder.path().join("b.md").display());
    assert_eq!(rubric(&file).unwrap(), "second");
    assert_eq!(rubric("@gone").unwrap_err().code(), "F0121");
    assert_eq!(rubric("  ").unwrap_err().code(), "F0103");
}

#[test]
fn a_question_must_say_something() {
    assert_eq!(question("ask", Some("why?\n")).unwrap(), "why?");
    assert_eq!(question("ask", Some("  ")).unwrap_err().code(), "F0105");
}
