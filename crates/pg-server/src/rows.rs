//! Result rows, pulled chunk by chunk and written as DataRows.

use crate::backend::RowTag;
use crate::encode::{ColumnReader, Printer, put_bytes, put_field};
use crate::end::Failure;
use crate::wire::Wire;
use engine::{Cell, Chunk, ClientFault, ColumnDesc, RowStream, Session, StatementTimer, StoredRows, TimeZone};
use futures::StreamExt;
use std::sync::Arc;

/// A stream of result rows and the position in it.
pub(crate) struct RowSource {
    stream: RowStream,
    printer: Printer,
    /// The chunk being sent and its next row.
    current: Option<(Chunk, usize)>,
    /// Rows sent so far, over all Executes.
    sent: u64,
    /// The time limit of the statement; every Execute has the whole time.
    timer: Option<StatementTimer>,
}

impl RowSource {
    pub(crate) fn new(stream: RowStream, zone: TimeZone, timer: Option<StatementTimer>) -> Self {
        Self { stream, printer: Printer::new(zone), current: None, sent: 0, timer }
    }

    /// Stops the statement's time limit until the next Execute.
    pub(crate) fn pause(&self) {
        if let Some(timer) = &self.timer {
            timer.pause();
        }
    }

    /// Starts the statement's time limit again, for an Execute.
    pub(crate) fn resume(&self, session: &Session) {
        if let Some(timer) = &self.timer {
            session.resume(timer);
        }
    }

    pub(crate) fn columns(&self) -> Arc<Vec<ColumnDesc>> {
        self.stream.columns.clone()
    }

    /// The command tag of CommandComplete.
    pub(crate) fn tag(&self) -> RowTag {
        RowTag { words: self.stream.tag, counted: self.stream.counted }
    }

    /// Rows sent or skipped so far.
    pub(crate) fn sent(&self) -> u64 {
        self.sent
    }

    /// Skips up to `limit` rows (0: all). True at the end of the result.
    pub(crate) async fn pass(&mut self, wire: &mut Wire, limit: usize) -> Result<bool, Failure> {
        let mut left = if limit == 0 { usize::MAX } else { limit };
        while left > 0 {
            let Some((chunk, start)) = self.next(wire).await? else { return Ok(true) };
            let end = chunk.len().min(start.saturating_add(left));
            left -= end - start;
            self.leave(chunk, start, end);
        }
        Ok(false)
    }

    /// The current or next chunk, and the next row in it.
    async fn next(&mut self, wire: &mut Wire) -> Result<Option<(Chunk, usize)>, Failure> {
        if let Some(current) = self.current.take() {
            return Ok(Some(current));
        }
        match wire.watch(self.stream.chunks.next()).await? {
            Some(chunk) => Ok(Some((chunk?, 0))),
            None => Ok(None),
        }
    }

    /// Counts the rows `start..end` of a chunk as done, and keeps the chunk if it has more.
    fn leave(&mut self, chunk: Chunk, start: usize, end: usize) {
        self.sent += (end - start) as u64;
        if end < chunk.len() {
            self.current = Some((chunk, end));
        }
    }

    /// Writes up to `limit` rows (0: all). True at the end of the result.
    pub(crate) async fn send(
        &mut self,
        wire: &mut Wire,
        binary: &(dyn Fn(usize) -> bool + Sync),
        limit: usize,
    ) -> Result<bool, Failure> {
        let columns = self.columns();
        let formats: Vec<bool> = (0..columns.len()).map(binary).collect();
        let mut left = if limit == 0 { usize::MAX } else { limit };
        loop {
            let Some((chunk, start)) = self.next(wire).await? else { return Ok(true) };
            let end = chunk.len().min(start.saturating_add(left));
            write_rows(wire, &columns, &formats, &chunk, start..end, &mut self.printer).await?;
            left -= end - start;
            self.leave(chunk, start, end);
            if left == 0 {
                // Reports the portal as suspended even if no row is left, as PostgreSQL does.
                wire.flush_if_full().await?;
                return Ok(false);
            }
        }
    }
}

async fn write_rows(
    wire: &mut Wire,
    columns: &[ColumnDesc],
    binary: &[bool],
    chunk: &Chunk,
    rows: std::ops::Range<usize>,
    printer: &mut Printer,
) -> Result<(), Failure> {
    match chunk {
        Chunk::Batch(batch) => {
            let mut at = rows.start;
            while at < rows.end {
                at = write_batch(wire, columns, binary, batch, at..rows.end, printer)?;
                wire.flush_if_full().await?;
            }
        }
        Chunk::Stored(stored) => {
            let mut buffer = Vec::new();
            for row in rows {
                write_stored(wire, columns, binary, (stored, row), &mut buffer, printer)?;
                wire.flush_if_full().await?;
            }
        }
        Chunk::Rows(list) => {
            for row in list.get(rows).unwrap_or_default() {
                let start = wire.out.begin_row(columns.len());
                for ((column, binary), value) in columns.iter().zip(binary).zip(row) {
                    put_field(&column.ty, value, *binary, printer, &mut wire.out.buffer);
                }
                wire.out.end(start);
                wire.flush_if_full().await?;
            }
        }
    }
    Ok(())
}

fn write_stored(
    wire: &mut Wire,
    columns: &[ColumnDesc],
    binary: &[bool],
    (stored, row): (&StoredRows, usize),
    buffer: &mut Vec<u8>,
    printer: &mut Printer,
) -> Result<(), Failure> {
    let start = wire.out.begin_row(columns.len());
    let out = &mut wire.out.buffer;
    let done = stored.read(row, buffer, |at, cell| match (cell, columns.get(at), binary.get(at)) {
        (Cell::Text(text), ..) => put_bytes(text.as_bytes(), out),
        (Cell::Value(value), Some(column), Some(binary)) => put_field(&column.ty, &value, *binary, printer, out),
        (Cell::Value(_), ..) => {}
    });
    match done {
        Ok(()) => wire.out.end(start),
        Err(error) => {
            wire.out.buffer.truncate(start);
            return Err(error.into());
        }
    }
    Ok(())
}

/// Writes rows until the buffer is full. Returns the next row to write.
fn write_batch(
    wire: &mut Wire,
    columns: &[ColumnDesc],
    binary: &[bool],
    batch: &arrow::record_batch::RecordBatch,
    rows: std::ops::Range<usize>,
    printer: &mut Printer,
) -> Result<usize, Failure> {
    let readers = batch.columns().iter().map(ColumnReader::new).collect::<Option<Vec<_>>>();
    let readers = readers
        .filter(|r| r.len() == columns.len())
        .ok_or_else(|| Failure::from(ClientFault::AnswerColumns(format!("{:?}", batch.schema()))))?;
    let end = rows.end;
    for row in rows {
        let start = wire.out.begin_row(columns.len());
        for ((column, binary), reader) in columns.iter().zip(binary).zip(&readers) {
            if !reader.put(row, &column.ty, *binary, printer, &mut wire.out.buffer) {
                wire.out.buffer.truncate(start);
                return Err(ClientFault::ColumnOutOfRange(column.name.clone()).into());
            }
        }
        wire.out.end(start);
        if wire.is_full() {
            return Ok(row + 1);
        }
    }
    Ok(end)
}
