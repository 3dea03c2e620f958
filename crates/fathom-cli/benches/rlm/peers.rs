//! The same rows of those we are compared with; each says by itself what it cannot do here.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use serde::Deserialize;

use crate::Bench;

/// A line of a peer's script.
#[derive(Deserialize)]
struct Line {
    peer: String,
    what: String,
    seen: String,
}

impl Bench {
    pub(crate) fn peers(&self) {
        let python = std::env::var_os("FATHOM_BENCH_RLM_PEERS").filter(|python| !python.is_empty());
        let Some(python) = python else {
            println!(
                "\nrlms and dspy.RLM are not installed: FATHOM_BENCH_RLM_PEERS names a Python that has them"
            );
            return;
        };
        for peer in ["rlms", "dspy"] {
            println!();
            let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/peers/rlm_peers.py");
            let mut child = Command::new(&python)
                .args([script, peer])
                .args(["--zero", &self.at_once.url])
                .args(["--fifty", &self.at_50_ms.url])
                .arg("--large")
                .arg(&self.large)
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            for line in BufReader::new(child.stdout.take().unwrap()).lines() {
                let line = line.unwrap();
                // What a peer prints itself is no row.
                match serde_json::from_str::<Line>(&line) {
                    Ok(row) => self
                        .table
                        .borrow_mut()
                        .peers(&row.peer, &row.what, &row.seen),
                    Err(_) => println!("{line}"),
                }
            }
            let status = child.wait().unwrap();
            if !status.success() {
                println!("{peer} cannot run here: {status}");
            }
        }
    }
}
