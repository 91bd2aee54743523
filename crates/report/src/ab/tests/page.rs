//! What `ab` prints: a few lines and its sentence.

use super::*;
use wirebench_schema::labels::Labels;

#[test]
fn the_page_has_the_usual_figures_two_findings_and_the_sentence() {
    let mut journal = costs(1.052, 1.0);
    let ab = of(&journal, &[]);
    let figures = ab.page(None);
    add_reason(
        &mut journal,
        |_| true,
        &ReasonKind::SplitCore.reason(Weight::Note, None, "a shared core"),
    );
    let page = of(&journal, &["cpu > +3%", "p99 > +3%"]).page(None);
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
