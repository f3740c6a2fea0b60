//! A sorted run on disk, never synced, because a crash ends the load.
//!
//! ```text
//!   row          family:u16  key len:u32  fragment len:u32  key  fragment      (native byte order: never leaves the process)
//!   packed row   its packed key, fixed width                                   (big-endian)
//! ```
//! The first key of each block is kept with its offset, so that reading can start near any key.

use super::packed::{PackedRows, Template, Unpacked};
use super::packing::{Differences, Packing};
use super::rows::{Row, Rows};
use super::table::RunFolder;
use crate::error::io;
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::{FamilyId, StoreResult};

/// The maximum read size,
const BUFFER: usize = 1 << 20;
/// and the minimum.
const LEAST_BUFFER: usize = 16 << 10;
const HEAD: usize = 10;

/// A written run.
pub(crate) struct RunFile {
    path: PathBuf,
    marks: Vec<Mark>,
    differences: Option<Differences>,
    /// Set if the rows are packed.
    template: Option<Arc<Template>>,
}

/// The offset of a row.
pub(crate) struct Mark {
    pub(crate) key: Vec<u8>,
    at: u64,
}

/// A run that is being read.
pub(crate) struct Run {
    file: File,
    buffer: Vec<u8>,
    /// The unread part of the buffer.
    unread: Range<usize>,
    row: Place,
    differences: Option<Differences>,
    /// The current row, if rows are packed.
    unpacked: Option<Unpacked>,
}

/// The current row in the buffer.
#[derive(Clone, Copy, Default)]
struct Place {
    family: FamilyId,
    /// Offset of the row's head.
    from: usize,
    start: usize,
    key_end: usize,
    end: usize,
}

/// Writes a run in blocks.
struct RunWriter {
    file: File,
    path: PathBuf,
    block: usize,
    output: Vec<u8>,
    written: u64,
    marks: Vec<Mark>,
}

impl RunFile {
    /// Writes sorted rows to `path` in blocks of about `block` bytes.
    ///
    /// # Errors
    /// I/O failures.
    pub(crate) fn write(path: &Path, rows: &Rows, block: usize) -> StoreResult<Self> {
        let mut writer = RunWriter::create(path, block)?;
        for row in rows.iter() {
            writer.begin_row(|| row.key.to_vec());
            let output = &mut writer.output;
            output.extend_from_slice(&row.family.0.to_ne_bytes());
            output.extend_from_slice(&(row.key.len() as u32).to_ne_bytes());
            output.extend_from_slice(&(row.fragment.len() as u32).to_ne_bytes());
            output.extend_from_slice(row.key);
            output.extend_from_slice(row.fragment);
            writer.end_row()?;
        }
        writer.finish(rows.differences().cloned(), None)
    }

    /// As [`Self::write`] for packed rows, which are sorted.
    ///
    /// # Errors
    /// I/O failures.
    pub(super) fn write_packed(path: &Path, rows: &PackedRows, block: usize) -> StoreResult<Self> {
        let mut writer = RunWriter::create(path, block)?;
        let packing = &rows.template().packing;
        let unused = size_of::<u128>() - packing.width();
        for number in rows.numbers() {
            writer.begin_row(|| {
                let mut key = packing.padded_key(number);
                key.truncate(packing.key_len());
                key
            });
            writer.output.extend_from_slice(number.to_be_bytes().get(unused..).unwrap_or_default());
            writer.end_row()?;
        }
        writer.finish(Some(rows.differences().clone()), Some(rows.template().clone()))
    }

    /// The first key of each block.
    pub(crate) fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// Opens the run before the first row whose key is not below `from`, and reads about `bytes` bytes at a time.
    /// `from` must be empty if the rows are of several families, because keys are ordered within a family only.
    ///
    /// # Errors
    /// I/O failures.
    pub(crate) fn open(&self, from: &[u8], bytes: usize) -> StoreResult<Run> {
        let doing = || io(format!("reading {}", self.path.display()));
        let mut file = File::open(&self.path).map_err(doing())?;
        let below = self.marks.partition_point(|mark| mark.key.as_slice() < from);
        let at = below.checked_sub(1).and_then(|last| self.marks.get(last)).map_or(0, |mark| mark.at);
        if at > 0 {
            file.seek(SeekFrom::Start(at)).map_err(doing())?;
        }
        let buffer = vec![0; bytes.clamp(LEAST_BUFFER, BUFFER)];
        let unpacked = self.template.clone().map(Unpacked::new);
        let differences = self.differences.clone();
        Ok(Run { file, buffer, unread: 0..0, row: Place::default(), differences, unpacked })
    }
}

impl RunWriter {
    fn create(path: &Path, block: usize) -> StoreResult<Self> {
        if let Some(folder) = path.parent() {
            RunFolder::make(folder)?;
        }
        let file = File::create(path).map_err(io(format!("writing {}", path.display())))?;
        let output = Vec::with_capacity(block);
        Ok(Self { file, path: path.to_owned(), block, output, written: 0, marks: Vec::new() })
    }

    /// Begins a row with this key.
    fn begin_row(&mut self, key: impl FnOnce() -> Vec<u8>) {
        if self.output.is_empty() {
            self.marks.push(Mark { key: key(), at: self.written });
        }
    }

    fn end_row(&mut self) -> StoreResult<()> {
        if self.output.len() + HEAD >= self.block { self.put_out() } else { Ok(()) }
    }

    fn put_out(&mut self) -> StoreResult<()> {
        self.file.write_all(&self.output).map_err(io(format_args!("writing {}", self.path.display())))?;
        self.written += self.output.len() as u64;
        self.output.clear();
        Ok(())
    }

    fn finish(mut self, differences: Option<Differences>, template: Option<Arc<Template>>) -> StoreResult<RunFile> {
        self.put_out()?;
        Ok(RunFile { path: self.path, marks: self.marks, differences, template })
    }
}

impl Run {
    /// The bits in which the keys differ, if known.
    pub(super) fn differences(&self) -> Option<&Differences> {
        self.differences.as_ref()
    }

    /// Reads the next row; returns whether there is one.
    ///
    /// # Errors
    /// I/O failures.
    pub(crate) fn advance(&mut self) -> StoreResult<bool> {
        let read = if self.unpacked.is_some() { self.read_number() } else { self.read_row() };
        read.map_err(io("reading a run of a bulk load"))
    }

    /// Makes the next [`Self::advance`] return the current row again.
    pub(crate) fn stay(&mut self) {
        self.unread.start = self.row.from;
    }

    /// The current row.
    pub(crate) fn row(&self) -> Row<'_> {
        if let Some(unpacked) = &self.unpacked {
            return unpacked.row();
        }
        let Place { family, start, key_end, end, .. } = self.row;
        let bytes = |range: Range<usize>| self.buffer.get(range).unwrap_or_default();
        Row { family, key: bytes(start..key_end), fragment: bytes(key_end..end) }
    }

    /// Packs the key of the current row.
    pub(super) fn pack(&self, packing: &Packing) -> u128 {
        match &self.unpacked {
            Some(unpacked) => unpacked.pack(packing),
            None => packing.pack(self.row().key),
        }
    }

    fn read_row(&mut self) -> std::io::Result<bool> {
        let Some(&[f0, f1, k0, k1, k2, k3, v0, v1, v2, v3]) = self.have(HEAD)?.and_then(|head| head.first_chunk())
        else {
            return Ok(false);
        };
        let lengths = [[k0, k1, k2, k3], [v0, v1, v2, v3]];
        let [key, fragment] = lengths.map(|length| u32::from_ne_bytes(length) as usize);
        let length = HEAD + key + fragment;
        if self.have(length)?.is_none() {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let from = self.unread.start;
        let start = from + HEAD;
        let family = FamilyId(u16::from_ne_bytes([f0, f1]));
        self.row = Place { family, from, start, key_end: start + key, end: start + key + fragment };
        self.unread.start += length;
        Ok(true)
    }

    fn read_number(&mut self) -> std::io::Result<bool> {
        let Some(mut unpacked) = self.unpacked.take() else { return Ok(false) };
        let width = unpacked.width();
        let read = self.have(width).map(|bytes| bytes.map(|bytes| unpacked.set_bytes(bytes)).is_some());
        self.unpacked = Some(unpacked);
        if read? {
            self.row.from = self.unread.start;
            self.unread.start += width;
            return Ok(true);
        }
        Ok(false)
    }

    /// Returns the next bytes of the file without consuming them; `None` at the end.
    fn have(&mut self, wanted: usize) -> std::io::Result<Option<&[u8]>> {
        if self.unread.len() < wanted {
            // Moves the unread bytes to the front of the buffer.
            self.buffer.copy_within(self.unread.clone(), 0);
            self.unread = 0..self.unread.len();
            if self.buffer.len() < wanted {
                self.buffer.resize(wanted, 0);
            }
        }
        while self.unread.len() < wanted {
            let room = self.buffer.get_mut(self.unread.end..).unwrap_or_default();
            match self.file.read(room) {
                Ok(0) if self.unread.is_empty() => return Ok(None),
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(read) => self.unread.end += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(self.buffer.get(self.unread.start..self.unread.start + wanted))
    }
}
