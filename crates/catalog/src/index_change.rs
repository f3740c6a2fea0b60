//! Indexes in a change of the catalog.
//!
//! As CREATE TABLE AS, making an index has two halves: storage is made and filled while the table is as it was, then the
//! table has the index. The caller keeps all writers out from before the first to behind the second.

use crate::build::encode_key_splits;
use crate::draft::PreparedTable;
use crate::index::key_keeps_value;
use crate::{
    CatalogError, CatalogResult, ColumnId, Draft, Index, IndexExpr, IndexPart, IndexRefresh, IndexState, PartOf, Table,
    TableOid,
};
use std::collections::BTreeSet;
use std::sync::Arc;
use types::{DataType, Datum};

/// An index to be made.
#[derive(Clone, Debug, Default)]
pub struct NewIndex {
    /// `None` is PostgreSQL's choice: `<table>_<columns>_idx`, of a constraint `<table>_<columns>_key`.
    pub name: Option<String>,
    /// See [`Index::unique`].
    pub unique: bool,
    /// See [`Index::nulls_not_distinct`].
    pub nulls_not_distinct: bool,
    /// Does it belong to a UNIQUE constraint, which has its name?
    pub constraint: bool,
    /// See [`Index::primary`].
    pub primary: bool,
    /// What is indexed, in order.
    pub parts: Vec<NewIndexPart>,
    /// Names of included columns.
    pub include: Vec<String>,
    /// 2 to 256.
    pub salt_buckets: Option<u16>,
    /// See [`Index::deferrable`].
    pub deferrable: bool,
    /// See [`Index::deferred`].
    pub deferred: bool,
    /// WHERE.
    pub predicate: Option<NewIndexExpr>,
    /// LOCAL: means something for a salted table, whose salt entries then have.
    pub local: bool,
    /// SPLIT ON: values of leading parts.
    pub splits: Vec<Vec<Datum>>,
    /// See [`Index::refresh`].
    pub refresh: Option<IndexRefresh>,
}

/// An expression of an index to be made.
#[derive(Clone, Debug)]
pub struct NewIndexExpr {
    /// See [`IndexExpr::text`].
    pub text: String,
    /// The name that the text suggests.
    pub name: String,
    /// Its type.
    pub ty: DataType,
    /// Names of the columns in it, each once.
    pub columns: Vec<String>,
    /// See [`IndexExpr::shown`].
    pub shown: (String, String),
}

/// The text of an expression of an index, and how it is shown.
#[derive(Clone, Debug)]
pub struct IndexText {
    /// See [`IndexExpr::text`].
    pub text: String,
    /// See [`IndexExpr::shown`].
    pub shown: (String, String),
    /// See [`IndexExpr::ty`].
    pub ty: DataType,
}

/// What a part of an index to be made is made of.
#[derive(Clone, Debug)]
pub enum NewPartOf {
    /// The column of that name.
    Column(String),
    /// An expression.
    Expression(NewIndexExpr),
}

/// One part of an index to be made.
#[derive(Clone, Debug)]
pub struct NewIndexPart {
    /// What of the table's rows.
    pub of: NewPartOf,
    /// Sorted from large to small.
    pub descending: bool,
    /// Do NULLs sort before all values?
    pub nulls_first: bool,
}

/// An index that has storage, which nobody sees yet.
#[derive(Clone, Debug)]
pub struct PreparedIndex {
    index: Index,
    table: Arc<Table>,
    entries: PreparedTable,
}

impl PreparedIndex {
    /// As it will be.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// The table as it will be, with the index.
    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// Its entries as a table: see [`Index::entries`].
    pub fn entries(&self) -> &Arc<Table> {
        self.entries.table()
    }
}

/// What the constraint of an index is.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConstraintKind {
    /// See [`Index::primary`].
    pub primary: bool,
    /// DEFERRABLE.
    pub deferrable: bool,
    /// INITIALLY DEFERRED.
    pub deferred: bool,
}

impl Draft {
    /// The first half of CREATE INDEX: its storage is to be filled from the table's rows.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`], [`CatalogError::NoSuchColumn`], [`CatalogError::DuplicateTable`] when the name is
    /// taken, [`CatalogError::DuplicateConstraint`].
    pub fn prepare_index(&mut self, oid: TableOid, new: NewIndex) -> CatalogResult<PreparedIndex> {
        let mut table = self.table(oid)?.as_ref().clone();
        if new.primary && table.has_primary_key() {
            return Err(CatalogError::SecondPrimaryKey { table: table.name.clone() });
        }
        let names = part_names(&new);
        let name = self.index_name(&table, &new, &names)?;
        let parts = new.parts.iter().zip(names).map(|(part, name)| take_part(&mut table, part, name));
        let parts = parts.collect::<CatalogResult<_>>()?;
        let local = new.local && table.salt_buckets.is_some();
        let include = new.include.iter().map(|name| visible(&table, name)).collect::<CatalogResult<_>>()?;
        let mut index = Index {
            oid: self.take_oid()?,
            name,
            storage: 0,
            unique: new.unique,
            nulls_not_distinct: new.nulls_not_distinct,
            constraint: if new.constraint { Some(self.take_oid()?) } else { None },
            primary: new.primary,
            parts,
            include,
            deferrable: new.deferrable,
            deferred: new.deferred,
            salt_buckets: if local { table.salt_buckets } else { new.salt_buckets },
            predicate: new.predicate.map(|predicate| take_expr(&table, &predicate, String::new())).transpose()?,
            local,
            splits: Vec::new(),
            state: if new.refresh.is_some() { IndexState::Refreshed } else { IndexState::Public },
            refresh: new.refresh,
        };
        index.splits = encode_key_splits(&index.entries(&table), new.splits)?;
        let entries = self.stage(index.entries(&table))?;
        index.storage = entries.table().storage;
        table.indexes.push(index.clone());
        Ok(PreparedIndex { index, table: Arc::new(table), entries })
    }

    /// The second half: the table has the index.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`], [`CatalogError::NoSuchColumn`] and [`CatalogError::DuplicateTable`] when that changed
    /// since it was prepared.
    pub fn publish_index(&mut self, prepared: &PreparedIndex) -> CatalogResult<Arc<Table>> {
        self.publish_index_as(prepared, prepared.index.clone())
    }

    /// As [`Self::publish_index`], with something about the index changed.
    pub(crate) fn publish_index_as(&mut self, prepared: &PreparedIndex, index: Index) -> CatalogResult<Arc<Table>> {
        let mut table = self.table(prepared.table.oid)?.as_ref().clone();
        self.check_name_is_free(self.next.schema_name(&table), &index.name)?;
        if let Some(gone) = prepared.table.columns.iter().find(|it| index.names(it.id) && table.column(it.id).is_none())
        {
            return Err(CatalogError::NoSuchColumn { table: table.name.clone(), column: gone.name.clone() });
        }
        self.unstage(&prepared.entries)?;
        table.next_column = table.next_column.max(prepared.table.next_column);
        for column in table.columns.iter_mut().filter(|column| index.primary && index.names(column.id)) {
            column.not_null = true;
        }
        table.indexes.push(index);
        Ok(self.put_table(table))
    }

    /// Gives a prepared index up: its storage goes away.
    ///
    /// # Errors
    /// As [`Draft::discard_table`].
    pub fn discard_index(&mut self, prepared: &PreparedIndex) -> CatalogResult<()> {
        self.discard_table(&prepared.entries)
    }

    /// The first half of REINDEX: the index gets other storage, to be filled from the table's rows.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`], also when the table has no such index.
    pub fn prepare_reindex(&mut self, table: TableOid, index: u32) -> CatalogResult<PreparedIndex> {
        let mut table = self.table(table)?.as_ref().clone();
        let Some(old) = table.indexes.iter().find(|it| it.oid == index) else { return Err(no_index(index)) };
        let mut index = old.clone();
        let entries = self.stage(index.entries(&table))?;
        index.storage = entries.table().storage;
        index.state = if index.refresh.is_some() { IndexState::Refreshed } else { IndexState::Public };
        table.indexes.iter_mut().filter(|it| it.oid == index.oid).for_each(|it| it.clone_from(&index));
        Ok(PreparedIndex { index, table: Arc::new(table), entries })
    }

    /// The second half: the index has the new storage, the old one goes away.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`] when the table or its index went away since it was prepared.
    pub fn publish_reindex(&mut self, prepared: &PreparedIndex) -> CatalogResult<Arc<Table>> {
        let mut table = self.table(prepared.table.oid)?.as_ref().clone();
        let oid = prepared.index.oid;
        let Some(index) = table.indexes.iter_mut().find(|it| it.oid == oid) else { return Err(no_index(oid)) };
        self.unstage(&prepared.entries)?;
        index.state = prepared.index.state;
        self.drop_storage(std::mem::replace(&mut index.storage, prepared.index.storage));
        Ok(self.put_table(table))
    }

    /// Changes when an index was refreshed, or how.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`], also when the table has no such index, or it is not refreshed.
    pub fn change_refresh(
        &mut self,
        oid: TableOid,
        index: u32,
        change: impl FnOnce(&mut IndexRefresh),
    ) -> CatalogResult<Arc<Table>> {
        let mut table = self.table(oid)?.as_ref().clone();
        let found = table.indexes.iter_mut().find(|it| it.oid == index).and_then(|index| index.refresh.as_mut());
        change(found.ok_or_else(|| no_index(index))?);
        Ok(self.put_table(table))
    }

    /// DROP INDEX.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`]; [`CatalogError::DependentObjects`] of an index that foreign keys need.
    pub fn drop_index(&mut self, table: TableOid, index: u32) -> CatalogResult<Arc<Table>> {
        if let Some(index) = self.table(table)?.indexes.iter().find(|it| it.oid == index) {
            let what = format!("index {}", index.name);
            self.release_parent(table, Some(index.oid), &BTreeSet::new(), (&what, false))?;
        }
        let mut table = self.table(table)?.as_ref().clone();
        self.remove_indexes(&mut table, |it| it.oid == index);
        Ok(self.put_table(table))
    }

    /// ALTER INDEX … RENAME TO; a constraint is renamed with its index.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`], [`CatalogError::DuplicateTable`].
    pub fn rename_index(&mut self, table: TableOid, index: u32, to: &str) -> CatalogResult<Arc<Table>> {
        let mut table = self.table(table)?.as_ref().clone();
        self.check_name_is_free(self.next.schema_name(&table), to)?;
        for index in table.indexes.iter_mut().filter(|it| it.oid == index) {
            index.name = to.to_string();
        }
        Ok(self.put_table(table))
    }

    /// ALTER INDEX … USABLE, UNUSABLE, DISABLE. A disabled index has no entries any more.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`], also when the table has no such index; [`CatalogError::DependentObjects`] of an
    /// index that foreign keys need.
    pub fn set_index_state(&mut self, oid: TableOid, index: u32, state: IndexState) -> CatalogResult<Arc<Table>> {
        let found = self.table(oid)?.indexes.iter().find(|it| it.oid == index).cloned();
        let Some(found) = found else { return Err(no_index(index)) };
        if !state.is_public() {
            let what = format!("index {}", found.name);
            self.release_parent(oid, Some(index), &BTreeSet::new(), (&what, false))?;
        }
        let mut table = self.table(oid)?.as_ref().clone();
        let empties = state == IndexState::Disabled && found.state != state;
        let entries = if empties { Some(self.new_storage(&found.entries(&table))?) } else { None };
        for it in table.indexes.iter_mut().filter(|it| it.oid == index) {
            it.state = state;
            if let Some(entries) = entries {
                self.drop_storage(std::mem::replace(&mut it.storage, entries));
            }
        }
        Ok(self.put_table(table))
    }

    /// ADD CONSTRAINT … USING INDEX: the index belongs to a constraint, which gives it its name.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`], also when the table has no such index; [`CatalogError::DuplicateConstraint`],
    /// [`CatalogError::DuplicateTable`]; [`CatalogError::SecondPrimaryKey`].
    pub fn make_constraint(
        &mut self,
        oid: TableOid,
        index: u32,
        name: Option<&str>,
        kind: ConstraintKind,
    ) -> CatalogResult<Arc<Table>> {
        let constraint = self.take_oid()?;
        let old = self.table(oid)?;
        if kind.primary && old.has_primary_key() {
            return Err(CatalogError::SecondPrimaryKey { table: old.name.clone() });
        }
        let Some(found) = old.indexes.iter().find(|it| it.oid == index) else { return Err(no_index(index)) };
        let name = name.unwrap_or(&found.name).to_string();
        if old.is_constraint(&name) {
            return Err(CatalogError::DuplicateConstraint { table: old.name.clone(), constraint: name });
        }
        if name != found.name {
            self.rename_index(oid, index, &name)?;
        }
        let mut table = self.table(oid)?.as_ref().clone();
        for it in table.indexes.iter_mut().filter(|it| it.oid == index) {
            it.constraint = Some(constraint);
            (it.primary, it.deferrable, it.deferred) = (kind.primary, kind.deferrable, kind.deferred);
            for column in table.columns.iter_mut().filter(|column| it.primary && it.names(column.id)) {
                column.not_null = true;
            }
        }
        Ok(self.put_table(table))
    }

    /// Gives expressions and predicates of indexes other text: after a column in it was renamed. `texts` has those of an
    /// index, by its oid, in the order of [`Index::texts`].
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`].
    pub fn set_index_texts(&mut self, oid: TableOid, texts: &[(u32, Vec<IndexText>)]) -> CatalogResult<Arc<Table>> {
        let mut table = self.table(oid)?.as_ref().clone();
        for (index, texts) in texts {
            for index in table.indexes.iter_mut().filter(|it| it.oid == *index) {
                index.texts_mut().zip(texts).for_each(|(expr, new)| {
                    expr.text.clone_from(&new.text);
                    expr.shown.clone_from(&new.shown);
                    expr.ty = new.ty;
                });
            }
        }
        Ok(self.put_table(table))
    }

    /// Takes indexes from a table, with their storage.
    pub(crate) fn remove_indexes(&mut self, table: &mut Table, mut which: impl FnMut(&Index) -> bool) {
        for index in table.indexes.extract_if(.., |index| which(index)) {
            self.drop_storage(index.storage);
        }
    }

    /// The name that is given, if it is free, or PostgreSQL's choice. Source: `ChooseIndexName`.
    fn index_name(&self, table: &Table, new: &NewIndex, parts: &[String]) -> CatalogResult<String> {
        let schema = self.next.schema_name(table).to_string();
        if let Some(name) = &new.name {
            self.check_name_is_free(&schema, name)?;
            if new.constraint && table.is_constraint(name) {
                let (table, constraint) = (table.name.clone(), name.clone());
                return Err(CatalogError::DuplicateConstraint { table, constraint });
            }
            return Ok(name.clone());
        }
        let columns = parts.iter().chain(&new.include);
        let columns = columns.map(String::as_str).collect::<Vec<_>>().join("_");
        let base = match new.primary {
            true => format!("{}_pkey", table.name),
            false => format!("{}_{columns}_{}", table.name, if new.constraint { "key" } else { "idx" }),
        };
        let numbered = (1..).map(|number| format!("{base}{number}"));
        let mut names = std::iter::once(base.clone()).chain(numbered);
        let free = |name: &String| !table.is_constraint(name) && self.check_name_is_free(&schema, name).is_ok();
        Ok(names.find(free).unwrap_or(base))
    }
}

pub(crate) fn no_index(oid: u32) -> CatalogError {
    CatalogError::NoSuchTable { schema: None, name: format!("of oid {oid}") }
}

fn visible(table: &Table, name: &str) -> CatalogResult<ColumnId> {
    match table.column_by_name(name).filter(|column| !column.hidden) {
        Some(column) => Ok(column.id),
        None => Err(CatalogError::NoSuchColumn { table: table.name.clone(), column: name.to_string() }),
    }
}

/// Names of the parts; those that the texts of expressions suggest get numbers to be told from the others. Source:
/// `ChooseIndexColumnNames` of PostgreSQL.
fn part_names(new: &NewIndex) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(new.parts.len());
    for part in &new.parts {
        let (NewPartOf::Column(wanted) | NewPartOf::Expression(NewIndexExpr { name: wanted, .. })) = &part.of;
        let numbered = (1..).map(|number| format!("{wanted}{number}"));
        let mut free = std::iter::once(wanted.clone()).chain(numbered).filter(|name| !names.contains(name));
        names.push(free.next().unwrap_or_default());
    }
    names
}

fn take_expr(table: &Table, new: &NewIndexExpr, name: String) -> CatalogResult<IndexExpr> {
    let columns = new.columns.iter().map(|name| visible(table, name)).collect::<CatalogResult<_>>()?;
    Ok(IndexExpr { text: new.text.clone(), name, ty: new.ty, columns, shown: new.shown.clone() })
}

/// Where the key bytes do not keep the value, the entries' column gets an id of its own. So does an expression.
fn take_part(table: &mut Table, new: &NewIndexPart, name: String) -> CatalogResult<IndexPart> {
    let (descending, nulls_first) = (new.descending, new.nulls_first);
    let column = match &new.of {
        NewPartOf::Column(column) => visible(table, column)?,
        NewPartOf::Expression(expression) => {
            if !expression.ty.is_key() {
                let feature = format!("an index on an expression of type {}", expression.ty);
                return Err(CatalogError::Unsupported { feature });
            }
            let of = PartOf::Expression(take_expr(table, expression, name)?);
            return Ok(IndexPart { of, entry: new_column_id(table)?, descending, nulls_first });
        }
    };
    if let Some(odd) = table.column(column).filter(|column| !column.ty.is_key()) {
        let feature = format!(
            "column \"{}\" of type {} in an index (its values have no order as bytes, as keys have)",
            odd.name, odd.ty
        );
        return Err(CatalogError::Unsupported { feature });
    }
    let keeps = table.column(column).is_some_and(|column| key_keeps_value(column.ty));
    let entry = if keeps { column } else { new_column_id(table)? };
    Ok(IndexPart { of: PartOf::Column(column), entry, descending, nulls_first })
}

fn new_column_id(table: &mut Table) -> CatalogResult<ColumnId> {
    let id = ColumnId(table.next_column);
    let too_many = || CatalogError::TooManyChanges { table: table.name.clone(), what: "column ids" };
    table.next_column = table.next_column.checked_add(1).ok_or_else(too_many)?;
    Ok(id)
}
