//! The first screen: its text from fixture models, and the models of fixture journals.

use super::{
    adapter,
    model::{Block, Column, Group, Outcome},
    *,
};
use crate::{
    analysis::Metric,
    fixtures::{assert_golden, journal},
};
use std::sync::LazyLock;
use wirebench_schema::{
    journal::{Procedure, Start},
    suite::Scale,
};
use wirebench_stats::Interval;

mod journals;

const NAMES: [&str; 9] = [
    "c/epoll",
    "c/io_uring",
    "builtin/epoll",
    "rust/tokio",
    "cpp/boost-asio:shared",
    "go/net",
    "c/threads",
    "python/asyncio:uvloop",
    "node/http",
];

/// Of each row: CPU saturated in nanoseconds, its outcome, requests/s, CPU at a rate, its outcome.
const ROWS: [(f64, Outcome, f64, f64, Outcome); 9] = [
    (4_700.0, Outcome::Reference, 212e3, 9_400.0, Outcome::Reference),
    (4_690.0, Outcome::Same, 211e3, 9_410.0, Outcome::Same),
    (4_740.0, Outcome::Same, 210e3, 9_500.0, Outcome::Same),
    (4_900.0, higher(1.042, 0.018), 193e3, 9_700.0, Outcome::Inconclusive),
    (4_950.0, Outcome::Inconclusive, 190e3, 9_900.0, higher(1.053, 0.031)),
    (5_690.0, higher(1.211, 0.02), 167e3, 13_700.0, higher(1.457, 0.04)),
    (6_500.0, higher(1.383, 0.02), 148e3, 10_900.0, higher(1.16, 0.04)),
    (10_000.0, higher(2.128, 0.03), 99e3, 18_900.0, higher(2.011, 0.05)),
    (10_900.0, higher(2.319, 0.04), 85e3, 14_500.0, higher(1.543, 0.04)),
];

const fn higher(ratio: f64, half_width: f64) -> Outcome {
    let interval = Interval { low: ratio - half_width, high: ratio + half_width };
    Outcome::Different { ratio, interval }
}

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

fn saturated() -> Group {
    let cells = ROWS.map(|(cpu, outcome, rate, ..)| {
        let rate = if rate > 190e3 { Value::Bound(rate) } else { Value::Exact(rate) };
        let latency = |times: f64| match rate {
            Value::Bound(_) => Value::Bound(cpu * times),
            _ => Value::Exact(cpu * times),
        };
        Some(vec![Value::Exact(cpu), Value::Compared(outcome), rate, latency(64.0), latency(200.0)])
    });
    let columns = columns(&[Metric::Throughput, Metric::P50, Metric::P99]);
    group("saturated", 0.03, columns, cells.to_vec())
}

fn at(rate: &str) -> Group {
    let cells = ROWS.map(|(.., cpu, outcome)| {
        let tail = if cpu > 14_000.0 { Value::Hidden } else { Value::Exact(cpu * 12.0) };
        Some(vec![Value::Exact(cpu), Value::Compared(outcome), Value::Exact(cpu * 5.0), tail])
    });
    let columns = columns(&[Metric::P50, Metric::P99]);
    group(&format!("at {rate}/s"), 0.05, columns, cells.to_vec())
}

fn columns(others: &[Metric]) -> Vec<Column> {
    let others = others.iter().copied().map(Column::Figure);
    [Column::Figure(Metric::Cpu), Column::Outcome].into_iter().chain(others).collect()
}

fn group(title: &str, margin: f64, columns: Vec<Column>, cells: Vec<Option<Vec<Value>>>) -> Group {
    let baseline = Some("c/epoll".to_owned());
    let ratios = vec![None; cells.len()];
    Group { title: title.to_owned(), metric: Metric::Cpu, baseline, margin, columns, cells, ratios }
}

fn block(title: &str, groups: Vec<Group>) -> Block {
    Block { title: title.to_owned(), rows: NAMES.map(str::to_owned).to_vec(), groups }
}

static QUICK: LazyLock<Start> = LazyLock::new(|| {
    let start = journal().start;
    Start { suite: "quick".to_owned(), blocks: 4, procedure: Procedure::Cohorts, ..start }
});

/// Nine servers in `quick`: hello saturated and at two rates, echo at one.
fn quick() -> Model<'static> {
    let mut echo = block("echo", vec![at("40k")]);
    // A server without the scenario takes no part.
    echo.groups[0].cells[8] = None;
    Model {
        start: &QUICK,
        servers: 9,
        made: 4,
        ended: None,
        blocks: vec![block("hello", vec![saturated(), at("20k"), at("40k")]), echo],
        published: Vec::new(),
        whys: Vec::new(),
        causes: vec!["p99 of 5 rows: disturbed by python3 on CPU 0".to_owned()],
        disturbed: Some("stop these programs and measure again"),
    }
}

fn width(text: &str) -> usize {
    text.lines().map(|line| line.chars().count()).max().unwrap()
}

#[test]
fn nine_servers_under_four_loads_fit_a_screen() {
    let text = text(&quick(), None, &facts(Look::Plain));
    assert_golden("run/page.txt", &text);
    assert!(width(&text) <= WIDTH, "{}", width(&text));
    assert!(text.lines().count() < 40, "{}", text.lines().count());
}

#[test]
fn all_four_figures_of_a_load_are_on_the_page_from_eighty_columns_on() {
    let mut wide = quick();
    for cells in wide.blocks[0].groups.iter_mut().flat_map(|it| it.cells.iter_mut().flatten()) {
        let interval = Interval { low: 1.01, high: 2.1 };
        cells[1] = Value::Compared(Outcome::Different { ratio: 1.46, interval });
    }
    for (model, columns) in [(quick(), 80), (quick(), 100), (quick(), 200), (wide, 80)] {
        let text = text(&model, None, &Facts { columns: Some(columns), ..facts(Look::Plain) });
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
    let page = |columns| text(&quick(), None, &Facts { columns, ..facts(Look::Plain) });
    assert_eq!(page(Some(WIDTH as u16)), page(None));
    let narrow = page(Some(60));
    assert!(width(&narrow) <= 60, "{}\n{narrow}", width(&narrow));
    for figure in ["+21 % ±2", "p99 of 5 rows", "wirebench report results/1 --explain"] {
        assert!(page(None).contains(figure) && narrow.contains(figure), "{figure}: {narrow}");
    }
}

#[test]
fn colours_and_bars_change_no_word_and_stay_within_the_width() {
    let painted = text(&quick(), None, &facts(Look::Colours));
    assert!(painted.contains("\u{1b}[31m+21 % ±2\u{1b}[0m"), "{painted}");
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
    let mut model = quick();
    let limit = "the load generator was saturated";
    let hidden = "not valid";
    let replace = |model: &mut Model<'_>, by: fn(Value) -> Value| {
        let groups = model.blocks.iter_mut().flat_map(|block| &mut block.groups);
        for value in groups.flat_map(|group| group.cells.iter_mut().flatten().flatten()) {
            *value = by(*value);
        }
    };
    replace(&mut model, |value| match value {
        Value::Bound(figure) => Value::Exact(figure),
        other => other,
    });
    let page = text(&model, None, &facts(Look::Plain));
    assert!(!page.contains(limit) && !page.contains(">="), "{page}");
    assert!(page.contains(hidden), "{page}");
    replace(&mut model, |value| if value.is_hidden() { Value::Empty } else { value });
    model.causes.clear();
    let page = text(&model, None, &facts(Look::Plain));
    assert!(!page.contains(hidden) && !page.contains('!'), "{page}");
}

#[test]
fn loads_that_do_not_fit_next_to_each_other_are_below_each_other() {
    let groups = ["1k", "2k", "5k", "10k", "20k"].map(at).to_vec();
    let model = Model { blocks: vec![block("hello", groups)], ..quick() };
    let text = text(&model, None, &facts(Look::Plain));
    assert!(width(&text) <= WIDTH, "{text}");
    assert_eq!(text.matches("cpp/boost-asio:shared").count(), 2, "{text}");
    for rate in ["1k", "2k", "5k", "10k", "20k"] {
        assert!(text.contains(&format!("at {rate}/s")), "{text}");
    }
}

#[test]
fn a_name_that_is_too_long_is_cut() {
    let mut model = quick();
    model.blocks[1].rows[3] = "own/".to_owned() + &"server".repeat(20);
    let text = text(&model, None, &facts(Look::Plain));
    assert!(width(&text) <= WIDTH && text.contains("..."), "{text}");
}

#[test]
fn the_sentences_say_who_differs_and_count_the_rest() {
    let of = |outcomes: &[Outcome]| {
        let mut group = saturated();
        group.cells = outcomes.iter().map(|it| Some(vec![Value::Compared(*it)])).collect();
        group.columns = vec![Column::Outcome];
        let model = Model { blocks: vec![block("hello", vec![group])], ..quick() };
        headline::result(&model)
    };
    let reference = Outcome::Reference;
    let lower = higher(0.95, 0.01);
    assert_eq!(
        of(&[reference, lower, Outcome::Same]),
        "c/io_uring needs 5 % less CPU than c/epoll per request. One server is within 3 % of it."
    );
    assert_eq!(
        of(&[reference, higher(1.2, 0.01), lower]),
        "c/io_uring needs 1.2x the CPU of c/epoll per request. builtin/epoll needs 5 % less."
    );
    assert_eq!(
        of(&[reference, Outcome::Inconclusive, Outcome::Withheld]),
        "Compared with c/epoll, one is inconclusive, one is not valid."
    );
    assert_eq!(of(&[reference, Outcome::Same]), "One server is within 3 % of c/epoll.");
    assert_eq!(
        of(&[Outcome::Withheld, Outcome::Withheld]),
        "The baseline c/epoll is not valid, so nothing is compared."
    );
    assert_eq!(of(&[reference]), "Only c/epoll has figures.");
    let below = [0.8, 0.9, 0.97, 0.5, 0.85].map(|ratio| higher(ratio, 0.01));
    let below = of(&[&[reference][..], &below].concat());
    assert!(below.starts_with("cpp/boost-asio:shared needs 50 % less CPU than c/epoll"), "{below}");
    assert!(below.ends_with(", c/io_uring 20 %, go/net 15 %, two others 3 % to 10 %."), "{below}");
    let empty = Model { blocks: Vec::new(), ..quick() };
    // The load is named where there are several.
    let mut model = quick();
    model.blocks[0].groups[0].cells =
        vec![Some(vec![Value::Empty, Value::Compared(Outcome::Same)])];
    let sentence = "hello, saturated: one server is within 3 % of c/epoll.";
    assert_eq!(headline::result(&model), sentence);
    assert_eq!(headline::result(&empty), "Nothing was measured.");
}

#[test]
fn many_causes_are_counted_and_a_long_one_is_cut() {
    let mut causes: Vec<String> = (0..8).map(|it| format!("cause {it}")).collect();
    causes[0] = "word ".repeat(80) + "end: stop it";
    let text = text(&Model { causes, ..quick() }, None, &facts(Look::Plain));
    assert!(text.contains(" word ... stop it\n    cause 1\n"), "{text}");
    assert!(text.contains("    cause 3\n    and 4 more: --explain\n"), "{text}");
    assert!(width(&text) <= WIDTH, "{text}");
}

#[test]
fn the_page_stays_below_forty_lines_whatever_went_wrong() {
    let causes: Vec<String> = (0..20).map(|_| "word ".repeat(80)).collect();
    let text = text(&Model { causes, ..quick() }, None, &facts(Look::Plain));
    // One more line names the file with the details.
    assert!(text.lines().count() < 40 && width(&text) <= WIDTH, "{}\n{text}", text.lines().count());
}

#[test]
fn the_hint_is_about_what_helps_most() {
    let quiet = || Model { disturbed: None, ..quick() };
    let hint = |model: &Model<'_>| headline::hint(model).unwrap_or_default();
    assert!(hint(&quick()).contains("stop these programs and measure again"));
    assert_eq!(
        hint(&quiet()),
        "Next: 4 comparisons are inconclusive; `--cohorts 8` narrows the intervals."
    );
    let smoke = &Start { scale: Scale::Smoke, ..QUICK.clone() };
    assert_eq!(hint(&Model { start: smoke, ..quiet() }), "");
    assert_eq!(hint(&Model { blocks: Vec::new(), ..quiet() }), "");
}

#[test]
fn a_run_that_is_not_complete_says_so() {
    let mut start = QUICK.clone();
    start.placement.pinned = false;
    let of = |made, ended| {
        let model = Model { start: &start, made, ended, ..quick() };
        headline::setting(&model, &Facts::default())
    };
    let interrupted = of(2, Some("interrupted"));
    assert_eq!(interrupted, "quick: 9 servers, 2 of 4 cohorts (interrupted), not pinned");
    assert_eq!(of(2, None), "quick: 9 servers, 2 of 4 cohorts, not pinned");
    assert_eq!(of(4, None), "quick: 9 servers, not pinned");
}

#[test]
fn a_cpu_that_both_sides_use_counts_once() {
    let mut start = QUICK.clone();
    (start.placement.server_cpus, start.placement.generator_cpus) = (vec![0, 1], vec![0, 1]);
    let text = headline::setting(&Model { start: &start, ..quick() }, &Facts::default());
    assert!(text.ends_with(", 2 CPUs (2 server, 2 load generator, 2 shared)"), "{text}");
}

#[test]
fn a_page_without_figures_has_no_empty_lines_in_a_row() {
    let journal = crate::fixtures::journal();
    let text = page(&Analysis::of(&journal), &Facts::default());
    assert!(!text.contains("\n\n\n") && !text.ends_with("\n\n"), "{text:?}");
}
