//! Chooses one CPU for the server and one for the load generator.

use wirebench_host::{place::PlacementRequest, place_here};

#[derive(Clone, Debug)]
pub(crate) struct Sides {
    pub(crate) server_cpus: Vec<u32>,
    pub(crate) generator_cpus: Vec<u32>,
    /// Conditions that spoil the comparison from the start, as sentences.
    pub(crate) warnings: Vec<String>,
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
        Ok(Self {
            server_cpus: first(&placement.server_cpus),
            generator_cpus: first(&placement.generator_cpus),
            warnings,
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
