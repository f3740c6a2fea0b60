//! Foreign keys in a catalog change, and the objects that cannot be dropped while foreign keys depend on them.
//!
//! A foreign key also changes its parent: statements compiled for the parent must check the rows that refer to it. So
//! both tables get a new version.

use crate::foreign_key::NewForeignKey;
use crate::{CatalogError, CatalogResult, Column, ColumnId, Draft, ForeignKey, Table, TableOid};
use std::collections::BTreeSet;
use std::sync::Arc;
use types::{DataType, ReferentialAction};

impl Draft {
    /// ADD FOREIGN KEY. The caller checks the existing rows, under the exclusive locks of both tables.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`], [`CatalogError::DuplicateConstraint`], and the errors of invalid columns:
    /// [`CatalogError::NoForeignKeyColumn`], [`CatalogError::InvalidForeignKey`], [`CatalogError::NoPrimaryKey`],
    /// [`CatalogError::IncompatibleKeys`].
    pub fn add_foreign_key(&mut self, oid: TableOid, new: NewForeignKey) -> CatalogResult<Arc<ForeignKey>> {
        let mut table = self.table(oid)?.as_ref().clone();
        let parent = self.table(new.parent)?;
        let mut key = ForeignKey::resolve(&table, &parent, &new)?;
        key.oid = self.take_oid()?;
        table.foreign_keys.push(key.clone());
        self.put_table(table);
        self.touch(new.parent)?;
        Ok(Arc::new(key))
    }

    /// VALIDATE CONSTRAINT. The caller checks the existing rows.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`], [`CatalogError::NoSuchConstraint`].
    pub fn set_validated(&mut self, oid: TableOid, name: &str) -> CatalogResult<Arc<Table>> {
        let mut table = self.table(oid)?.as_ref().clone();
        if let Some(check) = table.checks.iter_mut().find(|check| check.name == name) {
            check.validated = true;
            return Ok(self.put_table(table));
        }
        let Some(key) = table.foreign_keys.iter_mut().find(|key| key.name == name) else {
            return Err(CatalogError::NoSuchConstraint { table: table.name.clone(), constraint: name.to_string() });
        };
        key.validated = true;
        Ok(self.put_table(table))
    }

    /// ALTER CONSTRAINT: when a foreign key is checked.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`], [`CatalogError::NoSuchConstraint`].
    pub fn set_deferrable(
        &mut self,
        oid: TableOid,
        name: &str,
        deferrable: bool,
        deferred: bool,
    ) -> CatalogResult<Arc<Table>> {
        let mut table = self.table(oid)?.as_ref().clone();
        let Some(key) = table.foreign_keys.iter_mut().find(|key| key.name == name) else {
            return Err(CatalogError::NoSuchConstraint { table: table.name.clone(), constraint: name.to_string() });
        };
        (key.deferrable, key.deferred) = (deferrable, deferred);
        Ok(self.put_table(table))
    }

    /// Drops foreign keys of a table.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`].
    pub(crate) fn remove_foreign_keys(
        &mut self,
        oid: TableOid,
        which: impl Fn(&ForeignKey) -> bool,
    ) -> CatalogResult<Arc<Table>> {
        let mut table = self.table(oid)?.as_ref().clone();
        let gone: Vec<ForeignKey> = table.foreign_keys.extract_if(.., |key| which(key)).collect();
        let table = self.put_table(table);
        gone.iter().filter(|key| key.parent != oid).try_for_each(|key| self.touch(key.parent))?;
        Ok(table)
    }

    /// Handles the foreign keys that refer to a table, or to one of its unique indexes (`index`), except those of
    /// tables in `except`. With `cascade`, drops and returns them; otherwise they are an error.
    ///
    /// # Errors
    /// [`CatalogError::DependentObjects`] of `what`.
    pub(crate) fn release_parent(
        &mut self,
        parent: TableOid,
        index: Option<u32>,
        except: &BTreeSet<TableOid>,
        (what, cascade): (&str, bool),
    ) -> CatalogResult<Vec<String>> {
        let needs = |key: &ForeignKey| key.parent == parent && index.is_none_or(|index| key.parent_index == index);
        let referring = self.next.tables().filter(|table| !except.contains(&table.oid));
        let referring: Vec<Arc<Table>> =
            referring.filter(|table| table.foreign_keys.iter().any(needs)).cloned().collect();
        let named = referring.iter().flat_map(|table| {
            let keys = table.foreign_keys.iter().filter(|key| needs(key));
            keys.map(|key| format!("constraint {} on {}", key.name, self.described(table.oid)))
        });
        let dependents: Vec<String> = named.collect();
        if !cascade && !dependents.is_empty() {
            return Err(CatalogError::DependentObjects { what: what.to_string(), dependents });
        }
        for table in referring {
            self.remove_foreign_keys(table.oid, needs)?;
        }
        Ok(dependents)
    }

    /// Checks that the foreign keys of a table, and those that refer to it, compare compatible types.
    ///
    /// # Errors
    /// [`CatalogError::IncompatibleKeys`].
    pub(crate) fn check_foreign_types(&self, table: &Table) -> CatalogResult<()> {
        let about = |child: &Table, key: &ForeignKey| match self.next.table_by_oid(key.parent) {
            Some(parent) => check_types(&key.name, (child, &key.columns), (parent, &key.parent_columns)),
            None => Ok(()),
        };
        table.foreign_keys.iter().try_for_each(|key| about(table, key))?;
        for child in self.next.tables().filter(|child| child.refers_to(table.oid)) {
            child.foreign_keys.iter().filter(|key| key.parent == table.oid).try_for_each(|key| about(child, key))?;
        }
        Ok(())
    }

    /// Gives an unchanged table a new version.
    fn touch(&mut self, oid: TableOid) -> CatalogResult<()> {
        let table = self.table(oid)?.as_ref().clone();
        self.put_table(table);
        Ok(())
    }
}

impl ForeignKey {
    /// Resolves a foreign key of `table` to `parent`, without an oid yet.
    ///
    /// # Errors
    /// As [`Draft::add_foreign_key`].
    pub fn resolve(table: &Table, parent: &Table, new: &NewForeignKey) -> CatalogResult<Self> {
        let name = free_name(table, new)?;
        let columns = columns_named(table, &new.columns)?;
        let parent_columns = match new.parent_columns.as_slice() {
            [] => key_of(parent)?,
            named => columns_named(parent, named)?,
        };
        let invalid = |reason: String| CatalogError::InvalidForeignKey { reason };
        if columns.len() != parent_columns.len() {
            return Err(invalid("number of referencing and referenced columns for foreign key disagree".to_string()));
        }
        if parent_columns.iter().collect::<BTreeSet<_>>().len() < parent_columns.len() {
            return Err(invalid("foreign key referenced-columns list must not contain duplicates".to_string()));
        }
        let Some(parent_index) = unique_over(parent, &parent_columns) else {
            let name = &parent.name;
            let reason = format!("there is no unique constraint matching given keys for referenced table \"{name}\"");
            return Err(invalid(reason));
        };
        if parent.indexes.iter().any(|index| index.oid == parent_index && index.deferrable) {
            return Err(CatalogError::DeferrableParent { kind: "unique constraint", table: parent.name.clone() });
        }
        check_types(&name, (table, &columns), (parent, &parent_columns))?;
        let set_columns = columns_named(table, &new.set_columns)?;
        if let Some(odd) = set_columns.iter().find(|id| !columns.contains(id)) {
            let column = table.column(*odd).map(|column| column.name.as_str()).unwrap_or_default();
            return Err(invalid(format!(
                "column \"{column}\" referenced in ON DELETE SET action must be part of foreign key"
            )));
        }
        check_actions(table, &columns, &set_columns, new)?;
        Ok(ForeignKey {
            oid: 0,
            name,
            columns,
            parent: new.parent,
            parent_columns,
            parent_index,
            full: new.full,
            on_delete: new.on_delete,
            set_columns,
            on_update: new.on_update,
            deferrable: new.deferrable,
            deferred: new.deferred,
            validated: new.validated,
        })
    }
}

/// Refuses actions that would write a generated column.
fn check_actions(table: &Table, columns: &[ColumnId], set: &[ColumnId], new: &NewForeignKey) -> CatalogResult<()> {
    use ReferentialAction::{Cascade, SetDefault, SetNull};
    let is_generated = |id: &ColumnId| table.column(*id).is_some_and(|column| column.generated.is_some());
    let written = if set.is_empty() { columns } else { set };
    if matches!(new.on_delete, SetNull | SetDefault) && written.iter().any(is_generated) {
        return Err(CatalogError::GeneratedKeyAction { event: "DELETE" });
    }
    match matches!(new.on_update, Cascade | SetNull | SetDefault) && columns.iter().any(is_generated) {
        true => Err(CatalogError::GeneratedKeyAction { event: "UPDATE" }),
        false => Ok(()),
    }
}

fn columns_named(table: &Table, names: &[String]) -> CatalogResult<Vec<ColumnId>> {
    let id = |name: &String| match table.column_by_name(name).filter(|column| !column.hidden) {
        Some(column) => Ok(column.id),
        None => Err(CatalogError::NoForeignKeyColumn { column: name.clone() }),
    };
    names.iter().map(id).collect()
}

fn key_of(parent: &Table) -> CatalogResult<Vec<ColumnId>> {
    if parent.primary_index().is_some() {
        return Err(CatalogError::DeferrableParent { kind: "primary key", table: parent.name.clone() });
    }
    match parent.has_hidden_row_id() {
        true => Err(CatalogError::NoPrimaryKey { table: parent.name.clone() }),
        false => Ok(parent.key.iter().map(|part| part.column).collect()),
    }
}

/// The oid of the primary key or unique index over exactly these columns, in any order.
fn unique_over(parent: &Table, columns: &[ColumnId]) -> Option<u32> {
    let same =
        |parts: &mut dyn Iterator<Item = ColumnId>| parts.collect::<BTreeSet<_>>() == columns.iter().copied().collect();
    if !parent.has_hidden_row_id() && same(&mut parent.key.iter().map(|part| part.column)) {
        return parent.key_oid;
    }
    let fits = |index: &&crate::Index| {
        let columns = index.plain_columns().filter(|_| index.state.is_public());
        index.unique && index.salt_buckets.is_none() && columns.is_some_and(|columns| same(&mut columns.into_iter()))
    };
    // A deferrable unique index is refused by the caller, so it is the last choice.
    parent.public_indexes().filter(fits).min_by_key(|index| index.deferrable).map(|index| index.oid)
}

/// The given name, if it is free, else PostgreSQL's choice. Source: `ChooseConstraintName`.
fn free_name(table: &Table, new: &NewForeignKey) -> CatalogResult<String> {
    if let Some(name) = &new.name {
        return match table.is_constraint(name) {
            true => Err(CatalogError::DuplicateConstraint { table: table.name.clone(), constraint: name.clone() }),
            false => Ok(name.clone()),
        };
    }
    let base = format!("{}_{}_fkey", table.name, new.columns.join("_"));
    let numbered = (1..).map(|number| format!("{base}{number}"));
    let mut names = std::iter::once(base.clone()).chain(numbered);
    Ok(names.find(|name| !table.is_constraint(name)).unwrap_or(base))
}

fn check_types(name: &str, child: (&Table, &[ColumnId]), parent: (&Table, &[ColumnId])) -> CatalogResult<()> {
    let parents = parent.0.columns_of(parent.1);
    match child.0.columns_of(child.1).zip(parents).find(|(column, parent)| !can_refer(column.ty, parent.ty)) {
        None => Ok(()),
        Some((column, parent)) => Err(incompatible(name, column, parent)),
    }
}

fn incompatible(name: &str, column: &Column, parent: &Column) -> CatalogError {
    CatalogError::IncompatibleKeys {
        constraint: name.to_string(),
        column: column.name.clone(),
        parent_column: parent.name.clone(),
        ty: column.ty.base_name().to_string(),
        parent_ty: parent.ty.base_name().to_string(),
    }
}

/// Whether values of the two types are compared by an operator that indexes support, or after a lossless cast to the
/// parent's type.
fn can_refer(ty: DataType, parent: DataType) -> bool {
    use DataType::{BigInt, Integer, Numeric, SmallInt, Text, Varchar};
    match (ty, parent) {
        (SmallInt | Integer | BigInt, SmallInt | Integer | BigInt | Numeric(_)) => true,
        (Text | Varchar(_), Text | Varchar(_)) => true,
        (ty, parent) => ty.base_name() == parent.base_name(),
    }
}
