//! JUnit XML, which most servers for continuous integration show: the checks of `verify`, and the
//! conditions of `--fail-if` with a case for each cell.

use quick_xml::{
    Writer,
    events::{BytesDecl, BytesText, Event},
};
use std::io;

use crate::compare::{Gate, Hit};

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Case {
    /// What is tested; cases with the same class belong together.
    pub class: String,
    pub name: String,
    pub state: CaseState,
}

/// What became of a test case.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum CaseState {
    Passed,
    Failed(String),
    /// It neither passed nor failed, with the reason.
    Skipped(String),
}

/// A file with one suite of these cases.
///
/// # Panics
///
/// Never: writing into memory does not fail.
#[must_use]
pub fn text(suite: &str, cases: &[Case]) -> String {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    document(&mut writer, suite, cases).expect("memory can be written");
    String::from_utf8_lossy(&writer.into_inner()).into_owned() + "\n"
}

fn document(writer: &mut Writer<Vec<u8>>, suite: &str, cases: &[Case]) -> io::Result<()> {
    let count = |test: fn(&CaseState) -> bool| {
        cases.iter().filter(|case| test(&case.state)).count().to_string()
    };
    let failures = count(|it| matches!(it, CaseState::Failed(_)));
    let skipped = count(|it| matches!(it, CaseState::Skipped(_)));
    let suite = allowed(suite);
    let counts = [
        ("name", suite.as_str()),
        ("tests", &cases.len().to_string()),
        ("failures", &failures),
        ("errors", "0"),
    ];
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let suites = writer.create_element("testsuites").with_attributes(counts);
    suites.write_inner_content(|writer| {
        let suite = writer.create_element("testsuite").with_attributes(counts);
        let suite = suite.with_attribute(("skipped", skipped.as_str()));
        suite.write_inner_content(|writer| cases.iter().try_for_each(|it| case(writer, it)))?;
        Ok(())
    })?;
    Ok(())
}

fn case(writer: &mut Writer<Vec<u8>>, case: &Case) -> io::Result<()> {
    let (class, name) = (allowed(&case.class), allowed(&case.name));
    let element = writer.create_element("testcase");
    let element = element.with_attributes([("classname", class.as_str()), ("name", &name)]);
    let (kind, text) = match &case.state {
        CaseState::Passed => return element.write_empty().map(drop),
        CaseState::Failed(text) => ("failure", allowed(text)),
        CaseState::Skipped(text) => ("skipped", allowed(text)),
    };
    let first = text.lines().next().unwrap_or_default();
    element.write_inner_content(|writer| {
        let inner = writer.create_element(kind).with_attribute(("message", first));
        inner.write_text_content(BytesText::new(&text)).map(drop)
    })?;
    Ok(())
}

/// What XML can hold: other control characters are shown as Rust escapes them.
fn allowed(text: &str) -> String {
    let is_allowed = |sign: char| {
        matches!(sign, '\t' | '\n')
            || !(sign.is_control() || matches!(sign, '\u{fffe}' | '\u{ffff}'))
    };
    let shown = |sign: char| {
        if is_allowed(sign) { sign.to_string() } else { sign.escape_default().to_string() }
    };
    text.chars().map(shown).collect()
}

/// A case for each condition and cell, and one for each cell that lost its figures.
#[must_use]
pub fn of_gate(gate: &Gate) -> Vec<Case> {
    let mut cases = Vec::new();
    for result in &gate.conditions {
        let mut add = |hits: &[Hit], state: fn(String) -> CaseState| {
            cases.extend(hits.iter().map(|hit| Case {
                class: result.condition.to_string(),
                name: hit.cell.to_string(),
                state: state(format!("{}: {}", hit.cell, hit.why)),
            }));
        };
        add(&result.failed, CaseState::Failed);
        add(&result.inconclusive, CaseState::Skipped);
        add(&result.passed, |_| CaseState::Passed);
        if result.looked_at == 0 {
            cases.push(Case {
                class: result.condition.to_string(),
                name: "all cells".to_owned(),
                state: CaseState::Skipped("no cell has this metric".to_owned()),
            });
        }
    }
    cases.extend(gate.lost.iter().map(|(cell, reason)| Case {
        class: "has figures".to_owned(),
        name: cell.to_string(),
        state: CaseState::Failed(reason.clone()),
    }));
    cases
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::assert_golden;
    use quick_xml::Reader;

    fn case(name: &str, state: CaseState) -> Case {
        Case { class: "c/epoll hello".to_owned(), name: name.to_owned(), state }
    }

    #[test]
    fn every_state_has_its_element_and_is_counted() {
        let cases = [
            case("ready", CaseState::Passed),
            case("body", CaseState::Failed("expected `a`\nand saw `b`".to_owned())),
            case("half-close", CaseState::Skipped("declared by the entry".to_owned())),
        ];
        assert_golden("junit.xml", &text("wirebench verify", &cases));
    }

    #[test]
    fn hostile_text_stays_text() {
        let hostile = "</failure><script>\"&'\u{1b}[31m\0\u{202e}\u{ffff}";
        let cases = [case(hostile, CaseState::Failed(hostile.to_owned()))];
        let xml = text(hostile, &cases);
        assert!(!xml.contains("<script>") && !xml.contains(['\0', '\u{1b}', '\u{ffff}']), "{xml}");
        let mut reader = Reader::from_str(&xml);
        let mut elements = Vec::new();
        loop {
            match reader.read_event().unwrap() {
                Event::Start(it) | Event::Empty(it) => {
                    it.attributes().for_each(|attribute| drop(attribute.unwrap()));
                    elements.push(it.name().as_ref().to_owned());
                }
                Event::Eof => break,
                _ => {}
            }
        }
        assert_eq!(elements, ["testsuites", "testsuite", "testcase", "failure"]);
    }
}
