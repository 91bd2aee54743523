//! The bytes of a request, with placeholders: `{seq}`, `{random:A-B}`, `{choose:FILE}` and `{uuid}` in its path, the
//! values of its header fields and its body. Any other text in braces is text.

use fastrand::Rng;
use std::{collections::BTreeMap, io::Write, ops::RangeInclusive, sync::Arc};

use crate::codec::{
    RequestId,
    outbox::{COPIED_LIMIT_BYTES, Outbox},
};

/// The lines of each file of `{choose:FILE}`, read once.
pub(crate) type Choices = BTreeMap<String, Arc<[String]>>;

/// A request as text: what its head says, and its body.
#[derive(Debug, Default)]
pub(crate) struct Head {
    /// The request line, and the field `Host`.
    pub(crate) start: String,
    /// The other fields, which follow the length.
    pub(crate) fields: String,
    /// Whether a length of 0 is said too (RFC 9110, 8.6).
    pub(crate) says_length: bool,
}

impl Head {
    /// The whole request with this body.
    pub(crate) fn bytes(&self, body: &[u8]) -> Vec<u8> {
        let mut bytes = self.start.clone().into_bytes();
        append_length(body.len(), self.says_length, &mut bytes);
        bytes.extend_from_slice(self.fields.as_bytes());
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(body);
        bytes
    }

    /// Where placeholders may be.
    pub(crate) const fn texts<'a>(&'a self, body: &'a [u8]) -> [&'a [u8]; 3] {
        [self.start.as_bytes(), self.fields.as_bytes(), body]
    }
}

/// Finds out if it is rendered for each request.
pub(crate) fn has_placeholder(text: &[u8]) -> bool {
    let is_in = |it: &str| memchr::memmem::find(text, it.as_bytes()).is_some();
    ["{seq}", "{uuid}", "{random:", "{choose:"].into_iter().any(is_in)
}

#[derive(Clone, Debug)]
enum Part {
    Text(Vec<u8>),
    /// A number that no other request has.
    Seq,
    Random(RangeInclusive<u64>),
    Choose(Arc<[String]>),
    Uuid,
}

/// A request that is the same each time, or one that is rendered.
#[derive(Clone, Debug)]
pub(crate) enum Template {
    Constant(Arc<[u8]>),
    Varying(Box<Varying>),
}

#[derive(Clone, Debug)]
pub(crate) struct Varying {
    start: Vec<Part>,
    fields: Vec<Part>,
    body: Vec<Part>,
    says_length: bool,
}

/// The source of the values of one thread.
#[derive(Clone, Debug)]
pub(crate) struct Rendered {
    seq: u64,
    step: u64,
    random: Rng,
    /// Not derived from a seed: a service that stores identifiers must not see one again in the next load.
    identifiers: Rng,
    body: Vec<u8>,
}

impl Rendered {
    /// The numbers of this thread are those of all `threads` together modulo their count, and begin above `from`: with
    /// the present moment in microseconds, none of an earlier load comes again unless that made more than a million
    /// requests a second.
    pub(crate) fn new((thread, threads): (usize, usize), seed: u64, from: u64) -> Self {
        let random = Rng::with_seed(seed ^ (thread as u64 + 1).wrapping_mul(0xd6e8_feb8_6659_fd93));
        let (thread, step) = (thread as u64, threads as u64);
        // Threads may begin at different moments.
        let seq = from.next_multiple_of(step) + thread;
        Self { seq, step, random, identifiers: Rng::new(), body: Vec::new() }
    }

    /// Begins a request of this template.
    pub(crate) fn begin(&mut self, template: &Template, request: RequestId, outbox: &mut Outbox) {
        match template {
            Template::Constant(bytes) if bytes.len() > COPIED_LIMIT_BYTES => {
                outbox.share(request, bytes);
            }
            Template::Constant(bytes) => outbox.write(request, |to| to.extend_from_slice(bytes)),
            Template::Varying(varying) => outbox.write(request, |to| self.append(varying, to)),
        }
    }

    /// Appends the next request of this template.
    fn append(&mut self, varying: &Varying, to: &mut Vec<u8>) {
        let Varying { start, fields, body, says_length } = varying;
        let seq = self.seq;
        let mut rendered = std::mem::take(&mut self.body);
        rendered.clear();
        let random = &mut (&mut self.random, &mut self.identifiers);
        body.iter().for_each(|part| part.append(seq, random, &mut rendered));
        start.iter().for_each(|part| part.append(seq, random, to));
        append_length(rendered.len(), *says_length, to);
        fields.iter().for_each(|part| part.append(seq, random, to));
        to.extend_from_slice(b"\r\n");
        to.extend_from_slice(&rendered);
        self.body = rendered;
        self.seq += self.step;
    }
}

fn append_length(length: usize, says_length: bool, to: &mut Vec<u8>) {
    if length > 0 || says_length {
        // Writing to memory does not fail.
        let _ = write!(to, "Content-Length: {length}\r\n");
    }
}

impl Part {
    fn append(&self, seq: u64, (random, identifiers): &mut (&mut Rng, &mut Rng), to: &mut Vec<u8>) {
        let _ = match self {
            Self::Text(text) => {
                to.extend_from_slice(text);
                return;
            }
            Self::Choose(lines) => {
                to.extend_from_slice(lines[random.usize(..lines.len())].as_bytes());
                return;
            }
            Self::Seq => write!(to, "{seq}"),
            Self::Random(range) => write!(to, "{}", random.u64(range.clone())),
            Self::Uuid => {
                let bits = identifiers.u128(..);
                // Version 4 and variant 2 (RFC 9562, 5.4).
                let bits = bits & !(0xf << 76) & !(0x3 << 62) | 0x4 << 76 | 0x2 << 62;
                let group = |shift: u32, digits: u32| (bits >> shift) & ((1 << (4 * digits)) - 1);
                write!(
                    to,
                    "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
                    group(96, 8),
                    group(80, 4),
                    group(64, 4),
                    group(48, 4),
                    group(0, 12)
                )
            }
        };
    }
}

impl Template {
    /// Finds the placeholders. `choices` has the lines of the files that they name.
    pub(crate) fn new(head: &Head, body: &[u8], choices: &Choices) -> Result<Self, String> {
        let texts = head.texts(body);
        if !texts.into_iter().any(has_placeholder) {
            return Ok(Self::Constant(Arc::from(head.bytes(body))));
        }
        let [start, fields, body] = texts.map(|text| split(text, |name| part(name, choices)));
        let (start, fields, body, says_length) = (start?, fields?, body?, head.says_length);
        Ok(Self::Varying(Box::new(Varying { start, fields, body, says_length })))
    }
}

/// The files that placeholders of a text name.
pub(crate) fn choice_files(text: &[u8]) -> Vec<String> {
    let mut files = Vec::new();
    let _ = split(text, |name| {
        if let Some(file) = name.strip_prefix("choose:") {
            files.push(file.to_owned());
        }
        Ok(None)
    });
    files
}

/// Cuts a text at what `read` takes for a placeholder.
fn split(
    text: &[u8],
    mut read: impl FnMut(&str) -> Result<Option<Part>, String>,
) -> Result<Vec<Part>, String> {
    let (mut parts, mut from, mut at) = (Vec::new(), 0, 0);
    while let Some(open) = memchr::memchr(b'{', &text[at..]).map(|it| it + at) {
        at = open + 1;
        let Some(close) = memchr::memchr(b'}', &text[at..]).map(|it| it + at) else { break };
        let Ok(name) = std::str::from_utf8(&text[at..close]) else { continue };
        if let Some(part) = read(name)? {
            parts.push(Part::Text(text[from..open].to_vec()));
            parts.push(part);
            (from, at) = (close + 1, close + 1);
        }
    }
    parts.push(Part::Text(text[from..].to_vec()));
    parts.retain(|part| !matches!(part, Part::Text(text) if text.is_empty()));
    Ok(parts)
}

fn part(name: &str, choices: &Choices) -> Result<Option<Part>, String> {
    if let Some(file) = name.strip_prefix("choose:") {
        return match choices.get(file) {
            Some(lines) if !lines.is_empty() => Ok(Some(Part::Choose(Arc::clone(lines)))),
            _ => Err(format!("{{choose:{file}}}: the file has no line")),
        };
    }
    if let Some(range) = name.strip_prefix("random:") {
        let bounds = range.split_once('-').and_then(|(low, high)| {
            Some(low.trim().parse::<u64>().ok()?..=high.trim().parse::<u64>().ok()?)
        });
        return match bounds.filter(|range| !range.is_empty()) {
            Some(range) => Ok(Some(Part::Random(range))),
            None => Err(format!("{{random:{range}}}: write it like {{random:1-1000}}")),
        };
    }
    Ok(match name {
        "seq" => Some(Part::Seq),
        "uuid" => Some(Part::Uuid),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(head: &str, body: &str) -> Result<Template, String> {
        let choices = Choices::from([("names".to_owned(), Arc::from(vec!["ann".to_owned()]))]);
        let head = Head { start: head.to_owned(), fields: String::new(), says_length: false };
        Template::new(&head, body.as_bytes(), &choices)
    }

    fn rendered(head: &str, body: &str, count: usize) -> Vec<String> {
        let Template::Varying(varying) = template(head, body).unwrap() else { panic!("constant") };
        let mut source = Rendered::new((1, 4), 7, 0);
        let one = |_| {
            let mut bytes = Vec::new();
            source.append(&varying, &mut bytes);
            String::from_utf8(bytes).unwrap()
        };
        (0..count).map(one).collect()
    }

    #[test]
    fn a_request_without_placeholders_is_rendered_once() {
        let found = template("POST / HTTP/1.1\r\n", "{\"a\": {}, \"b\": {x}}").unwrap();
        let Template::Constant(bytes) = found else { panic!("it varies") };
        let expected = "POST / HTTP/1.1\r\nContent-Length: 19\r\n\r\n{\"a\": {}, \"b\": {x}}";
        assert_eq!(std::str::from_utf8(&bytes).unwrap(), expected);
    }

    #[test]
    fn numbers_are_those_of_the_thread_and_the_length_is_that_of_the_body() {
        let found =
            rendered("GET /{seq} HTTP/1.1\r\n", "{\"n\": {seq}, \"who\": \"{choose:names}\"}", 3);
        for (request, seq) in found.iter().zip([1, 5, 9]) {
            let body = format!("{{\"n\": {seq}, \"who\": \"ann\"}}");
            let expected =
                format!("GET /{seq} HTTP/1.1\r\nContent-Length: {}\r\n\r\n{body}", body.len());
            assert_eq!(*request, expected);
        }
    }

    #[test]
    fn random_values_stay_in_their_range_and_identifiers_have_their_form() {
        for line in rendered("{random:8-12}|{uuid}", "", 100) {
            let (number, rest) = line.split_once('|').unwrap();
            assert!((8..=12).contains(&number.parse::<u64>().unwrap()), "{line}");
            let uuid = rest.trim_end();
            let form: String =
                uuid.chars().map(|it| if it.is_ascii_hexdigit() { 'h' } else { it }).collect();
            assert_eq!(form, "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh");
            assert_eq!(&uuid[14..15], "4");
            assert!("89ab".contains(&uuid[19..20]), "{uuid}");
        }
    }

    #[test]
    fn a_wrong_placeholder_is_named_with_the_next_step() {
        assert_eq!(choice_files(b"{choose:a.txt} {choose:b}{seq}"), ["a.txt", "b"]);
        for (text, expected) in [
            ("{random:5}", "{random:5}: write it like {random:1-1000}"),
            ("{random:9-1}", "{random:9-1}: write it like {random:1-1000}"),
            ("{choose:none}", "{choose:none}: the file has no line"),
        ] {
            assert_eq!(template(text, "").unwrap_err(), expected);
        }
    }
}
