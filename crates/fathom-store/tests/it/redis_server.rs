//! A real Redis server in a folder of its own.

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::TcpListener;
use std::process::{Child, ChildStdout, Command, Stdio};

use fathom_store::symbols::RedisAddress;
use tempfile::TempDir;

/// How often a port may turn out to be taken by another test.
const PORTS_MAX: u32 = 8;

pub(crate) struct RedisServer {
    folder: TempDir,
    port: u16,
    process: Child,
    /// Held open: the server goes on to write to it.
    output: BufReader<ChildStdout>,
}

impl RedisServer {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (port, (process, output)) = (0..PORTS_MAX)
            .find_map(|_| {
                let free = TcpListener::bind(("127.0.0.1", 0)).unwrap();
                let port = free.local_addr().unwrap().port();
                drop(free);
                Some((port, spawn(&folder, port)?))
            })
            .unwrap();
        Self {
            folder,
            port,
            process,
            output,
        }
    }

    /// Ends the server as a crash would.
    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// The same server once more, on what it had written.
    pub(crate) fn start_again(&mut self) {
        (self.process, self.output) = spawn(&self.folder, self.port).unwrap();
    }

    pub(crate) fn url(&self, login: &str) -> String {
        format!("redis://{login}127.0.0.1:{}/0", self.port)
    }

    pub(crate) fn address(&self, prefix: &str) -> RedisAddress {
        RedisAddress::parse(&self.url(""), prefix).unwrap()
    }

    /// Says something to the server itself.
    pub(crate) fn say(&self, words: &[&str]) {
        let client = redis::Client::open(self.url("")).unwrap();
        let mut connection = client.get_connection().unwrap();
        let mut command = redis::cmd(words[0]);
        command.arg(&words[1..]).exec(&mut connection).unwrap();
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        // It may be dead already.
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

/// None where the port is taken. Comes back when the server takes connections.
#[expect(
    clippy::disallowed_methods,
    reason = "a backend is tested on the real server, which is a process"
)]
fn spawn(folder: &TempDir, port: u16) -> Option<(Child, BufReader<ChildStdout>)> {
    let mut process = Command::new("redis-server")
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1"])
        .args(["--appendonly", "yes", "--save", ""])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("no redis-server, `scripts/setup-redis` installs it: {error}"))
        .unwrap();
    let mut output = BufReader::new(process.stdout.take().unwrap());
    let ready = output
        .by_ref()
        .lines()
        .any(|line| line.unwrap().contains("Ready to accept connections"));
    if ready {
        return Some((process, output));
    }
    process.wait().unwrap();
    None
}
