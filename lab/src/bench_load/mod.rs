//! `cargo xtask bench-load`: `wirebench load` next to wrk, h2load, oha, hey and two bare loops,
//! against the same server, in random order; with `--against`, next to another build of itself, in
//! pairs.
//!
//! It compares and has no pass mark. Ratios within a block are the result, because they saw the
//! same machine.

mod against;
mod contestant;
mod install;
mod measure;
mod parse;
mod shape;
mod table;

use anyhow::{Context, bail, ensure};
use clap::ValueEnum as _;
use serde::Serialize;
use std::{fs, path::PathBuf, time::Duration};
use wirebench_stats::MIN_COHORTS;

use self::{
    contestant::Contestant,
    measure::{Bench, Sample},
    shape::{AGAINST, SHAPES, SMOKE, Shape},
};
use crate::{neighbours::Programs, programs, sides::Sides};

/// How long each contestant loads in a smoke run.
const SMOKE_DURATION: Duration = Duration::from_millis(200);
/// Blocks unless `--pairs` says otherwise.
const PAIRS: u32 = 5;
/// The same with `--against`, whose interval needs more.
const PAIRS_AGAINST: u32 = 15;

/// Arguments of `cargo xtask bench-load`.
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
    /// Only this contestant, beside wirebench; may be given more than once
    #[arg(long, value_name = "NAME")]
    only: Vec<Contestant>,
    /// Seed of the order [default: another one each time; it is printed]
    #[arg(long)]
    seed: Option<u64>,
    /// The mechanism of the server [default: io_uring where the kernel has it]
    #[arg(long, value_name = "MECHANISM", value_parser = ["io_uring", "epoll"])]
    server: Option<String>,
    /// CPUs of the server and of the generator [default: two cores under one cache]
    #[arg(long, value_name = "SERVER,GENERATOR")]
    cpus: Option<Sides>,
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

/// Everything that a bench found out, as it is written with `--json`.
#[derive(Serialize)]
struct Results<'results> {
    seed: u64,
    server: &'results str,
    seconds: f64,
    server_cpus: &'results [u32],
    generator_cpus: &'results [u32],
    samples: &'results [Sample],
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if arguments.install {
        return install::run();
    }
    let io_uring = wirebench_uring::probe();
    let server = match (arguments.server.as_deref(), &io_uring) {
        (Some("io_uring"), Err(reason)) => bail!("--server io_uring: {reason}"),
        (Some("epoll"), _) | (None, Err(_)) => "epoll",
        (_, _) => "io_uring",
    };
    // The build below may replace the file.
    let copies = tempfile::tempdir()?;
    let other = arguments.against.as_deref().map(|program| {
        let copy = copies.path().join("against");
        fs::copy(program, &copy).with_context(|| format!("--against {}", program.display()))?;
        anyhow::Ok(copy)
    });
    let other = other.transpose()?;
    let wirebench = programs::wirebench()?;
    let seed = arguments.seed.unwrap_or_else(|| fastrand::u64(..=u64::from(u32::MAX)));
    let duration = match (arguments.smoke, &other) {
        (true, _) => SMOKE_DURATION,
        (false, None) => Duration::from_secs(arguments.seconds.unwrap_or(2)),
        (false, Some(_)) => Duration::from_secs(arguments.seconds.unwrap_or(8)) / against::TURNS,
    };
    let blocks = blocks(arguments);
    println!("\nserver over {server}, {blocks} blocks of {duration:?} runs, seed {seed}");
    let sides = Sides::choose(arguments.cpus)?;
    let bench = Bench { wirebench, server, sides, duration };
    let shapes = shapes(arguments);
    let mut order = fastrand::Rng::with_seed(seed);
    let before = Programs::read();
    let mut samples = Vec::new();
    if let Some(other) = &other {
        samples = against::measure(&bench, other, &shapes, blocks, &mut order)?;
        println!("\n{}", against::describe(&shapes, &samples));
    } else {
        let contestants = contestants(&arguments.only, io_uring.err().as_deref());
        for block in 1..=blocks {
            run_block(block, &bench, &shapes, &contestants, &mut order, &mut samples)?;
        }
        print_tables(&shapes, &samples);
    }
    before.warn(&bench.sides.both());
    if let Some(path) = &arguments.json {
        let results = Results {
            seed,
            server,
            seconds: bench.duration.as_secs_f64(),
            server_cpus: &bench.sides.server_cpus,
            generator_cpus: &bench.sides.generator_cpus,
            samples: &samples,
        };
        let text = serde_json::to_string_pretty(&results)?;
        fs::write(path, text).with_context(|| path.display().to_string())?;
    }
    if arguments.smoke { judge_smoke(&samples) } else { Ok(()) }
}

fn print_tables(shapes: &[Shape], samples: &[Sample]) {
    for shape in shapes {
        println!("\n{}\n{}", shape.describe(), table::table(*shape, samples));
    }
    println!("\n{}", table::LEGEND);
}

fn blocks(arguments: &Arguments) -> u32 {
    let usual = match (arguments.smoke, &arguments.against) {
        (true, None) => 1,
        // The fewest that have an interval.
        (true, Some(_)) => MIN_COHORTS as u32,
        (false, None) => PAIRS,
        (false, Some(_)) => PAIRS_AGAINST,
    };
    arguments.pairs.unwrap_or(usual)
}

fn shapes(arguments: &Arguments) -> Vec<Shape> {
    if !arguments.shapes.is_empty() {
        shape::select(&arguments.shapes)
    } else if arguments.against.is_some() {
        AGAINST.to_vec()
    } else if arguments.smoke {
        SMOKE.to_vec()
    } else {
        SHAPES.to_vec()
    }
}

/// The requested and installed ones; the others are listed.
fn contestants(only: &[Contestant], no_io_uring: Option<&str>) -> Vec<Contestant> {
    let is_requested =
        |it: &Contestant| only.is_empty() || *it == Contestant::Wirebench || only.contains(it);
    let mut contestants = Contestant::value_variants().to_vec();
    contestants.retain(|it| is_requested(it) && match no_io_uring {
        Some(reason) if it.needs_io_uring() => {
            println!("left out: {}: {reason}", it.name());
            false
        }
        _ if it.is_installed() => true,
        _ => {
            println!("left out: {} is not in PATH: `cargo xtask bench-load --install` installs it", it.name());
            false
        }
    });
    contestants
}

/// Every contestant once for each shape, both in random order.
fn run_block(
    block: u32,
    bench: &Bench,
    shapes: &[Shape],
    contestants: &[Contestant],
    order: &mut fastrand::Rng,
    samples: &mut Vec<Sample>,
) -> anyhow::Result<()> {
    let (mut shapes, mut contestants) = (shapes.to_vec(), contestants.to_vec());
    order.shuffle(&mut shapes);
    for shape in shapes {
        // Fresh for each block, and the same for all that are compared.
        let server = bench.start_server(shape)?;
        order.shuffle(&mut contestants);
        for contestant in contestants.iter().filter(|it| it.can_make(shape)) {
            let sample = bench.attempt(block, shape, *contestant, &bench.wirebench, &server)?;
            println!("block {block}, {sample}");
            samples.push(sample);
        }
    }
    Ok(())
}

/// A smoke run fails when a contestant answered nothing, and when wirebench reported errors.
fn judge_smoke(samples: &[Sample]) -> anyhow::Result<()> {
    ensure!(!samples.is_empty(), "nothing was measured");
    for Sample { contestant, shape, requests, errors, is_ours, .. } in samples {
        ensure!(*requests > 0, "{contestant} got no reply in {shape}");
        ensure!(!is_ours || *errors == 0, "{contestant} reported {errors} errors in {shape}");
    }
    println!("smoke: {} samples, all of them with replies", samples.len());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_smoke_run_fails_for_each_reason_by_itself() {
        let sample = |contestant, requests, errors| Sample {
            requests,
            errors,
            ..Sample::example(1, contestant, 1000.0)
        };
        let good = sample(Contestant::Wirebench, 5, 0);
        // Errors of others are shown in the table; they say nothing of wirebench.
        assert!(judge_smoke(&[good.clone(), sample(Contestant::Wrk, 5, 1)]).is_ok());
        assert!(judge_smoke(&[]).is_err());
        assert!(judge_smoke(&[good, sample(Contestant::Wrk, 0, 0)]).is_err());
        assert!(judge_smoke(&[sample(Contestant::WirebenchEpoll, 5, 1)]).is_err());
    }
}
