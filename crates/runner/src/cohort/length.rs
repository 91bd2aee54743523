//! Whether CPU time per request depends on how long a slice is: the end of a long one is compared
//! with the parts of short ones that count, of the same instance. Pure.

use wirebench_schema::{
    agent::{SERIES_NS, SlicePiece},
    journal::{Reason, ReasonKind, Slice, Weight},
};

use super::settle::{TAIL_SHARE, moments};

/// A difference below this share is none.
const TOLERANCE: f64 = 0.05;
/// A difference must be larger than the scatter of both sides explains.
const STANDARD_ERRORS: f64 = 4.0;
/// The fewest pieces of the long slices, and the fewest short slices, whose scatter is known.
const FEWEST: usize = 5;

/// CPU time per request in each piece at the end of a long slice, in nanoseconds, without what the
/// server uses at rest.
pub(super) fn tail(series: &[SlicePiece], rest_share: f64) -> Vec<f64> {
    let rest_ns = rest_share * SERIES_NS as f64;
    let value = |piece: &SlicePiece| (piece.cpu_ns as f64 - rest_ns) / piece.requests as f64;
    let from = series.len() - (series.len() as f64 * TAIL_SHARE) as usize;
    let pieces = series[from..].iter().filter(|piece| piece.requests > 0);
    pieces.map(value).filter(|value| *value > 0.0).collect()
}

/// How the slices compare with the long one, if they differ.
pub(super) fn differs(long: &[f64], slices: &[Slice]) -> Option<f64> {
    let short: Vec<f64> = slices.iter().filter_map(Slice::cpu_ns_per_request).collect();
    if long.len() < FEWEST || short.len() < FEWEST {
        return None;
    }
    let error = |values: &[f64]| {
        let (mean, deviation) = moments(values);
        (mean, deviation / (values.len() as f64).sqrt())
    };
    let ((long, long_error), (short, short_error)) = (error(long), error(&short));
    let allowed = (TOLERANCE * long).max(STANDARD_ERRORS * long_error.hypot(short_error));
    ((short - long).abs() > allowed).then(|| short / long)
}

/// That slices cost this much, compared with a long one.
pub(super) fn reason(ratio: f64) -> Reason {
    let text = format!(
        "its CPU time per request in the slices is {ratio:.2} times that at the end of a longer one"
    );
    ReasonKind::SliceLength.reason(Weight::Note, Some(ratio), text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answer for a server whose slices cost so much, when a long one costs 10 us, with a noise
    /// like that of real servers.
    fn found(short: f64, slices: u32, seed: u64) -> Option<f64> {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut noise = |width: f64| 1.0 + width * (random.f64() + random.f64() - 1.0);
        let piece = |_| SlicePiece { requests: 2000, cpu_ns: (20e6 * noise(0.08)) as u64 };
        let series: Vec<SlicePiece> = (0..20).map(piece).collect();
        let slice = |round| Slice {
            round,
            requests: 10_000,
            cpu_ns: Some((100e6 * short * noise(0.04)) as u64),
            ..Slice::default()
        };
        let slices: Vec<Slice> = (0..slices).map(slice).collect();
        differs(&tail(&series, 0.0), &slices)
    }

    #[test]
    fn slices_that_cost_as_much_as_long_ones_are_right() {
        let wrong = (0..1000).filter(|seed| found(1.0, 10, *seed).is_some()).count();
        assert!(wrong <= 3, "{wrong} of 1000");
        let small = (0..1000).filter(|seed| found(1.02, 10, *seed).is_some()).count();
        assert!(small <= 30, "{small} of 1000");
    }

    #[test]
    fn slices_that_cost_more_or_less_are_found() {
        for (short, reasonable) in [(1.15, 1.08..1.22), (0.85, 0.78..0.92)] {
            let ratios: Vec<f64> = (0..200).filter_map(|seed| found(short, 10, seed)).collect();
            assert!(ratios.len() >= 195, "{short}: {} of 200", ratios.len());
            assert!(ratios.iter().all(|ratio| reasonable.contains(ratio)), "{ratios:?}");
        }
    }

    #[test]
    fn few_slices_and_a_slice_that_was_dropped_prove_nothing() {
        assert_eq!(found(2.0, 4, 1), None);
        let dropped = Slice { dropped: Some(ReasonKind::Neighbour), ..Slice::default() };
        assert_eq!(differs(&[1.0; 8], &vec![dropped; 10]), None);
        assert_eq!(tail(&[], 0.0), Vec::<f64>::new());
    }

    #[test]
    fn work_at_rest_is_no_cost_of_requests() {
        let piece = SlicePiece { requests: 1000, cpu_ns: 15_000_000 };
        assert_eq!(tail(&[piece; 10], 0.25), [10_000.0; 4]);
    }
}
