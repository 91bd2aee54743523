//! A case: a server's mode and the load model, and how its measured percentiles compare with the true ones. Pure.

use std::time::Duration;

use super::mode::Mode;

/// An error up to this much is none.
const TOLERANCE: Duration = Duration::from_micros(50);
/// Nor is one up to this share of the truth.
const TOLERANCE_SHARE: f64 = 0.02;
/// How many standard errors chance is allowed.
const CHANCE: f64 = 3.0;

const TWO_POINT: Mode =
    Mode::TwoPoint { short: Duration::from_millis(1), long: Duration::from_millis(20), every: 20 };

/// The word for a measured percentile that should be within the tolerance, but is not.
pub(crate) const MISSED: &str = "NO";

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
            Self::Closed => "-R --skip-late",
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

    /// The options of `wirebench load`, but for the window and the URL.
    pub(crate) fn options(&self) -> String {
        let line = format!("-c {} --warmup 100ms", self.connections());
        match self.model {
            Model::ClosedLoop => line,
            model => format!("{line} {}", model.name().replace("-R", &format!("-R {}", self.rate))),
        }
    }

    /// The word of the table for the measured value of a quantile: within the tolerance or not.
    pub(crate) fn judge(&self, share: f64, measured: Duration, requests: u64) -> &'static str {
        let truth = self.mode.quantile(share);
        let error = measured.abs_diff(truth);
        let tolerance = TOLERANCE.max(truth.mul_f64(TOLERANCE_SHARE));
        let chance = match self.model {
            Model::Poisson => self.mode.standard_error(share, requests).mul_f64(CHANCE),
            _ => Duration::ZERO,
        };
        let is_closed = matches!(self.model, Model::Closed | Model::ClosedLoop);
        if error <= tolerance {
            "yes"
        } else if is_closed && matches!(self.mode, Mode::Stall { .. }) {
            // It cannot find the truth, by its nature.
            "omits"
        } else if error <= tolerance + chance {
            "by chance"
        } else {
            MISSED
        }
    }

    pub(crate) fn describe(&self) -> String {
        format!("{}, load {}", self.mode, self.options())
    }
}

/// All cases with windows of this many seconds, which are whole periods of stalls: a part of one would hold too many
/// or too few.
pub(crate) fn full(seconds: u64) -> Vec<Case> {
    let (ms, window) = (Duration::from_millis, Duration::from_secs(seconds));
    let mut cases = Vec::new();
    for delay in [ms(1), ms(5)] {
        for rate in [100, 1000, 10_000] {
            let constant = for_each_model(Mode::Constant { delay }, window);
            // The closed loop has no rate to be varied.
            let varied = |it: &Case| rate == 1000 || it.model != Model::ClosedLoop;
            cases.extend(constant.into_iter().filter(varied).map(|it| Case { rate, ..it }));
        }
    }
    cases.extend(for_each_model(TWO_POINT, window));
    cases.extend(for_each_model(Mode::Stall { period: ms(1000), length: ms(200) }, window));
    cases
}

/// Each model with each kind of delay, for a moment.
pub(crate) fn smoke() -> Vec<Case> {
    let ms = Duration::from_millis;
    let stall = Mode::Stall { period: ms(100), length: ms(20) };
    let kinds = [(Mode::Constant { delay: ms(1) }, 200), (TWO_POINT, 200), (stall, 300)];
    kinds.into_iter().flat_map(|(mode, window)| for_each_model(mode, ms(window))).collect()
}

fn for_each_model(mode: Mode, window: Duration) -> [Case; 5] {
    Model::ALL.map(|model| Case { mode, rate: 1000, model, window })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_count_beyond_50_us_and_2_percent_except_for_chance_and_omission() {
        let ms = Duration::from_millis;
        let (short, long) = (Mode::Constant { delay: ms(1) }, Mode::Constant { delay: ms(100) });
        let stall = Mode::Stall { period: ms(1000), length: ms(200) };
        for (mode, model, share, measured_us, expected) in [
            (short, Model::Rate, 0.5, 1050, "yes"),
            (short, Model::Rate, 0.5, 1051, MISSED),
            (short, Model::Rate, 0.5, 949, MISSED),
            (long, Model::Closed, 0.5, 102_000, "yes"),
            (long, Model::Closed, 0.5, 102_001, MISSED),
            (stall, Model::Rate, 0.9, 110_000, MISSED),
            (stall, Model::Poisson, 0.9, 110_000, "by chance"),
            (stall, Model::Poisson, 0.9, 140_000, MISSED),
            (stall, Model::Poisson, 0.5, 51, MISSED),
            (stall, Model::Closed, 0.9, 0, "omits"),
            (stall, Model::ClosedLoop, 0.5, 0, "yes"),
        ] {
            let case = Case { mode, rate: 1000, model, window: ms(1000) };
            let verdict = case.judge(share, Duration::from_micros(measured_us), 1000);
            assert_eq!(verdict, expected, "{mode}, {model:?}, {measured_us} us");
        }
    }
}
