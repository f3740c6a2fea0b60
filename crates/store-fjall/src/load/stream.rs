//! Streams rows that come in key order into an empty table: writes them to their final keyspace as they arrive.
//!
//! ```text
//!   write ──> buffer ──(in order)──> channel ──> ingestion into a new keyspace     on a thread of its own
//!                └──(not in order)──> the stream ends; runs, ingested on top at the end of the load
//! ```
//! No run is written and read again, and the blocks are compressed while the next rows are encoded. The rows are
//! invisible until the end, because no table refers to the keyspace before the placement changes.

use super::memory::{InFlight, InFlightBytes};
use super::merge::Origin;
use super::rows::Rows;
use super::writer::{NewKeyspaces, Writer};
use crate::commit::pipeline::Last;
use crate::commit::publish::State;
use crate::error::engine;
use crate::inner::Inner;
use crate::seam::{self, task};
use crate::store::{blocking, joined};
use std::sync::Arc;
use store::{CommitNo, FamilyId, KeyRange, LoadTable, StoreError, StoreResult, TableId};
use tokio::sync::mpsc;

/// Capacity of the channel in buffers.
const WAITING: usize = 2;

/// A running stream. Dropping it discards the rows.
pub(crate) struct SortedStream {
    sender: mpsc::Sender<Message>,
    writing: task::JoinHandle<StoreResult<Streamed>>,
    in_flight: InFlight,
    last_key: Vec<u8>,
}

enum Message {
    Rows(Rows, InFlightBytes),
    /// Ends the stream. A closed channel without this message means that the stream was dropped.
    End,
}

/// The result of a stream: a keyspace that no table refers to yet, and the stamp of its rows.
pub(crate) struct Streamed {
    pub(crate) homes: NewKeyspaces,
    pub(crate) stamp: Last,
    /// The commit at which the table was found empty.
    pub(crate) empty_at: CommitNo,
}

impl SortedStream {
    /// Begins a stream if the table has one family and no rows.
    ///
    /// # Errors
    /// I/O failures, [`StoreError::NoSuchTable`].
    pub(crate) async fn begin(inner: Arc<Inner>, of: LoadTable, in_flight: InFlight) -> StoreResult<Option<Self>> {
        let begun = blocking(move || {
            let state = inner.pipeline.publisher.newest().clone();
            let table = of.table;
            let Some(family) = only_family_without_rows(&state, table)? else { return Ok(None) };
            let writer = Writer::new(&inner, of)?;
            let mut homes = NewKeyspaces::none(&inner);
            homes.make(table, family, writer.stamp.commit)?;
            Ok(Some((writer, homes, state.commit)))
        });
        let Some((mut writer, homes, empty_at)) = begun.await? else { return Ok(None) };
        let (sender, receiver) = mpsc::channel(WAITING);
        let writing = task::spawn_blocking(move || {
            let stamp = writer.stamp;
            let homes = write(&mut writer, homes, receiver)?;
            Ok(Streamed { homes, stamp, empty_at })
        });
        Ok(Some(Self { sender, writing, in_flight, last_key: Vec::new() }))
    }

    /// Returns true if these rows ascend strictly and follow all rows before.
    pub(crate) fn takes(&self, rows: &Rows) -> bool {
        let follows =
            rows.first_and_last().is_none_or(|(first, _)| self.last_key.is_empty() || first > &*self.last_key);
        follows && rows.is_strictly_sorted()
    }

    /// Writes rows accepted by [`Self::takes`].
    ///
    /// # Errors
    /// I/O failures, possibly of earlier rows.
    pub(crate) async fn push(&mut self, rows: Rows) -> StoreResult<()> {
        if let Some((_, last)) = rows.first_and_last() {
            self.last_key.clear();
            self.last_key.extend_from_slice(last);
        }
        let flying = self.in_flight.add(rows.allocated());
        self.send(Message::Rows(rows, flying)).await
    }

    /// Ends the stream. All rows are on disk then.
    ///
    /// # Errors
    /// I/O failures.
    pub(crate) async fn end(mut self) -> StoreResult<Streamed> {
        self.send(Message::End).await?;
        joined(self.writing.await)
    }

    async fn send(&mut self, message: Message) -> StoreResult<()> {
        if self.sender.send(message).await.is_ok() {
            return Ok(());
        }
        // The thread has ended early with an error.
        joined((&mut self.writing).await)?;
        Err(StoreError::Closed)
    }
}

fn write(writer: &mut Writer, homes: NewKeyspaces, mut receiver: mpsc::Receiver<Message>) -> StoreResult<NewKeyspaces> {
    let home = homes.only()?.clone();
    let mut ingestion = home.start_ingestion().map_err(engine("beginning an ingestion"))?;
    loop {
        match seam::blocking::receive(&mut receiver) {
            None => return Err(StoreError::Closed),
            Some(Message::End) => break,
            Some(Message::Rows(mut rows, _flying)) => rows.try_for_each_mut(|key, fragment| {
                writer.check(key, Origin::New)?;
                writer.stamp(fragment)?;
                ingestion.write(key, &*fragment).map_err(engine("writing a run"))
            })?,
        }
    }
    ingestion.finish().map_err(engine("installing a run"))?;
    Ok(homes)
}

fn only_family_without_rows(state: &State, table: TableId) -> StoreResult<Option<FamilyId>> {
    match state.tables.table(table)?.families.as_slice() {
        [family] => {
            let has_rows = super::install::stored_rows(state, family.id, &family.place, &KeyRange::all()).advance()?;
            Ok((!has_rows).then_some(family.id))
        }
        _ => Ok(None),
    }
}
