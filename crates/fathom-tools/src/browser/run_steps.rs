//! Taking steps on a page, with evidence of each, until one fails.

use std::time::Duration;

use fathom_core::effect::Evidence;
use fathom_core::id::Digest;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::declaration::{BrowserAction, BrowserSite, BrowserStep, FieldFilling};
use super::driver::{BrowserSession, LOAD_MS_MAX};
use super::page_scripts;
use super::wire::{Element, WireError};
use crate::secret::{PlatformKey, PlatformSecrets};

/// Time limit of a step.
const STEP_MS_MAX: u64 = LOAD_MS_MAX + 10_000;
/// Maximum number of characters of the driver's error that are kept.
const CAUSE_CHARS_MAX: usize = 300;

/// Reasons for ending a walk early.
#[derive(Debug, thiserror::Error)]
pub(super) enum RunHalt {
    /// The page does not match the charter's steps.
    #[error("manual review: selector `{selector}` unstable: {cause}")]
    Unstable {
        selector: String,
        cause: &'static str,
    },
    /// The page has a different structure.
    #[error("manual review: the page of step `{step}` has changed: its skeleton is {skeleton}")]
    Changed { step: String, skeleton: Digest },
    /// A field changed the text typed into it.
    #[error("manual review: the field `{selector}` does not take the text as it is")]
    Altered { selector: String },
    /// A field would show a secret.
    #[error("manual review: the field `{selector}` is not one for passwords")]
    Open { selector: String },
    /// A secret is missing.
    #[error("the secret `{name}` is not set")]
    NoSecret { name: String },
    /// The browser or the network failed.
    #[error("the step `{step}` failed: {cause}")]
    Broken { step: String, cause: String },
}

/// Outcome of the click that causes the effect.
pub(super) enum ClickOutcome {
    /// Clicked.
    Yes,
    /// Certainly not clicked.
    No(RunHalt),
    /// Unknown.
    Perhaps(RunHalt),
}

/// A browser on its way through a charter's steps.
pub(super) struct BrowserRun<'a> {
    pub(super) session: &'a BrowserSession<'a>,
    pub(super) place: &'a BrowserSite,
    pub(super) filling: &'a FieldFilling,
    pub(super) secrets: &'a dyn PlatformSecrets,
    pub(super) evidence: Vec<Evidence>,
    pub(super) seen: Vec<Value>,
    /// Secrets that were typed; a page may repeat them.
    typed: Vec<PlatformKey>,
    taken: usize,
}

impl<'a> BrowserRun<'a> {
    pub(super) fn new(
        session: &'a BrowserSession<'a>,
        place: &'a BrowserSite,
        filling: &'a FieldFilling,
        secrets: &'a dyn PlatformSecrets,
    ) -> Self {
        Self {
            session,
            place,
            filling,
            secrets,
            evidence: Vec::new(),
            seen: Vec::new(),
            typed: Vec::new(),
            taken: 0,
        }
    }

    /// Opens the start page.
    pub(super) async fn begin(&mut self) -> Result<(), RunHalt> {
        let start = self.place.start.as_str();
        let label = "0 start";
        within(label, self.session.client.goto(start)).await?;
        self.witness(label).await
    }

    /// Takes steps in order.
    pub(super) async fn take(&mut self, steps: &[BrowserStep]) -> Result<(), RunHalt> {
        for step in steps {
            self.taken += 1;
            let label = step.label(self.taken);
            // A failed step needs evidence most; its own error is the one to report.
            let taken = self.step(step, &label).await;
            let witnessed = self.witness(&label).await;
            taken?;
            witnessed?;
        }
        Ok(())
    }

    async fn step(&mut self, step: &BrowserStep, label: &str) -> Result<(), RunHalt> {
        let session = self.session;
        let client = &session.client;
        match &step.act {
            BrowserAction::Open(path) => {
                let broken = || RunHalt::Broken {
                    step: label.to_owned(),
                    cause: "it leads to another host".to_owned(),
                };
                let page = self
                    .place
                    .page(&self.filling.keyed(path))
                    .ok_or_else(broken)?;
                within(label, client.goto(page.as_str())).await?;
                self.unchanged(step, label).await
            }
            BrowserAction::Fill(fill) => {
                self.unchanged(step, label).await?;
                let field = self.only(&fill.selector, label).await?;
                let held = match (&fill.value, &fill.secret) {
                    (Some(value), _) => {
                        let text = self.filling.text(value);
                        within(label, page_scripts::put(client, &field, &text)).await?
                    }
                    (None, name) => {
                        let name = name.as_deref().unwrap_or_default();
                        let no_secret = || RunHalt::NoSecret {
                            name: name.to_owned(),
                        };
                        let secret = self.secrets.secret(name).ok_or_else(no_secret)?;
                        let kind = within(label, client.attribute(&field, "type")).await?;
                        if kind.as_deref() != Some("password") {
                            let selector = fill.selector.clone();
                            return Err(RunHalt::Open { selector });
                        }
                        self.typed.push(secret.clone());
                        within(label, page_scripts::put(client, &field, secret.reveal())).await?
                    }
                };
                let selector = fill.selector.clone();
                held.then_some(()).ok_or(RunHalt::Altered { selector })
            }
            BrowserAction::Click(selector) => {
                self.unchanged(step, label).await?;
                let element = self.only(selector, label).await?;
                within(label, client.click(&element)).await
            }
            BrowserAction::Expect(expect) => {
                self.unchanged(step, label).await?;
                let selector = self.filling.keyed(&expect.selector);
                let element = self.only(&selector, label).await?;
                let Some(text) = &expect.text else {
                    return Ok(());
                };
                let shown = within(label, client.text(&element)).await?;
                let cause = "it says something else";
                says(&shown, &self.filling.text(text))
                    .then_some(())
                    .ok_or(RunHalt::Unstable { selector, cause })
            }
        }
    }

    /// Clicks the element that causes the effect. The result is not checked here.
    pub(super) async fn click(&mut self, step: &BrowserStep) -> ClickOutcome {
        self.taken += 1;
        let label = step.label(self.taken);
        let BrowserAction::Click(selector) = &step.act else {
            let cause = "it is nothing to click";
            let selector = label;
            return ClickOutcome::No(RunHalt::Unstable { selector, cause });
        };
        let found = match self.unchanged(step, &label).await {
            Ok(()) => self.only(selector, &label).await,
            Err(halt) => Err(halt),
        };
        let element = match found {
            Ok(element) => element,
            Err(halt) => {
                // The reason to stop is known; a failing screenshot adds nothing.
                let _ = self.witness(&label).await;
                return ClickOutcome::No(halt);
            }
        };
        // A tunnel hides lost answers and repeated requests, so the click starts with a new one.
        self.session.gate.renew();
        let limit = Duration::from_millis(STEP_MS_MAX);
        let clicked = match timeout(limit, self.session.client.click(&element)).await {
            Ok(Ok(())) => ClickOutcome::Yes,
            Ok(Err(error)) if was_not_clicked(&error) => ClickOutcome::No(broken(&label, &error)),
            Ok(Err(error)) => ClickOutcome::Perhaps(broken(&label, &error)),
            Err(_) => ClickOutcome::Perhaps(late(&label)),
        };
        // Evidence of the page after the click; if it fails, the following steps report what is missing.
        let _ = self.witness(&label).await;
        clicked
    }

    /// Number of visible elements that match the expectation.
    pub(super) async fn count(&mut self, step: &BrowserStep) -> Result<usize, RunHalt> {
        self.taken += 1;
        let label = step.label(self.taken);
        let BrowserAction::Expect(expect) = &step.act else {
            return Ok(0);
        };
        let selector = self.filling.keyed(&expect.selector);
        let found = within(
            &label,
            page_scripts::visible(&self.session.client, &selector),
        )
        .await?;
        let mut count = 0;
        for element in &found {
            let fits = match &expect.text {
                None => true,
                Some(text) => {
                    let shown = within(&label, self.session.client.text(element)).await?;
                    says(&shown, &self.filling.text(text))
                }
            };
            count += usize::from(fits);
        }
        self.witness(&label).await?;
        Ok(count)
    }

    /// The address of the current page.
    pub(super) async fn address(&self) -> String {
        let url = within("address", self.session.client.current_url()).await;
        url.map_or_else(|_| String::new(), |url| self.redacted(&url))
    }

    fn redacted(&self, text: &str) -> String {
        let text = text.to_owned();
        self.typed
            .iter()
            .fold(text, |text, typed| typed.redact(&text))
    }

    /// The single element that matches.
    async fn only(&self, selector: &str, label: &str) -> Result<Element, RunHalt> {
        let visible = page_scripts::visible(&self.session.client, selector);
        let mut found = within(label, visible).await?;
        let cause = match found.len() {
            0 => "nothing that can be seen matches",
            1 => "",
            _ => "more than one element matches",
        };
        match (found.pop(), cause) {
            (Some(element), "") => Ok(element),
            (_, cause) => Err(RunHalt::Unstable {
                selector: selector.to_owned(),
                cause,
            }),
        }
    }

    /// Compares the page with the skeleton that the charter pins, if there is one.
    async fn unchanged(&self, step: &BrowserStep, label: &str) -> Result<(), RunHalt> {
        let Some(pinned) = step.skeleton else {
            return Ok(());
        };
        let skeleton = within(label, page_scripts::skeleton(&self.session.client)).await?;
        if skeleton == pinned {
            return Ok(());
        }
        Err(RunHalt::Changed {
            step: label.to_owned(),
            skeleton,
        })
    }

    /// Stores the present page as evidence.
    async fn witness(&mut self, label: &str) -> Result<(), RunHalt> {
        let client = &self.session.client;
        let shown = within(label, page_scripts::shown(client)).await?;
        let evidence = [
            page_scripts::picture_evidence(
                label,
                &within(label, page_scripts::picture(client)).await?,
            ),
            page_scripts::text_evidence(label, &self.redacted(&shown)),
        ];
        let skeleton = within(label, page_scripts::skeleton(client)).await?;
        self.seen.push(json!({
            "step": label,
            "address": self.address().await,
            "skeleton": skeleton,
            "page": evidence[1].digest,
        }));
        self.evidence.extend(evidence);
        Ok(())
    }
}

/// Whether the element was certainly not clicked.
fn was_not_clicked(error: &WireError) -> bool {
    let WireError::Refused { error, .. } = error else {
        return false;
    };
    // After any other error the click may have gone through.
    matches!(
        error.as_str(),
        "element click intercepted"
            | "element not interactable"
            | "stale element reference"
            | "no such element"
    )
}

/// True if a text is shown; browsers show a run of white space as one space.
fn says(shown: &str, wanted: &str) -> bool {
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    flat(shown).contains(&flat(wanted))
}

async fn within<T>(
    label: &str,
    work: impl Future<Output = Result<T, WireError>>,
) -> Result<T, RunHalt> {
    match timeout(Duration::from_millis(STEP_MS_MAX), work).await {
        Ok(done) => done.map_err(|error| broken(label, &error)),
        Err(_) => Err(late(label)),
    }
}

fn broken(label: &str, error: &WireError) -> RunHalt {
    let cause = error.to_string();
    let cause = cause.lines().next().unwrap_or_default();
    RunHalt::Broken {
        step: label.to_owned(),
        cause: cause.chars().take(CAUSE_CHARS_MAX).collect(),
    }
}

fn late(label: &str) -> RunHalt {
    RunHalt::Broken {
        step: label.to_owned(),
        cause: "it took too long".to_owned(),
    }
}
