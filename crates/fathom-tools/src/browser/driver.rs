//! The browser driver: a separate process, started on first use.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::{Mutex, Semaphore, SemaphorePermit};
use tokio::time::timeout;

use super::error::BrowserError;
use super::proxy::BrowserProxy;
use super::wire::Client;

/// Time limit for starting the driver or the browser: long, since waiting on a busy machine does no harm.
const START_MS_MAX: u64 = 120_000;
/// Maximum number of browsers at a time.
const SESSIONS_MAX: usize = 2;
/// Maximum number of lines that the driver prints before it is ready.
const LINES_MAX: usize = 20;
/// Time limit for an element to appear.
const APPEAR_MS_MAX: u64 = 2_000;
/// Time limit for loading a page.
pub(super) const LOAD_MS_MAX: u64 = 60_000;
/// Window size: small, so that screenshots are.
pub(super) const WINDOW: (u32, u32) = (800, 600);

/// Kills its process group once its standard input closes: when the driver is dropped, or this process is
/// killed.
const WATCH: &str = r#""$0" "$@" </dev/null & read -r _; kill -KILL 0"#;

/// Paths of the two programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrowserInstall {
    pub chromedriver: PathBuf,
    pub chromium: PathBuf,
}

impl BrowserInstall {
    /// Finds the programs: in `FATHOM_CHROMEDRIVER` and `FATHOM_CHROMIUM`, otherwise by name on `PATH`.
    /// `variable` reads the environment.
    pub fn find(variable: impl Fn(&str) -> Option<OsString>) -> Result<Self, BrowserError> {
        let folders = variable("PATH").unwrap_or_default();
        let find = |named: &str, names: &[&'static str]| {
            if let Some(path) = variable(named).filter(|path| !path.is_empty()) {
                return Some(PathBuf::from(path)).filter(|path| path.is_file());
            }
            let folders: Vec<PathBuf> = std::env::split_paths(&folders).collect();
            let paths = names
                .iter()
                .flat_map(|name| folders.iter().map(move |f| f.join(name)));
            paths.into_iter().find(|path| path.is_file())
        };
        let missing = |program| BrowserError::NoProgram { program };
        Ok(Self {
            chromedriver: find("FATHOM_CHROMEDRIVER", &["chromedriver"])
                .ok_or_else(|| missing("chromedriver"))?,
            chromium: find(
                "FATHOM_CHROMIUM",
                &["chromium", "chromium-browser", "google-chrome"],
            )
            .ok_or_else(|| missing("chromium"))?,
        })
    }
}

/// Starts browsers, one per walk and each with its own profile.
pub struct BrowserDriver {
    installed: BrowserInstall,
    process: Mutex<Option<DriverProcess>>,
    sessions: Semaphore,
}

impl BrowserDriver {
    /// A driver that starts on first use.
    pub fn new(installed: BrowserInstall) -> Self {
        Self {
            installed,
            process: Mutex::new(None),
            sessions: Semaphore::new(SESSIONS_MAX),
        }
    }

    /// A browser that reaches only `hosts`.
    pub(super) async fn session(
        &self,
        hosts: &[String],
    ) -> Result<BrowserSession<'_>, BrowserError> {
        let failed = |cause: String| BrowserError::Session { cause };
        let place = self.sessions.acquire().await;
        let place = place.map_err(|error| failed(error.to_string()))?;
        let gate = BrowserProxy::open(hosts)
            .await
            .map_err(|source| BrowserError::Driver { source })?;
        let profile = tempfile::Builder::new()
            .prefix("fathom-browser-")
            .tempdir()
            .map_err(|source| BrowserError::Driver { source })?;
        let address = self.address().await?;
        let capabilities = capabilities(&self.installed.chromium, &gate, profile.path());
        let connected = timeout(
            Duration::from_millis(START_MS_MAX),
            Client::start(&address, capabilities),
        );
        let client = connected
            .await
            .map_err(|_| failed("it took too long".to_owned()))?
            .map_err(|error| failed(error.to_string()))?;
        Ok(BrowserSession {
            client,
            gate,
            _profile: profile,
            _place: place,
        })
    }

    /// Address of the driver, which is started if it is not running.
    async fn address(&self) -> Result<String, BrowserError> {
        let mut process = self.process.lock().await;
        if let Some(running) = process.as_mut()
            && matches!(running.child.try_wait(), Ok(None))
        {
            return Ok(running.address());
        }
        let started = timeout(
            Duration::from_millis(START_MS_MAX),
            DriverProcess::start(&self.installed.chromedriver),
        );
        let started = started
            .await
            .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
            .map_err(|source| BrowserError::Driver { source })?;
        Ok(process.insert(started).address())
    }
}

/// The running driver. Dropping it closes its input, which ends its process group.
struct DriverProcess {
    port: u16,
    child: Child,
    _input: ChildStdin,
}

impl DriverProcess {
    async fn start(chromedriver: &Path) -> io::Result<Self> {
        let mut child = watched(chromedriver).spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let mut lines = BufReader::new(output).lines();
        for _ in 0..LINES_MAX {
            let Some(line) = lines.next_line().await? else {
                break;
            };
            if let Some(port) = port_in(&line) {
                return Ok(Self {
                    port,
                    child,
                    _input: input,
                });
            }
        }
        Err(io::ErrorKind::UnexpectedEof.into())
    }

    fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the driver is the one process that the browser tool starts; it ends with its owner"
)]
fn watched(chromedriver: &Path) -> Command {
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", WATCH])
        .arg(chromedriver)
        // The driver picks a free port and prints it.
        .arg("--port=0")
        // Variables may hold keys, and a browser needs none.
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", std::env::temp_dir())
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}

/// The port in the line that reports that the driver is ready.
fn port_in(line: &str) -> Option<u16> {
    let (_, port) = line.split_once("started successfully on port ")?;
    port.trim_end_matches('.').parse().ok()
}

fn capabilities(chromium: &Path, gate: &BrowserProxy, profile: &Path) -> Map<String, Value> {
    let (width, height) = WINDOW;
    let arguments = [
        "--headless=new".to_owned(),
        "--no-sandbox".to_owned(),
        "--disable-gpu".to_owned(),
        "--disable-dev-shm-usage".to_owned(),
        "--disable-extensions".to_owned(),
        "--disable-background-networking".to_owned(),
        "--disable-component-update".to_owned(),
        "--disable-sync".to_owned(),
        "--disable-auto-reload".to_owned(),
        "--no-first-run".to_owned(),
        // The browser ends with the driver, however the driver ends.
        "--remote-debugging-pipe".to_owned(),
        // All hosts go through the gate, those of this machine included, and no name is resolved outside of it.
        format!("--proxy-server=http://127.0.0.1:{}", gate.port()),
        "--proxy-bypass-list=<-loopback>".to_owned(),
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1".to_owned(),
        "--webrtc-ip-handling-policy=disable_non_proxied_udp".to_owned(),
        format!("--window-size={width},{height}"),
        format!("--user-data-dir={}", profile.display()),
    ];
    let capabilities = json!({
        "browserName": "chrome",
        "goog:chromeOptions": {
            "binary": chromium,
            "args": arguments,
            // No connection is opened before a page asks for it.
            "prefs": {"net.network_prediction_options": 2},
        },
        "timeouts": {"implicit": APPEAR_MS_MAX, "pageLoad": LOAD_MS_MAX, "script": LOAD_MS_MAX},
    });
    match capabilities {
        Value::Object(capabilities) => capabilities,
        _ => Map::new(),
    }
}

/// A browser with its gate and profile.
pub(super) struct BrowserSession<'a> {
    pub(super) client: Client,
    pub(super) gate: BrowserProxy,
    _profile: TempDir,
    _place: SemaphorePermit<'a>,
}

impl BrowserSession<'_> {
    /// Closes the browser before its profile is deleted.
    pub(super) async fn close(self) {
        let closed = timeout(Duration::from_millis(START_MS_MAX), self.client.close());
        if !matches!(closed.await, Ok(Ok(()))) {
            tracing::warn!("the browser did not close");
        }
    }
}

#[cfg(test)]
#[path = "driver_tests.rs"]
mod tests;
