//! Resolves a target to its possible endpoints. It connects to none of them.

use std::{
    net::{IpAddr, SocketAddr, ToSocketAddrs},
    sync::mpsc,
    thread,
    time::Duration,
};
use wirebench_schema::{load::LoadConfig, target::Target};

use crate::{dial::Endpoint, error::LoadError};

/// Limit of the resolver, whose own timeouts are too long.
const RESOLVE_TIMEOUT: Duration = Duration::from_secs(10);

/// All endpoints of the load, in the order in which they should be tried; at least one.
pub(crate) fn resolve(config: &LoadConfig) -> Result<Vec<Endpoint>, LoadError> {
    let unix_path = config.unix_socket.as_deref().or(config.target.unix_path());
    match unix_path {
        Some(path) => Ok(vec![Endpoint::unix(path)?]),
        None => {
            let place = config.connect_to.as_ref().unwrap_or(&config.target);
            Ok(addresses(place)?.into_iter().map(Endpoint::Ip).collect())
        }
    }
}

/// All addresses of a target that is not a Unix socket; at least one.
pub fn addresses(target: &Target) -> Result<Vec<SocketAddr>, LoadError> {
    if let Ok(address) = target.host().parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, target.port())]);
    }
    let (sender, receiver) = mpsc::channel();
    let name = (target.host().to_owned(), target.port());
    // The resolver cannot be interrupted, so it runs in a thread that is left behind when it takes
    // too long.
    let failed = |reason: String| LoadError::Resolve { host: target.host().to_owned(), reason };
    let ask = move || {
        let found = name.to_socket_addrs().map(Iterator::collect::<Vec<_>>);
        let _ = sender.send(found);
    };
    thread::Builder::new()
        .spawn(ask)
        .map_err(|error| failed(format!("no thread could be started to look it up: {error}")))?;
    match receiver.recv_timeout(RESOLVE_TIMEOUT) {
        Ok(Ok(addresses)) if addresses.is_empty() => Err(failed("the resolver found none".into())),
        Ok(Ok(addresses)) => Ok(addresses),
        Ok(Err(error)) => Err(failed(error.to_string())),
        Err(_) => Err(failed(format!("no answer within {} s", RESOLVE_TIMEOUT.as_secs()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(target: &str) -> Result<Vec<SocketAddr>, LoadError> {
        super::addresses(&target.parse().unwrap())
    }

    #[test]
    fn a_unix_socket_is_an_endpoint_of_its_own_whatever_host_the_url_names() {
        let endpoint = vec![Endpoint::unix("run/a").unwrap()];
        assert_eq!(resolve(&LoadConfig::new("unix:run/a".parse().unwrap())).unwrap(), endpoint);
        let mut config = LoadConfig::new("http://no-such-host.invalid/".parse().unwrap());
        config.unix_socket = Some("run/a".to_owned());
        assert_eq!(resolve(&config).unwrap(), endpoint);
    }

    #[test]
    fn another_address_than_that_of_the_url_can_be_given() {
        let mut config = LoadConfig::new("http://no-such-host.invalid/".parse().unwrap());
        config.connect_to = Some("tcp://[::1]:7".parse().unwrap());
        assert_eq!(resolve(&config).unwrap(), [Endpoint::Ip("[::1]:7".parse().unwrap())]);
    }

    #[test]
    fn literal_addresses_need_no_resolver() {
        assert_eq!(addresses("tcp://127.0.0.1:7").unwrap(), ["127.0.0.1:7".parse().unwrap()]);
        assert_eq!(addresses("http://[::1]:80/").unwrap(), ["[::1]:80".parse().unwrap()]);
    }

    #[test]
    fn a_name_that_leads_nowhere_is_named() {
        let message = addresses("tcp://no-such-host.invalid:7").unwrap_err().to_string();
        assert!(message.starts_with("`no-such-host.invalid` has no address"), "{message}");
    }
}
