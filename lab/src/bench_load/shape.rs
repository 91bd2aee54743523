//! The shapes of load in which the generators are compared.

use std::fmt;

/// How many connections, requests in flight on each, and bytes in the body.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    pub(crate) connections: usize,
    pub(crate) depth: usize,
    pub(crate) body_bytes: usize,
}

/// All of them. 64 connections without a pipeline and with 12 bytes are the middle of three rows.
pub(crate) const SHAPES: [Shape; 6] = [
    shape("connections-1", 1, 1, 12),
    shape("connections-64", 64, 1, 12),
    shape("connections-512", 512, 1, 12),
    shape("pipeline-16", 64, 16, 12),
    shape("body-4KiB", 64, 1, 4 * 1024),
    shape("body-64KiB", 64, 1, 64 * 1024),
];
/// The default shapes of a smoke run: every kind of work that a contestant does differently.
pub(crate) const SMOKE: [Shape; 3] = [SHAPES[1], SHAPES[3], SHAPES[5]];
/// The default shapes in which two builds are compared.
pub(crate) const AGAINST: [Shape; 2] = [SHAPES[1], SHAPES[2]];

const fn shape(name: &'static str, connections: usize, depth: usize, body_bytes: usize) -> Shape {
    Shape { name, connections, depth, body_bytes }
}

impl fmt::Display for Shape {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, connections, depth, body_bytes } = self;
        write!(formatter, "{name}: connections {connections}, requests in flight on each {depth}")?;
        write!(formatter, ", body of {body_bytes} bytes")
    }
}
