//! Tests of the recorder: what belongs to which slice, and what is a sample.

use super::*;
use crate::codec::Persistence;
use wirebench_schema::load::LoadModel;

const TIMEOUT_NS: u64 = 2_000_000_000;

const REPLY: Reply = Reply {
    status: Some(200),
    interim_replies: 0,
    persistence: Persistence::Keep,
    check: Check::Slow,
};

fn recorder() -> Recorder {
    Recorder::new(Histograms::new(&LoadModel::Closed, TIMEOUT_NS), TIMEOUT_NS, Sampling::Replies)
}

fn stamp(begun_ns: u64) -> Stamp {
    Stamp { due_ns: begun_ns, begun_ns }
}

fn of_window(recorder: &mut Recorder) -> Vec<Slice> {
    recorder.take_full().filter(|slice| slice.phase == Some(Phase::Window)).collect()
}

#[test]
fn every_event_belongs_to_the_phase_in_which_it_happens() {
    let mut recorder = recorder();
    recorder.failed(Failure::Refused, 0);
    recorder.begin_warmup(1);
    recorder.reply(REPLY, stamp(0), 5);
    recorder.open_window(10);
    recorder.reply(REPLY, stamp(10), 15);
    recorder.received(9);
    recorder.sent(3);
    recorder.status(200, 1);
    recorder.close_window(20);
    recorder.reply(REPLY, stamp(20), 25);
    recorder.failed(Failure::Reset, 0);
    let slices: Vec<_> = recorder.take_full().collect();
    let phases: Vec<_> = slices.iter().map(|slice| slice.phase).collect();
    assert_eq!(phases, [None, Some(Phase::Warmup), Some(Phase::Window)]);
    assert_eq!((slices[0].counts.errors.refused, slices[1].counts.requests), (1, 1));
    let window = &slices[2];
    assert_eq!(
        (window.counts.requests, window.latency.len(), window.counts.errors.reset),
        (1, 1, 0)
    );
    assert_eq!((window.counts.bytes_received, window.counts.bytes_sent), (9, 3));
    assert_eq!(window.counts.status_classes, [1, 1, 0, 0, 0]);
    assert_eq!((window.start_ns, window.end_ns), (10, 20));
}

#[test]
fn a_slice_ends_on_its_grid_and_goes_on_when_none_is_spare() {
    let mut recorder = recorder();
    recorder.begin_warmup(0);
    recorder.open_window(0);
    recorder.reply(REPLY, stamp(0), 1);
    recorder.reply(REPLY, stamp(0), 3 * SLICE_NS + 5);
    recorder.reply(REPLY, stamp(0), 4 * SLICE_NS + 5);
    recorder.close_window(5 * SLICE_NS + 1);
    let slices = of_window(&mut recorder);
    let parts: Vec<_> =
        slices.iter().map(|slice| (slice.start_ns, slice.end_ns, slice.counts.requests)).collect();
    // Two slices were spare and the edges took both, so the window is one slice.
    assert_eq!(parts, [(0, 5 * SLICE_NS + 1, 3)]);
}

#[test]
fn a_slice_that_comes_back_is_used_for_the_next() {
    let mut recorder = recorder();
    recorder.begin_warmup(0);
    recorder.open_window(0);
    for mut slice in recorder.take_full().collect::<Vec<_>>() {
        slice.clear();
        recorder.give_spare(slice);
    }
    recorder.reply(REPLY, stamp(0), 1);
    recorder.reply(REPLY, stamp(0), 3 * SLICE_NS + 5);
    recorder.close_window(4 * SLICE_NS);
    let slices = of_window(&mut recorder);
    let parts: Vec<_> =
        slices.iter().map(|slice| (slice.start_ns, slice.end_ns, slice.counts.requests)).collect();
    assert_eq!(parts, [(0, 3 * SLICE_NS, 1), (3 * SLICE_NS, 4 * SLICE_NS, 1)]);
}

#[test]
fn a_timeout_is_a_sample_at_the_timeout() {
    let mut recorder = recorder();
    recorder.begin_warmup(0);
    recorder.open_window(0);
    recorder.timed_out(stamp(3));
    recorder.close_window(9);
    let slices = of_window(&mut recorder);
    let slice = &slices[0];
    assert_eq!((slice.counts.timeouts, slice.latency.len(), slice.counts.requests), (1, 1, 0));
    assert!(slice.latency.equivalent(slice.latency.max(), TIMEOUT_NS));
}

#[test]
fn the_first_failure_of_a_kind_is_its_example() {
    let mut recorder = recorder();
    recorder.failed(Failure::Surplus(1), 2);
    recorder.failed(Failure::Surplus(2), 0);
    recorder.begin_warmup(0);
    let slice = recorder.take_full().next().unwrap();
    assert_eq!((slice.counts.errors.surplus, slice.counts.errors.lost), (2, 2));
    assert_eq!(slice.counts.examples.iter().flatten().collect::<Vec<_>>(), [&Failure::Surplus(1)]);
}
