//! Privilege functions. Bennu has no grants: the only role owns everything, and the computed tables are read-only.
//!
//! The user argument comes first and is optional, so arguments are counted from the end.

use super::names::{must_find_schema, relation_of};
use super::{ANY, Arguments, Function, OID, Returns, TEXT, refused, strict};
use crate::rows::Cell;
use crate::source::{OWNER, Relation, Source};
use builtins::Reason;
use datafusion::common::Result;
use types::ident;

pub(super) static FUNCTIONS: &[Function] = &[
    strict("has_table_privilege", &[ANY, ANY, ANY], Returns::Bool, |source, args| on_relation(source, args, 2))
        .optional(1),
    strict("has_any_column_privilege", &[ANY, ANY, ANY], Returns::Bool, |source, args| on_relation(source, args, 2))
        .optional(1),
    strict("has_column_privilege", &[ANY, ANY, ANY, ANY], Returns::Bool, |source, args| on_relation(source, args, 3))
        .optional(1),
    strict("has_sequence_privilege", &[ANY, ANY, ANY], Returns::Bool, |source, args| {
        let Some(relation) = relation_of(source, args.cell_from_end(2))? else { return Ok(Cell::Null) };
        if !matches!(relation, Relation::Sequence(_)) {
            return refused(Reason::WrongObject, format!("\"{}\" is not a sequence", relation.name()));
        }
        match privileges(args.cell_from_end(1))?.iter().find(|one| !SEQUENCE_PRIVILEGES.contains(&one.as_str())) {
            Some(odd) => refused(Reason::Argument, format!("unrecognized privilege type: \"{odd}\"")),
            None => Ok(true.into()),
        }
    })
    .optional(1),
    strict("has_schema_privilege", &[ANY, ANY, ANY], Returns::Bool, |source, args| {
        let name = match args.cell_from_end(2) {
            Cell::Int(oid) => match u32::try_from(*oid).ok().and_then(|oid| source.schema_name(oid)) {
                Some(name) => name,
                None => return Ok(Cell::Null),
            },
            Cell::Text(name) => {
                must_find_schema(source, name)?;
                name
            }
            _ => return Ok(Cell::Null),
        };
        let reserved = catalog::RESERVED_SCHEMAS.contains(&name);
        Ok(privileges(args.cell_from_end(1))?.iter().any(|privilege| !reserved || privilege == "USAGE").into())
    })
    .optional(1),
    // There is one database, and its user has all privileges on it except TEMPORARY.
    strict("has_database_privilege", &[ANY, ANY, ANY], Returns::Bool, |_, args| {
        let known = match args.cell_from_end(2) {
            Cell::Int(oid) => *oid == i64::from(catalog::DATABASE_OID),
            Cell::Text(name) => name == catalog::DATABASE_NAME,
            _ => false,
        };
        if !known {
            return refused(Reason::NoSuchDatabase, "database does not exist");
        }
        Ok(privileges(args.cell_from_end(1))?
            .iter()
            .any(|privilege| privilege != "TEMP" && privilege != "TEMPORARY")
            .into())
    })
    .optional(1),
    // The only role is a member of itself.
    strict("pg_has_role", &[ANY, ANY, ANY], Returns::Bool, |source, args| {
        Ok(match args.cell_from_end(2) {
            Cell::Int(oid) => (*oid == i64::from(crate::source::OWNER)).into(),
            Cell::Text(name) => (name == source.live.user()).into(),
            _ => Cell::Null,
        })
    })
    .optional(1),
    // The default privileges of an object: entries `grantee=privileges/grantor`, with an empty grantee for PUBLIC.
    strict("acldefault", &[TEXT, OID], Returns::Texts, |source, args| {
        let kind = args.text(0).unwrap_or_default();
        let (everyone, owner) = match kind {
            "c" => ("", ""),
            "r" => ("", "arwdDxt"),
            "s" => ("", "rwU"),
            "d" => ("Tc", "CTc"),
            "f" => ("X", "X"),
            "l" | "T" => ("U", "U"),
            "L" => ("", "rw"),
            "n" => ("", "UC"),
            "p" => ("", "sA"),
            "t" => ("", "C"),
            "F" | "S" => ("", "U"),
            _ => return refused(Reason::Argument, format!("unrecognized objtype abbreviation: {kind}")),
        };
        let name = match args.oid(1) {
            Some(OWNER) => acl_name(source.live.user()),
            other => other.unwrap_or_default().to_string(),
        };
        let entries = [("", everyone), (name.as_str(), owner)].into_iter().filter(|(_, granted)| !granted.is_empty());
        Ok(entries.map(|(grantee, granted)| format!("{grantee}={granted}/{name}")).collect::<Vec<String>>().into())
    }),
];

const TABLE_PRIVILEGES: [&str; 7] = ["SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"];

/// `place` is the position of the relation argument, from the end.
fn on_relation(source: &Source, args: &Arguments<'_>, place: usize) -> Result<Cell> {
    let Some(relation) = relation_of(source, args.cell_from_end(place))? else { return Ok(Cell::Null) };
    let wanted = privileges(args.cell_from_end(1))?;
    for privilege in &wanted {
        if !TABLE_PRIVILEGES.contains(&privilege.as_str()) {
            return refused(Reason::Argument, format!("unrecognized privilege type: \"{privilege}\""));
        }
    }
    let computed = matches!(relation, Relation::Computed { .. });
    Ok(wanted.iter().any(|privilege| !computed || privilege == "SELECT").into())
}

const SEQUENCE_PRIVILEGES: [&str; 3] = ["USAGE", "SELECT", "UPDATE"];

/// Splits `SELECT, INSERT WITH GRANT OPTION`; the owner always has the grant option.
pub(super) fn privileges(cell: &Cell) -> Result<Vec<String>> {
    let Cell::Text(text) = cell else { return refused(Reason::Argument, "a privilege is named as text") };
    let one = |part: &str| {
        let upper = part.trim().to_uppercase();
        upper.strip_suffix(" WITH GRANT OPTION").map(str::to_owned).unwrap_or(upper)
    };
    Ok(text.split(',').map(one).collect())
}

impl Arguments<'_> {
    /// Argument `place` from the end; 1 is the last.
    pub(super) fn cell_from_end(&self, place: usize) -> &Cell {
        self.count().checked_sub(place).map_or(&Cell::Null, |number| self.cell(number))
    }
}

/// A role name in an ACL entry: quoted if it has characters other than letters, digits and underscores.
fn acl_name(name: &str) -> String {
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if plain { name.to_owned() } else { ident::quote_always(name) }
}
