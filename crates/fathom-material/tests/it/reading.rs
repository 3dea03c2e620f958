use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use fathom_material::limits::{BYTES_MAX, DEPTH_MAX, FILE_BYTES_MAX, FILES_MAX, ReadLimits};
use fathom_material::{
    DocumentFormat, GatheredMaterial, MaterialDocument, SkipReason, gather, gather_within,
};

fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    folder
}

fn read(folder: &Path) -> GatheredMaterial {
    gather(&[folder.to_owned()]).unwrap()
}

fn names(gathered: &GatheredMaterial, below: &Path) -> Vec<String> {
    let below = format!("{}/", below.display());
    gathered
        .documents
        .iter()
        .map(|document| document.source.replace(&below, ""))
        .collect()
}

fn skips(gathered: &GatheredMaterial, below: &Path) -> Vec<String> {
    let below = format!("{}/", below.display());
    gathered
        .skipped
        .iter()
        .map(|skipped| skipped.to_string().replace(&below, ""))
        .collect()
}

#[test]
fn c03_folders_are_read_in_order_and_what_is_left_out_is_named() {
    let folder = folder(&[
        ("b.md", b"# b"),
        ("a/z.html", b"<p>z"),
        ("a/c.csv", b"x,y"),
        ("a/run.log", b"12:00 up"),
        ("page", b"  <!DOCTYPE HTML><p>page"),
        ("picture.png", b"\x89PNG\r\n\x1a\n\0\0"),
        (".hidden", b"no"),
        (".git/config", b"no"),
        ("target/debug/out.txt", b"no"),
        ("web/node_modules/x/readme.md", b"no"),
    ]);
    let gathered = read(folder.path());
    assert_eq!(
        names(&gathered, folder.path()),
        ["a/c.csv", "a/run.log", "a/z.html", "b.md", "page"]
    );
    assert_eq!(
        skips(&gathered, folder.path()),
        [
            "`picture.png` was left out: it is not text",
            "`target` was left out: it holds what a program made",
            "`web/node_modules` was left out: it holds what a program made",
        ]
    );
    let formats: Vec<DocumentFormat> = gathered
        .documents
        .iter()
        .map(|document| document.format)
        .collect();
    assert_eq!(
        formats,
        [
            DocumentFormat::Table,
            DocumentFormat::Lines,
            DocumentFormat::Html,
            DocumentFormat::Markdown,
            DocumentFormat::Html
        ]
    );
}

#[test]
fn c03_a_file_that_is_named_twice_is_read_once() {
    let folder = folder(&[("a.txt", b"text")]);
    let paths = [folder.path().join("a.txt"), folder.path().to_owned()];
    assert_eq!(gather(&paths).unwrap().documents.len(), 1);
}

#[test]
fn c03_what_is_named_by_itself_must_be_usable() {
    let folder = folder(&[("picture.png", b"\x89PNG\0")]);
    let code = |name: &str| gather(&[folder.path().join(name)]).unwrap_err().code();
    assert_eq!(code("missing.txt"), "F0701");
    assert_eq!(code("picture.png"), "F0702");
    fs::File::create(folder.path().join("large.txt"))
        .unwrap()
        .set_len(FILE_BYTES_MAX + 1)
        .unwrap();
    assert_eq!(code("large.txt"), "F0703");
}

#[test]
fn c03_limits_hold_for_all_files_together() {
    let folder = tempfile::tempdir().unwrap();
    let text = vec![b'a'; usize::try_from(FILE_BYTES_MAX).unwrap()];
    for number in 0..=BYTES_MAX / FILE_BYTES_MAX {
        fs::write(folder.path().join(format!("{number}.txt")), &text).unwrap();
    }
    assert_eq!(
        gather(&[folder.path().to_owned()]).unwrap_err().code(),
        "F0705"
    );

    let folder = tempfile::tempdir().unwrap();
    for number in 0..=FILES_MAX {
        fs::write(folder.path().join(format!("{number}.txt")), b"").unwrap();
    }
    assert_eq!(
        gather(&[folder.path().to_owned()]).unwrap_err().code(),
        "F0704"
    );
}

#[test]
fn c03_deep_folders_and_links_end() {
    let folder = folder(&[("a.txt", b"text")]);
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret.txt"), b"secret").unwrap();
    let link =
        |to: &Path, name: &str| std::os::unix::fs::symlink(to, folder.path().join(name)).unwrap();
    link(folder.path(), "loop");
    link(outside.path(), "out");
    link(&outside.path().join("secret.txt"), "secret.txt");
    let deep: PathBuf = std::iter::repeat_n("d", DEPTH_MAX + 3).collect();
    fs::create_dir_all(folder.path().join(&deep)).unwrap();
    fs::write(folder.path().join(&deep).join("deep.txt"), b"deep").unwrap();
    let gathered = read(folder.path());
    assert_eq!(names(&gathered, folder.path()), ["a.txt"]);
    let reasons: Vec<&SkipReason> = gathered
        .skipped
        .iter()
        .map(|skipped| &skipped.reason)
        .collect();
    assert_eq!(
        reasons,
        [
            &SkipReason::TooDeep,
            &SkipReason::Link,
            &SkipReason::Link,
            &SkipReason::Link
        ]
    );
}

#[test]
fn c03_the_digest_knows_names_and_contents_and_no_order() {
    let digest = |documents: &[(&str, &str)]| {
        let documents = documents
            .iter()
            .map(|(name, text)| MaterialDocument::new(*name, *text))
            .collect();
        GatheredMaterial {
            documents,
            skipped: Vec::new(),
        }
        .digest()
    };
    let both = digest(&[("a", "one"), ("b", "two")]);
    assert_eq!(both, digest(&[("b", "two"), ("a", "one")]));
    assert_ne!(both, digest(&[("a", "two"), ("b", "one")]));
    assert_ne!(both, digest(&[("a", "one"), ("b", "two!")]));
    assert_ne!(both, digest(&[("a", "one")]));
}

/// Bytes of `content` as gzip.
fn gzipped(content: &[u8]) -> Vec<u8> {
    let mut folded = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    folded.write_all(content).unwrap();
    folded.finish().unwrap()
}

/// Bytes of `content` as Zstandard.
fn zstandard(content: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(content, ruzstd::encoding::CompressionLevel::Fastest)
}

#[test]
fn r01_compressed_files_are_unfolded() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.jsonl.gz"), gzipped(b"{\"n\": 1}\n")).unwrap();
    fs::write(folder.path().join("b.txt.zst"), zstandard(b"plain words")).unwrap();
    let gathered = gather(&[folder.path().to_owned()]).unwrap();
    let texts: Vec<&str> = gathered.documents.iter().map(|d| d.text.as_str()).collect();
    assert_eq!(texts, ["{\"n\": 1}\n", "plain words"]);
    let lists: Vec<bool> = gathered
        .documents
        .iter()
        .map(MaterialDocument::is_json_lines)
        .collect();
    assert_eq!(lists, [true, false]);
}

/// Bytes that a reader of Zstandard passes over.
fn skipped_over(content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len()).unwrap().to_le_bytes();
    [&[0x5a, 0x2a, 0x4d, 0x18], &length[..], content].concat()
}

/// What was appended to has several frames; `pzstd` writes many, each behind one that is skipped.
#[test]
fn r01_all_frames_of_a_compressed_file_are_unfolded() {
    let (one, two) = (zstandard(b"first, "), zstandard(b"second"));
    let skipped = skipped_over(b"size");
    let cases = [
        [one.clone(), two.clone()].concat(),
        [skipped.clone(), one.clone(), skipped.clone(), two.clone()].concat(),
        [one.clone(), zstandard(b""), two.clone(), skipped_over(b"")].concat(),
        [gzipped(b"first, "), gzipped(b"second")].concat(),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (at, bytes) in cases.iter().enumerate() {
        let path = folder.path().join(format!("{at}.txt.zst"));
        fs::write(&path, bytes).unwrap();
        let gathered = gather(&[path]).unwrap();
        assert_eq!(gathered.documents[0].text, "first, second", "{at}");
    }
    let mut cut = two.clone();
    cut.truncate(two.len() - 2);
    let broken = [
        [one.clone(), b"behind it".to_vec()].concat(),
        [one.clone(), vec![0x28]].concat(),
        [one.clone(), cut].concat(),
        [one, skipped[..10].to_vec()].concat(),
        [gzipped(b"first"), b"behind it".to_vec()].concat(),
    ];
    for (at, bytes) in broken.iter().enumerate() {
        let path = folder.path().join(format!("broken-{at}"));
        fs::write(&path, bytes).unwrap();
        assert_eq!(gather(&[path]).unwrap_err().code(), "F0701", "{at}");
    }
}

#[test]
fn r01_flaws_in_utf_8_are_told() {
    let text = "Größe: schön\n".repeat(300);
    let flawed = [text.as_bytes(), b"\xff!"].concat();
    let folder = folder(&[("a.log", &flawed), ("b.log", text.as_bytes())]);
    let gathered = read(folder.path());
    assert_eq!(
        gathered.documents[0].text.strip_prefix(&text),
        Some("\u{fffd}!")
    );
    let said = "`a.log` was taken as UTF-8: one place in it is not, and stands as `\u{fffd}`";
    assert_eq!(skips(&gathered, folder.path()), [said]);
    let read = fathom_material::read_from("stdin", flawed.as_slice(), &ReadLimits::WHOLE).unwrap();
    assert_eq!(read.flaw, Some(SkipReason::FlawedUtf8 { flaws: 1 }));
}

/// A megabyte that unfolds to more than a file may have is not unfolded to its end, and a broken one is an error.
#[test]
fn r01_bombs_and_broken_archives_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let bounds = ReadLimits {
        file_bytes: 10_000,
        bytes: 20_000,
    };
    let bomb = vec![0x20; 1_000_000];
    let mut broken = gzipped(b"something that is cut off");
    broken.truncate(20);
    let cases = [
        ("bomb.gz", gzipped(&bomb), "F0703"),
        ("bomb.zst", zstandard(&bomb), "F0703"),
        // No frame is too large by itself.
        ("bombs.zst", zstandard(&bomb[..6_000]).repeat(2), "F0703"),
        ("broken.gz", broken, "F0701"),
        ("broken.zst", vec![0x28, 0xb5, 0x2f, 0xfd, 1, 2, 3], "F0701"),
    ];
    for (name, bytes, code) in cases {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        let error = gather_within(&[path], &bounds).unwrap_err();
        assert_eq!(error.code(), code, "{name}: {error}");
    }
}

#[test]
fn r01_html_can_be_had_as_words() {
    let html = "<html><body><h1>Rules</h1><p>Doors close at <b>nine</b>.</p><script>x()</script></body></html>";
    let plain = MaterialDocument::new("rules.html", html)
        .plain()
        .into_owned();
    assert!(plain.contains("Doors close at nine."), "{plain}");
    assert!(!plain.contains("x()") && !plain.contains('<'), "{plain}");
}

/// What code finds of a page of HTML.
fn plain(html: &str) -> String {
    MaterialDocument::new("a.html", html).plain().into_owned()
}

#[test]
fn r01_html_keeps_the_lines_that_it_shows() {
    let cases = [
        (
            "<p>Hello,<br>you\n there.<br/><br/>Yours</p><div>one</div><div>two</div>",
            "Hello,\nyou there.\n\nYours\n\none\ntwo",
        ),
        (
            "<p>Run:</p><pre>\n\nfn main() {\n    <b>run</b>();\n\n\tend()\n}\n  \n</pre><p>Done.</p>",
            "Run:\n\nfn main() {\n    run();\n\n\tend()\n}\n\nDone.",
        ),
        (
            "<pre><span>  one</span><br>two</pre>one",
            "  one\ntwo\n\none",
        ),
        ("<ul>\n<li>a\n<li> b </ul>a<wbr>b", "a\nb\nab"),
    ];
    for (html, expected) in cases {
        assert_eq!(plain(html), expected, "{html}");
    }
}

#[test]
fn r01_rows_of_html_are_lines_with_a_tab_between_cells() {
    let cases = [
        (
            "<table><thead>\n<tr><th>name<th>city<th>phone</tr></thead>\n<tr>\n<td>Ann</td>\n<td></td>\n<td>1</td></tr>\n\
             <tr><td></td><td>Rome<td>&nbsp;</tr><tr><td/><td/><td>3</td></tr></table>",
            "name\tcity\tphone\nAnn\t\t1\n\tRome\t\n\t\t3",
        ),
        (
            "<table><tr><td><p>one</p><ul><li>two</ul><td>a<br>b</table><p>after",
            "one two\ta b\n\nafter",
        ),
        // What lays out a page is no record.
        (
            "<table><tr><td>menu</td><td><h1>Title</h1><p>Text</p><table><tr><td>1<td>2</table></td><td>side</td></tr></table>",
            "menu\n\nTitle\n\nText\n\n1\t2\n\nside",
        ),
        (
            "<table><tr><td>1\n2<td><pre>a\n  b</pre></table>",
            "1 2\n\na\n  b",
        ),
    ];
    for (html, expected) in cases {
        assert_eq!(plain(html), expected, "{html}");
    }
    let long = "word ".repeat(80);
    let page = format!("<tr><td><p>{long}</p><p>{long}</p></td><td>side</td></tr>");
    assert_eq!(plain(&page), format!("{0}\n\n{0}\n\nside", long.trim_end()));
}

#[test]
fn r01_nothing_of_html_is_cut() {
    let token = "x".repeat(5_000);
    let long = "A sentence of five words. ".repeat(100);
    let items = format!("<p>{token}</p><p>{long}</p><pre>{long}</pre><li>{long}<li>{token}");
    let long = long.trim_end();
    assert_eq!(
        plain(&items),
        format!("{token}\n\n{long}\n\n{long}\n\n{long}\n{token}")
    );
}
