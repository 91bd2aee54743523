//! Services that run already: which they are, whose processes are theirs, and how much load they may get.

use rustix::process::Pid;
use wirebench_catalogue::subject::Subject;
use wirebench_schema::{entry::Service, id::VariantId, scenario::Protocol, target::Target};
use wirebench_server::{launch, tree};

use crate::{context::Context, exit::usage, out};

/// Options of services other than their URLs.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct ServiceOptions {
    /// Process of a URL's service on this host, for CPU time and memory; repeatable, in the order of the
    /// URLs [default: the processes that listen on its address]
    #[arg(
        long = "pid", value_name = "PID", help_heading = "Services",
        value_parser = clap::value_parser!(i32).range(1..)
    )]
    pub(crate) pids: Vec<i32>,
    #[command(flatten)]
    pub(crate) consent: Consent,
}

/// What is agreed to.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct Consent {
    /// Load and check services on addresses other than loopback as fast as they answer
    #[arg(long, help_heading = "Services")]
    yes: bool,
}

/// Whether a user means a service with this word.
pub(crate) fn is_url(word: &str) -> bool {
    word.contains("://")
}

impl ServiceOptions {
    /// The services that `words` name. Nothing is connected to; a service that others may use is refused unless
    /// its load was agreed to or has a limit: the option of the verb that bounds the rate, if it is given.
    pub(crate) fn find<'a>(
        &self,
        context: &Context,
        words: impl IntoIterator<Item = &'a String>,
        limit: (&str, bool),
    ) -> anyhow::Result<Vec<Subject>> {
        let urls: Vec<&String> = words.into_iter().filter(|word| is_url(word)).collect();
        if self.pids.len() > urls.len() {
            return Err(usage(format!(
                "there are {} --pid for {} URLs: give one for each service, in their order",
                self.pids.len(),
                urls.len()
            )));
        }
        let mut services: Vec<Subject> = Vec::new();
        for (index, url) in urls.into_iter().enumerate() {
            let service = self.service(url, self.pids.get(index).copied(), limit)?;
            let taken: Vec<VariantId> = services.iter().map(|it| it.variant.id.clone()).collect();
            services.push(Subject::service(service, &taken, &context.project).map_err(usage)?);
        }
        Ok(services)
    }

    fn service(
        &self,
        url: &str,
        pid: Option<i32>,
        (option, is_limited): (&str, bool),
    ) -> anyhow::Result<Service> {
        let target: Target = url.parse().map_err(usage)?;
        if target.protocol() != Protocol::Http1 {
            return Err(usage(format!(
                "`{url}` is not a URL of HTTP: write http://HOST:PORT/PATH or https://HOST:PORT/PATH"
            )));
        }
        let dead = pid.filter(|pid| !Pid::from_raw(*pid).is_some_and(tree::is_alive));
        if let Some(pid) = dead {
            return Err(usage(format!("there is no process {pid}: correct --pid, or omit it")));
        }
        let addresses =
            wirebench_loadgen::addresses(&target).map_err(|error| usage(error.to_string()))?;
        let elsewhere = addresses.iter().find(|it| !it.ip().to_canonical().is_loopback());
        let full_speed = self.consent.yes || elsewhere.is_none() && !is_limited;
        if let (Some(address), false, false) = (elsewhere, full_speed, is_limited) {
            return Err(usage(format!(
                "{url} is not on loopback ({address}), so others may use it: give {option} to limit the load, or \
                 --yes to load it as fast as it answers"
            )));
        }
        let processes = pid.into_iter().collect();
        let mut service = Service { target, addresses, processes, instance: None, full_speed };
        service.instance = launch::instance(&service);
        if let (Some(pid), Some(address)) = (pid, launch::listens_elsewhere(&service)) {
            out::note(&format!(
                "warning: process {pid} does not listen on {address}: CPU time and memory are those of another program \
                 than the one that answers"
            ));
        }
        Ok(service)
    }
}

/// Whether the load of any of `subjects` is limited to a stated rate.
pub(crate) fn are_limited(subjects: &[Subject]) -> bool {
    subjects.iter().any(|it| !it.allows_full_speed())
}

/// Whether CPU time and memory can be read of all `subjects`.
pub(crate) fn have_processes(subjects: &[Subject]) -> bool {
    let mut services = subjects.iter().filter_map(|it| it.variant.run.service.as_ref());
    services.all(|service| !launch::processes(service).is_empty())
}
