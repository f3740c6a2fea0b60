//! Parses names as written by users, and prints names that the search path resolves.

use crate::source::{Relation, Source};
use builtins::lists::{self, PgType};
use types::{DataType, ident};

/// Splits `schema.name`; unquoted parts are folded. `None` if the text is not a valid name.
pub(crate) fn split_name(text: &str) -> Option<(Option<String>, String)> {
    let mut parts: Vec<String> = Vec::new();
    let mut rest = text.trim();
    loop {
        let (part, after) = match rest.strip_prefix('"') {
            Some(quoted) => ident::read_quoted(quoted)?,
            None => {
                let end = rest.find('.').unwrap_or(rest.len());
                let (part, after) = rest.split_at_checked(end)?;
                (ident::fold(part.trim()), after)
            }
        };
        if part.is_empty() {
            return None;
        }
        parts.push(part);
        match after.strip_prefix('.') {
            Some(more) => rest = more,
            None if after.is_empty() => break,
            None => return None,
        }
    }
    let name = parts.pop()?;
    let schema = parts.pop();
    // A database name in front is ignored, because there is only one database.
    Some((schema, name))
}

/// A relation's name as a `regclass`: schema-qualified if the search path does not find it.
pub(crate) fn relation_name(source: &Source, relation: &Relation<'_>) -> String {
    let name = source.quote(relation.name());
    if source.is_visible(relation) {
        return name;
    }
    let schema = source.schema_name(relation.schema()).unwrap_or_default();
    format!("{}.{name}", source.quote(schema))
}

/// Resolves a type name, in SQL or in `pg_type` spelling.
pub(crate) fn type_oid(text: &str) -> Option<u32> {
    let text = text.trim();
    let text = text.strip_prefix("pg_catalog.").unwrap_or(text);
    if let Some(element) = text.strip_suffix("[]") {
        let element = PgType::by_oid(type_oid(element)?)?;
        return (element.array != 0).then_some(element.array);
    }
    let quoted = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    if let Some(name) = quoted {
        return by_internal_name(name);
    }
    let (base, params) = match text.split_once('(') {
        Some((base, rest)) => (base, rest.strip_suffix(')')?),
        None => (text, ""),
    };
    let params: Option<Vec<i64>> =
        params.split(',').filter(|param| !param.trim().is_empty()).map(|param| param.trim().parse().ok()).collect();
    match DataType::from_name(base, &params?) {
        Ok(ty) => Some(ty.oid()),
        Err(_) => by_internal_name(&ident::fold(text)),
    }
}

fn by_internal_name(name: &str) -> Option<u32> {
    lists::pg_types().iter().find(|ty| ty.name == name).map(|ty| ty.oid)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_at_points_outside_quotes() {
        let split = |text| split_name(text).unwrap();
        assert_eq!(split("Flights"), (None, "flights".to_owned()));
        assert_eq!(split("public.\"My.Table\""), (Some("public".to_owned()), "My.Table".to_owned()));
        assert_eq!(split("\"a\"\"b\""), (None, "a\"b".to_owned()));
        assert_eq!(["", "a.", "\"a", "\"a\"b"].map(split_name), [const { None }; 4]);
    }

    #[test]
    fn types_have_several_names() {
        let all =
            ["integer", "int4", "character varying(3)", "text[]", "\"char\"", "char", "pg_catalog.int8", "regclass"];
        assert_eq!(all.map(|name| type_oid(name).unwrap()), [23, 23, 1043, 1009, 18, 1042, 20, 2205]);
        assert_eq!(["hstore", "int4(", "text(1"].map(type_oid), [None; 3]);
    }
}
