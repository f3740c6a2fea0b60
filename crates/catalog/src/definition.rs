//! Definitions of CREATE TABLE and ADD COLUMN, before they are checked.

use crate::{Identity, Materialized, NewCheck, TableOid};
use std::collections::BTreeMap;
use types::{DataType, Datum};

/// A table to be created.
#[derive(Clone, Debug)]
pub struct NewTable {
    /// An existing schema.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// In order of declaration.
    pub columns: Vec<NewColumn>,
    /// The primary key in key order; empty asks for a hidden row id.
    pub key: Vec<NewKeyPart>,
    /// Name of the primary key constraint; `None` names it `<table>_pkey`.
    pub key_name: Option<String>,
    /// From 2 to 256.
    pub salt_buckets: Option<u16>,
    /// SPLIT ON: values of the leading key columns, in ascending key order. On a salted table every bucket is split at
    /// these values.
    pub splits: Vec<Vec<Datum>>,
    /// Names in any case. `salt_buckets` may be given here instead.
    pub properties: BTreeMap<String, String>,
    /// CHECK constraints, in order of declaration.
    pub checks: Vec<NewCheck>,
    /// The definition, if it is a materialized view.
    pub materialized: Option<Materialized>,
}

impl NewTable {
    /// A table without columns.
    pub fn new(schema: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            schema: schema.into(),
            name: name.into(),
            columns: Vec::new(),
            key: Vec::new(),
            key_name: None,
            salt_buckets: None,
            splits: Vec::new(),
            properties: BTreeMap::new(),
            checks: Vec::new(),
            materialized: None,
        }
    }
}

/// A column to be created.
#[derive(Clone, Debug)]
pub struct NewColumn {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: DataType,
    /// `Some(true)`: NOT NULL. `Some(false)`: declared NULL, which makes a key column nullable. `None`: NOT NULL in a
    /// key, nullable elsewhere.
    pub not_null: Option<bool>,
    /// Source text of the DEFAULT expression.
    pub default: Option<String>,
    /// The sequence, if the default is exactly its next value.
    pub sequence: Option<TableOid>,
    /// The sequences that a compound default expression takes values of.
    pub default_sequences: Vec<TableOid>,
    /// GENERATED … AS IDENTITY.
    pub identity: Option<Identity>,
    /// GENERATED ALWAYS AS (…) STORED: the names of the columns in the expression (`default`), each once.
    pub generated: Option<Vec<String>>,
    /// Name of its column family.
    pub family: Option<String>,
}

impl NewColumn {
    /// A nullable column without a default.
    pub fn new(name: impl Into<String>, ty: DataType) -> Self {
        Self {
            name: name.into(),
            ty,
            not_null: None,
            default: None,
            sequence: None,
            default_sequences: Vec::new(),
            identity: None,
            generated: None,
            family: None,
        }
    }

    /// Sets the default.
    #[must_use]
    pub fn with_default(self, default: NewDefault) -> Self {
        let NewDefault { text, sequence, sequences } = default;
        Self { default: Some(text), sequence, default_sequences: sequences, ..self }
    }
}

/// The DEFAULT of a column.
#[derive(Clone, Debug, Default)]
pub struct NewDefault {
    /// Its source text.
    pub text: String,
    /// The sequence, if the default is exactly its next value.
    pub sequence: Option<TableOid>,
    /// The sequences of a compound default: the text has a [`crate::sequence_reference`] of each.
    pub sequences: Vec<TableOid>,
}

/// A part of a primary key to be created.
#[derive(Clone, Debug)]
pub struct NewKeyPart {
    /// Name of one of the table's columns.
    pub column: String,
    /// Sorted from large to small.
    pub descending: bool,
    /// `None` is PostgreSQL's rule: last for ASC, first for DESC.
    pub nulls_first: Option<bool>,
}

impl NewKeyPart {
    /// An ascending part.
    pub fn ascending(column: impl Into<String>) -> Self {
        Self { column: column.into(), descending: false, nulls_first: None }
    }
}
