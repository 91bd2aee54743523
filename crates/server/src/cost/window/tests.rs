//! The CPU time of windows with fixture looks and readings.

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

fn readings(clocks: &[(Option<u64>, Option<u64>)]) -> EdgeClocks {
    let ns = |ms: &Option<u64>| ms.map(|ms| ms * MS);
    EdgeClocks {
        start_ns: clocks.iter().map(|(start, _)| ns(start)).collect(),
        end_ns: clocks.iter().map(|(_, end)| ns(end)).collect(),
    }
}

/// Milliseconds of CPU time, lost processes, and whether processes changed.
fn cpu(course: &Course, ignoring: &[i32]) -> (u64, u64, bool) {
    let cpu = course.cpu(&ignoring.iter().copied().collect());
    (cpu.cpu_ns / MS, cpu.lost, cpu.changed)
}

#[test]
fn of_processes_that_are_known_the_readings_at_the_edges_decide() {
    let known = look(0, &[(SERVER, GUARD, 5, 0)]);
    let readings = readings(&[(Some(100), Some(600))]);
    // The runner looks late at both edges.
    let before = look(0, &[(SERVER, GUARD, 120, 0)]);
    let after = look(0, &[(SERVER, GUARD, 630, 0)]);
    let course = Course::with_readings(&known, &readings, before, &[], (after.clone(), after));
    assert_eq!(cpu(&course, &[]), (500, 0, false));
}

#[test]
fn a_process_that_began_in_the_window_counts_from_its_beginning() {
    let known = look(0, &[(SERVER, GUARD, 5, 0)]);
    let readings = readings(&[(Some(100), Some(600))]);
    let before = look(0, &[(SERVER, GUARD, 100, 0)]);
    let after = look(0, &[(SERVER, GUARD, 600, 0), (3, SERVER, 70, 0)]);
    let course = Course::with_readings(&known, &readings, before, &[], (after.clone(), after));
    assert_eq!(cpu(&course, &[]), (570, 0, true));
}

#[test]
fn a_process_that_began_in_the_warm_up_counts_from_the_look_at_the_beginning() {
    let known = look(0, &[(SERVER, GUARD, 5, 0)]);
    let readings = readings(&[(Some(100), Some(600))]);
    let before = look(0, &[(SERVER, GUARD, 100, 0), (3, SERVER, 30, 0)]);
    let after = look(0, &[(SERVER, GUARD, 600, 0), (3, SERVER, 70, 0)]);
    let course = Course::with_readings(&known, &readings, before, &[], (after.clone(), after));
    assert_eq!(cpu(&course, &[]), (540, 0, true));
}

#[test]
fn children_that_ended_in_the_window_and_were_waited_for_count_in_their_parents() {
    let before = look(0, &[(SERVER, GUARD, 100, 50), (3, SERVER, 40, 0), (4, SERVER, 0, 0)]);
    // Process 4 was reaped by the guard, because its parent had changed; 5 came and went unseen.
    let after = look(10, &[(SERVER, GUARD, 200, 50 + 90 + 30)]);
    assert_eq!(cpu(&Course::between(before, after), &[]), (100 + 90 + 30 + 10 - 40, 0, true));
}

/// The generator closes its connections, and a server with a process for each ends them.
#[test]
fn children_that_end_after_the_window_count_once() {
    let known = look(0, &[(SERVER, GUARD, 5, 0), (3, SERVER, 0, 0)]);
    let readings = readings(&[(Some(10), Some(20)), (Some(300), Some(500))]);
    let before = look(0, &[(SERVER, GUARD, 10, 0), (3, SERVER, 300, 0)]);
    // The kernel shows what was reaped in ticks, rounded down.
    for reaped_ms in [500, 490] {
        let settled = look(0, &[(SERVER, GUARD, 20, reaped_ms)]);
        for after in [look(0, &[(SERVER, GUARD, 20, 0), (3, SERVER, 500, 0)]), settled.clone()] {
            let ends = (after, settled.clone());
            let course = Course::with_readings(&known, &readings, before.clone(), &[], ends);
            assert_eq!(cpu(&course, &[]), (210, 0, false));
        }
    }
}

#[test]
fn children_that_are_never_waited_for_keep_what_was_read_at_the_edges() {
    let known = look(0, &[(SERVER, GUARD, 5, 0), (3, SERVER, 0, 0)]);
    let readings = readings(&[(Some(10), Some(20)), (Some(300), Some(500))]);
    let before = look(0, &[(SERVER, GUARD, 10, 0), (3, SERVER, 300, 0)]);
    let settled = look(0, &[(SERVER, GUARD, 20, 0)]);
    let ends = (settled.clone(), settled);
    let course = Course::with_readings(&known, &readings, before, &[], ends);
    // Whether `SIGCHLD` is ignored, which shows, or `SA_NOCLDWAIT` is set, which does not.
    assert_eq!(cpu(&course, &[SERVER]), (210, 0, false));
    assert_eq!(cpu(&course, &[]), (210, 0, false));
}

#[test]
fn children_that_ended_in_the_window_and_are_nowhere_are_lost() {
    let known = look(0, &[(SERVER, GUARD, 5, 0)]);
    let readings = readings(&[(Some(10), Some(20))]);
    let before = look(0, &[(SERVER, GUARD, 10, 0), (3, SERVER, 300, 0)]);
    let meanwhile = [look(0, &[(SERVER, GUARD, 15, 0), (3, SERVER, 400, 0), (4, SERVER, 1, 0)])];
    let settled = look(0, &[(SERVER, GUARD, 20, 0)]);
    let course = |meanwhile: &[Look], before: &Look| {
        let ends = (settled.clone(), settled.clone());
        Course::with_readings(&known, &readings, before.clone(), meanwhile, ends)
    };
    // By `SA_NOCLDWAIT`: the parents' times have not grown by what was seen of the children.
    assert_eq!(cpu(&course(&meanwhile, &before), &[]), (10 + 100 + 1, 2, true));
    // By `SIGCHLD`, however little was seen.
    let before = look(0, &[(SERVER, GUARD, 10, 0)]);
    assert_eq!(cpu(&course(&meanwhile, &before), &[SERVER]), (10 + 400 + 1, 2, true));
    let short = [look(0, &[(SERVER, GUARD, 15, 0), (4, SERVER, 0, 0)])];
    assert_eq!(cpu(&course(&short, &before), &[SERVER]), (10, 1, true));
    // One that is still there at the end is exact, but not the only one.
    let after = look(0, &[(SERVER, GUARD, 20, 0), (4, SERVER, 3, 0)]);
    let ends = (after, settled.clone());
    let at_the_end = Course::with_readings(&known, &readings, before.clone(), &[], ends);
    assert_eq!(cpu(&at_the_end, &[SERVER]), (10 + 3, 1, true));
    assert_eq!(cpu(&at_the_end, &[]), (10 + 3, 0, true));
    // A child so short may be in no tick of its parent.
    assert_eq!(cpu(&course(&short, &before), &[]), (10, 0, true));
}

#[test]
fn a_process_that_waits_to_be_reaped_counts_once_whenever_that_happens() {
    // It ended in the window, and nothing waits for it.
    let before = look(0, &[(SERVER, GUARD, 10, 0), (3, SERVER, 300, 0)]);
    let zombie = look(0, &[(SERVER, GUARD, 20, 0), (3, SERVER, 350, 0)]);
    assert_eq!(cpu(&Course::between(before, zombie.clone()), &[]), (60, 0, false));
    // It had ended before, and is waited for in the window.
    let reaped = look(0, &[(SERVER, GUARD, 30, 350)]);
    assert_eq!(cpu(&Course::between(zombie, reaped), &[]), (10, 0, true));
}

#[test]
fn a_number_that_another_process_has_by_now_is_another_process() {
    let before = look(0, &[(SERVER, GUARD, 10, 0), (3, SERVER, 300, 0)]);
    let mut after = look(0, &[(SERVER, GUARD, 20, 320)]);
    let used = Used { parent: SERVER, cpu_ns: 4 * MS, reaped_ns: 0, lives: true };
    after.processes.insert(Key { pid: 3, began: 9 }, used);
    assert_eq!(cpu(&Course::between(before, after), &[]), (10 + 20 + 4, 0, true));
}
