//! A checked plan made of a configuration: once it exists, nothing about the configuration can be
//! wrong any more.

use std::sync::Arc;
use wirebench_schema::{
    load::{EngineChoice, LoadConfig, Stop},
    scenario::Protocol,
};

use crate::{
    clock::nanoseconds,
    codec::{
        echo::Echo,
        http1::{ExpectedBody, Http1, ReplyBody},
    },
    error::LoadError,
};

/// The largest message of an echo. Every connection keeps one.
const PAYLOAD_LIMIT_BYTES: usize = 64 * 1024 * 1024;

/// The most bytes that the messages of all connections may have together, because each keeps its own.
const PAYLOADS_LIMIT_BYTES: usize = 1024 * 1024 * 1024;

/// The most connections, however many files the process may have. All go to one address and port,
/// and what tells them apart is their own port, a number of 16 bits that is not 0.
const CONNECTIONS_LIMIT: usize = 65_535;

/// The times that every thread keeps.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Timing {
    /// How long a reply, or a connection being made, may take.
    pub(crate) timeout_ns: u64,
}

/// One thread's part of the load.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Share {
    /// The number of its first connection.
    pub(crate) first_connection: usize,
    /// How many connections it has.
    pub(crate) connections: usize,
    /// How many requests it sends in the window, when a count ends it.
    pub(crate) quota: Option<u64>,
}

/// What is spoken.
#[derive(Clone, Debug)]
pub(crate) enum Speech {
    /// HTTP/1.1.
    Http1(Http1),
    /// Bytes that come back.
    Echo(Echo),
}

/// A load that can be carried out.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The engine, never [`EngineChoice::Auto`].
    pub(crate) engine: EngineChoice,
    /// What is spoken.
    pub(crate) speech: Speech,
    /// One part for each thread.
    pub(crate) shares: Vec<Share>,
    /// Times that every thread keeps.
    pub(crate) timing: Timing,
    /// Length of the warm-up.
    pub(crate) warmup_ns: u64,
    /// Length of the window, when it is a time that ends it.
    pub(crate) window_ns: Option<u64>,
}

impl Plan {
    /// Checks the configuration and works out what each thread does.
    pub(crate) fn new(config: &LoadConfig) -> Result<Self, LoadError> {
        config.check().map_err(LoadError::Configuration)?;
        if config.connections > CONNECTIONS_LIMIT {
            return Err(LoadError::Configuration(format!(
                "{} connections to one address are more than there are ports: \
                 give -c at most {CONNECTIONS_LIMIT}",
                config.connections
            )));
        }
        let speech = match config.target.protocol() {
            Protocol::Http1 => Speech::Http1(http1(config)),
            Protocol::Echo if config.payload_bytes > PAYLOAD_LIMIT_BYTES => {
                return Err(LoadError::Configuration(format!(
                    "a message of {} bytes is too large: give --payload at most {PAYLOAD_LIMIT_BYTES}",
                    config.payload_bytes
                )));
            }
            Protocol::Echo
                if config.payload_bytes.saturating_mul(config.connections)
                    > PAYLOADS_LIMIT_BYTES =>
            {
                return Err(LoadError::Configuration(format!(
                    "{} messages of {} bytes do not fit in memory: give a smaller -c or --payload, \
                     together at most {PAYLOADS_LIMIT_BYTES} bytes",
                    config.connections, config.payload_bytes
                )));
            }
            Protocol::Echo => {
                Speech::Echo(Echo { payload_bytes: config.payload_bytes, seed: config.seed })
            }
        };
        let (window_ns, quota) = match config.stop {
            Stop::After(duration) => (Some(nanoseconds(duration)), None),
            Stop::Requests(count) => (None, Some(count)),
        };
        Ok(Self {
            engine: match config.engine {
                EngineChoice::Auto | EngineChoice::Epoll => EngineChoice::Epoll,
            },
            speech,
            shares: shares(config.threads, config.connections, quota),
            timing: Timing { timeout_ns: nanoseconds(config.timeout) },
            warmup_ns: nanoseconds(config.warmup),
            window_ns,
        })
    }
}

/// Deals out connections and requests as evenly as they go; the first threads get what is left
/// over.
fn shares(threads: usize, connections: usize, quota: Option<u64>) -> Vec<Share> {
    let mut first_connection = 0;
    (0..threads)
        .map(|thread| {
            let part = connections / threads + usize::from(thread < connections % threads);
            let (thread, threads) = (thread as u64, threads as u64);
            let share = Share {
                first_connection,
                connections: part,
                quota: quota.map(|all| all / threads + u64::from(thread < all % threads)),
            };
            first_connection += part;
            share
        })
        .collect()
}

fn http1(config: &LoadConfig) -> Http1 {
    let target = &config.target;
    let mut request = format!("{} {} HTTP/1.1\r\n", config.method, target.path());
    let has =
        |wanted: &str| config.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(wanted));
    if !has("host") {
        request.push_str(&format!("Host: {}\r\n", target.authority()));
    }
    if matches!(config.method.as_str(), "POST" | "PUT" | "PATCH") && !has("content-length") {
        request.push_str("Content-Length: 0\r\n");
    }
    for (name, value) in &config.headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    request.push_str("\r\n");
    Http1 {
        request: Arc::from(request.into_bytes()),
        reply_body: match config.method.as_str() {
            "HEAD" => ReplyBody::Never,
            _ => ReplyBody::AsFramed,
        },
        expected: config
            .expect_body
            .as_ref()
            .map(|body| Arc::new(ExpectedBody::new(body.as_bytes()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(target: &str) -> LoadConfig {
        LoadConfig::new(target.parse().unwrap())
    }

    fn request(config: &LoadConfig) -> String {
        match Plan::new(config).unwrap().speech {
            Speech::Http1(http) => String::from_utf8(http.request.to_vec()).unwrap(),
            Speech::Echo(_) => panic!("an http target speaks HTTP"),
        }
    }

    #[test]
    fn connections_and_requests_are_dealt_out_without_a_rest() {
        let shares = shares(3, 10, Some(5));
        let connections: Vec<usize> = shares.iter().map(|share| share.connections).collect();
        let firsts: Vec<usize> = shares.iter().map(|share| share.first_connection).collect();
        let quotas: Vec<u64> = shares.iter().filter_map(|share| share.quota).collect();
        assert_eq!((connections, firsts, quotas), (vec![4, 3, 3], vec![0, 4, 7], vec![2, 2, 1]));
    }

    #[test]
    fn a_request_names_its_host_once_and_carries_the_headers_that_were_asked_for() {
        let mut config = config("http://[::1]:80/a?b=c");
        assert_eq!(request(&config), "GET /a?b=c HTTP/1.1\r\nHost: [::1]:80\r\n\r\n");
        config.method = "POST".to_owned();
        config.headers = vec![("HOST".into(), "x".into()), ("A".into(), "b".into())];
        assert_eq!(
            request(&config),
            "POST /a?b=c HTTP/1.1\r\nContent-Length: 0\r\nHOST: x\r\nA: b\r\n\r\n"
        );
    }

    #[test]
    fn a_plan_is_refused_with_the_reason_of_the_check() {
        let mut config = config("tcp://127.0.0.1:7");
        config.payload_bytes = usize::MAX;
        assert!(Plan::new(&config).unwrap_err().to_string().contains("--payload"));
        config.payload_bytes = 1;
        config.connections = CONNECTIONS_LIMIT;
        assert!(Plan::new(&config).is_ok());
        config.connections = CONNECTIONS_LIMIT + 1;
        assert!(Plan::new(&config).unwrap_err().to_string().contains("-c at most 65535"));
        config.target = "tcp://127.0.0.1:80".parse().unwrap();
        config.connections = 1000;
        config.payload_bytes = PAYLOAD_LIMIT_BYTES;
        assert!(Plan::new(&config).unwrap_err().to_string().contains("do not fit in memory"));
        config.connections = 0;
        assert!(Plan::new(&config).unwrap_err().to_string().contains("-c"));
    }
}
