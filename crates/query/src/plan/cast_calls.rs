//! Casts written as calls: `date(x)`, `float8(x)`, `"timestamp"(x)`.
//!
//! PostgreSQL takes a call with one argument for a cast when a type has that name. Types whose names are words of the
//! grammar need quotes there, as they do in PostgreSQL.

use super::rewrite_expr::cast;
use sql::ast::{
    DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, ObjectName, TimezoneInfo,
};

/// Types that may be called by their bare names.
const BARE: [&str; 14] = [
    "bool",
    "bpchar",
    "bytea",
    "date",
    "float4",
    "float8",
    "int2",
    "int4",
    "int8",
    "name",
    "oid",
    "text",
    "timestamptz",
    "uuid",
];

/// Types that are called in quotes.
const QUOTED: [&str; 5] = ["\"time\"", "\"timestamp\"", "\"interval\"", "\"numeric\"", "\"varchar\""];

/// The names of the former: no other function may have them.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    BARE.into_iter()
}

/// The cast that a call stands for.
pub(super) fn rewrite(name: &str, function: &Function) -> Option<Expr> {
    let name = name.strip_prefix("pg_catalog.").unwrap_or(name);
    if !BARE.contains(&name) && !QUOTED.contains(&name) || function.over.is_some() || function.filter.is_some() {
        return None;
    }
    let FunctionArguments::List(list) = &function.args else { return None };
    let [FunctionArg::Unnamed(FunctionArgExpr::Expr(value))] = list.args.as_slice() else { return None };
    if list.duplicate_treatment.is_some() || !list.clauses.is_empty() {
        return None;
    }
    let ty = match name.trim_matches('"') {
        "time" => DataType::Time(None, TimezoneInfo::None),
        "timestamp" => DataType::Timestamp(None, TimezoneInfo::None),
        other => DataType::Custom(ObjectName::from(vec![Ident::new(other)]), Vec::new()),
    };
    Some(Expr::Nested(Box::new(cast(Expr::Nested(Box::new(value.clone())), ty))))
}
