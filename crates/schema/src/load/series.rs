//! The number of replies in each step of a load's window.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The shortest step, and the length of the pieces in which a load counts.
pub const PIECE_NS: u64 = 100_000_000;

/// The most steps: those of an hour in steps of 100 ms.
const STEPS_MAX: usize = 36_000;

/// The growth factor from one step length to the next.
const LONGER: usize = 10;

/// Correct replies over the window, over all threads. Steps are 100 ms long up to an hour; a longer
/// window has steps of 1 s, 10 s and so on, so that a report stays small.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(from = "Written")]
pub struct ReplySeries {
    /// Length of each step.
    pub step_ns: u64,
    /// Correct replies in each whole step.
    pub replies: Vec<u64>,
    /// The longest time without any reply, found in pieces of 100 ms whatever the step.
    pub silence_ns_max: u64,
}

/// The form in reports: format 3 has a list of pieces.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum Written {
    Pieces(Vec<u64>),
    Steps { step_ns: u64, replies: Vec<u64>, silence_ns_max: u64 },
}

impl From<Written> for ReplySeries {
    fn from(written: Written) -> Self {
        match written {
            Written::Pieces(pieces) => Self::of_pieces(&pieces),
            Written::Steps { step_ns, replies, silence_ns_max } => {
                Self { step_ns, replies, silence_ns_max }
            }
        }
    }
}

impl ReplySeries {
    /// Adds the replies of another generator at the same time. A silence of all of them is at most as long
    /// as the shortest of theirs.
    pub(super) fn add(&mut self, other: &Self) {
        self.silence_ns_max = self.silence_ns_max.min(other.silence_ns_max);
        if self.step_ns == other.step_ns {
            let length = self.replies.len().max(other.replies.len());
            self.replies.resize(length, 0);
            for (sum, replies) in self.replies.iter_mut().zip(&other.replies) {
                *sum += replies;
            }
        }
    }

    /// The series of a window with this many replies in each piece of 100 ms.
    #[must_use]
    pub fn of_pieces(pieces: &[u64]) -> Self {
        let silences = pieces.split(|count| *count > 0).map(<[u64]>::len);
        let mut length = 1;
        while pieces.len() / length > STEPS_MAX {
            length *= LONGER;
        }
        Self {
            step_ns: PIECE_NS * length as u64,
            replies: pieces.chunks_exact(length).map(|step| step.iter().sum()).collect(),
            silence_ns_max: PIECE_NS * silences.max().unwrap_or(0) as u64,
        }
    }

    /// Nanoseconds at the end of the window in which no reply came, in whole steps.
    #[must_use]
    pub fn silence_ns_at_end(&self) -> u64 {
        let silent = self.replies.iter().rev().take_while(|replies| **replies == 0);
        silent.count() as u64 * self.step_ns
    }

    /// Replies in 100 ms of a usual step that has any: the median.
    #[must_use]
    pub fn usual_per_piece(&self) -> Option<u64> {
        let mut sorted: Vec<u64> = self.replies.iter().copied().filter(|it| *it > 0).collect();
        sorted.sort_unstable();
        let median = sorted.get(sorted.len() / 2).copied()?;
        Some(median / (self.step_ns / PIECE_NS).max(1))
    }
}

impl Default for ReplySeries {
    fn default() -> Self {
        Self::of_pieces(&[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::LoadReport;

    const HOUR: usize = 36_000;

    #[test]
    fn steps_are_longer_beyond_an_hour_and_no_reply_is_lost() {
        let rows = [
            (HOUR, 1, HOUR),
            (HOUR + 1, 10, HOUR / 10),
            (10 * HOUR, 10, HOUR),
            (24 * HOUR, 100, 8640),
            (200 * HOUR, 1000, 7200),
        ];
        for (pieces, length, steps) in rows {
            let series = ReplySeries::of_pieces(&vec![20; pieces]);
            assert_eq!(series.step_ns, length * PIECE_NS, "{pieces}");
            assert_eq!(series.replies, vec![20 * length; steps], "{pieces}");
            assert_eq!((series.usual_per_piece(), series.silence_ns_max), (Some(20), 0));
        }
    }

    #[test]
    fn a_short_silence_in_a_day_is_not_lost_in_a_long_step() {
        let mut pieces = vec![20; 24 * HOUR];
        pieces[500_003..500_007].fill(0);
        let series = ReplySeries::of_pieces(&pieces);
        assert!(series.replies.iter().all(|count| *count > 0));
        assert_eq!(series.silence_ns_max, 4 * PIECE_NS);
    }

    #[test]
    fn a_list_of_format_3_is_a_series() {
        let old: ReplySeries = serde_json::from_str("[100,0,0,100]").unwrap();
        assert_eq!(old, ReplySeries::of_pieces(&[100, 0, 0, 100]));
        let text = serde_json::to_string(&old).unwrap();
        let expected =
            "{\"step_ns\":100000000,\"replies\":[100,0,0,100],\"silence_ns_max\":200000000}";
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<ReplySeries>(&text).unwrap(), old);
        assert_eq!(ReplySeries::default().usual_per_piece(), None);
        // The same in a report, where it has another name.
        let report = LoadReport { reply_series: old, ..LoadReport::default() };
        let mut json = serde_json::to_value(&report).unwrap();
        json.as_object_mut().unwrap().remove("reply_series");
        json["requests_per_100ms"] = serde_json::json!([100, 0, 0, 100]);
        assert_eq!(serde_json::from_value::<LoadReport>(json).unwrap(), report);
    }
}
