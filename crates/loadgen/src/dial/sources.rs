//! The source addresses of connections, in turn.
//!
//! `limits::ports` checks whether they have enough ports.

use rustix::{
    io::Errno,
    net::{SocketFlags, SocketType, socket_with},
};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use wirebench_schema::load::SourceRange;

use super::endpoint::{Endpoint, bind};
use crate::error::LoadError;

/// The addresses that connections come from. Where there are none the kernel chooses.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources {
    ranges: Vec<SourceRange>,
    /// Number of addresses, at most `u128::MAX`.
    count: u128,
}

impl Sources {
    /// All addresses of these ranges, one after the other.
    pub(crate) fn new(ranges: &[SourceRange]) -> Self {
        let count = ranges.iter().map(count).fold(0, u128::saturating_add);
        Self { ranges: ranges.to_vec(), count }
    }

    /// The address that the connection with this number comes from.
    pub(crate) fn of(&self, number: usize) -> Option<IpAddr> {
        let mut place = (number as u128).checked_rem(self.count)?;
        for range in &self.ranges {
            let count = count(range);
            if place < count {
                return Some(nth(range, place));
            }
            place -= count;
        }
        None
    }

    /// Number of different addresses that this many connections use; one if the kernel chooses.
    pub(crate) fn used_by(&self, connections: usize) -> usize {
        usize::try_from(self.count).unwrap_or(usize::MAX).min(connections).max(1)
    }

    /// The endpoints reachable from these sources; or why there are none, or why sources that
    /// `connections` need cannot be used.
    pub(crate) fn check(
        &self,
        endpoints: Vec<Endpoint>,
        connections: usize,
    ) -> Result<Vec<Endpoint>, LoadError> {
        let Some(first) = self.of(0) else { return Ok(endpoints) };
        let refuse = |sentence: String| Err(LoadError::Configuration(sentence));
        let others = self.ranges.iter().find(|range| range.first.is_ipv4() != first.is_ipv4());
        if let Some(other) = others {
            return refuse(format!(
                "--source {first} and --source {} are addresses of different families: \
                 give addresses of the target's family alone",
                other.first
            ));
        }
        if let Some(address) = self.given_twice() {
            return refuse(format!("--source lists {address} twice: remove one"));
        }
        let given = endpoints.first().map_or_else(String::new, ToString::to_string);
        if endpoints.iter().all(|endpoint| endpoint.ip().is_none()) {
            return refuse(format!(
                "--source {first} does not apply to {given}: a Unix socket is connected to without \
                 an address; omit --source"
            ));
        }
        let same = |endpoint: &Endpoint| {
            endpoint.ip().is_some_and(|address| address.is_ipv4() == first.is_ipv4())
        };
        let endpoints: Vec<_> = endpoints.into_iter().filter(same).collect();
        if endpoints.is_empty() {
            return refuse(format!(
                "--source {first} is an {} address and {given} is not: give addresses of the \
                 target's family",
                family_name(first)
            ));
        }
        for number in 0..self.used_by(connections) {
            self.of(number).map_or(Ok(()), check_bindable)?;
        }
        Ok(endpoints)
    }

    fn given_twice(&self) -> Option<IpAddr> {
        self.ranges.iter().enumerate().find_map(|(place, range)| {
            let before = &self.ranges[..place];
            let overlaps =
                |other: &&SourceRange| other.first <= range.last && range.first <= other.last;
            before.iter().find(overlaps).map(|other| other.first.max(range.first))
        })
    }
}

const fn family_name(address: IpAddr) -> &'static str {
    match address {
        IpAddr::V4(_) => "IPv4",
        IpAddr::V6(_) => "IPv6",
    }
}

/// Whether this host has the address.
fn check_bindable(address: IpAddr) -> Result<(), LoadError> {
    let family = Endpoint::Ip(SocketAddr::new(address, 0)).family();
    let bound = socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)
        .and_then(|socket| bind(&socket, address));
    match bound {
        Ok(()) => Ok(()),
        Err(Errno::ADDRNOTAVAIL) => Err(LoadError::Configuration(format!(
            "this host does not have the address {address}: give --source addresses that \
             `ip address` lists, or of 127.0.0.0/8 for a server on this host"
        ))),
        Err(error) => Err(LoadError::Configuration(format!(
            "no connection can come from {address} ({error}): give --source addresses that \
             `ip address` lists"
        ))),
    }
}

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u128::from(address.to_bits()),
        IpAddr::V6(address) => address.to_bits(),
    }
}

fn count(range: &SourceRange) -> u128 {
    // A range that ends before it begins has been refused by the check of the configuration.
    bits(range.last).saturating_sub(bits(range.first)).saturating_add(1)
}

fn nth(range: &SourceRange, place: u128) -> IpAddr {
    let bits = bits(range.first) + place;
    match range.first {
        // The difference of two 32-bit addresses has 32 bits.
        IpAddr::V4(_) => Ipv4Addr::from_bits(u32::try_from(bits).unwrap_or(u32::MAX)).into(),
        IpAddr::V6(_) => Ipv6Addr::from_bits(bits).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{expect, expect_file};

    fn sources(texts: &[(&str, &str)]) -> Sources {
        let range = |(first, last): &(&str, &str)| SourceRange {
            first: first.parse().unwrap(),
            last: last.parse().unwrap(),
        };
        Sources::new(&texts.iter().map(range).collect::<Vec<_>>())
    }

    fn sentence(sources: &Sources, endpoint: Endpoint) -> String {
        sources.check(vec![endpoint], 1000).unwrap_err().to_string()
    }

    fn ip(text: &str) -> Endpoint {
        Endpoint::Ip(text.parse().unwrap())
    }

    #[test]
    fn addresses_take_turns_over_all_ranges() {
        let sources = sources(&[("127.0.0.255", "127.0.1.1"), ("127.0.0.9", "127.0.0.9")]);
        let turns: Vec<_> = (0..5).map(|number| sources.of(number).unwrap().to_string()).collect();
        let expected = ["127.0.0.255", "127.0.1.0", "127.0.1.1", "127.0.0.9", "127.0.0.255"];
        assert_eq!(turns, expected);
        assert_eq!((sources.used_by(3), sources.used_by(100)), (3, 4));
    }

    #[test]
    fn without_sources_the_kernel_chooses_one_address() {
        let none = Sources::new(&[]);
        assert_eq!((none.of(0), none.of(7), none.used_by(100)), (None, None, 1));
        assert_eq!(none.check(vec![ip("[::1]:7")], 10).unwrap(), [ip("[::1]:7")]);
    }

    #[test]
    fn a_range_as_large_as_there_can_be_has_a_first_and_a_last_address() {
        let all = sources(&[("::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")]);
        assert_eq!(all.of(2).unwrap().to_string(), "::2");
        assert_eq!(all.used_by(usize::MAX), usize::MAX);
    }

    #[test]
    fn sources_must_fit_the_target() {
        let v4 = sources(&[("127.0.0.2", "127.0.0.3")]);
        let both = [ip("[::1]:7"), ip("127.0.0.1:7")];
        assert_eq!(v4.check(both.to_vec(), 2).unwrap(), [ip("127.0.0.1:7")]);
        let mixed = sources(&[("127.0.0.2", "127.0.0.2"), ("::1", "::1")]);
        let sentences = [
            sentence(&v4, ip("[::1]:7")),
            sentence(&v4, Endpoint::unix("/a").unwrap()),
            sentence(&mixed, ip("127.0.0.1:7")),
        ];
        expect_file!["golden/sources.txt"].assert_eq(&(sentences.join("\n") + "\n"));
    }

    #[test]
    fn an_address_counts_once() {
        let twice = sources(&[("127.0.0.2", "127.0.0.5"), ("127.0.0.4", "127.0.0.9")]);
        let message = sentence(&twice, ip("127.0.0.1:7"));
        expect!["--source lists 127.0.0.4 twice: remove one"].assert_eq(&message);
    }

    #[test]
    fn an_address_that_this_host_does_not_have_is_named() {
        // An address for documentation, which no host has.
        let strange = sources(&[("127.0.0.2", "127.0.0.2"), ("203.0.113.7", "203.0.113.7")]);
        let message = sentence(&strange, ip("127.0.0.1:7"));
        assert_eq!(
            message,
            "this host does not have the address 203.0.113.7: give --source addresses that `ip \
             address` lists, or of 127.0.0.0/8 for a server on this host"
        );
        assert!(strange.check(vec![ip("127.0.0.1:7")], 1).is_ok(), "it is not used");
    }
}
