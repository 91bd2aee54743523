//! JUnit XML, which most servers for continuous integration show: the checks of `verify`, and the
//! conditions of `--fail-if` with a case for each cell.

use maud::{PreEscaped, html};

use crate::{
    escape::{xml, xml_attribute},
    view::{Gate, Hit},
};

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
#[must_use]
pub fn text(suite: &str, cases: &[Case]) -> String {
    let count = |is_meant: fn(&CaseState) -> bool| {
        cases.iter().filter(|case| is_meant(&case.state)).count()
    };
    let failures = count(|it| matches!(it, CaseState::Failed(_)));
    let skipped = count(|it| matches!(it, CaseState::Skipped(_)));
    let suite = xml_attribute(suite);
    let (declaration, line) = ("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", PreEscaped("\n"));
    let written = html! {
        (PreEscaped(declaration))
        testsuites name=(suite) tests=(cases.len()) failures=(failures) errors="0" {
            (line)
            testsuite name=(suite) tests=(cases.len()) failures=(failures) errors="0" skipped=(skipped) {
                (line)
                @for case in cases {
                    testcase classname=(xml_attribute(&case.class)) name=(xml_attribute(&case.name)) {
                        @match &case.state {
                            CaseState::Passed => {}
                            CaseState::Failed(text) => { failure message=(first_line(text)) { (xml(text)) } }
                            CaseState::Skipped(text) => { skipped message=(first_line(text)) { (xml(text)) } }
                        }
                    }
                    (line)
                }
            }
            (line)
        }
        (line)
    };
    written.into_string()
}

fn first_line(text: &str) -> String {
    xml_attribute(text.lines().next().unwrap_or_default())
}

/// A case for each condition and cell, and one for each cell that lost its figures.
#[must_use]
pub fn of_gate(gate: &Gate) -> Vec<Case> {
    let mut cases = Vec::new();
    for result in &gate.conditions {
        let mut add = |hits: &[Hit], state: fn(String) -> CaseState| {
            cases.extend(hits.iter().map(|hit| Case {
                class: result.condition.to_string(),
                name: hit.cell.as_ref().map_or_else(|| "load".to_owned(), ToString::to_string),
                state: state(hit.sentence()),
            }));
        };
        add(&result.failed, CaseState::Failed);
        add(&result.inconclusive, CaseState::Skipped);
        add(&result.kept, |_| CaseState::Passed);
        if result.looked_at == 0 {
            cases.push(Case {
                class: result.condition.to_string(),
                name: "all cells".to_owned(),
                state: CaseState::Skipped("no cell has this metric".to_owned()),
            });
        }
    }
    cases.extend(gate.lost.iter().map(|it| Case {
        class: "has figures".to_owned(),
        name: it.cell.to_string(),
        state: CaseState::Failed(it.reason.clone()),
    }));
    cases
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::assert_golden;

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
}
