//! Serial and identity columns, whose values come from an owned sequence.

use super::sequence::counting;
use crate::error::EngineResult;
use catalog::{
    CatalogResult, Counting, Draft, Identity, NewColumn, NewSequence, NewTable, Sequence, SequenceOwner, TableOid,
};
use sql::{ColumnDef, Generated, SequenceOptions};
use types::{DataType, Datum};

/// The owned sequence of a serial or identity column, to be created with the column.
#[derive(Clone)]
pub(super) struct OwnSequence {
    column: String,
    /// The sequence's name; `None` derives it from the table and the column.
    name: Option<String>,
    counting: Counting,
    identity: Option<Identity>,
    /// The next value, if existing rows were numbered; `None` for the sequence's start value.
    first: Option<i64>,
}

impl OwnSequence {
    /// The owned sequence of a column definition in a table of `schema`, if it has one.
    pub(super) fn of(def: &ColumnDef, schema: &str) -> EngineResult<Option<Self>> {
        def.generated.as_ref().map(|generated| Self::new(&def.name, def.data_type, generated, schema)).transpose()
    }

    /// As [`Self::of`], for the column's name, type and options.
    pub(super) fn new(column: &str, ty: DataType, generated: &Generated, schema: &str) -> EngineResult<Self> {
        let (mut options, identity) = match generated {
            Generated::Serial => (SequenceOptions::default(), None),
            Generated::Identity { always: true, options } => (options.as_ref().clone(), Some(Identity::Always)),
            Generated::Identity { always: false, options } => (options.as_ref().clone(), Some(Identity::ByDefault)),
        };
        if !matches!(ty, DataType::SmallInt | DataType::Integer | DataType::BigInt) {
            let message = "identity column type must be smallint, integer, or bigint".to_string();
            return crate::error::fail(crate::error::Fault::BadSequence { message });
        }
        options.data_type.get_or_insert(ty);
        let name = options.name.take();
        if name.as_ref().and_then(|name| name.schema.as_ref()).is_some_and(|named| named != schema) {
            let message = "sequence must be in same schema as table it is linked to".to_string();
            return crate::error::fail(crate::error::Fault::Refused { message });
        }
        let name = name.map(|name| name.name);
        Ok(Self { column: column.to_owned(), name, counting: counting(&options, None)?, identity, first: None })
    }

    /// The column that owns the sequence.
    pub(super) fn column(&self) -> &str {
        &self.column
    }

    /// Sets the next value.
    pub(super) fn set_first(&mut self, first: i64) {
        self.first = Some(first);
    }

    /// Creates the sequence and adds its column to the table.
    pub(super) fn add_column(self, draft: &mut Draft, table: TableOid, mut column: NewColumn) -> CatalogResult<()> {
        let old = draft.table(table)?;
        let schema = draft.catalog().schema_name(&old).to_owned();
        let name = self.name.unwrap_or_else(|| free_name(draft, &schema, &old.name, &self.column));
        column.default = self.identity.is_none().then(|| default_text(&schema, &name));
        let new = NewSequence { schema, name, counting: self.counting, owner: None };
        let sequence = draft.create_sequence(new)?.oid;
        (column.sequence, column.identity) = (Some(sequence), self.identity);
        let column = draft.add_column(table, column, Datum::Null)?.must_get_column(&self.column)?.id;
        let owner = SequenceOwner { table, column, identity: self.identity.is_some() };
        let change = |sequence: &mut Sequence| {
            sequence.owner = Some(owner);
            sequence.first = self.first.unwrap_or(sequence.first);
            Ok(())
        };
        draft.alter_sequence(sequence, change).map(drop)
    }

    /// Creates the sequence and makes an existing column an identity.
    pub(super) fn add_identity(self, draft: &mut Draft, table: TableOid) -> CatalogResult<()> {
        let Some(identity) = self.identity else { return Ok(()) };
        let old = draft.table(table)?;
        let schema = draft.catalog().schema_name(&old).to_owned();
        let name = self.name.unwrap_or_else(|| free_name(draft, &schema, &old.name, &self.column));
        let new = NewSequence { schema, name, counting: self.counting, owner: None };
        let sequence = draft.create_sequence(new)?.oid;
        draft.set_identity(table, &self.column, Some((sequence, identity))).map(drop)
    }

    /// Creates the sequences and their table, and makes the columns own the sequences.
    pub(super) fn create(draft: &mut Draft, mut new: NewTable, sequences: &[Self]) -> CatalogResult<()> {
        let mut made = Vec::with_capacity(sequences.len());
        for own in sequences {
            let name = own.name.clone().unwrap_or_else(|| free_name(draft, &new.schema, &new.name, &own.column));
            let sequence =
                NewSequence { schema: new.schema.clone(), name: name.clone(), counting: own.counting, owner: None };
            let oid = draft.create_sequence(sequence)?.oid;
            if let Some(column) = new.columns.iter_mut().find(|column| column.name == own.column) {
                (column.sequence, column.identity) = (Some(oid), own.identity);
                column.default = own.identity.is_none().then(|| default_text(&new.schema, &name));
            }
            made.push((oid, own));
        }
        let table = draft.create_table(new)?;
        for (oid, own) in made {
            let column = table.must_get_column(&own.column)?.id;
            let owner = SequenceOwner { table: table.oid, column, identity: own.identity.is_some() };
            draft.alter_sequence(oid, |sequence| {
                sequence.owner = Some(owner);
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// `<table>_<column>_seq`, with a number appended if the name is taken.
fn free_name(draft: &Draft, schema: &str, table: &str, column: &str) -> String {
    let base = format!("{table}_{column}_seq");
    let taken = |name: &str| name == table || draft.catalog().has_relation(schema, name);
    if !taken(&base) {
        return base;
    }
    (1..).map(|number| format!("{base}{number}")).find(|name| !taken(name)).unwrap_or(base)
}

/// The default's text as PostgreSQL prints it.
fn default_text(schema: &str, name: &str) -> String {
    let quote = types::ident::quote;
    let name = match schema {
        catalog::PUBLIC_SCHEMA => quote(name).into_owned(),
        schema => format!("{}.{}", quote(schema), quote(name)),
    };
    format!("nextval('{}'::regclass)", name.replace('\'', "''"))
}
