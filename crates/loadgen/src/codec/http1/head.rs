//! The head of an HTTP/1.1 reply: the fields that frame the reply and the connection. Other fields
//! are skipped.

use std::{mem::MaybeUninit, ops::Range};

use crate::codec::{Persistence, ReplyError, excerpt};

/// Lines of a head for which no memory is allocated.
const USUAL_LINES: usize = 128;

/// The framing and persistence that a head announces.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    pub(super) status: u16,
    pub(super) persistence: Persistence,
    pub(super) framing: Framing,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Framing {
    Length(u64),
    Chunked,
    UntilClose,
}

/// The fields whose values mean something here.
const CONTENT_LENGTH: &str = "content-length";
const TRANSFER_ENCODING: &str = "transfer-encoding";
const CONNECTION: &str = "connection";
const MEANINGFUL: [&str; 3] = [CONTENT_LENGTH, TRANSFER_ENCODING, CONNECTION];

/// The value of a field that means nothing here.
#[derive(Debug)]
pub(super) struct Value<'a> {
    pub(super) name: &'a str,
    /// Position of the value in the head.
    pub(super) place: Range<usize>,
}

pub(super) const MAGIC: &[u8] = b"HTTP/1.";

/// How a TLS server begins its reply to a client without TLS: the kind of a record with an alert.
const TLS_ALERT: u8 = 0x15;

/// Says at once when the first bytes are those of another protocol, which may never send the end of
/// a head.
pub(super) fn check_start(kept: &[u8], bytes: &[u8]) -> Result<(), ReplyError> {
    let rest = &MAGIC[kept.len()..];
    let compared = rest.len().min(bytes.len());
    if bytes[..compared] == rest[..compared] {
        return Ok(());
    }
    if kept.is_empty() && bytes[0] == TLS_ALERT {
        return Err(ReplyError::TlsAlert);
    }
    let line = bytes.split(|byte| matches!(byte, b'\r' | b'\n')).next().unwrap_or(bytes);
    let shown = if line.is_empty() { bytes } else { line };
    Err(ReplyError::NotHttp { start: excerpt(&[kept, shown].concat()) })
}

/// Passes the parsed lines of a head on.
fn parse<'bytes, T>(
    bytes: &'bytes [u8],
    then: impl FnOnce(&httparse::Response<'_, 'bytes>, httparse::Status<usize>) -> T,
) -> Result<T, ReplyError> {
    let mut usual = [const { MaybeUninit::uninit() }; USUAL_LINES];
    let mut many;
    let lines = match memchr::memchr_iter(b'\n', bytes).count() {
        ..=USUAL_LINES => &mut usual[..],
        count => {
            many = vec![MaybeUninit::uninit(); count];
            &mut many[..]
        }
    };
    let mut response = httparse::Response::new(&mut []);
    let mut parser = httparse::ParserConfig::default();
    parser.allow_obsolete_multiline_headers_in_responses(true);
    let parsed = parser.parse_response_with_uninit_headers(&mut response, bytes, lines);
    Ok(then(&response, parsed.map_err(ReplyError::Head)?))
}

/// Passes on, in ascending order of their positions, the values that [`read`] ignores in an accepted head. Any other
/// valid value there does not change its result.
pub(super) fn values_without_meaning(bytes: &[u8], each: impl FnMut(Value<'_>)) {
    let is_read = |name: &str| MEANINGFUL.iter().any(|read| name.eq_ignore_ascii_case(read));
    // An accepted head can be parsed.
    let _ = parse(bytes, |response, _| {
        let fields = response.headers.iter().filter(|header| !is_read(header.name));
        fields
            .map(|header| {
                // The value is a part of these bytes, so its address says where.
                let start = header.value.as_ptr().addr() - bytes.as_ptr().addr();
                Value { name: header.name, place: start..start + header.value.len() }
            })
            .filter(|value| !value.place.is_empty())
            .for_each(each);
    });
}

/// The media type of an accepted head in lower case, without parameters; empty if it has none.
pub(super) fn media_type(bytes: &[u8]) -> String {
    let mut found = String::new();
    values_without_meaning(bytes, |value| {
        if value.name.eq_ignore_ascii_case("content-type") {
            let text = String::from_utf8_lossy(&bytes[value.place]).to_ascii_lowercase();
            found = text.split(';').next().unwrap_or_default().trim().to_owned();
        }
    });
    found
}

/// Whether these bytes may stand in the value of a field: no control characters.
pub(super) fn may_be_value(bytes: &[u8]) -> bool {
    // Without an early end, so that the compiler can look at many bytes at a time.
    let is_control = |byte: u8| (byte < b' ' && byte != b'\t') || byte == 0x7f;
    !bytes.iter().fold(false, |found, byte| found | is_control(*byte))
}

/// Reads a head that ends with its empty line.
pub(super) fn read(bytes: &[u8]) -> Result<Head, ReplyError> {
    parse(bytes, |response, parsed| read_fields(bytes.len(), response, parsed))?
}

fn read_fields(
    head_bytes: usize,
    response: &httparse::Response<'_, '_>,
    parsed: httparse::Status<usize>,
) -> Result<Head, ReplyError> {
    let (httparse::Status::Complete(length), Some(status), Some(version)) =
        (parsed, response.code, response.version)
    else {
        return Err(ReplyError::Framing("the head ends before its headers do"));
    };
    if length != head_bytes {
        return Err(ReplyError::Framing("the head goes on behind its end"));
    }
    if status < 100 {
        return Err(ReplyError::Framing("the status is below 100"));
    }
    let mut content_length = None;
    let mut chunked = false;
    let mut said = None;
    for header in response.headers.iter() {
        if header.name.eq_ignore_ascii_case(CONTENT_LENGTH) {
            let value = read_length(header.value)?;
            if content_length.replace(value).is_some() {
                return Err(ReplyError::Framing("there are two Content-Length lines"));
            }
        } else if header.name.eq_ignore_ascii_case(TRANSFER_ENCODING) {
            if chunked || !header.value.eq_ignore_ascii_case(b"chunked") {
                return Err(ReplyError::Framing("Transfer-Encoding is not just `chunked`"));
            }
            chunked = true;
        } else if header.name.eq_ignore_ascii_case(CONNECTION) {
            said = read_connection(header.value, said);
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
    let usual = if version == 0 { Persistence::Close } else { Persistence::Keep };
    Ok(Head { status, persistence: said.unwrap_or(usual), framing })
}

fn read_length(value: &[u8]) -> Result<u64, ReplyError> {
    let digits_only = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(value)
        .ok()
        .filter(|_| digits_only)
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| ReplyError::ContentLength { value: excerpt(value) })
}

/// The connection options read so far. A `close` wins over other options (RFC 9112, section 9.3).
fn read_connection(value: &[u8], said: Option<Persistence>) -> Option<Persistence> {
    value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii).fold(said, |said, token| {
        if said == Some(Persistence::Close) || token.eq_ignore_ascii_case(b"close") {
            Some(Persistence::Close)
        } else if token.eq_ignore_ascii_case(b"keep-alive") {
            Some(Persistence::Keep)
        } else {
            said
        }
    })
}
