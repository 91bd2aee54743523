//! The list of kinds, its table in the documents, and what weights make of a run.

use super::*;

#[test]
fn every_kind_has_its_name_in_files_and_its_row_in_the_documents() {
    let formats = include_str!("../../../../../docs/formats.md");
    for kind in ReasonKind::ALL {
        assert_eq!(serde_json::to_string(&kind).unwrap(), format!("\"{kind}\""));
        let guide = kind.guide();
        let figure = if guide.figure.is_empty() { "-" } else { guide.figure };
        let cells = [guide.says, guide.weight, figure, guide.next_step];
        let row = format!("| `{kind}` | {} |", cells.join(" | "));
        assert!(formats.lines().any(|line| line == row), "docs/formats.md lacks this row:\n{row}");
    }
    let rows = formats.lines().skip_while(|line| !line.starts_with("| `not-pinned`"));
    let rows = rows.take_while(|line| line.starts_with("| `")).count();
    assert_eq!(rows, ReasonKind::ALL.len(), "docs/formats.md has rows of kinds that are gone");
}

#[test]
fn the_heaviest_reason_decides() {
    let reason = |weight| ReasonKind::Errors.reason(weight, None, "");
    assert_eq!(Weight::heaviest(&[]), None);
    let both = [reason(Weight::Limit), reason(Weight::Note)];
    assert_eq!(Weight::heaviest(&both), Some(Weight::Limit));
    let all = [reason(Weight::Note), reason(Weight::Invalid), reason(Weight::Limit)];
    assert_eq!(Weight::heaviest(&all), Some(Weight::Invalid));
}

#[test]
fn a_run_has_the_weight_of_its_reasons_and_without_figures_none() {
    let mut run: Run = serde_json::from_value(serde_json::json!({
        "block": 0, "position": 0, "variant": "own/x", "workload": "hello", "started": "", "workers": 1,
        "server_command": [], "generator_command": [], "outcome": {"failed": {"reason": "", "server_stderr": ""}},
    }))
    .unwrap();
    assert_eq!(run.weight(), None);
    let idle = |weight| crate::journal::IdleMeasurement {
        reasons: vec![ReasonKind::NotSteady.reason(weight, None, "")],
        ..Default::default()
    };
    for weight in [Weight::Note, Weight::Invalid] {
        run.outcome = Outcome::Idle(Box::new(idle(weight)));
        assert_eq!(run.weight(), Some(weight));
    }
}

#[test]
fn a_reason_reads_back_and_one_of_an_older_journal_keeps_its_side_and_its_example() {
    let new = ReasonKind::Neighbour.reason(Weight::Note, Some(0.1), "").of(RunSide::Server).by(&[]);
    let json = serde_json::to_string(&new).unwrap();
    assert_eq!(serde_json::from_str::<Reason>(&json).unwrap(), new);
    let older = |kind: &str, text: &str| -> Reason {
        let json =
            serde_json::json!({ "kind": kind, "weight": "invalid", "figure": 2.0, "text": text });
        serde_json::from_value(json).unwrap()
    };
    let waited =
        older("neighbour", "the generator waited 20.0 % of the window for its CPUs; stop it");
    assert_eq!((waited.side, waited.detail), (Some(RunSide::Generator), None));
    let wrong = "2 of 9 requests had a wrong reply (wrong reply: body (2 bytes) differs); run it";
    assert_eq!(
        older("wrong-replies", wrong).text(),
        "2 replies were wrong (wrong reply: body (2 bytes) differs); run `wirebench verify` on the entry"
    );
}
