//! A case: a server's mode and the load model, and how its measured percentiles compare with the true ones. Pure.

use std::{num::NonZeroU64, time::Duration};

use super::mode::Mode;

/// An error up to this much is none.
const TOLERANCE: Duration = Duration::from_micros(50);
/// Nor is one up to this share of the truth.
const TOLERANCE_SHARE: f64 = 0.02;
/// How many standard errors chance is allowed.
const CHANCE: f64 = 3.0;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Model {
    /// At a constant rate; latency counts from the moment at which a request was due.
    Rate,
    /// At a constant rate, with a generator that never sleeps.
    Spin,
    /// At random moments with this mean rate.
    Poisson,
    /// At a constant rate, but latency counts from the sending: coordinated omission on purpose.
    Closed,
    /// As fast as replies come, without a rate.
    ClosedLoop,
}

impl Model {
    pub(crate) const ALL: [Self; 5] =
        [Self::Rate, Self::Spin, Self::Poisson, Self::Closed, Self::ClosedLoop];

    /// Also the options of `wirebench load`, where there is a rate.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Rate => "-R",
            Self::Spin => "-R --spin",
            Self::Poisson => "-R --poisson",
            Self::Closed => "-R --closed",
            Self::ClosedLoop => "closed loop",
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) mode: Mode,
    /// Requests each second, unless the model has none.
    pub(crate) rate: u32,
    pub(crate) model: Model,
    pub(crate) window: Duration,
}

impl Case {
    /// Enough connections that no request waits for a free one; but few where stalls are to show
    /// what that does to a closed model; and hardly any where nothing but their number limits the
    /// rate, because requests that come together wait for each other in the server.
    pub(crate) const fn connections(&self) -> u32 {
        match (self.mode, self.model) {
            (Mode::Stall { .. }, _) => 8,
            (_, Model::ClosedLoop) => 2,
            _ => 256,
        }
    }

    /// A closed model over stalls cannot find the truth, by its nature.
    pub(crate) const fn omits(&self) -> bool {
        let is_closed = matches!(self.model, Model::Closed | Model::ClosedLoop);
        is_closed && matches!(self.mode, Mode::Stall { .. })
    }

    /// The options of `wirebench load`, but for the window and the URL.
    pub(crate) fn options(&self) -> String {
        let line = format!("-c {} --warmup 100ms", self.connections());
        match self.model {
            Model::ClosedLoop => line,
            model => format!("{line} {}", model.name().replace("-R", &format!("-R {}", self.rate))),
        }
    }

    /// The true value of a percentile, and the verdict on the measured one.
    pub(crate) fn judge(
        &self,
        percentile: f64,
        measured: Duration,
        requests: u64,
    ) -> (Duration, Verdict) {
        let share = percentile / 100.0;
        let truth = self.mode.quantile(share);
        let error = measured.abs_diff(truth);
        let tolerance = TOLERANCE.max(truth.mul_f64(TOLERANCE_SHARE));
        let chance = match self.model {
            Model::Poisson => self.mode.standard_error(share, requests).mul_f64(CHANCE),
            _ => Duration::ZERO,
        };
        let verdict = if error <= tolerance {
            Verdict::Within
        } else if self.omits() {
            Verdict::Omission
        } else if error <= tolerance + chance {
            Verdict::WithinChance
        } else {
            Verdict::Missed
        };
        (truth, verdict)
    }

    pub(crate) fn describe(&self) -> String {
        match self.model {
            Model::ClosedLoop => format!("{}, {}", self.mode, self.model.name()),
            _ => format!("{}, {} at {}/s", self.mode, self.model.name(), self.rate),
        }
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Verdict {
    Within,
    /// Within three standard errors of what chance does to random arrivals.
    WithinChance,
    /// Outside, and it should not be.
    Missed,
    /// A closed model over stalls: it is measured to show what it omits.
    Omission,
}

impl Verdict {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Within => "yes",
            Self::WithinChance => "by chance",
            Self::Missed => "NO",
            Self::Omission => "omits",
        }
    }
}

/// All cases with windows of about this length.
pub(crate) fn full(window: Duration) -> Vec<Case> {
    let ms = Duration::from_millis;
    let mut cases = Vec::new();
    for (delay, rate) in
        [1, 5].into_iter().flat_map(|delay| [100, 1000, 10_000].map(|it| (delay, it)))
    {
        let constant = for_each_model(Mode::Constant { delay: ms(delay) }, window);
        // The closed loop has no rate to be varied.
        let varied = |it: &Case| rate == 1000 || it.model != Model::ClosedLoop;
        cases.extend(constant.into_iter().filter(varied).map(|it| Case { rate, ..it }));
    }
    cases.extend(for_each_model(two_point(), window));
    let (period, length) = (ms(1000), ms(200));
    cases.extend(for_each_model(Mode::Stall { period, length }, whole(window, period)));
    cases
}

/// Each model with each kind of delay, for a moment.
pub(crate) fn smoke() -> Vec<Case> {
    let ms = Duration::from_millis;
    let stall = Mode::Stall { period: ms(100), length: ms(20) };
    let kinds = [(Mode::Constant { delay: ms(1) }, 200), (two_point(), 200), (stall, 300)];
    kinds.into_iter().flat_map(|(mode, window)| for_each_model(mode, ms(window))).collect()
}

fn two_point() -> Mode {
    let every = NonZeroU64::new(20).unwrap_or(NonZeroU64::MIN);
    Mode::TwoPoint { short: Duration::from_millis(1), long: Duration::from_millis(20), every }
}

fn for_each_model(mode: Mode, window: Duration) -> Vec<Case> {
    Model::ALL.map(|model| Case { mode, rate: 1000, model, window }).to_vec()
}

/// The window, rounded up to whole periods: a part of one would hold too many stalls or too few.
fn whole(window: Duration, period: Duration) -> Duration {
    let periods = window.as_nanos().div_ceil(period.as_nanos());
    period * u32::try_from(periods).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_model_is_requested_with_its_own_options() {
        let cases = for_each_model(two_point(), Duration::from_secs(3));
        for (case, expected) in cases.iter().zip([
            "-c 256 --warmup 100ms -R 1000",
            "-c 256 --warmup 100ms -R 1000 --spin",
            "-c 256 --warmup 100ms -R 1000 --poisson",
            "-c 256 --warmup 100ms -R 1000 --closed",
            "-c 2 --warmup 100ms",
        ]) {
            assert_eq!(case.options(), expected);
        }
    }

    #[test]
    fn windows_over_stalls_hold_whole_periods_and_closed_models_over_them_omit() {
        let mut omitting = 0;
        for (milliseconds, whole_seconds) in [(1500, 2), (2500, 3), (3000, 3)] {
            for case in full(Duration::from_millis(milliseconds)) {
                if matches!(case.mode, Mode::Stall { .. }) {
                    assert_eq!(case.window, Duration::from_secs(whole_seconds));
                }
                omitting += usize::from(case.omits());
            }
        }
        assert_eq!(omitting, 3 * 2);
    }

    #[test]
    fn errors_count_beyond_50_us_and_2_percent_except_for_chance_and_omission() {
        let ms = Duration::from_millis;
        let (short, long) = (Mode::Constant { delay: ms(1) }, Mode::Constant { delay: ms(100) });
        let stall = Mode::Stall { period: ms(1000), length: ms(200) };
        for (mode, model, percentile, measured_us, expected) in [
            (short, Model::Rate, 50.0, 1050, Verdict::Within),
            (short, Model::Rate, 50.0, 1051, Verdict::Missed),
            (short, Model::Rate, 50.0, 949, Verdict::Missed),
            (long, Model::Closed, 50.0, 102_000, Verdict::Within),
            (long, Model::Closed, 50.0, 102_001, Verdict::Missed),
            (stall, Model::Rate, 90.0, 110_000, Verdict::Missed),
            (stall, Model::Poisson, 90.0, 110_000, Verdict::WithinChance),
            (stall, Model::Poisson, 90.0, 140_000, Verdict::Missed),
            (stall, Model::Closed, 90.0, 0, Verdict::Omission),
            (stall, Model::ClosedLoop, 50.0, 0, Verdict::Within),
        ] {
            let case = Case { mode, rate: 1000, model, window: ms(1000) };
            let (_, verdict) = case.judge(percentile, Duration::from_micros(measured_us), 1000);
            assert_eq!(verdict, expected, "{mode}, {model:?}, {measured_us} us");
        }
    }
}
