//! When a server is warm, from the CPU time per request of its slices. Pure.
//!
//! A compiler at run time, a collector of garbage and a cache need a while, and each a different one.
//! The tolerance is absolute: noise delays the end, and never makes a change look small.

/// The last two slices may differ from each other, and from the best one, by this share.
const TOLERANCE: f64 = 0.03;
/// Slices before which no server is warm.
const FEWEST: usize = 2;

/// The slices that have warmed one server.
#[derive(Clone, Debug, Default)]
pub(super) struct WarmUp {
    values: Vec<f64>,
    /// Load in all of them.
    pub(super) spent_ns: u64,
}

impl WarmUp {
    /// One more slice, with its CPU time per request if there was any.
    pub(super) fn add(&mut self, cpu_ns_per_request: Option<f64>, load_ns: u64) {
        self.spent_ns += load_ns;
        self.values.extend(cpu_ns_per_request);
    }

    /// Whether further load changes nothing.
    pub(super) fn is_warm(&self) -> bool {
        let Some([before, last]) = self.values.last_chunk::<2>() else { return false };
        let best = self.values.iter().copied().fold(f64::INFINITY, f64::min);
        let is_near = |value: f64, other: f64| (value / other - 1.0).abs() <= TOLERANCE;
        self.values.len() >= FEWEST && is_near(*last, *before) && is_near(*last, best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After how many slices a server with these values is warm.
    fn slices(values: impl Iterator<Item = f64>) -> Option<usize> {
        let mut warm_up = WarmUp::default();
        values.take(40).position(|value| {
            warm_up.add(Some(value), 1);
            warm_up.is_warm()
        })
    }

    #[test]
    fn a_server_that_needs_nothing_is_warm_after_two_slices() {
        assert_eq!(slices(std::iter::repeat(5.0)), Some(1));
    }

    #[test]
    fn one_that_compiles_is_warm_when_it_has() {
        let compiling = (0..).map(|n| 5.0 + 20.0 * f64::from(-n / 3).exp());
        let found = slices(compiling).unwrap();
        assert!((12..=20).contains(&found), "{found}");
    }

    #[test]
    fn noise_makes_no_change_look_small() {
        let falling = (0..).map(|n| 100.0 * 0.93_f64.powi(n) * if n % 2 == 0 { 1.0 } else { 1.1 });
        assert_eq!(slices(falling), None);
    }

    #[test]
    fn without_a_figure_nothing_is_warm() {
        let mut warm_up = WarmUp::default();
        (0..9).for_each(|_| warm_up.add(None, 10));
        assert!(!warm_up.is_warm());
        assert_eq!(warm_up.spent_ns, 90);
    }
}
