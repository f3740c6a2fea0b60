//! Conversion between names and oids, and visibility in the search path.
//!
//! A cast such as `x::regclass` becomes a call of these functions: `regclass_oid(x)` for the value, `regclass_name(x)`
//! for its text. Both take an oid or a name. `to_regclass(x)` likewise, which returns NULL for an unknown name.

use super::{ANY, Arguments, Function, OID, Returns, TEXT, nothing, refused, strict};
use crate::oid::{find_type, is_row_type_visible, relation_name, relation_of_type, split_name, type_name};
use crate::pg_catalog::COLLATIONS;
use crate::rows::Cell;
use crate::source::{OWNER, PG_CATALOG, Relation, Source};
use builtins::Reason;
use builtins::lists::{PgType, operator_classes};
use catalog::CatalogError;
use datafusion::common::{DataFusionError, Result};

pub(super) static FUNCTIONS: &[Function] = &[
    strict("pg_table_is_visible", &[OID], Returns::Bool, |source, args| {
        let relation = args.oid(0).and_then(|oid| source.relation(oid));
        Ok(relation.map(|relation| source.is_visible(&relation)).into())
    }),
    // Types other than row types are in `pg_catalog`, which is always in the search path.
    strict("pg_type_is_visible", &[OID], Returns::Bool, |source, args| {
        let Some(oid) = args.oid(0) else { return Ok(Cell::Null) };
        let of_rows = relation_of_type(source, oid).map(|(relation, _)| is_row_type_visible(source, &relation));
        Ok(of_rows.or_else(|| PgType::by_oid(oid).map(|_| true)).into())
    }),
    strict("pg_collation_is_visible", &[OID], Returns::Bool, |_, args| {
        Ok(args.oid(0).filter(|oid| COLLATIONS.iter().any(|(known, ..)| known == oid)).map(|_| true).into())
    }),
    strict("pg_opclass_is_visible", &[OID], Returns::Bool, |_, args| {
        Ok(args.oid(0).filter(|oid| operator_classes().iter().any(|class| class.oid == *oid)).map(|_| true).into())
    }),
    strict("pg_opfamily_is_visible", &[OID], Returns::Bool, |_, args| {
        Ok(args.oid(0).filter(|oid| operator_classes().iter().any(|class| class.family == *oid)).map(|_| true).into())
    }),
    // Bennu has no such objects, so every oid is unknown.
    strict("pg_conversion_is_visible", &[OID], Returns::Bool, nothing),
    strict("pg_ts_config_is_visible", &[OID], Returns::Bool, nothing),
    strict("pg_ts_dict_is_visible", &[OID], Returns::Bool, nothing),
    strict("pg_ts_parser_is_visible", &[OID], Returns::Bool, nothing),
    strict("pg_ts_template_is_visible", &[OID], Returns::Bool, nothing),
    strict("pg_statistics_obj_is_visible", &[OID], Returns::Bool, nothing),
    strict("regclass_oid", &[ANY], Returns::Oid, |source, args| {
        oid_of(args, |name| Ok(must_find(source, name)?.oid()))
    }),
    strict("regclass_name", &[ANY], Returns::Text, |source, args| {
        let by_oid = |oid: u32| source.relation(oid);
        shown(args, by_oid, |name| must_find(source, name), |relation| relation_name(source, &relation).into())
    }),
    strict("to_regclass_oid", &[TEXT], Returns::Oid, |source, args| {
        Ok(find_named(source, args.text(0).unwrap_or_default()).map(|relation| relation.oid()).into())
    }),
    strict("regtype_oid", &[ANY], Returns::Oid, |source, args| oid_of(args, |name| must_find_type(source, name))),
    strict("regtype_name", &[ANY], Returns::Text, |source, args| {
        let by_oid = |oid: u32| is_type(source, oid).then_some(oid);
        shown(args, by_oid, |name| must_find_type(source, name), |oid| type_name(source, oid, None).into())
    }),
    strict("to_regtype_oid", &[TEXT], Returns::Oid, |source, args| {
        Ok(args.text(0).and_then(|name| find_type(source, name)).into())
    }),
    strict("regnamespace_oid", &[ANY], Returns::Oid, |source, args| {
        oid_of(args, |name| must_find_schema(source, name))
    }),
    strict("regnamespace_name", &[ANY], Returns::Text, |source, args| {
        let oid = match number(args) {
            Some(oid) => oid,
            None => i64::from(must_find_schema(source, args.text(0).unwrap_or_default())?),
        };
        let name = u32::try_from(oid).ok().and_then(|oid| source.schema_name(oid));
        Ok(name.map_or_else(|| unknown_number(oid), |name| source.quote(name).into()))
    }),
    strict("to_regnamespace_oid", &[TEXT], Returns::Oid, |source, args| {
        let name = args.text(0).and_then(split_name).map(|(_, name)| name);
        Ok(name.and_then(|name| source.schema_oid(&name)).into())
    }),
    strict("regrole_oid", &[ANY], Returns::Oid, |source, args| oid_of(args, |name| must_find_role(source, name))),
    strict("regrole_name", &[ANY], Returns::Text, |source, args| {
        let oid = match number(args) {
            Some(oid) => oid,
            None => i64::from(must_find_role(source, args.text(0).unwrap_or_default())?),
        };
        if oid == i64::from(OWNER) {
            return Ok(source.quote(source.live.user()).into());
        }
        Ok(unknown_number(oid))
    }),
    strict("quote_ident", &[TEXT], Returns::Text, |source, args| {
        Ok(args.text(0).map(|name| source.quote(name)).into())
    }),
];

/// Parses an oid, also from text; a dash is oid 0.
fn number(args: &Arguments<'_>) -> Option<i64> {
    let written = |text: &str| if text == "-" { Some(0) } else { text.trim().parse().ok() };
    args.int(0).or_else(|| args.text(0).and_then(written))
}

/// The oid that an argument denotes: a number as it is, a name resolved by `find`.
pub(super) fn oid_of(args: &Arguments<'_>, find: impl FnOnce(&str) -> Result<u32>) -> Result<Cell> {
    Ok(match number(args) {
        Some(oid) => oid.into(),
        None => find(args.text(0).unwrap_or_default())?.into(),
    })
}

/// The text of the object that an argument denotes by its oid or its name.
pub(super) fn shown<T>(
    args: &Arguments<'_>,
    by_oid: impl FnOnce(u32) -> Option<T>,
    by_name: impl FnOnce(&str) -> Result<T>,
    show: impl FnOnce(T) -> Cell,
) -> Result<Cell> {
    Ok(match number(args) {
        Some(oid) => match u32::try_from(oid).ok().and_then(by_oid) {
            Some(found) => show(found),
            None => unknown_number(oid),
        },
        None => show(by_name(args.text(0).unwrap_or_default())?),
    })
}

/// The text of an unknown oid.
fn unknown_number(oid: i64) -> Cell {
    if oid == 0 { "-".into() } else { oid.to_string().into() }
}

/// Resolves a relation name.
pub(super) fn find_named<'a>(source: &'a Source, name: &str) -> Option<Relation<'a>> {
    let (schema, name) = split_name(name)?;
    source.find_relation(schema.as_deref(), &name)
}

/// Resolves an oid or a relation name.
///
/// # Errors
/// [`CatalogError::NoSuchTable`] for an unknown name.
pub(super) fn relation_of<'a>(source: &'a Source, cell: &Cell) -> Result<Option<Relation<'a>>> {
    match cell {
        Cell::Int(oid) => Ok(u32::try_from(*oid).ok().and_then(|oid| source.relation(oid))),
        Cell::Text(name) => match name.trim().parse::<u32>() {
            Ok(oid) => Ok(source.relation(oid)),
            Err(_) => must_find(source, name).map(Some),
        },
        _ => Ok(None),
    }
}

/// Resolves a relation name as SQL does: unquoted letters are folded to lower case.
pub(super) fn must_find<'a>(source: &'a Source, name: &str) -> Result<Relation<'a>> {
    find_named(source, name).ok_or_else(|| no_such_relation(name))
}

fn no_such_relation(name: &str) -> DataFusionError {
    let (schema, name) = split_name(name).unwrap_or_else(|| (None, name.to_owned()));
    DataFusionError::External(Box::new(CatalogError::NoSuchTable { schema, name }))
}

fn is_type(source: &Source, oid: u32) -> bool {
    PgType::by_oid(oid).is_some() || relation_of_type(source, oid).is_some()
}

fn must_find_type(source: &Source, name: &str) -> Result<u32> {
    match find_type(source, name) {
        Some(oid) => Ok(oid),
        None => refused(Reason::NoSuchObject, format!("type \"{name}\" does not exist")),
    }
}

pub(super) fn must_find_schema(source: &Source, name: &str) -> Result<u32> {
    let name = split_name(name).map(|(_, name)| name).unwrap_or_default();
    if name == "pg_catalog" {
        return Ok(PG_CATALOG);
    }
    let missing = || DataFusionError::External(Box::new(CatalogError::NoSuchSchema { name: name.clone() }));
    source.schema_oid(&name).ok_or_else(missing)
}

fn must_find_role(source: &Source, name: &str) -> Result<u32> {
    let role = split_name(name).map(|(_, name)| name).unwrap_or_default();
    if role == source.live.user() {
        Ok(OWNER)
    } else {
        refused(Reason::NoSuchObject, format!("role \"{role}\" does not exist"))
    }
}
