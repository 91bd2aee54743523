//! The generators that are compared: their names and their command lines. Each gets the same
//! server, one CPU, one thread, and the same shape.

use clap::ValueEnum;
use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use super::shape::Shape;
use crate::{process::on, programs::exists};

/// One generator in one way of working.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Contestant {
    /// `wirebench load` without further options: the reference for the others.
    Wirebench,
    #[value(name = "wirebench-io_uring")]
    WirebenchIoUring,
    WirebenchEpoll,
    Wrk,
    H2load,
    Oha,
    Hey,
    #[value(name = "bare-io_uring")]
    BareIoUring,
    BareEpoll,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Task<'task> {
    /// The build of wirebench that generates the load, if it is one.
    pub(crate) wirebench: &'task Path,
    pub(crate) shape: Shape,
    pub(crate) duration: Duration,
    pub(crate) address: SocketAddr,
    /// The length of a reply with its head.
    pub(crate) reply_bytes: usize,
}

impl Contestant {
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |it| it.get_name().to_owned())
    }

    /// Whether it is `wirebench load`.
    pub(crate) const fn is_ours(self) -> bool {
        matches!(self, Self::Wirebench | Self::WirebenchIoUring | Self::WirebenchEpoll)
    }

    /// Whether it cannot work without io_uring.
    pub(crate) const fn needs_io_uring(self) -> bool {
        matches!(self, Self::WirebenchIoUring | Self::BareIoUring)
    }

    /// Whether it can make this shape: some have no pipelining.
    pub(crate) fn can_make(self, shape: Shape) -> bool {
        shape.depth == 1 || !matches!(self, Self::Oha | Self::Hey)
    }

    /// Whether it is installed. The project's own are, because they were built.
    pub(crate) fn is_installed(self) -> bool {
        let is_third_party = matches!(self, Self::Wrk | Self::H2load | Self::Oha | Self::Hey);
        !is_third_party || exists(&self.name())
    }

    pub(crate) fn command(self, task: &Task<'_>, cpus: &[u32]) -> anyhow::Result<Command> {
        let Task { wirebench, shape, duration, address, reply_bytes } = *task;
        let (connections, depth, url) =
            (shape.connections, shape.depth, format!("http://{address}/"));
        let time = format!("{}ms", duration.as_millis());
        let engine = match self {
            Self::WirebenchIoUring | Self::BareIoUring => "io_uring",
            _ => "epoll",
        };
        let words = match self {
            Self::Wirebench | Self::WirebenchIoUring | Self::WirebenchEpoll => {
                let mut words = format!("load -t 1 -c {connections} -d {time} --json");
                if self != Self::Wirebench {
                    words += &format!(" --engine {engine}");
                }
                if depth > 1 {
                    words += &format!(" -p {depth}");
                }
                format!("{words} {url}")
            }
            Self::Wrk => {
                // It knows whole seconds only.
                let seconds = duration.as_secs_f64().ceil();
                let script = "lab/src/bench_load/wrk.lua";
                format!("-t 1 -c {connections} -d {seconds}s -s {script} {url} -- {depth}")
            }
            Self::H2load => format!("--h1 -t 1 -c {connections} -m {depth} -D {time} {url}"),
            Self::Oha => format!("--no-tui --output-format json -c {connections} -z {time} {url}"),
            Self::Hey => format!("-c {connections} -z {time} {url}"),
            Self::BareIoUring | Self::BareEpoll => {
                let seconds = duration.as_secs_f64();
                format!(
                    "bare-load {engine} {address} {connections} {seconds} {reply_bytes} {depth}"
                )
            }
        };
        let program = match self {
            Self::BareIoUring | Self::BareEpoll => std::env::current_exe()?,
            _ if self.is_ours() => wirebench.to_owned(),
            _ => PathBuf::from(self.name()),
        };
        Ok(on(cpus, program, words.split(' ')))
    }
}

#[cfg(test)]
mod tests {
    use super::super::shape::SHAPES;
    use super::*;
    use crate::programs::show;

    #[test]
    fn each_contestant_gets_the_same_task_in_its_own_words_and_no_option_that_a_shape_does_not_need()
     {
        for (contestant, shape, expected) in [
            (
                Contestant::Wirebench,
                3,
                " 0 wirebench load -t 1 -c 64 -d 1500ms --json -p 16 http://127.0.0.1:80/",
            ),
            (
                Contestant::WirebenchEpoll,
                1,
                " 0 wirebench load -t 1 -c 64 -d 1500ms --json --engine epoll http://127.0.0.1:80/",
            ),
            (
                Contestant::Wrk,
                3,
                " 0 wrk -t 1 -c 64 -d 2s -s lab/src/bench_load/wrk.lua http://127.0.0.1:80/ -- 16",
            ),
            (
                Contestant::H2load,
                3,
                " 0 h2load --h1 -t 1 -c 64 -m 16 -D 1500ms http://127.0.0.1:80/",
            ),
            (Contestant::Hey, 0, " 0 hey -c 1 -z 1500ms http://127.0.0.1:80/"),
            (Contestant::BareIoUring, 3, " bare-load io_uring 127.0.0.1:80 64 1.5 77 16"),
        ] {
            let task = Task {
                wirebench: Path::new("wirebench"),
                shape: SHAPES[shape],
                duration: Duration::from_millis(1500),
                address: "127.0.0.1:80".parse().unwrap(),
                reply_bytes: 77,
            };
            let line = show(&contestant.command(&task, &[0]).unwrap());
            assert!(line.ends_with(expected), "{line}");
        }
    }
}
