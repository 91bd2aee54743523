//! Two loads side by side, and loads that are not the same experiment.

use super::*;
use crate::{
    fixtures::{assert_golden, assert_golden_page, environment},
    format::Format,
    load::tests::result,
    schemas::tests::valid,
    view::tests::figure_of,
};
use std::sync::LazyLock;
use wirebench_schema::environment::Environment;
use wirebench_schema::load::{IdleMode, LoadModel, LoadResult, RateCurve, RequestOrder};

/// The same load of a server that is slower.
fn slower() -> LoadResult {
    let mut new = result();
    new.started = "2026-01-03T03:04:05Z".to_owned();
    new.report.config.target = "http://127.0.0.1:9090/".parse().unwrap();
    new.report.requests_per_second = 18_000.0;
    new.report.errors.timeout = 0;
    let latency = new.report.latency.as_mut().unwrap();
    latency.latency_ns_p99 *= 2;
    latency.latency_ns_mean *= 1.1;
    new.report.by_name[1].requests_per_second = 6_000.0;
    (new.report.by_name[0].errors, new.report.by_name[1].latency) = (0, None);
    new
}

fn compared(old: &LoadResult, new: &LoadResult, force: bool) -> Result<Comparison, NotComparable> {
    static MACHINE: LazyLock<Environment> = LazyLock::new(|| environment("Model 1"));
    let old = LoadSide { name: "old", result: old, environment: Some(&*MACHINE) };
    let options = CompareOptions { force, ..CompareOptions::default() };
    compare_loads(&old, &LoadSide { name: "new", result: new, ..old }, &options)
}

#[test]
fn figures_stand_side_by_side_without_a_verdict() {
    let [old, new] = [result(), slower()];
    let comparison = compared(&old, &new, false).unwrap();
    assert_golden("load/compared.txt", &comparison.text(Rows::ThatCount));
    assert_golden_page("compare-loads.html", &comparison.html());
    let value = valid("result", &comparison.json());
    assert_eq!(value["cells"][0]["figures"][0]["ratios"][0]["value"], 18_000.0 / 19_995.0);
    let csv = Format::Csv.write(&comparison, None).text;
    assert!(csv.contains(",latency_ns_p99,ns,19693566,,,true,2,,,exactly,,9846783\n"), "{csv}");
    let back = compared(&new, &old, false).unwrap();
    let text = back.text(Rows::ThatCount);
    assert!(text.contains("errors            0       20        -\n"), "{text}");
    let json = valid("result", &back.json());
    let ratio = &figure_of(&json["cells"][1], "errors")["ratios"][0];
    assert_eq!((&ratio["reference"], &ratio["value"]), (&0.0.into(), &().into()));
    let csv = Format::Csv.write(&back, None).text;
    assert!(csv.contains(",errors,requests,20,,,true,,,,exactly,,0\n"), "{csv}");
}

#[test]
fn other_loads_are_refused_with_all_that_differs() {
    let old = result();
    let differing = |change: fn(&mut LoadResult)| {
        let mut new = result();
        change(&mut new);
        match compared(&old, &new, false) {
            Ok(_) => String::new(),
            Err(NotComparable::Differ(found)) => found.iter().map(|it| format!("{it}\n")).collect(),
            Err(other) => panic!("{other:?}"),
        }
    };
    let same = differing(|it| {
        it.report.config.target = "http://other:1/".parse().unwrap();
        it.report.config.seed = 9;
        it.report.config.requests.as_mut().unwrap().file = Some("/elsewhere/api.jsonl".to_owned());
    });
    assert_eq!(same, "");
    let load = differing(|it| {
        it.report.config.connections = 64;
        it.report.config.model = LoadModel::rate(RateCurve::per_second(10));
        it.report.config.requests.as_mut().unwrap().order = RequestOrder::InTurn;
        it.report.config.headers = vec![("Cookie".to_owned(), "secret".to_owned())];
        it.report.engine = wirebench_schema::load::EngineChoice::IoUring;
    });
    expect_test::expect![[r#"
        the load generator's engine was `epoll` and is `io_uring`
        the set of requests was `2, weighted` and is `2, in-turn`
        the load model was `20000 requests/s` and is `10 requests/s`
        the set of headers was `none` and is `Cookie`
        `connections` was `10` and is `64`
    "#]]
    .assert_eq(&load);
    let content =
        differing(|it| it.report.config.requests.as_mut().unwrap().requests[0].path.push('x'));
    let other = "the set of requests was `2, weighted` and is `2, weighted, with other content`\n";
    assert_eq!(content, other);
    let awake = differing(|it| it.report.config.idle = IdleMode::Awake);
    assert_eq!(awake, "the idle mode of the CPUs was `natural` and is `awake`\n");
    let one = differing(|it| it.report.config.requests = None);
    assert!(one.contains("the set of requests was `2, weighted` and is `one`"), "{one}");
    let mut new = result();
    new.report.config.connections = 64;
    let forced = compared(&old, &new, true).unwrap().text(Rows::ThatCount);
    let expected =
        "compared with --force despite these differences\n  `connections` was `10` and is `64`";
    assert!(forced.contains(expected), "{forced}");
}

#[test]
fn another_machine_is_refused_and_an_unknown_one_is_a_warning() {
    let (old, new) = (result(), slower());
    let [one, other] = ["Model 1", "Model 2"].map(environment);
    let side = |name, result, environment| LoadSide { name, result, environment };
    let usual = CompareOptions::default();
    let refused =
        compare_loads(&side("a", &old, Some(&one)), &side("b", &new, Some(&other)), &usual);
    assert!(
        matches!(refused, Err(NotComparable::Differ(found)) if found[0].to_string().contains("cpu_model"))
    );
    let [known, unknown] = [side("a", &old, Some(&one)), side("b", &new, None)];
    let text = compare_loads(&known, &unknown, &usual).unwrap().text(Rows::ThatCount);
    let warning = "b has no environment.json: cannot check that the machine is the same";
    assert!(text.contains(warning), "{text}");
}

#[test]
fn a_ratio_of_bounds_is_one() {
    use crate::analysis::Reads::{self, AtLeast, AtMost, Either, Exactly};
    let read = |(old, new): (Reads, Reads)| new.with(old.inverse());
    let cases = [(Exactly, Exactly), (Exactly, AtLeast), (AtLeast, Exactly), (AtMost, Exactly)];
    assert_eq!(cases.map(read), [Exactly, AtLeast, AtMost, AtLeast]);
    assert_eq!([(Exactly, AtMost), (AtLeast, AtLeast)].map(read), [AtMost, Either]);
}
