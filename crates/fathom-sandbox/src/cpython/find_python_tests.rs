use std::os::unix::fs::symlink;

use super::*;

#[test]
fn only_programs_are_found_each_once_and_the_plain_name_first() {
    let folder = tempfile::tempdir().unwrap();
    let [first, second] = ["first", "second"].map(|name| folder.path().join(name));
    for folder in [&first, &second] {
        fs::create_dir(folder).unwrap();
    }
    let program = |path: &Path| fs::write(path, [&ELF[..], b"rest"].concat()).unwrap();
    // A version manager's script, and a link to what another folder has.
    fs::write(first.join("python3"), "#!/bin/sh\n").unwrap();
    program(&first.join("python3.12"));
    program(&second.join("python3.11"));
    symlink("python3.11", second.join("python3")).unwrap();
    symlink("nowhere", second.join("python3.10")).unwrap();

    let found = candidates(&[first.clone(), second.clone()]);
    let real = |path: PathBuf| fs::canonicalize(path).unwrap();
    assert_eq!(
        found,
        [
            real(second.join("python3.11")),
            real(first.join("python3.12"))
        ]
    );
}
