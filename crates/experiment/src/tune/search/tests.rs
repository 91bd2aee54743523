//! Searches against simulated servers: what is found, and in how many runs.

use super::*;

const PLAN: Plan =
    Plan { start: 1000, lowest: 100, highest: 10_000_000, precision: 0.05, most_runs: 40 };

/// Searches to the end. The answer also has all rates, in their order.
fn search(plan: Plan, mut server: impl FnMut(u64) -> ProbeResult) -> (SearchResult, Vec<u64>) {
    let mut search = Search::new(plan);
    let mut rates = Vec::new();
    while let Some(rate) = search.next_rate() {
        assert!((plan.lowest..=plan.highest).contains(&rate), "{rate}");
        assert!(rates.len() < plan.most_runs as usize, "it goes on: {rates:?}");
        rates.push(rate);
        search.saw(rate, server(rate));
    }
    (search.found(None), rates)
}

fn holds(does: bool) -> ProbeResult {
    if does { ProbeResult::Holds } else { ProbeResult::Misses(Side::Server) }
}

/// A server that holds up to `capacity` requests per second and then does not.
fn up_to(capacity: u64) -> impl FnMut(u64) -> ProbeResult {
    move |rate| holds(rate <= capacity)
}

/// A server that holds a rate with the probability of a logistic curve, but for accidents.
fn noisy(capacity: f64, width: f64, seed: u64) -> impl FnMut(u64) -> ProbeResult {
    let mut random = fastrand::Rng::with_seed(seed);
    move |rate| {
        let chance = 0.97 / (1.0 + ((rate as f64 / capacity).ln() / width).exp());
        holds(random.f64() < chance)
    }
}

#[test]
fn what_a_steady_server_holds_is_found_as_closely_as_asked_for() {
    for capacity in [137, 990, 1000, 1001, 8200, 61_234, 999_999, 7_654_321] {
        for precision in [0.2, 0.1, 0.05] {
            let (found, rates) = search(Plan { precision, ..PLAN }, up_to(capacity));
            let rate = found.requests_per_second.unwrap() as f64;
            let off = (rate / capacity as f64).ln().abs();
            assert!(off <= precision, "{capacity}, {precision}: {found:?}");
            let (low, high) = (found.low.unwrap(), found.high.unwrap());
            assert!(low <= capacity + 5 && high + 5 >= capacity, "{capacity}: {found:?}");
            assert_eq!((found.limit, found.runs as usize), (SearchLimit::Server, rates.len()));
        }
    }
}

#[test]
fn it_climbs_by_doubling_and_then_stays_near_the_threshold() {
    let (_, rates) = search(PLAN, up_to(61_234));
    assert_eq!(rates[..7], [1000, 2000, 4000, 8000, 16_000, 32_000, 64_000]);
    assert!(rates[12..].iter().all(|rate| (55_000..67_000).contains(rate)), "{rates:?}");
    assert!(rates.len() <= 24, "{rates:?}");
    let (_, down) = search(Plan { start: 1_000_000, ..PLAN }, up_to(3000));
    assert_eq!(down[..3], [1_000_000, 250_000, 62_500]);
}

#[test]
fn a_server_that_never_holds_gives_nothing_in_few_runs() {
    let (found, rates) = search(PLAN, |_| ProbeResult::Misses(Side::Server));
    assert_eq!((found.requests_per_second, found.low, found.missed), (None, None, Some(100)));
    assert_eq!(found.limit, SearchLimit::Server);
    assert!(rates.len() <= 8, "{rates:?}");
}

#[test]
fn a_server_that_always_holds_is_limited_by_the_highest_rate() {
    let (found, _) = search(PLAN, |_| ProbeResult::Holds);
    assert_eq!((found.requests_per_second, found.missed), (Some(PLAN.highest), None));
    assert_eq!((found.limit, found.high), (SearchLimit::HighestRate, None));
}

#[test]
fn one_rate_alone_can_be_asked_for() {
    let plan = Plan { lowest: 500, highest: 500, ..PLAN };
    let (found, rates) = search(plan, up_to(1000));
    assert_eq!((found.requests_per_second, rates.len()), (Some(500), FEWEST_RUNS));
    let (found, _) = search(plan, up_to(100));
    assert_eq!(found.requests_per_second, None);
}

#[test]
fn the_generators_limit_is_not_told_as_the_servers() {
    let (found, _) = search(PLAN, |rate| match rate {
        0..=50_000 => ProbeResult::Holds,
        _ => ProbeResult::Misses(Side::Generator),
    });
    assert_eq!(found.limit, SearchLimit::Generator);
    assert!((48_000..=52_000).contains(&found.requests_per_second.unwrap()), "{found:?}");
    // Above the server's limit, where the generator has one too, the server's is what counts.
    let (found, _) = search(PLAN, |rate| match rate {
        0..=20_000 => ProbeResult::Holds,
        20_001..=35_000 => ProbeResult::Misses(Side::Server),
        _ => ProbeResult::Misses(Side::Generator),
    });
    assert_eq!(found.limit, SearchLimit::Server);
}

#[test]
fn one_accident_decides_nothing() {
    for accident in 0..12 {
        let mut number = 0;
        let (found, _) = search(PLAN, |rate| {
            number += 1;
            holds(rate <= 61_234 && number != accident + 1)
        });
        let rate = found.requests_per_second.unwrap();
        assert!((58_000..=64_000).contains(&rate), "{accident}: {found:?}");
        assert!(found.low.unwrap() <= 61_300 && found.high.unwrap() >= 61_200, "{found:?}");
    }
}

#[test]
fn a_search_finds_the_threshold_in_its_interval() {
    const SEARCHES: u32 = 40;
    for (width, precision) in [(0.005, 0.05), (0.02, 0.05), (0.05, 0.1)] {
        let (mut held, mut sum) = (0, 0.0);
        let mut runs = 0;
        for seed in 0..SEARCHES {
            let plan = Plan { precision, start: 13_000, ..PLAN };
            let (found, _) = search(plan, noisy(60_000.0, width, u64::from(seed)));
            let (rate, low, high) = (found.requests_per_second, found.low, found.high);
            runs += found.runs;
            sum += (rate.unwrap() as f64 / 60_000.0).ln();
            held += u32::from(low.unwrap() <= 60_000 && high.unwrap() >= 60_000);
        }
        assert!(runs <= 32 * SEARCHES, "{width}: {runs} runs");
        // 95 % less three standard errors, and no bias upwards.
        assert!(held * 100 >= SEARCHES * 85, "{width}: {held} of {SEARCHES}");
        let mean = sum / f64::from(SEARCHES);
        assert!(mean.abs() <= 0.5 * precision, "{width}: {mean}");
    }
}

#[test]
fn repeating_until_something_holds_does_not_raise_the_answer() {
    // It holds one run in five far above its threshold, and more runs must not find that.
    let answer = |most_runs| {
        let mut random = fastrand::Rng::with_seed(5);
        let plan = Plan { precision: 0.0001, most_runs, start: 40_000, ..PLAN };
        let (found, _) = search(plan, |rate| holds(rate <= 60_000 || random.f64() < 0.2));
        found.requests_per_second.unwrap() as f64
    };
    for most_runs in [15, 40, 100] {
        let rate = answer(most_runs);
        assert!((50_000.0..63_000.0).contains(&rate), "{most_runs}: {rate}");
    }
}

#[test]
fn a_search_that_is_cut_off_tells_what_it_knows() {
    let mut search = Search::new(PLAN);
    let nothing = search.found(Some(SearchLimit::Budget));
    assert_eq!((nothing.requests_per_second, nothing.limit), (None, SearchLimit::Budget));
    search.saw(1000, ProbeResult::Holds);
    let found = search.found(Some(SearchLimit::Interrupted));
    assert_eq!((found.requests_per_second, found.low), (Some(1000), None));
    assert_eq!(found.limit, SearchLimit::Interrupted);
    search.saw(2000, ProbeResult::Misses(Side::Server));
    let found = search.found(Some(SearchLimit::Budget));
    // One miss may be an accident, so the upper end is not known yet.
    assert!((1000..=2000).contains(&found.requests_per_second.unwrap()), "{found:?}");
    assert_eq!(found.missed, Some(2000));
    assert!(found.low.is_some_and(|low| low <= 1000) && found.high.is_none(), "{found:?}");
}
