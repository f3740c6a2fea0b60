//! The compiled foreign keys of a target table: its own, and those that reference it.

use crate::dml::fits_exactly;
use crate::error::{BrokenReference, EngineError, EngineResult, Fault, fail};
use catalog::{Catalog, ForeignKey, ReferentialAction, RowCodec, Table, TableOid};
use index::IndexCodec;
use std::sync::Arc;
use store::{Bytes, TableId};
use types::{DataType, Datum};

/// The foreign keys of one table.
#[derive(Debug, Default)]
pub(crate) struct Relations {
    /// Foreign keys of the table itself.
    pub(crate) outgoing: Vec<Arc<Relation>>,
    /// Foreign keys of any table that reference the table, in the order of their creation.
    pub(super) incoming: Vec<Arc<Incoming>>,
}

/// A compiled foreign key.
#[derive(Debug)]
pub(crate) struct Relation {
    pub(super) key: ForeignKey,
    pub(super) schema: String,
    pub(super) child: Arc<Table>,
    /// Positions of the referencing columns.
    pub(super) columns: Vec<usize>,
    pub(super) parent: Parent,
}

/// The referenced side of a foreign key.
#[derive(Debug)]
pub(super) struct Parent {
    pub(super) table: Arc<Table>,
    pub(super) codec: RowCodec,
    /// The unique index of the referenced key; `None` for the primary key.
    pub(super) index: Option<IndexCodec>,
    /// For each part of the referenced key: its position among the foreign key's columns, and its type.
    parts: Vec<(usize, DataType)>,
}

/// A foreign key that references the target.
#[derive(Debug)]
pub(super) struct Incoming {
    pub(super) child: TableOid,
    pub(super) key: ForeignKey,
    /// Positions of the referenced columns.
    pub(super) columns: Vec<usize>,
}

impl Relations {
    /// Compiles the foreign keys of `table` in a version of the catalog.
    ///
    /// # Errors
    /// A definition that is inconsistent with the catalog.
    pub(crate) fn new(catalog: &Catalog, table: &Arc<Table>) -> EngineResult<Self> {
        let outgoing = table.foreign_keys.iter().map(|key| Relation::new(catalog, table, key).map(Arc::new));
        let referring = catalog.tables().filter(|child| child.refers_to(table.oid));
        let incoming = referring.flat_map(|child| {
            let keys = child.foreign_keys.iter().filter(|key| key.parent == table.oid);
            keys.map(|key| {
                let columns = table.positions_of(&key.parent_columns);
                Arc::new(Incoming { child: child.oid, key: key.clone(), columns })
            })
        });
        let mut incoming: Vec<_> = incoming.collect();
        incoming.sort_by_key(|incoming| incoming.key.oid);
        Ok(Self { incoming, outgoing: outgoing.collect::<EngineResult<_>>()? })
    }

    /// Whether foreign keys reference the table.
    pub(crate) fn is_referred_to(&self) -> bool {
        !self.incoming.is_empty()
    }

    /// The tables that its rows reference, with the versions of their definitions.
    pub(crate) fn parents(&self) -> impl Iterator<Item = (TableId, u64)> {
        self.outgoing.iter().map(|relation| (relation.parent.table.storage_id(), relation.parent.table.version))
    }
}

impl Incoming {
    /// Whether referencing rows follow the key: ON UPDATE CASCADE.
    pub(super) fn moves_children(&self) -> bool {
        self.key.on_update == ReferentialAction::Cascade
    }
}

impl Relation {
    pub(super) fn new(catalog: &Catalog, child: &Arc<Table>, key: &ForeignKey) -> EngineResult<Self> {
        let Some(table) = catalog.table_by_oid(key.parent) else {
            return fail(Fault::Internal { detail: format!("\"{}\" refers to no table", key.name) });
        };
        let columns = child.positions_of(&key.columns);
        let schema = catalog.schema_name(child).to_string();
        Ok(Self { key: key.clone(), schema, child: Arc::clone(child), columns, parent: Parent::new(table, key)? })
    }

    /// Whether these values require a check: they reference a row, or violate MATCH FULL.
    pub(super) fn asks_for(&self, values: &[Datum]) -> bool {
        let nulls = values.iter().filter(|value| value.is_null()).count();
        nulls == 0 || (self.key.full && nulls < values.len())
    }

    /// The 23503 error for values that reference no row, or violate MATCH FULL.
    pub(super) fn no_parent(&self, values: &[Datum]) -> EngineError {
        if values.iter().any(Datum::is_null) {
            let (schema, table, constraint) = (self.schema.clone(), self.child.name.clone(), self.key.name.clone());
            return Fault::MixedNulls { schema, table, constraint }.into();
        }
        let broken = self.broken(shown(&self.child, &self.key.columns, values));
        Fault::NoParent { broken }.into()
    }

    /// The 23503 error for a key that rows still reference; `values` are those of the referenced row.
    pub(super) fn has_children(&self, values: &[Datum]) -> EngineError {
        let broken = self.broken(shown(&self.parent.table, &self.key.parent_columns, values));
        Fault::HasChildren { broken }.into()
    }

    fn broken(&self, (columns, values): (String, String)) -> Box<BrokenReference> {
        Box::new(BrokenReference {
            schema: self.schema.clone(),
            table: self.child.name.clone(),
            constraint: self.key.name.clone(),
            columns,
            values,
            parent: self.parent.table.name.clone(),
        })
    }
}

impl Parent {
    fn new(table: &Arc<Table>, key: &ForeignKey) -> EngineResult<Self> {
        let index = table.indexes.iter().find(|index| index.oid == key.parent_index);
        let ids: Vec<_> = match index {
            Some(index) => index.plain_columns().unwrap_or_default(),
            None => table.key.iter().map(|part| part.column).collect(),
        };
        let part = |id| {
            let at = key.parent_columns.iter().position(|column| *column == id)?;
            Some((at, table.column(id)?.ty))
        };
        let Some(parts) = ids.into_iter().map(part).collect() else {
            return fail(Fault::Internal { detail: format!("\"{}\" refers to no key", key.name) });
        };
        let index = index.map(|index| IndexCodec::new(table, index)).transpose()?;
        Ok(Self { codec: RowCodec::new(table)?, table: Arc::clone(table), index, parts })
    }

    /// The rowkey of the row with these values, or the prefix of its index entry; `None` if no row can have them.
    ///
    /// # Errors
    /// A key that is too long.
    pub(super) fn probe(&self, values: &[Datum]) -> EngineResult<Option<Bytes>> {
        let mut parts = Vec::with_capacity(self.parts.len());
        for (at, ty) in &self.parts {
            let Some(value) = values.get(*at).and_then(|value| fits_exactly(ty, value.clone())) else {
                return Ok(None);
            };
            parts.push(value);
        }
        match &self.index {
            Some(index) => {
                let mut key = Vec::with_capacity(32);
                index.entries().key_schema().encode_prefix(&parts, &mut key).map_err(catalog::RowError::from)?;
                Ok(Some(key.into()))
            }
            None => Ok(self.codec.key_to_look_up(&parts)?.map(Bytes::from)),
        }
    }
}

/// Column names and values for error messages.
fn shown(table: &Table, columns: &[catalog::ColumnId], values: &[Datum]) -> (String, String) {
    let columns: Vec<_> = table.columns_of(columns).collect();
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let text = |(column, value): (&&catalog::Column, &Datum)| {
        let mut out = String::new();
        types::text::print(&column.ty, value, &mut out);
        out
    };
    let values: Vec<String> = columns.iter().zip(values).map(text).collect();
    (names.join(", "), values.join(", "))
}
