//! CREATE INDEX, DROP INDEX, ALTER INDEX, REINDEX, and UNIQUE constraints.

use crate::error::{EngineResult, Fault, fail};
use crate::search_path::before_look_up;
use crate::{Notice, Session};
use catalog::{Catalog, CatalogError, Index, NewIndex, NewIndexPart, Table};
use sql::{CreateIndex, CreateTable, KeyPartDef, ObjectName, Reindex, TableOption, UniqueDef};
use std::sync::Arc;
use txn::{LockMode, LockOwner};

/// As PostgreSQL has it.
const MAX_COLUMNS: usize = 32;

impl Session {
    pub(super) async fn create_index(&mut self, create: &CreateIndex) -> EngineResult<()> {
        let mut locks = self.own_locks();
        let table = self.lock_table_by_name(&mut locks, &create.table, LockMode::Exclusive).await?;
        match self.wanted_index(&table, create)? {
            Some(new) => self.add_index(&table, new).await,
            None => Ok(()),
        }
    }

    /// The index that is to be made; `None`: there is one of its name, and that is fine.
    pub(super) fn wanted_index(&mut self, table: &Table, create: &CreateIndex) -> EngineResult<Option<NewIndex>> {
        if let Some(name) = create.name.as_ref().filter(|_| create.if_not_exists)
            && is_relation(&self.engine.catalog().current(), table, name)
        {
            self.skipped("42P07", &format!("relation \"{name}\" already exists"));
            return Ok(None);
        }
        let named = create.parts.iter().map(|part| &part.column).chain(&create.include);
        for column in named {
            if table.column_by_name(column).is_none_or(|column| column.hidden) {
                return fail(Fault::NoIndexedColumn { column: column.clone() });
            }
        }
        self.check_options(&create.options)?;
        new_index(create).map(Some)
    }

    /// ALTER TABLE … ADD UNIQUE. The caller keeps writers off the table.
    pub(super) async fn add_unique(&mut self, table: &Table, unique: &UniqueDef) -> EngineResult<()> {
        let is_column = |name: &str| table.visible_columns().any(|column| column.name == name);
        self.check_options(&unique.options)?;
        self.add_index(table, new_unique(unique, is_column)?).await
    }

    /// The UNIQUE constraints of a new table, those left out that its key or another one of them is already.
    pub(super) fn new_uniques(&mut self, create: &CreateTable) -> EngineResult<Vec<NewIndex>> {
        let is_column = |name: &str| create.columns.iter().any(|column| column.name == name);
        let key: Vec<&String> = create.key.iter().flat_map(|key| &key.parts).map(|part| &part.column).collect();
        let mut made: Vec<(&UniqueDef, NewIndex)> = Vec::new();
        for unique in create.columns.iter().flat_map(|column| &column.uniques).chain(&create.uniques) {
            self.check_store()?;
            self.check_options(&unique.options)?;
            let new = new_unique(unique, is_column)?;
            let is_key = !unique.nulls_not_distinct
                && unique.include.is_empty()
                && unique.columns.iter().eq(key.iter().copied());
            let same = |known: &&mut (&UniqueDef, NewIndex)| {
                known.0.columns == unique.columns
                    && known.0.include == unique.include
                    && known.0.nulls_not_distinct == unique.nulls_not_distinct
            };
            match made.iter_mut().find(same) {
                _ if is_key => {}
                // As in PostgreSQL: the first one gets the name of the second, if it has none.
                Some((_, known)) => known.name = known.name.take().or(new.name),
                None => made.push((unique, new)),
            }
        }
        Ok(made.into_iter().map(|(_, new)| new).collect())
    }

    pub(super) async fn drop_indexes(&mut self, names: &[ObjectName], if_exists: bool) -> EngineResult<()> {
        let mut locks = self.own_locks();
        let mut found = Vec::new();
        for name in names {
            match self.lock_index(&mut locks, name).await? {
                Some((table, index)) => {
                    if index.constraint.is_some() {
                        return Err(required(&index.name, &index.name, &table).into());
                    }
                    found.push((table.oid, index.oid));
                }
                None if if_exists => self.skipped("00000", &format!("index \"{}\" does not exist", name.name)),
                None => return fail(Fault::NoSuchIndex { name: super::view::shown(name) }),
            }
        }
        self.change_catalog(|draft| {
            found.iter().try_for_each(|(table, index)| draft.drop_index(*table, *index).map(drop))
        })
        .await
    }

    pub(super) async fn rename_index(&mut self, name: &ObjectName, if_exists: bool, to: &str) -> EngineResult<()> {
        let mut locks = self.own_locks();
        let Some((table, index)) = self.lock_index(&mut locks, name).await? else {
            if if_exists {
                self.skipped("00000", &format!("relation \"{}\" does not exist", name.name));
                return Ok(());
            }
            return fail(Fault::NoSuchObject { kind: "relation", name: super::view::shown(name) });
        };
        if index.constraint.is_some() && index.name != to && table.is_constraint(to) {
            let (table, constraint) = (table.name.clone(), to.to_string());
            return Err(CatalogError::DuplicateConstraint { table, constraint }.into());
        }
        self.change_catalog(|draft| draft.rename_index(table.oid, index.oid, to).map(drop)).await
    }

    pub(super) async fn reindex(&mut self, kind: Reindex, name: &ObjectName) -> EngineResult<()> {
        let mut locks = self.own_locks();
        if kind == Reindex::Table {
            let table = self.lock_table_by_name(&mut locks, name, LockMode::Exclusive).await?;
            if table.indexes.is_empty() && table.has_hidden_row_id() {
                let message = format!("table \"{}\" has no indexes to reindex", table.name);
                self.notices.push(Notice::info("00000", message));
            }
            // One that is being built is made anew as it is.
            for index in table.public_indexes() {
                self.rebuild_index(&table, index).await?;
            }
            return Ok(());
        }
        match self.lock_index(&mut locks, name).await {
            Ok(Some((_, index))) if !index.state.is_public() => fail(Fault::IndexNotBuilt { name: index.name }),
            Ok(Some((table, index))) => self.rebuild_index(&table, &index).await,
            Ok(None) => fail(Fault::NoSuchObject { kind: "relation", name: super::view::shown(name) }),
            // The index of a primary key is the table itself.
            Err(error) if error.code() == "2BP01" => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The index of that name, and its table, which is locked against writers.
    async fn lock_index(&self, locks: &mut LockOwner, name: &ObjectName) -> EngineResult<Option<(Arc<Table>, Index)>> {
        self.lock_index_in(locks, name, LockMode::Exclusive).await
    }

    /// The same in another mode.
    pub(super) async fn lock_index_in(
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
            let locked = self.lock_table_by_name(locks, &of_table, mode).await?;
            if let Some(now) = locked.indexes.iter().find(|it| it.oid == index.oid) {
                return Ok(Some((Arc::clone(&locked), now.clone())));
            }
        }
    }

    pub(crate) fn find_index(&self, catalog: &Catalog, name: &ObjectName) -> EngineResult<Option<(Arc<Table>, Index)>> {
        super::check_database(name)?;
        let schemas = self.schemas_of(catalog, name);
        before_look_up(schemas.len())?;
        for schema in schemas.iter() {
            if let Some((table, index)) = catalog.index(schema, &name.name) {
                return Ok(Some((Arc::clone(table), index.clone())));
            }
            if let Some(table) = catalog.tables_in(schema).find(|table| table.key_name.as_ref() == Some(&name.name)) {
                return Err(required(&name.name, &name.name, table).into());
            }
            let hint = if catalog.table(schema, &name.name).is_some() {
                "Use DROP TABLE to remove a table."
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

    /// Parameters of storage, which entries here do not have.
    fn check_options(&mut self, options: &[TableOption]) -> EngineResult<()> {
        for option in options {
            match option.name.as_str() {
                "fillfactor" | "deduplicate_items" if option.family.is_none() => {
                    let message = format!(
                        "parameter \"{}\" of an index has no effect: entries are not kept in pages",
                        option.name
                    );
                    self.notices.push(Notice::info("00000", message));
                }
                name => return fail(Fault::NoSuchIndexParameter { name: name.to_string() }),
            }
        }
        Ok(())
    }
}

/// Has a relation that name in the table's schema?
fn is_relation(catalog: &Catalog, table: &Table, name: &str) -> bool {
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

fn new_index(create: &CreateIndex) -> EngineResult<NewIndex> {
    let parts = create.parts.iter().map(|part: &KeyPartDef| NewIndexPart {
        column: part.column.clone(),
        descending: part.descending,
        nulls_first: part.nulls_first.unwrap_or(part.descending),
    });
    let new = NewIndex {
        name: create.name.clone(),
        unique: create.unique,
        nulls_not_distinct: create.nulls_not_distinct,
        constraint: false,
        parts: parts.collect(),
        include: create.include.clone(),
        salt_buckets: None,
        ..NewIndex::default()
    };
    check_width(new)
}

fn new_unique(unique: &UniqueDef, is_column: impl Fn(&str) -> bool) -> EngineResult<NewIndex> {
    for (at, column) in unique.columns.iter().enumerate() {
        if !is_column(column) {
            return fail(Fault::NoKeyColumn { column: column.clone() });
        }
        if unique.columns.iter().take(at).any(|before| before == column) {
            return fail(Fault::UniqueTwice { column: column.clone() });
        }
    }
    if let Some(column) = unique.include.iter().find(|column| !is_column(column)) {
        return fail(Fault::NoKeyColumn { column: column.clone() });
    }
    let part = |column: &String| NewIndexPart { column: column.clone(), descending: false, nulls_first: false };
    let new = NewIndex {
        name: unique.name.clone(),
        unique: true,
        nulls_not_distinct: unique.nulls_not_distinct,
        constraint: true,
        parts: unique.columns.iter().map(part).collect(),
        include: unique.include.clone(),
        deferrable: unique.deferrable,
        deferred: unique.deferred,
        ..NewIndex::default()
    };
    check_width(new)
}

fn check_width(new: NewIndex) -> EngineResult<NewIndex> {
    if new.parts.len() + new.include.len() > MAX_COLUMNS {
        return fail(Fault::TooManyIndexColumns { limit: MAX_COLUMNS });
    }
    Ok(new)
}
