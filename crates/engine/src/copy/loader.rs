//! Loads encoded rows into a table, for COPY FROM and the appender.

use super::format::positions;
use super::rows::{RowEncoder, SlowPath};
use crate::block::Block;
use crate::block::work::Work;
use crate::ddl::refuse_materialized;
use crate::dml::{Defaults, RowTable, Target};
use crate::error::{EngineResult, Fault, fail};
use crate::row_writer::{BulkRows, LoadBlock, New, Old, RowWriter};
use crate::session::running::RunGuard;
use crate::{Engine, Session};
use bind::Clause;
use catalog::RowIdBlock;
use sql::ObjectName;
use sql::ast::Expr;
use std::sync::Arc;
use store::{Bytes, OnDuplicate};
use txn::{LockMode, LockOwner};

/// Hidden row ids reserved at once.
const ID_BLOCK: u32 = 8192;

/// A load of rows into one table. Dropping the value discards the rows.
pub(super) struct Loader {
    /// Encodes the rowkey and the fragment of the next row.
    pub(super) rows: RowEncoder,
    pub(super) guard: Arc<RunGuard>,
    ids: Option<RowIdBlock>,
    sink: Sink,
    count: u64,
    engine: Arc<Engine>,
}

/// The destination of the rows.
enum Sink {
    /// A bulk load under an exclusive table lock: sorted runs of rows and index entries, one commit. Dropping the value
    /// releases the lock.
    Load { rows: Box<BulkRows>, _lock: LockOwner },
    /// Writes of a transaction.
    Work(Work),
}

impl Loader {
    /// The hidden id of the next row; 0 for a table without row ids.
    pub(super) async fn next_id(&mut self) -> EngineResult<i64> {
        if !self.rows.needs_ids() {
            return Ok(0);
        }
        if let Some(id) = self.ids.as_mut().and_then(Iterator::next) {
            return Ok(id);
        }
        let mut block = self.engine.catalog().row_ids().reserve(ID_BLOCK).await?;
        let id = block.next().unwrap_or_default();
        self.ids = Some(block);
        Ok(id)
    }

    /// Writes the row that `rows` has just encoded.
    pub(super) async fn put(&mut self) -> EngineResult<()> {
        self.count += 1;
        let (target, new) = (self.rows.target(), New::Cells { key: &self.rows.key, fragment: &self.rows.fragment });
        match &mut self.sink {
            Sink::Load { rows, .. } => rows.write(target, new).await,
            Sink::Work(work) => {
                let mut writer = RowWriter::new(work, target, &self.guard);
                writer.lock_row(&Bytes::copy_from_slice(&self.rows.key), LockMode::Exclusive).await?;
                writer.write(&Old::Unique, Some(new)).await
            }
        }
    }

    /// Whether the query threads can encode blocks for this load.
    pub(super) fn takes_blocks(&self) -> bool {
        matches!(self.sink, Sink::Load { .. }) && self.rows.fork().is_some()
    }

    /// The query threads, which encode blocks.
    pub(super) fn runtime(&self) -> &crate::threads::query_runtime::QueryRuntime {
        self.engine.runtime()
    }

    /// Writes a block of rows and index entries encoded by a fork of `rows`.
    pub(super) async fn put_block(&mut self, block: LoadBlock) -> EngineResult<()> {
        let Sink::Load { rows, .. } = &mut self.sink else {
            return fail(Fault::Internal { detail: "a block of rows for a transaction".to_string() });
        };
        self.count += block.rows.len() as u64;
        rows.write_block(self.rows.target(), block).await
    }

    /// Commits the rows, or adds them to the transaction block, and returns their number.
    pub(super) async fn end(self, session: &mut Session) -> EngineResult<u64> {
        let Self { sink, rows, count, engine, .. } = self;
        let done = match sink {
            Sink::Load { rows: bulk, _lock } => {
                let done = bulk.finish(rows.target(), engine.catalog().row_ids()).await;
                done.map(|(commit, tally)| {
                    session.note_commit(commit);
                    engine.counters().count(tally);
                })
            }
            Sink::Work(mut work) => match session.check_written_references(&mut work).await {
                Ok(()) => session.end_work(work).await,
                Err(error) => Err(error),
            },
        };
        done.map_err(|error| rows.target().in_words(error))?;
        engine.counters().rows_copied.add(count);
        rows.target().table.live.count(count, 0, 0);
        Ok(count)
    }
}

impl Session {
    /// Opens a table for a load of rows with values for `columns`; an empty list means all columns.
    pub(super) async fn loader(
        &mut self,
        name: &ObjectName,
        columns: &[String],
        selection: Option<&Expr>,
    ) -> EngineResult<Loader> {
        if let Ok(table) = self.resolve_stored(&self.engine.catalog().current(), name) {
            refuse_materialized(&table, "cannot copy to", None)?;
        }
        let mut sink = self.sink(name).await?;
        let (catalog, target) = loop {
            // The definition does not change under the table lock.
            let catalog = self.engine.catalog().current();
            let target = self.target(&catalog, name).await?;
            if let Sink::Work(work) = &mut sink {
                self.lock_parents(work, &target).await?;
            }
            if catalog.version() == self.engine.catalog().version() {
                break (catalog, target);
            }
        };
        let target = self.checked_target(&catalog, target).await?;
        if let Sink::Load { rows, .. } = &mut sink {
            rows.with_entries(&target)?;
        }
        let fields = positions(&target.table, columns)?;
        let rows = self.row_encoder(&catalog, target, fields, selection).await?;
        Ok(Loader { rows, guard: self.running(), ids: None, sink, count: 0, engine: Arc::clone(&self.engine) })
    }

    async fn sink(&mut self, name: &ObjectName) -> EngineResult<Sink> {
        let alone = matches!(self.block, Block::Idle) && self.engine.store().capabilities().bulk_load;
        if alone {
            let mut lock = LockOwner::new(Arc::clone(self.engine.locks()));
            let table = self.lock_table_by_name(&mut lock, name, LockMode::Exclusive).await?;
            if self.is_loadable(&table) {
                let load = self.engine.store().bulk_load(table.storage_id(), OnDuplicate::Fail).await?;
                return Ok(Sink::Load {
                    rows: Box::new(BulkRows::new(load, self.engine.load_memory(false))),
                    _lock: lock,
                });
            }
        }
        let mut work = self.take_transaction()?;
        work.txn.end_statement()?;
        let mode = if alone { LockMode::Exclusive } else { LockMode::Shared };
        let table = self.lock_table_by_name(work.txn.locks(), name, mode).await?;
        work.txn.note_epoch(table.storage_id(), table.version);
        Ok(Sink::Work(work))
    }

    async fn row_encoder(
        &mut self,
        catalog: &Arc<catalog::Catalog>,
        target: Target,
        fields: Vec<usize>,
        selection: Option<&Expr>,
    ) -> EngineResult<RowEncoder> {
        let Defaults { base, columns, exprs: defaults } = self.defaults_of(catalog, &target, &fields).await?;
        let sequences = crate::dml::sequence_defaults(&target, &fields);
        let filter = match selection {
            None => None,
            Some(condition) => {
                let (row, condition) = (RowTable::of(&target.table), std::slice::from_ref(condition));
                Some(self.exprs_over(catalog, &row, condition, Clause::CopyWhere).await?)
            }
        };
        let plain = columns.is_empty() && filter.is_none() && sequences.is_empty();
        let plain = plain && target.table.checks.is_empty() && !target.is_computed;
        let long = match plain {
            true => None,
            false => {
                let context = self.planning_context(catalog).await?;
                let (engine, taken) = (Arc::clone(&self.engine), Arc::clone(&self.taken));
                Some(SlowPath {
                    context,
                    env: self.row_environment(),
                    guard: self.running(),
                    columns,
                    defaults,
                    filter,
                    sequences,
                    engine,
                    taken,
                })
            }
        };
        RowEncoder::new(target, fields, base, long)
    }
}
