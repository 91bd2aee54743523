//! What `ab` prints: a few lines and its sentence.

use super::*;

#[test]
fn the_page_has_at_most_four_lines_and_the_sentence() {
    let mut journal = costs(1.052, 1.0);
    let ab = of(&journal, &[]);
    let page = ab.page();
    let lines: Vec<&str> = page.lines().collect();
    let [head, cpu, p99, sentence] = lines[..] else { panic!("{page}") };
    assert_eq!(head.split_whitespace().collect::<Vec<_>>(), ["A", "B", "B/A"]);
    assert!(cpu.starts_with("server CPU us/request ") && cpu.contains(" +5.2 % ("), "{page}");
    assert!(p99.starts_with("p99 ") && p99.contains("1.50 ms"), "{page}");
    assert_eq!(sentence, ab.sentence());
    // Conditions and remarks take the places of further figures.
    for run in &mut journal.runs {
        run.outcome = changed(run.outcome.clone(), |it| {
            it.reasons.push(ReasonKind::SplitCore.reason(Weight::Note, None, "a shared core"));
        });
    }
    let page = of(&journal, &["cpu > +3%", "p99 > +3%"]).page();
    let lines: Vec<&str> = page.lines().collect();
    assert!(lines.len() == 5 && lines[2].starts_with("FAILED 'cpu > +3%'"), "{page}");
    assert!(lines[2].ends_with(" more: --explain)") && lines[3].contains(" note"), "{page}");
    assert!(lines.iter().take(4).all(|line| line.chars().count() <= 100), "{page}");
}
