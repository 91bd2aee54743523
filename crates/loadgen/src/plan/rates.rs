//! The rate of a load over time, in parts.

use wirebench_schema::load::{LoadConfig, LoadModel, Rate, RateCurve};

use crate::pace::Part;

/// The rate over the warm-up and the window.
pub(super) fn parts(config: &LoadConfig) -> Vec<Part> {
    let LoadModel::Rate { curve, .. } = &config.model else { return Vec::new() };
    let window = config.stop.length().map_or(0.0, |window| window.as_secs_f64());
    let first = curve.first();
    let mut parts = vec![Part { seconds: config.warmup.as_secs_f64(), from: first, to: first }];
    match curve {
        RateCurve::Constant(_) => {}
        RateCurve::Ramp(_, to) => {
            parts.push(Part { seconds: window, from: first, to: to.as_f64() });
        }
        RateCurve::Steps(rates) => {
            let seconds = window / rates.len().max(1) as f64;
            let step = |rate: &Rate| Part { seconds, from: rate.as_f64(), to: rate.as_f64() };
            parts.extend(rates.iter().map(step));
        }
    }
    parts
}
