//! Each function with every character that may have a meaning, read back where there is a reader.

use super::*;
use crate::{
    exposition::{Exposition, Kind},
    format::csv::record,
    junit::{self, Case, CaseState},
};
use quick_xml::{Reader, escape::unescape, events::Event};
use wirebench_schema::printable::printable_json;

/// Every character of the planes that have those of control, in front of, behind and between signs with a meaning.
fn texts() -> impl Iterator<Item = String> {
    ('\0'..='\u{2fff}').map(|it| format!("{it}=1{it}|\\{it}\\|`<\"{it}"))
}

fn is_safe(text: &str) -> bool {
    !text.contains(is_unsafe)
}

#[test]
fn no_character_commands_a_terminal_or_turns_the_direction_of_writing() {
    let marks = ['\u{61c}', '\u{200e}', '\u{200f}', '\u{2028}', '\u{2029}', '\u{202e}', '\u{2066}'];
    assert!(marks.into_iter().all(is_unsafe));
    for text in texts() {
        let shown = printable(&text);
        assert!(
            is_safe(&shown) && !shown.contains(|it: char| it.is_control() && !"\n\t".contains(it))
        );
        assert!(is_safe(&html(&text)), "{text:?}");
        let json = printable_json(&serde_json::to_string(&text).unwrap());
        assert!(is_safe(&json) && !json.contains('\n'), "{text:?}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }
}

#[test]
fn markdown_keeps_a_text_in_its_line_and_a_cell_in_its_column() {
    for text in texts() {
        for written in [markdown(&text), markdown_cell(&text)] {
            let has_control = written.contains(char::is_control);
            assert!(is_safe(&written) && !has_control && !written.contains("<\""), "{written:?}");
        }
        let cell = markdown_cell(&text);
        let mut signs = cell.chars();
        while let Some(sign) = signs.next() {
            assert_ne!(sign, '|', "{cell:?} has another column");
            if sign == '\\' {
                signs.next();
            }
        }
        let block = markdown_block(&format!("````\n{text}"));
        assert!(block.starts_with("`````text\n") && block.ends_with("\n`````"), "{block}");
    }
}

#[test]
fn csv_reads_back_and_is_no_formula() {
    for text in texts() {
        for text in [text.clone(), format!("={text}"), format!("-{text}"), format!("\t{text}")] {
            let line = record(["a".to_owned(), text.clone()].into_iter());
            let mut reader =
                csv::ReaderBuilder::new().has_headers(false).from_reader(line.as_bytes());
            let record = reader.records().next().unwrap().unwrap();
            let (read, shown) = (&record[1], printable(&text));
            assert!(read == shown || *read == format!("'{shown}"), "{text:?}: {read:?}");
            assert!(!read.starts_with(['=', '+', '-', '@', '\t', '\r']), "{read:?}");
        }
    }
    assert_eq!([csv("-1.5"), csv("+x")], ["-1.5", "'+x"]);
}

#[test]
fn labels_of_openmetrics_read_back() {
    for text in texts() {
        let mut exposition = Exposition::new();
        exposition.family(Kind::Gauge, "a", "", &text);
        exposition.sample(&[("name", text.clone())], 1);
        let written = exposition.end();
        assert_eq!(written.lines().count(), 4, "{written}");
        let sample = written.lines().nth(2).unwrap();
        let label = sample.strip_prefix("a{name=\"").unwrap().strip_suffix("\"} 1").unwrap();
        let (mut read, mut signs) = (String::new(), label.chars());
        while let Some(sign) = signs.next() {
            read.push(match sign {
                '\\' => match signs.next().unwrap() {
                    'n' => '\n',
                    it => {
                        assert!("\\\"".contains(it), "{label:?} has an unknown escape");
                        it
                    }
                },
                sign => {
                    assert_ne!(sign, '"', "{label:?} has an end within");
                    sign
                }
            });
        }
        assert_eq!(read, printable(&text));
    }
}

#[test]
fn junit_reads_back() {
    for text in texts() {
        let case = Case {
            class: text.clone(),
            name: text.clone(),
            state: CaseState::Failed(text.clone()),
        };
        let xml = junit::text(&text, &[case]);
        assert!(is_safe(&xml), "{xml:?}");
        let mut reader = Reader::from_str(&xml);
        let (mut read, mut names) = (String::new(), Vec::new());
        loop {
            match reader.read_event().unwrap() {
                Event::Start(it) if it.name().as_ref() == "testcase" => {
                    let attribute = it.try_get_attribute("name").unwrap().unwrap();
                    names.push(unescape(&attribute.value).unwrap().into_owned());
                }
                Event::Text(it) => read += &it,
                Event::GeneralRef(it) => read += &unescape(&format!("&{};", &*it)).unwrap(),
                Event::Eof => break,
                _ => {}
            }
        }
        assert_eq!(names, [printable(&text).replace(['\n', '\t'], " ")]);
        assert_eq!(read.trim_matches('\n'), printable(&text).trim_matches('\n'));
    }
    assert!(!junit::text("\u{fffe}\u{ffff}", &[]).contains(['\u{fffe}', '\u{ffff}']));
}
