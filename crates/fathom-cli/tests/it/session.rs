//! A folder with a home and scripts, and the binary run in it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use fathom_host::{Runtime, RuntimeOptions};
use fathom_testkit::drill::DrillPrograms;
use fathom_testkit::model_server::ModelServer;
use serde_json::Value;

/// Variables of the surroundings that would change what is tested.
const CLEARED: [&str; 9] = [
    "FATHOM_HOME",
    "FATHOM_MODEL",
    "FATHOM_JSON",
    "FATHOM_CONFIG",
    "FATHOM_LOG",
    "FATHOM_BUDGET",
    "FATHOM_MODELS",
    "HF_ENDPOINT",
    "OPENAI_API_KEY",
];

/// A place to work in.
pub(crate) struct Session {
    folder: tempfile::TempDir,
}

/// What a command left.
pub(crate) struct Done {
    pub(crate) exit: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Every run that a test made folds again to what its journal says. A home that the test broke or shredded has
/// nothing to fold.
impl Drop for Session {
    fn drop(&mut self) {
        let home = self.path().join("data/fathom");
        if std::thread::panicking() || !home.exists() {
            return;
        }
        let options = RuntimeOptions {
            programs: Arc::new(DrillPrograms),
            ..RuntimeOptions::new(home, |_| None)
        };
        let Ok(host) = Runtime::open(options) else {
            return;
        };
        for info in host.runs(1_000).unwrap_or_default() {
            if let Ok(replay) = host.replay(info.run) {
                assert_eq!(replay.differences, [], "{}", info.run);
            }
        }
    }
}

impl Session {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a folder"),
        }
    }

    /// A session whose script is `answers.jsonl`.
    pub(crate) fn scripted(lines: &[Value]) -> Self {
        let session = Self::new();
        session.script("answers.jsonl", lines);
        session
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let file = self.path().join(name);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("it can be made");
        std::fs::write(&file, text).expect("it can be written");
        file
    }

    pub(crate) fn script(&self, name: &str, lines: &[Value]) {
        let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
        self.write(name, &lines.join("\n"));
    }

    /// The binary, with its home in this folder.
    #[expect(
        clippy::disallowed_methods,
        reason = "the binary under test is a process of its own"
    )]
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
        command
            .args(arguments)
            .current_dir(self.path())
            .env("XDG_DATA_HOME", self.path().join("data"))
            .env("XDG_CACHE_HOME", self.path().join("cache"))
            .stdin(Stdio::null());
        for variable in CLEARED {
            command.env_remove(variable);
        }
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Done {
        Done::from(self.command(arguments).output().expect("the binary starts"))
    }

    /// Asks the script `answers.jsonl`.
    pub(crate) fn ask(&self, arguments: &[&str]) -> Done {
        let model = ["--model", "script/answers.jsonl"];
        let arguments: Vec<&str> = ["ask"]
            .iter()
            .chain(arguments)
            .chain(&model)
            .copied()
            .collect();
        self.run(&arguments)
    }

    /// The id of the newest run.
    pub(crate) fn newest(&self) -> String {
        let runs = self.run(&["runs", "--json"]).json();
        runs["runs"][0]["run"].as_str().expect("a run").to_owned()
    }
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        Self {
            exit: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }
}

impl Done {
    /// The one JSON object of stdout.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let object: Value = serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}:\n{}\n{}", self.stdout, self.stderr));
        assert!(object.is_object());
        object
    }

    #[track_caller]
    pub(crate) fn exits(&self, code: i32) -> &Self {
        assert_eq!(self.exit, Some(code), "{}\n{}", self.stdout, self.stderr);
        self
    }

    /// It failed with this error, in the form of every error, and said nothing on stdout.
    #[track_caller]
    pub(crate) fn fails(&self, exit: i32, code: &str) -> &Self {
        self.exits(exit);
        let head = format!("error[{code}]: ");
        assert!(self.stderr.contains(&head), "{}", self.stderr);
        assert!(self.stderr.contains("\nhint: "), "{}", self.stderr);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        assert_eq!(self.stdout, "");
        self
    }

    #[track_caller]
    pub(crate) fn says(&self, text: &str) -> &Self {
        assert!(
            self.stderr.contains(text),
            "`{text}` is not in:\n{}",
            self.stderr
        );
        self
    }

    #[track_caller]
    pub(crate) fn prints(&self, text: &str) -> &Self {
        assert!(
            self.stdout.contains(text),
            "`{text}` is not in:\n{}",
            self.stdout
        );
        self
    }
}

/// The binary with a home and a model server, left to run; it dies with the test.
#[expect(
    clippy::disallowed_methods,
    reason = "the binary under test is a process of its own"
)]
pub(crate) fn fathom(home: &Path, server: &ModelServer, args: &[&str]) -> tokio::process::Child {
    tokio::process::Command::new(env!("CARGO_BIN_EXE_fathom"))
        .args(args)
        .args(["--json", "--model", "openai/any", "--base-url"])
        .arg(server.openai_url())
        .arg("--home")
        .arg(home)
        .env("FATHOM_PLATFORM_TOKEN", "sandbox-token")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("the binary starts")
}
