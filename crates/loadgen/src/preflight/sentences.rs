//! The sentences about a wrong first reply, and their parts.

use wirebench_schema::{load::RequestSpec, target::Target};

use super::Exchange;
use crate::{
    codec::{ReplyError, RequestId, excerpt},
    dial::Endpoint,
    tls::Connector,
};

impl Exchange<'_> {
    pub(super) fn protocol(&self) -> &'static str {
        self.config.target.protocol().traits().title
    }

    pub(super) fn wrong(
        &self,
        error: &ReplyError,
        received: &[u8],
        request: Option<RequestId>,
    ) -> String {
        let address = &self.endpoint;
        match error {
            ReplyError::TlsAlert => {
                format!("{address} answers with TLS: write {}", self.with_tls())
            }
            ReplyError::NotHttp { start } => format!(
                "{address} answers, but not with HTTP/1.1: the reply starts with \"{start}\"; \
                 check {}, or write {} if it is an echo server",
                self.place(),
                match address {
                    Endpoint::Ip(address) => format!("tcp://{address}"),
                    Endpoint::Unix(_) => format!("{address} without --unix-socket"),
                }
            ),
            ReplyError::EchoDiffers { .. } => format!(
                "{address} answers, but is not an echo server ({error}): the reply starts with \
                 \"{}\"; check {}, or write {} for HTTP/1.1",
                excerpt(received),
                self.place(),
                match address {
                    Endpoint::Ip(address) => format!("http://{address}/"),
                    Endpoint::Unix(_) => "http://HOST/ and --unix-socket".to_owned(),
                }
            ),
            ReplyError::BodyLength { .. }
            | ReplyError::BodyDiffers { .. }
            | ReplyError::BodyRestDiffers { .. }
            | ReplyError::BodyLacks { .. } => format!(
                "{} does not reply as expected: {error}; check the path, or the body that is \
                 expected",
                self.asked(request)
            ),
            ReplyError::TooLong { .. } => {
                format!("a reply of {} is not accepted, because {error}", self.asked(request))
            }
            other => format!(
                "{} gives a wrong reply: {other}; such replies do not count: correct the server",
                self.asked(request)
            ),
        }
    }

    /// What to check when another program answers.
    pub(super) const fn place(&self) -> &'static str {
        match self.endpoint {
            Endpoint::Ip(_) => "the port",
            Endpoint::Unix(_) => "the path",
        }
    }

    pub(super) fn missing_certificate(&self) -> Option<&'static str> {
        self.connector.and_then(Connector::missing_certificate)
    }

    pub(super) fn with_tls(&self) -> String {
        format!("https://{}{}", self.target().authority(), self.target().path())
    }

    /// The URL of a request.
    fn asked(&self, request: Option<RequestId>) -> Target {
        let spec = request.and_then(|request| self.spec(request));
        // A path with placeholders need not be one of a URL.
        let own = spec.and_then(|spec| self.target().with_path(&spec.path).ok());
        own.unwrap_or_else(|| self.target().clone())
    }

    /// The request of a set with this number.
    pub(super) fn spec(&self, RequestId(request): RequestId) -> Option<&RequestSpec> {
        self.config.requests.as_ref()?.requests.get(request as usize)
    }

    pub(super) fn target(&self) -> &Target {
        &self.config.target
    }
}
