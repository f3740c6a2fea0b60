//! Columns whose values come from a sequence of their own: serial and identity.

use super::sequence::counting;
use crate::error::EngineResult;
use catalog::{
    CatalogResult, Counting, Draft, Identity, NewColumn, NewSequence, NewTable, Sequence, SequenceOwner, TableOid,
};
use sql::{ColumnDef, Generated, SequenceOptions};
use types::{DataType, Datum};

/// A sequence to be made with its table.
#[derive(Clone)]
pub(super) struct OwnSequence {
    column: String,
    /// As it is to be called; `None` is after its column.
    name: Option<String>,
    counting: Counting,
    identity: Option<Identity>,
    /// The next value, behind those that rows have taken which are there; `None`: it begins as it counts.
    first: Option<i64>,
}

impl OwnSequence {
    /// What a column of a table in `schema` asks for.
    pub(super) fn of(def: &ColumnDef, schema: &str) -> EngineResult<Option<Self>> {
        def.generated.as_ref().map(|generated| Self::new(&def.name, def.data_type, generated, schema)).transpose()
    }

    /// The same, by its parts.
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

    /// The column that it is for.
    pub(super) fn column(&self) -> &str {
        &self.column
    }

    /// It goes on with this value.
    pub(super) fn set_first(&mut self, first: i64) {
        self.first = Some(first);
    }

    /// Makes the sequence, and a column that has its values.
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

    /// Makes the sequence of an identity, and its column one.
    pub(super) fn add_identity(self, draft: &mut Draft, table: TableOid) -> CatalogResult<()> {
        let Some(identity) = self.identity else { return Ok(()) };
        let old = draft.table(table)?;
        let schema = draft.catalog().schema_name(&old).to_owned();
        let name = self.name.unwrap_or_else(|| free_name(draft, &schema, &old.name, &self.column));
        let new = NewSequence { schema, name, counting: self.counting, owner: None };
        let sequence = draft.create_sequence(new)?.oid;
        draft.set_identity(table, &self.column, Some((sequence, identity))).map(drop)
    }

    /// Makes the sequences, their table, and them part of it.
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

/// `<table>_<column>_seq`, with a number if that is taken.
fn free_name(draft: &Draft, schema: &str, table: &str, column: &str) -> String {
    let base = format!("{table}_{column}_seq");
    let taken = |name: &str| name == table || draft.catalog().has_relation(schema, name);
    if !taken(&base) {
        return base;
    }
    (1..).map(|number| format!("{base}{number}")).find(|name| !taken(name)).unwrap_or(base)
}

/// The default as PostgreSQL shows it.
fn default_text(schema: &str, name: &str) -> String {
    let quote = types::ident::quote;
    let name = match schema {
        catalog::PUBLIC_SCHEMA => quote(name).into_owned(),
        schema => format!("{}.{}", quote(schema), quote(name)),
    };
    format!("nextval('{}'::regclass)", name.replace('\'', "''"))
}
