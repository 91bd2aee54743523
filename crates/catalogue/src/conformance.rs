//! The conformance checks of a subject. The checks themselves know servers, but no subjects.

use std::sync::atomic::AtomicBool;
use wirebench_schema::scenario::Scenario;
use wirebench_server::launch::Launcher;
use wirebench_verify::{Asked, Checked, verify};

use crate::subject::Subject;

/// Runs all checks of one scenario of a subject, as [`verify`](fn@verify) does; the conversation with as many
/// `workers` as will be measured, and the scenario `requests` with what is `asked`.
pub fn verify_subject(
    launcher: &Launcher,
    subject: &Subject,
    scenario: Scenario,
    workers: u32,
    asked: &Asked<'_>,
    stop: &AtomicBool,
    observe: &mut dyn FnMut(&Checked),
) -> Vec<Checked> {
    let request = subject.request(scenario, workers);
    verify(launcher, &request, (subject.declared_mechanism(), asked), stop, observe)
}
