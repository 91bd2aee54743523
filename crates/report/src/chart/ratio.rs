//! A ratio and its marks: the margin, the interval, the estimate and each cohort.

use maud::{Markup, html};
use wirebench_stats::Interval;

use super::{
    Axis, AxisScale,
    svg::{number, svg},
};
use crate::{analysis::JudgedRatio, interval::factor};

pub(crate) const LEGEND: &str = "Each picture has the ratio on a logarithmic axis: the estimate with its interval of \
                                 95 % confidence, and the margin within which servers count as the same as a \
                                 grey band. ";
pub(crate) const RINGS: &str = "A ring is a cohort. ";

/// The size of a picture next to figures, in CSS pixels.
pub(crate) const WIDTH: f64 = 150.0;
pub(super) const HEIGHT: f64 = 22.0;
/// Space at both ends, for half a label.
const EDGE: f64 = 9.0;
/// Ratios with labels, if they are on the axis and there is space; the first ones first.
const TICKS: [f64; 16] =
    [1.0, 2.0, 0.5, 10.0, 0.1, 100.0, 0.01, 1000.0, 5.0, 0.2, 3.0, 1.25, 1.5, 0.8, 50.0, 20.0];
/// The least space between two labels, in CSS pixels.
const TICK_SPACE: f64 = 30.0;
/// An axis ends at least so far from 1, as a logarithm: small differences must look small.
const LEAST_REACH: f64 = 0.1;

/// Everything that is in the picture of a ratio.
fn values(ratio: &JudgedRatio) -> impl Iterator<Item = f64> {
    let ends = ratio.estimate.interval.into_iter().flat_map(|it| [it.low, it.high]);
    ends.chain([ratio.estimate.value]).chain(ratio.by_block.values().copied())
}

/// A logarithmic axis on which all of these ratios are; none without any.
pub(crate) fn axis<'r>(ratios: impl Iterator<Item = &'r JudgedRatio>) -> Option<Axis> {
    axis_of(ratios.flat_map(values))
}

/// The same of ratios by themselves.
pub(super) fn axis_of(values: impl Iterator<Item = f64>) -> Option<Axis> {
    let values = values.map(f64::ln).filter(|value| value.is_finite());
    let ends = values.fold(None, |ends: Option<(f64, f64)>, value| {
        let (low, high) = ends.unwrap_or((-LEAST_REACH, LEAST_REACH));
        Some((low.min(value), high.max(value)))
    });
    let labels = TICKS.map(|tick| (tick, tick.to_string())).to_vec();
    let (name, scale) = ("ratio".to_owned(), AxisScale::Logarithmic);
    ends.map(|(low, high)| Axis { name, scale, low, high, labels })
}

/// Where a ratio is in a picture next to figures.
fn x(axis: &Axis, ratio: f64) -> f64 {
    axis.share(ratio).mul_add(WIDTH - 2.0 * EDGE, EDGE)
}

/// Labels with their places in a picture next to figures.
fn ticks(axis: &Axis) -> impl Iterator<Item = (f64, &str)> {
    let labels = axis.labelled(WIDTH - 2.0 * EDGE, TICK_SPACE).into_iter();
    labels.map(|(x, label)| (EDGE + x, label))
}

/// The labels at the head of a column of pictures.
pub(crate) fn labels(axis: &Axis) -> Markup {
    html! {
        svg width=(WIDTH) height="16" viewBox=(format!("0 0 {WIDTH} 16")) aria-hidden="true" {
            @for (x, label) in ticks(axis) {
                text.tick x=(number(x)) y="12" text-anchor="middle" { (label) }
            }
        }
    }
}

/// The picture of one ratio next to its figures. A narrow screen shows no heads of columns, so it has the labels below
/// each picture.
pub(crate) fn picture(axis: &Axis, ratio: &JudgedRatio) -> Markup {
    let marks = marks(ratio, 0.0, |it| x(axis, it));
    html! {
        (svg("ratio", (WIDTH, HEIGHT), &format!("ratio {}", text(ratio)), &marks))
        div.axis.narrow aria-hidden="true" {
            @for (x, label) in ticks(axis) {
                span style=(format!("left: {}%", number(x / WIDTH * 100.0))) { (label) }
            }
        }
    }
}

/// The marks of a ratio from `top` down.
pub(super) fn marks(ratio: &JudgedRatio, top: f64, x: impl Fn(f64) -> f64) -> Markup {
    let JudgedRatio { estimate, margin, .. } = ratio;
    let (from, to) = (x(1.0 / (1.0 + margin)), x(1.0 + margin));
    let (one, middle, bottom) = (number(x(1.0)), number(top + HEIGHT / 2.0), top + HEIGHT);
    html! {
        rect.band x=(number(from)) y=(top) width=(number(to - from)) height=(HEIGHT) {}
        line.one x1=(one) x2=(one) y1=(top) y2=(bottom) {}
        @if let Some(Interval { low, high }) = estimate.interval {
            line.interval x1=(number(x(low))) x2=(number(x(high))) y1=(middle) y2=(middle) {}
        }
        @for cohort in ratio.by_block.values() {
            circle.cohort cx=(number(x(*cohort))) cy=(middle) r="3" {}
        }
        rect.estimate x=(number(x(estimate.value) - 1.5)) y=(top + 3.0) width="3" height=(HEIGHT - 6.0) {}
    }
}

/// The ratio with its interval in words.
pub(crate) fn text(JudgedRatio { estimate, .. }: &JudgedRatio) -> String {
    let about = || format!("about {:.1}", estimate.value);
    estimate.interval.map_or_else(about, |interval| factor(estimate.value, Some(interval)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Reads;
    use wirebench_stats::{Judged, Outcome};

    fn ratio(value: f64, half_width: f64) -> JudgedRatio {
        let ends = Interval { low: value - half_width, high: value + half_width };
        let interval = (half_width > 0.0).then_some(ends);
        let (plain, p_adjusted, outcome) = (None, None, Outcome::Inconclusive);
        let judged = Judged { ratio: value, cohorts: 1, interval, plain, p_adjusted, outcome };
        JudgedRatio::of(&judged, [(0, value)].into(), Reads::Exactly, None, 0.03)
    }

    #[test]
    fn a_ratio_without_an_interval_is_about_so_much() {
        assert_eq!(text(&ratio(1.2413, 0.0312)), "1.24 (1.21..1.27)");
        assert_eq!(text(&ratio(1.3, 0.0)), "about 1.3");
    }

    #[test]
    fn all_marks_are_on_the_axis_in_their_order() {
        let ratios = [ratio(0.8, 0.1), ratio(3.0, 0.2)];
        let axis = axis(ratios.iter()).unwrap();
        let places = [0.7, 0.8, 1.0, 3.0, 3.2].map(|it| x(&axis, it));
        assert!(places.is_sorted() && places[0] >= EDGE - 1e-9, "{places:?}");
        assert!(places[4] <= WIDTH - EDGE + 1e-9, "{places:?}");
        assert!(super::axis([].iter()).is_none());
        let page = picture(&axis, &ratios[1]).into_string();
        assert_eq!((page.matches("<circle").count(), page.matches("<line").count()), (1, 2));
    }

    #[test]
    fn an_axis_with_small_differences_is_not_stretched() {
        let axis = axis([ratio(1.001, 0.001)].iter()).unwrap();
        assert!((x(&axis, 1.002) - x(&axis, 1.0)) < 3.0, "{axis:?}");
    }
}
