//! UNIQUE constraints, and the clauses for the index of any constraint: USING INDEX, storage, DEFERRABLE.

use super::{include, nulls_not_distinct, with};
use crate::parser::foreign_key::timing;
use crate::parser::{Cursor, Parse};
use crate::statement::{AlterAction, KeyPartDef, TableOption, UniqueDef};

/// Parses `UNIQUE USING INDEX name`, after the name of the constraint.
pub(in crate::parser) fn unique_using(c: &mut Cursor<'_>, name: Option<String>) -> Parse<AlterAction> {
    c.need_all(&["UNIQUE", "USING", "INDEX"])?;
    let index = c.name()?;
    let (deferrable, deferred) = timing_of(c, "UNIQUE")?;
    Ok(AlterAction::UniqueUsingIndex { name, index, deferrable, deferred })
}

/// Parses `PRIMARY KEY USING INDEX i`.
pub(in crate::parser) fn key_using(c: &mut Cursor<'_>, name: Option<String>) -> Parse<AlterAction> {
    c.need_all(&["PRIMARY", "KEY", "USING", "INDEX"])?;
    let index = c.name()?;
    let (deferrable, deferred) = timing_of(c, "PRIMARY KEY")?;
    Ok(AlterAction::KeyUsingIndex { name, index, deferrable, deferred })
}

/// Parses `[[NOT] DEFERRABLE] [INITIALLY …]`; NOT VALID is an error.
pub(in crate::parser) fn timing_of(c: &mut Cursor<'_>, kind: &str) -> Parse<(bool, bool)> {
    let place = c.location();
    let (deferrable, deferred, not_valid) = timing(c)?;
    if not_valid {
        return Err(c.invalid_at(place, &format!("{kind} constraints cannot be marked NOT VALID")));
    }
    Ok((deferrable, deferred))
}

/// Parses `UNIQUE [NULLS [NOT] DISTINCT] (…)` of a table.
pub(in crate::parser) fn table_unique(c: &mut Cursor<'_>, name: Option<String>) -> Parse<UniqueDef> {
    if c.at_all(&["UNIQUE", "USING", "INDEX"]) {
        return Err(c.unsupported("UNIQUE USING INDEX"));
    }
    c.need("UNIQUE")?;
    let nulls_not_distinct = nulls_not_distinct(c)?;
    let parts = c.parenthesised(Cursor::name)?.into_iter().map(ascending).collect();
    let mut families = Vec::new();
    let include = include(c, &mut families)?;
    if !families.is_empty() {
        return Err(c.unsupported("a column family in a UNIQUE constraint"));
    }
    unique_tail(c, UniqueDef { name, parts, include, nulls_not_distinct, ..UniqueDef::default() })
}

/// Parses `UNIQUE [NULLS [NOT] DISTINCT]` of a column.
pub(in crate::parser) fn column_unique(c: &mut Cursor<'_>, name: Option<String>, column: &str) -> Parse<UniqueDef> {
    c.need("UNIQUE")?;
    let nulls_not_distinct = nulls_not_distinct(c)?;
    let parts = vec![ascending(column.to_owned())];
    unique_tail(c, UniqueDef { name, parts, nulls_not_distinct, ..UniqueDef::default() })
}

fn ascending(column: String) -> KeyPartDef {
    KeyPartDef { column, descending: false, nulls_first: None }
}

fn unique_tail(c: &mut Cursor<'_>, mut unique: UniqueDef) -> Parse<UniqueDef> {
    (unique.options, unique.tablespace) = constraint_storage(c)?;
    (unique.deferrable, unique.deferred) = timing_of(c, "UNIQUE")?;
    Ok(unique)
}

/// Parses `[WITH (…)] [USING INDEX TABLESPACE name]` of a constraint.
pub(in crate::parser) fn constraint_storage(c: &mut Cursor<'_>) -> Parse<(Vec<TableOption>, Option<String>)> {
    let options = with(c)?;
    let tablespace = if c.eat_all(&["USING", "INDEX", "TABLESPACE"]) { Some(c.name()?) } else { None };
    Ok((options, tablespace))
}
