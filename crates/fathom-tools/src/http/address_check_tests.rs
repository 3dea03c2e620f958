use std::net::{IpAddr, SocketAddr};

use reqwest::Url;

use super::{ReachableHosts, blocked, is_odd};

/// Addresses that no tool reaches unless the charter names them.
const REFUSED: &[&str] = &[
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "10.255.255.255",
    "100.64.0.1",
    "100.100.100.200",
    "100.127.255.255",
    "127.0.0.1",
    "127.1.2.3",
    "127.255.255.254",
    "168.63.129.16",
    "169.254.0.1",
    "169.254.169.254",
    "169.254.170.2",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.0.192",
    "192.0.2.7",
    "192.88.99.1",
    "192.168.0.1",
    "192.168.255.255",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.9",
    "203.0.113.5",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::7f00:1",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "::ffff:8.8.8.8",
    "::ffff:0:127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::8.8.8.8",
    "64:ff9b:1::a9fe:a9fe",
    "100::1",
    "2001::1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "2001:2::1",
    "2001:10::1",
    "2001:20::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "2002:a9fe:a9fe::1",
    "2002:808:808::1",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::a9fe:a9fe",
    "fec0::1",
    "ff02::1",
    "ff0e::1",
];

/// Addresses of the public internet, on both sides of what is refused.
const PUBLIC: &[&str] = &[
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.1",
    "100.63.255.255",
    "100.128.0.1",
    "126.255.255.255",
    "128.0.0.1",
    "168.63.129.17",
    "169.253.255.255",
    "172.15.255.255",
    "172.32.0.1",
    "192.0.1.1",
    "192.167.255.255",
    "198.17.255.255",
    "198.20.0.1",
    "223.255.255.255",
    "2001:200::1",
    "2001:4860:4860::8888",
    "2003::1",
    "2606:4700::1111",
    "2a00:1450:4001::1",
];

/// Addresses of requests that are refused before any name is looked up, however they are spelt.
const URLS_REFUSED: &[&str] = &[
    "http://127.0.0.1/",
    "http://127.1/",
    "http://0x7f.1/",
    "http://0x7f000001/",
    "http://2130706433/",
    "http://017700000001/",
    "http://0177.0.0.1/",
    "http://127.0.0.1./",
    "http://①②⑦.0.0.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://0xa9fea9fe/",
    "http://2852039166/",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://0/",
    "https://user@example.com/",
    "https://user:word@example.com/",
    "https://example.com@127.0.0.1/",
    "http://example.com:22/",
    "https://example.com:6379/",
    "http://example.com:8080/",
    "ftp://example.com/",
    "file:///etc/passwd",
    "gopher://example.com/",
    "data:text/plain,x",
];

#[test]
fn e18_addresses_that_are_not_public_are_refused_whatever_form_they_have() {
    for address in REFUSED {
        let address: IpAddr = address.parse().unwrap();
        assert!(blocked(address).is_some(), "{address} is let through");
    }
    for address in PUBLIC {
        let address: IpAddr = address.parse().unwrap();
        assert_eq!(blocked(address), None, "{address} is refused");
    }
}

#[test]
fn e18_urls_that_hide_where_they_lead_are_refused() {
    let reach = ReachableHosts::default();
    for url in URLS_REFUSED {
        let parsed = Url::parse(url).unwrap();
        assert!(reach.check_url(&parsed).is_err(), "{url} is let through");
    }
    for url in [
        "https://example.com/",
        "http://example.com/x?y=z",
        "https://8.8.8.8/",
    ] {
        let parsed = Url::parse(url).unwrap();
        assert_eq!(reach.check_url(&parsed), Ok(()), "{url} is refused");
    }
}

#[test]
fn a_charter_names_exceptions_by_address_and_port_and_nothing_more() {
    let reach = ReachableHosts::new(
        &["api.example.com:8443".into()],
        &["127.0.0.1:8080".into(), "[::1]:8080".into()],
    )
    .unwrap();
    let at = |text: &str| reach.check_address(text.parse::<SocketAddr>().unwrap());
    assert_eq!(at("127.0.0.1:8080"), Ok(()));
    assert_eq!(at("[::1]:8080"), Ok(()));
    assert!(at("127.0.0.1:8081").is_err());
    assert!(at("127.0.0.2:8080").is_err());
    assert!(at("[::ffff:127.0.0.1]:8080").is_err());
    let url = |text: &str| reach.check_url(&Url::parse(text).unwrap());
    assert_eq!(url("https://api.example.com:8443/"), Ok(()));
    assert!(url("https://other.example.com:8443/").is_err());
    assert!(url("https://api.example.com:9443/").is_err());
    for entry in [
        "*.example.com",
        "a b",
        "https://example.com",
        "example.com/x",
        "EXAMPLE.com",
    ] {
        assert!(
            ReachableHosts::new(&[entry.into()], &[]).is_err(),
            "{entry}"
        );
    }
    assert!(ReachableHosts::new(&[], &["localhost:80".into()]).is_err());
}

#[test]
fn an_address_that_is_spelt_oddly_is_seen() {
    let odd = |text: &str| is_odd(text, &Url::parse(text).unwrap());
    assert!(odd("http://0x08.8.8.8/"));
    assert!(odd("http://134744072/"));
    assert!(!odd("http://8.8.8.8/"));
    assert!(!odd("http://example.com/"));
}
