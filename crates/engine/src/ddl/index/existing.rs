//! Indexes that are there: by name, under a lock; DROP INDEX, RENAME, SET and RESET.

use crate::Session;
use crate::error::{EngineResult, Fault, fail};
use crate::search_path::before_look_up;
use catalog::{Catalog, CatalogError, Index, Table};
use sql::{ObjectName, TableOption};
use std::sync::Arc;
use txn::{LockMode, LockOwner};

impl Session {
    /// `table`: Phoenix names the table of the index.
    pub(in crate::ddl) async fn drop_indexes(
        &mut self,
        names: &[ObjectName],
        table: Option<&ObjectName>,
        if_exists: bool,
    ) -> EngineResult<()> {
        let mut locks = self.own_locks();
        let mut found = Vec::new();
        for name in names {
            let found_index = match table {
                Some(table) => {
                    let table = self.lock_stored_by_name(&mut locks, table, LockMode::Exclusive).await?;
                    table.index(&name.name).cloned().map(|index| (table, index))
                }
                None => self.lock_index(&mut locks, name).await?,
            };
            match found_index {
                Some((table, index)) => {
                    if index.constraint.is_some() {
                        return Err(required(&index.name, &index.name, &table).into());
                    }
                    found.push((table.oid, index.oid));
                }
                None if if_exists => self.skipped("00000", &format!("index \"{}\" does not exist", name.name)),
                None => return fail(Fault::NoSuchIndex { name: crate::ddl::view::shown(name) }),
            }
        }
        self.change_catalog(|draft| {
            found.iter().try_for_each(|(table, index)| draft.drop_index(*table, *index).map(drop))
        })
        .await
    }

    pub(in crate::ddl) async fn rename_index(
        &mut self,
        name: &ObjectName,
        if_exists: bool,
        to: &str,
    ) -> EngineResult<()> {
        let mut locks = self.own_locks();
        if let Some((table, key)) = self.find_key(&self.engine.catalog().current(), name)? {
            // The index of a primary key is the table itself: what is called so is the constraint.
            let table = self.lock_stored_by_name(&mut locks, &table, LockMode::Exclusive).await?;
            if is_relation(&self.engine.catalog().current(), &table, to) {
                return Err(CatalogError::DuplicateTable { name: to.to_string() }.into());
            }
            return self.change_catalog(|draft| draft.rename_constraint(table.oid, &key, to).map(drop)).await;
        }
        let Some((table, index)) = self.lock_index(&mut locks, name).await? else {
            if if_exists {
                self.skipped("00000", &format!("relation \"{}\" does not exist", name.name));
                return Ok(());
            }
            return fail(Fault::NoSuchObject { kind: "relation", name: crate::ddl::view::shown(name) });
        };
        if index.constraint.is_some() && index.name != to && table.is_constraint(to) {
            let (table, constraint) = (table.name.clone(), to.to_string());
            return Err(CatalogError::DuplicateConstraint { table, constraint }.into());
        }
        self.change_catalog(|draft| draft.rename_index(table.oid, index.oid, to).map(drop)).await
    }

    /// ALTER INDEX … SET and RESET: what parameters there are means nothing to entries.
    pub(in crate::ddl) fn set_index_options(
        &mut self,
        name: &ObjectName,
        if_exists: bool,
        options: &[TableOption],
        tablespace: Option<&str>,
    ) -> EngineResult<()> {
        let catalog = self.engine.catalog().current();
        if self.find_key(&catalog, name)?.is_none() && self.find_index(&catalog, name)?.is_none() {
            if if_exists {
                self.skipped("00000", &format!("relation \"{}\" does not exist", name.name));
                return Ok(());
            }
            return fail(Fault::NoSuchObject { kind: "relation", name: crate::ddl::view::shown(name) });
        }
        for option in options {
            match option.family {
                None if super::options::PARAMETERS.contains(&option.name.as_str()) => {
                    self.kept_in_no_pages(&option.name)
                }
                _ if option.name == "refresh" || option.name == "salt_buckets" => {
                    let feature = format!("changing \"{}\" of an index that is there", option.name);
                    return fail(Fault::Unsupported { feature });
                }
                _ => return fail(Fault::NoSuchIndexParameter { name: option.name.clone() }),
            }
        }
        self.tablespace_without_effect(tablespace);
        Ok(())
    }

    /// The table whose primary key has that name, and its name.
    fn find_key(&self, catalog: &Catalog, name: &ObjectName) -> EngineResult<Option<(ObjectName, String)>> {
        crate::ddl::check_database(name)?;
        for schema in self.schemas_of(catalog, name).iter() {
            if catalog.index(schema, &name.name).is_some() {
                return Ok(None);
            }
            let keyed = |table: &&Arc<Table>| table.key_name.as_ref() == Some(&name.name);
            if let Some(table) = catalog.tables_in(schema).find(keyed) {
                let of = ObjectName { database: None, schema: Some(schema.clone()), name: table.name.clone() };
                return Ok(Some((of, name.name.clone())));
            }
        }
        Ok(None)
    }

    /// The index of that name, and its table, which is locked against writers.
    pub(super) async fn lock_index(
        &self,
        locks: &mut LockOwner,
        name: &ObjectName,
    ) -> EngineResult<Option<(Arc<Table>, Index)>> {
        self.lock_index_in(locks, name, LockMode::Exclusive).await
    }

    /// The same in another mode.
    pub(in crate::ddl) async fn lock_index_in(
        &self,
        locks: &mut LockOwner,
        name: &ObjectName,
        mode: LockMode,
    ) -> EngineResult<Option<(Arc<Table>, Index)>> {
        loop {
            let catalog = self.engine.catalog().current();
            let Some((table, index)) = self.find_index(&catalog, name)? else { return Ok(None) };
            let schema = Some(catalog.schema_name(&table).to_string());
            let of_table = ObjectName { database: None, schema, name: table.name.clone() };
            let locked = self.lock_stored_by_name(locks, &of_table, mode).await?;
            if let Some(now) = locked.indexes.iter().find(|it| it.oid == index.oid) {
                return Ok(Some((Arc::clone(&locked), now.clone())));
            }
        }
    }

    pub(crate) fn find_index(&self, catalog: &Catalog, name: &ObjectName) -> EngineResult<Option<(Arc<Table>, Index)>> {
        crate::ddl::check_database(name)?;
        let schemas = self.schemas_of(catalog, name);
        before_look_up(schemas.len())?;
        for schema in schemas.iter() {
            if let Some((table, index)) = catalog.index(schema, &name.name) {
                return Ok(Some((Arc::clone(table), index.clone())));
            }
            if let Some(table) = catalog.tables_in(schema).find(|table| table.key_name.as_ref() == Some(&name.name)) {
                return Err(required(&name.name, &name.name, table).into());
            }
            let hint = if let Some(table) = catalog.table(schema, &name.name) {
                match table.materialized {
                    Some(_) => "Use DROP MATERIALIZED VIEW to remove a materialized view.",
                    None => "Use DROP TABLE to remove a table.",
                }
            } else if catalog.view(schema, &name.name).is_some() {
                "Use DROP VIEW to remove a view."
            } else if catalog.sequence(schema, &name.name).is_some() {
                "Use DROP SEQUENCE to remove a sequence."
            } else {
                continue;
            };
            return fail(Fault::WrongObject {
                message: format!("\"{}\" is not an index", name.name),
                hint: Some(hint),
            });
        }
        Ok(None)
    }
}

/// Has a relation that name in the table's schema?
pub(super) fn is_relation(catalog: &Catalog, table: &Table, name: &str) -> bool {
    let schema = catalog.schema_name(table);
    catalog.index(schema, name).is_some()
        || catalog.table(schema, name).is_some()
        || catalog.view(schema, name).is_some()
        || catalog.sequence(schema, name).is_some()
}

pub(super) fn required(index: &str, constraint: &str, table: &Table) -> CatalogError {
    let by = format!("constraint {constraint} on table {}", table.name);
    CatalogError::RequiredBy { what: format!("index {index}"), by }
}
