//! `wirebench load`: load on one server, with wrk's letters and wrk's layout.
//!
//! The options are in `options`, the files that are written with the result in `files`, the line
//! on a terminal in `live`, and the generator's ceiling in `ceiling`. Nothing here measures.

mod ceiling;
mod files;
mod live;
mod options;

pub(crate) use options::Arguments;

use std::path::{Path, PathBuf};
use wirebench_experiment::{agents, journal::now};
use wirebench_host::{environment, neighbours::Throttled};
use wirebench_judge::load::{failures, falls_behind, gave_up, not_valid};
use wirebench_loadgen as loadgen;
use wirebench_report::{
    Report as _,
    gates::{self, Gate},
    load::{self, Load},
    load_text::{self, Detail, Wanted},
};
use wirebench_schema::load::{Body, LoadConfig, LoadEvent, LoadReport, LoadResult, Timeline};

use self::{files::Files, live::Live, options::OutputOptions};
use crate::{
    args::gate::Shown,
    context::command_line,
    exit::Exit,
    live::interrupt::Interrupt,
    out,
    request_options::{learn_files, read_requests},
    results::{loads::LoadFolder, stored},
};

/// Hides the secrets of the files that this load sends.
fn learn_secrets(config: &LoadConfig) {
    learn_files(config, config.requests.as_ref());
    // Standard input is read by the load alone.
    if let Some(Body::File(path)) = &config.body {
        let _ = read_requests(path);
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let config = arguments.config()?;
    learn_secrets(&config);
    let output = &arguments.output;
    arguments.gate.check_all(&gates::scope_of_load("load", &config), &config.requests)?;
    let fleet = arguments.fleet.fleet()?;
    let files = Files::open(output, &out::hide_in(config.clone())?)?;
    let create = |parent: &PathBuf| LoadFolder::create(parent, fleet.is_none());
    let folder = output.output.as_ref().map(create).transpose()?;
    let interrupt = Interrupt::listen()?;
    let ceiling = if output.ceiling {
        let ceiling = ceiling::measure(&config, &interrupt);
        ceiling.inspect_err(|reason| no_ceiling(reason)).ok()
    } else {
        None
    };
    let revision = match output.records_labels() {
        true => environment::revision(Path::new("."), interrupt.flag()),
        false => None,
    };
    let labels = output.label.labels(revision);
    let started = now();
    let hosts = fleet.as_ref().map_or(&[][..], |it| &it.hosts);
    let mut observer = Observer {
        config: &config,
        output,
        hosts,
        files,
        live: Live::new(&config, output),
        throttled: Throttled::default(),
        timeline: Timeline::default(),
    };
    let observe = &mut |event| observer.on(&event);
    let result = match &fleet {
        Some(fleet) => {
            agents::together(fleet, &config, interrupt.flag(), observe).map_err(anyhow::Error::msg)
        }
        None => loadgen::run(&config, interrupt.flag(), observe).map_err(Into::into),
    };
    let Observer { mut files, throttled, timeline, live, .. } = observer;
    live.finish();
    match result {
        Ok(mut report) => {
            // Other hosts have limits of their own.
            let throttled_ns = fleet
                .is_none()
                .then(|| Throttled::read().ns_since(&throttled))
                .filter(|it| *it > 0);
            complete(&mut report, throttled_ns, ceiling);
            let (command, intervals) = (command_line(), timeline.finish());
            let result = LoadResult { started, command, labels, report, intervals };
            let result = out::hide_in(result)?;
            files.report(&result);
            let exit = conclude(arguments, &result, &files, folder.as_ref())?;
            Ok(interrupt.exit().unwrap_or(exit))
        }
        Err(error) => {
            folder.inspect(LoadFolder::remove);
            if output.events {
                print_event(&LoadEvent::Failed { reason: error.to_string() });
            }
            match interrupt.exit() {
                Some(exit) => Ok(exit),
                None => Err(error),
            }
        }
    }
}

/// What a load leads to while it runs.
#[derive(Debug)]
struct Observer<'a> {
    config: &'a LoadConfig,
    output: &'a OutputOptions,
    hosts: &'a [String],
    files: Files,
    live: Live,
    throttled: Throttled,
    timeline: Timeline,
}

impl Observer<'_> {
    fn on(&mut self, event: &LoadEvent) {
        match event {
            LoadEvent::Connected { connections } => {
                self.files.begin(*connections);
                self.throttled = Throttled::read();
                // By now the target has answered: what cannot be loaded gets an error and no heading.
                if !self.output.json && !self.output.events {
                    out::result(&load_text::heading(self.config, self.hosts));
                }
            }
            LoadEvent::Interval(interval) => {
                self.files.interval(interval);
                self.timeline.push(interval);
            }
            _ => {}
        }
        if self.output.events {
            print_event(event);
        }
        self.live.on(event);
    }
}

/// Adds what the generator itself does not know.
fn complete(report: &mut LoadReport, throttled_ns: Option<u64>, ceiling: Option<f64>) {
    report.throttled_ns = throttled_ns;
    report.ceiling_requests_per_second = ceiling;
    if let Some(reason) = ceiling.and_then(|_| ceiling::differs(report)) {
        no_ceiling(&reason);
        report.ceiling_requests_per_second = None;
    }
}

/// Prints the result, says what went wrong, and decides how the program ends.
fn conclude(
    arguments: &Arguments,
    result: &LoadResult,
    files: &Files,
    folder: Option<&LoadFolder>,
) -> anyhow::Result<Exit> {
    let (report, output) = (&result.report, &arguments.output);
    let gate = load::gate(report, &arguments.gate.conditions());
    print(output, result, gate.as_ref());
    if let Some(folder) = folder {
        folder.write(result, gate.as_ref())?;
        let place = stored::place(&folder.path);
        match output.json || output.events {
            true => out::note(&place),
            false => out::result(&format!("{place}\n")),
        }
    }
    let shown = if output.json || output.events { Shown::Aside } else { Shown::After };
    arguments.gate.conclude(("load", gate.as_ref(), shown), Exit::Fine, || {
        let mut exit = Exit::Fine;
        if report.requests == 0 && !report.interrupted {
            exit = Exit::Failed;
            out::error(&without_reply(report));
        } else if let Some(gave_up) = gave_up(report).filter(|_| !report.interrupted) {
            exit = Exit::Failed;
            out::error(&gave_up);
        }
        if let Some(failures) = failures(report).filter(|_| report.requests > 0) {
            out::note(&failures);
        }
        if let Some(behind) = falls_behind(report) {
            out::note(&format!("warning: {behind}: choose a lower rate"));
        }
        for reason in not_valid(report) {
            exit = Exit::NotValid;
            out::error(&format!("not valid: {reason}"));
        }
        for complaint in files.complaints() {
            exit = Exit::Failed;
            out::error(&complaint);
        }
        exit
    })
}

/// Why there is no figure of a load that was not stopped.
fn without_reply(report: &LoadReport) -> String {
    let examples = report.error_examples.iter().map(ToString::to_string).chain(gave_up(report));
    let reasons = examples.collect::<Vec<_>>().join("; ");
    match (report.answered(), reasons.is_empty()) {
        (0, true) => {
            "no valid reply: no reply arrived within the window; use a longer -d".to_owned()
        }
        (0, false) => format!("no valid reply: {reasons}"),
        (late, true) => {
            format!("no valid reply in the window ({late} after it): use a longer -d")
        }
        (late, false) => {
            format!("no valid reply in the window ({late} after it; {reasons}): use a longer -d")
        }
    }
}

fn print(output: &OutputOptions, result: &LoadResult, gate: Option<&Gate>) {
    let report = &result.report;
    if output.events {
        print_event(&LoadEvent::Report(Box::new(report.clone())));
    } else if output.json {
        out::result(&Load { result, machine: None, gate }.json());
    } else {
        let everything = output.latency || output.percentiles.is_some();
        let detail = if everything { Detail::Everything } else { Detail::Needed };
        let percentiles = output.percentiles.clone().unwrap_or_default();
        let wanted = Wanted { detail, percentiles, look: out::look() };
        out::result(&load_text::results(report, &wanted));
    }
}

fn no_ceiling(reason: &str) {
    out::note(&format!("no ceiling: {reason}"));
}

/// An event is plain data; it can always be written.
fn print_event(event: &LoadEvent) {
    let event = out::hide_in(event.clone());
    if let Ok(line) = event.and_then(|event| serde_json::to_string(&event)) {
        out::result(&line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use wirebench_schema::load::{EngineChoice, LatencySummary, LoadModel, RateCurve};

    fn replies_after_the_window(count: u64) -> LoadReport {
        let mut config = LoadConfig::new("http://127.0.0.1:80/".parse().unwrap());
        config.model = LoadModel::rate(RateCurve::per_second(10));
        let mut report = LoadReport::new("0".into(), config, EngineChoice::Epoll);
        report.latency = Some(LatencySummary { count, censored: 1, ..LatencySummary::default() });
        report
    }

    #[test]
    fn replies_that_came_after_the_window_are_not_denied() {
        expect!["no valid reply in the window (4 after it): use a longer -d"]
            .assert_eq(&without_reply(&replies_after_the_window(5)));
        expect!["no valid reply: no reply arrived within the window; use a longer -d"]
            .assert_eq(&without_reply(&replies_after_the_window(1)));
    }
}
