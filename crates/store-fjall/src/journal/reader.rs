//! Reads fjall's journal files and tells whole batches from a torn one.
//!
//! ```text
//!   journal  batch*  then zeros (preallocated) or the end of the file
//!   batch    start  (item | clear)*count  end
//!   start    01  count:u32  seqno:u64
//!   item     02  value type:u8  compression:u8  keyspace:u64  key len:u16  value len:u32  stored len:u32  key  stored
//!   clear    04  keyspace:u64
//!   end      03  xxh3 of the items and clears:u64  "FJL" 03
//! ```
//! Numbers are little-endian. This is the format of fjall 3.1, whose version is pinned; the tests of this file read
//! journals that fjall wrote.

use crate::journal::seqno_chain::{Chain, SeqnoMark, Wrong};
use crate::meta::SEQNO_KEY;
use std::io::{self, BufRead, BufReader, Read};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

const START: u8 = 1;
const ITEM: u8 = 2;
const END: u8 = 3;
const CLEAR: u8 = 4;
const TRAILER: &[u8; 4] = b"FJL\x03";
static ZEROS: [u8; 4096] = [0; 4096];

/// The result of reading a journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct JournalEnd {
    /// Bytes of whole batches from the start of the input.
    pub(crate) whole_bytes: u64,
    /// Number of whole batches.
    pub(crate) batches: u64,
    /// Number of items in these batches.
    pub(crate) items: u64,
    /// The sequence number after the largest of these batches.
    pub(crate) next_seqno: u64,
    /// The sequence number of the last whole batch.
    pub(crate) last_seqno: Option<u64>,
    /// Whether anything but zeros follows the last whole batch.
    pub(crate) torn: bool,
    /// Set if a batch has an impossible sequence number: the batch that follows, or the last batch of the journal
    /// before.
    pub(crate) wrong: Option<Wrong>,
}

impl JournalEnd {
    fn with(self, batch: Whole) -> Self {
        Self {
            whole_bytes: self.whole_bytes + batch.bytes,
            batches: self.batches + 1,
            items: self.items + batch.items,
            next_seqno: self.next_seqno.max(batch.seqno.saturating_add(1)),
            last_seqno: Some(batch.seqno),
            ..self
        }
    }
}

/// What sequence numbers are checked against.
pub(crate) struct Rules<'a> {
    /// The state after the batches of earlier journals.
    pub(crate) chain: &'a mut Chain,
    /// The id of the meta keyspace, which holds the marks.
    pub(crate) meta: Option<u64>,
    /// A known sequence number: the batch that ends at byte `.0` has number `.1`.
    pub(crate) known: Option<(u64, u64)>,
}

/// Reads batches from `input` until its end or the first incomplete batch.
///
/// # Errors
/// I/O failures other than the end of the file.
#[cfg(test)]
pub(crate) fn read_to_end(input: impl Read) -> io::Result<JournalEnd> {
    Reader::new(input, None).read_whole()
}

/// As [`read_to_end`], but also ends at a wrong sequence number.
///
/// # Errors
/// As [`read_to_end`].
pub(crate) fn check(input: impl Read, rules: Rules<'_>) -> io::Result<JournalEnd> {
    Reader::new(input, Some(rules)).read_whole()
}

/// As [`read_to_end`] for a journal that is being written: ignores the bytes after the last whole batch.
///
/// # Errors
/// As [`read_to_end`].
pub(crate) fn read_batches(input: impl Read) -> io::Result<JournalEnd> {
    Reader::new(input, None).batches()
}

/// An unused keyspace id: fjall does not replay rows of it.
const UNUSED_KEYSPACE: u64 = 0;

/// Changes the keyspace id of the rows for which `is_out(keyspace, seqno)` holds to an unused one, so that they are not
/// replayed. Cuts bytes after the last whole batch. Returns the number of changed rows.
pub(crate) fn exclude_from_replay(bytes: &mut Vec<u8>, is_out: impl Fn(u64, u64) -> bool) -> usize {
    let (mut at, mut rows) = (0, 0);
    while let Some((len, out)) = bytes.get_mut(at..).and_then(|rest| exclude_from_batch(rest, &is_out)) {
        (at, rows) = (at + len, rows + out);
    }
    bytes.truncate(at);
    rows
}

/// The length of the batch at the start of `bytes` and the number of changed rows; `None` if there is no whole batch.
fn exclude_from_batch(bytes: &mut [u8], is_out: impl Fn(u64, u64) -> bool) -> Option<(usize, usize)> {
    const HEAD: usize = 13;
    const ITEM_HEAD: usize = 21;
    let (&START, rest) = bytes.split_first()? else { return None };
    let count = u32::from_le_bytes(*rest.first_chunk()?);
    let seqno = u64::from_le_bytes(*rest.get(4..)?.first_chunk()?);
    let (mut at, mut rows) = (HEAD, 0);
    for _ in 0..count {
        let item = bytes.get_mut(at..)?;
        match *item.first()? {
            CLEAR => at += 9,
            ITEM => {
                let key = u16::from_le_bytes(*item.get(11..)?.first_chunk()?);
                let stored = u32::from_le_bytes(*item.get(17..)?.first_chunk()?);
                let keyspace = item.get_mut(3..)?.first_chunk_mut()?;
                if is_out(u64::from_le_bytes(*keyspace), seqno) {
                    *keyspace = UNUSED_KEYSPACE.to_le_bytes();
                    rows += 1;
                }
                at += ITEM_HEAD + usize::from(key) + stored as usize;
            }
            _ => return None,
        }
    }
    let checksum = xxh3_64(bytes.get(HEAD..at)?);
    let (&mut END, end) = bytes.get_mut(at..)?.split_first_mut()? else { return None };
    if rows > 0 {
        *end.first_chunk_mut()? = checksum.to_le_bytes();
    }
    Some((at + HEAD, rows))
}

enum Batch {
    Whole(Whole),
    /// The end of the file, or a zero in place of a batch.
    Nothing,
    Broken,
}

#[derive(Clone, Copy)]
struct Whole {
    bytes: u64,
    items: u64,
    seqno: u64,
}

struct Reader<'a, R> {
    input: BufReader<R>,
    buffer: Vec<u8>,
    rules: Option<Rules<'a>>,
    /// The mark of the batch that is being read.
    mark: Option<SeqnoMark>,
}

impl<'a, R: Read> Reader<'a, R> {
    fn new(input: R, rules: Option<Rules<'a>>) -> Self {
        Self { input: BufReader::with_capacity(1 << 18, input), buffer: Vec::new(), rules, mark: None }
    }

    fn read_whole(mut self) -> io::Result<JournalEnd> {
        let end = self.batches()?;
        Ok(JournalEnd { torn: end.torn || !self.only_zeros_left()?, ..end })
    }

    fn batches(&mut self) -> io::Result<JournalEnd> {
        let mut end = JournalEnd::default();
        // The result without the last batch, in case its number turns out to be wrong.
        let mut before = None;
        loop {
            let batch = match self.batch()? {
                Batch::Whole(batch) => batch,
                Batch::Nothing => return Ok(end),
                Batch::Broken => return Ok(JournalEnd { torn: true, ..end }),
            };
            match self.judge(&end, batch) {
                Ok(()) => {
                    before = Some(end);
                    end = end.with(batch);
                }
                Err(Wrong::This) => return Ok(JournalEnd { torn: true, wrong: Some(Wrong::This), ..end }),
                Err(Wrong::Previous) => {
                    let wrong = if before.is_some() { Wrong::This } else { Wrong::Previous };
                    return Ok(JournalEnd { torn: true, wrong: Some(wrong), ..before.unwrap_or(end) });
                }
            }
        }
    }

    /// Checks the sequence number of a batch.
    fn judge(&mut self, end: &JournalEnd, batch: Whole) -> Result<(), Wrong> {
        let mark = self.mark.take();
        let Some(rules) = &mut self.rules else { return Ok(()) };
        match rules.known {
            Some((at, seqno)) if at == end.whole_bytes + batch.bytes && seqno != batch.seqno => Err(Wrong::This),
            _ => rules.chain.next(batch.seqno, mark.as_ref()),
        }
    }

    fn batch(&mut self) -> io::Result<Batch> {
        match self.input.fill_buf()?.first() {
            None | Some(0) => return Ok(Batch::Nothing),
            Some(_) => {}
        }
        match self.batch_body() {
            Ok(Some(whole)) => Ok(Batch::Whole(whole)),
            Ok(None) => Ok(Batch::Broken),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(Batch::Broken),
            Err(error) => Err(error),
        }
    }

    fn batch_body(&mut self) -> io::Result<Option<Whole>> {
        let [tag, count @ ..] = self.take::<5>()?;
        if tag != START {
            return Ok(None);
        }
        let count = u32::from_le_bytes(count);
        let seqno = u64::from_le_bytes(self.take()?);
        self.mark = None;
        let mut bytes = 13;
        let mut hash = Xxh3::new();
        for _ in 0..count {
            match self.entry(&mut hash)? {
                Some(read) => bytes += read,
                None => return Ok(None),
            }
        }
        let [tag, checksum @ ..] = self.take::<9>()?;
        let trailer = self.take::<4>()?;
        let whole = tag == END && u64::from_le_bytes(checksum) == hash.digest() && &trailer == TRAILER;
        Ok(whole.then_some(Whole { bytes: bytes + 13, items: u64::from(count), seqno }))
    }

    /// Reads one item or clear. The checksum covers its stored bytes.
    fn entry(&mut self, hash: &mut Xxh3) -> io::Result<Option<u64>> {
        let tag = self.take::<1>()?;
        hash.update(&tag);
        match tag {
            [CLEAR] => {
                hash.update(&self.take::<8>()?);
                Ok(Some(9))
            }
            [ITEM] => {
                let head = self.take::<20>()?;
                hash.update(&head);
                let [_type, _compression, keyspace @ .., k0, k1, _, _, _, _, s0, s1, s2, s3] = head;
                let key = usize::from(u16::from_le_bytes([k0, k1]));
                let stored = u32::from_le_bytes([s0, s1, s2, s3]) as usize;
                self.skip(key + stored, hash)?;
                if key == SEQNO_KEY.len() && self.is_meta(keyspace) {
                    self.keep_mark();
                }
                Ok(Some(21 + (key + stored) as u64))
            }
            _ => Ok(None),
        }
    }

    fn is_meta(&self, keyspace: [u8; 8]) -> bool {
        self.rules.as_ref().is_some_and(|rules| rules.meta == Some(u64::from_le_bytes(keyspace)))
    }

    /// Parses the mark of the last item, which fits in the buffer whole.
    fn keep_mark(&mut self) {
        if let Some(mark) = self.buffer.strip_prefix(SEQNO_KEY) {
            self.mark = serde_json::from_slice(mark).ok();
        }
    }

    fn take<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.input.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// Skips bytes in pieces, because a length may be damaged and must not determine an allocation.
    fn skip(&mut self, mut bytes: usize, hash: &mut Xxh3) -> io::Result<()> {
        const PIECE: usize = 64 << 10;
        while bytes > 0 {
            self.buffer.resize(bytes.min(PIECE), 0);
            self.input.read_exact(&mut self.buffer)?;
            hash.update(&self.buffer);
            bytes -= self.buffer.len();
        }
        Ok(())
    }

    fn only_zeros_left(&mut self) -> io::Result<bool> {
        loop {
            let buffer = self.input.fill_buf()?;
            if buffer.is_empty() {
                return Ok(true);
            }
            // Compares whole pieces: a byte-wise loop takes most of the opening time in an unoptimized build.
            if buffer.chunks(ZEROS.len()).any(|piece| Some(piece) != ZEROS.get(..piece.len())) {
                return Ok(false);
            }
            let len = buffer.len();
            self.input.consume(len);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use fjall::{Database, PersistMode};

    /// The bytes of a journal that fjall wrote.
    fn written_by_fjall() -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let db = Database::builder(folder.path()).open().unwrap();
        let keyspace = db.keyspace("k", Default::default).unwrap();
        for round in 0..20_u8 {
            let mut batch = db.batch();
            batch.insert(&keyspace, [round], vec![round; 10]);
            // Long enough to be compressed.
            batch.insert(&keyspace, [round, 1], vec![round; 9000]);
            batch.remove(&keyspace, [round, 2]);
            batch.commit().unwrap();
        }
        db.persist(PersistMode::SyncAll).unwrap();
        std::fs::read(folder.path().join("0.jnl")).unwrap()
    }

    #[test]
    fn a_journal_of_fjall_is_read_whole() {
        let bytes = written_by_fjall();
        let end = read_to_end(bytes.as_slice()).unwrap();
        assert_eq!((end.batches, end.items, end.torn), (20, 60, false));
        assert!(bytes[end.whole_bytes as usize..].iter().all(|&byte| byte == 0));
    }

    #[test]
    fn what_is_withdrawn_is_not_replayed_and_all_else_is() {
        let bytes = written_by_fjall();
        let whole = read_to_end(bytes.as_slice()).unwrap();
        let first = whole.last_seqno.unwrap() - 19;
        let mut left = bytes.clone();
        assert_eq!(exclude_from_replay(&mut left, |_, seqno| seqno < first + 7), 21);
        assert_eq!(read_to_end(left.as_slice()).unwrap(), whole);
        let folder = tempfile::tempdir().unwrap();
        drop(Database::builder(folder.path()).open().unwrap().keyspace("k", Default::default).unwrap());
        std::fs::write(folder.path().join("0.jnl"), &left).unwrap();
        let db = Database::builder(folder.path()).open().unwrap();
        let keyspace = db.keyspace("k", Default::default).unwrap();
        let found: Vec<u8> = keyspace.iter().map(|row| row.key().unwrap()[0]).collect();
        assert_eq!(found, (7..20).flat_map(|round| [round, round]).collect::<Vec<u8>>());
        assert_eq!(exclude_from_replay(&mut left, |_, _| false), 0);
    }

    #[test]
    fn a_cut_or_a_changed_byte_anywhere_ends_at_the_batch_before() {
        let bytes = written_by_fjall();
        let whole = read_to_end(bytes.as_slice()).unwrap().whole_bytes as usize;
        let batch = whole / 20;
        for at in (0..whole).step_by(7) {
            let cut = read_to_end(&bytes[..at]).unwrap();
            assert_eq!(cut.whole_bytes as usize, at / batch * batch, "cut at {at}");
            assert_eq!(cut.torn, at % batch != 0, "cut at {at}");
            // Bytes 1..13 of a batch are its count and seqno; fjall's checksum does not cover the seqno.
            if !(5..13).contains(&(at % batch)) {
                let mut damaged = bytes.clone();
                damaged[at] ^= 0x40;
                let end = read_to_end(damaged.as_slice()).unwrap();
                assert_eq!((end.whole_bytes as usize, end.torn), (at / batch * batch, true), "damaged at {at}");
            }
        }
    }
}
