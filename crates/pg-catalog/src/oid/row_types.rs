//! Row types of relations and their array types: `typtype` `c`, `typrelid` is the relation.
//!
//! Their oids are derived from the relation's oid, in ranges that the catalog's oid counter does not reach.

use super::format_type;
use super::names::{split_name, type_oid};
use crate::source::{Relation, Source};
use builtins::lists::PgType;
use std::collections::BTreeSet;

const ROWS: u32 = 1 << 29;
const ARRAYS: u32 = 1 << 28;

/// The row type of a relation.
#[derive(Clone, Debug)]
pub(crate) struct RowType<'a> {
    pub(crate) relation: Relation<'a>,
    pub(crate) oid: u32,
    /// Oid of its array type.
    pub(crate) array: u32,
    pub(crate) array_name: String,
}

/// The oid of a relation's row type; 0 for indexes and sequences, which have none.
pub(crate) fn row_type_oid(relation: &Relation<'_>) -> u32 {
    match relation {
        Relation::Table(_) | Relation::View(_) | Relation::Computed { .. } => ROWS | relation.oid(),
        Relation::Key(_) | Relation::Index(..) | Relation::Sequence(_) => 0,
    }
}

/// The relation of a row type or of its array type; the flag is true for the array type.
pub(crate) fn relation_of_type(source: &Source, oid: u32) -> Option<(Relation<'_>, bool)> {
    // Built-in types are not row types and need no lookup.
    if oid & ROWS == 0 {
        return None;
    }
    let relation = source.relation(oid & !(ROWS | ARRAYS))?;
    let row = row_type_oid(&relation);
    (row != 0 && (oid | ARRAYS) == (row | ARRAYS)).then_some((relation, oid & ARRAYS != 0))
}

/// The row types of all relations.
///
/// The array type's name is the relation's name with a `_` in front, or with several if that name is taken.
pub(crate) fn row_types(source: &Source) -> impl Iterator<Item = RowType<'_>> {
    let with_rows = |relation: &Relation<'_>| row_type_oid(relation) != 0;
    let mut taken: BTreeSet<(u32, String)> =
        source.relations().filter(with_rows).map(|relation| (relation.schema(), relation.name().to_owned())).collect();
    source.relations().filter(with_rows).map(move |relation| {
        let oid = row_type_oid(&relation);
        let mut array_name = format!("_{}", relation.name());
        while !taken.insert((relation.schema(), array_name.clone())) {
            array_name.insert(0, '_');
        }
        RowType { relation, oid, array: oid | ARRAYS, array_name }
    })
}

/// Resolves a type name: an SQL type, a type of `pg_type`, or a row type.
pub(crate) fn find_type(source: &Source, text: &str) -> Option<u32> {
    type_oid(text).or_else(|| {
        let (element, is_array) = text.trim().strip_suffix("[]").map_or((text, false), |element| (element, true));
        let (schema, name) = split_name(element)?;
        let oid = find_row_type(source, schema.as_deref(), &name)?;
        if is_array { array_of_rows(source, oid) } else { Some(oid) }
    })
}

/// A type's name as `format_type()` prints it: schema-qualified if the search path does not find it.
pub(crate) fn type_name(source: &Source, oid: u32, typmod: Option<i32>) -> String {
    let Some((relation, is_array)) = relation_of_type(source, oid) else { return format_type(oid, typmod) };
    let name = source.quote(relation.name());
    let schema = source.schema_name(relation.schema()).unwrap_or_default();
    let name = if is_row_type_visible(source, &relation) { name } else { format!("{}.{name}", source.quote(schema)) };
    if is_array { format!("{name}[]") } else { name }
}

/// Whether the search path finds a relation's row type by its unqualified name.
pub(crate) fn is_row_type_visible(source: &Source, relation: &Relation<'_>) -> bool {
    PgType::by_name(relation.name()).is_none() && source.is_visible(relation)
}

fn find_row_type(source: &Source, schema: Option<&str>, name: &str) -> Option<u32> {
    let in_schema = |schema: u32| {
        let own = source.relation_in(schema, name).map(|relation| row_type_oid(&relation)).filter(|oid| *oid != 0);
        own.or_else(|| {
            let named = |ty: &RowType<'_>| ty.relation.schema() == schema && ty.array_name == name;
            name.starts_with('_').then(|| row_types(source).find(named).map(|ty| ty.array))?
        })
    };
    match schema {
        Some(schema) => in_schema(source.schema_oid(schema)?),
        None => source.lookup_path().into_iter().find_map(in_schema),
    }
}

/// The array type of a row type.
fn array_of_rows(source: &Source, row: u32) -> Option<u32> {
    relation_of_type(source, row).filter(|(_, array)| !array).map(|_| row | ARRAYS)
}
