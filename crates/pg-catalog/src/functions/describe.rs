//! Functions that describe objects as text: types, keys, defaults, comments.

use super::names::{must_find, relation_of};
use super::{BOOL, Function, INT, OID, REGCLASS, Returns, TEXT, nothing, strict};
use crate::deparse::{
    check_definition, constraint_definition, index_column, index_definition, materialized_definition, view_definition,
};
use crate::oid::type_name;
use crate::pg_catalog::description;
use crate::rows::Cell;
use crate::shown_foreign_key::ShownForeignKey;
use crate::shown_index::ShownIndex;
use crate::source::{OWNER, Relation};
use catalog::{CatalogError, CommentTarget, DATABASE_OID};
use datafusion::common::DataFusionError;

pub(super) static FUNCTIONS: &[Function] = &[
    strict("format_type", &[OID, INT], Returns::Text, |source, args| {
        let Some(oid) = args.int(0) else { return Ok(Cell::Null) };
        let typmod = args.int(1).and_then(|typmod| i32::try_from(typmod).ok());
        Ok(type_name(source, u32::try_from(oid).unwrap_or(u32::MAX), typmod).into())
    })
    .taking_null(),
    strict("pg_get_userbyid", &[OID], Returns::Text, |source, args| {
        Ok(match args.oid(0) {
            Some(OWNER) => source.live.user().into(),
            other => format!("unknown (OID={})", other.unwrap_or_default()).into(),
        })
    }),
    // Expressions are stored as source text.
    strict("pg_get_expr", &[TEXT, OID, BOOL], Returns::Text, |_, args| Ok(args.text(0).into())).optional(1),
    strict("pg_get_indexdef", &[OID, INT, BOOL], Returns::Text, |source, args| {
        let relation = args.oid(0).and_then(|oid| source.relation(oid));
        let Some(index) = relation.as_ref().and_then(ShownIndex::of) else { return Ok(Cell::Null) };
        let pretty = args.bool(2) == Some(true);
        let bare = pretty && source.is_visible(&Relation::Table(index.table));
        Ok(match args.int(1).unwrap_or(0) {
            0 => index_definition(source, &index, !bare, pretty).into(),
            number => {
                let column =
                    usize::try_from(number).ok().and_then(|number| index_column(source, &index, number, pretty));
                column.unwrap_or_default().into()
            }
        })
    })
    .optional(2),
    strict("pg_get_constraintdef", &[OID, BOOL], Returns::Text, |source, args| {
        let oid = args.oid(0);
        let mut checks = source.catalog.tables().flat_map(|table| &table.checks);
        if let Some(check) = checks.find(|check| Some(check.oid) == oid) {
            return Ok(check_definition(check, args.bool(1) == Some(true)).into());
        }
        let mut keys = source.catalog.tables().flat_map(|table| ShownForeignKey::all_of(source, table));
        if let Some(shown) = keys.find(|shown| Some(shown.key.oid) == oid) {
            let visible = source.is_visible(&Relation::Table(shown.parent));
            return Ok(shown.definition(source, !visible).into());
        }
        let mut indexes = source.catalog.tables().flat_map(ShownIndex::all_of);
        let found = indexes.find(|index| index.constraint.is_some() && index.constraint == oid);
        Ok(found.map(|index| constraint_definition(source, &index)).into())
    })
    .optional(1),
    // The computed views have no text.
    strict("pg_get_viewdef", &[REGCLASS, BOOL], Returns::Text, |source, args| {
        Ok(match relation_of(source, args.cell(0))? {
            Some(Relation::View(view)) => view_definition(source, view).into(),
            Some(Relation::Table(table)) => {
                table.materialized.as_ref().map(|view| materialized_definition(source, view)).into()
            }
            _ => Cell::Null,
        })
    })
    .optional(1),
    strict("pg_get_ruledef", &[OID, BOOL], Returns::Text, nothing).optional(1),
    strict("pg_get_triggerdef", &[OID, BOOL], Returns::Text, nothing).optional(1),
    // Bennu has no partitions: PostgreSQL returns no rows, and a set-returning function as a scalar returns NULL.
    strict("pg_partition_ancestors", &[REGCLASS], Returns::Oid, nothing),
    strict("pg_get_partkeydef", &[OID], Returns::Text, nothing),
    strict("pg_get_statisticsobjdef_columns", &[OID], Returns::Text, nothing),
    // The sequence that the column owns, as `schema.name`.
    strict("pg_get_serial_sequence", &[TEXT, TEXT], Returns::Text, |source, args| {
        let (Some(table), Some(column)) = (args.text(0), args.text(1)) else { return Ok(Cell::Null) };
        let Relation::Table(table) = must_find(source, table)? else { return Ok(Cell::Null) };
        let Some(column) = table.column_by_name(column) else {
            let missing = CatalogError::NoSuchColumn { table: table.name.clone(), column: column.to_owned() };
            return Err(DataFusionError::External(Box::new(missing)));
        };
        let owned = source
            .catalog
            .sequences()
            .find(|sequence| sequence.owner.is_some_and(|owner| owner.table == table.oid && owner.column == column.id));
        let name = |sequence: &std::sync::Arc<catalog::Sequence>| {
            let schema = source.schema_name(sequence.schema.0).unwrap_or_default();
            format!("{}.{}", source.quote(schema), source.quote(&sequence.name))
        };
        Ok(owned.map(name).into())
    }),
    strict("obj_description", &[OID, TEXT], Returns::Text, |source, args| {
        let of = args.oid(0).filter(|oid| *oid != DATABASE_OID).map(CommentTarget::object);
        Ok(of.and_then(|of| description(source, of, args.text(1))).into())
    })
    .optional(1),
    // Comments of shared objects: only the database has one.
    strict("shobj_description", &[OID, TEXT], Returns::Text, |source, args| {
        let of = args.oid(0).filter(|oid| *oid == DATABASE_OID).map(CommentTarget::object);
        Ok(of.and_then(|of| description(source, of, args.text(1))).into())
    }),
    strict("col_description", &[OID, INT], Returns::Text, |source, args| {
        let column = args.int(1).and_then(|number| u16::try_from(number).ok()).filter(|number| *number > 0);
        let of = args.oid(0).zip(column).map(|(oid, column)| CommentTarget { oid, column });
        Ok(of.and_then(|of| description(source, of, Some("pg_class"))).into())
    }),
    // All functions are built in, and none has an SQL body.
    strict("pg_get_function_sqlbody", &[OID], Returns::Text, nothing),
    // Scans per index are not counted.
    strict("pg_stat_get_numscans", &[OID], Returns::BigInt, nothing),
    strict("pg_sequence_last_value", &[REGCLASS], Returns::BigInt, |source, args| {
        Ok(match relation_of(source, args.cell(0))? {
            Some(Relation::Sequence(sequence)) => source.live.last_value(sequence).into(),
            _ => Cell::Null,
        })
    }),
    // The storage id of a table or index, which TRUNCATE changes.
    strict("pg_relation_filenode", &[REGCLASS], Returns::Oid, |source, args| {
        Ok(match relation_of(source, args.cell(0))? {
            Some(Relation::Table(table)) => table.storage.into(),
            Some(Relation::Index(_, index)) => index.storage.into(),
            _ => Cell::Null,
        })
    }),
    // Row-level security is not supported.
    strict("row_security_active", &[REGCLASS], Returns::Bool, |source, args| {
        Ok(relation_of(source, args.cell(0))?.map(|_| false).into())
    }),
    // Publications are not supported.
    strict("pg_relation_is_publishable", &[REGCLASS], Returns::Bool, |_, _| Ok(false.into())),
    strict("pg_encoding_to_char", &[INT], Returns::Text, |_, args| {
        let name = ENCODINGS.iter().find(|(number, _)| Some(*number) == args.int(0)).map(|(_, name)| *name);
        Ok(name.unwrap_or_default().into())
    }),
    strict("pg_char_to_encoding", &[TEXT], Returns::Int, |_, args| {
        let name = args.text(0).unwrap_or_default().replace('-', "");
        let number = ENCODINGS.iter().find(|(_, known)| known.eq_ignore_ascii_case(&name)).map(|(number, _)| *number);
        Ok(number.unwrap_or(-1).into())
    }),
    // The encoding is always UTF-8.
    strict("getdatabaseencoding", &[], Returns::Text, |_, _| Ok("UTF8".into())),
    // Empty, as for PostgreSQL's default tablespace.
    strict("pg_tablespace_location", &[OID], Returns::Text, |_, _| Ok("".into())),
    strict("pg_size_pretty", &[INT], Returns::Text, |_, args| Ok(args.int(0).map(size_pretty).into())),
];

/// PostgreSQL's numbers of the encodings that clients may use.
const ENCODINGS: [(i64, &str); 4] = [(0, "SQL_ASCII"), (6, "UTF8"), (8, "LATIN1"), (24, "WIN1252")];

/// Prints bytes up to 10 kB, then the largest unit with at most five digits, rounding half up.
fn size_pretty(bytes: i64) -> String {
    const UNITS: [&str; 6] = ["bytes", "kB", "MB", "GB", "TB", "PB"];
    let (sign, mut size) = (if bytes < 0 { "-" } else { "" }, bytes.unsigned_abs());
    let mut unit = UNITS.iter();
    let mut name = unit.next().copied().unwrap_or_default();
    // Keeps one more bit than the unit, for rounding.
    let mut doubled = false;
    for next in unit {
        let limit = if doubled { 20 * 1024 - 1 } else { 10 * 1024 };
        if size < limit {
            break;
        }
        size >>= if doubled { 10 } else { 9 };
        doubled = true;
        name = next;
    }
    if doubled {
        size = size.div_ceil(2);
    }
    format!("{sign}{size} {name}")
}

#[cfg(test)]
mod tests {
    use super::size_pretty;

    #[test]
    fn sizes_have_at_most_five_digits() {
        let sizes = [0, 10_239, 10_240, 1_000_000, 20_971_520, -20_000, 7_682_560];
        let shown = sizes.map(size_pretty);
        assert_eq!(shown, ["0 bytes", "10239 bytes", "10 kB", "977 kB", "20 MB", "-20 kB", "7503 kB"]);
    }
}
