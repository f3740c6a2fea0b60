//! REINDEX of an index, a table, a schema or the database.

use super::existing::{IndexOrKey, no_such_index};
use crate::error::{EngineResult, Fault, fail};
use crate::session::search_path::qualified;
use crate::{Notice, Session};
use catalog::{Index, IndexState};
use sql::{ObjectName, Reindex, ReindexOf};
use txn::LockMode;

impl Session {
    pub(in crate::ddl) async fn reindex(&mut self, reindex: &Reindex) -> EngineResult<()> {
        if reindex.concurrently {
            self.check_jobs("REINDEX CONCURRENTLY")?;
        }
        self.tablespace_without_effect(reindex.tablespace.as_deref());
        match reindex.of {
            ReindexOf::Index => self.reindex_index(reindex).await,
            ReindexOf::Table => self.reindex_table(&reindex.name, reindex).await,
            ReindexOf::Schema | ReindexOf::Database => {
                for table in self.tables_with_indexes(reindex)? {
                    match self.reindex_table(&table, reindex).await {
                        // The table was dropped meanwhile.
                        Err(error) if error.is_undefined_table() => {}
                        done => done?,
                    }
                }
                Ok(())
            }
        }
    }

    /// The tables of a schema or of the database with indexes.
    fn tables_with_indexes(&self, Reindex { of, name, .. }: &Reindex) -> EngineResult<Vec<ObjectName>> {
        let catalog = self.engine.catalog().current();
        let schema = match of {
            ReindexOf::Schema => Some(catalog.must_get_schema(&name.name)?.id),
            _ => {
                crate::ddl::check_database(&ObjectName { database: Some(name.name.clone()), ..name.clone() })?;
                None
            }
        };
        let inside = catalog.tables().filter(|table| schema.is_none_or(|schema| schema == table.schema));
        Ok(inside.filter(|table| !table.indexes.is_empty()).map(|table| qualified(&catalog, table)).collect())
    }

    async fn reindex_index(&mut self, reindex: &Reindex) -> EngineResult<()> {
        let name = &reindex.name;
        let catalog = self.engine.catalog().current();
        let (table, index) = match self.find_index_or_key(&catalog, name)? {
            Some(IndexOrKey::Index(table, index)) => (table, *index),
            // A primary key is the rowkey and has no entries.
            Some(IndexOrKey::Key(_)) => return Ok(()),
            None => return no_such_index(name),
        };
        if is_under_way(&index) {
            return fail(Fault::IndexNotBuilt { name: index.name });
        }
        if reindex.concurrently {
            return self.reindex_concurrently(&table, &[index], reindex.verbose).await;
        }
        let mut locks = self.own_locks();
        match self.lock_index(&mut locks, name).await? {
            Some((_, index)) if is_under_way(&index) => fail(Fault::IndexNotBuilt { name: index.name }),
            Some((table, index)) => {
                self.rebuild_index(&table, &index).await?;
                self.notice_reindexed(&index, reindex.verbose);
                Ok(())
            }
            None => no_such_index(name),
        }
    }

    async fn reindex_table(&mut self, name: &ObjectName, reindex: &Reindex) -> EngineResult<()> {
        if reindex.concurrently {
            let table = self.resolve_stored(&self.engine.catalog().current(), name)?;
            if table.indexes.is_empty() {
                let message = format!("table \"{}\" has no indexes that can be reindexed concurrently", table.name);
                self.notices.info("00000", message);
            }
            let built: Vec<Index> = table.indexes.iter().filter(|index| is_read(index)).cloned().collect();
            return self.reindex_concurrently(&table, &built, reindex.verbose).await;
        }
        let mut locks = self.own_locks();
        let table = self.lock_stored_by_name(&mut locks, name, LockMode::Exclusive).await?;
        if table.indexes.is_empty() && table.has_hidden_row_id() {
            self.notices.info("00000", format!("table \"{}\" has no indexes to reindex", table.name));
        }
        for index in table.indexes.iter().filter(|index| is_read(index)) {
            self.rebuild_index(&table, index).await?;
            self.notice_reindexed(index, reindex.verbose);
        }
        Ok(())
    }

    /// Issues the message of VERBOSE.
    pub(super) fn notice_reindexed(&mut self, index: &Index, verbose: bool) {
        if verbose {
            let message = format!("index \"{}\" was reindexed", index.name);
            self.notices.push(Notice { severity: "INFO", ..Notice::info("00000", message) });
        }
    }
}

/// Whether the index is being built or dropped by another statement.
fn is_under_way(index: &Index) -> bool {
    matches!(index.state, IndexState::DeleteOnly | IndexState::WriteOnly)
}

/// Whether REINDEX TABLE rebuilds the index. It skips indexes that ALTER INDEX has made unusable or disabled.
fn is_read(index: &Index) -> bool {
    index.state.is_public() || index.refresh.is_some()
}
