//! `cargo xtask bench-load`: `wirebench load` next to wrk, h2load, oha, hey and two bare loops,
//! against the same server, in random order; with `--against`, next to another build of itself, in
//! pairs.
//!
//! It compares and has no pass mark. Ratios within a block are the result, because they saw the
//! same machine.

mod against;
mod contestant;
pub(crate) mod install;
mod measure;
mod parse;
mod shape;
mod table;

use anyhow::{Context, bail, ensure};
use serde::Serialize;
use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};
use wirebench_host::neighbours::Programs;
use wirebench_stats::MIN_COHORTS;

use self::{
    contestant::Contestant,
    measure::{Bench, Sample},
    shape::{AGAINST, SHAPES, SMOKE, Shape},
};
use crate::{
    bench::{Sides, build, complaint},
    step::built,
};

/// How long each contestant loads in a smoke run.
const SMOKE_DURATION: Duration = Duration::from_millis(200);
/// Blocks unless `--pairs` says otherwise.
const PAIRS: u32 = 5;
/// The same with `--against`, whose interval needs more.
const PAIRS_AGAINST: u32 = 15;

/// Arguments of `cargo xtask bench-load`.
#[derive(Debug, Default, clap::Args)]
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
    #[arg(long, value_name = "NAME", value_parser = Contestant::ALL.map(Contestant::name))]
    only: Vec<String>,
    /// Seed of the order [default: another one each time; it is printed]
    #[arg(long)]
    seed: Option<u64>,
    /// The mechanism of the server [default: io_uring where the kernel has it]
    #[arg(long, value_name = "MECHANISM", value_parser = ["io_uring", "epoll"])]
    server: Option<String>,
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

/// A contestant that could not be measured in a shape, and why.
#[derive(Debug, Serialize)]
struct LeftOut {
    shape: &'static str,
    contestant: &'static str,
    reason: String,
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
    left_out: &'results [LeftOut],
}

/// The smoke runs: everything that is there, and this build against itself.
pub(crate) fn smoke() -> anyhow::Result<()> {
    let everything = Arguments { seconds: Some(1), smoke: true, ..Arguments::default() };
    run(&everything)?;
    run(&Arguments { against: Some(built("wirebench")?), ..everything })
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if arguments.install {
        return install::run();
    }
    let io_uring = wirebench_nullserver::probe_io_uring();
    let server = match (arguments.server.as_deref(), &io_uring) {
        (Some("io_uring"), Err(reason)) => bail!("--server io_uring: {reason}"),
        (Some(server), _) => server,
        (None, Ok(())) => "io_uring",
        (None, Err(_)) => "epoll",
    };
    let other = arguments.against.as_deref().map(against::Build::find).transpose()?;
    let sides = Sides::choose()?;
    let programs = build(&["wirebench", "wirebench-bareload"])?;
    let seed = arguments.seed.unwrap_or_else(|| fastrand::u64(..=u64::from(u32::MAX)));
    let duration = match (arguments.smoke, &other) {
        (true, _) => SMOKE_DURATION,
        (false, None) => Duration::from_secs(arguments.seconds.unwrap_or(2)),
        (false, Some(_)) => Duration::from_secs(arguments.seconds.unwrap_or(8)) / against::TURNS,
    };
    let blocks = blocks(arguments);
    println!("\nserver over {server}, {blocks} blocks of {duration:?} runs, seed {seed}");
    sides.announce();
    let bench = Bench { programs, server: server.to_owned(), sides, duration };
    let shapes = shapes(arguments);
    let mut order = fastrand::Rng::with_seed(seed);
    let before = Programs::read();
    let (mut samples, mut left_out) = (Vec::new(), Vec::new());
    if let Some(other) = &other {
        samples = against::measure(&bench, other, &shapes, blocks, &mut order)?;
        println!("\n{}", against::describe(&shapes, &samples));
    } else {
        let contestants = contestants(&arguments.only, io_uring.err().as_deref());
        for block in 1..=blocks {
            let out = (&mut samples, &mut left_out);
            run_block(block, &bench, &shapes, &contestants, &mut order, out)?;
        }
        print_tables(&shapes, &samples);
    }
    complaint(&before, &bench.sides).iter().for_each(|it| println!("warning: {it}"));
    for LeftOut { shape, contestant, reason } in &left_out {
        println!("left out: {contestant} in {shape}: {reason}");
    }
    if let Some(path) = &arguments.json {
        write_json(path, seed, &bench, &samples, &left_out)?;
    }
    if arguments.smoke { judge_smoke(&samples, &left_out) } else { Ok(()) }
}

fn write_json(
    path: &Path,
    seed: u64,
    bench: &Bench,
    samples: &[Sample],
    left_out: &[LeftOut],
) -> anyhow::Result<()> {
    let results = Results {
        seed,
        server: &bench.server,
        seconds: bench.duration.as_secs_f64(),
        server_cpus: &bench.sides.server_cpus,
        generator_cpus: &bench.sides.generator_cpus,
        samples,
        left_out,
    };
    let text = serde_json::to_string_pretty(&results)?;
    fs::write(path, text).with_context(|| path.display().to_string())
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
        shape::select(&AGAINST.map(str::to_owned))
    } else if arguments.smoke {
        shape::select(&SMOKE.map(str::to_owned))
    } else {
        SHAPES.to_vec()
    }
}

/// The requested and installed ones; the others are listed with the command that installs them.
fn contestants(only: &[String], no_io_uring: Option<&str>) -> Vec<Contestant> {
    let asked = |contestant: &Contestant| {
        only.is_empty()
            || *contestant == Contestant::Wirebench
            || only.iter().any(|name| name == contestant.name())
    };
    let mut contestants = Vec::new();
    for contestant in Contestant::ALL.into_iter().filter(asked) {
        let name = contestant.name();
        match no_io_uring {
            Some(reason) if contestant.needs_io_uring() => println!("left out: {name}: {reason}"),
            _ if contestant.is_there() => contestants.push(contestant),
            _ => println!("left out: {name} is not in PATH: {}", contestant.remedy()),
        }
    }
    contestants
}

/// Every contestant once for each shape, both in random order.
fn run_block(
    block: u32,
    bench: &Bench,
    shapes: &[Shape],
    contestants: &[Contestant],
    order: &mut fastrand::Rng,
    (samples, left_out): (&mut Vec<Sample>, &mut Vec<LeftOut>),
) -> anyhow::Result<()> {
    let (mut shapes, mut contestants) = (shapes.to_vec(), contestants.to_vec());
    order.shuffle(&mut shapes);
    for shape in shapes {
        // Fresh for each block, and the same for all that are compared.
        let server = bench.start_server(shape)?;
        order.shuffle(&mut contestants);
        for &contestant in &contestants {
            let known =
                |out: &LeftOut| (out.shape, out.contestant) == (shape.name, contestant.name());
            if left_out.iter().any(known) || contestant.unable(shape).is_some() {
                continue;
            }
            match bench.attempt(block, shape, contestant, None, &server)? {
                Ok(sample) => {
                    println!("block {block}, {sample}");
                    samples.push(sample);
                }
                Err(reason) => left_out.push(LeftOut {
                    shape: shape.name,
                    contestant: contestant.name(),
                    reason,
                }),
            }
        }
    }
    Ok(())
}

/// A smoke run fails when a contestant answered nothing, and when wirebench reported errors or
/// refused an option.
fn judge_smoke(samples: &[Sample], left_out: &[LeftOut]) -> anyhow::Result<()> {
    let mut complaints: Vec<String> = left_out
        .iter()
        .map(|out| format!("{} refused {}: {}", out.contestant, out.shape, out.reason))
        .collect();
    for sample in samples {
        if sample.requests == 0 {
            complaints.push(format!("{} got no reply in {}", sample.contestant, sample.shape));
        }
        if sample.is_ours && sample.errors > 0 {
            let Sample { contestant, shape, errors, .. } = sample;
            complaints.push(format!("{contestant} reported {errors} errors in {shape}"));
        }
    }
    ensure!(!samples.is_empty(), "nothing was measured");
    ensure!(complaints.is_empty(), "{}", complaints.join("\n"));
    println!("smoke: {} samples, all of them with replies", samples.len());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn sample(contestant: Contestant, requests: u64, errors: u64) -> Sample {
        Sample { requests, errors, ..Sample::example(1, contestant, 1000.0) }
    }

    #[test]
    fn a_smoke_run_fails_for_each_reason_by_itself() {
        let good = sample(Contestant::Wirebench, 5, 0);
        // Errors of others are shown in the table; they say nothing of wirebench.
        assert!(judge_smoke(&[good.clone(), sample(Contestant::Wrk, 5, 1)], &[]).is_ok());
        assert!(judge_smoke(&[], &[]).is_err());
        assert!(judge_smoke(&[good.clone(), sample(Contestant::Wrk, 0, 0)], &[]).is_err());
        assert!(judge_smoke(&[sample(Contestant::WirebenchEpoll, 5, 1)], &[]).is_err());
        let reason = "unexpected argument".to_owned();
        let refused = LeftOut { shape: "pipeline-16", contestant: "wirebench", reason };
        let message = judge_smoke(&[good], &[refused]).unwrap_err().to_string();
        expect!["wirebench refused pipeline-16: unexpected argument"].assert_eq(&message);
    }
}
