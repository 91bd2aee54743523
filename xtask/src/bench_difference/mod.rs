//! `cargo xtask bench-difference`: whether wirebench calls equal servers equal, and finds a difference
//! that is known to be there.
//!
//! Equal: five copies of `c/epoll` in one suite, and `c/epoll` against itself. Different: `c/epoll`
//! against the same sources with a known number of instructions more for each reply. It prints, and
//! fails when a verdict is wrong; how wide an interval is depends on the machine.

mod copies;
mod count;
mod pair;
mod slowed;

use anyhow::{Context, ensure};
use std::time::Duration;

use self::{pair::Pair, slowed::Workshop};
use crate::bench::{Sides, build};

/// Arguments of `cargo xtask bench-difference`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// How much more CPU time a request of the slowed server takes
    #[arg(long, value_name = "PERCENT", default_value_t = 5.0)]
    percent: f64,
    /// How long each comparison of two servers may take, in minutes
    #[arg(long, value_name = "MINUTES", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=120))]
    budget: u64,
    /// Blocks of the suite with five copies
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(6..=100))]
    blocks: u32,
    /// Only compare two servers, without the suite of five copies
    #[arg(long)]
    pairs_only: bool,
}

/// Measures and prints.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let percent = arguments.percent;
    ensure!((0.1..=1000.0).contains(&percent), "--percent {percent} is no useful slowdown: try 5");
    let folder = build(&["wirebench"])?;
    let wirebench = folder.join("wirebench");
    let sides = Sides::choose()?;
    sides.announce();
    let workshop = Workshop::open(folder.parent().context("a folder of builds has a parent")?)?;
    let budget = Duration::from_secs(arguments.budget * 60);
    let mut wrong = Vec::new();

    println!("\n== one server against itself");
    let plain = workshop.plain()?;
    let equal = Pair::measure(&wirebench, &plain, &plain, budget)?;
    println!("{}", equal.sentence);
    if equal.is_different() {
        wrong.push("one server is called different from itself".to_owned());
    }

    println!("\n== against the same with {percent} % more work");
    let step_ns = workshop.step_ns()?;
    let steps = (equal.cpu_ns[0] * percent / 100.0 / step_ns).round().max(1.0);
    println!(
        "a request costs {:.0} ns and a step of work {step_ns:.3} ns by itself, so {steps} steps more for each reply",
        equal.cpu_ns[0]
    );
    let slowed = workshop.slowed(steps as u64)?;
    let of = |server| count::instructions_per_request(&wirebench, server, &sides);
    match (of(&plain)?, of(&slowed)?) {
        (Some(few), Some(many)) => println!(
            "callgrind counts {few:.0} user instructions a request, and {many:.0} with the work: {:.0} more",
            many - few
        ),
        _ => println!("no valgrind here: the instructions were not counted (Debian: valgrind)"),
    }
    let different = Pair::measure(&wirebench, &plain, &slowed, budget)?;
    println!("{}\nexpected: {percent:.1} % more", different.sentence);
    if !different.is_dearer() {
        wrong.push(format!("a server with {percent} % more work is not told to be dearer"));
    }
    if !arguments.pairs_only {
        wrong.extend(copies::measure(&wirebench, arguments.blocks)?);
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("; "));
    Ok(())
}
