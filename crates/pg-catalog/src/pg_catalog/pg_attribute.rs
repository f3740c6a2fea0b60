//! `pg_attribute`: columns of tables, of indexes, of views, sequences and the computed tables.

use crate::oid::attribute_typmod;
use crate::rows::Rows;
use crate::shown_index::{ShownIndex, ShownOf};
use crate::source::{Relation, Source, shown_columns};
use builtins::lists::PgType;
use catalog::{Column, Identity, Table};
use types::DataType;

pub(super) fn rows(source: &Source, rows: &mut Rows) {
    for relation in source.relations() {
        let oid = relation.oid();
        match relation {
            Relation::Table(table) => {
                for (number, column) in shown_columns(table) {
                    let identity = match column.identity {
                        Some(Identity::Always) => "a",
                        Some(Identity::ByDefault) => "d",
                        None => "",
                    };
                    let default = column.default.is_some();
                    add(
                        rows,
                        oid,
                        number,
                        column,
                        Facts {
                            not_null: column.not_null,
                            default,
                            identity,
                            generated: column.generated.is_some(),
                            dimensions: None,
                        },
                    );
                }
                dropped_columns(table).for_each(|number| add_dropped(rows, oid, number));
            }
            // The columns of an index have no constraints of their own.
            Relation::Key(_) | Relation::Index(..) => {
                let columns =
                    ShownIndex::of(&relation).into_iter().flat_map(|index| index.columns().collect::<Vec<_>>());
                for (of, number) in columns.zip(1..) {
                    match of {
                        ShownOf::Column(_, column) => add(rows, oid, number, column, Facts::default()),
                        ShownOf::Expression(expression) => {
                            if let Some(ty) = PgType::by_oid(expression.ty.oid()) {
                                let shown = (expression.name.as_str(), ty, attribute_typmod(&expression.ty));
                                add_typed(rows, oid, number, shown, Facts::default());
                            }
                        }
                    }
                }
            }
            Relation::View(view) => {
                for (column, number) in view.columns.iter().zip(1..) {
                    if let Some(ty) = PgType::by_oid(column.ty.oid()) {
                        // As PostgreSQL, which does not count those of a query's columns.
                        let facts = Facts { dimensions: Some(0), ..Facts::default() };
                        add_typed(rows, oid, number, (&column.name, ty, attribute_typmod(&column.ty)), facts);
                    }
                }
            }
            Relation::Sequence(_) => {
                let columns =
                    [("last_value", DataType::BigInt), ("log_cnt", DataType::BigInt), ("is_called", DataType::Boolean)];
                for ((name, ty), number) in columns.into_iter().zip(1..) {
                    if let Some(ty) = PgType::by_oid(ty.oid()) {
                        add_typed(rows, oid, number, (name, ty, -1), Facts { not_null: true, ..Facts::default() });
                    }
                }
            }
            Relation::Computed { definition, .. } => {
                // A fault in a definition shows when its table is read.
                for (column, number) in definition.columns().unwrap_or_default().iter().zip(1..) {
                    let facts = Facts { not_null: column.not_null, ..Facts::default() };
                    add_typed(rows, oid, number, (column.name, column.ty, -1), facts);
                }
            }
        }
    }
}

/// Numbers that no column has any more. They have rows, too: clients count on it that numbers leave nothing out.
fn dropped_columns(table: &Table) -> impl Iterator<Item = i16> {
    let taken: Vec<i16> = shown_columns(table).map(|(number, _)| number).collect();
    let last = taken.iter().copied().max().unwrap_or(0);
    let hidden = table.columns.iter().filter(|column| column.hidden).map(|column| column.id.0);
    let hidden: Vec<i16> = hidden.filter_map(|id| i16::try_from(id).ok()).collect();
    (1..last).filter(move |number| !taken.contains(number) && !hidden.contains(number))
}

fn add_dropped(rows: &mut Rows, relation: u32, number: i16) {
    rows.add([
        ("attrelid", relation.into()),
        ("attname", format!("........pg.dropped.{number}........").into()),
        ("atttypid", 0_u32.into()),
        ("attstattarget", 0.into()),
        ("attlen", (-1_i16).into()),
        ("attnum", number.into()),
        ("attndims", 0.into()),
        ("attcacheoff", (-1).into()),
        ("atttypmod", (-1).into()),
        ("attbyval", false.into()),
        ("attalign", "i".into()),
        ("attstorage", "p".into()),
        ("attnotnull", false.into()),
        ("atthasdef", false.into()),
        ("attidentity", "".into()),
        ("attisdropped", true.into()),
        ("attislocal", true.into()),
        ("attcollation", 0_u32.into()),
    ]);
}

/// What is not of the type.
#[derive(Clone, Copy, Default)]
struct Facts {
    not_null: bool,
    default: bool,
    identity: &'static str,
    generated: bool,
    /// As declared; `None`: as many as the type has.
    dimensions: Option<u8>,
}

fn add(rows: &mut Rows, relation: u32, number: i16, column: &Column, facts: Facts) {
    if let Some(ty) = PgType::by_oid(column.ty.oid()) {
        let facts = Facts { dimensions: Some(column.ty.dimensions()), ..facts };
        add_typed(rows, relation, number, (&column.name, ty, attribute_typmod(&column.ty)), facts);
    }
}

fn add_typed(rows: &mut Rows, relation: u32, number: i16, (name, ty, typmod): (&str, &PgType, i32), facts: Facts) {
    rows.add([
        ("attrelid", relation.into()),
        ("attname", name.into()),
        ("atttypid", ty.oid.into()),
        ("attstattarget", (-1).into()),
        ("attlen", ty.len.into()),
        ("attnum", number.into()),
        ("attndims", i32::from(facts.dimensions.unwrap_or((ty.element != 0 && ty.len == -1).into())).into()),
        ("attcacheoff", (-1).into()),
        ("atttypmod", typmod.into()),
        ("attbyval", ty.by_value.into()),
        ("attalign", ty.align.into()),
        ("attstorage", ty.storage.into()),
        ("attnotnull", facts.not_null.into()),
        ("atthasdef", facts.default.into()),
        ("attidentity", facts.identity.into()),
        ("attgenerated", if facts.generated { "s" } else { "" }.into()),
        ("attislocal", true.into()),
        ("attcollation", ty.collation.into()),
    ]);
}
