//! Learns the bodies that replies must have: each request that changes nothing on the server is sent twice, so that a
//! varying body is noticed before the load.

use std::time::{Duration, Instant};

use wirebench_schema::load::SampleReply;

use super::{Ending, Exchange, Found, pace::RequestPace, transport::Transport};
use crate::{
    codec::{
        Codec, Persistence, Reply, ReplyError, RequestId,
        http1::{FirstUse, Http1, Http1Connection, LearnedReply},
    },
    error::LoadError,
};

/// For how long bodies are learned before the load.
pub(super) const LEARNING_LIMIT: Duration = Duration::from_secs(2);

impl Exchange<'_> {
    /// Sends each request that changes nothing on the server, as far as one connection, the rate and the time allow,
    /// and learns the bodies that replies must have. What is not sent is learned from the load.
    pub(super) fn learn(
        &self,
        http: &mut Http1,
        transport: &mut Transport,
    ) -> Result<Found, LoadError> {
        let mut connection = http.connection(0);
        let (began, mut turns) = (Instant::now(), RequestPace::new(self.config));
        let (mut found, mut goes_on) = (None, true);
        for request in http.all_requests() {
            let FirstUse { is_safe, learns_body } = http.first_use(request);
            let is_in_time = is_safe && goes_on && began.elapsed() <= LEARNING_LIMIT;
            if !is_in_time || !turns.next(self.stop) {
                if learns_body {
                    http.learn_from_load(request);
                }
                continue;
            }
            let now;
            (now, goes_on) = self
                .learn_one(http, (&mut connection, transport), request, &mut turns)
                .map_err(|error| self.naming(request, error))?;
            found.get_or_insert(now);
        }
        match found {
            Some(found) => {
                // The next one is the load's.
                turns.end(self.stop);
                Ok(found)
            }
            None => self.run(http, &mut connection, transport, None),
        }
    }

    /// The same error, with the name of the request where there are several.
    pub(super) fn naming(&self, request: RequestId, error: LoadError) -> LoadError {
        match (self.spec(request), error) {
            (Some(request), LoadError::Preflight(sentence)) => {
                LoadError::Preflight(format!("request `{}`: {sentence}", request.name))
            }
            (_, error) => error,
        }
    }

    /// What one request finds, and whether the connection goes on.
    fn learn_one(
        &self,
        http: &mut Http1,
        (connection, transport): (&mut Http1Connection, &mut Transport),
        request: RequestId,
        turns: &mut RequestPace,
    ) -> Result<(Found, bool), LoadError> {
        http.learn(connection);
        let found = self.run(http, connection, transport, Some(request))?;
        let learned = http.take_learned(request, connection);
        let reply_bytes = learned.as_ref().map_or(0, |learned| learned.reply_bytes);
        http.reply_bytes = http.reply_bytes.max(reply_bytes);
        let FirstUse { learns_body, .. } = http.first_use(request);
        let Found::Reply(reply) = found else { return Ok((found, false)) };
        if let Some(learned) = learned {
            self.take_sample(request, &reply, &learned, learns_body);
            if learns_body {
                http.expect(request, learned.body);
                if turns.next(self.stop) {
                    return self.repeat(http, connection, transport, request, reply);
                }
            }
        }
        Ok((found, reply.persistence == Persistence::Keep))
    }

    pub(super) fn take_sample(
        &self,
        request: RequestId,
        reply: &Reply,
        learned: &LearnedReply,
        has_one_body: bool,
    ) {
        let mut samples = self.samples.borrow_mut();
        if samples.len() < SampleReply::MOST {
            let spec = self.spec(request);
            samples.push(SampleReply {
                request: spec.map_or_else(|| self.target().path().to_owned(), |it| it.name.clone()),
                status: reply.status.unwrap_or_default(),
                body_bytes: Some(learned.body.bytes()),
                any_body: !has_one_body,
                content_type: learned.content_type.clone(),
                interim_replies: reply.interim_replies,
            });
        }
    }

    /// The same exchange once more on the same connection, if it goes on, to see whether the body is
    /// the same. Whatever else goes wrong now is left to the load, which counts it.
    fn repeat<C: Codec>(
        &self,
        codec: &mut C,
        connection: &mut C::Connection,
        transport: &mut Transport,
        request: RequestId,
        first: Reply,
    ) -> Result<(Found, bool), LoadError> {
        if first.persistence == Persistence::Close {
            return Ok((Found::Reply(first), false));
        }
        let differs =
            match self.exchange(codec, connection, transport, Some(request), &mut Vec::new()) {
                Ending::Interrupted => return Ok((Found::Interruption, false)),
                Ending::Complete(second) => {
                    return Ok((Found::Reply(first), second.persistence == Persistence::Keep));
                }
                Ending::Wrong(
                    ReplyError::BodyDiffers { at, .. }
                    | ReplyError::BodyRestDiffers { from: at, .. },
                ) => format!("from byte {at} on"),
                Ending::Wrong(ReplyError::BodyLength { expected, received, .. }) => {
                    format!("{expected} and {received} bytes")
                }
                _ => return Ok((Found::Reply(first), false)),
            };
        let whose = match self.config.requests {
            None => format!(" of {} to the same request", self.target()),
            // The request is named.
            Some(_) => String::new(),
        };
        Err(LoadError::Preflight(format!(
            "two replies{whose} have different bodies ({differs}): give --any-body to check the framing alone"
        )))
    }
}
