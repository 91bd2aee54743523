//! The assignment of events to segments, and which events are samples.

use super::*;
use crate::codec::Persistence;
use crate::failure::Failure;
use crate::plan::Plan;
use wirebench_schema::load::{LoadConfig, LoadModel, RateCurve};

const SEGMENT_NS: u64 = 100_000_000;

const TIMEOUT_NS: u64 = 2_000_000_000;

const REPLY: Reply = Reply {
    status: Some(200),
    is_refusal: false,
    interim_replies: 0,
    persistence: Persistence::Keep,
    check: Check::Slow,
};

fn recorder() -> Recorder {
    Recorder::new(&Plan::new(&LoadConfig::default()).unwrap().params)
}

fn stamp(begun_ns: u64) -> Stamp {
    Stamp { due_ns: begun_ns, begun_ns, is_sample: true, ..Stamp::default() }
}

fn of_window(recorder: &mut Recorder) -> Vec<Segment> {
    recorder.take_full().filter(|segment| segment.phase == Some(Phase::Window)).collect()
}

#[test]
fn every_event_belongs_to_the_phase_in_which_it_happens() {
    let mut recorder = recorder();
    recorder.failed(Failure::Refused, None, 0);
    recorder.received(7);
    recorder.found(1, 2);
    recorder.begin_warmup(1);
    recorder.reply(REPLY, stamp(0), 5);
    recorder.open_window(10);
    recorder.reply(REPLY, stamp(10), 15);
    recorder.received(9);
    recorder.sent(3);
    recorder.status(200, 1);
    recorder.close_window(20);
    recorder.reply(REPLY, stamp(20), 25);
    recorder.failed(Failure::Reset, None, 0);
    let segments: Vec<_> = recorder.take_full().collect();
    let phases: Vec<_> = segments.iter().map(|segment| segment.phase).collect();
    assert_eq!(phases, [None, Some(Phase::Warmup), Some(Phase::Window)]);
    assert_eq!((segments[0].counts.errors.refused, segments[1].counts.requests), (1, 1));
    let window = &segments[2];
    assert_eq!(
        (window.counts.requests, window.latency.replies.len(), window.counts.errors.reset),
        (1, 1, 0)
    );
    assert_eq!((window.counts.bytes_received, window.counts.bytes_sent), (9, 3));
    assert_eq!((segments[0].counts.ready_found, segments[0].counts.bytes_received), (0, 0));
    assert_eq!(window.counts.status_classes, [1, 1, 0, 0, 0]);
    assert_eq!((window.start_ns, window.end_ns), (10, 20));
}

/// Beginning, end and requests of each segment of the window.
fn parts(recorder: &mut Recorder) -> Vec<(u64, u64, u64)> {
    let part = |it: &Segment| (it.start_ns, it.end_ns, it.counts.requests);
    of_window(recorder).iter().map(part).collect()
}

#[test]
fn a_segment_ends_on_its_grid_and_goes_on_when_none_is_spare() {
    let mut recorder = recorder();
    recorder.begin_warmup(0);
    recorder.open_window(0);
    recorder.reply(REPLY, stamp(0), 1);
    recorder.reply(REPLY, stamp(0), 3 * SEGMENT_NS + 5);
    recorder.reply(REPLY, stamp(0), 4 * SEGMENT_NS + 5);
    recorder.close_window(5 * SEGMENT_NS + 1);
    // Two segments were spare and the edges took both, so the window is one segment.
    assert_eq!(parts(&mut recorder), [(0, 5 * SEGMENT_NS + 1, 3)]);
}

#[test]
fn a_segment_that_comes_back_is_used_for_the_next() {
    let mut recorder = recorder();
    recorder.begin_warmup(0);
    recorder.open_window(0);
    for mut segment in recorder.take_full().collect::<Vec<_>>() {
        segment.clear();
        recorder.give_spare(segment);
    }
    recorder.reply(REPLY, stamp(0), 1);
    recorder.reply(REPLY, stamp(0), 3 * SEGMENT_NS + 5);
    recorder.close_window(4 * SEGMENT_NS);
    assert_eq!(parts(&mut recorder), [(0, 3 * SEGMENT_NS, 1), (3 * SEGMENT_NS, 4 * SEGMENT_NS, 1)]);
}

#[test]
fn a_timeout_is_no_reply_but_an_age() {
    let mut recorder = recorder();
    recorder.begin_warmup(0);
    recorder.open_window(0);
    recorder.unanswered(Unanswered::Failed, stamp(3), TIMEOUT_NS + 3);
    recorder.close_window(9);
    let segments = of_window(&mut recorder);
    let (latency, counts) = (&segments[0].latency, &segments[0].counts);
    let ages = latency.ages().unwrap();
    assert_eq!((ages.len(), latency.replies.len(), counts.requests), (1, 0, 0));
    assert!(ages.equivalent(ages.max(), TIMEOUT_NS));
}

#[test]
fn the_first_failure_of_a_kind_is_its_example() {
    let mut recorder = recorder();
    let surplus = |bytes| Failure::Surplus(bytes, String::new());
    recorder.failed(surplus(1), None, 2);
    recorder.failed(surplus(2), None, 0);
    recorder.begin_warmup(0);
    let segment = recorder.take_full().next().unwrap();
    assert_eq!((segment.counts.errors.surplus, segment.counts.errors.lost), (2, 2));
    assert_eq!(segment.counts.examples.iter().flatten().collect::<Vec<_>>(), [&(surplus(1), None)]);
}

#[test]
fn a_reply_on_a_heavy_connection_counts_and_is_no_sample() {
    for model in [LoadModel::Closed, LoadModel::rate(RateCurve::per_second(1000))] {
        let config = LoadConfig { model, ..LoadConfig::default() };
        let mut recorder = Recorder::new(&Plan::new(&config).unwrap().params);
        recorder.begin_warmup(0);
        recorder.open_window(0);
        recorder.reply(REPLY, Stamp { is_sample: false, ..stamp(3) }, 9);
        recorder.close_window(10);
        let Segment { counts, latency, .. } = &of_window(&mut recorder)[0];
        let samples = latency.replies.len();
        assert_eq!((counts.requests, counts.heavy_replies, samples), (1, 1, 0));
    }
}
