//! `wirebench load`: load on one server, with wrk's letters and wrk's layout.

mod options;

pub(crate) use options::Arguments;

use wirebench_loadgen as loadgen;
use wirebench_report::load_text;
use wirebench_schema::load::{LoadEvent, LoadReport};

use crate::{exit::Exit, interrupt::Interrupt, out};

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let config = arguments.config()?;
    let interrupt = Interrupt::listen()?;
    let mut observe = |event: LoadEvent| match event {
        event if arguments.output.events => print_event(&event),
        // By now the target has answered: what cannot be loaded gets an error and no heading.
        LoadEvent::Connected { .. } if !arguments.output.json => {
            out::result(&load_text::heading(&config));
        }
        _ => {}
    };
    match loadgen::run(&config, interrupt.flag(), &mut observe) {
        Ok(report) => {
            print(arguments, &report)?;
            let failed = report.requests == 0 && !report.interrupted;
            if failed {
                let reasons = report.error_examples.join("; ");
                let reasons = if reasons.is_empty() {
                    "no reply came within the window, give a longer -d".to_owned()
                } else {
                    reasons
                };
                out::error(&format!("no request was answered correctly: {reasons}"));
            }
            let exit = if failed { Exit::Failed } else { Exit::Fine };
            Ok(interrupt.exit().unwrap_or(exit))
        }
        Err(error) => {
            if arguments.output.events {
                print_event(&LoadEvent::Failed { reason: error.to_string() });
            }
            match interrupt.exit() {
                Some(exit) => Ok(exit),
                None => Err(error.into()),
            }
        }
    }
}

fn print(arguments: &Arguments, report: &LoadReport) -> anyhow::Result<()> {
    if arguments.output.events {
        print_event(&LoadEvent::Report(Box::new(report.clone())));
    } else if arguments.output.json {
        out::result(&serde_json::to_string_pretty(report)?);
    } else {
        out::result(&load_text::results(report, arguments.output.latency));
    }
    Ok(())
}

/// An event is plain data; it can always be written.
fn print_event(event: &LoadEvent) {
    if let Ok(line) = serde_json::to_string(event) {
        out::result(&line);
    }
}
