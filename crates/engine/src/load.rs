//! Bulk loads into a table without other writers: sorted runs instead of write batches.

use crate::ddl::Counted;
use crate::dml::{Row, Target};
use crate::error::{EngineResult, Fault};
use crate::row_writer::{BulkRows, New, NewRow, Tally};
use crate::{Chunk, Session};
use futures::StreamExt;
use futures::stream::BoxStream;
use query::Plan;
use std::sync::Arc;
use store::OnDuplicate;
use types::{DataType, Datum};

/// Number of rows that get hidden row ids at once.
const ID_BLOCK: usize = 8192;

/// A load in progress. Dropping it discards it.
pub(crate) struct Load<'t> {
    target: &'t Target,
    rows: BulkRows,
}

impl Load<'_> {
    /// Adds rows, which have their hidden row ids.
    pub(crate) async fn add(&mut self, rows: Vec<Row>) -> EngineResult<()> {
        for row in rows {
            let row = NewRow::new(self.target, row)?;
            self.rows.write(self.target, New::Row(&row)).await?;
        }
        Ok(())
    }
}

impl Session {
    /// Begins a load. The caller excludes other writers from the table.
    pub(crate) async fn begin_load<'t>(&self, target: &'t Target) -> EngineResult<Load<'t>> {
        let load = self.engine.store().bulk_load(target.storage, OnDuplicate::Fail).await?;
        let mut rows = BulkRows::new(load, self.engine.load_memory(true));
        rows.with_entries(target)?;
        Ok(Load { target, rows })
    }

    /// Makes all rows durable and visible, and returns their counts.
    pub(crate) async fn finish_load(&mut self, load: Load<'_>) -> EngineResult<Tally> {
        let (commit, tally) = load.rows.finish(load.target, self.engine.catalog().row_ids()).await?;
        self.note_commit(commit);
        Ok(tally)
    }

    /// Loads the rows of a query, whose columns are the table's visible ones, into a table that is not visible yet
    /// and has no indexes.
    pub(crate) async fn load(
        &mut self,
        target: &Target,
        chunks: BoxStream<'static, EngineResult<Chunk>>,
        plan: &Arc<Plan>,
    ) -> EngineResult<Tally> {
        self.load_counted(target, chunks, plan, &mut []).await
    }

    /// As [`Self::load`], with columns that count values.
    pub(crate) async fn load_counted(
        &mut self,
        target: &Target,
        mut chunks: BoxStream<'static, EngineResult<Chunk>>,
        plan: &Arc<Plan>,
        counted: &mut [Counted],
    ) -> EngineResult<Tally> {
        let types: Vec<DataType> = plan.columns.iter().map(|column| column.ty).collect();
        let load = txn::load_unseen(self.engine.store(), target.storage).await?;
        let mut load = Load { target, rows: BulkRows::new(load, self.engine.load_memory(true)) };
        while let Some(chunk) = chunks.next().await {
            let mut rows = chunk?.into_rows(&types)?;
            self.count_rows(counted, &mut rows).await?;
            for row in &mut rows {
                *row = full_row(target, std::mem::take(row))?;
            }
            for rows in rows.chunks_mut(ID_BLOCK) {
                self.fill_row_ids(target, rows).await?;
            }
            load.add(rows).await?;
        }
        self.finish_load(load).await
    }
}

/// Builds a row of the table from the values of the visible columns.
pub(crate) fn full_row(target: &Target, values: Vec<Datum>) -> EngineResult<Row> {
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
