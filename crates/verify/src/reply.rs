//! A strict reader of the reply that `hello` fixes, which says in words what is wrong.
//!
//! Strict in what the contract fixes, open in what it leaves to frameworks: further header fields
//! such as `Date` and `Server`, which may change from reply to reply, the reason phrase, parameters
//! of the content type. Pure, and no general HTTP parser.

use wirebench_schema::scenario::HELLO_BODY;

use super::show;

/// Bytes after which a head without its end is given up.
const HEAD_BYTES_MOST: usize = 16 * 1024;
const STATUS: &str = "HTTP/1.1 200";

/// What stands at the beginning of a stream.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Parsed {
    Whole {
        /// Bytes of head and body.
        length_bytes: usize,
    },
    /// The beginning of what may become one.
    Partial,
}

/// Reads one reply at the beginning of `bytes`, or says what is wrong with it.
pub fn parse(bytes: &[u8]) -> Result<Parsed, String> {
    let seen = bytes.len().min(STATUS.len());
    if bytes[..seen] != STATUS.as_bytes()[..seen] {
        return Err(format!("a reply must begin with `{STATUS}`, it is {}", show::bytes(bytes)));
    }
    let mut fields = Fields::default();
    let mut at = 0;
    let mut is_status = true;
    loop {
        let Some(length) = bytes[at..].iter().position(|&byte| byte == b'\n') else {
            if bytes.len() > HEAD_BYTES_MOST {
                return Err(format!("the head has no end within {HEAD_BYTES_MOST} bytes"));
            }
            return Ok(Parsed::Partial);
        };
        let Some(line) = bytes[at..at + length].strip_suffix(b"\r") else {
            let line = show::bytes(&bytes[at..=at + length]);
            return Err(format!("a line of the head ends with a bare LF instead of CRLF: {line}"));
        };
        at += length + 1;
        if std::mem::take(&mut is_status) {
            check_status(line)?;
        } else if line.is_empty() {
            break;
        } else {
            fields.add(line)?;
        }
    }
    fields.check()?;
    let body = &bytes[at..bytes.len().min(at + HELLO_BODY.len())];
    if !HELLO_BODY.as_bytes().starts_with(body) {
        return Err(format!("the body must be \"{HELLO_BODY}\", it is {}", show::bytes(body)));
    }
    if body.len() < HELLO_BODY.len() {
        return Ok(Parsed::Partial);
    }
    Ok(Parsed::Whole { length_bytes: at + HELLO_BODY.len() })
}

fn check_status(line: &[u8]) -> Result<(), String> {
    match line.get(STATUS.len()) {
        None | Some(b' ') => Ok(()),
        Some(_) => {
            Err(format!("the status line must begin with `{STATUS}`, it is {}", show::bytes(line)))
        }
    }
}

/// What was found among the header fields.
#[derive(Default)]
struct Fields {
    lengths: Vec<String>,
    types: Vec<String>,
}

impl Fields {
    fn add(&mut self, line: &[u8]) -> Result<(), String> {
        let wrong = || format!("{} is not a header field `Name: value`", show::bytes(line));
        let colon = line.iter().position(|&byte| byte == b':').ok_or_else(wrong)?;
        let is_name = |byte: &u8| byte.is_ascii_graphic();
        if colon == 0 || !line[..colon].iter().all(is_name) {
            return Err(wrong());
        }
        let name = String::from_utf8_lossy(&line[..colon]).to_ascii_lowercase();
        let value = String::from_utf8_lossy(&line[colon + 1..]).trim().to_owned();
        match name.as_str() {
            "content-length" => self.lengths.push(value),
            "content-type" => self.types.push(value),
            "transfer-encoding" => {
                return Err(format!(
                    "the reply has `Transfer-Encoding: {value}`, it must have `Content-Length: {}`",
                    HELLO_BODY.len()
                ));
            }
            "connection" if value.eq_ignore_ascii_case("close") => {
                return Err(
                    "the reply announces `Connection: close`, connections must be kept".into()
                );
            }
            _ => {}
        }
        Ok(())
    }

    fn check(&self) -> Result<(), String> {
        let length = HELLO_BODY.len();
        match self.lengths.as_slice() {
            [] => return Err(format!("the reply has no `Content-Length: {length}`")),
            [value] if *value == length.to_string() => {}
            [value] => return Err(format!("Content-Length must be {length}, it is {value}")),
            _ => return Err("the reply has more than one Content-Length".into()),
        }
        match self.types.as_slice() {
            [] => Err("the reply has no `Content-Type: text/plain`".into()),
            [value] => {
                let media = value.split(';').next().unwrap_or_default().trim();
                if media.eq_ignore_ascii_case("text/plain") {
                    Ok(())
                } else {
                    Err(format!("Content-Type must be text/plain, it is {value}"))
                }
            }
            _ => Err("the reply has more than one Content-Type".into()),
        }
    }
}

/// The replies of one connection, counted and checked as they come.
#[derive(Debug, Default)]
pub struct Replies {
    unread: Vec<u8>,
    count: usize,
}

impl Replies {
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.unread.extend_from_slice(bytes);
        let mut at = 0;
        while at < self.unread.len() {
            let rest = &self.unread[at..];
            let number = self.count + 1;
            let parsed = parse(rest).map_err(|wrong| match number {
                1 => wrong,
                _ => format!("reply {number} of a connection: {wrong}"),
            })?;
            let Parsed::Whole { length_bytes } = parsed else { break };
            at += length_bytes;
            self.count += 1;
        }
        self.unread.drain(..at);
        Ok(())
    }

    pub const fn count(&self) -> usize {
        self.count
    }

    /// What came behind the last whole reply.
    pub fn rest(&self) -> &[u8] {
        &self.unread
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{expect, expect_file};

    const GOOD: &str =
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nHello world!";

    fn wrong(text: &str) -> String {
        parse(text.as_bytes()).unwrap_err()
    }

    #[test]
    fn a_correct_reply_is_whole_and_every_beginning_of_it_is_partial() {
        let whole = Parsed::Whole { length_bytes: GOOD.len() };
        assert_eq!(parse(GOOD.as_bytes()), Ok(whole));
        assert_eq!(parse(format!("{GOOD}HTTP/1.1").as_bytes()), Ok(whole));
        for length in 0..GOOD.len() {
            assert_eq!(parse(&GOOD.as_bytes()[..length]), Ok(Parsed::Partial), "{length}");
        }
    }

    #[test]
    fn what_frameworks_add_is_allowed() {
        let framework = GOOD
            .replace(" OK", "")
            .replace("text/plain", "Text/Plain; charset=utf-8")
            .replace("Content-Length", "Server: x\r\nDate: today\r\ncontent-length");
        let parsed = parse(framework.as_bytes()).unwrap();
        assert_eq!(parsed, Parsed::Whole { length_bytes: framework.len() });
    }

    #[test]
    fn each_fault_is_named() {
        let changes = [
            ("200", "404"),
            ("200", "2000"),
            ("1.1", "1.0"),
            ("text/plain\r\n", "text/plain\n"),
            ("\r\n\r\n", "\r\n\n"),
            ("h: 12", "h: 13"),
            ("Content-Length: 12\r\n", ""),
            ("Content-Type: text/plain\r\n", ""),
            ("text/plain", "text/html"),
            ("\r\n\r\n", "\r\nContent-Length: 12\r\n\r\n"),
            ("\r\n\r\n", "\r\nTransfer-Encoding: chunked\r\n\r\n"),
            ("\r\n\r\n", "\r\nConnection: close\r\n\r\n"),
            ("\r\n\r\n", "\r\nnonsense\r\n\r\n"),
            ("\r\n\r\n", "\r\nServer : x\r\n\r\n"),
            ("world", "World"),
        ];
        let messages = changes.map(|(from, to)| {
            let message = wrong(&GOOD.replacen(from, to, 1));
            format!("{} => {}\n  {message}\n", from.escape_debug(), to.escape_debug())
        });
        expect_file!["golden/reply.txt"].assert_eq(&messages.concat());
        let endless = format!("HTTP/1.1 200 OK\r\nX: {}", "x".repeat(HEAD_BYTES_MOST));
        expect!["the head has no end within 16384 bytes"].assert_eq(&wrong(&endless));
    }

    #[test]
    fn replies_are_counted_however_they_are_cut() {
        let stream = GOOD.repeat(7) + "HTTP";
        for size in [1, 2, 50, 1000] {
            let mut replies = Replies::default();
            for piece in stream.as_bytes().chunks(size) {
                replies.push(piece).unwrap();
            }
            assert_eq!((replies.count(), replies.rest()), (7, &b"HTTP"[..]));
        }
    }

    #[test]
    fn replies_may_differ_in_further_fields_and_nothing_else() {
        let with = |field: &str| GOOD.replace("\r\n\r\n", &format!("\r\n{field}\r\n\r\n"));
        let mut replies = Replies::default();
        let stream = with("Keep-Alive: timeout=5, max=10")
            + &with("Keep-Alive: timeout=5, max=9")
            + GOOD
            + &with("Date: today");
        replies.push(stream.as_bytes()).unwrap();
        assert_eq!((replies.count(), replies.rest()), (4, &b""[..]));
        let message = replies.push(GOOD.replace("world", "World").as_bytes()).unwrap_err();
        assert!(message.starts_with("reply 5 of a connection: the body must be"), "{message}");
    }
}
