//! ALTER TABLE: changes of a definition that do not touch rows.

use super::build::{check_column_name, check_family};
use crate::definition::{NewColumn, NewDefault};
use crate::index::key_preserves_value;
use crate::property::check_changes;
use crate::{
    CatalogError, CatalogResult, Column, ColumnId, Draft, Identity, LayoutDef, MAX_COLUMNS, SequenceOwner, Table,
    TableOid, ViewQuery,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use types::DataType::{Text, Varchar};
use types::{DataType, Datum};

impl Draft {
    /// ADD COLUMN. Rows written before read `missing`: the value of the default, which the caller has evaluated once
    /// (NULL without a default). A NOT NULL column with a NULL `missing` is valid only for an empty table, which the
    /// caller checks under the table's exclusive lock.
    ///
    /// # Errors
    /// [`CatalogError::DuplicateColumn`], [`CatalogError::TooManyColumns`], [`CatalogError::ReservedName`],
    /// [`CatalogError::TooManyChanges`], [`CatalogError::NoSuchTable`].
    pub fn add_column(&mut self, oid: TableOid, new: NewColumn, missing: Datum) -> CatalogResult<Arc<Table>> {
        let mut table = self.table(oid)?.as_ref().clone();
        check_column_name(&new.name)?;
        check_family(&table.name, new.family.as_deref())?;
        check_column_is_new(&table, &new.name)?;
        if table.columns.len() >= MAX_COLUMNS {
            return Err(CatalogError::TooManyColumns { limit: MAX_COLUMNS });
        }
        let named = new.generated.map(|names| {
            names.iter().map(|name| Ok(table.must_get_column(name)?.id)).collect::<CatalogResult<Vec<_>>>()
        });
        let generated = named.transpose()?;
        let id = ColumnId(table.next_column);
        table.next_column = next_id(&table, table.next_column, "column ids")?;
        table.columns.push(Column {
            id,
            name: new.name,
            ty: new.ty,
            not_null: new.not_null == Some(true),
            default: new.default,
            missing,
            family: new.family,
            sequence: new.sequence,
            default_sequences: new.default_sequences,
            identity: new.identity,
            generated,
            hidden: false,
        });
        push_layout(&mut table)?;
        Ok(self.put_table(table))
    }

    /// DROP COLUMN. Old rows keep its bytes, which are no longer read. Drops the indexes, CHECK constraints and foreign
    /// keys that name it; with `cascade`, also views that read it, foreign keys that refer to it and defaults that take
    /// values of its sequence. Returns these dependents.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchColumn`], [`CatalogError::KeyColumn`], [`CatalogError::DependentObjects`],
    /// [`CatalogError::TooManyChanges`], [`CatalogError::NoSuchTable`].
    pub fn drop_column(&mut self, oid: TableOid, name: &str, cascade: bool) -> CatalogResult<Vec<String>> {
        let table = self.table(oid)?.as_ref().clone();
        let column = visible_column(&table, name)?;
        let id = column.id;
        if table.key_position(id).is_some() {
            return Err(CatalogError::KeyColumn {
                what: format!("column {name} of table {}", table.name),
                key: table.key_name.clone().unwrap_or_default(),
            });
        }
        let mut dropped = self.drop_readers(&table, id, cascade)?;
        let what = format!("column {name} of table {}", table.name);
        let dependents: Vec<String> = table
            .columns
            .iter()
            .filter(|other| other.generated.as_ref().is_some_and(|from| from.contains(&id)))
            .map(|other| format!("column {} of table {}", other.name, table.name))
            .collect();
        if !dependents.is_empty() {
            return Err(CatalogError::DependentObjects { what, dependents });
        }
        let going = table.indexes.iter().filter(|index| index.names(id)).map(|index| index.oid).collect::<Vec<_>>();
        for index in going {
            dropped.extend(self.release_parent(oid, Some(index), &BTreeSet::new(), (&what, cascade))?);
        }
        let mut table = self.remove_foreign_keys(oid, |key| key.columns.contains(&id))?.as_ref().clone();
        table.columns.retain(|column| column.id != id);
        table.checks.retain(|check| !check.columns.contains(&id));
        self.remove_indexes(&mut table, |index| index.names(id));
        push_layout(&mut table)?;
        self.put_table(table);
        dropped.extend(self.drop_owned((oid, id), Some(&what), cascade)?);
        Ok(dropped)
    }

    /// Drops the views that read a column. Without `cascade` they are an error.
    fn drop_readers(&mut self, table: &Table, column: ColumnId, cascade: bool) -> CatalogResult<Vec<String>> {
        if !cascade {
            return self.check_unread(table, Some(column)).map(|()| Vec::new());
        }
        let views = self.reading(table.oid, Some(column));
        let mut dropped: Vec<String> = views.iter().map(|view| self.described(*view)).collect();
        dropped.extend(self.drop_relations(&views, true)?);
        Ok(dropped)
    }

    /// RENAME COLUMN. `queries` are those of the views that read it, with its new name.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchColumn`], [`CatalogError::DuplicateColumn`], [`CatalogError::ReservedName`],
    /// [`CatalogError::NoSuchTable`]; [`CatalogError::Unsupported`] for a view without a new query.
    pub fn rename_column(
        &mut self,
        oid: TableOid,
        name: &str,
        to: &str,
        queries: &[ViewQuery],
    ) -> CatalogResult<Arc<Table>> {
        let to = to.to_string();
        let column = visible_column(self.table(oid)?.as_ref(), name)?.id;
        let what = format!("column {name} of {}", self.described(oid));
        self.follow((oid, Some(column)), &what, queries)?;
        self.alter_column(oid, name, |table, id| {
            check_column_name(&to)?;
            check_column_is_new(table, &to)?;
            set(table, id, |column| column.name = to);
            Ok(())
        })
    }

    /// SET DEFAULT and DROP DEFAULT (`None`): affects rows written from now on.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchColumn`], [`CatalogError::NoSuchTable`].
    pub fn set_default(&mut self, oid: TableOid, name: &str, default: Option<NewDefault>) -> CatalogResult<Arc<Table>> {
        let (text, sequence, sequences) = match default {
            Some(NewDefault { text, sequence, sequences }) => (Some(text), sequence, sequences),
            None => (None, None, Vec::new()),
        };
        self.alter_column(oid, name, |table, id| {
            set(table, id, |column| {
                (column.default, column.sequence, column.default_sequences) = (text, sequence, sequences);
            });
            Ok(())
        })
    }

    /// Replaces the text of a generated column's expression, after a rename of a column in it.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchColumn`], [`CatalogError::NoSuchTable`].
    pub fn set_expression(&mut self, oid: TableOid, name: &str, text: String) -> CatalogResult<Arc<Table>> {
        self.alter_column(oid, name, |table, id| {
            set(table, id, |column| column.default = Some(text));
            Ok(())
        })
    }

    /// DROP EXPRESSION: the column keeps its values and is no longer computed.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchColumn`], [`CatalogError::NoSuchTable`].
    pub fn drop_expression(&mut self, oid: TableOid, name: &str) -> CatalogResult<Arc<Table>> {
        self.alter_column(oid, name, |table, id| {
            set(table, id, |column| (column.default, column.generated) = (None, None));
            Ok(())
        })
    }

    /// ALTER COLUMN … TYPE. Unless both types encode the values alike ([`is_binary_coercible`]), the rows must be rewritten in
    /// the same change: [`Draft::adopt_rewrite`]. Index expressions over the column get their types by
    /// [`Draft::set_index_texts`], and their entries are rewritten, too.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchColumn`], [`CatalogError::NoSuchTable`], [`CatalogError::AlteredColumnUsed`],
    /// [`CatalogError::IncompatibleKeys`], [`CatalogError::Unsupported`] for a key column of a type that keys do not
    /// support.
    pub fn set_type(&mut self, oid: TableOid, name: &str, ty: DataType) -> CatalogResult<Arc<Table>> {
        let table = self.table(oid)?;
        let id = visible_column(&table, name)?.id;
        self.check_unread(&table, Some(id)).map_err(|error| match error {
            CatalogError::DependentObjects { dependents, .. } => CatalogError::AlteredColumnUsed {
                by: "view or rule",
                detail: format!("rule _RETURN on {} depends on column \"{name}\"", dependents.join(", ")),
            },
            other => other,
        })?;
        let computed = table.columns.iter().find(|it| it.generated.as_ref().is_some_and(|from| from.contains(&id)));
        if let Some(other) = computed {
            let detail = format!("Column \"{name}\" is used by generated column \"{}\".", other.name);
            return Err(CatalogError::AlteredColumnUsed { by: "generated column", detail });
        }
        let indexed = table.indexes.iter().any(|index| index.parts.iter().any(|part| part.column() == Some(id)));
        if !ty.is_key() && (indexed || table.key_position(id).is_some()) {
            let feature = format!("column \"{name}\" of type {ty} in a key or an index");
            return Err(CatalogError::Unsupported { feature });
        }
        let table = self.alter_column(oid, name, |table, id| {
            set(table, id, |column| column.ty = ty);
            set_entry_columns(table, id)?;
            push_layout(table)
        })?;
        self.check_foreign_types(&table)?;
        Ok(table)
    }

    /// ADD GENERATED … AS IDENTITY with an existing sequence, and DROP IDENTITY (`None`), which drops its sequence.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchColumn`], [`CatalogError::NoSuchTable`], [`CatalogError::DependentObjects`] where a default
    /// of another column takes values of the sequence.
    pub fn set_identity(
        &mut self,
        oid: TableOid,
        name: &str,
        identity: Option<(TableOid, Identity)>,
    ) -> CatalogResult<Arc<Table>> {
        let column = visible_column(self.table(oid)?.as_ref(), name)?.id;
        let dropped = identity.is_none();
        if let Some((sequence, _)) = identity {
            let owner = SequenceOwner { table: oid, column, identity: true };
            self.alter_sequence(sequence, |sequence| {
                sequence.owner = Some(owner);
                Ok(())
            })?;
        }
        let (sequence, identity) = identity.unzip();
        let table = self.alter_column(oid, name, |table, id| {
            set(table, id, |column| (column.sequence, column.identity) = (sequence, identity));
            Ok(())
        })?;
        if dropped {
            self.drop_owned((oid, column), None, false)?;
        }
        Ok(table)
    }

    /// SET GENERATED: whether a statement may give values to an identity column.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchColumn`], [`CatalogError::NoSuchTable`].
    pub fn set_identity_kind(&mut self, oid: TableOid, name: &str, kind: Identity) -> CatalogResult<Arc<Table>> {
        self.alter_column(oid, name, |table, id| {
            set(table, id, |column| column.identity = Some(kind));
            Ok(())
        })
    }

    /// SET NOT NULL. The caller checks that no row holds a NULL, under the table's exclusive lock. A nullable key
    /// column cannot become NOT NULL: its encoding differs.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchColumn`], [`CatalogError::NoSuchTable`], [`CatalogError::Unsupported`].
    pub fn set_not_null(&mut self, oid: TableOid, name: &str) -> CatalogResult<Arc<Table>> {
        self.set_nullability(oid, name, true)
    }

    /// DROP NOT NULL.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchColumn`], [`CatalogError::NoSuchTable`]; [`CatalogError::InvalidTable`] for a
    /// key column.
    pub fn drop_not_null(&mut self, oid: TableOid, name: &str) -> CatalogResult<Arc<Table>> {
        self.set_nullability(oid, name, false)
    }

    /// RENAME TO. `queries` are those of the views that read it, with its new name.
    ///
    /// # Errors
    /// [`CatalogError::DuplicateTable`], [`CatalogError::NoSuchTable`]; [`CatalogError::Unsupported`] for a view without
    /// a new query.
    pub fn rename_table(&mut self, oid: TableOid, to: &str, queries: &[ViewQuery]) -> CatalogResult<Arc<Table>> {
        let mut table = self.table(oid)?.as_ref().clone();
        let schema = self.next.schema_name(&table).to_string();
        self.check_name_is_free(&schema, to)?;
        let what = self.described(oid);
        self.follow((oid, None), &what, queries)?;
        table.name = to.to_string();
        Ok(self.put_table(table))
    }

    /// SET (name = value, ...); `None` is RESET.
    ///
    /// # Errors
    /// [`CatalogError::UnknownProperty`], [`CatalogError::InvalidProperty`], [`CatalogError::Unsupported`],
    /// [`CatalogError::NoSuchTable`].
    pub fn set_properties(
        &mut self,
        oid: TableOid,
        changes: &BTreeMap<String, Option<String>>,
    ) -> CatalogResult<Arc<Table>> {
        let mut table = self.table(oid)?.as_ref().clone();
        for (name, value) in check_changes(changes)? {
            match value {
                Some(value) => table.properties.insert(name, value),
                None => table.properties.remove(&name),
            };
        }
        Ok(self.put_table(table))
    }

    fn set_nullability(&mut self, oid: TableOid, name: &str, not_null: bool) -> CatalogResult<Arc<Table>> {
        self.alter_column(oid, name, |table, id| {
            let was = table.column(id).is_some_and(|column| column.not_null);
            let in_key = table.key_position(id).is_some() || table.primary_index().is_some_and(|index| index.names(id));
            if was != not_null && in_key {
                return Err(CatalogError::InKey { column: name.to_string() });
            }
            set(table, id, |column| column.not_null = not_null);
            Ok(())
        })
    }

    fn alter_column(
        &mut self,
        oid: TableOid,
        name: &str,
        change: impl FnOnce(&mut Table, ColumnId) -> CatalogResult<()>,
    ) -> CatalogResult<Arc<Table>> {
        let mut table = self.table(oid)?.as_ref().clone();
        let id = visible_column(&table, name)?.id;
        change(&mut table, id)?;
        Ok(self.put_table(table))
    }
}

/// The column of that name. Statements cannot alter the hidden row id.
fn visible_column<'a>(table: &'a Table, name: &str) -> CatalogResult<&'a Column> {
    let column = table.must_get_column(name)?;
    if column.hidden {
        return Err(CatalogError::NoSuchColumn { table: table.name.clone(), column: name.to_string() });
    }
    Ok(column)
}

fn set(table: &mut Table, id: ColumnId, change: impl FnOnce(&mut Column)) {
    if let Some(column) = table.columns.iter_mut().find(|column| column.id == id) {
        change(column);
    }
}

fn check_column_is_new(table: &Table, name: &str) -> CatalogResult<()> {
    match table.column_by_name(name) {
        Some(_) => Err(CatalogError::DuplicateColumn { table: table.name.clone(), column: name.to_string() }),
        None => Ok(()),
    }
}

/// Whether both types encode a value alike and every value of `from` fits `to`.
pub fn is_binary_coercible(from: DataType, to: DataType) -> bool {
    match (from, to) {
        (Text | Varchar(_), Text | Varchar(None)) => true,
        (Varchar(Some(length)), Varchar(Some(longer))) => longer >= length,
        (from, to) => from == to,
    }
}

/// Updates the column ids of index entries: a type whose key bytes do not keep the value needs an id of its own there.
fn set_entry_columns(table: &mut Table, id: ColumnId) -> CatalogResult<()> {
    let keeps = table.column(id).is_some_and(|column| key_preserves_value(column.ty));
    let mut indexes = std::mem::take(&mut table.indexes);
    for part in indexes.iter_mut().flat_map(|index| &mut index.parts).filter(|part| part.column() == Some(id)) {
        if keeps {
            part.entry = id;
        } else if part.entry == id {
            part.entry = ColumnId(table.next_column);
            table.next_column = next_id(table, table.next_column, "column ids")?;
        }
    }
    table.indexes = indexes;
    Ok(())
}

/// Adds a layout: rows written from now on hold the present value columns of the table.
fn push_layout(table: &mut Table) -> CatalogResult<()> {
    let last = table.layouts.last().map_or(0, |layout| layout.id);
    let id = next_id(table, last, "layouts")?;
    let columns = table.value_columns().map(|column| (column.id, column.ty)).collect();
    table.layouts.push(LayoutDef { id, columns });
    Ok(())
}

fn next_id(table: &Table, id: u16, what: &'static str) -> CatalogResult<u16> {
    id.checked_add(1).ok_or_else(|| CatalogError::TooManyChanges { table: table.name.clone(), what })
}
