//! Finds and locks existing indexes by name; DROP INDEX, ALTER INDEX … RENAME, SET and RESET.

use crate::Session;
use crate::ddl::wrong_kind::wrong_kind;
use crate::error::{EngineResult, Fault, fail};
use crate::session::search_path::{before_look_up, qualified};
use catalog::{Catalog, CatalogError, Index, Table};
use sql::{ObjectName, TableOption};
use std::sync::Arc;
use txn::{LockMode, LockOwner};

impl Session {
    /// DROP INDEX. `table` is the table in Phoenix's DROP INDEX … ON.
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
        let catalog = self.engine.catalog().current();
        if let Some(IndexOrKey::Key(table)) = self.find_index_or_key(&catalog, name)? {
            // The index of a primary key has the name of the constraint.
            let table = self.lock_stored_by_name(&mut locks, &qualified(&catalog, &table), LockMode::Exclusive).await?;
            let catalog = self.engine.catalog().current();
            if catalog.has_relation(catalog.schema_name(&table), to) {
                return Err(CatalogError::DuplicateTable { name: to.to_string() }.into());
            }
            return self.change_catalog(|draft| draft.rename_constraint(table.oid, &name.name, to).map(drop)).await;
        }
        let Some((table, index)) = self.lock_index(&mut locks, name).await? else {
            return self.relation_is_missing(name, if_exists);
        };
        if index.constraint.is_some() && index.name != to && table.is_constraint(to) {
            let (table, constraint) = (table.name.clone(), to.to_string());
            return Err(CatalogError::DuplicateConstraint { table, constraint }.into());
        }
        self.change_catalog(|draft| draft.rename_index(table.oid, index.oid, to).map(drop)).await
    }

    /// ALTER INDEX … SET and RESET: PostgreSQL's storage parameters have no effect.
    pub(in crate::ddl) fn set_index_options(
        &mut self,
        name: &ObjectName,
        if_exists: bool,
        options: &[TableOption],
        tablespace: Option<&str>,
    ) -> EngineResult<()> {
        let catalog = self.engine.catalog().current();
        if self.find_index_or_key(&catalog, name)?.is_none() {
            return self.relation_is_missing(name, if_exists);
        }
        for option in options {
            match option.family {
                None if super::options::PAGE_PARAMETERS.contains(&option.name.as_str()) => {
                    self.page_parameter_without_effect(&option.name)
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

    /// Finds an index by name and locks its table against writers.
    pub(super) async fn lock_index(
        &self,
        locks: &mut LockOwner,
        name: &ObjectName,
    ) -> EngineResult<Option<(Arc<Table>, Index)>> {
        self.lock_index_in(locks, name, LockMode::Exclusive).await
    }

    /// Finds an index by name and locks its table in `mode`.
    pub(in crate::ddl) async fn lock_index_in(
        &self,
        locks: &mut LockOwner,
        name: &ObjectName,
        mode: LockMode,
    ) -> EngineResult<Option<(Arc<Table>, Index)>> {
        loop {
            let catalog = self.engine.catalog().current();
            let Some((table, index)) = self.find_index(&catalog, name)? else { return Ok(None) };
            let locked = self.lock_stored_by_name(locks, &qualified(&catalog, &table), mode).await?;
            if let Some(now) = locked.indexes.iter().find(|it| it.oid == index.oid) {
                return Ok(Some((Arc::clone(&locked), now.clone())));
            }
        }
    }

    /// Finds an index by name. Returns it with its table.
    ///
    /// # Errors
    /// 2BP01 for the index of a primary key, 42809 for another kind of relation.
    pub(crate) fn find_index(&self, catalog: &Catalog, name: &ObjectName) -> EngineResult<Option<(Arc<Table>, Index)>> {
        match self.find_index_or_key(catalog, name)? {
            Some(IndexOrKey::Index(table, index)) => Ok(Some((table, *index))),
            Some(IndexOrKey::Key(table)) => Err(required(&name.name, &name.name, &table).into()),
            None => Ok(None),
        }
    }

    /// Finds an index or a primary key by name.
    ///
    /// # Errors
    /// 42809 for another kind of relation.
    pub(crate) fn find_index_or_key(&self, catalog: &Catalog, name: &ObjectName) -> EngineResult<Option<IndexOrKey>> {
        crate::ddl::check_database(name)?;
        let schemas = self.schemas_of(catalog, name);
        before_look_up(schemas.len())?;
        for schema in schemas.iter() {
            if let Some((table, index)) = catalog.index(schema, &name.name) {
                return Ok(Some(IndexOrKey::Index(Arc::clone(table), Box::new(index.clone()))));
            }
            let has_key = |table: &&Arc<Table>| table.key_name.as_ref() == Some(&name.name);
            if let Some(table) = catalog.tables_in(schema).find(has_key) {
                return Ok(Some(IndexOrKey::Key(Arc::clone(table))));
            }
            if let Some(kind) = catalog.relation_kind(schema, &name.name) {
                return fail(wrong_kind(&name.name, "an index", kind));
            }
        }
        Ok(None)
    }
}

/// The relation that an index name refers to.
pub(crate) enum IndexOrKey {
    /// An index, and its table.
    Index(Arc<Table>, Box<Index>),
    /// A primary key, whose index is the table itself.
    Key(Arc<Table>),
}

/// 42P01 for an index that does not exist.
pub(super) fn no_such_index<T>(name: &ObjectName) -> EngineResult<T> {
    fail(Fault::NoSuchObject { kind: "relation", name: crate::ddl::view::shown(name) })
}

/// 2BP01: the index belongs to a constraint.
pub(super) fn required(index: &str, constraint: &str, table: &Table) -> CatalogError {
    let by = format!("constraint {constraint} on table {}", table.name);
    CatalogError::RequiredBy { what: format!("index {index}"), by }
}
