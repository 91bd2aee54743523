//! What the machine is and what others do on it: its environment, which CPUs belong together, where
//! two sides can run apart, and what took CPU time from them.
//!
//! It reads and never changes anything. It does not know what an entry is.
#![forbid(unsafe_code)]

pub mod distance;
pub mod environment;
pub mod neighbours;
pub mod place;
pub mod topology;

use std::path::Path;
use wirebench_schema::journal::Placement;

/// Splits the CPUs of this machine between server and generator.
pub fn place_here(wish: &place::PlacementRequest) -> Result<Placement, String> {
    let usable =
        topology::usable_cpus().map_err(|it| format!("cannot read the usable CPUs: {it}"))?;
    let (root, cpus) = (Path::new("/"), usable.iter().map(|cpu| cpu.cpu).collect::<Vec<u32>>());
    let caches = topology::last_level_caches(root, &cpus);
    let nodes = topology::nodes(root, &cpus).into_values().collect();
    place::place(&place::Topology::new(usable, caches, nodes), wish)
}
