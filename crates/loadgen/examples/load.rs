//! A load by hand: `load URL [THREADS CONNECTIONS SECONDS ENGINE]`. It prints the report.

use std::{error::Error, sync::atomic::AtomicBool, time::Duration};
use wirebench_schema::load::{EngineChoice, LoadConfig, Stop};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let target = arguments.first().ok_or("usage: load URL [THREADS CONNECTIONS SECONDS ENGINE]")?;
    let number = |index: usize, default: usize| {
        arguments.get(index).map_or(Ok(default), |text| text.parse::<usize>())
    };
    let mut config = LoadConfig::new(target.parse()?);
    config.threads = number(1, 1)?;
    config.connections = number(2, 10)?;
    config.stop = Stop::After(Duration::from_secs(number(3, 2)? as u64));
    if let Some(name) = arguments.get(4) {
        let found = EngineChoice::ALL.into_iter().find(|engine| engine.name() == name);
        config.engine = found.ok_or("ENGINE is auto, io_uring or epoll")?;
    }
    let never = AtomicBool::new(false);
    let report = wirebench_loadgen::run(&config, &never, &mut |event| eprintln!("{event:?}"))?;
    println!("{report:#?}");
    Ok(())
}
