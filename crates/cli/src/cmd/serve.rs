//! `wirebench serve`: starts one entry, says where it listens, and leaves it up until Ctrl-C or its
//! own end.

use anyhow::Context as _;
use std::{net::Ipv4Addr, time::Duration};
use wirebench_catalogue::build::{self, Freshness};
use wirebench_schema::scenario::Scenario;
use wirebench_server::launch::{STOP_GRACE, check_machine};

use crate::{
    args::project::ProjectOption,
    context::Context,
    exit::{Exit, usage},
    out, value,
};

/// How often the wait looks whether a signal asked to end.
const STEP: Duration = Duration::from_millis(100);

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Entry or variant
    #[arg(value_name = "ENTRY")]
    name: String,
    /// Scenario: hello, hello-timeout, echo, mutex, channel, skewed or handoff
    #[arg(long, default_value = "hello")]
    scenario: Scenario,
    /// Server threads, processes or event loops
    #[arg(long, value_name = "N", default_value = "1", value_parser = value::number::<u32>)]
    workers: u32,
    /// Time without progress after which hello-timeout closes a connection [default: 5s]
    #[arg(long, value_name = "DURATION", value_parser = value::duration)]
    progress_timeout: Option<Duration>,
    #[command(flatten)]
    project: ProjectOption,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let context = Context::new(&arguments.project)?;
    let subject = &context.select_one(&arguments.name)?;
    subject.variant.check_scenario(arguments.scenario).map_err(usage)?;
    if arguments.workers == 0 {
        return Err(usage("--workers must be at least 1"));
    }
    if let Some(reason) = context.prober().availability(subject).reason() {
        anyhow::bail!("{}: {reason}", subject.variant.id);
    }
    check_machine(Ipv4Addr::LOCALHOST.into()).map_err(anyhow::Error::msg)?;
    build::build(subject, Freshness::Stamped, context.interrupt.flag(), &|| {})
        .with_context(|| format!("cannot build {}", subject.variant.id))?;
    let mut request = subject.request(arguments.scenario, subject.workers(arguments.workers));
    if let Some(timeout) = arguments.progress_timeout {
        request.timeout_ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
    }
    let mut server = context.launcher(None).start(&request, context.interrupt.flag())?;
    let address = server.address();
    let try_it = (arguments.scenario.protocol().traits().try_command)(address);
    out::result(&format!("listening {address}"));
    out::note(&format!(
        "{} serves {}; try: {try_it} (stop with Ctrl-C)",
        subject.variant.id, arguments.scenario
    ));
    loop {
        if let Some(exit) = server.wait(STEP) {
            let said = server.stderr().text();
            let said = if said.is_empty() { said } else { format!("; its standard error: {said}") };
            anyhow::bail!("the server ended with {exit}{said}");
        }
        if let Some(exit) = context.interrupt.exit() {
            let stopped = server.stop(STOP_GRACE);
            if stopped.forced {
                out::note("the server ignored SIGTERM and was killed");
            }
            return Ok(exit);
        }
    }
}
