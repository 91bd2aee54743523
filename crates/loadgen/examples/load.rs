//! A load by hand: `load URL [THREADS CONNECTIONS SECONDS] [NAME=VALUE ...]`. It prints what happens
//! and when, with the memory of this process at that moment, and the report.
//!
//! It takes few options; `wirebench load` is the program.

use std::{
    error::Error,
    net::IpAddr,
    sync::atomic::AtomicBool,
    time::{Duration, Instant},
};
use wirebench_schema::load::{EngineChoice, LoadConfig, SourceRange, Stop};

const USAGE: &str = "usage: load URL [THREADS CONNECTIONS SECONDS] [idle=N] [source=FIRST-LAST] \
                     [unix=PATH] [engine=NAME] [per-connection=REQUESTS] [timeout=SECONDS]";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (options, numbers): (Vec<_>, Vec<_>) =
        arguments.iter().skip(1).partition(|argument| argument.contains('='));
    let number = |index: usize, default: usize| {
        numbers.get(index).map_or(Ok(default), |text| text.parse::<usize>())
    };
    let mut config = LoadConfig::new(arguments.first().ok_or(USAGE)?.parse()?);
    config.threads = number(0, 1)?;
    config.connections = number(1, 10)?;
    config.stop = Stop::After(Duration::from_secs(number(2, 2)? as u64));
    for option in options {
        set(&mut config, option)?;
    }
    let never = AtomicBool::new(false);
    let began = Instant::now();
    let report = wirebench_loadgen::run(&config, &never, &mut |event| {
        eprintln!("{:.3} s, {}: {event:?}", began.elapsed().as_secs_f64(), memory());
    })?;
    println!("{report:#?}");
    Ok(())
}

fn set(config: &mut LoadConfig, option: &str) -> Result<(), Box<dyn Error>> {
    let (name, value) = option.split_once('=').ok_or(USAGE)?;
    match name {
        "idle" => config.idle_connections = value.parse()?,
        "source" => {
            let (first, last) = value.split_once('-').unwrap_or((value, value));
            let (first, last) = (first.parse::<IpAddr>()?, last.parse::<IpAddr>()?);
            config.sources.push(SourceRange { first, last });
        }
        "unix" => config.unix_socket = Some(value.to_owned()),
        "engine" => {
            let known = EngineChoice::ALL.into_iter().find(|engine| engine.name() == value);
            config.engine = known.ok_or("engines are auto, io_uring and epoll")?;
        }
        "per-connection" => config.requests_per_connection = Some(value.parse()?),
        "timeout" => config.timeout = Duration::from_secs(value.parse()?),
        _ => return Err(USAGE.into()),
    }
    Ok(())
}

/// What the kernel says of this process's memory.
fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS"));
    line.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}
