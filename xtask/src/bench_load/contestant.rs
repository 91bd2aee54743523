//! The generators that are compared: their names and their command lines. Each gets the same
//! server, one CPU, one thread, and the same shape.

use clap::ValueEnum;
use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};
use wirebench_server::executable::exists;

use super::shape::Shape;

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
    /// Where the project's own programs are.
    pub(crate) programs: &'task Path,
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
    pub(crate) fn is_there(self) -> bool {
        let is_third_party = matches!(self, Self::Wrk | Self::H2load | Self::Oha | Self::Hey);
        !is_third_party || exists(&self.name())
    }

    pub(crate) fn command_line(self, task: &Task<'_>) -> (PathBuf, Vec<String>) {
        let url = format!("http://{}/", task.address);
        let connections = task.shape.connections.to_string();
        let depth = task.shape.depth.to_string();
        let milliseconds = format!("{}ms", task.duration.as_millis());
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let own = |program: &str| task.programs.join(program);
        let on_path = || PathBuf::from(self.name());
        match self {
            Self::Wirebench | Self::WirebenchIoUring | Self::WirebenchEpoll => {
                let mut line = vec!["load", "-t", "1", "-c", &connections, "-d", &milliseconds];
                line.push("--json");
                line.extend(self.engine().into_iter().flat_map(|engine| ["--engine", engine]));
                if task.shape.depth > 1 {
                    line.extend(["-p", &depth]);
                }
                line.push(&url);
                (own("wirebench"), words(&line))
            }
            Self::Wrk => {
                // It knows whole seconds only.
                let seconds = format!("{}s", task.duration.as_secs_f64().ceil());
                let mut line = vec!["-t", "1", "-c", &connections, "-d", &seconds];
                if task.shape.depth > 1 {
                    line.extend(["-s", "xtask/src/bench_load/pipeline.lua", &url, "--", &depth]);
                } else {
                    line.push(&url);
                }
                (on_path(), words(&line))
            }
            Self::H2load => {
                let line = ["--h1", "-t", "1", "-c", &connections, "-m", &depth, "-D"];
                (on_path(), words(&[&line[..], &[&milliseconds, &url]].concat()))
            }
            Self::Oha => {
                let line = ["--no-tui", "--output-format", "json", "-c", &connections, "-z"];
                (on_path(), words(&[&line[..], &[&milliseconds, &url]].concat()))
            }
            Self::Hey => (on_path(), words(&["-c", &connections, "-z", &milliseconds, &url])),
            Self::BareIoUring | Self::BareEpoll => {
                let engine = self.engine().unwrap_or("epoll");
                let address = task.address.to_string();
                let seconds = task.duration.as_secs_f64().to_string();
                let reply_bytes = task.reply_bytes.to_string();
                let line =
                    ["bare-load", engine, &address, &connections, &seconds, &reply_bytes, &depth];
                (own("xtask"), words(&line))
            }
        }
    }

    const fn engine(self) -> Option<&'static str> {
        match self {
            Self::WirebenchIoUring | Self::BareIoUring => Some("io_uring"),
            Self::WirebenchEpoll | Self::BareEpoll => Some("epoll"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::shape::SHAPES;
    use super::*;

    fn line(contestant: Contestant, shape: &str) -> String {
        let task = Task {
            programs: Path::new("/release"),
            shape: SHAPES.into_iter().find(|known| known.name == shape).unwrap(),
            duration: Duration::from_millis(1500),
            address: "127.0.0.1:80".parse().unwrap(),
            reply_bytes: 77,
        };
        let (program, words) = contestant.command_line(&task);
        format!("{} {}", program.display(), words.join(" "))
    }

    #[test]
    fn each_contestant_is_asked_for_the_same_in_its_own_words() {
        for (contestant, expected) in [
            (
                Contestant::Wirebench,
                "/release/wirebench load -t 1 -c 64 -d 1500ms --json -p 16 http://127.0.0.1:80/",
            ),
            (
                Contestant::Wrk,
                "wrk -t 1 -c 64 -d 2s -s xtask/src/bench_load/pipeline.lua http://127.0.0.1:80/ -- 16",
            ),
            (Contestant::H2load, "h2load --h1 -t 1 -c 64 -m 16 -D 1500ms http://127.0.0.1:80/"),
            (
                Contestant::BareIoUring,
                "/release/xtask bare-load io_uring 127.0.0.1:80 64 1.5 77 16",
            ),
        ] {
            assert_eq!(line(contestant, "pipeline-16"), expected);
        }
        assert_eq!(
            line(Contestant::Hey, "connections-1"),
            "hey -c 1 -z 1500ms http://127.0.0.1:80/"
        );
    }

    #[test]
    fn options_that_a_shape_does_not_need_are_not_given() {
        assert_eq!(
            line(Contestant::WirebenchEpoll, "connections-64"),
            "/release/wirebench load -t 1 -c 64 -d 1500ms --json --engine epoll \
             http://127.0.0.1:80/"
        );
        assert_eq!(
            line(Contestant::Wrk, "connections-64"),
            "wrk -t 1 -c 64 -d 2s http://127.0.0.1:80/"
        );
    }
}
