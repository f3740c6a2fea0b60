//! Advances the watermark as the journal becomes durable.

use crate::error::io;
use crate::housekeeping::pipeline_is_sound;
use crate::inner::Inner;
use crate::journal::reader::read_batches;
use crate::seam::{Instant, files};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::time::Duration;
use store::{CommitNo, StoreResult};

/// Interval between updates, which cost two syncs each. Damage in bytes written since the last update is treated as a
/// torn tail.
const EVERY: Duration = Duration::from_secs(1);

/// The position of the last update.
#[derive(Default)]
pub(crate) struct Follower {
    at: Option<Instant>,
    /// `None` before the first update.
    journal: Option<u64>,
    bytes: u64,
    /// The sequence number of the last batch in the `bytes` read.
    seqno: Option<u64>,
    commit: CommitNo,
}

impl Follower {
    /// Updates the watermark if the interval has passed and something became durable since.
    ///
    /// # Errors
    /// I/O failures.
    pub(crate) fn tick(&mut self, inner: &Inner) -> StoreResult<()> {
        if self.at.is_some_and(|at| at.elapsed() < EVERY) {
            return Ok(());
        }
        self.at = Some(Instant::now());
        self.advance(inner)
    }

    /// Updates the watermark if something became durable since the last update.
    ///
    /// # Errors
    /// I/O failures.
    pub(crate) fn advance(&mut self, inner: &Inner) -> StoreResult<()> {
        let pipeline = &inner.pipeline;
        let durable = pipeline.publisher.durable();
        let (journal, file) = pipeline.group_sync.journal().active()?;
        // A journal that was begun after a failed write does not imply that the one before it is durable.
        pipeline_is_sound(inner)?;
        if self.journal == Some(journal) && durable == self.commit {
            return Ok(());
        }
        if self.journal != Some(journal) {
            (self.journal, self.bytes, self.seqno) = (Some(journal), 0, None);
        }
        let reading = format!("reading journal {journal}");
        let end = read_batches(ReadFrom { file: &file, at: self.bytes }).map_err(io(reading))?;
        // Some of these batches may not have been synced. This handle is the one that commits are synced with, and the
        // kernel reports a write error once per handle, so the error must not be lost here.
        let synced = files::sync_data(&file).map_err(io(format!("syncing journal {journal}")));
        synced.map_err(|error| pipeline.read_only.set(&error))?;
        self.bytes += end.whole_bytes;
        self.seqno = end.last_seqno.or(self.seqno);
        self.commit = durable;
        pipeline.watermark.advance(journal, self.bytes, self.seqno, durable)
    }
}

/// Reads a shared file from an own offset.
struct ReadFrom<'a> {
    file: &'a File,
    at: u64,
}

impl Read for ReadFrom<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}
