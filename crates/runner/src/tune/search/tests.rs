//! Searches against simulated servers: what is found, and in how many runs.

use super::*;

const PLAN: Plan =
    Plan { start: 1000, lowest: 100, highest: 10_000_000, precision: 0.02, confirmations: 3 };

/// Searches to the end. The answer also has all runs, in their order.
fn search(plan: Plan, mut server: impl FnMut(Probe) -> Saw) -> (Found, Vec<Probe>) {
    let mut search = Search::new(plan);
    let mut probes = Vec::new();
    while let Some(probe) = search.next_probe() {
        assert!((plan.lowest..=plan.highest).contains(&probe.requests_per_second), "{probe:?}");
        assert!(probes.len() < 200, "it does not end: {probes:#?}");
        probes.push(probe);
        search.saw(server(probe));
    }
    (search.found(None), probes)
}

/// A server that holds up to `capacity` requests per second and then does not.
fn up_to(capacity: u64) -> impl FnMut(Probe) -> Saw {
    move |probe| match probe.requests_per_second <= capacity {
        true => Saw::Holds,
        false => Saw::Misses(Side::Server),
    }
}

#[test]
fn what_a_steady_server_holds_is_found_as_closely_as_asked_for() {
    for capacity in [100, 101, 137, 990, 1000, 1001, 8200, 61_234, 999_999, 7_654_321] {
        for precision in [0.2, 0.02, 0.005] {
            let plan = Plan { precision, ..PLAN };
            let (found, probes) = search(plan, up_to(capacity));
            let rate = found.requests_per_second.unwrap();
            let next = found.missed.unwrap();
            assert!(rate <= capacity && next > capacity, "{capacity}: {found:?}");
            // Rates are whole, so that a low one cannot be closer than its neighbour.
            let close = next as f64 <= rate as f64 * (1.0 + precision) || next == rate + 1;
            assert!(close, "{capacity}: {found:?}");
            assert_eq!((found.held, found.confirmations), (3, 3));
            assert_eq!(found.limit, SearchLimit::Server);
            assert!(probes.len() < 60, "{}", probes.len());
        }
    }
}

#[test]
fn it_climbs_then_bisects_then_confirms() {
    let (_, probes) = search(PLAN, up_to(61_234));
    let stage = |probe: &Probe| match probe.kind {
        Kind::Climb => 0,
        Kind::Bisect => 1,
        Kind::Confirm { .. } => 2,
    };
    let stages: Vec<_> = probes.iter().map(stage).collect();
    assert!(stages.is_sorted() && stages.contains(&1), "{stages:?}");
    let rates: Vec<_> = probes.iter().take(7).map(|it| it.requests_per_second).collect();
    assert_eq!(rates, [1000, 2000, 4000, 8000, 16_000, 32_000, 64_000]);
}

#[test]
fn a_start_that_is_too_high_leads_down_first() {
    let (found, probes) = search(Plan { start: 1_000_000, ..PLAN }, up_to(3000));
    let rate = found.requests_per_second.unwrap();
    assert!((2941..=3000).contains(&rate), "{found:?}");
    assert_eq!(probes[0].requests_per_second, 1_000_000);
    assert_eq!(probes[1].attempt, Attempt::Again);
    assert_eq!(probes[2].requests_per_second, 250_000);
}

#[test]
fn a_server_that_never_holds_gives_nothing_in_few_runs() {
    let (found, probes) = search(PLAN, |_| Saw::Misses(Side::Server));
    assert_eq!((found.requests_per_second, found.missed), (None, Some(100)));
    assert_eq!(found.limit, SearchLimit::Server);
    assert!(probes.len() <= 6, "{probes:?}");
}

#[test]
fn a_server_that_always_holds_is_limited_by_the_highest_rate() {
    let (found, _) = search(PLAN, |_| Saw::Holds);
    assert_eq!((found.requests_per_second, found.missed), (Some(PLAN.highest), None));
    assert_eq!((found.limit, found.held), (SearchLimit::HighestRate, 3));
}

#[test]
fn one_rate_alone_can_be_asked_for() {
    let plan = Plan { lowest: 500, highest: 500, ..PLAN };
    let (found, probes) = search(plan, up_to(1000));
    assert_eq!((found.requests_per_second, probes.len()), (Some(500), 4));
    let (found, _) = search(plan, up_to(100));
    assert_eq!(found.requests_per_second, None);
}

#[test]
fn the_generators_limit_is_not_told_as_the_servers() {
    let (found, _) = search(PLAN, |probe| match probe.requests_per_second {
        0..=50_000 => Saw::Holds,
        _ => Saw::Misses(Side::Generator),
    });
    assert_eq!(found.limit, SearchLimit::Generator);
    assert!((49_000..=50_000).contains(&found.requests_per_second.unwrap()), "{found:?}");
    // Above the server's limit, where the generator has one too, the server's is what counts.
    let (found, _) = search(PLAN, |probe| match probe.requests_per_second {
        0..=20_000 => Saw::Holds,
        20_001..=50_000 => Saw::Misses(Side::Server),
        _ => Saw::Misses(Side::Generator),
    });
    assert_eq!(found.limit, SearchLimit::Server);
}

#[test]
fn one_accident_decides_nothing() {
    for accident in 0..12 {
        let mut number = 0;
        let (found, _) = search(PLAN, |probe| {
            number += 1;
            let holds = probe.requests_per_second <= 61_234 && number != accident + 1;
            if holds { Saw::Holds } else { Saw::Misses(Side::Server) }
        });
        let rate = found.requests_per_second.unwrap();
        assert!((59_900..=61_234).contains(&rate), "{accident}: {found:?}");
    }
}

#[test]
fn what_is_found_on_a_noisy_server_holds_more_often_than_not() {
    // It holds for certain up to 50 000, never from 60 000 on, and between by chance.
    let (sure, never) = (50_000.0, 60_000.0);
    let (mut total, mut count) = (0.0, 0.0);
    for seed in 0..300 {
        let mut random = fastrand::Rng::with_seed(seed);
        let (found, _) = search(PLAN, |probe| {
            let chance = (never - probe.requests_per_second as f64) / (never - sure);
            if random.f64() < chance { Saw::Holds } else { Saw::Misses(Side::Server) }
        });
        let rate = found.requests_per_second.unwrap() as f64;
        assert!((sure * 0.8..never).contains(&rate), "{seed}: {found:?}");
        assert!(found.held * 2 > found.confirmations, "{found:?}");
        total += rate;
        count += 1.0;
    }
    let mean = total / count;
    assert!((50_000.0..57_000.0).contains(&mean), "{mean}");
}

#[test]
fn a_rate_that_cannot_be_confirmed_gives_way_to_a_lower_one() {
    // Longer windows show what short ones did not.
    let (found, probes) = search(PLAN, |probe| {
        let capacity = match probe.kind {
            Kind::Confirm { .. } => 30_000,
            Kind::Climb | Kind::Bisect => 60_000,
        };
        if probe.requests_per_second <= capacity { Saw::Holds } else { Saw::Misses(Side::Server) }
    });
    let rate = found.requests_per_second.unwrap();
    assert!((15_000..=30_000).contains(&rate), "{found:?}");
    assert!((found.held, found.confirmations) == (3, 3) && found.missed.unwrap() > 30_000);
    // Two of three that miss are enough.
    let first = probes.iter().filter(|it| matches!(it.kind, Kind::Confirm { number: 3, .. }));
    assert_eq!(first.count(), 1);
}

#[test]
fn nothing_that_cannot_be_confirmed_is_found() {
    let (found, _) = search(PLAN, |probe| match probe.kind {
        Kind::Confirm { .. } => Saw::Misses(Side::Server),
        Kind::Climb | Kind::Bisect => Saw::Holds,
    });
    assert_eq!((found.requests_per_second, found.missed), (None, Some(PLAN.lowest)));
}

#[test]
fn want_of_time_leads_to_the_confirmation_of_what_has_held() {
    let mut search = Search::new(PLAN);
    search.saw(Saw::Holds);
    search.saw(Saw::Holds);
    search.hurry();
    for _ in 0..3 {
        assert_eq!(search.next_probe().unwrap().requests_per_second, 2000);
        search.saw(Saw::Holds);
    }
    let found = search.found(None);
    assert_eq!((search.next_probe(), found.requests_per_second), (None, Some(2000)));
    assert_eq!((found.limit, found.held), (SearchLimit::Budget, 3));
    let mut early = Search::new(PLAN);
    early.hurry();
    assert_eq!((early.next_probe(), early.found(None).requests_per_second), (None, None));
}

#[test]
fn a_search_that_is_cut_off_tells_what_it_knows() {
    let mut search = Search::new(PLAN);
    search.saw(Saw::Holds);
    let found = search.found(Some(SearchLimit::Interrupted));
    assert_eq!((found.requests_per_second, found.confirmations), (Some(1000), 0));
    assert_eq!(found.limit, SearchLimit::Interrupted);
}
