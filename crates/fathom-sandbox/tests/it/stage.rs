//! What an attack may not reach: a file, a process, ports and sockets that someone listens on, and memory of the host.

use std::fs;
use std::io::ErrorKind;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// Variable of the host's environment that no cell may see; whoever runs tests sets it.
pub(crate) const VARIABLE: &str = "CARGO_MANIFEST_DIR";

/// Most memory that the host may gain, whatever a worker does.
pub(crate) const GROWTH_BYTES_MAX: u64 = 64 << 20;

/// Everything that an attack is after, and would be seen to reach.
pub(crate) struct Stage {
    folder: TempDir,
    secret: String,
    tcp: TcpListener,
    udp: UdpSocket,
    unix: UnixListener,
    victim: Child,
    peak_bytes: u64,
}

impl Stage {
    pub(crate) fn set(name: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let secret = format!("secret-of-{name}-{:x}", std::process::id());
        fs::write(folder.path().join("secret.txt"), &secret).unwrap();
        fs::write(
            folder.path().join("secret_module.py"),
            format!("print('{secret}')"),
        )
        .unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        tcp.set_nonblocking(true).unwrap();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        udp.set_nonblocking(true).unwrap();
        let unix = UnixListener::bind(folder.path().join("socket")).unwrap();
        unix.set_nonblocking(true).unwrap();
        // The most memory from here on. Other tests may have run in this process before.
        fs::write("/proc/self/clear_refs", "5").unwrap();
        Self {
            secret,
            tcp,
            udp,
            unix,
            victim: victim(),
            folder,
            peak_bytes: peak_bytes(),
        }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("secret.txt")
    }

    /// Code with what it is after filled in. The word that gives it away is not in its text, so that no traceback quotes it.
    pub(crate) fn fill(&self, code: &str) -> String {
        let folder = self.folder.path().display().to_string();
        let fillings = [
            ("@FILE@", self.file().display().to_string()),
            ("@NAME@", "secret.txt".to_owned()),
            ("@UNIX@", format!("{folder}/socket")),
            ("@FOLDER@", folder),
            ("@TCP@", self.tcp.local_addr().unwrap().port().to_string()),
            ("@UDP@", self.udp.local_addr().unwrap().port().to_string()),
            ("@VICTIM@", self.victim.id().to_string()),
            ("@HOST@", std::process::id().to_string()),
            ("@ARCH@", std::env::consts::ARCH.to_owned()),
            ("@ENDIAN@", "big".to_owned()),
            ("@VARIABLE@", VARIABLE.to_owned()),
            (
                "@DEEP_PARENTHESES@",
                "(".repeat(5_000) + "1" + &")".repeat(5_000),
            ),
            ("@DEEP_LISTS@", "[".repeat(100_000) + &"]".repeat(100_000)),
            (
                "@DEEP_ATTRIBUTES@",
                "x = 1\nx".to_owned() + &".a".repeat(100_000),
            ),
            ("@DEEP_OPERATORS@", "-".repeat(200_000) + "1"),
            ("@DEEP_BLOCKS@", deep_blocks(200)),
            ("@LONG_SOURCE@", "x = 1\n".repeat(300_000)),
            ("@HUGE_LINE@", format!("'{}'; 1 / 0", "x".repeat(1_000_000))),
            ("\"BREACH", "\"BRE\" \"ACH".to_owned()),
        ];
        fillings
            .iter()
            .fold(code.to_owned(), |code, (mark, filling)| {
                code.replace(mark, filling)
            })
    }

    /// What an attack has reached, judging by all that its session said.
    pub(crate) fn harm(&mut self, said: &[String]) -> Vec<String> {
        let mut harm = Vec::new();
        let variable = variable();
        for text in said {
            for line in text.lines().filter(|line| line.contains("BREACH")) {
                harm.push(line.chars().take(200).collect());
            }
            if text.contains(&self.secret) {
                harm.push("it read the secret".to_owned());
            }
            if text.contains(&variable) {
                harm.push("it read the environment".to_owned());
            }
        }
        match fs::read_to_string(self.file()) {
            Ok(text) if text == self.secret => {}
            other => harm.push(format!("it changed the file: {other:?}")),
        }
        let there = fs::read_dir(self.folder.path()).unwrap().count();
        if there != 3 {
            harm.push(format!("the folder has {there} files"));
        }
        if self.victim.try_wait().unwrap().is_some() {
            harm.push("it ended another process".to_owned());
            self.victim = victim();
        }
        if connected(self.tcp.accept().map(drop)) {
            harm.push("it connected over TCP".to_owned());
        }
        if connected(self.unix.accept().map(drop)) {
            harm.push("it connected to a socket".to_owned());
        }
        if connected(self.udp.recv_from(&mut [0; 16]).map(drop)) {
            harm.push("it sent a datagram".to_owned());
        }
        let growth = peak_bytes().saturating_sub(self.peak_bytes);
        if growth > GROWTH_BYTES_MAX {
            harm.push(format!("the host grew by {growth} bytes"));
            self.peak_bytes += growth;
        }
        harm
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.victim.kill().unwrap();
        self.victim.wait().unwrap();
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "what no cell may see must be known here"
)]
fn variable() -> String {
    std::env::var(VARIABLE).unwrap()
}

/// A process that waits until it is ended.
#[expect(
    clippy::disallowed_methods,
    reason = "the test is the one who watches this process"
)]
fn victim() -> Child {
    Command::new("cat")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

fn connected(result: std::io::Result<()>) -> bool {
    match result {
        Ok(()) => true,
        Err(error) => error.kind() != ErrorKind::WouldBlock,
    }
}

/// Most memory that this process ever had.
fn peak_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kibibytes = line.and_then(|line| line.split_whitespace().nth(1));
    kibibytes.unwrap().parse::<u64>().unwrap() << 10
}

fn deep_blocks(depth: usize) -> String {
    let mut code = String::new();
    for level in 0..depth {
        code += &" ".repeat(level);
        code += "if 1:\n";
    }
    code + &" ".repeat(depth) + "pass\n"
}
