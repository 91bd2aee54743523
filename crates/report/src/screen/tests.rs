//! The first screen of fixture journals: its layout and its sentences.

use super::*;
use crate::{
    analysis::Metric,
    fixtures::{
        add, add_reason, alter_all, assert_golden, cost, journal, limited, noisy, rate, reason,
    },
};
use wirebench_schema::{
    journal::{Described, End, EndReason, Owner, Procedure, ProgramShare, ReasonKind, Run, Weight},
    suite::{Phase, Scale},
};

mod journals;

/// Each row: its name, and its CPU saturated and at a rate in nanoseconds.
const ROWS: [(&str, f64, f64); 9] = [
    ("c/epoll", 4_700.0, 9_400.0),
    ("c/io_uring", 4_690.0, 9_410.0),
    ("builtin/epoll", 4_740.0, 9_500.0),
    ("rust/tokio", 4_900.0, 9_700.0),
    ("cpp/boost-asio:shared", 4_950.0, 9_900.0),
    ("go/net", 5_690.0, 13_700.0),
    ("c/threads", 6_500.0, 10_900.0),
    ("python/asyncio:uvloop", 10_000.0, 18_900.0),
    ("node/http", 10_900.0, 14_500.0),
];

fn facts(look: Look) -> Facts<'static> {
    Facts {
        machine: Some("AMD EPYC"),
        elapsed: Some(Duration::from_secs(170)),
        look,
        columns: None,
        folder: Some("results/1"),
        gate: None,
    }
}

/// Six cohorts of nine servers under loads of a scenario, each saturated or at a rate; the noise of `loud` servers is
/// multiplied.
fn of_loads(loads: &[(&str, Option<u64>)], (loud, times): (&str, f64)) -> Journal {
    let mut journal = journal();
    let start = &mut journal.start;
    (start.suite, start.blocks, start.procedure) = ("quick".to_owned(), 6, Procedure::Short);
    let (first, hello) = (start.variants[0].clone(), start.workloads.remove(0));
    let described = |(name, ..): &(&str, f64, f64)| Described {
        variant: name.parse().unwrap(),
        ..first.clone()
    };
    start.variants = ROWS.iter().map(described).collect();
    for (scenario, requests) in loads {
        let mut load = requests.map_or_else(|| hello.clone(), |it| hello.at_rate(it));
        load.phase = if requests.is_some() { Phase::Cost } else { Phase::Saturate };
        load.scenario = scenario.parse().unwrap();
        load.name = format!("{scenario}-{}", requests.unwrap_or(0));
        let name = load.name.clone();
        journal.start.workloads.push(load);
        for (turn, (server, saturated, at_rate)) in ROWS.into_iter().enumerate() {
            let middle = if requests.is_some() { at_rate } else { saturated };
            let times = if server.contains(loud) { times } else { 1.0 };
            let values = noisy(middle, turn + 1).map(|it| middle + (it - middle) * times);
            add(&mut journal, &name, (server, 0), values, |ns| match requests {
                Some(_) => cost(ns),
                None if middle < 4_950.0 => limited(saturated_at(ns)),
                None => saturated_at(ns),
            });
        }
    }
    journal.end = Some(End { ended: String::new(), reason: EndReason::Complete });
    journal
}

fn saturated_at(ns: f64) -> wirebench_schema::journal::Outcome {
    crate::fixtures::changed(rate(1e9 / ns), |it| it.cost.cpu_ns_per_request = Some(ns))
}

/// Nine servers in `quick`: hello saturated and at two rates, echo at one.
fn quick() -> Journal {
    let hello = [None, Some(20_000), Some(40_000)].map(|it| ("hello", it));
    let loads = [&hello[..], &[("echo", Some(40_000))]].concat();
    let mut journal = of_loads(&loads, ("rust/tokio", 15.0));
    // A server without the scenario takes no part.
    let is_absent = |run: &Run| run.variant.entry() == "node/http" && run.workload == "echo-40000";
    journal.runs.retain(|run| !is_absent(run));
    let python = ProgramShare { name: "python3".into(), owner: Owner::Other, share: 0.02 };
    let disturbed = ReasonKind::Neighbour.reason(Weight::Tail, Some(0.02), "").by(&[python]);
    let slow = ["python/asyncio", "node/http"];
    let is_meant = |run: &Run| slow.contains(&run.variant.entry()) && !run.workload.ends_with("-0");
    add_reason(&mut journal, is_meant, &disturbed);
    journal
}

fn text(journal: &Journal, facts: &Facts<'_>) -> String {
    page(&Analysis::of(journal), facts)
}

fn width(text: &str) -> usize {
    text.lines().map(|line| line.chars().count()).max().unwrap()
}

#[test]
fn nine_servers_under_four_loads_fit_a_screen_whatever_went_wrong() {
    let text = text(&quick(), &facts(Look::Plain));
    assert_golden("run/page.txt", &text);
    assert!(width(&text) <= WIDTH, "{}", width(&text));
    // One line is a cause, and one more names the file with the details.
    assert!(text.lines().count() - 1 + ALL_CAUSE_LINES < 40, "{}", text.lines().count());
}

#[test]
fn all_four_figures_of_a_load_are_on_the_page_from_eighty_columns_on() {
    let wide = || of_loads(&[("hello", None), ("echo", None)], ("", 30.0));
    for (journal, columns) in [(quick(), 80), (quick(), 100), (quick(), 200), (wide(), 80)] {
        let text = text(&journal, &Facts { columns: Some(columns), ..facts(Look::Plain) });
        assert!(width(&text) <= usize::from(columns), "{text}");
        let (_, hello) = text.split_once("\nhello: CPU").unwrap();
        let (hello, _) = hello.split_once("\necho: CPU").unwrap();
        for head in [" us ", " req/s", " p50", " p99"] {
            assert!(hello.contains(head), "{head}: {text}");
        }
    }
}

#[test]
fn a_narrow_terminal_gets_a_page_of_its_width_with_the_same_figures() {
    let page = |columns| text(&quick(), &Facts { columns, ..facts(Look::Plain) });
    assert_eq!(page(Some(WIDTH as u16)), page(None));
    let narrow = page(Some(60));
    assert!(width(&narrow) <= 60, "{}\n{narrow}", width(&narrow));
    for figure in ["+20.7 % ±0.5", "p99 of 5 rows", "wirebench report results/1 --explain"] {
        assert!(page(None).contains(figure) && narrow.contains(figure), "{figure}: {narrow}");
    }
}

#[test]
fn colours_and_bars_change_no_word_and_stay_within_the_width() {
    let painted = text(&quick(), &facts(Look::Colours));
    assert!(painted.contains("\u{1b}[31m+20.7 % ±0.5\u{1b}[0m"), "{painted}");
    let mut plain = painted.clone();
    for code in ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[31m", "\u{1b}[32m"] {
        plain = plain.replace(code, "");
    }
    assert!(width(&plain) <= WIDTH, "{}", width(&plain));
    assert!(plain.contains(&"█".repeat(24)), "{plain}");
    let without_bars: Vec<String> =
        plain.lines().map(|line| line.replace('█', "").trim_end().to_owned()).collect();
    assert_golden("run/page.txt", &(without_bars.join("\n") + "\n"));
}

#[test]
fn a_mark_has_its_line_only_if_it_occurs() {
    let mut journal = quick();
    let limit = "the load generator was saturated";
    let hidden = "not valid";
    alter_all(&mut journal, |it| it.bound = wirebench_schema::journal::Bound::Server);
    let page = text(&journal, &facts(Look::Plain));
    assert!(!page.contains(limit) && !page.contains(">="), "{page}");
    assert!(page.contains(hidden), "{page}");
    alter_all(&mut journal, |it| it.reasons.clear());
    let page = text(&journal, &facts(Look::Plain));
    assert!(!page.contains(hidden) && !page.contains('!'), "{page}");
}

#[test]
fn loads_that_do_not_fit_next_to_each_other_are_below_each_other() {
    let rates = [1_000, 2_000, 5_000, 10_000, 20_000];
    let journal = of_loads(&rates.map(|it| ("hello", Some(it))), ("none", 1.0));
    let text = text(&journal, &facts(Look::Plain));
    assert!(width(&text) <= WIDTH, "{text}");
    assert_eq!(text.matches("cpp/boost-asio:shared  ").count(), 2, "{text}");
    for rate in ["1k", "2k", "5k", "10k", "20k"] {
        assert!(text.contains(&format!("at {rate}/s")), "{text}");
    }
}

#[test]
fn a_name_that_is_too_long_is_cut() {
    let mut journal = quick();
    let name = "own/".to_owned() + &"server".repeat(14);
    journal.start.variants[3].variant = name.parse().unwrap();
    let is_it = |run: &&mut Run| run.variant.entry() == "rust/tokio";
    journal.runs.iter_mut().filter(is_it).for_each(|run| run.variant = name.parse().unwrap());
    let text = text(&journal, &facts(Look::Plain));
    assert!(width(&text) <= WIDTH && text.contains("..."), "{text}");
}

/// A row whose figures scatter, and one that is not valid.
const INCONCLUSIVE: f64 = 1.02;
const WITHHELD: f64 = 0.0;

/// The sentences on servers with these ratios to the first one.
fn sentences(ratios: &[f64]) -> String {
    let mut journal = of_loads(&[("hello", None)], ("", 1.0));
    journal.runs.clear();
    for (turn, (ratio, (server, ..))) in ratios.iter().zip(ROWS).enumerate() {
        let times = if *ratio == INCONCLUSIVE { 15.0 } else { 1.0 };
        let middle = if *ratio == WITHHELD { 4_700.0 } else { 4_700.0 * ratio };
        let values = noisy(middle, turn + 1).map(|it| middle + (it - middle) * times);
        add(&mut journal, "hello-0", (server, 0), values, saturated_at);
        let is_void = |run: &Run| run.variant.to_string() == server && *ratio == WITHHELD;
        add_reason(&mut journal, is_void, &reason(Weight::Invalid, "2 errors"));
    }
    sentence(&Analysis::of(&journal))
}

#[test]
fn the_sentences_say_who_differs_and_count_the_rest() {
    assert_eq!(
        sentences(&[1.0, 0.95, 1.0]),
        "c/io_uring needs 5 % less CPU than c/epoll per request. One server is within 3 % of it."
    );
    assert_eq!(
        sentences(&[1.0, 1.2, 0.95]),
        "c/io_uring needs 1.2x the CPU of c/epoll per request. builtin/epoll needs 5 % less."
    );
    assert_eq!(
        sentences(&[1.0, INCONCLUSIVE, WITHHELD]),
        "Compared with c/epoll, one is inconclusive, one is not valid."
    );
    assert_eq!(sentences(&[1.0, 1.0]), "One server is within 3 % of c/epoll.");
    assert_eq!(
        sentences(&[WITHHELD, WITHHELD]),
        "The baseline c/epoll is not valid, so nothing is compared."
    );
    assert_eq!(sentences(&[1.0]), "Only c/epoll has figures.");
    let below = sentences(&[1.0, 0.8, 0.9, 0.95, 0.5, 0.85]);
    assert!(below.starts_with("cpp/boost-asio:shared needs 50 % less CPU than c/epoll"), "{below}");
    assert!(below.ends_with(", c/io_uring 20 %, go/net 15 %, two others 5 % to 10 %."), "{below}");
    assert_eq!(sentences(&[]), "Nothing was measured.");
    // The load is named where there are several.
    let mut journal = quick();
    journal.runs.retain(|run| ["c/epoll", "c/io_uring"].contains(&run.variant.entry()));
    let named = "hello, saturated: one server is within 3 % of c/epoll.";
    assert_eq!(sentence(&Analysis::of(&journal)), named);
}

#[test]
fn many_causes_are_counted_and_a_long_one_is_cut() {
    let mut causes: Vec<String> = (0..8).map(|it| format!("cause {it}")).collect();
    causes[0] = "word ".repeat(80) + "end: stop it";
    let text = cause_lines(&causes, WIDTH).join("\n");
    assert!(text.contains(" word ... stop it\n    cause 1\n"), "{text}");
    assert!(text.ends_with("    cause 4\n    and 3 more: --explain"), "{text}");
    assert!(width(&text) <= WIDTH, "{text}");
    let many: Vec<String> = (0..20).map(|_| "word ".repeat(80)).collect();
    assert!(cause_lines(&many, WIDTH).len() <= ALL_CAUSE_LINES);
}

#[test]
fn the_hint_is_about_what_helps_most() {
    let hint = |journal: &Journal, disturbed| {
        headline::hint(&Model::of(&Analysis::of(journal)), disturbed).unwrap_or_default()
    };
    let mut journal = quick();
    assert_eq!(hint(&journal, Some("stop it")), "Next: stop it.");
    assert_eq!(
        hint(&journal, None),
        "Next: 4 comparisons are inconclusive; `--cohorts 12` narrows the intervals."
    );
    journal.start.scale = Scale::Smoke;
    assert_eq!(hint(&journal, Some("stop it")), "");
    assert_eq!(hint(&crate::fixtures::journal(), None), "");
}

#[test]
fn a_run_that_is_not_complete_says_so() {
    let setting = |journal: &Journal, facts: &Facts<'_>| {
        headline::setting(&Model::of(&Analysis::of(journal)), facts)
    };
    let mut journal = quick();
    journal.start.placement.pinned = false;
    let text = |journal: &Journal| setting(journal, &Facts::default());
    assert_eq!(text(&journal), "quick: 9 servers, not pinned");
    journal.start.blocks = 10;
    assert_eq!(text(&journal), "quick: 9 servers, 6 of 10 cohorts, not pinned");
    journal.end = Some(End { ended: String::new(), reason: EndReason::Interrupted });
    let interrupted = "quick: 9 servers, 6 of 10 cohorts (interrupted), not pinned";
    assert_eq!(text(&journal), interrupted);
    // A CPU that both sides use counts once.
    let placement = &mut journal.start.placement;
    placement.pinned = true;
    (placement.server_cpus, placement.generator_cpus) = (vec![0, 1], vec![0, 1]);
    let shared = text(&journal);
    assert!(shared.ends_with(", 2 CPUs (2 server, 2 load generator, 2 shared)"), "{shared}");
}
