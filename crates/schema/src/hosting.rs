//! The protocol between wirebench here and wirebench on the host of the servers, which carries a verb out there:
//! one JSON object per line, commands in and events out.
//!
//! The other side reaches no host by itself. Where its load comes from a third host, it asks for a *stream*: a
//! script that is carried to that host from here, with its lines in both directions.

use serde::{Deserialize, Serialize};

/// The version of commands and events. Both sides must have the same.
pub const HOSTING_PROTOCOL: u32 = 1;

/// A command to the host of the servers.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(tag = "command", rename_all = "kebab-case")]
pub enum HostCommand {
    /// Carry out a verb. It is the first command, and the only one of its kind.
    Start {
        /// The words after `wirebench`.
        arguments: Vec<String>,
        /// Whether the words lack the carrier that makes streams.
        lacks_carrier: bool,
    },
    /// A stream has said a line.
    Line {
        /// The number of the stream.
        stream: u32,
        /// Without its end.
        line: String,
    },
    /// A stream has ended.
    Closed {
        /// The number of the stream.
        stream: u32,
        /// The exit code, if there was one.
        code: Option<i32>,
        /// The end of what it wrote to standard error.
        stderr: String,
    },
    /// End in order, as after Ctrl-C.
    Interrupt,
    /// The other side still exists.
    Heartbeat,
}

/// An event of the host of the servers.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum HostEvent {
    /// The first line: it takes a command.
    Ready {
        /// [`HOSTING_PROTOCOL`] of the other side.
        protocol: u32,
        /// Its version.
        wirebench: String,
    },
    /// The verb has printed a line.
    Printed {
        /// Without its end.
        line: String,
        /// Whether it is a result, on standard output.
        is_result: bool,
    },
    /// Carry a script to a host.
    Open {
        /// The number of the stream, which no other has.
        stream: u32,
        /// Where to.
        host: String,
        /// For a POSIX shell.
        script: String,
    },
    /// Say a line to a stream.
    Line {
        /// The number of the stream.
        stream: u32,
        /// Without its end.
        line: String,
    },
    /// Close the input of a stream.
    Close {
        /// The number of the stream.
        stream: u32,
    },
    /// The verb has ended.
    Ended {
        /// Its exit code.
        code: i32,
    },
    /// It still exists.
    Alive,
    /// It cannot be carried out.
    Failed {
        /// Why, with the next step.
        reason: String,
    },
}
