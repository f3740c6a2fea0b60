//! `pg_stats` and `pg_statistic`: ANALYZE statistics of columns and index expressions.

use crate::rows::{Cell, Rows};
use crate::shown_index::ShownIndex;
use crate::source::{Relation, Source, shown_columns};
use catalog::{Table, Value, ValueStatistics};
use std::sync::Arc;
use types::{DataType, Datum, array, text};

/// Values of `stakind`.
const COMMON: i16 = 1;
const HISTOGRAM: i16 = 2;
const CORRELATION: i16 = 3;

/// A column with statistics, of a table or an index.
struct Shown<'a> {
    table: &'a Arc<Table>,
    relation: u32,
    relation_name: &'a str,
    number: i16,
    name: &'a str,
    ty: DataType,
    values: ValueStatistics,
}

impl Shown<'_> {
    fn common(&self) -> Cell {
        self.array(self.values.common.iter().map(|common| &common.value))
    }

    fn bounds(&self) -> Cell {
        self.array(self.values.bounds.iter())
    }

    /// The values as array text; NULL if there are none.
    fn array<'v>(&self, values: impl Iterator<Item = &'v Value>) -> Cell {
        let items: Vec<Datum> = values.map(|value| value.0.clone()).collect();
        if items.is_empty() {
            return Cell::Null;
        }
        let mut out = String::new();
        array::print_array_by(&items, &mut |item, word| text::print(&self.ty, item, word), &mut out);
        Cell::Text(out)
    }

    fn shares(&self) -> Cell {
        let shares: Vec<f64> = self.values.common.iter().map(|common| common.share).collect();
        if shares.is_empty() { Cell::Null } else { Cell::Floats(shares) }
    }
}

/// Calls `show` for each column with statistics.
fn each(source: &Source, mut show: impl FnMut(Shown<'_>)) {
    for table in source.catalog.tables() {
        let Some(found) = table.statistics() else { continue };
        for (number, column) in shown_columns(table) {
            let Some(values) = found.column(column).cloned() else { continue };
            let (relation, relation_name, name, ty) = (table.oid.0, &table.name, &column.name, column.ty);
            show(Shown { table, relation, relation_name, number, name, ty, values });
        }
        for index in table.public_indexes() {
            let Some(of_index) = found.index(index) else { continue };
            let entries = index.entries(table);
            let Some(shown) = ShownIndex::of(&Relation::Index(table, index)) else { continue };
            for (at, (part, of)) in index.parts.iter().zip(&shown.parts).enumerate() {
                let Some(expression) = part.expression() else { continue };
                let entry = entries.columns.iter().find(|column| column.id == part.entry);
                let Some(values) = entry.and_then(|entry| of_index.expression(entry)).cloned() else { continue };
                let number = i16::try_from(at + 1).unwrap_or(i16::MAX);
                let (relation, relation_name, ty) = (index.oid, &index.name, expression.ty);
                show(Shown { table, relation, relation_name, number, name: of.of.name(), ty, values });
            }
        }
    }
}

pub(super) fn shown(source: &Source, rows: &mut Rows) {
    each(source, |it| {
        rows.add([
            ("schemaname", source.catalog.schema_name(it.table).into()),
            ("tablename", it.relation_name.into()),
            ("attname", it.name.into()),
            ("inherited", false.into()),
            ("null_frac", it.values.null_fraction.into()),
            ("avg_width", i64::from(it.values.width).into()),
            ("n_distinct", it.values.distinct.into()),
            ("most_common_vals", it.common()),
            ("most_common_freqs", it.shares()),
            ("histogram_bounds", it.bounds()),
            ("correlation", it.values.correlation.map_or(Cell::Null, Cell::Float)),
        ]);
    });
}

pub(super) fn kept(source: &Source, rows: &mut Rows) {
    each(source, |it| {
        let kind = |there: bool, kind: i16| if there { kind } else { 0 };
        let correlation = it.values.correlation.map_or(Cell::Null, |found| Cell::Floats(vec![found]));
        rows.add([
            ("starelid", it.relation.into()),
            ("staattnum", it.number.into()),
            ("stanullfrac", it.values.null_fraction.into()),
            ("stawidth", i64::from(it.values.width).into()),
            ("stadistinct", it.values.distinct.into()),
            ("stakind1", kind(!it.values.common.is_empty(), COMMON).into()),
            ("stakind2", kind(!it.values.bounds.is_empty(), HISTOGRAM).into()),
            ("stakind3", kind(it.values.correlation.is_some(), CORRELATION).into()),
            ("stanumbers1", it.shares()),
            ("stanumbers3", correlation),
            ("stavalues1", it.common()),
            ("stavalues2", it.bounds()),
        ]);
    });
}
