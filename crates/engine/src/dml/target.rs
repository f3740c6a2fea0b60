//! The table that a statement writes, with its indexes and constraints.

use crate::ColumnDesc;
use crate::error::{EngineResult, Fault};
use crate::references::Relations;
use crate::row_writer::{Checks, Generated, GroupLog, written_indexes};
use builtins::TimeZone;
use catalog::{Catalog, Column, Table};
use index::IndexCodec;
use query::RowCodec;
use sql::ColumnName;
use std::sync::Arc;
use store::{FamilyId, TableId};
use txn::LockMode;
use types::{DataType, Datum, TypeError};

/// All columns of a table are kept in this family.
pub(crate) const FAMILY: FamilyId = FamilyId(0);

/// A table to be written.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) table: Arc<Table>,
    /// Name of its schema.
    pub(crate) schema: String,
    pub(crate) codec: RowCodec,
    /// Codecs of its indexes.
    pub(crate) indexes: Vec<IndexCodec>,
    pub(crate) storage: TableId,
    /// The time zone for casts of text.
    pub(crate) zone: TimeZone,
    /// CHECK constraints; compiled where rows get new values, by [`crate::Session::checked_target`].
    pub(crate) checks: Checks,
    /// Generated columns; compiled with the CHECK constraints.
    pub(crate) generated: Generated,
    /// Whether the table has generated columns.
    pub(crate) is_computed: bool,
    /// Its foreign keys, and those that reference it.
    pub(crate) relations: Relations,
    /// Its change logs for incremental materialized views.
    pub(crate) group_logs: Vec<Arc<GroupLog>>,
}

/// A row: one value per column in order of declaration, hidden columns included.
pub(crate) type Row = Vec<Datum>;

impl Target {
    pub(crate) fn new(catalog: &Catalog, table: &Arc<Table>, zone: TimeZone) -> EngineResult<Self> {
        Ok(Self {
            indexes: written_indexes(table)?,
            table: Arc::clone(table),
            schema: catalog.schema_name(table).to_string(),
            codec: RowCodec::new(table)?,
            storage: table.storage_id(),
            zone,
            checks: Checks::default(),
            generated: Generated::default(),
            is_computed: table.columns.iter().any(|column| column.generated.is_some()),
            relations: Relations::new(catalog, table)?,
            group_logs: GroupLog::of(table)?,
        })
    }

    /// Number of columns of a [`Row`].
    pub(crate) fn width(&self) -> usize {
        self.table.columns.len()
    }

    pub(crate) fn column(&self, at: usize) -> Option<&Column> {
        self.table.columns.get(at)
    }

    /// Position of the column with that name; hidden columns cannot be named.
    pub(crate) fn position(&self, name: &ColumnName) -> EngineResult<usize> {
        let fits = |column: &Column| {
            let family = match &name.family {
                Some(family) => column.family.as_deref().unwrap_or("0") == family,
                None => true,
            };
            !column.hidden && column.name == name.name && family
        };
        self.table
            .columns
            .iter()
            .position(fits)
            .ok_or_else(|| Fault::NoSuchColumn { table: self.table.name.clone(), column: name.to_string() }.into())
    }

    /// Whether the column is part of the primary key.
    pub(crate) fn is_key(&self, at: usize) -> bool {
        self.codec.key_columns().contains(&at)
    }

    /// The lock mode for a row of which these columns change. Other transactions may still reference it unless a key
    /// changes.
    pub(crate) fn lock_mode(&self, mut changed: impl Iterator<Item = usize>) -> LockMode {
        let keys = self.indexes.iter().filter(|index| index.index().unique).flat_map(IndexCodec::columns);
        let in_key = |at: &usize| self.is_key(*at) || keys.clone().any(|key| key == at);
        let computed = |at: &usize| self.column(*at).is_some_and(|column| column.generated.is_some());
        let mut generated = (0..self.width()).filter(computed);
        match changed.any(|at| in_key(&at)) || generated.any(|at| in_key(&at)) {
            true => LockMode::Exclusive,
            false => LockMode::NoKeyExclusive,
        }
    }

    /// Casts the value to the column's type, as an assignment does.
    pub(crate) fn assign(&self, at: usize, value: Datum) -> EngineResult<Datum> {
        match self.column(at) {
            Some(column) => self.assign_as(at, &column.ty, value),
            None => Ok(value),
        }
    }

    /// Casts a value assigned to the column to `ty`: the column's type, or its element type.
    pub(crate) fn assign_as(&self, at: usize, ty: &DataType, value: Datum) -> EngineResult<Datum> {
        self.zone.assign(ty, value).map_err(|error| match error {
            TypeError::NoCast { from, .. } => {
                let column = self.column(at).map(|column| column.name.clone()).unwrap_or_default();
                Fault::NotAssignable { column, wanted: ty.sql_name(), given: from }.into()
            }
            other => other.into(),
        })
    }

    pub(crate) fn decode(&self, key: &[u8], fragment: &[u8]) -> EngineResult<Row> {
        Ok(self.codec.decode_full(key, fragment)?)
    }

    /// A column as front ends see it.
    pub(crate) fn describe(&self, at: usize) -> ColumnDesc {
        match self.column(at) {
            Some(column) => ColumnDesc {
                name: column.name.clone(),
                ty: column.ty,
                table_oid: self.table.oid.0,
                column_number: i16::try_from(column.id.0).unwrap_or(0),
            },
            None => crate::statement::utility::text_column("?column?"),
        }
    }
}
