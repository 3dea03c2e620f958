//! What is said to the driver of a browser: the eleven commands of `WebDriver` that a walk needs, as JSON over HTTP.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::CONTENT_TYPE;
use reqwest::redirect::Policy;
use reqwest::{Certificate, Method};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::runtime::Handle;

/// Most of what is said about an answer that is none.
const SHOWN_CHARS_MAX: usize = 300;

/// Largest answer: a picture of the window, and the page as text, each with room to spare.
const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// A command that was not carried out, or of which nobody knows.
#[derive(Debug, thiserror::Error)]
pub(super) enum WireError {
    /// The driver says what went wrong.
    #[error("webdriver returned error: {message}")]
    Refused {
        /// Its short name in the standard, as `no such element`.
        error: String,
        message: String,
    },
    /// The answer never came, or not whole.
    #[error("the driver cannot be reached: {0}")]
    Lost(#[from] reqwest::Error),
    /// The answer is not one of a driver.
    #[error("the driver answered something else: {said}")]
    Odd { said: String },
}

impl WireError {
    fn odd(said: impl AsRef<str>) -> Self {
        let said = said.as_ref().chars().take(SHOWN_CHARS_MAX).collect();
        Self::Odd { said }
    }
}

/// An element, by the name that the driver gave it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Element {
    /// The key is part of the standard; a script gets the element under it.
    #[serde(rename = "element-6066-11e4-a52e-4f735466cecf")]
    id: String,
}

/// One session: a browser with one window. It ends with this at the latest.
pub(super) struct Client {
    http: reqwest::Client,
    address: String,
    is_closed: AtomicBool,
}

impl Drop for Client {
    fn drop(&mut self) {
        if *self.is_closed.get_mut() {
            return;
        }
        // A walk that was given up half-way waits for nothing; without a runtime the driver goes as well.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(self.http.delete(&self.address).send());
        }
    }
}

impl Client {
    /// Starts a browser.
    pub(super) async fn start(
        driver: &str,
        capabilities: Map<String, Value>,
    ) -> Result<Self, WireError> {
        #[derive(Deserialize)]
        struct Started {
            #[serde(rename = "sessionId")]
            session: String,
        }
        let http = http()?;
        let wanted = json!({ "capabilities": { "alwaysMatch": capabilities, "firstMatch": [{}] } });
        let address = format!("{driver}/session");
        let started: Started = typed(&send(&http, Method::POST, &address, Some(wanted)).await?)?;
        let address = format!("{driver}/session/{}", started.session);
        Ok(Self {
            http,
            address,
            is_closed: AtomicBool::new(false),
        })
    }

    /// Ends it.
    pub(super) async fn close(&self) -> Result<(), WireError> {
        self.is_closed.store(true, Ordering::Relaxed);
        self.send(Method::DELETE, "", None).await.map(drop)
    }

    pub(super) async fn goto(&self, url: &str) -> Result<(), WireError> {
        self.post("/url", json!({ "url": url })).await.map(drop)
    }

    pub(super) async fn current_url(&self) -> Result<String, WireError> {
        typed(&self.get("/url").await?)
    }

    /// Carries a script out in the page.
    pub(super) async fn execute(
        &self,
        script: &str,
        arguments: Vec<Value>,
    ) -> Result<Value, WireError> {
        let script = json!({ "script": script, "args": arguments });
        self.post("/execute/sync", script).await
    }

    /// The window as PNG.
    pub(super) async fn screenshot(&self) -> Result<Vec<u8>, WireError> {
        let picture: String = typed(&self.get("/screenshot").await?)?;
        STANDARD
            .decode(&picture)
            .map_err(|_| WireError::odd(picture))
    }

    pub(super) async fn set_window_size(&self, width: u32, height: u32) -> Result<(), WireError> {
        let size = json!({ "width": width, "height": height });
        self.post("/window/rect", size).await.map(drop)
    }

    pub(super) async fn find_all(&self, selector: &str) -> Result<Vec<Element>, WireError> {
        let wanted = json!({ "using": "css selector", "value": selector });
        typed(&self.post("/elements", wanted).await?)
    }

    pub(super) async fn is_displayed(&self, element: &Element) -> Result<bool, WireError> {
        typed(&self.get(&at(element, "/displayed")).await?)
    }

    pub(super) async fn text(&self, element: &Element) -> Result<String, WireError> {
        typed(&self.get(&at(element, "/text")).await?)
    }

    pub(super) async fn attribute(
        &self,
        element: &Element,
        name: &'static str,
    ) -> Result<Option<String>, WireError> {
        let path = format!("/attribute/{name}");
        typed(&self.get(&at(element, &path)).await?)
    }

    pub(super) async fn click(&self, element: &Element) -> Result<(), WireError> {
        self.post(&at(element, "/click"), json!({})).await.map(drop)
    }

    async fn get(&self, path: &str) -> Result<Value, WireError> {
        self.send(Method::GET, path, None).await
    }

    async fn post(&self, path: &str, body: Value) -> Result<Value, WireError> {
        self.send(Method::POST, path, Some(body)).await
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> Result<Value, WireError> {
        send(&self.http, method, &format!("{}{path}", self.address), body).await
    }
}

fn at(element: &Element, path: &str) -> String {
    format!("/element/{}{path}", element.id)
}

fn typed<T: serde::de::DeserializeOwned>(value: &Value) -> Result<T, WireError> {
    T::deserialize(value).map_err(|_| WireError::odd(value.to_string()))
}

/// Sends one command and reads its answer: `{"value": …}` in any case, and an error's name in it where the status is one.
async fn send(
    http: &reqwest::Client,
    method: Method,
    url: &str,
    body: Option<Value>,
) -> Result<Value, WireError> {
    let mut request = http.request(method, url);
    if let Some(body) = body {
        request = request
            .header(CONTENT_TYPE, "application/json; charset=utf-8")
            .body(body.to_string());
    }
    let mut response = request.send().await?;
    let status = response.status();
    let mut answer = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if answer.len() + chunk.len() > ANSWER_BYTES_MAX {
            return Err(WireError::odd("more than can be read"));
        }
        answer.extend_from_slice(&chunk);
    }
    read(status.is_success(), &answer)
}

fn read(is_success: bool, answer: &[u8]) -> Result<Value, WireError> {
    #[derive(Deserialize)]
    struct Answer {
        value: Value,
    }
    #[derive(Deserialize)]
    struct Refusal {
        error: String,
        message: String,
    }
    let odd = || WireError::odd(String::from_utf8_lossy(answer));
    let Answer { value } = serde_json::from_slice(answer).map_err(|_| odd())?;
    if is_success {
        return Ok(value);
    }
    let Refusal { error, message } = Refusal::deserialize(&value).map_err(|_| odd())?;
    Err(WireError::Refused { error, message })
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is where the client of the browser's driver is made: it listens on this machine alone"
)]
fn http() -> Result<reqwest::Client, reqwest::Error> {
    // An error means that the process already has a provider, which serves as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .http1_only()
        .connect_timeout(CONNECT_TIMEOUT)
        // A click must never be sent a second time because a connection was closed meanwhile.
        .pool_max_idle_per_host(0)
        .tcp_nodelay(true)
        .redirect(Policy::none())
        .no_proxy()
        .retry(reqwest::retry::never())
        .referer(false)
        .tls_certs_only(std::iter::empty::<Certificate>())
        .build()
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
