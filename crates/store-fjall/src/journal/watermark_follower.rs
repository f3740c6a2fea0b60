//! Moves the watermark along the journal as it becomes durable.

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

/// Each update costs two syncs. Damage in what was written since the last one is taken for a torn tail.
const EVERY: Duration = Duration::from_secs(1);

/// Where the last update was.
#[derive(Default)]
pub(crate) struct Follower {
    at: Option<Instant>,
    /// `None` before the first.
    journal: Option<u64>,
    bytes: u64,
    /// The sequence number of the last batch in them.
    seqno: Option<u64>,
    commit: CommitNo,
}

impl Follower {
    /// Updates the watermark when it is time and something became durable since.
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

    /// Updates the watermark if something became durable since.
    ///
    /// # Errors
    /// I/O failures.
    pub(crate) fn advance(&mut self, inner: &Inner) -> StoreResult<()> {
        let pipeline = &inner.pipeline;
        let durable = pipeline.publisher.durable();
        let (journal, file) = pipeline.group_sync.journal().active()?;
        // A journal that was begun after a write had failed says nothing about the one before it.
        pipeline_is_sound(inner)?;
        if self.journal == Some(journal) && durable == self.commit {
            return Ok(());
        }
        if self.journal != Some(journal) {
            (self.journal, self.bytes, self.seqno) = (Some(journal), 0, None);
        }
        let reading = format!("reading journal {journal}");
        let end = read_batches(ReadFrom { file: &file, at: self.bytes }).map_err(io(reading))?;
        // Some of these batches may not have been synced yet. The handle is the one that commits are
        // synced with, and the kernel tells a failure once: it must not be lost here.
        let synced = files::sync_data(&file).map_err(io(format!("syncing journal {journal}")));
        synced.map_err(|error| pipeline.read_only.set(&error))?;
        self.bytes += end.whole_bytes;
        self.seqno = end.last_seqno.or(self.seqno);
        self.commit = durable;
        pipeline.watermark.advance(journal, self.bytes, self.seqno, durable)
    }
}

/// Reads a shared file from a place of its own.
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
