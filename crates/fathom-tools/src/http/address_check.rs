//! Addresses that a tool may reach: public ones, and those that the charter names.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::Url;

/// Ports that the charter need not name.
const PORTS: [u16; 2] = [80, 443];

/// Reasons for not reaching an address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlockedAddress {
    /// The address is not a public one.
    #[error("the address `{address}` is not public ({kind})")]
    Address { address: IpAddr, kind: &'static str },
    /// The port is neither usual nor named by the charter.
    #[error("port {port} of `{host}` is not named by the charter")]
    Port { host: String, port: u16 },
    /// The form of the address could hide its destination.
    #[error("the address is refused: {cause}")]
    Form { cause: &'static str },
    /// A redirect leads to a host that the charter does not name.
    #[error("a redirect to `{host}` is refused: {cause}")]
    Redirect { host: String, cause: &'static str },
}

/// An entry of `allow_hosts` or `allow_private` that is not a host or an address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot allow `{entry}`")]
pub struct InvalidReach {
    entry: String,
}

/// Kind of an address outside the public internet; `None` if it is public.
pub fn blocked(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => blocked_v4(address),
        IpAddr::V6(address) => blocked_v6(address),
    }
}

fn blocked_v4(address: Ipv4Addr) -> Option<&'static str> {
    // Metadata service of one cloud, though in a public range.
    if address == Ipv4Addr::new(168, 63, 129, 16) {
        return Some("metadata");
    }
    Some(match address.octets() {
        [0, ..] => "this network",
        [127, ..] => "loopback",
        [10, ..] | [192, 168, ..] | [172, 16..=31, ..] => "private",
        [100, 64..=127, ..] => "carrier-grade NAT",
        [169, 254, ..] => "link-local",
        [192, 0, 0, _] => "protocol assignments",
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => "documentation",
        [192, 88, 99, _] => "6to4 relay",
        [198, 18..=19, ..] => "benchmarking",
        [224..=239, ..] => "multicast",
        [240..=255, ..] => "reserved",
        _ => return None,
    })
}

/// Only global unicast is public, minus the ranges in it that embed or stand for other addresses.
fn blocked_v6(address: Ipv6Addr) -> Option<&'static str> {
    Some(match address.segments() {
        [0x2001, 0, ..] => "teredo",
        [0x2001, 1..=0x1ff, ..] => "protocol assignments",
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => "documentation",
        [0x2002, ..] => "6to4",
        [0x2000..=0x3fff, ..] => return None,
        [0, 0, 0, 0, 0, 0xffff, ..] => "mapped",
        [0x64, 0xff9b, ..] => "NAT64",
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => "loopback",
        [0xfc00..=0xfdff, ..] => "private",
        [0xfe80..=0xfebf, ..] => "link-local",
        [0xff00..=0xffff, ..] => "multicast",
        _ => "not global unicast",
    })
}

/// Addresses that a charter allows a tool to reach.
#[derive(Clone, Debug, Default)]
pub struct ReachableHosts {
    hosts: Vec<(String, Option<u16>)>,
    private: Vec<SocketAddr>,
}

/// Entry for "no address" in a list.
const NONE: &str = "none";

impl ReachableHosts {
    /// Parses `host` and `host:port`, and `address:port` for addresses that are not public.
    pub fn new(allow_hosts: &[String], allow_private: &[String]) -> Result<Self, InvalidReach> {
        let invalid = |entry: &String| InvalidReach {
            entry: entry.clone(),
        };
        let mut reach = Self::default();
        for entry in allow_hosts {
            let (host, port) = match entry.rsplit_once(':') {
                None => (entry.as_str(), None),
                Some((host, port)) => {
                    let port = port.parse().map_err(|_| invalid(entry))?;
                    (host, Some(port))
                }
            };
            let url = Url::parse(&format!("https://{host}/")).map_err(|_| invalid(entry))?;
            if url.host_str() != Some(host) || host.contains('*') {
                return Err(invalid(entry));
            }
            reach.hosts.push((host.to_owned(), port));
        }
        // A brand with a public platform leaves the placeholder for a private address empty.
        for entry in allow_private.iter().filter(|entry| *entry != NONE) {
            reach
                .private
                .push(entry.parse().map_err(|_| invalid(entry))?);
        }
        Ok(reach)
    }

    /// The union of both.
    #[must_use]
    pub fn and(mut self, more: &Self) -> Self {
        self.hosts.extend(more.hosts.iter().cloned());
        self.private.extend(&more.private);
        self
    }

    /// True if the charter names the host of `url`, or its address.
    pub fn names(&self, url: &Url) -> bool {
        let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
            return false;
        };
        let address = literal(url).map(|ip| SocketAddr::new(ip, port));
        self.hosts
            .iter()
            .any(|(name, named)| name == host && named.is_none_or(|named| named == port))
            || address.is_some_and(|address| self.private.contains(&address))
    }

    /// True if the charter names the private address and port of `url`.
    pub(crate) fn names_private(&self, url: &Url) -> bool {
        let port = url.port_or_known_default();
        literal(url)
            .zip(port)
            .is_some_and(|(ip, port)| self.private.contains(&SocketAddr::new(ip, port)))
    }

    /// Checks an address before a connection to it.
    pub fn check_address(&self, address: SocketAddr) -> Result<(), BlockedAddress> {
        if self.private.contains(&address) {
            return Ok(());
        }
        match blocked(address.ip()) {
            None => Ok(()),
            Some(kind) => Err(BlockedAddress::Address {
                address: address.ip(),
                kind,
            }),
        }
    }

    /// Checks everything about an address that does not need a name lookup.
    pub fn check_url(&self, url: &Url) -> Result<(), BlockedAddress> {
        let form = |cause| BlockedAddress::Form { cause };
        if !matches!(url.scheme(), "http" | "https") {
            return Err(form("only http and https are spoken"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(form("it has a user name or a password in it"));
        }
        let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
            return Err(form("it has no host"));
        };
        let named = self.private.iter().any(|private| private.port() == port)
            || self
                .hosts
                .iter()
                .any(|(name, named)| name == host && *named == Some(port));
        if !PORTS.contains(&port) && !named {
            return Err(BlockedAddress::Port {
                host: host.to_owned(),
                port,
            });
        }
        match literal(url) {
            Some(ip) => self.check_address(SocketAddr::new(ip, port)),
            None => Ok(()),
        }
    }
}

/// The IP address in the place of a host name.
fn literal(url: &Url) -> Option<IpAddr> {
    let host = url.host_str()?;
    let host = host.strip_prefix('[').unwrap_or(host);
    host.strip_suffix(']').unwrap_or(host).parse().ok()
}

/// True if `url` contains an address that `written` spells differently, such as `0x7f.1`.
pub(crate) fn is_odd(written: &str, url: &Url) -> bool {
    // With the slashes before it: `8.8.8.8` is also part of `0x08.8.8.8`.
    let stands = |host: &str| written.contains(&format!("//{host}"));
    literal(url).is_some() && url.host_str().is_some_and(|host| !stands(host))
}

#[cfg(test)]
#[path = "address_check_tests.rs"]
mod tests;
