//! A workload as it is written in a suite's file: its keys, and the workloads that its lists make.

use serde::Deserialize;
use std::time::Duration;

use super::{
    Phase, Workload, raw::OneOrMany, scale::WorkloadRule, workload::IDLE_PHASE_CONNECTIONS,
};
use crate::{
    load::{
        Arrivals, ClosedPolicy, LatencyOrigin, LoadModel, NamedFiles, Rate, RateCurve,
        RequestOrder, RequestSet, Stop, Trust, parse_header,
    },
    refuse::refuse_if,
    scenario::Scenario,
    units::parse_duration,
};

/// A workload as it is written. Lists are swept: they make a workload of every pair.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawWorkload {
    name: String,
    scenario: Scenario,
    workers: Option<u32>,
    connections: OneOrMany<usize>,
    threads: Option<usize>,
    #[serde(default)]
    idle_connections: usize,
    #[serde(default = "default_pipeline")]
    pipeline: usize,
    requests_per_connection: Option<u64>,
    #[serde(default)]
    retry_closed: bool,
    #[serde(default)]
    headers: Vec<String>,
    /// In the scenario `requests`: the file with the requests, beside that of the suite.
    requests_file: Option<String>,
    #[serde(default)]
    order: RequestOrder,
    phases: Option<Vec<Phase>>,
    /// The former name still loads.
    #[serde(alias = "silent_connections")]
    idle_phase_connections: Option<usize>,
    rate: Option<OneOrMany<Rate>>,
    arrivals: Option<Arrivals>,
    #[serde(default, with = "crate::units::duration_text")]
    delay: Duration,
    #[serde(default = "default_payload")]
    payload: OneOrMany<String>,
    #[serde(default, with = "crate::units::duration_text")]
    warmup: Duration,
    warmup_requests: Option<u64>,
    #[serde(default, with = "crate::units::duration_text")]
    steady_within: Duration,
    duration: Option<String>,
    requests: Option<u64>,
    count_per_connection: Option<u64>,
    #[serde(default = "default_timeout", with = "crate::units::duration_text")]
    timeout: Duration,
    #[serde(default)]
    own_process: bool,
    machine: Option<RawRule>,
}

/// `[workload.machine]`: reductions of the published values for an ordinary machine.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRule {
    connections: Option<usize>,
    payload: Option<String>,
    warmup_requests: Option<u64>,
    #[serde(default, with = "crate::units::optional_duration_text")]
    steady_within: Option<Duration>,
    duration: Option<String>,
    requests: Option<u64>,
    count_per_connection: Option<u64>,
}

pub(super) const fn default_pipeline() -> usize {
    1
}

fn default_payload() -> OneOrMany<String> {
    OneOrMany::One("64".to_owned())
}

const fn default_timeout() -> Duration {
    Duration::from_secs(2)
}

impl RawWorkload {
    /// Overrides for an ordinary machine.
    pub(super) fn rule(&self) -> Result<Option<WorkloadRule>, String> {
        let Some(raw) = &self.machine else { return Ok(None) };
        let wrong = |reason| format!("[workload.machine] of `{}`: {reason}", self.name);
        let counts = (raw.requests, raw.count_per_connection);
        let stop = match (&raw.duration, counts) {
            (None, (None, None)) => None,
            (text, (requests, each)) => Some(stop(text.as_deref(), requests, each).map_err(wrong)?),
        };
        Ok(Some(WorkloadRule {
            connections: raw.connections,
            payload_bytes: raw.payload.as_deref().map(size).transpose().map_err(wrong)?,
            stop,
            warmup_requests: raw.warmup_requests,
            steady_within: raw.steady_within,
        }))
    }

    /// Converts it to workloads, or explains why it is invalid.
    pub(super) fn resolve(self, files: &NamedFiles<'_>) -> Result<Vec<Workload>, String> {
        let named = |reason| format!("workload `{}`: {reason}", self.name);
        let requests = self.requests(files).map_err(named)?;
        let mut workloads = Vec::new();
        for connections in self.connections.values() {
            for payload in self.payload.values() {
                let name = self.name.replace("{connections}", &connections.to_string());
                let name = name.replace("{payload}", &payload);
                let named = |reason| format!("workload `{name}`: {reason}");
                for phase in self.phases().map_err(named)? {
                    for rate in self.rates(phase) {
                        let size = (connections, payload.as_str());
                        let workload =
                            self.one(name.clone(), size, (phase, rate), requests.as_ref());
                        workloads.push(workload.map_err(named)?);
                    }
                }
            }
        }
        refuse_if!(workloads.is_empty(), "workload `{}`: an empty list", self.name);
        Ok(workloads)
    }

    fn requests(&self, files: &NamedFiles<'_>) -> Result<Option<RequestSet>, String> {
        let Some(name) = &self.requests_file else { return Ok(None) };
        let set = RequestSet::named(name, self.order, files);
        set.map(Some).map_err(|reason| format!("`requests_file = \"{name}\"`: {reason}"))
    }

    /// Its phases. A given rate implies the phase cost.
    fn phases(&self) -> Result<Vec<Phase>, String> {
        let phases = match (&self.phases, &self.rate) {
            (Some(phases), _) => phases.clone(),
            (None, Some(_)) => vec![Phase::Cost],
            (None, None) => vec![Phase::Saturate],
        };
        refuse_if!(
            self.rate.as_ref().is_some_and(|rates| rates.values().is_empty()),
            "`rate = []` is empty: add a rate such as 1000, or omit it"
        );
        refuse_if!(phases.is_empty(), "no phase: write phases = [\"saturate\"]");
        refuse_if!(
            self.rate.is_some() && !phases.contains(&Phase::Cost),
            "`rate` is for the phase `cost`, which is not among its phases"
        );
        refuse_if!(
            self.idle_phase_connections.is_some() && !phases.contains(&Phase::Idle),
            "`idle_phase_connections` applies to the phase `idle`, which is not among its phases"
        );
        Ok(phases)
    }

    /// The rates of a phase; none means a closed loop, or a rate that a pilot finds.
    fn rates(&self, phase: Phase) -> Vec<Option<Rate>> {
        match &self.rate {
            Some(rates) if phase == Phase::Cost => rates.values().into_iter().map(Some).collect(),
            _ => vec![None],
        }
    }

    /// Its name with the phase. The first phase has the plain name; with several rates, each has
    /// its own.
    fn name_of(&self, name: String, phase: Phase, rate: Option<Rate>) -> Result<String, String> {
        let is_first = self.phases()?.first() == Some(&phase);
        Ok(match rate.filter(|_| self.rates(phase).len() > 1) {
            Some(rate) => format!("{name}-{}", short_rate(rate)),
            None if is_first => name,
            None => format!("{name}-{phase}"),
        })
    }

    /// One phase of it, at one rate.
    fn one(
        &self,
        name: String,
        (connections, payload): (usize, &str),
        (phase, rate): (Phase, Option<Rate>),
        requests: Option<&RequestSet>,
    ) -> Result<Workload, String> {
        refuse_if!(self.workers == Some(0), "`workers = 0` serves nothing: write at least 1");
        let stop = stop(self.duration.as_deref(), self.requests, self.count_per_connection)?;
        let workload = Workload {
            stop,
            model: self.model(phase, rate)?,
            name: self.name_of(name, phase, rate)?,
            scenario: self.scenario,
            phase,
            workers: self.workers,
            connections: match phase {
                Phase::Idle => self.idle_phase_connections.unwrap_or(IDLE_PHASE_CONNECTIONS),
                Phase::Saturate | Phase::Cost => connections,
            },
            threads: self.threads,
            idle_connections: self.idle_connections,
            pipeline: self.pipeline,
            requests_per_connection: self.requests_per_connection,
            on_closed: if self.retry_closed { ClosedPolicy::Retry } else { ClosedPolicy::Fail },
            headers: self.headers.iter().map(|it| parse_header(it)).collect::<Result<_, _>>()?,
            requests: requests.cloned(),
            trust: Trust::System,
            payload_bytes: size(payload)?,
            warmup: self.warmup,
            warmup_requests: self.warmup_requests,
            steady_within: self.steady_within,
            timeout: self.timeout,
            own_process: self.own_process,
        };
        workload.check()?;
        Ok(workload)
    }

    fn model(&self, phase: Phase, rate: Option<Rate>) -> Result<LoadModel, String> {
        let arrivals = self.arrivals.unwrap_or_default();
        refuse_if!(
            phase == Phase::Cost && self.rate.is_none() && !self.delay.is_zero(),
            "the phase `cost` has a rate, so it can have no `delay`"
        );
        match (rate, self.rate.is_some(), self.delay.is_zero()) {
            (None, false, _) if self.arrivals.is_some() => {
                Err("`arrivals` needs a `rate`: write rate = 1000".to_owned())
            }
            (None, false, false) => Ok(LoadModel::Think { delay: self.delay }),
            (Some(rate), _, true) => {
                let (curve, latency_from) = (RateCurve::Constant(rate), LatencyOrigin::Due);
                Ok(LoadModel::Rate { curve, arrivals, latency_from })
            }
            // The rate is for the phase `cost`, and without one a pilot finds it.
            (None, _, true) => Ok(LoadModel::Closed),
            (_, true, false) | (Some(_), false, false) => {
                Err("write at most one of rate and delay".to_owned())
            }
        }
    }
}

/// A rate as it is named: `20k` for 20 000.
fn short_rate(rate: Rate) -> String {
    let thousands = rate.as_f64() / 1000.0;
    if thousands >= 1.0 && thousands.fract() == 0.0 {
        format!("{thousands}k")
    } else {
        rate.to_string()
    }
}

fn size(text: &str) -> Result<usize, String> {
    let size = crate::units::parse_size(text)?;
    usize::try_from(size).map_err(|error| error.to_string())
}

fn stop(time: Option<&str>, requests: Option<u64>, each: Option<u64>) -> Result<Stop, String> {
    match (time, requests, each) {
        (Some(text), None, None) => parse_duration(text).map(Stop::After),
        (None, Some(requests), None) => Ok(Stop::Requests(requests)),
        (None, None, Some(requests)) => Ok(Stop::RequestsPerConnection(requests)),
        _ => Err("write exactly one of duration, requests and count_per_connection".to_owned()),
    }
}
