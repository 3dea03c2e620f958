//! A benchmark that is its own model server, in a process of its own, so that the server's work is nobody's.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

/// The word that makes this binary a model server.
pub(crate) const SERVE: &str = "serve";

/// A model server in a process of its own.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) url: String,
}

impl Server {
    pub(crate) fn start(latency_ms: u64) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([SERVE, &latency_ms.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        said.read_line(&mut url).unwrap();
        let url = url.trim().to_owned();
        Self { child, url }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // One that is gone already is all the better.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
