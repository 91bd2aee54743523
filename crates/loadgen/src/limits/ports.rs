//! Checks that there are enough local ports for all connections to one address, including
//! reconnects, and otherwise reports the numbers.
//!
//! Connections between two addresses differ only in their local port. The kernel chooses it from a
//! range, and reserves it for a while after this side has closed. The arithmetic is pure; the range
//! is read from `/proc/sys/net/ipv4`, which also applies to IPv6. Ports used by other programs are
//! not known here.

use std::{fs, net::IpAddr};
use wirebench_schema::load::{LoadConfig, LoadModel};

use crate::{
    dial::{Endpoint, sources::Sources},
    error::LoadError,
};

/// Time that the kernel reserves the port of a connection closed by this side (`TIME_WAIT`).
const TIME_WAIT_SECONDS: f64 = 60.0;

/// Time until a reserved port can be reused, if the kernel allows it and reports no other value.
const REUSE_SECONDS: f64 = 1.0;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Ports {
    first: u16,
    last: u16,
    /// Ports within that range which must not be chosen.
    reserved: usize,
    /// Time that a port is reserved after this side has closed.
    kept_seconds: f64,
}

impl Ports {
    fn free(self) -> usize {
        let all = usize::from(self.last.saturating_sub(self.first)) + 1;
        all.saturating_sub(self.reserved)
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Demand {
    active: usize,
    idle: usize,
    /// Addresses that connections come from.
    sources: usize,
    /// Rate at which this side closes connections, if the load has a rate.
    churn: Option<Churn>,
    /// Whether the server is reached over the loopback addresses of IPv4, of which there are many.
    is_loopback: bool,
}

/// Connections that are made again and again.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Churn {
    /// Requests each second.
    rate: f64,
    requests_per_connection: u64,
    /// Duration; unlimited if a count ends the load.
    seconds: f64,
}

/// Refuses a load for which there are too few ports.
pub(crate) fn check(
    config: &LoadConfig,
    endpoints: &[Endpoint],
    sources: &Sources,
) -> Result<(), LoadError> {
    let addresses: Vec<IpAddr> = endpoints.iter().filter_map(Endpoint::ip).collect();
    if addresses.is_empty() {
        return Ok(());
    }
    let read = |name: &str| fs::read_to_string(format!("/proc/sys/net/ipv4/{name}")).ok();
    // A kernel that hides its settings reports the error when a port is needed.
    let Some(ports) = ports(read, addresses.iter().all(IpAddr::is_loopback)) else { return Ok(()) };
    let all = config.connections.saturating_add(config.idle_connections);
    let demand = Demand {
        active: config.connections,
        idle: config.idle_connections,
        sources: sources.used_by(all),
        churn: churn(config),
        is_loopback: addresses.iter().all(|address| address.is_loopback() && address.is_ipv4()),
    };
    match shortage(demand, ports) {
        None => Ok(()),
        Some(sentence) => Err(LoadError::Configuration(sentence)),
    }
}

fn churn(config: &LoadConfig) -> Option<Churn> {
    let requests_per_connection = config.requests_per_connection?;
    // A closed loop is as fast as the server, whose speed is not known yet.
    let LoadModel::Rate { curve, .. } = &config.model else { return None };
    let rate = curve.rates().into_iter().max_by(f64::total_cmp)?;
    let length = config.stop.length().map(|window| config.warmup.saturating_add(window));
    let seconds = length.map_or(f64::INFINITY, |length| length.as_secs_f64());
    Some(Churn { rate, requests_per_connection, seconds })
}

/// The reason why the ports do not suffice, and the next step.
fn shortage(demand: Demand, ports: Ports) -> Option<String> {
    let all = demand.active.saturating_add(demand.idle);
    // One more is that of the preflight, which is kept for a while.
    let taken = all.div_ceil(demand.sources).saturating_add(1);
    if taken > ports.free() {
        return Some(too_many(demand, ports, all));
    }
    let churn = demand.churn?;
    let closes = churn.rate / float(churn.requests_per_connection);
    let left = float(((ports.free() - taken) as u64).saturating_mul(demand.sources as u64));
    let kept = closes * ports.kept_seconds.min(churn.seconds);
    if kept <= left {
        return None;
    }
    let bearable = (left / ports.kept_seconds * float(churn.requests_per_connection)).floor();
    let more = kept / float(ports.free() as u64) + float(all as u64) / float(ports.free() as u64);
    let sooner = if ports.kept_seconds < TIME_WAIT_SECONDS {
        ""
    } else {
        ", or let ports be used again sooner (sysctl net.ipv4.tcp_tw_reuse=1)"
    };
    Some(format!(
        "{} requests/s with {} on each connection close {closes:.0} connections/s, and the kernel \
         keeps the port of each for {} s (TIME_WAIT): the {left} that are left would be used up \
         after {:.1} s; give {}, or -R at most {bearable}{sooner}",
        churn.rate,
        churn.requests_per_connection,
        ports.kept_seconds,
        left / closes,
        more_sources(demand, whole(more) + 1),
    ))
}

fn too_many(demand: Demand, ports: Ports, all: usize) -> String {
    let per_source = ports.free().saturating_sub(1);
    let possible = per_source.saturating_mul(demand.sources).saturating_sub(demand.idle);
    let fewer = match (possible, demand.idle) {
        (0, _) => "fewer --idle-connections".to_owned(),
        (_, 0) => format!("-c at most {possible}"),
        (_, _) => format!("-c at most {possible} in addition to the idle ones"),
    };
    let plural = if demand.sources == 1 { "address" } else { "addresses" };
    format!(
        "{all} connections from {} {plural} need more local ports than the {} that each has \
         (net.ipv4.ip_local_port_range is {} to {}): give {}, {fewer}, or widen the range",
        demand.sources,
        ports.free(),
        ports.first,
        ports.last,
        more_sources(demand, all.div_ceil(per_source.max(1))),
    )
}

/// The option that gives `count` addresses to connect from.
fn more_sources(demand: Demand, count: usize) -> String {
    match u8::try_from(count) {
        Ok(last) if demand.is_loopback && last < u8::MAX => {
            format!("--source 127.0.0.1-127.0.0.{last}")
        }
        _ => format!("--source {count} addresses of this host"),
    }
}

#[allow(clippy::cast_precision_loss, reason = "rates and counts of ports are far below 2^53")]
fn float(number: u64) -> f64 {
    number as f64
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is not negative, and an impossible value saturates"
)]
fn whole(number: f64) -> usize {
    number as usize
}

fn ports(read: impl Fn(&str) -> Option<String>, is_loopback: bool) -> Option<Ports> {
    let number = |name: &str| read(name)?.trim().parse::<u32>().ok();
    let range = read("ip_local_port_range")?;
    let mut ends = range.split_whitespace().map(str::parse::<u16>);
    let (first, last) = (ends.next()?.ok()?, ends.next()?.ok()?);
    let reserved = read("ip_local_reserved_ports").unwrap_or_default();
    let reserved = reserved
        .trim()
        .split(',')
        .filter_map(|part| {
            let (low, high) = part.split_once('-').unwrap_or((part, part));
            let (low, high) = (low.parse::<u16>().ok()?, high.parse::<u16>().ok()?);
            let (low, high) = (low.max(first), high.min(last));
            Some(usize::from(high.checked_sub(low)?) + 1)
        })
        .sum();
    // A kept port is used again only where timestamps tell old packets from new ones.
    let reuses = match number("tcp_tw_reuse") {
        Some(1) => true,
        Some(2) => is_loopback,
        _ => false,
    } && number("tcp_timestamps") != Some(0);
    let kept_seconds = match (reuses, number("tcp_tw_reuse_delay")) {
        (false, _) => TIME_WAIT_SECONDS,
        (true, None) => REUSE_SECONDS,
        (true, Some(milliseconds)) => f64::from(milliseconds) / 1000.0,
    };
    Some(Ports { first, last, reserved, kept_seconds })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use wirebench_schema::load::{RateCurve, Stop};

    const PORTS: Ports = Ports { first: 32_768, last: 60_999, reserved: 0, kept_seconds: 60.0 };
    const DEMAND: Demand =
        Demand { active: 28_231, idle: 0, sources: 1, churn: None, is_loopback: true };

    fn settings(is_loopback: bool, given: &[(&str, &str)]) -> Ports {
        let defaults = [("ip_local_port_range", "32768\t60999\n"), ("tcp_tw_reuse", "2\n")];
        let all: Vec<_> = given.iter().chain(&defaults).collect();
        let read =
            |name: &str| all.iter().find(|(key, _)| *key == name).map(|row| row.1.to_owned());
        ports(read, is_loopback).unwrap()
    }

    #[test]
    fn ports_are_those_of_the_range_that_are_not_reserved() {
        assert_eq!(settings(false, &[]).free(), 28_232);
        let reserved = ("ip_local_reserved_ports", "80,32760-32769,40000,60990-65535\n");
        assert_eq!(settings(false, &[reserved]).free(), 28_232 - 2 - 1 - 10);
        assert_eq!(settings(false, &[("ip_local_reserved_ports", "\n")]).free(), 28_232);
    }

    #[test]
    fn a_closed_port_is_kept_for_a_minute_unless_the_kernel_uses_it_again() {
        let kept = |is_loopback, given: &[_]| settings(is_loopback, given).kept_seconds.to_string();
        assert_eq!(kept(false, &[]), "60");
        assert_eq!(kept(true, &[]), "1");
        assert_eq!(kept(true, &[("tcp_timestamps", "0")]), "60");
        assert_eq!(kept(true, &[("tcp_tw_reuse", "0")]), "60");
        assert_eq!(kept(false, &[("tcp_tw_reuse", "1")]), "1");
        assert_eq!(kept(true, &[("tcp_tw_reuse_delay", "250")]), "0.25");
    }

    #[test]
    fn as_many_connections_as_ports_fit_and_one_more_does_not() {
        assert_eq!(shortage(DEMAND, PORTS), None);
        let sentence = shortage(Demand { active: 28_232, ..DEMAND }, PORTS).unwrap();
        assert_eq!(
            sentence,
            "28232 connections from 1 address need more local ports than the 28232 that each has \
             (net.ipv4.ip_local_port_range is 32768 to 60999): give --source 127.0.0.1-127.0.0.2, \
             -c at most 28231, or widen the range"
        );
    }

    #[test]
    fn more_addresses_give_more_ports_and_the_proposal_fits() {
        let many = Demand { active: 100_000, idle: 50_000, ..DEMAND };
        let sentence = shortage(many, PORTS).unwrap();
        assert_eq!(
            sentence,
            "150000 connections from 1 address need more local ports than the 28232 that each has \
             (net.ipv4.ip_local_port_range is 32768 to 60999): give --source 127.0.0.1-127.0.0.6, \
             fewer --idle-connections, or widen the range"
        );
        assert_eq!(shortage(Demand { sources: 6, ..many }, PORTS), None);
        assert!(shortage(Demand { sources: 5, ..many }, PORTS).is_some());
        let few = Demand { active: 20_000, idle: 10_000, is_loopback: false, ..DEMAND };
        let sentence = shortage(few, PORTS).unwrap();
        assert_eq!(
            sentence,
            "30000 connections from 1 address need more local ports than the 28232 that each has \
             (net.ipv4.ip_local_port_range is 32768 to 60999): give --source 2 addresses of this \
             host, -c at most 18231 in addition to the idle ones, or widen the range"
        );
        assert!(shortage(Demand { active: usize::MAX, ..many }, PORTS).is_some());
    }

    #[test]
    fn closing_connections_faster_than_ports_come_back_is_reported_with_the_time_left() {
        let churn = Churn { rate: 10_000.0, requests_per_connection: 2, seconds: 30.0 };
        let demand = Demand { active: 231, churn: Some(churn), ..DEMAND };
        let sentence = shortage(demand, PORTS).unwrap();
        assert_eq!(
            sentence,
            "10000 requests/s with 2 on each connection close 5000 connections/s, and the kernel \
             keeps the port of each for 60 s (TIME_WAIT): the 28000 that are left would be used \
             up after 5.6 s; give --source 127.0.0.1-127.0.0.6, or -R at most 933, or let ports \
             be used again sooner (sysctl net.ipv4.tcp_tw_reuse=1)"
        );
        assert_eq!(shortage(Demand { sources: 6, ..demand }, PORTS), None);
        let slow = Churn { rate: 933.0, seconds: f64::INFINITY, ..churn };
        assert_eq!(shortage(Demand { churn: Some(slow), ..demand }, PORTS), None);
        let short = Churn { seconds: 5.0, ..churn };
        assert_eq!(shortage(Demand { churn: Some(short), ..demand }, PORTS), None);
        let reused = Ports { kept_seconds: 1.0, ..PORTS };
        assert_eq!(shortage(demand, reused), None);
        let fast = Churn { rate: 100_000.0, ..churn };
        let sentence = shortage(Demand { churn: Some(fast), ..demand }, reused).unwrap();
        assert_eq!(
            sentence,
            "100000 requests/s with 2 on each connection close 50000 connections/s, and the \
             kernel keeps the port of each for 1 s (TIME_WAIT): the 28000 that are left would be \
             used up after 0.6 s; give --source 127.0.0.1-127.0.0.2, or -R at most 56000"
        );
    }

    #[test]
    fn only_a_load_that_says_how_fast_it_is_can_be_reckoned() {
        let mut config = LoadConfig::new("tcp://127.0.0.1:7".parse().unwrap());
        config.requests_per_connection = Some(1);
        (config.warmup, config.stop) =
            (Duration::from_secs(1), Stop::After(Duration::from_secs(4)));
        assert_eq!(churn(&config), None);
        config.model = LoadModel::rate(RateCurve::ramp(10, 500));
        let expected = Churn { rate: 500.0, requests_per_connection: 1, seconds: 5.0 };
        assert_eq!(churn(&config), Some(expected));
        config.requests_per_connection = None;
        assert_eq!(churn(&config), None);
    }
}
