//! A sorted run on disk: rows one after the other, never synced (a crash ends the load).
//!
//! ```text
//!   row    family:u16  key len:u32  fragment len:u32  key  fragment      (native byte order: never leaves the process)
//! ```
//! The first key of each block that was written at a time is kept with its place, so that a run can be read from near any
//! key on.

use super::rows::{Row, Rows};
use super::table::RunFolder;
use crate::error::io;
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use store::{FamilyId, StoreResult};

/// The most that a run is read by at a time,
const BUFFER: usize = 1 << 20;
/// and the least it is read by.
const LEAST_BUFFER: usize = 16 << 10;
const HEAD: usize = 10;

/// A run that was written.
pub(crate) struct RunFile {
    path: PathBuf,
    marks: Vec<Mark>,
}

/// Where a row begins.
pub(crate) struct Mark {
    pub(crate) key: Vec<u8>,
    at: u64,
}

/// A run that is being read.
pub(crate) struct Run {
    file: File,
    buffer: Vec<u8>,
    /// What of the buffer was read from the file and is not passed over yet.
    unread: Range<usize>,
    row: Place,
}

/// The present row in the buffer.
#[derive(Clone, Copy, Default)]
struct Place {
    family: FamilyId,
    start: usize,
    key_end: usize,
    end: usize,
}

impl RunFile {
    /// Writes sorted rows to `path`, about so many bytes at a time.
    ///
    /// # Errors
    /// I/O failures.
    pub(crate) fn write(path: &Path, rows: &Rows, block: usize) -> StoreResult<Self> {
        if let Some(folder) = path.parent() {
            RunFolder::make(folder)?;
        }
        let doing = || io(format!("writing {}", path.display()));
        let mut file = File::create(path).map_err(doing())?;
        let (mut output, mut written, mut marks) = (Vec::with_capacity(block), 0, Vec::new());
        for row in rows.iter() {
            if output.is_empty() {
                marks.push(Mark { key: row.key.to_vec(), at: written });
            }
            output.extend_from_slice(&row.family.0.to_ne_bytes());
            output.extend_from_slice(&(row.key.len() as u32).to_ne_bytes());
            output.extend_from_slice(&(row.fragment.len() as u32).to_ne_bytes());
            output.extend_from_slice(row.key);
            output.extend_from_slice(row.fragment);
            if output.len() + HEAD >= block {
                file.write_all(&output).map_err(doing())?;
                written += output.len() as u64;
                output.clear();
            }
        }
        file.write_all(&output).map_err(doing())?;
        Ok(Self { path: path.to_owned(), marks })
    }

    /// The first key of each block.
    pub(crate) fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// Begins to read it at a row in front of the first one whose key is at least `from`, about so many bytes at a time. Keys
    /// are only in order within a family: of several, `from` is empty.
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
        Ok(Run { file, buffer, unread: 0..0, row: Place::default() })
    }
}

impl Run {
    /// Reads the next row; returns whether there is one.
    ///
    /// # Errors
    /// I/O failures.
    pub(crate) fn advance(&mut self) -> StoreResult<bool> {
        self.read_row().map_err(io("reading a run of a bulk load"))
    }

    /// The next step comes to the present row again.
    pub(crate) fn stay(&mut self) {
        self.unread.start = self.row.start - HEAD;
    }

    /// The row read last.
    pub(crate) fn row(&self) -> Row<'_> {
        let Place { family, start, key_end, end } = self.row;
        let bytes = |range: Range<usize>| self.buffer.get(range).unwrap_or_default();
        Row { family, key: bytes(start..key_end), fragment: bytes(key_end..end) }
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
        let start = self.unread.start + HEAD;
        let family = FamilyId(u16::from_ne_bytes([f0, f1]));
        self.row = Place { family, start, key_end: start + key, end: start + key + fragment };
        self.unread.start += length;
        Ok(true)
    }

    /// The next bytes of the file; `None` at its end.
    fn have(&mut self, wanted: usize) -> std::io::Result<Option<&[u8]>> {
        if self.unread.len() < wanted {
            // What is left goes to the front, and more is read behind it.
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
