//! What a cell gets at, what it is told of a failed call, and what a crash costs.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use fathom_host::{Runtime, RuntimeOptions};
use fathom_testkit::model_server::{ModelServer, ReplyBehaviour, SeenRequest};
use fathom_testkit::sample_records::answered_prompts;

use crate::{AMPLE, Bench, CODE, UNPRICED, batch};

/// A key that is none.
const KEY: &str = "sk-bench-000000000000000000000000";

/// Calls that the server has seen when the program is killed: some hundred are answered, 128 are not.
const SEEN_AT_KILL: usize = 400;

/// The same tries as on the peers.
const REACH: &str = include_str!("../peers/reach.py");
const FAILS: &str = include_str!("../peers/fails.py");
const LISTED: &str = "SUBMIT(__import__('json').dumps(got))";

/// The reply that runs the code of a question, if it is one for the root.
fn turn(seen: &SeenRequest) -> Option<ReplyBehaviour> {
    let (_, code) = seen.prompt.split_once(CODE)?;
    let code = code.lines().next()?.replace(";;", "\n");
    Some(ReplyBehaviour::reply(format!("```repl\n{code}\n```")))
}

fn in_one_line(code: &str) -> String {
    let lines = code.lines().filter(|line| !line.starts_with('#'));
    lines.chain([LISTED]).collect::<Vec<_>>().join(";;")
}

impl Bench {
    /// What a cell of the program itself, started with a key, gets at.
    pub(crate) async fn reach(&self) {
        let server = ModelServer::start(|seen: &SeenRequest| {
            turn(seen).unwrap_or_else(|| ReplyBehaviour::reply("fine"))
        });
        let server = server.await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        let code = in_one_line(REACH)
            .replace("PORT", &port.to_string())
            .replace("LENGTH", &KEY.len().to_string());
        let result = json(&self.rlm(&server, &code).wait_with_output().unwrap());
        let got: Vec<String> =
            serde_json::from_str(result["answer"].as_str().unwrap_or_default()).unwrap();
        let [passwd, _, environment, memory] = got.as_slice() else {
            panic!("a cell came back with {got:?}");
        };
        for (what, reached) in [
            ("reads /etc/passwd", passwd.contains("root:")),
            ("opens a socket", listener.accept().is_ok()),
            (
                "sees the API key in its environment",
                environment.contains(KEY),
            ),
            ("sees the API key in memory", memory.contains(KEY)),
        ] {
            self.row(what, if reached { "yes" } else { "no" }, "no", !reached);
        }
    }

    /// What code gets when the model's server is out of order.
    pub(crate) async fn failures(&self, host: &Runtime) {
        let server = ModelServer::start(|seen: &SeenRequest| {
            turn(seen).unwrap_or_else(|| ReplyBehaviour::status(500))
        });
        let server = server.await.unwrap();
        let ran = self
            .run_on(
                host,
                &server.openai_url(),
                UNPRICED,
                &in_one_line(FAILS),
                AMPLE,
            )
            .await;
        let got: Vec<String> = serde_json::from_str(ran.answer()).unwrap();
        for (what, said) in ["a failed sub-call", "  the same in a batch"]
            .iter()
            .zip(&got)
        {
            self.row(
                what,
                said,
                "a typed exception",
                said.contains("Unavailable"),
            );
        }
    }

    /// Killed in the middle of a batch, and resumed.
    pub(crate) async fn crash(&self) {
        let server = ModelServer::start(|seen: &SeenRequest| {
            let fine = || ReplyBehaviour::reply("fine").after(Duration::from_millis(50));
            turn(seen).unwrap_or_else(fine)
        });
        let server = server.await.unwrap();
        let mut child = self.rlm(&server, &batch(1000));
        server.until(|log| log.len() >= SEEN_AT_KILL).await;
        child.kill().unwrap();
        child.wait().unwrap();
        let home = self.home.with_file_name("killed");
        let host = Runtime::open(RuntimeOptions::new(home, |_| None)).unwrap();
        let run = *host.unfinished().unwrap().first().unwrap();
        let records = host.records(run).unwrap().into_iter();
        let durable = answered_prompts(records.map(|(_, record)| record));
        drop(host);
        let resumed = self.fathom(&server, &["resume", &run.to_string()]);
        let result = json(&resumed.wait_with_output().unwrap());
        let result = result.get("results").map_or(&result, |all| &all[0]);
        assert_eq!(result["answer"], "fine", "{result:#}");
        let mut asked: BTreeMap<String, usize> = BTreeMap::new();
        for entry in server.log() {
            *asked
                .entry(entry.seen.prompt.trim().to_owned())
                .or_default() += 1;
        }
        let times = |prompt: &String| asked.get(&format!("user: {prompt}")).copied().unwrap_or(0);
        let again = durable.iter().filter(|prompt| times(prompt) != 1).count();
        self.row(
            "kill -9 in a batch, then on from there",
            &format!("{again} of {} calls repeated", durable.len()),
            "no finished call repeated",
            again == 0 && !durable.is_empty(),
        );
    }

    fn rlm(&self, server: &ModelServer, code: &str) -> Child {
        let question = format!("{CODE}{code}");
        let file = self.small.to_str().unwrap();
        let arguments = ["rlm", &question, "--context", file, "--repl", "--no-resume"];
        self.fathom(server, &arguments)
    }

    /// The program itself, in a home of its own.
    fn fathom(&self, server: &ModelServer, arguments: &[&str]) -> Child {
        Command::new(env!("CARGO_BIN_EXE_fathom"))
            .args(arguments)
            .args(["--json", "--quiet", "--model", UNPRICED, "--base-url"])
            .arg(server.openai_url())
            .arg("--home")
            .arg(self.home.with_file_name("killed"))
            .env("OPENAI_API_KEY", KEY)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }
}

fn json(output: &Output) -> serde_json::Value {
    let said = serde_json::from_slice(&output.stdout);
    said.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}
