//! Catalog rows in all released formats, and invalid rows.

use super::format::*;
use super::row::layout;
use super::rows::{check, value};
use super::*;
use crate::{CatalogError, SchemaDef, Table};
use serde::Serialize;
use serde::de::DeserializeOwned;
use types::{DataType, Datum, Decimal};

/// Rows of format 1 as released. Never edited: a new format gets a new file.
const ROWS_1: &str = include_str!("../../fixtures/format_1.jsonl");
/// A row of format 2.
const ROWS_2: &str = include_str!("../../fixtures/format_2.jsonl");
/// A row of format 4.
const ROWS_4: &str = include_str!("../../fixtures/format_4.jsonl");

/// A row of format 5.
const ROWS_5: &str = include_str!("../../fixtures/format_5.jsonl");

/// A row of format 6.
const ROWS_6: &str = include_str!("../../fixtures/format_6.jsonl");
/// A row of format 7: a table with a refreshed index.
const ROWS_7: &str = include_str!("../../fixtures/format_7.jsonl");

fn read_back<T: Serialize + DeserializeOwned>(line: &str) -> String {
    let row: T = value(line.as_bytes(), &|| line.to_string()).unwrap();
    serde_json::to_string(&Versioned { format: FORMAT_1, value: row }).unwrap()
}

#[test]
fn rows_of_format_1_are_read_and_written_the_same() {
    let lines: Vec<&str> = ROWS_1.lines().collect();
    assert_eq!(read_back::<Counters>(lines[0]), lines[0]);
    assert_eq!(read_back::<SchemaDef>(lines[1]), lines[1]);
    assert_eq!(read_back::<Table>(lines[2]), lines[2]);
    assert_eq!(read_back::<Table>(lines[3]), lines[3]);
    assert_eq!(read_back::<u32>(lines[4]), lines[4]);
    assert_eq!(read_back::<u64>(lines[5]), lines[5]);
    assert_eq!(lines.len(), 6);
}

#[test]
fn tables_with_checks_are_of_format_2() {
    let line = ROWS_2.lines().next().unwrap();
    let mut table: Table = value(line.as_bytes(), &|| line.to_string()).unwrap();
    assert_eq!(table.checks[0].name, "t_a_check");
    assert_eq!(table.checks[0].text, "a > 0");
    check(&table).unwrap();
    assert_eq!(String::from_utf8(table_json(&table).unwrap()).unwrap(), line);
    table.checks.clear();
    assert!(table_json(&table).unwrap().starts_with(br#"{"format":1,"#));
}

#[test]
fn tables_with_foreign_keys_are_of_format_4() {
    let line = ROWS_4.lines().next().unwrap();
    let mut table: Table = value(line.as_bytes(), &|| line.to_string()).unwrap();
    assert_eq!(table.foreign_keys[0].on_delete, crate::ReferentialAction::SetNull);
    check(&table).unwrap();
    assert_eq!(String::from_utf8(table_json(&table).unwrap()).unwrap(), line);
    table.foreign_keys[0].columns = vec![crate::ColumnId(9)];
    assert!(check(&table).is_err(), "it names a column that is not there");
    table.foreign_keys.clear();
    assert!(table_json(&table).unwrap().starts_with(br#"{"format":1,"#));
}

#[test]
fn tables_with_indexes_that_compute_or_are_not_read_are_of_format_5() {
    let line = ROWS_5.lines().next().unwrap();
    let mut table: Table = value(line.as_bytes(), &|| line.to_string()).unwrap();
    let [lower, by_column] = table.indexes.as_slice() else { panic!("{:?}", table.indexes) };
    assert_eq!(lower.expressions().map(|expr| expr.as_part(false)).collect::<Vec<_>>(), ["lower(c)"]);
    assert_eq!(lower.predicate.as_ref().map(|expr| expr.shown(true)), Some("c IS NOT NULL"));
    assert_eq!((lower.local, lower.state), (true, crate::IndexState::Unusable));
    assert!(lower.names(crate::ColumnId(2)) && lower.plain_columns().is_none());
    assert_eq!(by_column.plain_columns(), Some(vec![crate::ColumnId(2)]));
    check(&table).unwrap();
    assert_eq!(String::from_utf8(table_json(&table).unwrap()).unwrap(), line);
    table.indexes.truncate(1);
    table.indexes[0].predicate = None;
    assert!(table_json(&table).unwrap().starts_with(br#"{"format":5,"#), "an expression is left");
    table.indexes.clear();
    assert!(table_json(&table).unwrap().starts_with(br#"{"format":1,"#));
}

#[test]
fn materialized_views_are_of_format_6() {
    let line = ROWS_6.lines().next().unwrap();
    let mut table: Table = value(line.as_bytes(), &|| line.to_string()).unwrap();
    let view = table.materialized.clone().unwrap();
    assert_eq!((view.populated, view.due()), (true, Some(1_700_000_600_000_000)));
    check(&table).unwrap();
    assert_eq!(String::from_utf8(table_json(&table).unwrap()).unwrap(), line);
    table.materialized = None;
    assert!(table_json(&table).unwrap().starts_with(br#"{"format":1,"#));
}

#[test]
fn tables_with_indexes_that_are_refreshed_are_of_format_7() {
    let line = ROWS_7.lines().next().unwrap();
    let mut table: Table = value(line.as_bytes(), &|| line.to_string()).unwrap();
    let refresh = table.indexes[0].refresh.unwrap();
    assert_eq!((refresh.due(), refresh.job), (Some(1_700_000_600_000_000), Some(3)));
    let state = table.indexes[0].state;
    assert_eq!((state, state.takes_deletes(), state.takes_entries()), (crate::IndexState::Refreshed, false, false));
    check(&table).unwrap();
    assert_eq!(String::from_utf8(table_json(&table).unwrap()).unwrap(), line);
    table.indexes.clear();
    assert!(table_json(&table).unwrap().starts_with(br#"{"format":1,"#));
}

#[test]
fn the_types_and_values_of_the_fixture_mean_what_they_meant() {
    let line = ROWS_1.lines().nth(3).unwrap();
    let table: Table = value(line.as_bytes(), &|| line.to_string()).unwrap();
    let types: Vec<DataType> = table.columns.iter().map(|column| column.ty).collect();
    let all = [
        DataType::Boolean,
        DataType::SmallInt,
        DataType::Integer,
        DataType::BigInt,
        DataType::Real,
        DataType::Double,
        DataType::Numeric(None),
        DataType::Numeric(Some((38, 10))),
        DataType::Text,
        DataType::Varchar(None),
        DataType::Varchar(Some(10)),
        DataType::Char(3),
        DataType::Bytea,
        DataType::Varbinary(9),
        DataType::Binary(4),
        DataType::Date,
        DataType::Time(None),
        DataType::Timestamp(None),
        DataType::TimestampTz(None),
        DataType::Uuid,
    ];
    assert_eq!(types, all);
    let missing: Vec<&Datum> = table.columns.iter().map(|column| &column.missing).collect();
    assert!(matches!(missing[5], Datum::Float8(value) if value.is_nan()));
    assert!(matches!(missing[6], Datum::Numeric(Decimal { unscaled: -15, scale: 1 })));
    assert!(matches!(missing[8], Datum::Text(text) if text == "a\"ü"));
    assert!(matches!(missing[14], Datum::Bytes(bytes) if bytes == &[0, 255, 1, 2]));
    assert!(matches!(missing[17], Datum::Timestamp(i64::MAX)));
}

#[test]
fn digits_of_a_second_are_stored_beside_the_type_that_has_them() {
    for (ty, stored) in [
        (DataType::Timestamp(None), r#""Timestamp""#),
        (DataType::Timestamp(Some(3)), r#"{"Timestamp":3}"#),
        (DataType::TimestampTz(Some(0)), r#"{"TimestampTz":0}"#),
        (DataType::Time(Some(6)), r#"{"Time":6}"#),
    ] {
        assert_eq!(serde_json::to_string(&ty).unwrap(), stored);
        assert_eq!(serde_json::from_str::<DataType>(stored).unwrap(), ty);
    }
}

#[test]
fn a_newer_format_is_named_and_its_value_is_not_looked_at() {
    let row = format!(r#"{{"format": {}, "value": "who knows"}}"#, FORMAT + 1);
    let refused = value::<Table>(row.as_bytes(), &String::new).unwrap_err();
    assert_eq!(refused, CatalogError::NewerFormat { found: FORMAT + 1, readable: FORMAT });
}

#[test]
fn bytes_that_are_no_row_are_corruption() {
    let mut rows = Rows::default();
    let mut fragment = Vec::new();
    fragment::encode_dense(&layout(), &[Some(b"{\"format\": 1, \"value\": ")], &mut fragment).unwrap();
    for (key, bytes) in [
        (vec![0], Vec::new()),
        (vec![0], b"not a fragment".to_vec()),
        (vec![1, 0, 0, 0, 9], fragment.clone()),
        (vec![77], fragment.clone()),
        (Vec::new(), fragment),
    ] {
        let refused = rows.read(&key, &bytes).unwrap_err();
        assert!(matches!(refused, CatalogError::Corrupted { .. }), "{refused:?}");
    }
    assert!(matches!(Rows::default().into_loaded().map(|_| ()), Err(CatalogError::Corrupted { .. })));
}

#[test]
fn a_table_that_contradicts_itself_is_corruption() {
    let line = ROWS_1.lines().nth(2).unwrap();
    let sound: Table = value(line.as_bytes(), &|| line.to_string()).unwrap();
    check(&sound).unwrap();
    let spoil: [fn(&mut Table); 7] = [
        |table| table.key_codec = 2,
        |table| table.key.clear(),
        |table| table.columns.retain(|column| column.id != table.key[0].column),
        |table| table.layouts.clear(),
        |table| table.layouts.reverse(),
        |table| table.columns.truncate(table.columns.len() - 1),
        |table| {
            let (name, text, columns) = ("c".to_string(), "z > 0".to_string(), vec![crate::ColumnId(999)]);
            table.checks.push(crate::Check { oid: 1, name, text, columns, validated: true });
        },
    ];
    for (number, spoil) in spoil.into_iter().enumerate() {
        let mut table = sound.clone();
        spoil(&mut table);
        assert!(check(&table).is_err(), "number {number} passed");
    }
}
