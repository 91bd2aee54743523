//! The price of waking an idle CPU: a built-in server at a low rate, where CPUs sleep and where they are kept awake.

use std::{sync::atomic::AtomicBool, time::Duration};
use wirebench_catalogue::subject::Subject;
use wirebench_schema::{
    agent::{Recording, WindowOrder, Windows},
    journal::WakeUpPrice,
    load::{IdleMode, LoadConfig, LoadModel, RateCurve, Stop},
    scenario::Scenario,
    target::Target,
};
use wirebench_server::{launch::Server, tree::numbers};

use crate::{
    agents::{AgentPool, Agents},
    measure::RunSettings,
};

/// Both CPUs are idle between two requests.
const RATE: u64 = 5000;
const CONNECTIONS: usize = 8;
/// Disturbances only add, so the least of several windows of each mode counts.
const WINDOWS: usize = 3;
const DISCARD: Duration = Duration::from_millis(20);
const WINDOW: Duration = Duration::from_millis(60);
/// A request that takes longer waits for something else than a wake-up.
const MOST_LATENCY_NS: f64 = 1e6;

impl RunSettings {
    /// The price on this host. `server` is a built-in one; nothing may keep the CPUs awake meanwhile.
    pub fn wake_up_price(
        &self,
        server: &Subject,
        stop: &AtomicBool,
    ) -> Result<WakeUpPrice, String> {
        let request = server.request(Scenario::Hello, 1);
        self.with_server(&request, stop, |server| price(self.of_modes(server, stop)?))
    }

    /// The least that a request takes where CPUs sleep, and where they are kept awake.
    fn of_modes(&self, server: &Server, stop: &AtomicBool) -> Result<[WakeUpPrice; 2], String> {
        let pool = AgentPool::here(&self.agent_command, self.generator_cpus())?;
        let mut agents = Agents::new(pool, stop)?;
        let mut least = [WakeUpPrice { cpu_ns: f64::MAX, latency_ns: f64::MAX }; 2];
        for _ in 0..WINDOWS {
            for (least, idle) in least.iter_mut().zip([IdleMode::Natural, IdleMode::Awake]) {
                let cost = cost(&mut agents, server, idle)?;
                least.cpu_ns = least.cpu_ns.min(cost.cpu_ns);
                least.latency_ns = least.latency_ns.min(cost.latency_ns);
            }
        }
        Ok(least)
    }
}

/// CPU time and median latency of a request in one window.
fn cost(agents: &mut Agents<'_>, server: &Server, idle: IdleMode) -> Result<WakeUpPrice, String> {
    let address = server.address();
    let host = address.ip().to_string();
    let config = LoadConfig {
        model: LoadModel::rate(RateCurve::per_second(RATE)),
        threads: 1,
        connections: CONNECTIONS,
        warmup: DISCARD,
        stop: Stop::After(WINDOW),
        idle,
        ..LoadConfig::new(Target::of_scenario(Scenario::Hello, &host, address.port()))
    };
    // The load before, which has the same number, is closed.
    agents.connect(0, &config, Windows::Many, &mut |_| {})?;
    let whole = WindowOrder::of_load(&config, numbers(&server.tree()));
    let order = WindowOrder { recording: Recording::Silent, ..whole };
    let window = agents.window(&order, None, &mut |_| {})?;
    let figures = window.cpu.counted_ns.zip(window.report.latency);
    let (cpu_ns, latency) = figures.ok_or("the load has no figures")?;
    Ok(WakeUpPrice {
        cpu_ns: cpu_ns as f64 / window.report.requests.max(1) as f64,
        latency_ns: latency.latency_ns_p50 as f64,
    })
}

/// The difference between both modes.
fn price([natural, awake]: [WakeUpPrice; 2]) -> Result<WakeUpPrice, String> {
    if natural.latency_ns.max(awake.latency_ns) > MOST_LATENCY_NS {
        return Err("the machine is too busy".to_owned());
    }
    let price = WakeUpPrice {
        cpu_ns: natural.cpu_ns - awake.cpu_ns,
        latency_ns: natural.latency_ns - awake.latency_ns,
    };
    let is_positive = price.cpu_ns > 0.0 && price.latency_ns > 0.0;
    if is_positive { Ok(price) } else { Err("the noise of this machine hides it".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_the_difference_of_both_modes_unless_requests_wait_for_something_else() {
        let cost = |cpu_ns, latency_ns| WakeUpPrice { cpu_ns, latency_ns };
        let both = [cost(11_400.0, 54_000.0), cost(7_800.0, 19_000.0)];
        assert_eq!(price(both), Ok(cost(3_600.0, 35_000.0)));
        let busy = price([cost(11_400.0, 54_000.0), cost(7_800.0, 2e6)]);
        assert_eq!(busy, Err("the machine is too busy".to_owned()));
        let noise = price([cost(7_900.0, 19_000.0), cost(7_800.0, 19_000.0)]);
        assert_eq!(noise, Err("the noise of this machine hides it".to_owned()));
    }
}
