//! The CPU time between fixture looks.

use super::{super::look::Used, *};
use std::time::Instant;

const MS: u64 = 1_000_000;
/// The number of the guard, whose children orphans are.
const GUARD: i32 = 1;
const SERVER: i32 = 2;

/// A look with these processes (number, parent, CPU time, that of its reaped children), all in
/// milliseconds.
fn look(guard_reaped_ms: u64, processes: &[(i32, i32, u64, u64)]) -> Look {
    let process = |&(pid, parent, cpu_ms, reaped_ms): &(i32, i32, u64, u64)| {
        let used = Used { parent, cpu_ns: cpu_ms * MS, reaped_ns: reaped_ms * MS, lives: true };
        (Key { pid, began: 0 }, used)
    };
    Look {
        at: Instant::now(),
        processes: processes.iter().map(process).collect(),
        guard_reaped_ns: guard_reaped_ms * MS,
    }
}

const fn between(before: Look, after: Look) -> Course {
    Course { before, after }
}

/// Milliseconds of CPU time, lost processes, and whether processes changed.
fn cpu(course: &Course, ignoring: &[i32]) -> (u64, u64, bool) {
    let cpu = course.cpu(&ignoring.iter().copied().collect());
    (cpu.cpu_ns / MS, cpu.lost, cpu.changed)
}

#[test]
fn processes_count_from_the_first_look_or_from_their_beginning() {
    let before = look(0, &[(SERVER, GUARD, 100, 0), (3, SERVER, 30, 0)]);
    let after = look(0, &[(SERVER, GUARD, 600, 0), (3, SERVER, 70, 0)]);
    assert_eq!(cpu(&between(before, after.clone()), &[]), (540, 0, false));
    let before = look(0, &[(SERVER, GUARD, 100, 0)]);
    assert_eq!(cpu(&between(before, after), &[]), (570, 0, true));
}

#[test]
fn children_that_ended_in_the_window_and_were_waited_for_count_in_their_parents() {
    let before = look(0, &[(SERVER, GUARD, 100, 50), (3, SERVER, 40, 0), (4, SERVER, 0, 0)]);
    // Process 4 was reaped by the guard, because its parent had changed; 5 came and went unseen.
    let after = look(10, &[(SERVER, GUARD, 200, 50 + 90 + 30)]);
    assert_eq!(cpu(&between(before, after), &[]), (100 + 90 + 30 + 10 - 40, 0, true));
}

/// The kernel shows what was reaped in ticks, rounded down.
#[test]
fn a_child_that_ended_counts_from_the_first_look() {
    let before = look(0, &[(SERVER, GUARD, 10, 0), (3, SERVER, 300, 0)]);
    let after = |reaped_ms| look(0, &[(SERVER, GUARD, 20, reaped_ms)]);
    assert_eq!(cpu(&between(before.clone(), after(500)), &[]), (210, 0, true));
    assert_eq!(cpu(&between(before, after(290)), &[]), (10, 0, true));
}

#[test]
fn children_that_ended_and_are_nowhere_are_lost() {
    let before = look(0, &[(SERVER, GUARD, 10, 0), (3, SERVER, 300, 0)]);
    let after = look(0, &[(SERVER, GUARD, 20, 0)]);
    // By `SA_NOCLDWAIT`, which shows only in the parents' times, and by `SIGCHLD`.
    assert_eq!(cpu(&between(before.clone(), after.clone()), &[]), (10, 1, true));
    assert_eq!(cpu(&between(before, after.clone()), &[SERVER]), (10, 1, true));
    // One that is still there is exact, but need not be the only one.
    let before = look(0, &[(SERVER, GUARD, 10, 0)]);
    let after = look(0, &[(SERVER, GUARD, 20, 0), (4, SERVER, 3, 0)]);
    assert_eq!(cpu(&between(before.clone(), after.clone()), &[SERVER]), (10 + 3, 1, true));
    assert_eq!(cpu(&between(before, after), &[]), (10 + 3, 0, true));
}

#[test]
fn a_process_that_waits_to_be_reaped_counts_once_whenever_that_happens() {
    // It ended in the window, and nothing waits for it.
    let before = look(0, &[(SERVER, GUARD, 10, 0), (3, SERVER, 300, 0)]);
    let zombie = look(0, &[(SERVER, GUARD, 20, 0), (3, SERVER, 350, 0)]);
    assert_eq!(cpu(&between(before, zombie.clone()), &[]), (60, 0, false));
    // It had ended before, and is waited for in the window.
    let reaped = look(0, &[(SERVER, GUARD, 30, 350)]);
    assert_eq!(cpu(&between(zombie, reaped), &[]), (10, 0, true));
}

#[test]
fn a_number_that_another_process_has_by_now_is_another_process() {
    let before = look(0, &[(SERVER, GUARD, 10, 0), (3, SERVER, 300, 0)]);
    let mut after = look(0, &[(SERVER, GUARD, 20, 320)]);
    let used = Used { parent: SERVER, cpu_ns: 4 * MS, reaped_ns: 0, lives: true };
    after.processes.insert(Key { pid: 3, began: 9 }, used);
    assert_eq!(cpu(&between(before, after), &[]), (10 + 20 + 4, 0, true));
}
