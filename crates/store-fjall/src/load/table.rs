//! The rows of a load for one table: buffered, and written to sorted runs if they are many.

use super::check;
use super::memory::InFlight;
use super::packed::PackedRows;
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
    /// The rows in memory, except those in the buffer, if they can be packed.
    pub(super) packed: Option<PackedRows>,
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
    /// Unsorted, or the table is not empty, or streaming is disabled: the rows are written to runs. With the flag, it
    /// is known whether the first rows can be packed.
    Unsorted { tried: bool },
}

const UNSORTED: Order = Order::Unsorted { tried: false };

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
            packed: None,
            order: if streams { Order::NotAsked } else { UNSORTED },
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

    /// Bytes of the rows in memory that [`Self::empty`] writes to disk.
    pub(super) fn held(&self) -> usize {
        self.buffered() + self.packed.as_ref().map_or(0, PackedRows::held)
    }

    /// Allocated memory, including rows that threads are writing.
    pub(super) fn allocated(&self) -> usize {
        self.buffer.allocated() + self.packed_with(0) + self.in_flight.bytes()
    }

    /// [`Self::allocated`] after adding `rows` rows of `bytes` bytes.
    pub(super) fn allocated_with(&self, rows: usize, bytes: usize) -> usize {
        match self.packed {
            // The rows themselves are kept until they are packed.
            Some(_) => self.buffer.allocated() + bytes + self.packed_with(rows) + self.in_flight.bytes(),
            None => self.buffer.allocated_with(rows, bytes) + self.in_flight.bytes(),
        }
    }

    fn packed_with(&self, rows: usize) -> usize {
        self.packed.as_ref().map_or(0, |packed| packed.allocated_with(rows))
    }

    /// Returns true if all rows are in the buffer.
    pub(super) fn is_buffered(&self) -> bool {
        self.runs.is_empty() && self.streamed.is_none() && self.packed.is_none()
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
        if self.packed.is_some() {
            let mut rows = LoadRows::default();
            rows.push(key, fragment);
            return self.pack(family, &rows).await;
        }
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
        if self.packed.is_some() {
            return self.pack(family, &rows).await;
        }
        if self.buffer.bytes() > 0 && self.buffer.held_with(&rows) > self.buffer_limit() {
            self.make_room().await?;
        }
        self.buffer.append(family, rows);
        Ok(())
    }

    /// Adds rows to the packed ones. If one cannot be packed, it and all after it go to the buffer, and the packed rows
    /// to a run.
    async fn pack(&mut self, family: FamilyId, rows: &LoadRows) -> StoreResult<()> {
        self.inner.check_open()?;
        self.inner.room.take(rows.byte_len())?;
        let limit = self.buffer_limit();
        let Some(mut packed) = self.packed.take() else { return Ok(()) };
        if packed.len() > 0 && packed.held_with(rows.len()) > limit {
            let next = packed.emptied();
            self.spill_packed(packed).await?;
            packed = next;
        }
        let packed_now = rows.iter().take_while(|(key, fragment)| packed.push(family, key, fragment)).count();
        if packed_now == rows.len() {
            self.packed = Some(packed);
            return Ok(());
        }
        rows.iter().skip(packed_now).for_each(|(key, fragment)| self.buffer.push(family, key, fragment));
        match packed.len() {
            0 => Ok(()),
            _ => self.spill_packed(packed).await,
        }
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
            Order::Unsorted { tried: false } => options.small_load_bytes.min(most),
            Order::Unsorted { tried: true } => most,
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
                self.order = stream.map_or(UNSORTED, Order::Sorted);
                self.pass_on().await
            }
            Order::Sorted(_) => self.pass_on().await,
            Order::Unsorted { tried: false } => {
                self.order = Order::Unsorted { tried: true };
                self.packed = PackedRows::of(&self.buffer);
                if self.packed.is_some() {
                    self.buffer = Rows::default();
                }
                Ok(())
            }
            Order::Unsorted { tried: true } => self.spill().await,
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
        if let Some(packed) = self.packed.take() {
            self.packed = Some(packed.emptied());
            self.spill_packed(packed).await?;
        }
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
        if let Order::Sorted(stream) = std::mem::replace(&mut self.order, UNSORTED) {
            self.streamed = Some(stream.end().await?);
        }
        Ok(())
    }

    /// Starts sorting and writing the buffer as a run.
    async fn spill(&mut self) -> StoreResult<()> {
        let mut rows = std::mem::take(&mut self.buffer);
        self.begin_run(rows.allocated(), move |path, block| {
            if let Some(mut packed) = PackedRows::of(&rows) {
                drop(rows);
                packed.sort(1);
                return RunFile::write_packed(path, &packed, block);
            }
            rows.sort();
            RunFile::write(path, &rows, block)
        })
        .await
    }

    /// As [`Self::spill`] for packed rows.
    async fn spill_packed(&mut self, mut rows: PackedRows) -> StoreResult<()> {
        self.begin_run(rows.allocated_with(0), move |path, block| {
            rows.sort(1);
            RunFile::write_packed(path, &rows, block)
        })
        .await
    }

    /// Starts writing a run of rows that take `bytes` bytes, after the previous run is written. `write` takes the path
    /// and the block size.
    async fn begin_run(
        &mut self,
        bytes: usize,
        write: impl FnOnce(&Path, usize) -> StoreResult<RunFile> + Send + 'static,
    ) -> StoreResult<()> {
        self.end_spill().await?;
        let (folder, name) = (self.folder.clone(), self.begun.to_string());
        self.begun += 1;
        let flying = self.in_flight.add(bytes);
        let block = (self.inner.options.load_buffer_bytes / 64).clamp(LEAST_BLOCK, MOST_BLOCK);
        self.spilling = Some(task::spawn_blocking(move || {
            let _flying = flying;
            write(&folder.0.join(name), block)
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
