//! The head of an HTTP/1.1 reply: what it says about the reply and the connection. Everything else
//! in it is read over.

use crate::codec::{Persistence, ReplyError, excerpt};

/// The most header lines in one head.
const HEADER_LINES_LIMIT: usize = 128;

/// What a head says about what follows it.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) status: u16,
    pub(super) persistence: Persistence,
    pub(super) framing: Framing,
}

/// Where a body ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Framing {
    Length(u64),
    Chunked,
    UntilClose,
}

/// How each reply begins.
pub(super) const MAGIC: &[u8] = b"HTTP/1.";

/// Says at once when the first bytes are those of another protocol, which may never send the end of
/// a head.
pub(super) fn check_start(kept: &[u8], bytes: &[u8]) -> Result<(), ReplyError> {
    let rest = &MAGIC[kept.len()..];
    let compared = rest.len().min(bytes.len());
    if bytes[..compared] == rest[..compared] {
        return Ok(());
    }
    let line = bytes.split(|byte| matches!(byte, b'\r' | b'\n')).next().unwrap_or(bytes);
    let shown = if line.is_empty() { bytes } else { line };
    Err(ReplyError::NotHttp { start: excerpt(&[kept, shown].concat()) })
}

/// Reads a head that ends with its empty line.
pub(super) fn read(bytes: &[u8]) -> Result<Head, ReplyError> {
    let mut lines = [const { std::mem::MaybeUninit::uninit() }; HEADER_LINES_LIMIT];
    let mut response = httparse::Response::new(&mut []);
    let parsed = httparse::ParserConfig::default()
        .parse_response_with_uninit_headers(&mut response, bytes, &mut lines)
        .map_err(ReplyError::Head)?;
    let (httparse::Status::Complete(length), Some(status), Some(version)) =
        (parsed, response.code, response.version)
    else {
        return Err(ReplyError::Framing("the head ends before its headers do"));
    };
    if length != bytes.len() {
        return Err(ReplyError::Framing("the head goes on behind its end"));
    }
    let mut content_length = None;
    let mut chunked = false;
    let mut connection = if version == 0 { Persistence::Close } else { Persistence::Keep };
    for header in response.headers.iter() {
        if header.name.eq_ignore_ascii_case("content-length") {
            let value = read_length(header.value)?;
            if content_length.replace(value).is_some() {
                return Err(ReplyError::Framing("there are two Content-Length lines"));
            }
        } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
            if chunked || !header.value.eq_ignore_ascii_case(b"chunked") {
                return Err(ReplyError::Framing("Transfer-Encoding is not just `chunked`"));
            }
            chunked = true;
        } else if header.name.eq_ignore_ascii_case("connection") {
            connection = read_connection(header.value, connection);
        }
    }
    let framing = match (content_length, chunked) {
        (Some(_), true) => {
            return Err(ReplyError::Framing("there are Content-Length and Transfer-Encoding"));
        }
        (None, true) if version == 0 => {
            return Err(ReplyError::Framing("an HTTP/1.0 reply has a Transfer-Encoding"));
        }
        (Some(length), false) => Framing::Length(length),
        (None, true) => Framing::Chunked,
        (None, false) => Framing::UntilClose,
    };
    Ok(Head { status, persistence: connection, framing })
}

fn read_length(value: &[u8]) -> Result<u64, ReplyError> {
    let digits_only = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(value)
        .ok()
        .filter(|_| digits_only)
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| ReplyError::ContentLength { value: excerpt(value) })
}

fn read_connection(value: &[u8], default: Persistence) -> Persistence {
    value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii).fold(default, |found, token| {
        if token.eq_ignore_ascii_case(b"close") {
            Persistence::Close
        } else if token.eq_ignore_ascii_case(b"keep-alive") {
            Persistence::Keep
        } else {
            found
        }
    })
}
