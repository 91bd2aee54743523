//! When a server is warm, from the CPU time per request of its visits. Pure.
//!
//! A compiler at run time, a collector of garbage and a cache need a while, and each a different one:
//! a server is warm when its best visit gets no better. What disturbs a visit makes it cost more, so noise
//! neither makes a change look small nor delays the end.

/// By how much the last visits must beat those before, as a share, for the server to be cold, or be worse for it not
/// to be steady.
const GAIN: f64 = 0.03;
/// How many visits in a row must bring no gain.
const WITHOUT_GAIN: usize = 2;
/// The best of this many visits is compared with the best of as many before.
const TOGETHER: usize = 4;
/// After how many visits at most a server was warm soon. One that compiles needs far more.
const SOON: usize = 4;

/// The visits that have warmed one server.
#[derive(Clone, Debug, Default)]
pub(crate) struct WarmUp {
    values: Vec<f64>,
    pub(crate) spent_ns: u64,
}

impl WarmUp {
    /// One more visit, with its CPU time per request if there was any.
    pub(crate) fn add(&mut self, cpu_ns_per_request: Option<f64>, load_ns: u64) {
        self.spent_ns += load_ns;
        self.values.extend(cpu_ns_per_request);
    }

    /// Whether further load makes it no better.
    pub(crate) fn is_warm(&self) -> bool {
        let Some(before) = self.values.len().checked_sub(WITHOUT_GAIN) else { return false };
        let (before, last) = self.values.split_at(before);
        !before.is_empty() && best(last) >= best(before) * (1.0 - GAIN)
    }

    /// Whether its last visits cost neither less nor more than those before.
    pub(crate) fn is_steady(&self) -> bool {
        let mut best = self.values.rchunks_exact(TOGETHER).map(best);
        let (Some(last), Some(before)) = (best.next(), best.next()) else { return false };
        (last / before - 1.0).abs() <= GAIN
    }

    /// True if it is warm, and hardly a visit brought a gain.
    pub(super) fn is_warm_soon(&self) -> bool {
        self.is_warm() && self.values.len() <= SOON
    }
}

fn best(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After how many visits a server with these values is warm.
    fn visits(values: impl Iterator<Item = f64>) -> Option<usize> {
        let mut warm_up = WarmUp::default();
        values.take(40).position(|value| {
            warm_up.add(Some(value), 1);
            warm_up.is_warm()
        })
    }

    #[test]
    fn a_server_that_needs_nothing_is_warm_after_three_visits() {
        assert_eq!(visits(std::iter::repeat(5.0)), Some(2));
    }

    #[test]
    fn one_is_warm_soon_if_hardly_a_visit_brought_a_gain() {
        let after = |values: &[f64]| {
            let mut warm_up = WarmUp::default();
            values.iter().for_each(|value| warm_up.add(Some(*value), 1));
            warm_up.is_warm_soon()
        };
        assert!(after(&[5.0, 5.0, 5.0]) && after(&[9.0, 5.0, 5.0, 5.0]));
        assert!(!after(&[5.0, 5.0]) && !after(&[9.0, 7.0, 5.0, 5.0, 5.0]));
    }

    #[test]
    fn one_that_compiles_is_warm_when_it_has() {
        let compiling = (0..).map(|n| 5.0 + 20.0 * (-f64::from(n) / 3.0).exp());
        let found = visits(compiling).unwrap();
        assert!((9..=20).contains(&found), "{found}");
    }

    #[test]
    fn noise_makes_no_change_look_small_and_delays_nothing() {
        let noise = |n: i32| if n % 2 == 0 { 1.0 } else { 1.4 };
        assert_eq!(visits((0..).map(|n| 100.0 * 0.9_f64.powi(n) * noise(n))), None);
        assert_eq!(visits((0..).map(|n| 100.0 * noise(n))), Some(2));
    }

    #[test]
    fn a_server_that_gets_cheaper_or_more_expensive_is_not_steady() {
        let is_steady = |cost: &dyn Fn(i32) -> f64, visits: i32| {
            let mut warm_up = WarmUp::default();
            (0..visits).for_each(|n| warm_up.add(Some(cost(n)), 1));
            warm_up.is_steady()
        };
        assert!(is_steady(&|_| 5.0, 8) && !is_steady(&|_| 5.0, 7));
        assert!(!is_steady(&|n| 100.0 - 2.0 * f64::from(n), 20));
        assert!(!is_steady(&|n| 100.0 + 2.0 * f64::from(n), 20));
        // Noise neither is a change nor hides one.
        let noise = |n: i32| if n % 2 == 0 { 1.0 } else { 1.4 };
        assert!(is_steady(&noise, 10));
        assert!(!is_steady(&|n| noise(n) * (100.0 - 2.0 * f64::from(n)), 20));
    }

    #[test]
    fn without_a_figure_nothing_is_warm() {
        let mut warm_up = WarmUp::default();
        (0..9).for_each(|_| warm_up.add(None, 10));
        assert!(!warm_up.is_warm());
        assert_eq!(warm_up.spent_ns, 90);
    }
}
