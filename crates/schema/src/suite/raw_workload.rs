//! A workload as it is written in a suite's file: its keys, and the workloads that its lists make.

use serde::Deserialize;
use std::time::Duration;

use super::{Phase, ShapePatch, Workload, shape::with_shape, workload::IDLE_PHASE_CONNECTIONS};
use crate::{
    duration_text::DurationText,
    load::{Arrivals, NamedFiles, Rate, RequestOrder, RequestSet, parse_header},
    one_or_many::list,
    refuse::refuse_if,
    scenario::Scenario,
};

fn default_payload() -> Vec<String> {
    vec!["64".to_owned()]
}

with_shape! {
    /// A workload as it is written. Lists are swept: they make a workload of every pair.
    pub(super) struct RawWorkload {
        name: String,
        scenario: Scenario,
        workers: Option<u32>,
        #[serde(deserialize_with = "list")]
        connections: Vec<usize>,
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
        #[serde(default, deserialize_with = "list")]
        rate: Vec<Rate>,
        #[serde(default = "default_payload", deserialize_with = "list")]
        payload: Vec<String>,
        #[serde(default)]
        own_process: bool,
        /// Reductions of the published values for an ordinary machine.
        pub(super) machine: Option<ShapePatch>,
    }
}

impl RawWorkload {
    /// Converts it to workloads, or explains why it is invalid.
    pub(super) fn resolve(self, files: &NamedFiles<'_>) -> Result<Vec<Workload>, String> {
        let named = |reason| format!("workload `{}`: {reason}", self.name);
        let file = self.requests_file.as_deref();
        let requests =
            RequestSet::named("requests_file", file, self.order, files).map_err(named)?;
        let mut workloads = Vec::new();
        for &connections in &self.connections {
            for payload in &self.payload {
                let name = self.name.replace("{connections}", &connections.to_string());
                let name = name.replace("{payload}", payload);
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
        Ok(workloads)
    }

    /// Its phases. A given rate implies the phase cost.
    fn phases(&self) -> Result<Vec<Phase>, String> {
        let has_rate = !self.rate.is_empty() || self.shape().has_rate();
        let usual = if has_rate { Phase::Cost } else { Phase::Saturate };
        let phases = self.phases.clone().unwrap_or_else(|| vec![usual]);
        refuse_if!(phases.is_empty(), "no phase: write phases = [\"saturate\"]");
        refuse_if!(
            has_rate && !phases.contains(&Phase::Cost),
            "`rate` is for the phase `cost`, which is not among its phases"
        );
        refuse_if!(
            (self.arrivals.is_some() || self.skip_late.is_some()) && !has_rate,
            "`arrivals` and `skip_late` need a `rate`: write rate = 1000"
        );
        refuse_if!(
            self.delay.is_some() && !has_rate && phases.contains(&Phase::Cost),
            "the phase `cost` has a rate, so it can have no `delay`"
        );
        refuse_if!(
            self.idle_phase_connections.is_some() && !phases.contains(&Phase::Idle),
            "`idle_phase_connections` applies to the phase `idle`, which is not among its phases"
        );
        Ok(phases)
    }

    /// The rates of a phase; none means a closed loop, or a rate that a pilot finds.
    fn rates(&self, phase: Phase) -> Vec<Option<Rate>> {
        match phase {
            Phase::Cost if !self.rate.is_empty() => self.rate.iter().copied().map(Some).collect(),
            Phase::Saturate | Phase::Cost | Phase::Idle => vec![None],
        }
    }

    /// Its name with the phase. The first phase has the plain name; with several rates, each has
    /// its own.
    fn name_of(&self, name: String, phase: Phase, rate: Option<Rate>) -> Result<String, String> {
        let is_first = self.phases()?.first() == Some(&phase);
        Ok(match rate.filter(|_| self.rates(phase).len() > 1) {
            Some(rate) => format!("{name}-{}", rate.short()),
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
        let mut workload = Workload {
            name: self.name_of(name, phase, rate)?,
            phase,
            workers: self.workers,
            headers: self.headers.iter().map(|it| parse_header(it)).collect::<Result<_, _>>()?,
            requests: requests.cloned(),
            own_process: self.own_process,
            ..Workload::new(self.scenario)
        };
        let shape = self.shape();
        refuse_if!(
            shape.stop()?.is_none(),
            "write one of duration, requests and count_per_connection"
        );
        let payload = crate::units::parse_size(payload)?;
        let patch = ShapePatch {
            connections: Some(connections),
            idle_connections: match phase {
                Phase::Idle => self.idle_phase_connections.or(Some(IDLE_PHASE_CONNECTIONS)),
                Phase::Saturate | Phase::Cost => self.idle_connections,
            },
            // A rate excludes a think time in other phases, too.
            rate: rate.or(self.rate.first().copied()),
            payload: Some(usize::try_from(payload).map_err(|error| error.to_string())?),
            ..shape
        };
        patch.apply(&mut workload)?;
        workload.check()?;
        Ok(workload)
    }
}
