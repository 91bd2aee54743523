//! `cargo xtask bench-load`: `wirebench load` next to wrk, h2load, oha, hey and two bare loops, against the same
//! server, in random order; with `--against`, next to another build of itself, in pairs.
//!
//! The bench compares and has no pass mark. Ratios within a block are the result, because they saw the same machine.

mod contestant;
mod measure;
mod table;

use anyhow::{Context, bail, ensure};
use clap::ValueEnum as _;
use serde_json::json;
use std::{fs, path::PathBuf, time::Duration};
use wirebench_stats::MIN_COHORTS;

use self::{
    contestant::{Contestant, SHAPES, Shape},
    measure::{Block, Sample},
};
use crate::bench::{self, Bench};

/// How long each contestant loads in a smoke run.
const SMOKE_WINDOW: Duration = Duration::from_millis(200);
/// How many turns each build has in a pair. A shared machine changes its speed within a second, so turns are short.
const TURNS: u32 = 16;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Blocks; each holds every contestant once for each shape [default: 5, with --against 15]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pairs: Option<u32>,
    /// Compare this tree's `wirebench load` with that of PROGRAM, another build of wirebench, at 64
    /// and 512 connections, and print the ratio of requests/s with its 95 % interval
    #[arg(long, value_name = "PROGRAM", conflicts_with = "only")]
    against: Option<PathBuf>,
    /// How long each contestant loads [default: 2, with --against 8 in many short turns]
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: Option<u64>,
    /// Only this shape; may be given more than once
    #[arg(long = "shape", value_name = "NAME", value_parser = SHAPES.map(|shape| shape.name))]
    shapes: Vec<String>,
    /// Only this contestant next to wirebench; may be given more than once
    #[arg(long, value_name = "NAME")]
    only: Vec<Contestant>,
    /// Seed of the order [default: another one each time; it is printed]
    #[arg(long)]
    seed: Option<u64>,
    /// The mechanism of the server [default: io_uring where the kernel has it]
    #[arg(long, value_name = "MECHANISM", value_parser = ["io_uring", "epoll"])]
    server: Option<String>,
    #[command(flatten)]
    bench: bench::Options,
    /// About ten seconds in all: judges no time, only that everything that is there works
    #[arg(long, conflicts_with_all = ["pairs", "seconds"])]
    smoke: bool,
    /// Write every sample into this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Install wrk, hey and h2load as Debian packages and oha with cargo, and measure nothing
    #[arg(long)]
    install: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if arguments.install {
        return contestant::install();
    }
    let no_io_uring = wirebench_uring::probe().err();
    let server = match (arguments.server.as_deref(), &no_io_uring) {
        (Some("io_uring"), Some(reason)) => bail!("--server io_uring: {reason}"),
        (Some("epoll"), _) | (None, Some(_)) => "epoll",
        (_, _) => "io_uring",
    };
    let copies = tempfile::tempdir()?;
    let other = copies.path().join("against");
    if let Some(program) = &arguments.against {
        // The build below may replace the file.
        fs::copy(program, &other).with_context(|| format!("--against {}", program.display()))?;
    }
    let bench = Bench::open(&arguments.bench)?;
    let seed = arguments.seed.unwrap_or_else(|| fastrand::u64(..=u64::from(u32::MAX)));
    let (blocks, turns, window, mut shapes) = arguments.extent();
    let shown = shapes.clone();
    println!("server over {server}, {blocks} blocks of {window:?} runs, seed {seed}");
    let mut contestants = arguments.contestants(no_io_uring.as_deref());
    let mut order = fastrand::Rng::with_seed(seed);
    let mut samples = Vec::new();
    for number in 1..=blocks {
        order.shuffle(&mut shapes);
        for &shape in &shapes {
            println!("block {number} of {blocks}, {}", shape.name);
            let line =
                format!("null-server {server} hello 127.0.0.1 0 1 5000 {}", shape.body_bytes);
            let server = bench.serve(&bench.wirebench, &line)?;
            let (bench, other, is_smoke) = (&bench, &other, arguments.smoke);
            let block = Block { number, shape, server, bench, other, window, is_smoke };
            match arguments.against {
                Some(_) => contestants = mirrored(number, turns),
                None => order.shuffle(&mut contestants),
            }
            for contestant in contestants.iter().filter(|it| it.can_make(shape)) {
                samples.push(block.measure(*contestant)?);
            }
        }
    }
    for shape in shown {
        let Shape { name, connections, depth, body_bytes } = shape;
        print!("\n{name}: connections {connections}, requests in flight on each {depth}");
        println!(", body of {body_bytes} bytes\n{}", table::table(shape, &samples));
    }
    println!("\n{}", table::LEGEND);
    bench.warn();
    if let Some(path) = &arguments.json {
        let results = json!({
            "seed": seed,
            "server": server,
            "seconds": window.as_secs_f64(),
            "server_cpus": bench.cpus[..1],
            "generator_cpus": bench.cpus[1..],
            "samples": samples,
        });
        let text = serde_json::to_string_pretty(&results)?;
        fs::write(path, text).with_context(|| path.display().to_string())?;
    }
    if arguments.smoke { judge_smoke(&samples) } else { Ok(()) }
}

impl Arguments {
    /// The blocks, the turns of each of two builds, the length of a load, and the shapes.
    fn extent(&self) -> (u32, u32, Duration, Vec<Shape>) {
        let seconds = |usual| Duration::from_secs(self.seconds.unwrap_or(usual));
        let (blocks, turns, window, usual) = match (self.smoke, &self.against) {
            // Every kind of work that a contestant does differently.
            (true, None) => (1, 1, SMOKE_WINDOW, vec![SHAPES[1], SHAPES[3], SHAPES[5]]),
            // The fewest blocks that have an interval, and one turn in each order.
            (true, Some(_)) => (MIN_COHORTS as u32, 2, SMOKE_WINDOW, SHAPES[1..3].to_vec()),
            (false, None) => (5, 1, seconds(2), SHAPES.to_vec()),
            (false, Some(_)) => (15, TURNS, seconds(8) / TURNS, SHAPES[1..3].to_vec()),
        };
        let is_chosen = |it: &Shape| self.shapes.iter().any(|name| name == it.name);
        let chosen: Vec<Shape> = SHAPES.into_iter().filter(is_chosen).collect();
        let shapes = if chosen.is_empty() { usual } else { chosen };
        (self.pairs.unwrap_or(blocks), turns, window, shapes)
    }

    /// The requested and installed ones; the others are listed. Two builds are not among them.
    fn contestants(&self, no_io_uring: Option<&str>) -> Vec<Contestant> {
        if self.against.is_some() {
            return Vec::new();
        }
        let mut contestants = Contestant::value_variants().to_vec();
        if !self.only.is_empty() {
            contestants.retain(|it| *it == Contestant::Wirebench || self.only.contains(it));
        }
        contestants.retain(|it| {
            let obstacle = it.obstacle(no_io_uring);
            obstacle.iter().for_each(|reason| println!("skipped: {}: {reason}", it.name()));
            obstacle.is_none()
        });
        contestants
    }
}

/// Two builds have many turns in the order A B B A, and the other way round in every second pair, so that linear drift
/// of the machine cancels.
fn mirrored(pair: u32, turns: u32) -> Vec<Contestant> {
    let is_other = |turn: u32| matches!(turn % 4, 1 | 2) == (pair % 2 == 1);
    let build = |it| if is_other(it) { Contestant::Against } else { Contestant::Wirebench };
    (0..2 * turns).map(build).collect()
}

/// A smoke run fails when a contestant answered nothing, and when wirebench reported errors.
fn judge_smoke(samples: &[Sample]) -> anyhow::Result<()> {
    ensure!(!samples.is_empty(), "nothing was measured");
    for Sample { contestant, shape, counted, .. } in samples {
        let (name, errors) = (contestant.name(), counted.errors);
        ensure!(counted.requests > 0, "{name} got no reply in {shape}");
        ensure!(!contestant.is_ours() || errors == 0, "{name} reported {errors} errors in {shape}");
    }
    println!("smoke: {} samples, all of them with replies", samples.len());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Contestant as C, table::tests::sample, *};

    #[test]
    fn a_smoke_run_fails_for_each_reason_by_itself() {
        let good = sample(1, C::Wirebench, 5.0, 0);
        // Errors of others are shown in the table; they say nothing of wirebench.
        assert!(judge_smoke(&[good.clone(), sample(1, C::Wrk, 5.0, 1)]).is_ok());
        assert!(judge_smoke(&[]).is_err());
        assert!(judge_smoke(&[good, sample(1, C::Wrk, 0.0, 0)]).is_err());
        assert!(judge_smoke(&[sample(1, C::WirebenchEpoll, 5.0, 1)]).is_err());
    }

    #[test]
    fn a_pair_is_mirrored_and_every_second_one_is_the_other_way_round() {
        let (first, second) = (mirrored(1, TURNS), mirrored(2, TURNS));
        assert_eq!(first[..4], [C::Wirebench, C::Against, C::Against, C::Wirebench]);
        assert!(first.iter().zip(&second).all(|(one, other)| one != other));
        assert_eq!(first.iter().filter(|it| **it == C::Against).count(), TURNS as usize);
    }
}
