//! A run: rows of a transaction in a file, sorted, in blocks, with the first key of each block in memory.
//!
//! ```text
//!   row     key length u32 | kind u8 | fragment length u32 | key | fragment       lengths little-endian
//!   block   rows, 32 KiB or one longer row
//! ```
//! The file does not outlive its transaction, so the format needs no version.

use super::bloom::Bloom;
use super::file::{Block, SpillFile};
use super::rows::{Entry, FamilyRows, Rows};
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use store::{Bytes, FamilyId, StoreError, StoreResult, TableId};

const BLOCK_BYTES: usize = 32 << 10;
const HEAD: usize = 9;
const UNWRITTEN: u8 = 0;
const DELETED: u8 = 1;
const REPLACED: u8 = 2;

/// A row decoded from a block.
pub(crate) type RunRow = (Bytes, Entry);

/// The rows of one layer, in a file.
#[derive(Debug)]
pub(crate) struct Run {
    file: Arc<SpillFile>,
    families: BTreeMap<(TableId, FamilyId), Section>,
    rows: usize,
    /// Size of the rows, without the block index.
    row_bytes: u64,
    /// Memory held by the block index and filters.
    bytes: usize,
}

/// The rows of one family.
#[derive(Debug)]
struct Section {
    /// First key and position of each block.
    blocks: Vec<(Bytes, Block)>,
    bloom: Bloom,
}

impl Run {
    /// Appends `rows` to `file`. Blocks the thread.
    ///
    /// # Errors
    /// Errors of the operating system; then nothing refers to the written bytes.
    pub(crate) fn write(rows: &Rows, file: Arc<SpillFile>) -> io::Result<Self> {
        let mut families = BTreeMap::new();
        let mut row_bytes = 0;
        for (id, of_family) in rows.families() {
            families.insert(*id, Section::write(of_family, &file, &mut row_bytes)?);
        }
        let bytes = families.values().map(Section::bytes).sum();
        Ok(Self { file, families, rows: rows.len(), row_bytes, bytes })
    }

    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    pub(crate) fn row_bytes(&self) -> u64 {
        self.row_bytes
    }

    /// Memory held by the block index and filters.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn families(&self) -> impl Iterator<Item = (TableId, FamilyId)> {
        self.families.keys().copied()
    }

    pub(crate) fn writes_to(&self, table: TableId, family: FamilyId) -> bool {
        self.families.contains_key(&(table, family))
    }

    /// The entry of a row.
    ///
    /// # Errors
    /// As [`SpillFile::read`].
    pub(crate) fn get(&self, table: TableId, family: FamilyId, key: &[u8]) -> StoreResult<Option<Entry>> {
        let Some(section) = self.families.get(&(table, family)) else { return Ok(None) };
        if !section.bloom.may_have(key) {
            return Ok(None);
        }
        let Some(at) = section.blocks.partition_point(|(first, _)| first.as_ref() <= key).checked_sub(1) else {
            return Ok(None);
        };
        let rows = self.block(table, family, at)?;
        let found = rows.binary_search_by(|(of_row, _)| of_row.as_ref().cmp(key)).ok();
        Ok(found.and_then(|at| rows.into_iter().nth(at)).map(|(_, entry)| entry))
    }

    /// The block that would contain the key, or the first block after it.
    pub(crate) fn block_of(&self, table: TableId, family: FamilyId, key: &[u8]) -> usize {
        let Some(section) = self.families.get(&(table, family)) else { return 0 };
        section.blocks.partition_point(|(first, _)| first.as_ref() <= key).saturating_sub(1)
    }

    pub(crate) fn blocks(&self, table: TableId, family: FamilyId) -> usize {
        self.families.get(&(table, family)).map_or(0, |section| section.blocks.len())
    }

    /// The rows of a block, in key order; empty after the last block.
    ///
    /// # Errors
    /// As [`SpillFile::read`].
    pub(crate) fn block(&self, table: TableId, family: FamilyId, at: usize) -> StoreResult<Vec<RunRow>> {
        let section = self.families.get(&(table, family));
        let Some((_, block)) = section.and_then(|section| section.blocks.get(at)) else { return Ok(Vec::new()) };
        let bytes = Bytes::from(self.file.read(*block)?);
        let mut rows = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            let (row, next) = decode(&bytes, at).ok_or_else(|| StoreError::Io {
                action: format!("reading a temporary file in \"{}\"", self.file.folder().display()),
                reason: "a row is cut short".to_owned(),
            })?;
            rows.push(row);
            at = next;
        }
        Ok(rows)
    }
}

impl Section {
    /// Memory held.
    fn bytes(&self) -> usize {
        let of_block = |(key, _): &(Bytes, Block)| key.len() + size_of::<(Bytes, Block)>();
        self.blocks.iter().map(of_block).sum::<usize>() + self.bloom.bytes()
    }

    fn write(rows: &FamilyRows, file: &SpillFile, row_bytes: &mut u64) -> io::Result<Self> {
        let mut section = Self { blocks: Vec::new(), bloom: Bloom::for_keys(rows.len()) };
        let mut block = Vec::with_capacity(BLOCK_BYTES);
        let mut first: Option<&Bytes> = None;
        for (key, entry) in rows {
            section.bloom.add(key);
            let before = block.len();
            encode(&mut block, key, entry)?;
            *row_bytes += (block.len() - before) as u64;
            let begin = *first.get_or_insert(key);
            if block.len() >= BLOCK_BYTES {
                // Copied, because the row's own bytes are freed.
                section.blocks.push((Bytes::copy_from_slice(begin), file.append(&block)?));
                block.clear();
                first = None;
            }
        }
        if let Some(begin) = first {
            section.blocks.push((Bytes::copy_from_slice(begin), file.append(&block)?));
        }
        Ok(section)
    }
}

/// Appends one row. Also used for undo entries.
pub(crate) fn encode(out: &mut Vec<u8>, key: &[u8], entry: &Entry) -> io::Result<()> {
    let (kind, fragment) = match entry {
        None => (UNWRITTEN, &[][..]),
        Some(None) => (DELETED, &[][..]),
        Some(Some(fragment)) => (REPLACED, fragment.as_ref()),
    };
    let length = |bytes: &[u8]| u32::try_from(bytes.len()).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge));
    out.extend_from_slice(&length(key)?.to_le_bytes());
    out.push(kind);
    out.extend_from_slice(&length(fragment)?.to_le_bytes());
    out.extend_from_slice(key);
    out.extend_from_slice(fragment);
    Ok(())
}

/// Decodes the row at `at`, and returns the position of the next one.
pub(crate) fn decode(bytes: &Bytes, at: usize) -> Option<(RunRow, usize)> {
    let head = bytes.get(at..at.checked_add(HEAD)?)?;
    let length = |range: std::ops::Range<usize>| Some(u32::from_le_bytes(head.get(range)?.try_into().ok()?) as usize);
    let (key, fragment) = (length(0..4)?, length(5..9)?);
    let key_end = at.checked_add(HEAD)?.checked_add(key)?;
    let end = key_end.checked_add(fragment)?;
    if end > bytes.len() {
        return None;
    }
    let entry = match *head.get(4)? {
        UNWRITTEN => None,
        DELETED => Some(None),
        REPLACED => Some(Some(bytes.slice(key_end..end))),
        _ => return None,
    };
    Some(((bytes.slice(at + HEAD..key_end), entry), end))
}
