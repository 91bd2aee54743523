//! Conditions in JSON and in documents.

use super::*;

/// The JSON and the documents of a result have its conditions, each with the sentence of the text.
#[track_caller]
fn assert_has_conditions(kind: &str, report: &dyn Report, gate: &Gate) {
    let value = valid("result", &report.json());
    assert_eq!(value["gate"]["verdict"], "failed");
    let conditions = value["gate"]["conditions"].as_array().unwrap();
    assert_eq!(conditions.len(), gate.conditions.len(), "{kind}");
    assert_eq!(conditions[0]["failed"][0]["why"], gate.conditions[0].failed[0].why.as_str());
    assert!(conditions[0]["failed"][0]["value"].is_number(), "{value:#}");
    assert_eq!(conditions[1]["kept"].as_array().map(Vec::len), Some(gate.conditions[1].kept.len()));
    let page = report.html();
    let heading = page.find("Conditions: FAILED").expect(kind);
    let table = page.find("<table").unwrap_or(usize::MAX);
    assert!(heading < table, "{kind}: the conditions are above all tables");
    let escaped = |line: &String| line.replace('>', "&gt;").replace('<', "&lt;");
    for line in gate_lines(gate) {
        assert!(page.contains(&escaped(&line)), "{kind}: {line} is not in {page}");
        assert!(report.markdown().contains(&line.replace('<', "&lt;")), "{kind}: {line}");
    }
}

#[test]
fn every_verb_has_its_conditions_in_json_and_documents() {
    let all = conditions(&["errors of go/net > 1", "req/s < 1k"]);
    let mut journal = pair(0.8);
    alter(&mut journal, "go/net", |it| it.load.errors.timeout = 3);
    let analysis = Analysis::of(&journal);
    let gate = of_run(&analysis, &all).unwrap();
    let facts = Facts { gate: Some(&gate), ..Facts::default() };
    assert_has_conditions("report", &Details { analysis: &analysis, metric: None, facts }, &gate);
    assert!(screen::page(&analysis, &facts).contains(&gate_lines(&gate).join("\n")));

    let result = LoadResult { report: load(), ..LoadResult::default() };
    let gate = load::gate(&result.report, &conditions(&["p99 > 1ms", "errors > 20"])).unwrap();
    let report = Load { result: &result, machine: None, gate: Some(&gate) };
    assert_has_conditions("load", &report, &gate);
    assert_eq!(LoadResult::parse(&report.json()).unwrap().unwrap(), result, "it reads back");

    let side = LoadSide { name: "x", result: &result, environment: None };
    let mut compared = compare_loads(&side, &side, &CompareOptions::default()).unwrap();
    compared.gate = Some(gate.clone());
    assert_has_conditions("compare-loads", &compared, &gate);

    let swept = swept();
    let tuned = Tuned::of(&swept).unwrap();
    let gate = tune::gate(&tuned, &conditions(&["req/s < 110k", "req/s < 1k"])).unwrap();
    assert_has_conditions("tune", &Tuned { gate: Some(gate.clone()), ..tuned }, &gate);
}
