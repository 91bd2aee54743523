//! The command line `SCENARIO HOST PORT WORKERS [TIMEOUT_MS [VARIANT]]`, which all entries have.

use std::fmt::Display;
use std::net::{IpAddr, SocketAddr};
use std::num::{NonZeroU64, NonZeroUsize};
use std::str::FromStr;
use std::time::Duration;

use crate::refuse;

const DEFAULT_TIMEOUT: Duration = Duration::from_millis(5000);

/// What the server does.
#[derive(Clone, Copy, PartialEq)]
pub enum Scenario {
    Hello,
    /// With the longest time that a read or a write may make no progress.
    HelloTimeout(Duration),
    Echo,
    /// This and those below are `Hello` with work.
    #[cfg(feature = "work")]
    Mutex,
    #[cfg(feature = "work")]
    Channel,
    #[cfg(feature = "work")]
    Skewed,
    #[cfg(feature = "work")]
    Handoff,
}

/// What the command line asks for.
pub struct Options {
    pub scenario: Scenario,
    pub address: SocketAddr,
    pub workers: usize,
    /// Empty for an entry that has only one.
    pub variant: String,
}

impl Options {
    /// Ends the program if it cannot use an argument; `scenarios` are those that it knows.
    pub(crate) fn from_command_line(scenarios: &[&str]) -> Self {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        let [scenario, host, port, workers, rest @ ..] = arguments.as_slice() else {
            usage(scenarios)
        };
        let (timeout_ms, variant) = match rest {
            [] => (None, ""),
            [timeout_ms] => (Some(timeout_ms), ""),
            [timeout_ms, variant] => (Some(timeout_ms), variant.as_str()),
            _ => usage(scenarios),
        };
        let limit = timeout_ms.map_or(DEFAULT_TIMEOUT, |text| {
            Duration::from_millis(parse::<NonZeroU64>("TIMEOUT_MS", text).get())
        });
        let scenario = match scenario.as_str() {
            name if !scenarios.contains(&name) => {
                refuse(format!("unknown scenario `{name}`: use {}", scenarios.join(" or ")))
            }
            "hello-timeout" => Scenario::HelloTimeout(limit),
            "echo" => Scenario::Echo,
            #[cfg(feature = "work")]
            "mutex" => Scenario::Mutex,
            #[cfg(feature = "work")]
            "channel" => Scenario::Channel,
            #[cfg(feature = "work")]
            "skewed" => Scenario::Skewed,
            #[cfg(feature = "work")]
            "handoff" => Scenario::Handoff,
            _ => Scenario::Hello,
        };
        Self {
            scenario,
            address: SocketAddr::new(parse::<IpAddr>("HOST", host), parse("PORT", port)),
            workers: parse::<NonZeroUsize>("WORKERS", workers).get(),
            variant: variant.to_owned(),
        }
    }
}

fn usage(scenarios: &[&str]) -> ! {
    let scenarios = scenarios.join("|");
    refuse(format!("usage: server {scenarios} HOST PORT WORKERS [TIMEOUT_MS [VARIANT]]"))
}

fn parse<T: FromStr<Err: Display>>(name: &str, text: &str) -> T {
    text.parse().unwrap_or_else(|error| refuse(format!("{name} `{text}`: {error}")))
}
