//! Calls of a function over columns of its argument types: as an operator, as a cast or by name.

use super::arguments::Table;
use builtins::{Function, TypeId};
use std::collections::HashSet;

/// Element types and their array types, which replace pseudo-types: the same pair for all arguments.
const ELEMENTS: [(u32, u32); 5] = [(23, 1007), (25, 1009), (1700, 1231), (1184, 1185), (17, 1001)];

/// The argument types of a function, as PostgreSQL shows them.
pub(super) fn types(function: &Function) -> String {
    function.args.iter().chain(&function.variadic).map(|ty| ty.sql_name()).collect::<Vec<_>>().join(", ")
}

/// The calls, or the reason why there are none.
pub(super) fn calls_of(function: &Function, table: &Table) -> Result<Vec<String>, &'static str> {
    let of_types = function.args.iter().chain(&function.variadic).any(|ty| matches!(ty.0, 2275 | 2281));
    if of_types {
        return Err("a function of a type: the server calls it by itself");
    }
    let mut calls = HashSet::new();
    for (element, array) in ELEMENTS {
        let taken = concrete(function, element, array);
        if taken.iter().any(|oid| !table.has(*oid)) {
            continue;
        }
        let columns = columns(&taken, table);
        calls.insert(call(function, &columns, &taken));
    }
    if calls.is_empty() {
        return Err("no column of a table has the type of an argument");
    }
    let mut calls: Vec<String> = calls.into_iter().collect();
    calls.sort();
    Ok(calls)
}

/// The argument types, with pseudo-types replaced.
fn concrete(function: &Function, element: u32, array: u32) -> Vec<u32> {
    let one = |ty: &TypeId| match ty.0 {
        // "any", anyelement, anynonarray, anycompatible, anycompatiblenonarray.
        2276 | 2283 | 2776 | 5077 | 5079 => element,
        // anyarray, anycompatiblearray.
        2277 | 5078 => array,
        other => other,
    };
    function.args.iter().chain(&function.variadic).map(one).collect()
}

fn columns(taken: &[u32], table: &Table) -> Vec<String> {
    let before = |at: usize| taken[..at].iter().filter(|oid| **oid == taken[at]).count();
    taken.iter().enumerate().filter_map(|(at, oid)| table.column(*oid, before(at))).collect()
}

fn call(function: &Function, columns: &[String], taken: &[u32]) -> String {
    if let Some(operator) = builtins::operator_of(function.id).filter(|_| !is_listed(function)) {
        return match columns {
            [one] => format!("{} {one}", operator.name),
            [left, right] => format!("{left} {} {right}", operator.name),
            _ => String::new(),
        };
    }
    let cast = builtins::lists::casts().iter().find(|cast| cast.function == function.id.0);
    if let (Some(cast), [one, ..]) = (cast, columns) {
        let target = TypeId(cast.target);
        // The length of the cast's target type.
        let length = if taken.len() > 1 && cast.source == cast.target { length(cast.target) } else { "" };
        return format!("CAST({one} AS {}{length})", target.sql_name());
    }
    match (function.name, columns) {
        ("position", [one, other]) => format!("position({other} IN {one})"),
        (name, []) if matches!(function.kind, builtins::Kind::Aggregate) => format!("{name}(*)"),
        (name, all) => format!("{name}({})", all.join(", ")),
    }
}

fn length(target: u32) -> &'static str {
    match target {
        1042 | 1043 => "(2)",
        1700 => "(12, 1)",
        1083 | 1114 | 1184 | 1186 => "(2)",
        _ => "",
    }
}

/// Whether `pg_proc` lists it under its name.
fn is_listed(function: &Function) -> bool {
    builtins::lists::routines_named(function.name).any(|routine| routine.oid == function.id.0)
}
