//! Changes of a load's shape: the one form of the options of all verbs, of the keys of a workload in a suite, and of
//! the rules for a machine.

use serde::{Deserialize, Deserializer, de::Error};
use std::time::Duration;

use super::{phase::Phase, workload::Workload};
use crate::{
    duration_text::DurationText,
    load::{Arrivals, ClosedPolicy, LatencyOrigin, LoadModel, Rate, RateCurve, Stop},
    refuse::refuse_if,
};

/// Defines a table of a suite with the keys of a load's shape after its own ones, and the method `shape` that returns
/// them. Serde's `flatten` would lose the line of a mistake.
macro_rules! with_shape {
    ($(#[$attribute:meta])* $visibility:vis struct $name:ident { $($own:tt)* }) => {
        $crate::suite::shape::with_shape! {
            @keys $name [$(#[$attribute])* $visibility struct $name] [$($own)*]
            /// Threads of the generator.
            threads: Option<usize>,
            /// Connections that stay silent: those of idle phases, and besides those of a load.
            idle_connections: Option<usize>,
            /// Requests that may be in flight on one connection.
            pipeline: Option<usize>,
            /// Requests after which the client closes and reopens a connection.
            requests_per_connection: Option<u64>,
            /// True if a request whose connection the server closes before its reply is sent once more.
            retry_closed: Option<bool>,
            /// The first and the last rate of one that changes evenly.
            ramp: Option<(Rate, Rate)>,
            /// Rates, each for an equal part of the window.
            steps: Option<Vec<Rate>>,
            /// The spacing of requests at a rate.
            arrivals: Option<Arrivals>,
            /// True if requests that are due while no connection is free are skipped.
            skip_late: Option<bool>,
            /// A closed loop instead of a think time.
            closed: Option<bool>,
            /// Think time of each connection.
            #[serde(default, deserialize_with = "DurationText::optional")]
            delay: Option<Duration>,
            /// Load before the window.
            #[serde(default, deserialize_with = "DurationText::optional")]
            warmup: Option<Duration>,
            /// Requests of a separate load before the measured one; 0 for none.
            warmup_requests: Option<u64>,
            /// The limit of the warm-up until steady.
            #[serde(default, deserialize_with = "DurationText::optional")]
            steady_within: Option<Duration>,
            /// The length of the window.
            #[serde(default, deserialize_with = "DurationText::optional")]
            duration: Option<Duration>,
            /// Requests in the window instead.
            requests: Option<u64>,
            /// Requests of each connection in the window instead.
            count_per_connection: Option<u64>,
            /// The limit for a reply.
            #[serde(default, deserialize_with = "DurationText::optional")]
            timeout: Option<Duration>,
        }
    };
    (@keys $name:ident [$($head:tt)*] [$($own:tt)*] $($(#[$attribute:meta])* $key:ident: $type:ty,)+) => {
        #[derive(Clone, Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        $($head)* {
            $($own)*
            $($(#[$attribute])* pub $key: $type,)+
        }

        impl $name {
            #[allow(dead_code, reason = "a patch is its own shape")]
            fn shape(&self) -> ShapePatch {
                let Self { $($key,)+ .. } = self.clone();
                ShapePatch { connections: None, rate: None, payload: None, $($key,)+ }
            }
        }
    };
}
pub(super) use with_shape;

with_shape! {
    /// Changes of a load's shape: what is given replaces what the load has.
    #[derive(Default, PartialEq)]
    pub struct ShapePatch {
        /// Connections in total that carry requests.
        pub connections: Option<usize>,
        /// A constant rate.
        pub rate: Option<Rate>,
        /// For echo: bytes per message.
        #[serde(default, deserialize_with = "size")]
        pub payload: Option<usize>,
    }
}

fn size<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    let size = crate::units::parse_size(&String::deserialize(deserializer)?);
    size.and_then(|size| usize::try_from(size).map_err(|error| error.to_string()))
        .map(Some)
        .map_err(D::Error::custom)
}

/// The one setting that is given out of several that exclude each other.
fn one<T, const N: usize>(settings: [(&'static str, Option<T>); N]) -> Result<Option<T>, String> {
    let mut given = settings.into_iter().filter_map(|(name, value)| Some((name, value?)));
    match (given.next(), given.next()) {
        (Some((one, _)), Some((other, _))) => {
            Err(format!("{one} and {other} exclude each other: omit one of them"))
        }
        (first, _) => Ok(first.map(|(_, value)| value)),
    }
}

fn set<T>(value: &mut T, change: Option<T>) {
    if let Some(change) = change {
        *value = change;
    }
}

impl ShapePatch {
    /// True if it gives the rate of requests.
    #[must_use]
    pub const fn has_rate(&self) -> bool {
        self.rate.is_some() || self.ramp.is_some() || self.steps.is_some()
    }

    /// The end of the window.
    pub(super) fn stop(&self) -> Result<Option<Stop>, String> {
        one([
            ("duration", self.duration.map(Stop::After)),
            ("requests", self.requests.map(Stop::Requests)),
            ("count_per_connection", self.count_per_connection.map(Stop::RequestsPerConnection)),
        ])
    }

    /// The rate, or none; an error if something else is given that excludes it.
    fn curve(&self) -> Result<Option<RateCurve>, String> {
        one([
            ("rate", self.rate.map(|rate| Some(RateCurve::Constant(rate)))),
            ("ramp", self.ramp.map(|(from, to)| Some(RateCurve::Ramp(from, to)))),
            ("steps", self.steps.clone().map(|rates| Some(RateCurve::Steps(rates)))),
            ("delay", self.delay.map(|_| None)),
            ("closed", self.closed.filter(|closed| *closed).map(|_| None)),
        ])
        .map(Option::flatten)
    }

    /// Changes the shape of `workload`. A rate is for the phase `cost`, a think time for the other ones.
    pub fn apply(&self, workload: &mut Workload) -> Result<(), String> {
        let model = self.model(workload)?;
        set(&mut workload.model, model);
        set(&mut workload.stop, self.stop()?);
        match workload.phase {
            Phase::Idle => set(&mut workload.connections, self.idle_connections),
            Phase::Saturate | Phase::Cost => {
                set(&mut workload.connections, self.connections);
                set(&mut workload.idle_connections, self.idle_connections);
            }
        }
        set(&mut workload.threads, self.threads.map(Some));
        set(&mut workload.pipeline, self.pipeline);
        set(&mut workload.requests_per_connection, self.requests_per_connection.map(Some));
        let on_closed = |retry| if retry { ClosedPolicy::Retry } else { ClosedPolicy::Fail };
        set(&mut workload.on_closed, self.retry_closed.map(on_closed));
        set(&mut workload.payload_bytes, self.payload);
        set(&mut workload.warmup, self.warmup);
        let before = self.warmup_requests.map(|requests| Some(requests).filter(|it| *it > 0));
        set(&mut workload.warmup_requests, before);
        set(&mut workload.steady_within, self.steady_within);
        set(&mut workload.timeout, self.timeout);
        Ok(())
    }

    /// Why a load without a rate cannot have these settings, if so.
    fn without_rate(&self) -> Option<String> {
        let option =
            self.arrivals.map(|_| "--poisson").or(self.skip_late.map(|_| "--skip-late"))?;
        let is_free = self.delay.is_none() && self.closed != Some(true);
        let next = if is_free { "add --rate" } else { "omit it, or --delay" };
        Some(format!("{option} needs a rate: {next}"))
    }

    fn model(&self, workload: &Workload) -> Result<Option<LoadModel>, String> {
        let curve = self.curve()?;
        match workload.phase {
            Phase::Idle => Ok(None),
            Phase::Saturate => {
                let closed = (self.closed == Some(true)).then_some(LoadModel::Closed);
                Ok(self.delay.map(|delay| LoadModel::Think { delay }).or(closed))
            }
            Phase::Cost => {
                let (was, arrivals, latency_from) = match &workload.model {
                    LoadModel::Rate { curve, arrivals, latency_from } => {
                        (Some(curve.clone()), *arrivals, *latency_from)
                    }
                    LoadModel::Closed | LoadModel::Think { .. } => Default::default(),
                };
                let Some(curve) = curve.or(was) else {
                    return self.without_rate().map_or(Ok(None), Err);
                };
                let skip = |skip| if skip { LatencyOrigin::Sent } else { LatencyOrigin::Due };
                Ok(Some(LoadModel::Rate {
                    curve,
                    arrivals: self.arrivals.unwrap_or(arrivals),
                    latency_from: self.skip_late.map_or(latency_from, skip),
                }))
            }
        }
    }

    /// Changes all that it applies to, or says which setting applies to none of them.
    pub fn apply_to_all(&self, workloads: &mut [Workload]) -> Result<(), String> {
        let has = |phase| workloads.iter().any(|it| it.phase == phase);
        let is_http = |it: &Workload| it.scenario.protocol().traits().has_heads;
        let (has_idle, are_http) = (has(Phase::Idle), workloads.iter().all(is_http));
        let any_rate = self.has_rate() || workloads.iter().any(Workload::has_rate);
        self.without_rate().filter(|_| !any_rate).map_or(Ok(()), Err)?;
        let has_loop = self.delay.is_some() || self.closed == Some(true);
        let retries = self.retry_closed.is_some() && !workloads.iter().any(is_http);
        let unused = [
            (self.has_rate() && !has(Phase::Cost), "--rate", "the phase cost: add --phase cost"),
            (has_loop && !has(Phase::Saturate), "--delay", "closed loops: add --phase saturate"),
            (self.payload.is_some() && are_http, "--payload", "messages: add --scenario echo"),
            (retries, "--retry-closed", "HTTP: add a scenario of HTTP"),
        ];
        for (is_unused, option, what) in unused {
            refuse_if!(is_unused, "{option} applies to {what}, or omit {option}");
        }
        let Self { idle_connections, duration, payload, .. } = *self;
        let of_idle = Self { idle_connections, duration, payload, ..Self::default() };
        let has_load = has(Phase::Saturate) || has(Phase::Cost);
        refuse_if!(!has_load && *self != of_idle, "{OF_IDLE}");
        for workload in workloads {
            let (is_idle, is_http) = (workload.phase == Phase::Idle, is_http(workload));
            let patch = Self {
                idle_connections: self.idle_connections.filter(|_| is_idle || !has_idle),
                payload: self.payload.filter(|_| !is_http),
                retry_closed: self.retry_closed.filter(|_| is_http),
                ..self.clone()
            };
            patch.apply(workload)?;
            workload.check()?;
        }
        Ok(())
    }
}

const OF_IDLE: &str = "idle phases send no requests: of the options of a load, only --idle-connections, \
                       --duration and --payload apply to them; omit the others, or add --phase saturate";
