//! The generators that are compared, their command lines, and the shapes of load. Each generator gets the same
//! server, one CPU, one thread, and the same shape.

use clap::ValueEnum;
use serde::Serialize;
use std::{net::SocketAddr, time::Duration};
use wirebench_server::executable;

use crate::process::{cargo, command, step};

/// How many connections, requests in flight on each, and bytes in the body.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    pub(crate) connections: usize,
    pub(crate) depth: usize,
    pub(crate) body_bytes: usize,
}

/// All of them. 64 connections without a pipeline and with 12 bytes are the middle of three rows.
pub(crate) const SHAPES: [Shape; 6] = [
    Shape { name: "connections-1", connections: 1, depth: 1, body_bytes: 12 },
    Shape { name: "connections-64", connections: 64, depth: 1, body_bytes: 12 },
    Shape { name: "connections-512", connections: 512, depth: 1, body_bytes: 12 },
    Shape { name: "pipeline-16", connections: 64, depth: 16, body_bytes: 12 },
    Shape { name: "body-4KiB", connections: 64, depth: 1, body_bytes: 4 * 1024 },
    Shape { name: "body-64KiB", connections: 64, depth: 1, body_bytes: 64 * 1024 },
];

/// One generator in one way of working.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Contestant {
    /// `wirebench load` without further options: the reference for the others.
    Wirebench,
    #[serde(rename = "wirebench-io_uring")]
    #[value(name = "wirebench-io_uring")]
    WirebenchIoUring,
    WirebenchEpoll,
    /// The reference in the build of `--against`.
    #[value(skip)]
    Against,
    Wrk,
    H2load,
    Oha,
    Hey,
    #[serde(rename = "bare-io_uring")]
    #[value(name = "bare-io_uring")]
    BareIoUring,
    BareEpoll,
}

impl Contestant {
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map_or("against".to_owned(), |it| it.get_name().to_owned())
    }

    pub(crate) const fn is_ours(self) -> bool {
        matches!(
            self,
            Self::Wirebench | Self::WirebenchIoUring | Self::WirebenchEpoll | Self::Against
        )
    }

    /// Some have no pipelining.
    pub(crate) fn can_make(self, shape: Shape) -> bool {
        shape.depth == 1 || !matches!(self, Self::Oha | Self::Hey)
    }

    /// The reason why it cannot be measured on this machine. The project's own are installed, because they were built.
    pub(crate) fn obstacle(self, no_io_uring: Option<&str>) -> Option<String> {
        match self {
            Self::WirebenchIoUring | Self::BareIoUring => no_io_uring.map(str::to_owned),
            Self::Wrk | Self::H2load | Self::Oha | Self::Hey
                if !executable::exists(&self.name()) =>
            {
                Some("not in PATH: `cargo xtask bench-load --install` installs it".to_owned())
            }
            _ => None,
        }
    }

    /// The arguments of its program.
    pub(crate) fn line(self, shape: Shape, duration: Duration, address: SocketAddr) -> String {
        let Shape { connections, depth, .. } = shape;
        let (url, ms) = (format!("http://{address}/"), duration.as_millis());
        let ours = |engine: &str| {
            format!("load -t 1 -c {connections} -p {depth} -d {ms}ms --json {engine}{url}")
        };
        let bare = |engine: &str| {
            let seconds = duration.as_secs_f64();
            format!("bare-load {engine} {address} {connections} {seconds} {depth}")
        };
        // It knows whole seconds only.
        let wrk = format!("-t 1 -c {connections} -d {}s", duration.as_secs_f64().ceil());
        match self {
            Self::Wirebench | Self::Against => ours(""),
            Self::WirebenchIoUring => ours("--engine io_uring "),
            Self::WirebenchEpoll => ours("--engine epoll "),
            // Without the script it sends its own constant request.
            Self::Wrk if depth == 1 => format!("{wrk} {url}"),
            Self::Wrk => format!("{wrk} -s lab/src/bench_load/pipeline.lua {url} -- {depth}"),
            Self::H2load => format!("--h1 -t 1 -c {connections} -m {depth} -D {ms}ms {url}"),
            Self::Oha => format!("--no-tui --output-format json -c {connections} -z {ms}ms {url}"),
            Self::Hey => format!("-c {connections} -z {ms}ms {url}"),
            Self::BareIoUring => bare("io_uring"),
            Self::BareEpoll => bare("epoll"),
        }
    }
}

pub(crate) fn install() -> anyhow::Result<()> {
    let become_root = if rustix::process::geteuid().is_root() { "env" } else { "sudo" };
    // Debian's packages of wrk, hey and h2load.
    let words = "apt-get install --yes --no-install-recommends wrk hey nghttp2-client";
    step(command(become_root, words.split(' ')))?;
    if Contestant::Oha.obstacle(None).is_some() {
        cargo(&["install", "--locked", "oha"])?;
    }
    let is_missing = Contestant::Oha.obstacle(None).is_some();
    anyhow::ensure!(!is_missing, "oha is installed but not found: add cargo's bin folder to PATH");
    Ok(())
}
