//! Many rows at once, into a table that nobody else writes: sorted runs instead of batches.

use crate::dml::{FAMILY, Row, Target};
use crate::error::{EngineResult, Fault};
use crate::{Chunk, EngineError, Session};
use futures::StreamExt;
use futures::stream::BoxStream;
use query::Plan;
use std::sync::Arc;
use store::{BulkLoad, OnDuplicate};
use types::{DataType, Datum};

/// Rows that get their hidden ids at once.
const ID_BLOCK: usize = 8192;

/// A load under way. Dropping it undoes it.
pub(crate) struct Load<'t> {
    target: &'t Target,
    load: Box<dyn BulkLoad>,
    pub(crate) rows: u64,
    key: Vec<u8>,
    fragment: Vec<u8>,
}

impl Load<'_> {
    /// Adds rows that have their hidden ids.
    pub(crate) async fn add(&mut self, rows: &[Row]) -> EngineResult<()> {
        for row in rows {
            self.target.check(row)?;
            self.target.codec.encode_key_into(row, &mut self.key)?;
            self.fragment.clear();
            self.target.codec.encode_fragment_into(row, &mut self.fragment)?;
            self.load.write(FAMILY, &self.key, &self.fragment).await.map_err(|error| self.in_words(error.into()))?;
            self.rows += 1;
        }
        Ok(())
    }

    fn in_words(&self, error: EngineError) -> EngineError {
        Session::in_words(self.target, error)
    }
}

impl Session {
    /// Begins a load. The caller keeps other writers off the table.
    pub(crate) async fn begin_load<'t>(&self, target: &'t Target) -> EngineResult<Load<'t>> {
        let load = self.engine.store().bulk_load(target.storage, OnDuplicate::Fail).await?;
        Ok(Load { target, load, rows: 0, key: Vec::new(), fragment: Vec::new() })
    }

    /// Makes all rows durable and visible.
    pub(crate) async fn finish_load(&mut self, load: Load<'_>) -> EngineResult<u64> {
        let Load { target, load, rows, .. } = load;
        let commit = load.finish().await.map_err(|error| Self::in_words(target, error.into()))?;
        self.last_commit = self.last_commit.max(commit);
        Ok(rows)
    }

    /// Loads the rows of a query, whose columns are the table's visible ones, into a table that nobody sees yet.
    pub(crate) async fn load(
        &mut self,
        target: &Target,
        mut chunks: BoxStream<'static, EngineResult<Chunk>>,
        plan: &Arc<Plan>,
    ) -> EngineResult<u64> {
        let types: Vec<DataType> = plan.columns.iter().map(|column| column.ty).collect();
        let load = txn::load_unseen(self.engine.store(), target.storage).await?;
        let mut load = Load { target, load, rows: 0, key: Vec::new(), fragment: Vec::new() };
        while let Some(chunk) = chunks.next().await {
            let mut rows = match chunk? {
                Chunk::Batch(batch) => query::convert::batch_to_rows(&batch, &types)?,
                Chunk::Stored(rows) => rows.to_rows()?,
                Chunk::Rows(rows) => rows,
            };
            for row in &mut rows {
                *row = full_row(target, std::mem::take(row))?;
            }
            for rows in rows.chunks_mut(ID_BLOCK) {
                self.fill_row_ids(target, rows).await?;
            }
            load.add(&rows).await?;
        }
        self.finish_load(load).await
    }
}

/// Values of the visible columns as a row of the table.
fn full_row(target: &Target, values: Vec<Datum>) -> EngineResult<Row> {
    let mut values = values.into_iter();
    let mut row = Vec::with_capacity(target.width());
    for (at, column) in target.table.columns.iter().enumerate() {
        row.push(match column.hidden {
            true => Datum::Null,
            false => target.assign(at, values.next().unwrap_or(Datum::Null))?,
        });
    }
    match values.next() {
        None => Ok(row),
        Some(_) => Err(Fault::InsertWidth { more: "expressions", fewer: "target columns" }.into()),
    }
}
