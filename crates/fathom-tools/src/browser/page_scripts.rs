//! Reading from a page and typing into it. The scripts are fixed; variable parts reach them as values.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fathom_core::effect::Evidence;
use fathom_core::id::Digest;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::driver::WINDOW;
use super::wire::{Client, Element, WireError};

/// Maximum size of a stored screenshot.
const PICTURE_BYTES_MAX: usize = 150_000;
/// Maximum size of a page's text that is stored. Its hash covers all of it.
const PAGE_BYTES_MAX: usize = 64 * 1024;

/// The page as text, without parts that differ between visits: scripts, styles, comments, tokens.
const PAGE: &str = r"
const page = document.documentElement.cloneNode(true);
page.querySelectorAll('script, style, link, meta, noscript').forEach(e => e.remove());
const comments = document.createTreeWalker(page, NodeFilter.SHOW_COMMENT);
const found = [];
while (comments.nextNode()) found.push(comments.currentNode);
found.forEach(comment => comment.remove());
page.querySelectorAll('*').forEach(e => {
    for (const name of ['nonce', 'style', 'integrity']) e.removeAttribute(name);
    if (e.tagName === 'INPUT') e.removeAttribute('value');
});
return page.outerHTML.replace(/\s+/g, ' ');
";

/// Structure of the page: elements with the attributes that forms and selectors rely on; no text, no number.
const SKELETON: &str = r"
const kept = ['id', 'name', 'type', 'role', 'action', 'method'];
const left_out = ['SCRIPT', 'STYLE', 'LINK', 'META', 'NOSCRIPT'];
const walk = e => '<' + e.tagName.toLowerCase()
    + kept.filter(a => e.hasAttribute(a)).map(a => ' ' + a + '=' + e.getAttribute(a).replace(/\d+/g, '#')).join('')
    + '>' + Array.from(e.children).filter(c => !left_out.includes(c.tagName)).map(walk).join('') + '</>';
return walk(document.body);
";

/// Puts a text into a field like typing would, but without key events: no character of it can press a key.
const PUT: &str = r"
const [field, text] = arguments;
const kinds = {INPUT: HTMLInputElement, TEXTAREA: HTMLTextAreaElement, SELECT: HTMLSelectElement};
const kind = kinds[field.tagName];
if (!kind) return null;
field.focus();
Object.getOwnPropertyDescriptor(kind.prototype, 'value').set.call(field, text);
field.dispatchEvent(new Event('input', {bubbles: true}));
field.dispatchEvent(new Event('change', {bubbles: true}));
return field.value;
";

/// The elements that a selector finds and a person would see.
pub(super) async fn visible(client: &Client, selector: &str) -> Result<Vec<Element>, WireError> {
    let mut visible = Vec::new();
    for element in client.find_all(selector).await? {
        if client.is_displayed(&element).await? {
            visible.push(element);
        }
    }
    Ok(visible)
}

/// Puts a text into a field, and says whether the field now holds it to the letter.
pub(super) async fn put(client: &Client, field: &Element, text: &str) -> Result<bool, WireError> {
    let held = client.execute(PUT, vec![json!(field), text.into()]).await?;
    // A text area knows one kind of line end.
    let wanted = text.replace("\r\n", "\n").replace('\r', "\n");
    Ok(held.as_str() == Some(&wanted))
}

/// Hash of how the page is built.
pub(super) async fn skeleton(client: &Client) -> Result<Digest, WireError> {
    let skeleton = client.execute(SKELETON, Vec::new()).await?;
    Ok(digest(skeleton.as_str().unwrap_or_default().as_bytes()))
}

/// The page as text.
pub(super) async fn shown(client: &Client) -> Result<String, WireError> {
    let page = client.execute(PAGE, Vec::new()).await?;
    Ok(page.as_str().unwrap_or_default().to_owned())
}

/// The page as evidence; a long one is stored in part.
pub(super) fn text_evidence(step: &str, page: &str) -> Evidence {
    Evidence {
        step: step.to_owned(),
        media: "text/html".to_owned(),
        digest: digest(page.as_bytes()),
        content: page[..page.floor_char_boundary(PAGE_BYTES_MAX)].into(),
    }
}

/// A screenshot as evidence; of one that is too large only the hash is stored.
pub(super) fn picture_evidence(step: &str, picture: &[u8]) -> Evidence {
    let content = if picture.len() <= PICTURE_BYTES_MAX {
        STANDARD.encode(picture)
    } else {
        String::new()
    };
    Evidence {
        step: step.to_owned(),
        media: "image/png".to_owned(),
        digest: digest(picture),
        content: content.into(),
    }
}

/// The window as PNG; one that is too large is taken again from a smaller window.
pub(super) async fn picture(client: &Client) -> Result<Vec<u8>, WireError> {
    let picture = client.screenshot().await?;
    if picture.len() <= PICTURE_BYTES_MAX {
        return Ok(picture);
    }
    let (width, height) = WINDOW;
    client.set_window_size(width / 2, height / 2).await?;
    let smaller = client.screenshot().await;
    client.set_window_size(width, height).await?;
    smaller
}

pub(super) fn digest(bytes: &[u8]) -> Digest {
    Digest(Sha256::digest(bytes).into())
}
