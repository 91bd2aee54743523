//! Templates: remembered good replies, so that equal ones need not be parsed.
//!
//! A template holds the bytes of a reply that the parser has accepted. An equal reply must be
//! accepted too, and means the same. Values of header fields that the parser ignores are *masked*
//! when they are seen to differ at equal length: any value that the grammar allows is then
//! accepted, because the parser skips all of them.
//!
//! A template never rejects a reply. A reply that differs is parsed.

use std::ops::Range;

use super::{
    head::{self, Framing, Head},
    rules::{Ending, Rules},
};
use crate::codec::{Check, Event, Fed, Persistence, Reply, ReplyError};

/// The longest reply that is compared in one piece. Of longer ones the head is remembered; their
/// bodies are compared with the expected one anyway.
const WHOLE_REPLY_LIMIT_BYTES: usize = 256 * 1024;

/// The most memory of all remembered replies of a load.
const REMEMBERED_LIMIT_BYTES: usize = 256 * 1024 * 1024;

/// The most values that are masked in one head.
const MASKS_LIMIT: usize = 16;

/// After this many replies in a row that do not match, a newer one becomes the template.
const MISSES_LIMIT: u32 = 64;

/// The template of one thread, and how well it serves.
#[derive(Clone, Debug)]
pub(super) struct ReplyCache {
    template: Option<Box<Template>>,
    /// Replies since the last one that matched.
    misses: u32,
    /// The longest reply that is remembered.
    limit_bytes: usize,
    policy: Policy,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Policy {
    Remember,
    #[cfg(any(test, feature = "fuzzing"))]
    Never,
}

impl ReplyCache {
    /// Remembers nothing yet. The load has this many caches over all its threads.
    pub(super) fn new(caches: usize) -> Self {
        let limit_bytes = WHOLE_REPLY_LIMIT_BYTES.min(REMEMBERED_LIMIT_BYTES / caches.max(1));
        Self { template: None, misses: 0, limit_bytes, policy: Policy::Remember }
    }

    /// Never remembers anything.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(super) const fn never() -> Self {
        Self { template: None, misses: 0, limit_bytes: 0, policy: Policy::Never }
    }

    pub(super) fn forget(&mut self) {
        self.template = None;
        self.misses = 0;
    }

    /// The verdict on bytes that begin with a whole reply that is known.
    #[inline]
    pub(super) fn whole_reply(&mut self, bytes: &[u8]) -> Option<Fed> {
        let template = self.template.as_deref_mut()?;
        let fed = template.whole_reply(bytes)?;
        self.misses = 0;
        Some(fed)
    }

    /// Meaning and length of the head at the start of these bytes, if it is known.
    pub(super) fn head_at_start(&mut self, bytes: &[u8]) -> Option<(Head, usize)> {
        let template = self.template.as_deref_mut()?;
        let head_bytes = template.head_bytes;
        let head = bytes.get(..head_bytes)?;
        template.is_like(head).then_some((template.head, head_bytes))
    }

    /// Meaning of a complete head, and whether it had to be parsed.
    pub(super) fn read_head(
        &mut self,
        rules: &Rules,
        bytes: &[u8],
    ) -> Result<(Head, Check), ReplyError> {
        if let Some((head, head_bytes)) = self.head_at_start(bytes)
            && head_bytes == bytes.len()
        {
            return Ok((head, Check::Fast));
        }
        let head = head::read(bytes)?;
        if self.policy == Policy::Remember && head.status >= 200 {
            self.remember_head(rules, bytes, &head);
        }
        Ok((head, Check::Slow))
    }

    fn remember_head(&mut self, rules: &Rules, bytes: &[u8], head: &Head) {
        match &mut self.template {
            Some(template) if self.misses < MISSES_LIMIT => template.learn_masks(bytes),
            template => {
                if Template::replace(template, self.limit_bytes, rules, bytes, *head) {
                    self.misses = 0;
                }
            }
        }
    }

    /// The parser has accepted a reply; `whole` is all of it, if it came in one piece.
    pub(super) fn ended(&mut self, rules: &Rules, reply: &Reply, whole: Option<&[u8]>) {
        if reply.check == Check::Fast {
            self.misses = 0;
            return;
        }
        self.misses = self.misses.saturating_add(1);
        if let Some(template) = &mut self.template
            && let Some(bytes) = whole
            && (!template.knows_whole_replies() || self.misses >= MISSES_LIMIT)
            && template.learn_whole(self.limit_bytes, rules, bytes)
        {
            self.misses = 0;
        }
    }
}

/// A good reply. Its head is always there, and behind it as much of the reply as is compared with
/// the next one in the same piece.
#[derive(Clone, Debug)]
struct Template {
    compared: Vec<u8>,
    /// How long a reply is; `usize::MAX` where comparison alone cannot recognise a reply. The content
    /// after the compared bytes may vary.
    reply_bytes: usize,
    reply: Reply,
    /// Positions of masked values, in ascending order.
    masks: Vec<Range<usize>>,
    head: Head,
    head_bytes: usize,
    /// Positions of the values that may be masked, in ascending order.
    values: Vec<Range<usize>>,
}

/// What follows a remembered head: the whole length of the reply, or `usize::MAX`, and the body that is compared.
fn extent<'a>(
    limit_bytes: usize,
    rules: &'a Rules,
    head_bytes: usize,
    head: &Head,
) -> Option<(usize, &'a [u8])> {
    let is_long = head_bytes > limit_bytes;
    if is_long || !rules.expects_status(head.status) || head.persistence == Persistence::Close {
        return None;
    }
    let head_alone = Some((usize::MAX, &[][..]));
    match rules.ending(head) {
        // Learned when a reply is complete.
        _ if rules.needle(head.status).is_some() => head_alone,
        Ending::Bodiless => {
            rules.check_length(head.status, 0).ok()?;
            Some((head_bytes, &[]))
        }
        Ending::Framed(Framing::Length(length)) => {
            rules.check_length(head.status, length).ok()?;
            let room = limit_bytes - head_bytes;
            let length = usize::try_from(length).ok().filter(|length| *length <= room);
            let body = rules.expected(head.status).map(|body| body.whole(room));
            match length {
                Some(length) if body != Some(None) => {
                    Some((head_bytes + length, body.flatten().unwrap_or_default()))
                }
                _ => head_alone,
            }
        }
        // Learned when a reply is complete.
        Ending::Framed(Framing::Chunked) => head_alone,
        Ending::Framed(Framing::UntilClose) => None,
    }
}

impl Template {
    /// Remembers a head, if it is one of good replies that keep their connection. Says whether it is. The memory of the
    /// template before is used again: where no two replies are alike, this happens all the time.
    fn replace(
        place: &mut Option<Box<Self>>,
        limit_bytes: usize,
        rules: &Rules,
        bytes: &[u8],
        head: Head,
    ) -> bool {
        let head_bytes = bytes.len();
        let Some((reply_bytes, body)) = extent(limit_bytes, rules, head_bytes, &head) else {
            return false;
        };
        let reply = Reply {
            status: Some(head.status),
            is_refusal: false,
            interim_replies: 0,
            persistence: head.persistence,
            check: Check::Fast,
        };
        let template = place.get_or_insert_with(|| {
            let (compared, masks, values) = Default::default();
            Box::new(Self { compared, reply_bytes, reply, masks, head, head_bytes, values })
        });
        let Self { compared, masks, values, .. } = &mut **template;
        compared.clear();
        compared.extend_from_slice(bytes);
        compared.extend_from_slice(body);
        masks.clear();
        values.clear();
        head::values_without_meaning(bytes, |value| {
            if value.name.eq_ignore_ascii_case("date") && masks.len() < MASKS_LIMIT {
                masks.push(value.place.clone());
            }
            values.push(value.place);
        });
        (template.reply_bytes, template.reply) = (reply_bytes, reply);
        (template.head, template.head_bytes) = (head, head_bytes);
        true
    }

    const fn knows_whole_replies(&self) -> bool {
        self.reply_bytes != usize::MAX
    }

    #[inline]
    fn whole_reply(&mut self, bytes: &[u8]) -> Option<Fed> {
        if bytes.len() < self.reply_bytes || !self.is_like(&bytes[..self.compared.len()]) {
            return None;
        }
        Some(Fed { consumed: self.reply_bytes, event: Some(Event::Reply(self.reply)) })
    }

    /// Whether bytes, including at least the head, equal these except for masked values.
    #[inline]
    fn is_like(&mut self, bytes: &[u8]) -> bool {
        bytes == &self.compared[..bytes.len()] || self.is_like_behind_masks(bytes)
    }

    /// Copies the masked values of a matching reply, so that equal ones need no second check: many
    /// replies have the same date.
    fn is_like_behind_masks(&mut self, bytes: &[u8]) -> bool {
        let mut from = 0;
        for mask in &self.masks {
            if bytes[from..mask.start] != self.compared[from..mask.start]
                || !head::may_be_value(&bytes[mask.clone()])
            {
                return false;
            }
            from = mask.end;
        }
        if bytes[from..] != self.compared[from..bytes.len()] {
            return false;
        }
        for mask in &self.masks {
            self.compared[mask.clone()].copy_from_slice(&bytes[mask.clone()]);
        }
        true
    }

    /// Masks the values in which a good head of equal length differs, if it differs in nothing else
    /// and they are not too many.
    fn learn_masks(&mut self, bytes: &[u8]) {
        if bytes.len() != self.head_bytes {
            return;
        }
        let (mut from, mut new) = (0, 0);
        for value in &self.values {
            if bytes[from..value.start] != self.compared[from..value.start]
                || !head::may_be_value(&bytes[value.clone()])
            {
                return;
            }
            new += usize::from(self.is_new_mask(value, bytes));
            from = value.end;
        }
        let same = bytes[from..] == self.compared[from..self.head_bytes];
        if !same || new == 0 || self.masks.len() + new > MASKS_LIMIT {
            return;
        }
        for index in 0..self.values.len() {
            if self.is_new_mask(&self.values[index], bytes) {
                self.masks.push(self.values[index].clone());
            }
        }
        self.masks.sort_unstable_by_key(|mask| mask.start);
    }

    /// Whether this value differs and is not masked yet.
    fn is_new_mask(&self, value: &Range<usize>, bytes: &[u8]) -> bool {
        bytes[value.clone()] != self.compared[value.clone()] && !self.masks.contains(value)
    }

    /// Learns a whole reply with this head: how it cuts its expected body into chunks, or a body that contains what it
    /// must. Says whether it did. Where every body is right, its chunks are read instead: they may differ each time.
    fn learn_whole(&mut self, limit_bytes: usize, rules: &Rules, bytes: &[u8]) -> bool {
        let is_chunked = rules.ending(&self.head) == Ending::Framed(Framing::Chunked);
        let is_learned = (is_chunked || rules.needle(self.head.status).is_some())
            && rules.knows_bodies(self.head.status)
            && bytes.len() <= limit_bytes
            && bytes.get(..self.head_bytes).is_some_and(|head| self.is_like(head));
        if is_learned {
            self.compared.clear();
            self.compared.extend_from_slice(bytes);
            self.reply_bytes = bytes.len();
        }
        is_learned
    }
}
