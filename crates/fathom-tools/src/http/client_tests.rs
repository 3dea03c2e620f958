use std::sync::Arc;
use std::time::Duration;

use reqwest::header::HeaderMap;
use reqwest::{Method, StatusCode, Url};
use serde_json::json;

use super::{HttpToolClient, OutgoingRequest, SystemResolver};
use crate::http::address_check::ReachableHosts;
use crate::secret::PlatformKey;

/// Where a redirect from `https://home.example/a` leads: method, whether body and key go along, or why it is refused.
fn follow(method: Method, status: u16, location: &str) -> Result<(Method, bool, bool), String> {
    let reach = ReachableHosts::new(&["listed.example".into()], &[]).unwrap();
    let client = HttpToolClient::new(
        Arc::new(reach),
        Arc::new(SystemResolver),
        Duration::from_secs(1),
    );
    let home = Url::parse("https://home.example/a").unwrap();
    let outgoing = OutgoingRequest {
        method,
        url: home.clone(),
        headers: HeaderMap::new(),
        token: Some(PlatformKey::new("key")),
        body: Some(json!({})),
    };
    let status = StatusCode::from_u16(status).unwrap();
    let followed = client.follow(outgoing, &home, status, location);
    let next = followed.map_err(|(_, blocked)| blocked.to_string())?;
    Ok((next.method, next.body.is_some(), next.token.is_some()))
}

#[test]
fn e18_a_redirect_never_leaves_https_and_never_takes_the_key_along() {
    assert_eq!(
        follow(Method::GET, 302, "/b"),
        Ok((Method::GET, false, true))
    );
    assert_eq!(
        follow(Method::POST, 303, "/b"),
        Ok((Method::GET, false, true))
    );
    assert_eq!(
        follow(Method::POST, 308, "/b"),
        Ok((Method::POST, true, true))
    );
    let listed = "https://listed.example/b";
    assert_eq!(
        follow(Method::GET, 302, listed),
        Ok((Method::GET, false, false))
    );
    assert_eq!(
        follow(Method::POST, 303, listed),
        Ok((Method::GET, false, false))
    );
    for (method, status, location, cause) in [
        (Method::GET, 302, "http://home.example/b", "leaves https"),
        (Method::GET, 302, "http://listed.example/b", "leaves https"),
        (Method::POST, 307, listed, "not sent to another host"),
        (Method::GET, 302, "https://other.example/", "does not name"),
        (
            Method::GET,
            302,
            "https://listed.example.evil.example/",
            "does not name",
        ),
        (Method::GET, 302, "https://0x08080808/", "spelt oddly"),
        (Method::GET, 302, "https://8.8.8.8/", "does not name"),
        (Method::GET, 302, "https://home.example:22/", "port 22"),
        (
            Method::GET,
            302,
            "https://home.example@10.0.0.1/",
            "user name",
        ),
        (Method::GET, 302, "https://10.0.0.1/", "not public"),
    ] {
        let refused = follow(method, status, location).unwrap_err();
        assert!(refused.contains(cause), "{location}: {refused}");
    }
}
