//! The program `wirebench-bare-load`: one bare loop, one line of JSON, for developers who measure
//! the load generator.

use std::process::ExitCode;

use wirebench_bareload::{options_from_arguments, run};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let options = match options_from_arguments(&arguments) {
        Ok(options) => options,
        Err(error) => {
            eprintln!("wirebench-bare-load: {error}");
            return ExitCode::from(2);
        }
    };
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
