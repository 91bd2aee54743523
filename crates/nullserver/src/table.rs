//! Connections by number, with keys that go stale. Not a general slab: it only does what the two
//! engines need.
//!
//! The kernel hands a key back with each event. A slot is used again as soon as it is free, so a
//! key also carries the slot's generation, and an event for a connection that is gone finds nothing
//! instead of its successor.

/// How many bits of a generation a key keeps, so that 8 bits of a 64-bit number are left for the
/// engine's own use.
const GENERATION_BITS: u32 = 24;
const GENERATION_MASK: u32 = (1 << GENERATION_BITS) - 1;

/// Names one entry of a table, for as long as it is there.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Key {
    slot: u32,
    generation: u32,
}

impl Key {
    /// How many low bits of a number a key takes.
    pub(crate) const BITS: u32 = 32 + GENERATION_BITS;

    /// The key as a number below two to the power of `BITS`.
    pub(crate) fn to_number(self) -> u64 {
        u64::from(self.generation) << 32 | u64::from(self.slot)
    }

    /// The key that `to_number` made this number from; higher bits are ignored.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the number is taken apart into its fields"
    )]
    pub(crate) fn from_number(number: u64) -> Self {
        Self { slot: number as u32, generation: (number >> 32) as u32 & GENERATION_MASK }
    }
}

/// A growing array of slots, with a list of those that are free.
#[derive(Debug)]
pub(crate) struct Table<T> {
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct Slot<T> {
    generation: u32,
    entry: Option<T>,
}

impl<T> Table<T> {
    pub(crate) fn new() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }

    /// Adds an entry, into the slot that became free last if there is one.
    pub(crate) fn insert(&mut self, entry: T) -> Key {
        if let Some(slot) = self.free.pop() {
            let free = &mut self.slots[slot as usize];
            free.entry = Some(entry);
            return Key { slot, generation: free.generation };
        }
        let slot =
            u32::try_from(self.slots.len()).expect("a process has fewer than 2^32 connections");
        self.slots.push(Slot { generation: 0, entry: Some(entry) });
        Key { slot, generation: 0 }
    }

    /// The entry of this key, unless it is gone.
    pub(crate) fn get_mut(&mut self, key: Key) -> Option<&mut T> {
        let slot = self.slots.get_mut(key.slot as usize)?;
        if slot.generation == key.generation { slot.entry.as_mut() } else { None }
    }

    /// Takes the entry of this key out, unless it is gone.
    pub(crate) fn remove(&mut self, key: Key) -> Option<T> {
        let slot = self.slots.get_mut(key.slot as usize)?;
        if slot.generation != key.generation {
            return None;
        }
        let entry = slot.entry.take()?;
        slot.generation = (slot.generation + 1) & GENERATION_MASK;
        self.free.push(key.slot);
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stale_key_does_not_find_the_successor() {
        let mut table = Table::new();
        let first = table.insert("first");
        assert_eq!(table.remove(first), Some("first"));
        let second = table.insert("second");
        assert_eq!(second.slot, first.slot);
        assert_eq!(table.get_mut(first), None);
        assert_eq!(table.remove(first), None);
        assert_eq!(table.get_mut(second), Some(&mut "second"));
    }

    #[test]
    fn a_key_survives_the_way_through_a_number_with_a_tag_above_it() {
        let key = Key { slot: u32::MAX - 1, generation: GENERATION_MASK };
        let number = key.to_number();
        assert!(number < 1 << Key::BITS);
        assert_eq!(Key::from_number(number | 0xff << Key::BITS), key);
    }

    #[test]
    fn generations_wrap_around() {
        let mut table = Table::new();
        let key = table.insert(());
        table.slots[0].generation = GENERATION_MASK;
        let last = Key { generation: GENERATION_MASK, ..key };
        assert_eq!(table.remove(last), Some(()));
        assert_eq!(table.insert(()), Key { slot: 0, generation: 0 });
    }
}
