//! `wirebench load`: load on one server, with wrk's letters and wrk's layout.
//!
//! The options are in `options`, the files that are written beside the result in `files`, the line
//! on a terminal in `live`, and the generator's ceiling in `ceiling`. Nothing here measures.

mod ceiling;
mod files;
mod live;
mod options;

pub(crate) use options::Arguments;

use serde::Serialize;
use wirebench_loadgen as loadgen;
use wirebench_report::load_text::{self, Detail, Wanted};
use wirebench_schema::load::{LoadEvent, LoadReport, Verdict};

use self::{files::Files, live::Live, options::OutputOptions};
use crate::{exit::Exit, interrupt::Interrupt, out};

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let config = arguments.config()?;
    let output = &arguments.output;
    let mut files = Files::open(output)?;
    let interrupt = Interrupt::listen()?;
    let ceiling = if output.ceiling {
        let ceiling = ceiling::measure(&config, &interrupt);
        ceiling.inspect_err(|reason| no_ceiling(reason)).ok()
    } else {
        None
    };
    let started = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let mut live = Live::new(&config, output);
    let mut observe = |event: LoadEvent| {
        match &event {
            // By now the target has answered: what cannot be loaded gets an error and no heading.
            LoadEvent::Connected { .. } if !output.json && !output.events => {
                out::result(&load_text::heading(&config));
            }
            LoadEvent::Interval(interval) => files.interval(interval),
            _ => {}
        }
        if output.events {
            print_event(&event);
        }
        live.on(&event);
    };
    let result = loadgen::run(&config, interrupt.flag(), &mut observe);
    live.finish();
    match result {
        Ok(mut report) => {
            report.ceiling_requests_per_second = ceiling;
            if let Some(reason) = ceiling.and_then(|_| ceiling::differs(&report)) {
                no_ceiling(&reason);
                report.ceiling_requests_per_second = None;
            }
            files.report(&report, &started);
            let exit = conclude(output, &report, &files)?;
            Ok(interrupt.exit().unwrap_or(exit))
        }
        Err(error) => {
            if output.events {
                print_event(&LoadEvent::Failed { reason: error.to_string() });
            }
            match interrupt.exit() {
                Some(exit) => Ok(exit),
                None => Err(error.into()),
            }
        }
    }
}

/// Prints the result, says what went wrong, and decides how the program ends.
fn conclude(output: &OutputOptions, report: &LoadReport, files: &Files) -> anyhow::Result<Exit> {
    print(output, report)?;
    let mut exit = Exit::Fine;
    let failed = report.errors.total();
    if report.requests == 0 && !report.interrupted {
        exit = Exit::Failed;
        let reasons = report.error_examples.join("; ");
        let reasons = if reasons.is_empty() {
            "no reply came within the window, give a longer -d".to_owned()
        } else {
            reasons
        };
        out::error(&format!("no request was answered correctly: {reasons}"));
    } else if failed > 0 {
        out::note(&format!("{failed} of {} requests failed", report.requests + failed));
    }
    for complaint in files.complaints() {
        exit = Exit::Failed;
        out::error(&complaint);
    }
    Ok(exit)
}

/// The report, and what follows from it.
#[derive(Serialize)]
struct Judged<'a> {
    #[serde(flatten)]
    report: &'a LoadReport,
    verdict: Verdict,
}

fn print(output: &OutputOptions, report: &LoadReport) -> anyhow::Result<()> {
    if output.events {
        print_event(&LoadEvent::Report(Box::new(report.clone())));
    } else if output.json {
        let judged = Judged { report, verdict: report.verdict() };
        out::result(&serde_json::to_string_pretty(&judged)?);
    } else {
        out::result(&load_text::results(report, &wanted(output)));
    }
    Ok(())
}

fn wanted(output: &OutputOptions) -> Wanted {
    let everything = output.latency || output.percentiles.is_some();
    Wanted {
        detail: if everything { Detail::Everything } else { Detail::Needed },
        percentiles: output.percentiles.clone().map_or_else(Vec::new, |percentiles| percentiles.0),
    }
}

fn no_ceiling(reason: &str) {
    out::note(&format!("no ceiling: {reason}"));
}

/// An event is plain data; it can always be written.
fn print_event(event: &LoadEvent) {
    if let Ok(line) = serde_json::to_string(event) {
        out::result(&line);
    }
}
