//! The rows of a load for one table: buffered, and written to sorted runs if they are many.

use super::check;
use super::memory::InFlight;
use super::rows::Rows;
use super::run::RunFile;
use super::stream::{SortedStream, Streamed};
use crate::error::io;
use crate::inner::Inner;
use crate::seam::task;
use crate::store::joined;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use store::{FamilyId, LoadRows, LoadTable, StoreError, StoreResult, TableId};

/// Size of the buffers that a stream passes on.
const STREAM_BYTES: usize = 1 << 20;
/// Bounds of the block size of a run, which is also the granularity of its cut points.
const LEAST_BLOCK: usize = 4 << 10;
const MOST_BLOCK: usize = 1 << 20;
/// Poll interval of a load that waits for memory of its stream.
const WAIT_FOR_STREAM: Duration = Duration::from_millis(1);

/// The rows of a load for one table.
pub(super) struct TableLoad {
    pub(super) inner: Arc<Inner>,
    pub(super) of: LoadTable,
    families: Vec<FamilyId>,
    pub(super) buffer: Rows,
    order: Order,
    /// The streamed rows, after the stream has ended.
    pub(super) streamed: Option<Streamed>,
    pub(super) runs: Vec<RunFile>,
    /// The run that is being written while the next buffer fills.
    spilling: Option<task::JoinHandle<StoreResult<RunFile>>>,
    /// Number of runs begun so far, used as file names.
    begun: usize,
    /// Shared with the thread that writes a run, so that the folder is deleted after both.
    pub(super) folder: Arc<RunFolder>,
    /// Bytes of rows that threads are writing.
    in_flight: InFlight,
    /// Number of tables in the load, which share its memory.
    tables: usize,
}

/// Whether the rows come in key order.
enum Order {
    /// Not checked yet, because the rows are few.
    NotAsked,
    /// Sorted so far: the rows are streamed.
    Sorted(SortedStream),
    /// Unsorted, or the table is not empty, or streaming is disabled: the rows are written to runs.
    Unsorted,
}

impl TableLoad {
    /// Begins without rows. `streams` allows streaming of rows in key order, which occupies a thread until the load
    /// ends; so a load streams at most one table.
    ///
    /// # Errors
    /// [`StoreError::NoSuchTable`].
    pub(super) fn new(inner: Arc<Inner>, of: LoadTable, streams: bool) -> StoreResult<Self> {
        let state = inner.pipeline.publisher.newest().clone();
        let families = state.tables.table(of.table)?.families.iter().map(|family| family.id).collect();
        let number = inner.loads.fetch_add(1, Ordering::Relaxed);
        let folder = Arc::new(RunFolder(inner.folder.load().join(number.to_string())));
        Ok(Self {
            inner,
            of,
            families,
            buffer: Rows::default(),
            order: if streams { Order::NotAsked } else { Order::Unsorted },
            streamed: None,
            runs: Vec::new(),
            spilling: None,
            begun: 0,
            folder,
            in_flight: InFlight::default(),
            tables: 1,
        })
    }

    /// The id of the table.
    pub(super) fn id(&self) -> TableId {
        self.of.table
    }

    /// Sets the number of tables that share the load's memory.
    pub(super) fn share_memory(&mut self, tables: usize) {
        self.tables = tables.max(1);
    }

    /// Bytes of the rows in the buffer.
    pub(super) fn buffered(&self) -> usize {
        self.buffer.bytes()
    }

    /// Allocated memory, including rows that threads are writing.
    pub(super) fn allocated(&self) -> usize {
        self.buffer.allocated() + self.in_flight.bytes()
    }

    /// [`Self::allocated`] after adding `rows` rows of `bytes` bytes.
    pub(super) fn allocated_with(&self, rows: usize, bytes: usize) -> usize {
        self.buffer.allocated_with(rows, bytes) + self.in_flight.bytes()
    }

    /// Returns true if no rows were written to disk.
    pub(super) fn is_in_memory(&self) -> bool {
        self.runs.is_empty() && self.streamed.is_none()
    }

    /// Sorts the rows in the buffer.
    pub(super) fn sort(&mut self) {
        self.buffer.sort();
    }

    /// Adds a row.
    ///
    /// # Errors
    /// As [`store::BulkLoad::write`].
    pub(super) async fn write(&mut self, family: FamilyId, key: &[u8], fragment: &[u8]) -> StoreResult<()> {
        check(key, fragment)?;
        self.check_family(family)?;
        if self.buffer.held() + key.len() + fragment.len() > self.buffer_limit() {
            self.make_room().await?;
        }
        self.buffer.push(family, key, fragment);
        Ok(())
    }

    /// Adds rows.
    ///
    /// # Errors
    /// As [`store::BulkLoad::write_rows`].
    pub(super) async fn write_rows(&mut self, family: FamilyId, rows: LoadRows) -> StoreResult<()> {
        rows.iter().try_for_each(|(key, fragment)| check(key, fragment))?;
        self.check_family(family)?;
        if self.buffer.bytes() > 0 && self.buffer.held_with(&rows) > self.buffer_limit() {
            self.make_room().await?;
        }
        self.buffer.append(family, rows);
        Ok(())
    }

    /// Writes the remaining rows to the stream or to a run, if earlier rows went there.
    ///
    /// # Errors
    /// I/O failures.
    pub(super) async fn end(&mut self) -> StoreResult<()> {
        self.end_spill().await?;
        self.pass_on().await?;
        self.end_stream().await?;
        if !self.runs.is_empty() && self.buffer.bytes() > 0 {
            // Sorted on another thread, and possibly packed.
            self.spill().await?;
            self.end_spill().await?;
        }
        Ok(())
    }

    /// The table's share of the load's memory.
    pub(super) fn memory(&self) -> usize {
        self.inner.options.load_buffer_bytes / self.tables
    }

    /// Size at which the buffer must be emptied.
    fn buffer_limit(&self) -> usize {
        let options = &self.inner.options;
        let most = self.memory().min(1 << 30);
        match self.order {
            Order::NotAsked => options.small_load_bytes.min(most),
            Order::Sorted(_) => STREAM_BYTES.min(most),
            Order::Unsorted => most,
        }
    }

    /// Passes on the rows of a full buffer, or changes the mode so that it may grow.
    async fn make_room(&mut self) -> StoreResult<()> {
        self.inner.check_open()?;
        self.inner.room.take(self.buffer.bytes())?;
        match self.order {
            Order::NotAsked => {
                let stream = match self.buffer.is_strictly_sorted() {
                    true => self.stream().await?,
                    false => None,
                };
                self.order = stream.map_or(Order::Unsorted, Order::Sorted);
                self.pass_on().await
            }
            Order::Sorted(_) => self.pass_on().await,
            Order::Unsorted => self.spill().await,
        }
    }

    /// Begins a stream, if the table is empty.
    async fn stream(&self) -> StoreResult<Option<SortedStream>> {
        SortedStream::begin(self.inner.clone(), self.of.clone(), self.in_flight.clone()).await
    }

    /// Writes all rows to disk to free the memory.
    ///
    /// # Errors
    /// I/O failures.
    pub(super) async fn empty(&mut self) -> StoreResult<()> {
        while self.buffer.bytes() > 0 {
            self.make_room().await?;
        }
        self.buffer = Rows::default();
        self.end_spill().await?;
        while self.in_flight.bytes() > 0 {
            task::sleep(WAIT_FOR_STREAM).await;
        }
        Ok(())
    }

    /// Passes the buffer to the stream, or ends the stream if the rows are not in order.
    async fn pass_on(&mut self) -> StoreResult<()> {
        let Order::Sorted(stream) = &mut self.order else { return Ok(()) };
        if stream.takes(&self.buffer) {
            return stream.push(std::mem::take(&mut self.buffer)).await;
        }
        self.end_stream().await
    }

    async fn end_stream(&mut self) -> StoreResult<()> {
        if let Order::Sorted(stream) = std::mem::replace(&mut self.order, Order::Unsorted) {
            self.streamed = Some(stream.end().await?);
        }
        Ok(())
    }

    /// Starts sorting and writing the buffer as a run, after the previous run is written.
    async fn spill(&mut self) -> StoreResult<()> {
        self.end_spill().await?;
        let mut rows = std::mem::take(&mut self.buffer);
        let (folder, name) = (self.folder.clone(), self.begun.to_string());
        self.begun += 1;
        let flying = self.in_flight.add(rows.allocated());
        let block = (self.inner.options.load_buffer_bytes / 64).clamp(LEAST_BLOCK, MOST_BLOCK);
        self.spilling = Some(task::spawn_blocking(move || {
            let _flying = flying;
            let path = folder.0.join(name);
            if let Some(packed) = rows.packed() {
                drop(rows);
                return RunFile::write_packed(&path, &packed, block);
            }
            rows.sort();
            RunFile::write(&path, &rows, block)
        }));
        Ok(())
    }

    /// Waits for the run that is being written.
    async fn end_spill(&mut self) -> StoreResult<()> {
        if let Some(spilling) = self.spilling.take() {
            self.runs.push(joined(spilling.await)?);
        }
        Ok(())
    }

    fn check_family(&self, family: FamilyId) -> StoreResult<()> {
        match self.families.contains(&family) {
            true => Ok(()),
            false => Err(StoreError::NoSuchFamily { table: self.of.table, family }),
        }
    }
}

/// The folder for the runs of one table, deleted on drop.
pub(super) struct RunFolder(PathBuf);

impl RunFolder {
    /// # Errors
    /// I/O failures.
    pub(super) fn make(path: &Path) -> StoreResult<()> {
        std::fs::create_dir_all(path).map_err(io(format_args!("creating {}", path.display())))
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        // A load that never spilled has no folder. If deletion fails, the next open deletes the folder.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
