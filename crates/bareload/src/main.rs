//! The program `wirebench-bare-load`: one bare loop, one line of JSON, for developers who measure
//! the load generator.

use clap::Parser;
use std::process::ExitCode;
use wirebench_bareload::{Options, run};

fn main() -> ExitCode {
    let options = Options::parse();
    match run(&options) {
        Ok(outcome) => {
            let line = serde_json::json!({
                "requests": outcome.requests,
                "seconds": outcome.elapsed.as_secs_f64(),
                "cpu_ns": u64::try_from(outcome.cpu.as_nanos()).unwrap_or(u64::MAX),
                "requests_per_second": outcome.requests_per_second(),
            });
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("wirebench-bare-load: {}: {error}", options.address);
            ExitCode::FAILURE
        }
    }
}
