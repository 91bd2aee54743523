//! Chooses one CPU for the server and one for the load generator, and detects other load on the
//! machine.

use std::fs;
use wirebench_host::{place::PlacementRequest, place_here};

/// Load average of one minute above which others are at work.
const QUIET_LOAD: f64 = 0.5;

/// One CPU for each side.
#[derive(Clone, Debug)]
pub(crate) struct Sides {
    pub(crate) server_cpus: Vec<u32>,
    pub(crate) generator_cpus: Vec<u32>,
    /// Conditions that spoil the comparison from the start, as sentences.
    pub(crate) warnings: Vec<String>,
    pub(crate) load_average: Option<f64>,
}

impl Sides {
    /// Chooses one CPU of the server's half of the machine and one of the generator's.
    pub(crate) fn choose() -> anyhow::Result<Self> {
        let placement = place_here(&PlacementRequest::default()).map_err(anyhow::Error::msg)?;
        let first = |cpus: &[u32]| cpus.iter().copied().take(1).collect();
        let mut warnings = Vec::new();
        if !placement.disjoint {
            warnings.push("server and generator share one CPU: use a machine with two".to_owned());
        }
        let load_average = load_average();
        if let Some(load) = load_average.filter(|load| *load > QUIET_LOAD) {
            warnings.push(format!(
                "the load average is {load:.2}: other programs use the CPUs, so end them or wait"
            ));
        }
        Ok(Self {
            server_cpus: first(&placement.server_cpus),
            generator_cpus: first(&placement.generator_cpus),
            warnings,
            load_average,
        })
    }

    /// Says where what runs, and what spoils it.
    pub(crate) fn announce(&self) {
        println!(
            "server on CPU {:?}, generator on CPU {:?}, one thread each",
            self.server_cpus, self.generator_cpus
        );
        for warning in &self.warnings {
            println!("warning: {warning}");
        }
    }
}

/// Of the last minute; none where the kernel does not tell.
fn load_average() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}
