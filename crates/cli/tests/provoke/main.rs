//! Provokes every fault that can be provoked: a real `wirebench run` on servers and machines that are
//! faulty on purpose. Each fault must be reported with its kind of reason, and the good server in the
//! same run must not have that reason.
//!
//! This program is its own faulty servers and busy neighbours, by the name under which it is started;
//! so it has no usual test harness. `cargo test -p wirebench --test provoke` prints a row of a table
//! for each fault. It measures nothing: what it times means nothing.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod bench;
mod cases;
mod faulty;
mod machine;
mod unsteady;
#[allow(dead_code, reason = "the other tests use what these do not")]
#[path = "../it/world.rs"]
mod world;

use libtest_mimic::{Arguments, Trial};
use std::{path::Path, process::ExitCode};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    let name = Path::new(&words[0]).file_name().unwrap().to_string_lossy().into_owned();
    if let Some(fault) = faulty::Fault::of(&name) {
        return faulty::serve(fault, &words[1]);
    }
    if name == machine::SPINNER {
        return machine::spin(&words[1..]);
    }
    let mut arguments = Arguments::from_args();
    // They use the same CPUs, and neighbours of one case would be those of another one too.
    arguments.test_threads = Some(1);
    let trials = cases::all().into_iter().map(|case| {
        let name = case.name.replace(' ', "_");
        Trial::test(name, move || bench::provoke(&case).map_err(Into::into))
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}
