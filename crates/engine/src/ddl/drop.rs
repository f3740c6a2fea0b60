//! DROP TABLE and TRUNCATE.

use super::view::shown;
use crate::Session;
use crate::block::Block;
use crate::error::{EngineError, EngineResult, Fault, fail};
use crate::session::search_path::qualified;
use crate::statement::Source;
use catalog::{CatalogError, SequenceOwner, Table};
use sql::{LockTables, ObjectName, TableLockMode};
use std::sync::Arc;
use txn::LockMode;

impl Session {
    pub(super) async fn drop_tables(
        &mut self,
        names: &[ObjectName],
        if_exists: bool,
        cascade: bool,
    ) -> EngineResult<()> {
        let mut locks = self.own_locks();
        let mut tables: Vec<Arc<Table>> = Vec::new();
        for name in in_lock_order(self, names) {
            match self.lock_table_by_name(&mut locks, name, LockMode::Exclusive).await {
                Ok(table) => tables.push(table),
                Err(error) if if_exists && error.is_undefined_table() => {
                    self.skipped("00000", &format!("table \"{}\" does not exist", name.name));
                }
                Err(error) if error.code() == "42P01" => {
                    let absent = || Fault::NoSuchObject { kind: "table", name: shown(name) }.into();
                    return Err(self.missing_schema(name).unwrap_or_else(absent));
                }
                Err(error) => return Err(self.missing_schema(name).unwrap_or(error)),
            }
        }
        let oids: Vec<_> = tables.iter().map(|table| table.oid).collect();
        self.drop_relations(&oids, cascade).await
    }

    pub(super) async fn truncate(&mut self, names: &[ObjectName], restart: bool, cascade: bool) -> EngineResult<()> {
        let mut locks = self.own_locks();
        let mut tables: Vec<Arc<Table>> = Vec::new();
        let names = self.with_referring(names, cascade)?;
        for name in in_lock_order(self, &names) {
            tables.push(self.lock_table_by_name(&mut locks, name, LockMode::Exclusive).await?);
        }
        tables.dedup_by_key(|table| table.oid);
        self.with_referring(&names, false)?;
        let change = |draft: &mut catalog::Draft| {
            for table in &tables {
                draft.truncate(table.oid)?;
                if restart {
                    draft.restart_sequences(table.oid)?;
                }
            }
            Ok(())
        };
        self.change_catalog(change).await
    }

    /// TRUNCATE in a transaction block: deletes the rows, so that ROLLBACK restores them. The tables stay locked
    /// against other writers until the block ends.
    pub(super) async fn truncate_in_block(
        &mut self,
        names: &[ObjectName],
        restart: bool,
        cascade: bool,
    ) -> EngineResult<()> {
        let names = self.with_referring(names, cascade)?;
        let names = in_lock_order(self, &names).into_iter().cloned().collect();
        let lock = LockTables { names, mode: TableLockMode::Exclusive, no_wait: false };
        self.lock_tables(&lock).await?;
        let catalog = self.engine.catalog().current();
        for name in &lock.names {
            self.check_none_deferred(self.resolve(&catalog, name)?.as_ref())?;
        }
        let checks = self.deferred_checks();
        for name in self.referring_first(&lock.names)? {
            let text = format!("DELETE FROM {name}");
            let parsed = sql::parse(&text)?;
            for source in Source::all(&text, parsed, &[]) {
                Box::pin(self.run_write(&Arc::new(source), None, &[])).await?;
            }
        }
        // All referencing rows are deleted too, so the deferred checks of the DELETEs are not needed.
        self.keep_deferred_checks(checks);
        if restart {
            self.restart_in_block(&lock.names)?;
        }
        Ok(())
    }

    /// RESTART IDENTITY: restarts the sequences owned by these tables, for the block.
    fn restart_in_block(&mut self, names: &[ObjectName]) -> EngineResult<()> {
        let catalog = self.engine.catalog().current();
        let tables = names.iter().map(|name| self.resolve(&catalog, name)).collect::<EngineResult<Vec<_>>>()?;
        let is_of_one = |owner: SequenceOwner| tables.iter().any(|table| table.oid == owner.table);
        let Block::Open(open) = &mut self.block else { return Ok(()) };
        let restarted = open.restarted.get_or_insert_default();
        for sequence in catalog.sequences().filter(|sequence| sequence.owner.is_some_and(is_of_one)) {
            restarted.add(sequence);
        }
        self.taken.follow(restarted);
        Ok(())
    }
}

impl Session {
    /// The named tables, and with `cascade` the tables that reference them.
    ///
    /// # Errors
    /// 0A000 without `cascade`, if another table references one of them.
    fn with_referring(&mut self, names: &[ObjectName], cascade: bool) -> EngineResult<Vec<ObjectName>> {
        let catalog = self.engine.catalog().current();
        let mut all = names.to_vec();
        let mut tables: Vec<Arc<Table>> =
            names.iter().map(|name| self.resolve(&catalog, name)).collect::<EngineResult<_>>()?;
        let mut at = 0;
        while let Some(parent) = tables.get(at).cloned() {
            for child in catalog.tables().filter(|child| child.refers_to(parent.oid)) {
                if tables.iter().any(|table| table.oid == child.oid) {
                    continue;
                }
                if !cascade {
                    let (table, parent) = (child.name.clone(), parent.name.clone());
                    return fail(Fault::TruncatesParent { table, parent });
                }
                self.notices.info("00000", format!("truncate cascades to table \"{}\"", child.name));
                all.push(qualified(&catalog, child));
                tables.push(Arc::clone(child));
            }
            at += 1;
        }
        Ok(all)
    }

    /// Sorts the tables so that referencing tables precede the tables they reference.
    fn referring_first<'n>(&self, names: &'n [ObjectName]) -> EngineResult<Vec<&'n ObjectName>> {
        let catalog = self.engine.catalog().current();
        let table = |name: &'n ObjectName| Ok((name, self.resolve(&catalog, name)?));
        let mut left: Vec<(&ObjectName, Arc<Table>)> = names.iter().map(table).collect::<EngineResult<_>>()?;
        let mut ordered = Vec::with_capacity(left.len());
        while !left.is_empty() {
            let referred = |of: &Arc<Table>| left.iter().any(|(_, it)| it.oid != of.oid && it.refers_to(of.oid));
            let Some(at) = left.iter().position(|(_, table)| !referred(table)) else {
                let feature = "TRUNCATE of tables that refer to each other in a transaction block".to_string();
                return fail(Fault::Unsupported { feature });
            };
            ordered.push(left.remove(at).0);
        }
        Ok(ordered)
    }

    /// The error for a name in a schema that does not exist, which PostgreSQL reports first.
    fn missing_schema(&self, name: &ObjectName) -> Option<EngineError> {
        let schema = name.schema.clone()?;
        let known = self.engine.catalog().current().schema(&schema).is_some();
        (!known).then(|| CatalogError::NoSuchSchema { name: schema }.into())
    }
}

/// Sorts names by storage id. All statements lock in this order, which prevents deadlocks.
fn in_lock_order<'a>(session: &Session, names: &'a [ObjectName]) -> Vec<&'a ObjectName> {
    let catalog = session.engine.catalog().current();
    let mut sorted: Vec<&ObjectName> = names.iter().collect();
    sorted.sort_by_key(|name| session.resolve(&catalog, name).map_or(0, |table| table.storage));
    sorted
}
