//! Provokes every fault that can be provoked: a real `wirebench run` on servers and machines that are
//! faulty on purpose. Each fault must be reported with its kind of reason, and the good server in the
//! same run must not have that reason.
//!
//! This program is its own faulty servers and busy neighbours, by the name under which it is started;
//! so it has no usual test harness. One fault for each reader of the kernel is a regular test; the others run with
//! `--include-ignored`, because `judge` replays their recorded evidence. `--record` writes that evidence. A row of a
//! table is printed for each reason. It measures nothing: what it times means nothing.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod bench;
mod cases;
#[path = "../../../judge/tests/evidence/file.rs"]
mod evidence_file;
mod faulty;
mod machine;
mod recording;
mod unsteady;
#[allow(dead_code, unused_imports, reason = "the other tests use what these do not")]
#[path = "../it/world.rs"]
mod world;

use libtest_mimic::{Arguments, Trial};
use std::{path::Path, process::ExitCode};

/// The argument that makes each case write its evidence.
const RECORD: &str = "--record";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    let name = Path::new(&words[0]).file_name().unwrap().to_string_lossy().into_owned();
    if let Some(fault) = faulty::Fault::of(&name) {
        return faulty::serve(fault, &words[1]);
    }
    if name == machine::SPINNER {
        return machine::spin(&words[1..]);
    }
    let records = words.iter().any(|word| word == RECORD);
    let mut arguments = Arguments::from_iter(words.into_iter().filter(|word| word != RECORD));
    // They use the same CPUs, and neighbours of one case would be those of another one too.
    arguments.test_threads = Some(1);
    let cases = cases::all();
    let list = cases.clone();
    let compared = Trial::test("every_case_is_recorded_with_its_kinds", move || {
        recording::compare(&list).map_err(Into::into)
    });
    let trials = cases.into_iter().map(|case| {
        let (name, is_regular) = (case.name.replace(' ', "_"), case.is_regular);
        let trial = Trial::test(name, move || bench::provoke(&case, records).map_err(Into::into));
        trial.with_ignored_flag(!is_regular)
    });
    let trials = trials.chain((!records).then_some(compared)).collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}
