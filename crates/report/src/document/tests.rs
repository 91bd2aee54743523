//! What each form writes of one document with all kinds of parts.

use super::*;
use crate::fixtures::{assert_golden_cases, difference, journal};

fn document() -> Document {
    let cell = |text: &str, notes: &[&str]| Cell {
        notes: notes.iter().map(|note| (*note).into()).collect(),
        ..text.into()
    };
    let row = |cells: [Cell; 3], is_folded| Row { cells: cells.into(), is_folded };
    let mut columns = vec![
        Column::left("server"),
        Column::right("CPU us/\nrequest"),
        Column { dispensable: Some(0), ..Column::left("why | not") },
    ];
    columns[1].group = Some("at 10k/s".to_owned());
    let rows = vec![
        row([cell("a", &["in 3 runs", "in 5 runs"]), "9.50".into(), "<b>".into()], false),
        row(["b".into(), "10.25".into(), cell("", &["late"])], true),
    ];
    let table = Table { columns, rows, folded: "more", ..Table::default() };
    let blocks = vec![
        Block::Title("The # title".to_owned()),
        Block::Origin(vec![Origin::of(&journal()).titled("old", "<a>")]),
        Block::Details(vec![Block::Lines(vec!["how".to_owned(), "where".to_owned()])]),
        Block::Table(table),
        Block::list("list", vec!["# one".to_owned(), "[two](x)".to_owned()]),
        Block::list("nothing", Vec::new()),
        Block::Preformatted("  ##\n".to_owned()),
        Block::Charted(vec![Block::line("charted")]),
        Block::Page(vec![Block::Html("<svg></svg>".to_owned())]),
        Block::Headline("a is < 2 us\u{202e}".to_owned(), Some("FAILED")),
        Block::line("its scope"),
    ];
    Document { title: "window".to_owned(), blocks }
}

#[test]
fn every_form_of_every_part() {
    let document = document();
    let colours = document.text(Paint(Look::Colours, 80));
    let others = [
        ("brief", document.brief(Paint::FILE)),
        ("colours", colours.replace('\u{1b}', "^")),
        ("20 columns", document.text(Paint(Look::Plain, 20))),
    ];
    assert_forms("document/forms.txt", &document, &others);
}

fn assert_forms(file: &str, document: &Document, others: &[(&str, String)]) {
    let text = document.text(Paint::FILE);
    let others = others.iter().map(|(name, other)| (*name, difference(&text, other)));
    let mut forms: Vec<_> = others.collect();
    forms.insert(0, ("text", text));
    forms.extend([("Markdown", document.markdown()), ("HTML", document.body().into_string())]);
    assert_golden_cases(file, forms);
}

#[test]
fn foreign_text_is_only_text_and_a_page_refers_to_no_other() {
    let foreign = "<script>alert(1)</script> http://example.org/ \u{1b}[31m\u{202e}abc & \"d\"";
    let blocks = vec![Block::line(foreign)];
    let page = Document { title: foreign.to_owned(), blocks }.html();
    assert_eq!(page.matches("<script").count(), 1, "{page}");
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{page}");
    assert!(page.contains("\u{fffd}[31m\u{fffd}abc &amp; &quot;d&quot;</p>"), "{page}");
    for reference in ["src=", "href=", "url(", "@import", "<script ", "<link"] {
        assert!(!page.contains(reference), "{reference}");
    }
}

#[test]
fn a_cell_of_several_lines_is_in_every_form_and_a_wide_table_repeats_its_names() {
    let figures = |head: &str| Column { group: Some(String::new()), ..Column::right(head) };
    let ratio = || Column { align: Align::Interval, ..Column::left("ratio") };
    let columns = vec![Column::left("row"), figures("long \nhead"), ratio(), figures("b"), ratio()];
    let cells = ["one\n  first", "1\n1000", "-\n0.5 (0.4..0.6)", "2\n20", "1.00\n1.00"];
    let rows = [cells.map(Cell::from).into()];
    let table = Table { keys: 1, ..Table::new(columns, rows) };
    let document = Document { blocks: vec![Block::Table(table)], ..Document::default() };
    let narrow = document.text(Paint(Look::Plain, 30));
    assert_forms("document/lines.txt", &document, &[("30 columns", narrow)]);
}
