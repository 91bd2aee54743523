//! A server that fails a check while others are checked is checked again alone, and the second result counts.

use crate::world::{World, program};

/// A server that answers wrongly when it is started for the first time.
fn wrong_once(mark: &str) -> String {
    format!(
        "sh -c 'mkdir {mark} 2>/dev/null && scenario=echo || scenario=hello; exec {} null-server epoll \
         $scenario $0 $1 $2' {{host}} {{port}} {{workers}}",
        program().display()
    )
}

#[test]
fn verify_counts_the_second_result() {
    let world = World::new();
    let [first, second] = ["a", "b"].map(wrong_once);
    let outcome =
        world.wirebench(&["verify", "-j2", "--server", &first, "--server", &second]).ended(0);
    assert_eq!(outcome.stdout.matches("alone it did not fail").count(), 2, "{outcome:#?}");
    assert!(outcome.stdout.contains(", 0 failed, "), "{outcome:#?}");
    let world = World::new();
    let outcome = world.wirebench(&["verify", "--server", &first]);
    assert_eq!(outcome.code, Some(1), "there were no others: {outcome:#?}");
}

#[test]
fn run_measures_what_fails_only_beside_others() {
    let world = World::new();
    let [first, second] = ["a", "b"].map(wrong_once);
    let servers = ["--server", &first, "--server", &second];
    let short = ["--phase", "saturate", "--cohorts", "1", "--rounds", "2", "--no-pin"];
    let outcome = world.wirebench(&[&["run"], &servers[..], &short].concat());
    let journal = world.journal();
    assert!(journal.verified.iter().all(|it| it.failed.is_empty()), "{outcome:#?}");
    for name in ["own/sh", "own/sh-2"] {
        assert!(journal.verified.iter().any(|it| it.variant.to_string() == name), "{outcome:#?}");
        assert!(journal.runs.iter().any(|it| it.variant.to_string() == name), "{outcome:#?}");
    }
}
