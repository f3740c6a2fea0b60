//! `pg_attribute`: columns of tables, indexes, views, sequences and computed tables.

use crate::oid::attribute_typmod;
use crate::rows::Rows;
use crate::shown_index::{ShownIndex, ShownOf};
use crate::source::{Relation, Source, shown_columns};
use builtins::lists::PgType;
use catalog::{Identity, Table, View};
use types::DataType;

pub(super) fn rows(source: &Source, rows: &mut Rows) {
    for relation in source.relations() {
        let mut attributes = Attributes { relation: relation.oid(), rows };
        match relation {
            Relation::Table(table) => attributes.of_table(table),
            Relation::Key(_) | Relation::Index(..) => attributes.of_index(&relation),
            Relation::View(view) => attributes.of_view(view),
            Relation::Sequence(_) => attributes.of_sequence(),
            Relation::Computed { definition, .. } => {
                // Reading the computed table itself reports an invalid definition.
                for (column, number) in definition.columns().unwrap_or_default().iter().zip(1..) {
                    let facts = Facts { not_null: column.not_null, ..Facts::default() };
                    attributes.add_typed(number, (column.name, column.ty, -1), facts);
                }
            }
        }
    }
}

/// The attributes of a column that do not depend on its type.
#[derive(Clone, Copy, Default)]
struct Facts {
    not_null: bool,
    default: bool,
    identity: &'static str,
    generated: bool,
    /// The declared array dimensions; `None` derives them from the type.
    dimensions: Option<u8>,
}

/// Adds the rows of one relation's columns.
struct Attributes<'r> {
    relation: u32,
    rows: &'r mut Rows,
}

impl Attributes<'_> {
    fn of_table(&mut self, table: &Table) {
        for (number, column) in shown_columns(table) {
            let identity = match column.identity {
                Some(Identity::Always) => "a",
                Some(Identity::ByDefault) => "d",
                None => "",
            };
            let facts = Facts {
                not_null: column.not_null,
                default: column.default.is_some(),
                identity,
                generated: column.generated.is_some(),
                dimensions: Some(column.ty.dimensions()),
            };
            self.add(number, &column.name, column.ty, facts);
        }
        dropped_columns(table).for_each(|number| self.add_dropped(number));
    }

    /// Index columns have no constraints of their own.
    fn of_index(&mut self, relation: &Relation<'_>) {
        let Some(index) = ShownIndex::of(relation) else { return };
        for (of, number) in index.columns().zip(1..) {
            match of {
                ShownOf::Column(_, column) => {
                    let facts = Facts { dimensions: Some(column.ty.dimensions()), ..Facts::default() };
                    self.add(number, &column.name, column.ty, facts);
                }
                ShownOf::Expression(expression) => {
                    self.add(number, &expression.name, expression.ty, Facts::default());
                }
            }
        }
    }

    fn of_view(&mut self, view: &View) {
        for (column, number) in view.columns.iter().zip(1..) {
            // PostgreSQL reports 0 dimensions for columns of a query.
            let facts = Facts { dimensions: Some(0), ..Facts::default() };
            self.add(number, &column.name, column.ty, facts);
        }
    }

    fn of_sequence(&mut self) {
        let columns =
            [("last_value", DataType::BigInt), ("log_cnt", DataType::BigInt), ("is_called", DataType::Boolean)];
        for ((name, ty), number) in columns.into_iter().zip(1..) {
            self.add(number, name, ty, Facts { not_null: true, ..Facts::default() });
        }
    }

    fn add(&mut self, number: i16, name: &str, ty: DataType, facts: Facts) {
        if let Some(of_ty) = PgType::by_oid(ty.oid()) {
            self.add_typed(number, (name, of_ty, attribute_typmod(&ty)), facts);
        }
    }

    fn add_typed(&mut self, number: i16, (name, ty, typmod): (&str, &PgType, i32), facts: Facts) {
        self.rows.add([
            ("attrelid", self.relation.into()),
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

    fn add_dropped(&mut self, number: i16) {
        self.rows.add([
            ("attrelid", self.relation.into()),
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
}

/// Numbers of dropped columns. They have rows, too, because clients rely on consecutive numbers.
fn dropped_columns(table: &Table) -> impl Iterator<Item = i16> {
    let taken: Vec<i16> = shown_columns(table).map(|(number, _)| number).collect();
    let last = taken.iter().copied().max().unwrap_or(0);
    let hidden = table.columns.iter().filter(|column| column.hidden).map(|column| column.id.0);
    let hidden: Vec<i16> = hidden.filter_map(|id| i16::try_from(id).ok()).collect();
    (1..last).filter(move |number| !taken.contains(number) && !hidden.contains(number))
}
