//! A ratio and its picture: the margin, the interval, the estimate and each cohort.

use maud::{Markup, html};
use wirebench_stats::Interval;

use super::{
    chart::{number, svg},
    safe,
};
use crate::{analysis::JudgedRatio, interval::factor};

pub(crate) const LEGEND: &str = "Each picture has the ratio on a logarithmic axis: the estimate with its interval of \
                                 95 % confidence, and the margin within which servers count as the same as a \
                                 grey band. ";
pub(crate) const RINGS: &str = "A ring is a cohort. ";

/// The size of a picture next to figures, in CSS pixels, and its width in a table of ratios only.
pub(crate) const WIDTH: f64 = 150.0;
const WIDE: f64 = 420.0;
const HEIGHT: f64 = 22.0;
/// Space at both ends, for half a label.
const EDGE: f64 = 14.0;
/// Ratios that are labelled besides 1, if they are on the axis and there is space; the first ones first.
const TICKS: [f64; 15] =
    [2.0, 0.5, 10.0, 0.1, 100.0, 0.01, 1000.0, 5.0, 0.2, 3.0, 1.25, 1.5, 0.8, 50.0, 20.0];
/// The least space between two labels, in CSS pixels.
const TICK_SPACE: f64 = 30.0;
/// An axis ends at least so far from 1, as a logarithm: small differences must look small.
const LEAST_REACH: f64 = 0.1;

/// Everything that is in the picture of a ratio.
fn marks(ratio: &JudgedRatio) -> impl Iterator<Item = f64> {
    let ends = ratio.estimate.interval.into_iter().flat_map(|it| [it.low, it.high]);
    ends.chain([ratio.estimate.value]).chain(ratio.by_block.values().copied())
}

/// A logarithmic axis on which all ratios of a load are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    low: f64,
    high: f64,
    width: f64,
}

impl Axis {
    /// The axis for these ratios; none without any.
    pub(crate) fn of<'r>(ratios: impl Iterator<Item = &'r JudgedRatio>) -> Option<Self> {
        let marks = ratios.flat_map(marks).map(f64::ln).filter(|mark| mark.is_finite());
        let ends = marks.fold(None, |ends: Option<(f64, f64)>, mark| {
            let (low, high) = ends.unwrap_or((-LEAST_REACH, LEAST_REACH));
            Some((low.min(mark), high.max(mark)))
        });
        ends.map(|(low, high)| Self { low, high, width: WIDTH })
    }

    const fn wide(self) -> Self {
        Self { width: WIDE, ..self }
    }

    fn x(self, ratio: f64) -> f64 {
        let share = (ratio.ln() - self.low) / (self.high - self.low);
        share.clamp(0.0, 1.0).mul_add(self.width - 2.0 * EDGE, EDGE)
    }

    /// Ratios with labels, and their places.
    fn ticks(self) -> Vec<(f64, f64)> {
        let mut places: Vec<(f64, f64)> = vec![(1.0, self.x(1.0))];
        for tick in TICKS.into_iter().filter(|tick| (self.low..=self.high).contains(&tick.ln())) {
            let x = self.x(tick);
            if places.iter().all(|(_, other)| (x - other).abs() >= TICK_SPACE) {
                places.push((tick, x));
            }
        }
        places
    }

    /// The labels at the head of a column of pictures.
    pub(crate) fn labels(self) -> Markup {
        let width = self.width;
        html! {
            svg width=(width) height="16" viewBox=(format!("0 0 {width} 16")) aria-hidden="true" {
                @for (tick, x) in self.ticks() {
                    text.tick x=(number(x)) y="12" text-anchor="middle" { (tick) }
                }
            }
        }
    }

    /// The picture of one ratio, which `words` describe. A narrow screen shows no heads of columns, so it has the
    /// labels below each picture.
    pub(crate) fn picture(self, ratio: &JudgedRatio, words: &str) -> Markup {
        let JudgedRatio { estimate, margin, .. } = ratio;
        let (from, to) = (self.x(1.0 / (1.0 + margin)), self.x(1.0 + margin));
        let middle = number(HEIGHT / 2.0);
        let marks = html! {
            rect.band x=(number(from)) y="0" width=(number(to - from)) height=(HEIGHT) {}
            line.one x1=(number(self.x(1.0))) x2=(number(self.x(1.0))) y1="0" y2=(HEIGHT) {}
            @if let Some(Interval { low, high }) = estimate.interval {
                line.interval x1=(number(self.x(low))) x2=(number(self.x(high))) y1=(middle) y2=(middle) {}
            }
            @for cohort in ratio.by_block.values() {
                circle.cohort cx=(number(self.x(*cohort))) cy=(middle) r="3" {}
            }
            rect.estimate x=(number(self.x(estimate.value) - 1.5)) y="3" width="3" height=(HEIGHT - 6.0) {}
        };
        html! {
            (svg("ratio", (self.width, HEIGHT), words, &marks))
            div.axis.narrow aria-hidden="true" {
                @for (tick, x) in self.ticks() {
                    span style=(format!("left: {}%", number(x / self.width * 100.0))) { (tick) }
                }
            }
        }
    }
}

/// Ratios with their names and margins, one below the other on the same axis; nothing without any. `LEGEND` explains
/// them.
pub(crate) fn table(head: &str, rows: &[(String, &JudgedRatio)]) -> Markup {
    let axis = Axis::of(rows.iter().map(|(_, ratio)| *ratio)).map(Axis::wide);
    html! {
        @if let Some(axis) = axis {
            div.scroll tabindex="0" role="region" aria-label=(safe(head)) {
                table.ratios {
                    thead {
                        tr {
                            td {}
                            th scope="col" { (safe(head)) }
                            th.picture scope="col" { "ratio" (axis.labels()) }
                        }
                    }
                    tbody {
                        @for (name, ratio) in rows {
                            tr {
                                th scope="row" { bdi { (safe(name)) } }
                                td.words data-label=(safe(head)) { (text(ratio)) }
                                td.picture { (axis.picture(ratio, &format!("ratio {}", text(ratio)))) }
                            }
                        }
                    }
                }
            }
        }
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
        let axis = Axis::of(ratios.iter()).unwrap();
        let places = [0.7, 0.8, 1.0, 3.0, 3.2].map(|it| axis.x(it));
        assert!(places.is_sorted() && places[0] >= EDGE - 1e-9, "{places:?}");
        assert!(places[4] <= WIDTH - EDGE + 1e-9, "{places:?}");
        assert!(Axis::of([].iter()).is_none());
        let page = axis.picture(&ratios[1], "3x").into_string();
        assert_eq!((page.matches("<circle").count(), page.matches("<line").count()), (1, 2));
    }

    #[test]
    fn an_axis_with_small_differences_is_not_stretched() {
        let axis = Axis::of([ratio(1.001, 0.001)].iter()).unwrap();
        assert!((axis.x(1.002) - axis.x(1.0)) < 3.0, "{axis:?}");
    }
}
