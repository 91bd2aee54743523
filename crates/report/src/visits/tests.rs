//! The visits of a cohort of a machine with two states, in which some are disturbed.

use super::*;
use crate::{
    document::Document,
    fixtures::{assert_golden, pair},
    screen::html::servers,
};
use wirebench_schema::journal::{Distances, Journal, Outcome};

const ROUNDS: u32 = 12;

/// Six cohorts of the baseline twice and `go/net`, which take turns. The machine is far in three rounds of two
/// cohorts, and visits of the fourth cohort are disturbed.
fn journal() -> Journal {
    let mut journal = pair(1.0);
    for (place, run) in journal.runs.iter_mut().enumerate() {
        let (is_go, block, turn) = (run.variant.to_string() == "go/net", run.block, place / 6);
        let visit = |round: u32| {
            let is_far = [1, 3].contains(&block) && (4..7).contains(&round);
            let cost = if is_go { 8000.0 } else { 4000.0 } + if is_far { 900.0 } else { 0.0 };
            let noise = 1.0 + 0.01 * f64::from((7 * block + 3 * round + place as u32) % 5);
            let ns = if is_far { 390 } else { 80 };
            let after = if block == 3 && round == 7 { 390 } else { ns };
            let dropped = match (block, round) {
                (3, 2) if !is_go => Some(ReasonKind::Stolen),
                (3, 9) if run.copy == 0 => Some(ReasonKind::Neighbour),
                _ => None,
            };
            Visit {
                round,
                start_ns: 5_000_000_000 + u64::from(round) * 120_000_000 + turn as u64 * 40_000_000,
                length_ns: 20_000_000,
                requests: 1000,
                cpu_ns: Some((1000.0 * cost * noise) as u64),
                distances: Distances {
                    distance_ns_before: vec![ns],
                    distance_ns_after: vec![after],
                },
                dropped,
                ..Visit::default()
            }
        };
        if let Outcome::Measured(measured) = &mut run.outcome {
            measured.visits = (0..ROUNDS).map(visit).collect();
        }
    }
    journal
}

#[test]
fn the_visits_of_each_server_are_a_picture() {
    let mut journal = journal();
    journal.start.variants.truncate(1);
    let blocks = vec![servers(&Analysis::of(&journal))];
    let document = Document { blocks, ..Document::default() };
    assert_golden("visits.html", &document.body().into_string());
}

#[test]
fn the_cohort_with_most_excluded_visits_is_shown_and_uses_are_those_of_the_analysis() {
    let journal = journal();
    let analysis = Analysis::of(&journal);
    let variant = "c/epoll".parse().unwrap();
    let visits = CohortVisits::of(&analysis, &analysis.workloads[0], &variant).unwrap();
    // Three rounds were far, and the state changed in another one.
    assert_golden("visits.txt", &text(&analysis, "c/epoll").unwrap());
    assert_eq!(visits.others.len(), 11 + 11);
    let scaled = visits.others.iter().all(|(_, us)| (3.5..5.5).contains(us));
    assert!(scaled, "{:?}", visits.others);
}

#[test]
fn servers_without_visits_and_unknown_ones_are_errors() {
    let journal = pair(1.0);
    let analysis = Analysis::of(&journal);
    assert!(text(&analysis, "go/net").unwrap_err().starts_with("go/net has no visits"));
    assert!(text(&analysis, "go/nett").unwrap_err().contains("go/net"));
    assert!(!format!("{:?}", servers(&analysis)).contains("Dots"));
}
