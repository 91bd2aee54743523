//! What `ab` prints: a few lines and its sentence.

use super::*;
use wirebench_schema::labels::Labels;

#[test]
fn the_page_has_the_usual_figures_two_findings_and_the_sentence() {
    let figures = of(&costs(1.052, 1.0), &[]).page(None);
    let shared = ReasonKind::SplitCore.reason(Weight::Note, None, "a shared core");
    let page = of(&with_reason(costs(1.052, 1.0), &shared), &["cpu > +3%", "p99 > +3%"]).page(None);
    let lines: Vec<&str> = page.lines().collect();
    // A heading, three figures, two conditions, a finding and the sentence.
    assert!(
        lines.len() == 8 && lines[..7].iter().all(|line| line.chars().count() <= 100),
        "{page}"
    );
    assert_golden_cases("ab/pages.txt", [("figures", figures), ("conditions and remarks", page)]);
}

#[test]
fn the_first_line_of_the_page_is_the_measured_version() {
    let mut journal = costs(1.052, 1.0);
    let without = of(&journal, &[]).page(None);
    journal.start.labels = Labels { label: Some("v1.2".to_owned()), revision: Some("1a2b".into()) };
    let page = of(&journal, &[]).page(None);
    assert_eq!(page, format!("label v1.2, revision 1a2b\n{without}"));
}

#[test]
fn a_p99_of_few_samples_has_a_sign_in_every_form() {
    let mut journal = costs(1.052, 1.0);
    alter_runs(&mut journal, |_| true, |it| it.load.latency.as_mut().unwrap().count = 900);
    let ab = of(&journal, &[]);
    let forms = [ab.page(None), ab.details(), Format::Html.write(&ab, None).text];
    assert!(
        forms.iter().all(|it| it.contains("1.50 ms?") && it.contains("beyond it")),
        "{forms:?}"
    );
}
