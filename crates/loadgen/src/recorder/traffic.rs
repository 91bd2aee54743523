//! Counts of bytes, connections and failures.

use super::{Recorder, Scope};
use crate::{codec::RequestId, failure::Failure};
use wirebench_schema::load::ErrorKind;

impl Recorder {
    /// Bytes have arrived.
    pub(crate) fn received(&mut self, bytes: usize) {
        if self.scope == Scope::Everything {
            self.current.counts.bytes_received += bytes as u64;
        }
    }

    /// Bytes have been handed to the kernel.
    pub(crate) fn sent(&mut self, bytes: usize) {
        if self.scope == Scope::Everything {
            self.current.counts.bytes_sent += bytes as u64;
        }
    }

    /// A request or connection has failed, and with it `lost` further requests in flight.
    pub(crate) fn failed(&mut self, failure: Failure, request: Option<RequestId>, lost: u64) {
        if self.scope == Scope::Nothing {
            return;
        }
        let (kind, counts) = (failure.kind(), &mut self.current.counts);
        *counts.errors.of_mut(kind) += 1;
        counts.errors.lost += lost;
        counts.examples[kind as usize].get_or_insert((failure, request));
    }

    /// A complete reply had this status, which is not one of a correct reply. Its page is read only as
    /// an example.
    pub(crate) fn refused(
        &mut self,
        status: u16,
        request: RequestId,
        page: impl FnOnce() -> String,
    ) {
        let is_known = self.current.counts.examples[ErrorKind::Status as usize].is_some();
        let page = if is_known { String::new() } else { page() };
        self.failed(Failure::Status(status, page), Some(request), 0);
    }

    /// A connection is established, after this time.
    pub(crate) fn connected(&mut self, took_ns: u64) {
        self.current.connect.saturating_record(took_ns);
    }

    /// A connection was made again after a failure.
    pub(crate) fn reconnected(&mut self) {
        self.current.counts.reconnects += 1;
    }

    /// The client has closed a connection because it had carried all that it should.
    pub(crate) fn client_closed(&mut self) {
        self.current.counts.client_closes += u64::from(self.scope == Scope::Everything);
    }

    /// The server has closed a connection, and no request has failed with it.
    pub(crate) fn server_closed(&mut self) {
        self.current.counts.server_closes += u64::from(self.scope == Scope::Everything);
    }

    /// Requests are sent again, because the server has closed their connection.
    pub(crate) fn retried(&mut self, requests: u64) {
        if matches!(self.scope, Scope::Everything | Scope::Draining) {
            self.current.counts.retried += requests;
        }
    }
}
