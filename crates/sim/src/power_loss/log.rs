//! The shim's log: 21 bytes of head, then two blobs, little-endian.
//!
//! ```text
//!   op u8 | fd i32 | number u64 | length of a u32 | length of b u32 | a | b
//! ```

use std::io;
use std::path::{Path, PathBuf};

/// One recorded call, in the order in which they took effect.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants' lines name every field")]
pub enum Event {
    /// A file or folder was opened, made if it was not there, emptied if `truncate`.
    Open { fd: i32, path: PathBuf, truncate: bool },
    /// A descriptor was closed.
    Close { fd: i32 },
    /// `made` is the same open file as `fd`.
    Duplicate { fd: i32, made: i32 },
    /// Bytes at an offset.
    Write { fd: i32, offset: u64, data: Vec<u8> },
    /// The file is this long now.
    Truncate { fd: i32, length: u64 },
    /// A sync began: what was written until here will be durable at its end.
    SyncBegin { fd: i32, number: u64 },
    /// The sync of this number ended.
    SyncEnd { number: u64 },
    /// A name moved, over what had the new one.
    Rename { from: PathBuf, to: PathBuf },
    /// A file's name went away.
    Unlink { path: PathBuf },
    /// A folder was made.
    MakeFolder { path: PathBuf },
    /// An empty folder went away.
    RemoveFolder { path: PathBuf },
    /// A file got a second name.
    Link { from: PathBuf, to: PathBuf },
    /// A process began: the one before is gone, and its descriptors with it.
    Start,
}

/// A log that is not the shim's.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum LogError {
    /// It ends within a record.
    #[error("the log ends within the record at byte {0}")]
    Truncated(usize),
    /// It has an operation that does not exist.
    #[error("unknown operation {op} at byte {at}")]
    Operation {
        /// The operation.
        op: u8,
        /// Where.
        at: usize,
    },
}

/// A log, read whole.
#[derive(Debug, Default)]
pub struct Log {
    /// Its events.
    pub events: Vec<Event>,
}

impl Log {
    /// Reads `bytes`. The process may have been killed: a record cut off at the end is left out.
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
    /// As [`Self::parse`], and failures of the reading.
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
