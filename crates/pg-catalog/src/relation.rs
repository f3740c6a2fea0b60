//! Names and columns of computed relations, for name resolution.

use crate::definition::Definition;
use crate::{bennu, information_schema, pg_catalog};
use catalog::Sequence;

/// A relation whose rows are computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation {
    /// Its schema.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// Its oid in `pg_class`; 0 for the rows of a function.
    pub oid: u32,
    /// Name, type oid and nullability of each column.
    pub columns: Vec<(String, u32, bool)>,
}

impl Relation {
    /// The relation of that name in a computed schema.
    pub(crate) fn find(schema: &str, name: &str) -> Option<Self> {
        Self::of(schema, definition(schema, name)?)
    }

    /// All computed relations.
    #[cfg(test)]
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let of = |schema: &'static str| definitions(schema).filter_map(move |definition| Self::of(schema, definition));
        COMPUTED.into_iter().flat_map(of)
    }

    /// Returns `None` for an invalid definition.
    fn of(schema: &str, definition: &Definition) -> Option<Self> {
        let column = |column: &crate::definition::ColumnDef| (column.name.to_owned(), column.ty.oid, !column.not_null);
        let columns = definition.columns().ok()?.iter().map(column).collect();
        Some(Self { schema: schema.to_owned(), name: definition.name.to_owned(), oid: definition.oid, columns })
    }

    /// A sequence as a relation of one row.
    pub(crate) fn of_sequence(schema: &str, sequence: &Sequence) -> Self {
        const BOOL: u32 = 16;
        const INT8: u32 = 20;
        let columns = [("last_value", INT8), ("log_cnt", INT8), ("is_called", BOOL)];
        let columns = columns.map(|(name, ty)| (name.to_owned(), ty, false)).to_vec();
        Self { schema: schema.to_owned(), name: sequence.name.clone(), oid: sequence.oid.0, columns }
    }
}

/// The schemas of computed relations.
pub(crate) const COMPUTED: [&str; 3] = ["pg_catalog", "information_schema", "bennu"];

/// The computed relation of that name in that schema.
pub(crate) fn definition(schema: &str, name: &str) -> Option<&'static Definition> {
    definitions(schema).find(|definition| definition.name == name)
}

/// The computed relations of a schema, followed by set-returning functions.
pub(crate) fn definitions(schema: &str) -> impl Iterator<Item = &'static Definition> {
    let (tables, sets): (&[Definition], &[Definition]) = match schema {
        "pg_catalog" => (&pg_catalog::TABLES, pg_catalog::SETS),
        "information_schema" => (&information_schema::TABLES, &[]),
        "bennu" => (&bennu::TABLES, &[]),
        _ => (&[], &[]),
    };
    tables.iter().chain(sets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// The binder's tests use this list, because the binder cannot depend on this crate.
    #[test]
    fn the_list_of_the_binders_tests_has_all_relations() {
        let line = |relation: Relation| {
            let columns = relation
                .columns
                .iter()
                .map(|(name, ty, nullable)| format!("{name}:{ty}{}", if *nullable { "" } else { "!" }));
            let columns = columns.collect::<Vec<_>>().join(" ");
            format!("{} {} {} {columns}\n", relation.schema, relation.name, relation.oid)
        };
        let lines: String = Relation::all().map(line).collect();
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bind/tests/catalogs.txt");
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&golden, &lines).ok();
        }
        let recorded = std::fs::read_to_string(&golden).unwrap_or_default();
        assert_eq!(lines, recorded, "set BLESS=1 to write crates/bind/tests/catalogs.txt anew");
    }
}
