//! `columns`: columns of tables, views and computed tables.

use crate::default_text::column_default;
use crate::oid::format_type;
use crate::rows::Cell;
use crate::rows::Rows;
use crate::source::{Relation, Source, is_plain, shown_columns};
use builtins::lists::PgType;
use catalog::{Column, DATABASE_NAME, Identity, Sequence};
use std::sync::Arc;
use types::{DataType, MAX_DIGITS};

/// The data of a row of this view.
struct Shown<'a> {
    name: &'a str,
    number: i16,
    ty: &'a PgType,
    typmod: i32,
    not_null: bool,
    default: Option<String>,
    /// The expression of a generated column.
    generated: Option<String>,
    identity: Option<Identity>,
    sequence: Option<&'a Arc<Sequence>>,
    writable: bool,
}

impl<'a> Shown<'a> {
    /// A read-only column of that type.
    fn of(ty: &'a PgType) -> Self {
        let (default, identity, sequence) = (None, None, None);
        let generated = None;
        Self {
            name: "",
            number: 0,
            ty,
            typmod: -1,
            not_null: false,
            default,
            generated,
            identity,
            sequence,
            writable: false,
        }
    }
}

pub(super) fn rows(source: &Source, rows: &mut Rows) {
    for relation in source.relations() {
        let schema = source.schema_name(relation.schema()).unwrap_or_default();
        match relation {
            Relation::Table(table) if is_plain(table) => {
                for (number, column) in shown_columns(table) {
                    if let Some(shown) = of_table(source, number, column) {
                        add(rows, schema, relation.name(), &shown);
                    }
                }
            }
            Relation::View(view) => {
                for (column, number) in view.columns.iter().zip(1..) {
                    if let Some(ty) = PgType::by_oid(column.ty.oid()) {
                        let (name, typmod) = (column.name.as_str(), column.ty.typmod());
                        add(rows, schema, relation.name(), &Shown { name, number, ty, typmod, ..Shown::of(ty) });
                    }
                }
            }
            Relation::Table(_) | Relation::Key(_) | Relation::Index(..) | Relation::Sequence(_) => {}
            Relation::Computed { definition, .. } => {
                // Reading the computed table itself reports an invalid definition.
                for (column, number) in definition.columns().unwrap_or_default().iter().zip(1..) {
                    let (name, ty, not_null) = (column.name, column.ty, column.not_null);
                    let shown = Shown { name, number, not_null, ..Shown::of(ty) };
                    add(rows, schema, relation.name(), &shown);
                }
            }
        }
    }
}

fn of_table<'a>(source: &'a Source, number: i16, column: &'a Column) -> Option<Shown<'a>> {
    Some(Shown {
        name: &column.name,
        number,
        ty: PgType::by_oid(column.ty.oid())?,
        typmod: column.ty.typmod(),
        not_null: column.not_null,
        default: column_default(source, column).filter(|_| column.generated.is_none()),
        generated: column.default.clone().filter(|_| column.generated.is_some()),
        identity: column.identity,
        sequence: column.sequence.and_then(|oid| source.catalog.sequence_by_oid(oid)),
        writable: true,
    })
}

fn add(rows: &mut Rows, schema: &str, table: &str, column: &Shown<'_>) {
    let is_array = column.ty.element != 0 && column.ty.len == -1;
    let data_type = if is_array { "ARRAY".to_owned() } else { base_name(column.ty) };
    let facts = Facts::of(column);
    let sequence = column.sequence.filter(|_| column.identity.is_some());
    rows.add([
        ("table_catalog", DATABASE_NAME.into()),
        ("table_schema", schema.into()),
        ("table_name", table.into()),
        ("column_name", column.name.into()),
        ("ordinal_position", column.number.into()),
        ("column_default", column.default.clone().into()),
        ("is_nullable", yes_no(!column.not_null)),
        ("data_type", data_type.into()),
        ("character_maximum_length", facts.length.into()),
        ("character_octet_length", facts.octets.into()),
        ("numeric_precision", facts.precision.into()),
        ("numeric_precision_radix", facts.radix.into()),
        ("numeric_scale", facts.scale.into()),
        ("datetime_precision", facts.fraction.into()),
        ("interval_type", facts.fields.into()),
        ("udt_catalog", DATABASE_NAME.into()),
        ("udt_schema", "pg_catalog".into()),
        ("udt_name", column.ty.name.into()),
        ("dtd_identifier", column.number.to_string().into()),
        ("is_self_referencing", "NO".into()),
        ("is_identity", yes_no(column.identity.is_some())),
        ("identity_generation", column.identity.map(generation).into()),
        ("identity_start", sequence.map(|it| it.start.to_string()).into()),
        ("identity_increment", sequence.map(|it| it.increment.to_string()).into()),
        ("identity_maximum", sequence.map(|it| it.max.to_string()).into()),
        ("identity_minimum", sequence.map(|it| it.min.to_string()).into()),
        ("identity_cycle", yes_no(sequence.is_some_and(|it| it.cycle))),
        ("is_generated", if column.generated.is_some() { "ALWAYS" } else { "NEVER" }.into()),
        ("generation_expression", column.generated.clone().into()),
        ("is_updatable", yes_no(column.writable)),
    ]);
}

fn generation(identity: Identity) -> &'static str {
    match identity {
        Identity::Always => "ALWAYS",
        Identity::ByDefault => "BY DEFAULT",
    }
}

fn yes_no(yes: bool) -> Cell {
    if yes { "YES" } else { "NO" }.into()
}

/// The type's name without its modifier.
fn base_name(ty: &PgType) -> String {
    DataType::from_oid(ty.oid, -1)
        .filter(|_| ty.name != "bpchar")
        .map_or_else(|| format_type(ty.oid, None), |ty| ty.base_name().to_owned())
}

/// The attributes that only some types have.
#[derive(Default)]
struct Facts {
    length: Option<i64>,
    octets: Option<i64>,
    precision: Option<i32>,
    radix: Option<i32>,
    scale: Option<i32>,
    fraction: Option<i32>,
    /// The fields of an interval type, as declared.
    fields: Option<String>,
}

impl Facts {
    fn of(column: &Shown<'_>) -> Self {
        /// PostgreSQL's value for text without a limit.
        const MOST_OCTETS: i64 = 1 << 30;
        let binary =
            |bits: i32, scale: Option<i32>| Self { precision: Some(bits), radix: Some(2), scale, ..Self::default() };
        match DataType::from_oid(column.ty.oid, column.typmod) {
            Some(DataType::SmallInt) => binary(16, Some(0)),
            Some(DataType::Integer) => binary(32, Some(0)),
            Some(DataType::BigInt) => binary(64, Some(0)),
            Some(DataType::Real) => binary(24, None),
            Some(DataType::Double) => binary(53, None),
            Some(DataType::Numeric(limits)) => Self {
                precision: limits.map(|(precision, _)| i32::from(precision)),
                radix: Some(10),
                scale: limits.map(|(_, scale)| i32::from(scale)),
                ..Self::default()
            },
            Some(DataType::Text | DataType::Varchar(None)) => Self { octets: Some(MOST_OCTETS), ..Self::default() },
            Some(DataType::Varchar(Some(length)) | DataType::Char(length)) => Self {
                length: Some(i64::from(length)),
                // A UTF-8 character has at most four bytes.
                octets: Some(i64::from(length) * 4),
                ..Self::default()
            },
            Some(DataType::Interval) => Self { fraction: Some(MAX_DIGITS.into()), ..Self::default() },
            Some(DataType::LimitedInterval(fields)) => Self {
                fraction: Some(fields.digits.unwrap_or(MAX_DIGITS).into()),
                fields: fields.bounds.map(|_| fields.words().to_uppercase()),
                ..Self::default()
            },
            Some(DataType::Date) => Self { fraction: Some(0), ..Self::default() },
            Some(ty) if ty.is_temporal() => {
                Self { fraction: Some(ty.digits().unwrap_or(MAX_DIGITS).into()), ..Self::default() }
            }
            _ => Self::default(),
        }
    }
}
