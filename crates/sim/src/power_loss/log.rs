//! The log of the shim: records of a 21-byte head and two byte strings, little-endian.
//!
//! ```text
//!   op u8 | fd i32 | number u64 | length of a u32 | length of b u32 | a | b
//! ```

use std::io;
use std::path::{Path, PathBuf};

/// A recorded call. Calls are in the order in which they took effect.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants' lines name every field")]
pub enum Event {
    /// A file or folder was opened, created if it did not exist, and emptied if `truncate`.
    Open { fd: i32, path: PathBuf, truncate: bool },
    /// A descriptor was closed.
    Close { fd: i32 },
    /// `made` is a duplicate of the descriptor `fd`.
    Duplicate { fd: i32, made: i32 },
    /// Bytes were written at an offset.
    Write { fd: i32, offset: u64, data: Vec<u8> },
    /// The length of the file was set.
    Truncate { fd: i32, length: u64 },
    /// A sync began: what was written before becomes durable at its end.
    SyncBegin { fd: i32, number: u64 },
    /// The sync of this number ended.
    SyncEnd { number: u64 },
    /// A file or folder was renamed, replacing the target.
    Rename { from: PathBuf, to: PathBuf },
    /// A file's name was removed.
    Unlink { path: PathBuf },
    /// A folder was created.
    MakeFolder { path: PathBuf },
    /// An empty folder was removed.
    RemoveFolder { path: PathBuf },
    /// A hard link was created.
    Link { from: PathBuf, to: PathBuf },
    /// A process began. The one before has ended, and its descriptors are closed.
    Start,
}

/// An invalid log.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum LogError {
    /// The log ends within a record.
    #[error("the log ends within the record at byte {0}")]
    Truncated(usize),
    /// The log has an unknown operation.
    #[error("unknown operation {op} at byte {at}")]
    Operation {
        /// The operation.
        op: u8,
        /// The offset of the record.
        at: usize,
    },
}

/// A parsed log.
#[derive(Debug, Default)]
pub struct Log {
    /// The events in order.
    pub events: Vec<Event>,
}

impl Log {
    /// Parses `bytes`. An incomplete record at the end is ignored, because the process may have been killed.
    ///
    /// # Errors
    /// [`LogError::Operation`].
    pub fn parse(bytes: &[u8]) -> Result<Self, LogError> {
        let mut events = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            let at = bytes.len() - rest.len();
            match record(&mut rest, at) {
                Ok(event) => events.push(event),
                Err(LogError::Truncated(_)) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(Self { events })
    }

    /// Reads the file `log`.
    ///
    /// # Errors
    /// As [`Self::parse`], and I/O failures.
    pub fn read(log: &Path) -> io::Result<Self> {
        Self::parse(&std::fs::read(log)?).map_err(io::Error::other)
    }
}

fn record(rest: &mut &[u8], at: usize) -> Result<Event, LogError> {
    let mut take = |length: usize| -> Result<&[u8], LogError> {
        let (taken, left) = rest.split_at_checked(length).ok_or(LogError::Truncated(at))?;
        *rest = left;
        Ok(taken)
    };
    let op = take(1)?.first().copied().unwrap_or_default();
    let fd = i32::from_le_bytes(array(take(4)?));
    let number = u64::from_le_bytes(array(take(8)?));
    let (a, b) = (u32::from_le_bytes(array(take(4)?)), u32::from_le_bytes(array(take(4)?)));
    let (a, b) = (take(a as usize)?.to_vec(), take(b as usize)?.to_vec());
    let path = |bytes: Vec<u8>| PathBuf::from(String::from_utf8_lossy(&bytes).into_owned());
    Ok(match op {
        1 => Event::Open { fd, path: path(a), truncate: number == 1 },
        2 => Event::Close { fd },
        3 => Event::Duplicate { fd, made: number as i32 },
        4 => Event::Write { fd, offset: number, data: a },
        5 => Event::Truncate { fd, length: number },
        6 => Event::SyncBegin { fd, number },
        7 => Event::SyncEnd { number },
        8 => Event::Rename { from: path(a), to: path(b) },
        9 => Event::Unlink { path: path(a) },
        10 => Event::MakeFolder { path: path(a) },
        11 => Event::RemoveFolder { path: path(a) },
        12 => Event::Link { from: path(a), to: path(b) },
        13 => Event::Start,
        op => return Err(LogError::Operation { op, at }),
    })
}

fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().unwrap_or([0; N])
}
