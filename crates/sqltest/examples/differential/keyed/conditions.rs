//! Predicates, mostly on columns of keys and indexes, in the forms that become keys and ranges.

use super::expr::{compared, expr};
use super::values::{Kind, value};
use super::{Maker, Scope, subqueries};
use crate::keyed::tables::Table;

/// ` WHERE …` over `own`, the tables of FROM, and `scope`, all visible columns; sometimes empty.
pub(crate) fn filter(maker: &mut Maker, own: &[(&'static Table, String)], scope: &Scope) -> String {
    if maker.once_in(8) {
        return String::new();
    }
    format!(" WHERE {}", condition(maker, own, scope))
}

/// Several predicates joined by AND or OR.
pub(crate) fn condition(maker: &mut Maker, own: &[(&'static Table, String)], scope: &Scope) -> String {
    let mut text = one(maker, own, scope);
    for _ in 0..maker.below(4) {
        let next = one(maker, own, scope);
        text = match maker.below(7) {
            0 | 1 => format!("({text} OR {next})"),
            2 => format!("({text} AND NOT {next})"),
            _ => format!("({text} AND {next})"),
        };
    }
    text
}

fn one(maker: &mut Maker, own: &[(&'static Table, String)], scope: &Scope) -> String {
    match maker.below(12) {
        0..7 => {
            let (table, alias) = &own[maker.below(own.len())];
            of_key(maker, table, alias)
        }
        7 if scope.queries > 0 => subqueries::predicate(maker, scope),
        8 => row_values(maker, own),
        9 => expr(Kind::Bool, 2, scope, maker),
        _ => compared(Kind::any(maker), 1, scope, maker),
    }
}

/// A comparison of a column with values: of the key's first column, of another key column, or of any.
fn of_key(maker: &mut Maker, table: &'static Table, alias: &str) -> String {
    let at = match maker.below(4) {
        0 | 1 => table.key[0],
        2 => table.key[maker.below(table.key.len())],
        _ => maker.below(table.columns.len()),
    };
    let column = &table.columns[at];
    let name = format!("{alias}.{}", column.name);
    let mut v = || value(column.kind, maker);
    let (a, b, c) = (v(), v(), v());
    let operator = maker.of(&["=", "=", "=", "<>", "<", "<=", ">", ">="]);
    match maker.below(14) {
        0..4 => format!("{name} {operator} {a}"),
        4 => format!("{a} {operator} {name}"),
        5 => format!("{name} BETWEEN {a} AND {b}"),
        6 => format!("{name} NOT BETWEEN {a} AND {b}"),
        7 => format!("{name} BETWEEN SYMMETRIC {a} AND {b}"),
        8 => format!("{name} IN ({a}, {b}, {c})"),
        9 => format!("{name} NOT IN ({a}, {b})"),
        10 => format!("{name} {}", maker.of(&["IS NULL", "IS NOT NULL"])),
        11 => format!("{name} {} {a}", maker.of(&["IS DISTINCT FROM", "IS NOT DISTINCT FROM"])),
        12 if column.kind == Kind::Text => {
            format!(
                "{name} {} {}",
                maker.of(&["LIKE", "NOT LIKE", "ILIKE"]),
                maker.of(&["'a%'", "'%b'", "'Foo%'", "'_'", "'x\\%y'", "''", "'a\\_b'"])
            )
        }
        12 if !matches!(column.kind, Kind::Ints | Kind::Texts) => {
            format!(
                "{name} {operator} {}(ARRAY[{a}, {b}, NULL]::{}[])",
                maker.of(&["ANY ", "ALL "]),
                column.kind.name()
            )
        }
        _ => format!("({name} {operator} {a}) IS {}", maker.of(&["TRUE", "NOT TRUE", "UNKNOWN", "FALSE", "NOT FALSE"])),
    }
}

/// A row comparison of key columns, or of any columns, with rows of values.
fn row_values(maker: &mut Maker, own: &[(&'static Table, String)]) -> String {
    let (table, alias) = own[maker.below(own.len())].clone();
    let count = if maker.once_in(3) { 2 } else { table.key.len().max(2) };
    let columns: Vec<usize> = if maker.once_in(4) || table.key.len() < count {
        (0..count).map(|_| maker.below(table.columns.len())).collect()
    } else {
        table.key[..count].to_vec()
    };
    let names = columns.iter().map(|at| format!("{alias}.{}", table.columns[*at].name)).collect::<Vec<_>>().join(", ");
    let mut row = || {
        let cells: Vec<String> = columns.iter().map(|at| value(table.columns[*at].kind, maker)).collect();
        format!("({})", cells.join(", "))
    };
    let (a, b) = (row(), row());
    match maker.below(5) {
        0 => format!("({names}) IN ({a}, {b})"),
        1 => format!("({names}) NOT IN ({a}, {b})"),
        _ => format!("({names}) {} {a}", maker.of(&["=", "<", "<=", ">", ">=", "<>"])),
    }
}
