//! An axis of a chart: where a value is on it, and which values have labels. Its length is not known here.

/// The most steps of a linear axis with labels.
const LINEAR_LABELS: f64 = 6.0;
/// Space at both ends of an axis, as a share of it.
const MARGIN: f64 = 0.04;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum AxisScale {
    Linear,
    Logarithmic,
    /// Each further nine of a share has the same space.
    Nines,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axis {
    /// What is on it, with the unit.
    pub(crate) name: String,
    pub(crate) scale: AxisScale,
    /// The places of its ends, before they are stretched to its length.
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// Values with labels, the most important ones first.
    pub(crate) labels: Vec<(f64, String)>,
}

impl AxisScale {
    fn place(self, value: f64) -> f64 {
        match self {
            Self::Linear => value,
            Self::Logarithmic => value.ln(),
            Self::Nines => -(1.0 - value).ln(),
        }
    }
}

impl Axis {
    /// An axis with equal space for equal ratios; none without a positive value.
    pub(crate) fn logarithmic(
        name: &str,
        values: impl Iterator<Item = f64>,
        show: impl Fn(f64) -> String,
    ) -> Option<Self> {
        let logarithms = values.filter(|it| *it > 0.0 && it.is_finite()).map(f64::ln);
        let (low, high) = logarithms.fold((f64::INFINITY, f64::NEG_INFINITY), |ends, value| {
            (ends.0.min(value), ends.1.max(value))
        });
        if low > high {
            return None;
        }
        // A range of less than a factor of two would show noise as slopes.
        let missing = (2_f64.ln() - (high - low)).max(0.0) / 2.0;
        let (low, high) = (low - missing, high + missing);
        let decades = (low / 10_f64.ln()).floor() as i32..=(high / 10_f64.ln()).ceil() as i32;
        // A short range has few round values.
        let finer: &[f64] = if high - low < 4_f64.ln() { &[1.5, 4.0, 6.0, 8.0] } else { &[] };
        let digits = [1.0, 2.0, 5.0, 3.0, 7.0].iter().chain(finer);
        let labels =
            digits.flat_map(|digit| decades.clone().map(move |decade| digit * 10_f64.powi(decade)));
        let labels = labels.map(|value| (value, show(value))).collect();
        Some(Self { name: name.to_owned(), scale: AxisScale::Logarithmic, low, high, labels })
    }

    /// The same with labels at the values themselves, such as the numbers of connections that were
    /// measured: first at the ends.
    pub(crate) fn logarithmic_at(
        name: &str,
        values: impl Iterator<Item = f64>,
        show: impl Fn(f64) -> String,
    ) -> Option<Self> {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let axis = Self::logarithmic(name, values.iter().copied(), |_| String::new())?;
        values.rotate_right(1);
        let labels = values.into_iter().map(|value| (value, show(value))).collect();
        Some(Self { labels, ..axis })
    }

    /// An axis of shares of samples, on which each further nine has the same space.
    pub(crate) fn nines(name: &str, most: f64) -> Self {
        let labels = [0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.999_99];
        let show = |share: f64| format!("{}", (share * 1e8).round() / 1e6);
        let labels = labels.into_iter().map(|share| (share, show(share))).collect();
        let high = AxisScale::Nines.place(most).max(1.0);
        Self { name: name.to_owned(), scale: AxisScale::Nines, low: 0.0, high, labels }
    }

    /// An axis from 0 with equal space for equal differences.
    pub(crate) fn linear(name: &str, most: f64, show: impl Fn(f64) -> String) -> Self {
        Self::span(name, (0.0, if most > 0.0 { most } else { 1.0 }), show)
    }

    /// An axis from `low` to `high`, which is more, with equal space for equal differences.
    pub(crate) fn span(name: &str, (low, high): (f64, f64), show: impl Fn(f64) -> String) -> Self {
        let length = high - low;
        let magnitude = 10_f64.powf((length / LINEAR_LABELS).log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * magnitude);
        let step = steps.into_iter().find(|it| length / it <= LINEAR_LABELS).unwrap_or(length);
        let first = (low / step).ceil();
        let values = (0_u8..).map(|number| (first + f64::from(number)) * step);
        let labels = values.take_while(|it| *it <= high).map(|it| (it, show(it))).collect();
        Self { name: name.to_owned(), scale: AxisScale::Linear, low, high, labels }
    }

    /// An axis of numbers from 1, of which those with a round number have labels.
    pub(crate) fn numbered(name: &str, most: f64) -> Self {
        let steps = [1000, 500, 200, 100, 50, 20, 10, 5, 2, 1];
        let labels = steps.into_iter().flat_map(|step| {
            let numbers = (1..=most as usize).filter(move |it| it % step == 0);
            numbers.map(|it| (it as f64, it.to_string()))
        });
        let (labels, high) = (labels.collect(), most.max(2.0));
        Self { name: name.to_owned(), scale: AxisScale::Linear, low: 1.0, high, labels }
    }

    /// Where a value is, from 0 to 1.
    pub(crate) fn share(&self, value: f64) -> f64 {
        let share = (self.scale.place(value) - self.low) / (self.high - self.low);
        share.clamp(0.0, 1.0).mul_add(1.0 - 2.0 * MARGIN, MARGIN)
    }

    /// The labels that have space, with their places, on an axis of this length.
    pub(crate) fn labelled(&self, length: f64, space: f64) -> Vec<(f64, &str)> {
        let mut found: Vec<(f64, &str)> = Vec::new();
        for (value, label) in &self.labels {
            let place = self.scale.place(*value);
            let at = self.share(*value) * length;
            let is_on_axis = (self.low - 1e-9..=self.high + 1e-9).contains(&place);
            if is_on_axis && found.iter().all(|(other, _)| (at - other).abs() >= space) {
                found.push((at, label));
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDTH: f64 = 384.0;
    const SPACE: f64 = 52.0;

    #[test]
    fn a_logarithmic_axis_has_labels_apart_and_at_least_a_factor_of_two() {
        let axis = Axis::logarithmic("us", [3.0, 3.1].into_iter(), |it| it.to_string()).unwrap();
        assert!((axis.high - axis.low - 2_f64.ln()).abs() < 1e-9, "{axis:?}");
        let labels = axis.labelled(260.0, 18.0);
        assert_eq!(labels.iter().map(|(_, label)| *label).collect::<Vec<_>>(), ["3", "4"]);
        assert!(Axis::logarithmic("us", [0.0].into_iter(), |it| it.to_string()).is_none());
    }

    #[test]
    fn an_axis_of_what_was_measured_has_labels_at_its_ends() {
        let sizes = [256.0, 512.0, 512.0, 1024.0, 1200.0].into_iter();
        let axis = Axis::logarithmic_at("bytes", sizes, |it| it.to_string()).unwrap();
        let labels = axis.labelled(WIDTH, SPACE);
        let labels: Vec<&str> = labels.iter().map(|(_, label)| *label).collect();
        assert_eq!(labels, ["1200", "256", "512"]);
    }

    #[test]
    fn a_linear_axis_begins_at_zero_and_has_round_labels() {
        let shown = |most: f64| {
            let axis = Axis::linear("s", most, |it| format!("{it:.1}"));
            axis.labelled(WIDTH, SPACE).iter().map(|it| it.1.to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(shown(9.5), ["0.0", "2.0", "4.0", "6.0", "8.0"]);
        assert_eq!(shown(30.0), ["0.0", "5.0", "10.0", "15.0", "20.0", "25.0", "30.0"]);
        assert_eq!(shown(0.0), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        let part = Axis::span("us", (3.9, 4.85), |it| format!("{it:.1}"));
        let labels: Vec<&str> = part.labelled(WIDTH, SPACE).iter().map(|it| it.1).collect();
        assert_eq!(labels, ["4.0", "4.2", "4.4", "4.6", "4.8"]);
    }

    #[test]
    fn each_nine_has_the_same_space() {
        let axis = Axis::nines("%", 0.9999);
        let at = [0.0, 0.9, 0.99, 0.999].map(|share| axis.share(share));
        let steps = [at[1] - at[0], at[2] - at[1], at[3] - at[2]];
        assert!(steps.iter().all(|step| (step - steps[0]).abs() < 1e-9), "{steps:?}");
        let labels: Vec<&str> = axis.labelled(WIDTH, SPACE).iter().map(|it| it.1).collect();
        assert_eq!(labels, ["0", "90", "99", "99.9", "99.99"]);
    }
}
