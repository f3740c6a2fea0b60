//! The uncompressed bytes of lsm-tree's data and index blocks.
//!
//! ```text
//!   block        entries | FF | binary index | hash index | trailer (31 bytes)
//!   trailer      restart interval u8 | step u8 | restarts u32 | binary index at u32 | .. | items u32       little-endian
//!   data entry   kind u8 | seqno | key length | key | value length | value             first of each interval
//!                kind u8 | seqno | shared | rest length | rest | value length | value  others; no value in tombstones
//!   index entry  0 u8 | block offset | block size | seqno | key length | last key of that block
//! ```
//! Lengths and sequence numbers are LEB128. `shared` is the length of the common prefix with the first key of the
//! interval, not with the key before. Index blocks have an interval of one, so their binary index finds any entry. All
//! reads are checked: damaged bytes give [`Malformed`], never a panic or a wrong slice.

use std::cmp::Ordering;
use std::ops::Range;

/// Bytes that are not a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

/// Kinds of data entries.
const VALUE: u8 = 0;
const TOMBSTONE: u8 = 1;
const WEAK_TOMBSTONE: u8 = 2;

const TRAILER_LEN: usize = 31;

/// The trailer of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trailer {
    restart_interval: u8,
    /// Size of a number in the binary index: 2 or 4 bytes.
    step: u8,
    restarts: u32,
    index_offset: u32,
    /// Entries in the block.
    pub(crate) items: u32,
}

impl Trailer {
    /// Reads the trailer of `block`.
    pub(crate) fn of(block: &[u8]) -> Result<Self, Malformed> {
        let tail: &[u8; TRAILER_LEN] = block.last_chunk().ok_or(Malformed)?;
        let [restart_interval, step, l0, l1, l2, l3, o0, o1, o2, o3, .., i0, i1, i2, i3] = *tail;
        let trailer = Self {
            restart_interval,
            step,
            restarts: u32::from_le_bytes([l0, l1, l2, l3]),
            index_offset: u32::from_le_bytes([o0, o1, o2, o3]),
            items: u32::from_le_bytes([i0, i1, i2, i3]),
        };
        if restart_interval == 0 || !matches!(step, 2 | 4) { Err(Malformed) } else { Ok(trailer) }
    }

    /// Number of restart intervals; in an index block each entry is one.
    pub(crate) fn intervals(&self) -> u32 {
        self.restarts
    }

    /// Offset of the `n`-th interval.
    fn restart(&self, block: &[u8], n: u32) -> Result<usize, Malformed> {
        let at = self.index_offset as usize + n as usize * usize::from(self.step);
        let tail = block.get(at..).ok_or(Malformed)?;
        let offset = match self.step {
            2 => u32::from(u16::from_le_bytes(*tail.first_chunk().ok_or(Malformed)?)),
            _ => u32::from_le_bytes(*tail.first_chunk().ok_or(Malformed)?),
        };
        Ok(offset as usize)
    }

    /// The first byte of each interval.
    pub(crate) fn heads(&self, block: &[u8]) -> impl Iterator<Item = u8> {
        (0..self.restarts).filter_map(|n| block.get(self.restart(block, n).ok()?).copied())
    }

    /// The number of leading intervals for which `holds` is true. `holds` must be true up to some interval and false
    /// after it.
    fn partition(&self, holds: impl FnMut(u32) -> Result<bool, Malformed>) -> Result<u32, Malformed> {
        self.partition_from(0, holds)
    }

    /// As [`Self::partition`] with a galloping search from `guess`, which is fast if the result is near it.
    fn partition_from(
        &self,
        guess: u32,
        mut holds: impl FnMut(u32) -> Result<bool, Malformed>,
    ) -> Result<u32, Malformed> {
        let (mut low, mut high) = (0, self.restarts);
        if guess > 0 && guess < high {
            if holds(guess - 1)? {
                low = guess;
            } else {
                high = guess - 1;
            }
            let mut step = 1;
            while low >= guess && low + step < high {
                match holds(low + step - 1)? {
                    true => low += step,
                    false => high = low + step - 1,
                }
                step *= 2;
            }
        }
        while low < high {
            let middle = low + (high - low) / 2;
            if holds(middle)? {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }
}

/// One entry of a data block. Its key is the concatenation of `head` and `rest`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) seqno: u64,
    pub(crate) head: &'a [u8],
    pub(crate) rest: &'a [u8],
    pub(crate) tombstone: bool,
    pub(crate) value: &'a [u8],
    /// Offset of `value` in the block.
    pub(crate) value_at: u32,
}

impl<'a> Entry<'a> {
    /// The key without its first `len` bytes.
    #[inline]
    pub(crate) fn key_behind(&self, len: usize) -> (&'a [u8], &'a [u8]) {
        match self.head.get(len..) {
            Some(head) => (head, self.rest),
            None => (&[], self.rest.get(len - self.head.len()..).unwrap_or_default()),
        }
    }

    /// Returns true if both entries have the same key. Neighbours are mostly in one interval, where equal keys have
    /// equal heads.
    #[inline]
    pub(crate) fn has_key_of(&self, other: &Self) -> bool {
        if self.head.len() == other.head.len() {
            return self.rest == other.rest && self.head == other.head;
        }
        let (a, b) = if self.head.len() < other.head.len() { (self, other) } else { (other, self) };
        // `a` has the shorter head: the rest of `b`'s head must be a prefix of `a`'s rest.
        match (b.head.split_at_checked(a.head.len()), a.rest.split_at_checked(b.head.len() - a.head.len())) {
            (Some((front, beyond)), Some((begin, end))) => front == a.head && beyond == begin && end == b.rest,
            _ => false,
        }
    }

    /// Start and end of `value` in the block.
    #[inline]
    pub(crate) fn span(&self) -> (u32, u32) {
        (self.value_at, self.value_at + self.value.len() as u32)
    }
}

/// The position of [`Entries`] in a block.
#[derive(Clone, Debug)]
pub(crate) struct Pause {
    unread_at: usize,
    head: Range<usize>,
    left_in_interval: u8,
    left: u32,
}

/// Iterates over the entries of a data block.
pub(crate) struct Entries<'a> {
    /// The unread bytes, up to the end of the block.
    unread: &'a [u8],
    len: u32,
    /// The first key of the interval.
    head: &'a [u8],
    /// Offset of `head` in the block.
    head_at: usize,
    interval: u8,
    left_in_interval: u8,
    left: u32,
}

impl<'a> Entries<'a> {
    /// Starts at the first entry of `block`.
    pub(crate) fn new(block: &'a [u8], trailer: &Trailer) -> Result<Self, Malformed> {
        let len = u32::try_from(block.len()).map_err(|_| Malformed)?;
        let interval = trailer.restart_interval;
        Ok(Self { unread: block, len, head: &[], head_at: 0, interval, left_in_interval: 0, left: trailer.items })
    }

    /// Starts at or before the interval that contains the first key not below `key`.
    pub(crate) fn seek(block: &'a [u8], trailer: &Trailer, key: &[u8]) -> Result<Self, Malformed> {
        let below = Self::intervals_below(block, trailer, key)?;
        let first = below.saturating_sub(1);
        let mut entries = Self::new(block, trailer)?;
        entries.unread = block.get(trailer.restart(block, first)?..).ok_or(Malformed)?;
        let skipped = first.checked_mul(u32::from(trailer.restart_interval)).ok_or(Malformed)?;
        entries.left = trailer.items.checked_sub(skipped).ok_or(Malformed)?;
        Ok(entries)
    }

    /// Reads the entries of the `n`-th interval.
    pub(crate) fn interval(block: &'a [u8], trailer: &Trailer, n: u32) -> Result<Self, Malformed> {
        let mut entries = Self::new(block, trailer)?;
        entries.unread = block.get(trailer.restart(block, n)?..).ok_or(Malformed)?;
        let length = u32::from(trailer.restart_interval);
        let behind = n.checked_mul(length).and_then(|skipped| trailer.items.checked_sub(skipped)).ok_or(Malformed)?;
        entries.left = behind.min(length);
        Ok(entries)
    }

    /// A lower bound of the number of entries below `key`, rounded down to whole intervals.
    pub(crate) fn below(block: &'a [u8], trailer: &Trailer, key: &[u8]) -> Result<u32, Malformed> {
        let below = Self::intervals_below(block, trailer, key)?;
        below.saturating_sub(1).checked_mul(u32::from(trailer.restart_interval)).ok_or(Malformed)
    }

    /// The number of intervals whose first key is below `key`.
    pub(crate) fn intervals_below(block: &'a [u8], trailer: &Trailer, key: &[u8]) -> Result<u32, Malformed> {
        trailer.partition(|n| {
            let mut probe = Self::new(block, trailer)?;
            probe.unread = block.get(trailer.restart(block, n)?..).ok_or(Malformed)?;
            Ok(probe.next_entry()?.is_some_and(|entry| entry.head < key))
        })
    }

    /// Continues in `block` at `pause`.
    pub(crate) fn resume(block: &'a [u8], trailer: &Trailer, pause: &Pause) -> Result<Self, Malformed> {
        let mut entries = Self::new(block, trailer)?;
        entries.unread = block.get(pause.unread_at..).ok_or(Malformed)?;
        entries.head = block.get(pause.head.clone()).ok_or(Malformed)?;
        entries.head_at = pause.head.start;
        (entries.left_in_interval, entries.left) = (pause.left_in_interval, pause.left);
        Ok(entries)
    }

    /// The current position; only valid for the same block.
    pub(crate) fn pause(&self) -> Pause {
        let unread_at = self.len as usize - self.unread.len();
        let head = self.head_at..self.head_at + self.head.len();
        Pause { unread_at, head, left_in_interval: self.left_in_interval, left: self.left }
    }

    /// Returns true if the last entry was the first of its interval, so that its whole key is its head.
    #[inline]
    pub(crate) fn begins_interval(&self) -> bool {
        self.left_in_interval + 1 == self.interval
    }

    /// Number of unread entries.
    #[inline]
    pub(crate) fn left(&self) -> u32 {
        self.left
    }

    /// The next entry; `None` after the last.
    #[inline(always)]
    pub(crate) fn next_entry(&mut self) -> Result<Option<Entry<'a>>, Malformed> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        self.left = left;
        let mut unread = self.unread;
        let kind = byte(&mut unread)?;
        let seqno = varint(&mut unread)?;
        let (head, rest): (&[u8], &[u8]) = if let Some(left) = self.left_in_interval.checked_sub(1) {
            self.left_in_interval = left;
            let shared = varint(&mut unread)? as usize;
            let rest = varint(&mut unread)? as usize;
            (self.head.get(..shared).ok_or(Malformed)?, take(&mut unread, rest)?)
        } else {
            self.left_in_interval = self.interval - 1;
            let length = varint(&mut unread)? as usize;
            self.head_at = self.len as usize - unread.len();
            self.head = take(&mut unread, length)?;
            (self.head, &[])
        };
        let tombstone = match kind {
            VALUE => false,
            TOMBSTONE | WEAK_TOMBSTONE => true,
            _ => return Err(Malformed),
        };
        let mut value: &[u8] = &[];
        let mut value_at = 0;
        if !tombstone {
            let length = varint(&mut unread)? as usize;
            value_at = self.len - unread.len() as u32;
            value = take(&mut unread, length)?;
        }
        self.unread = unread;
        Ok(Some(Entry { seqno, head, rest, tombstone, value, value_at }))
    }
}

/// One entry of an index block: the handle of a block and its last key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IndexEntry<'a> {
    pub(crate) offset: u64,
    pub(crate) size: u32,
    pub(crate) end_key: &'a [u8],
    /// Offset of `end_key` in the index block.
    pub(crate) end_key_at: usize,
}

/// The `n`-th entry of an index block; `None` after the last.
pub(crate) fn index_entry<'a>(block: &'a [u8], trailer: &Trailer, n: u32) -> Result<Option<IndexEntry<'a>>, Malformed> {
    if n >= trailer.restarts {
        return Ok(None);
    }
    let mut unread = block.get(trailer.restart(block, n)?..).ok_or(Malformed)?;
    byte(&mut unread)?;
    let offset = varint(&mut unread)?;
    let size = u32::try_from(varint(&mut unread)?).map_err(|_| Malformed)?;
    varint(&mut unread)?;
    let length = varint(&mut unread)? as usize;
    let end_key_at = block.len() - unread.len();
    let end_key = take(&mut unread, length)?;
    Ok(Some(IndexEntry { offset, size, end_key, end_key_at }))
}

/// The first entry of an index block whose end key is not below `key`: the first block that may contain it. The search
/// starts at `guess`.
pub(crate) fn seek_index(block: &[u8], trailer: &Trailer, guess: u32, key: &[u8]) -> Result<u32, Malformed> {
    trailer.partition_from(guess, |n| Ok(index_entry(block, trailer, n)?.is_some_and(|entry| entry.end_key < key)))
}

#[inline(always)]
fn byte(unread: &mut &[u8]) -> Result<u8, Malformed> {
    let (&first, tail) = unread.split_first().ok_or(Malformed)?;
    *unread = tail;
    Ok(first)
}

#[inline(always)]
fn take<'a>(unread: &mut &'a [u8], len: usize) -> Result<&'a [u8], Malformed> {
    let (taken, tail) = unread.split_at_checked(len).ok_or(Malformed)?;
    *unread = tail;
    Ok(taken)
}

#[inline(always)]
fn varint(unread: &mut &[u8]) -> Result<u64, Malformed> {
    let first = byte(unread)?;
    if first < 0x80 {
        return Ok(u64::from(first));
    }
    // Typical for lengths of rows.
    let second = byte(unread)?;
    let value = u64::from(first & 0x7F) | u64::from(second & 0x7F) << 7;
    if second < 0x80 { Ok(value) } else { long_varint(value, unread) }
}

/// A separate function, because nearly all numbers have one or two bytes and the loop would slow those down.
#[inline(never)]
fn long_varint(mut value: u64, unread: &mut &[u8]) -> Result<u64, Malformed> {
    for shift in (14..64).step_by(7) {
        let next = byte(unread)?;
        value |= u64::from(next & 0x7F) << shift;
        if next < 0x80 {
            return Ok(value);
        }
    }
    Err(Malformed)
}

/// Compares the key `head` + `rest` with `key` without concatenating.
#[inline]
pub(crate) fn compare_key(head: &[u8], rest: &[u8], key: &[u8]) -> Ordering {
    match key.split_at_checked(head.len()) {
        Some((front, back)) => head.cmp(front).then_with(|| rest.cmp(back)),
        // `key` is shorter than `head`, so this key is greater if it begins with `key`.
        None => match head.get(..key.len()).unwrap_or_default().cmp(key) {
            Ordering::Equal => Ordering::Greater,
            unequal => unequal,
        },
    }
}
