//! One CPU for the server and one for the load generator, and the programs that used them meanwhile.

use std::str::FromStr;
use wirebench_host::{neighbours::Programs, place::PlacementRequest, place_here};

/// Share of a CPU above which a program is named.
const NOTICED: f64 = 0.05;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Sides {
    pub(crate) server_cpus: [u32; 1],
    pub(crate) generator_cpus: [u32; 1],
}

impl FromStr for Sides {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let two =
            text.split_once(',').and_then(|(one, other)| one.parse().ok().zip(other.parse().ok()));
        let (server, generator) = two.ok_or("write two numbers, such as 0,2")?;
        Ok(Self { server_cpus: [server], generator_cpus: [generator] })
    }
}

impl Sides {
    /// Those of the option `--cpus`, or the first CPU of either half of the machine; prints them.
    pub(crate) fn choose(requested: Option<Self>) -> anyhow::Result<Self> {
        let wish = PlacementRequest {
            server_cpus: requested.map(|it| it.server_cpus.to_vec()),
            generator_cpus: requested.map(|it| it.generator_cpus.to_vec()),
            ..PlacementRequest::default()
        };
        let placement = place_here(&wish).map_err(anyhow::Error::msg)?;
        let (server, generator) = (placement.server_cpus[0], placement.generator_cpus[0]);
        println!("server on CPU {server}, generator on CPU {generator}, one thread each");
        if !placement.disjoint {
            println!("warning: server and generator share one CPU: use a machine with two");
        }
        Ok(Self { server_cpus: [server], generator_cpus: [generator] })
    }

    pub(crate) fn both(&self) -> [u32; 2] {
        [self.server_cpus[0], self.generator_cpus[0]]
    }

    /// Prints a warning if programs other than this one and its descendants used the CPUs since `before`.
    pub(crate) fn warn(&self, before: &Programs) {
        let seen = Programs::read().since(before, &self.both());
        let noticed = seen.iter().filter(|it| it.share > NOTICED);
        let names: Vec<String> =
            noticed.map(|it| format!("{} {:.0} %", it.name, it.share * 100.0)).collect();
        if !names.is_empty() {
            let names = names.join(", ");
            println!("warning: {names} of a CPU meanwhile: end them and measure again");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_are_two_numbers() {
        assert_eq!("3,1".parse::<Sides>().unwrap().both(), [3, 1]);
        assert!("3".parse::<Sides>().is_err());
    }
}
