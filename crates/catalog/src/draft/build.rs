//! Builds a table from a CREATE TABLE definition and checks every rule that the definition must satisfy.

use crate::check::add_new_checks;
use crate::definition::{NewColumn, NewKeyPart, NewTable};
use crate::property::{check_new, check_salt};
use crate::{
    CatalogError, CatalogResult, Column, ColumnId, Derived, KEY_CODEC, KeyColumn, LayoutDef, Live, MAX_COLUMNS,
    ROW_ID_COLUMN, SALT_HASH, SchemaId, Table, TableOid,
};
use rowkey::KeySchema;
use std::collections::{BTreeMap, BTreeSet};
use types::{DataType, Datum};

/// Builds the table, without ids of its own yet.
///
/// # Errors
/// The errors of an invalid definition.
pub(crate) fn build_table(new: NewTable, schema: SchemaId) -> CatalogResult<Table> {
    let NewTable { name, columns, key, key_name, salt_buckets, splits, properties, checks, materialized, .. } = new;
    let (salt_property, properties) = check_new(properties)?;
    let salt_buckets = match salt_buckets {
        Some(buckets) => check_salt(&buckets.to_string())?,
        None => salt_property,
    };
    check_columns(&name, &columns, &key)?;
    let has_key = !key.is_empty();
    let columns = make_columns(columns, &key);
    let mut table = Table {
        oid: TableOid(0),
        schema,
        storage: 0,
        key: make_key(&name, &columns, &key)?,
        key_name: has_key.then(|| key_name.unwrap_or_else(|| format!("{name}_pkey"))),
        key_oid: None,
        key_codec: KEY_CODEC,
        salt_hash: SALT_HASH,
        salt_buckets,
        splits: Vec::new(),
        layouts: Vec::new(),
        // Column ids are at most MAX_COLUMNS here, which is checked above.
        next_column: columns.last().map_or(1, |column| column.id.0 + 1),
        columns,
        properties,
        checks: Vec::new(),
        indexes: Vec::new(),
        foreign_keys: Vec::new(),
        materialized,
        change_logs: Vec::new(),
        derived: Derived::default(),
        live: Live::default(),
        version: 0,
        name,
    };
    let value_columns = table.value_columns().map(|column| (column.id, column.ty)).collect();
    table.layouts.push(LayoutDef { id: 1, columns: value_columns });
    table.splits = encode_splits(&table, splits)?;
    add_new_checks(&mut table, checks)?;
    Ok(table)
}

/// Refuses column names that users must not use.
pub(crate) fn check_column_name(name: &str) -> CatalogResult<()> {
    if name == ROW_ID_COLUMN {
        let reason = "it is the hidden row id of tables without a primary key";
        return Err(CatalogError::ReservedName { what: "column", name: name.to_string(), reason });
    }
    Ok(())
}

/// Refuses an empty column family name.
pub(crate) fn check_family(table: &str, family: Option<&str>) -> CatalogResult<()> {
    match family {
        Some("") => Err(invalid(table, "a column family without a name")),
        _ => Ok(()),
    }
}

fn check_columns(table: &str, columns: &[NewColumn], key: &[NewKeyPart]) -> CatalogResult<()> {
    if columns.len() > MAX_COLUMNS {
        return Err(CatalogError::TooManyColumns { limit: MAX_COLUMNS });
    }
    let mut names = BTreeSet::new();
    for column in columns {
        check_column_name(&column.name)?;
        check_family(table, column.family.as_deref())?;
        if !names.insert(column.name.as_str()) {
            return Err(CatalogError::ColumnTwice { column: column.name.clone() });
        }
        let in_key = key.iter().any(|part| part.column == column.name);
        if in_key && column.family.is_some() {
            return Err(invalid(table, format!("key column \"{}\" cannot be in a column family", column.name)));
        }
    }
    Ok(())
}

fn make_columns(columns: Vec<NewColumn>, key: &[NewKeyPart]) -> Vec<Column> {
    let hidden = key.is_empty().then(row_id_column);
    let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
    let ids = |named: Vec<String>| {
        let place = |name: &String| names.iter().position(|known| known == name);
        let id = |at: usize| u16::try_from(at + 1).ok().map(ColumnId);
        named.iter().filter_map(place).filter_map(id).collect()
    };
    let given = columns.into_iter().zip(1..).map(|(column, id)| {
        let in_key = key.iter().any(|part| part.column == column.name);
        Column {
            id: ColumnId(id),
            name: column.name,
            ty: column.ty,
            not_null: column.not_null.unwrap_or(in_key),
            default: column.default,
            missing: Datum::Null,
            family: column.family,
            sequence: column.sequence,
            default_sequences: column.default_sequences,
            identity: column.identity,
            generated: column.generated.map(ids),
            hidden: false,
        }
    });
    hidden.into_iter().chain(given).collect()
}

/// The hidden row id, column 0. No declared column has this id.
pub(crate) fn row_id_column() -> Column {
    Column { not_null: true, hidden: true, ..plain_column(ColumnId(0), ROW_ID_COLUMN, DataType::BigInt) }
}

/// A nullable column without a default.
pub(crate) fn plain_column(id: ColumnId, name: &str, ty: DataType) -> Column {
    Column {
        id,
        name: name.to_string(),
        ty,
        not_null: false,
        default: None,
        missing: Datum::Null,
        family: None,
        sequence: None,
        default_sequences: Vec::new(),
        identity: None,
        generated: None,
        hidden: false,
    }
}

/// A table that stores data derived from another table: the entries of an index, or a change log. The columns of its
/// key come first.
pub(crate) fn table_of(
    table: &Table,
    oid: TableOid,
    name: String,
    storage: u32,
    columns: Vec<Column>,
    key: Vec<KeyColumn>,
) -> Table {
    let values = columns.iter().skip(key.len()).map(|column| (column.id, column.ty)).collect();
    Table {
        oid,
        schema: table.schema,
        name,
        storage,
        columns,
        key,
        key_name: None,
        key_oid: None,
        key_codec: table.key_codec,
        salt_hash: SALT_HASH,
        salt_buckets: None,
        splits: Vec::new(),
        layouts: vec![LayoutDef { id: 1, columns: values }],
        next_column: table.next_column,
        properties: BTreeMap::new(),
        checks: Vec::new(),
        indexes: Vec::new(),
        foreign_keys: Vec::new(),
        materialized: None,
        change_logs: Vec::new(),
        version: table.version,
        derived: Derived::default(),
        live: Live::default(),
    }
}

pub(crate) fn make_key(table: &str, columns: &[Column], key: &[NewKeyPart]) -> CatalogResult<Vec<KeyColumn>> {
    if key.is_empty() {
        return Ok(vec![KeyColumn { column: ColumnId(0), descending: false, nulls_first: false }]);
    }
    let mut parts: Vec<KeyColumn> = Vec::with_capacity(key.len());
    for part in key {
        let column = columns
            .iter()
            .find(|column| column.name == part.column)
            .ok_or_else(|| CatalogError::NoSuchColumn { table: table.to_string(), column: part.column.clone() })?;
        if parts.iter().any(|known| known.column == column.id) {
            return Err(CatalogError::DuplicateKeyColumn { column: part.column.clone() });
        }
        if !column.ty.is_key() {
            let feature = format!(
                "column \"{}\" of type {} in a primary key (its values have no order as bytes, as keys have)",
                column.name, column.ty
            );
            return Err(CatalogError::Unsupported { feature });
        }
        let nulls_first = part.nulls_first.unwrap_or(part.descending);
        parts.push(KeyColumn { column: column.id, descending: part.descending, nulls_first });
    }
    Ok(parts)
}

/// Encodes split points as key bytes without salt.
fn encode_splits(table: &Table, splits: Vec<Vec<Datum>>) -> CatalogResult<Vec<Vec<u8>>> {
    if table.has_hidden_row_id() && !splits.is_empty() {
        return Err(invalid(&table.name, "SPLIT ON needs a primary key"));
    }
    encode_key_splits(table, splits)
}

/// Encodes region boundaries as key bytes without salt.
pub(crate) fn encode_key_splits(table: &Table, splits: Vec<Vec<Datum>>) -> CatalogResult<Vec<Vec<u8>>> {
    let schema = table.key_schema();
    let mut encoded: Vec<Vec<u8>> = Vec::with_capacity(splits.len());
    for (values, number) in splits.into_iter().zip(1..) {
        let split = encode_split(&schema, values).map_err(|reason| CatalogError::InvalidSplit {
            table: table.name.clone(),
            number,
            reason,
        })?;
        if encoded.last().is_some_and(|last| *last >= split) {
            let reason = "it does not come after the one before it in key order".to_string();
            return Err(CatalogError::InvalidSplit { table: table.name.clone(), number, reason });
        }
        encoded.push(split);
    }
    Ok(encoded)
}

fn encode_split(schema: &KeySchema, values: Vec<Datum>) -> Result<Vec<u8>, String> {
    if values.is_empty() || values.len() > schema.parts.len() {
        return Err(format!("{} values for a key of {} columns", values.len(), schema.parts.len()));
    }
    let mut typed = Vec::with_capacity(values.len());
    for (value, part) in values.into_iter().zip(&schema.parts) {
        if matches!(value, Datum::Null) && !part.nullable {
            return Err("NULL in a key column that is NOT NULL".to_string());
        }
        typed.push(types::coerce::assign(&part.ty, value).map_err(|error| error.to_string())?);
    }
    let mut key = Vec::new();
    schema.encode_prefix(&typed, &mut key).map_err(|error| error.to_string())?;
    Ok(key)
}

fn invalid(table: &str, reason: impl Into<String>) -> CatalogError {
    CatalogError::InvalidTable { table: table.to_string(), reason: reason.into() }
}
