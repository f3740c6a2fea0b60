//! UPDATE and DELETE of more rows than memory holds: they are read, changed and written batch by batch.
//!
//! The table is locked exclusively before its rows are read. So no row can change between its read and its write, no
//! row needs a row lock, and a written row is not kept: the transaction spills its writes to files. Where other
//! processes also write to the table, the lock does not exclude them, and such statements are refused.

use super::Outcome;
use super::target::{FAMILY, Row, Target};
use super::update::UpdateProgram;
use super::value::Given;
use crate::block::work::Work;
use crate::error::EngineResult;
use crate::row_writer::Old;
use crate::{Chunk, Session};
use futures::StreamExt;
use futures::stream::BoxStream;
use query::Plan;
use std::sync::Arc;
use store::Bytes;
use txn::{LockMode, ReadView};
use types::Datum;

/// A row of the target: its key, its current values, and the values that the query computed for it.
type Found = (Bytes, Row, Row);

/// Number of rows read at once: batches of keys have any length, and rows may be large.
const GROUP: usize = 64;

/// The rows of a statement, read from one snapshot while the table is locked.
struct RowsOfQuery {
    view: ReadView,
    plan: Arc<Plan>,
    chunks: BoxStream<'static, EngineResult<Chunk>>,
    /// Keys of rows not read yet, with the values computed for them.
    pending: std::vec::IntoIter<(Bytes, Row)>,
}

impl Session {
    /// Locks the table against all other writers.
    ///
    /// # Errors
    /// 40P01, 55P03, 57014.
    pub(super) async fn lock_table_exclusively(&self, work: &mut Work, target: &Target) -> EngineResult<()> {
        let guard = self.running();
        let lock = work.txn.locks().lock_table(target.storage, LockMode::Exclusive, work.wait);
        guard.stoppable(async { Ok(lock.await.map(drop)?) }).await
    }

    /// UPDATE without RETURNING.
    pub(super) async fn update_many(
        &mut self,
        work: &mut Work,
        program: &UpdateProgram,
        plan: &Arc<Plan>,
        params: &[Datum],
    ) -> EngineResult<Outcome> {
        let target = &program.target;
        let mut rows = self.rows_under_table_lock(work, target, plan, params).await?;
        while let Some(found) = rows.next(target).await? {
            let next = self.take_values_for(&program.assignments, found.len()).await?;
            let mut writer = self.row_writer(work, target);
            for (key, row, computed) in found {
                if writer.has_written(&key)? {
                    continue;
                }
                let given = Given { params, computed: &computed, next: Some(&next), ..Given::default() };
                let new = program.new_row(&row, given)?;
                writer.write_streamed(&Old::Row { key, row }, &new).await?;
            }
            self.running().check()?;
        }
        self.row_writer(work, target).insert_pending_rows().await?;
        Ok(Outcome::default())
    }

    /// DELETE without RETURNING. `plan` gives the keys of the rows.
    pub(crate) async fn delete_many(
        &mut self,
        work: &mut Work,
        target: &Target,
        plan: &Arc<Plan>,
        params: &[Datum],
    ) -> EngineResult<Outcome> {
        let mut rows = self.rows_under_table_lock(work, target, plan, params).await?;
        while let Some(found) = rows.next(target).await? {
            let mut writer = self.row_writer(work, target);
            for (key, row, _) in found {
                if !writer.has_written(&key)? {
                    writer.write(&Old::Row { key, row }, None).await?;
                }
            }
            self.running().check()?;
        }
        Ok(Outcome::default())
    }

    async fn rows_under_table_lock(
        &mut self,
        work: &mut Work,
        target: &Target,
        plan: &Arc<Plan>,
        params: &[Datum],
    ) -> EngineResult<RowsOfQuery> {
        self.lock_table_exclusively(work, target).await?;
        work.rows = None;
        let last = self.latest_commit().await?;
        let view = work.view(self.engine.store().as_ref(), last).await?;
        let chunks = self.stream(self.query_context(view.clone()), Arc::clone(plan), params.to_vec())?;
        Ok(RowsOfQuery { view, plan: Arc::clone(plan), chunks, pending: Vec::new().into_iter() })
    }
}

impl RowsOfQuery {
    /// Returns the next group of rows. A join may return a row several times; only the first counts.
    async fn next(&mut self, target: &Target) -> EngineResult<Option<Vec<Found>>> {
        while self.pending.len() == 0 {
            let Some(chunk) = self.chunks.next().await else { return Ok(None) };
            self.pending = self.keys_of(chunk?, target)?.into_iter();
        }
        let (keys, computed): (Vec<_>, Vec<_>) = self.pending.by_ref().take(GROUP).unzip();
        let fragments = self.view.get_many(target.storage, FAMILY, &keys).await?;
        let mut found = Vec::with_capacity(keys.len());
        for ((key, computed), fragment) in keys.into_iter().zip(computed).zip(fragments) {
            if let Some(fragment) = fragment {
                let row = target.decode(&key, &fragment)?;
                found.push((key, row, computed));
            }
        }
        Ok(Some(found))
    }

    /// The keys of a chunk, and the values that the query computed for each.
    fn keys_of(&self, chunk: Chunk, target: &Target) -> EngineResult<Vec<(Bytes, Row)>> {
        let types: Vec<_> = self.plan.columns.iter().map(|column| column.ty).collect();
        let rows = chunk.into_rows(&types)?;
        let width = target.codec.key_columns().len();
        let mut keys = Vec::with_capacity(rows.len());
        for mut row in rows {
            let computed = row.split_off(width.min(row.len()));
            let mut key = Vec::with_capacity(32);
            target.codec.encode_key_values(&row, &mut key)?;
            keys.push((Bytes::from(key), computed));
        }
        Ok(keys)
    }
}
