//! Names of output columns, as PostgreSQL makes them: `count`, `?column?`, the column behind a cast.
//!
//! The planner wants them unique within a SELECT and PostgreSQL does not, so repeated ones get a mark and a number
//! that [`shown`] takes off again.

use super::hidden_names::unhide;
use super::repeated_names::tell_apart;
use super::wildcard_names;
use sql::ast::{
    AccessExpr, BinaryOperator, DataType, Expr, FunctionArguments, Ident, Query, Select, SelectItem, SetExpr,
    Statement, TableAlias, TableAliasColumnDef, TrimWhereField, Value, VisitMut, VisitorMut,
};
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

/// Between a name and its number. No client sends a control character in a name.
pub(super) const MARK: char = '\u{1}';

/// Names all select items of a query and the queries inside it.
pub(super) fn name_columns(statement: &mut Statement) {
    let _ = statement.visit(&mut Namer { depth: 0 });
}

/// A column's name without the mark that made it unique.
pub(super) fn shown(name: &str) -> &str {
    name.split(MARK).next().unwrap_or(name)
}

struct Namer {
    /// How many queries deep.
    depth: usize,
}

impl VisitorMut for Namer {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        self.depth += 1;
        for table in query.with.iter_mut().flat_map(|with| &mut with.cte_tables) {
            name_rest(&mut table.alias, &table.query.body);
            tell_apart(&mut table.alias);
        }
        if let SetExpr::SetOperation { left, .. } = query.body.as_mut() {
            number_columns(left);
        }
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        self.depth -= 1;
        wildcard_names::follow_query(query);
        unhide(query, self.depth == 0);
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        name_select(select);
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        wildcard_names::follow(select);
        ControlFlow::Continue(())
    }
}

/// `WITH q(a) AS (SELECT 1, 2 AS b)`: the columns behind those that are named keep their names.
fn name_rest(alias: &mut TableAlias, body: &SetExpr) {
    let named = alias.columns.len();
    if named == 0 {
        return;
    }
    let names = match body {
        SetExpr::Select(select) => select.projection.iter().map(output_name).collect::<Option<Vec<_>>>(),
        SetExpr::SetOperation { left, .. } => return name_rest(alias, left),
        SetExpr::Query(query) => return name_rest(alias, &query.body),
        SetExpr::Values(values) => {
            let count = values.rows.first().map_or(0, |row| row.content.len());
            Some((1..=count).map(|place| format!("column{place}")).collect())
        }
        _ => None,
    };
    let rest = names.into_iter().flatten().skip(named);
    let column = |name| TableAliasColumnDef { name: Ident::with_quote('"', name), data_type: None };
    alias.columns.extend(rest.map(column));
}

/// `None` of what stands for several columns.
fn output_name(item: &SelectItem) -> Option<String> {
    match item {
        SelectItem::UnnamedExpr(expr) => Some(column_name(expr)),
        SelectItem::ExprWithAlias { alias, .. } => Some(ident_name(alias)),
        _ => None,
    }
}

/// `SELECT t.k, u.k … UNION …`: its columns have no tables to differ by.
fn number_columns(body: &mut SetExpr) {
    let select = match body {
        SetExpr::Select(select) => select,
        SetExpr::SetOperation { left, .. } => return number_columns(left),
        SetExpr::Query(query) => return number_columns(&mut query.body),
        _ => return,
    };
    let mut seen: HashMap<String, usize> = HashMap::new();
    for item in &mut select.projection {
        let name = match &*item {
            SelectItem::UnnamedExpr(expr) if is_column(item) => column_name(expr),
            SelectItem::ExprWithAlias { alias, .. } => ident_name(alias),
            _ => continue,
        };
        let number = seen.entry(name).and_modify(|count| *count += 1).or_insert(0);
        if *number > 0 && is_column(item) {
            rename(item, None, Some(*number));
        }
    }
}

fn name_select(select: &mut Select) {
    let wildcard = select
        .projection
        .iter()
        .any(|item| matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..)));
    let columns: HashSet<String> = select.projection.iter().filter_map(column_of_table).collect();
    let mut seen: HashMap<String, usize> = HashMap::new();
    for item in &mut select.projection {
        let (key, wanted) = match &*item {
            // A column that is computed, see `table_oid`.
            SelectItem::UnnamedExpr(expr) if is_table_oid(expr) => ("tableoid".to_owned(), Some("tableoid".to_owned())),
            SelectItem::UnnamedExpr(expr @ Expr::Identifier(_)) if is_function(expr) => {
                let name = normalized(expr);
                (name.clone(), Some(name))
            }
            // `t.id` and `u.id` differ for the planner by their tables.
            SelectItem::UnnamedExpr(expr @ (Expr::Identifier(_) | Expr::CompoundIdentifier(_))) => {
                (normalized(expr), None)
            }
            SelectItem::UnnamedExpr(expr) => {
                let name = column_name(expr);
                (name.clone(), Some(name))
            }
            SelectItem::ExprWithAlias { alias, .. } => (ident_name(alias), None),
            _ => continue,
        };
        // `t.k` and any other `k` do not.
        let hides = columns.contains(&key);
        let number = seen.entry(key).and_modify(|count| *count += 1).or_insert(0);
        let repeated = *number > 0 || hides || (wildcard && wanted.is_none() && is_column(item));
        if repeated || wanted.is_some() {
            rename(item, wanted, repeated.then_some(*number));
        }
    }
}

/// The name of `t.k`.
fn column_of_table(item: &SelectItem) -> Option<String> {
    match item {
        SelectItem::UnnamedExpr(Expr::CompoundIdentifier(parts)) => parts.last().map(ident_name),
        _ => None,
    }
}

/// Is it a function that is written like a column? See `rewrite_expr`.
fn is_function(expr: &Expr) -> bool {
    matches!(expr, Expr::Identifier(name) if name.quote_style.is_none()
        && ["current_schema", "current_role"].iter().any(|function| name.value.eq_ignore_ascii_case(function)))
}

fn is_table_oid(expr: &Expr) -> bool {
    let last = match expr {
        Expr::Identifier(column) => Some(column),
        Expr::CompoundIdentifier(parts) => parts.last(),
        _ => None,
    };
    last.is_some_and(|column| ident_name(column) == "tableoid")
}

fn is_column(item: &SelectItem) -> bool {
    matches!(item, SelectItem::UnnamedExpr(Expr::Identifier(_) | Expr::CompoundIdentifier(_)))
}

fn rename(item: &mut SelectItem, wanted: Option<String>, number: Option<usize>) {
    let null = Expr::value(Value::Null);
    let taken = std::mem::replace(item, SelectItem::UnnamedExpr(null));
    let (expr, name) = match taken {
        SelectItem::UnnamedExpr(expr) => {
            let name = wanted.unwrap_or_else(|| column_name(&expr));
            (expr, name)
        }
        SelectItem::ExprWithAlias { expr, alias } => (expr, ident_name(&alias)),
        other => {
            *item = other;
            return;
        }
    };
    let name = number.map_or(name.clone(), |number| format!("{name}{MARK}{number}"));
    *item = SelectItem::ExprWithAlias { expr, alias: Ident::with_quote('"', name) };
}

/// A column reference as text that is equal for equal references.
fn normalized(expr: &Expr) -> String {
    match expr {
        Expr::Identifier(ident) => ident_name(ident),
        Expr::CompoundIdentifier(parts) => parts.iter().map(ident_name).collect::<Vec<_>>().join("."),
        other => other.to_string(),
    }
}

pub(super) fn ident_name(ident: &Ident) -> String {
    if ident.quote_style.is_some() { ident.value.clone() } else { types::ident::fold(&ident.value) }
}

/// The name of an unnamed column.
pub(super) fn column_name(expr: &Expr) -> String {
    figure(expr).map_or_else(|| "?column?".to_owned(), |(name, _)| name)
}

/// How much a name says: PostgreSQL prefers a column's or function's over a type's.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Strength {
    Weak,
    Strong,
}

fn figure(expr: &Expr) -> Option<(String, Strength)> {
    let strong = |name: &str| Some((name.to_owned(), Strength::Strong));
    match expr {
        Expr::Identifier(ident) => strong(&ident_name(ident)),
        Expr::CompoundIdentifier(parts) => parts.last().and_then(|last| strong(&ident_name(last))),
        Expr::Nested(inner) => figure(inner),
        Expr::Collate { expr, .. } => figure(expr),
        Expr::Function(function) => {
            let last = function.name.0.last().and_then(|part| part.as_ident())?;
            let name = ident_name(last);
            match (&function.args, name.as_str()) {
                (FunctionArguments::Subquery(_), _) => strong("array"),
                (_, "row") => strong("row"),
                (_, "array_or_empty") => strong("array"),
                _ => strong(&name),
            }
        }
        Expr::Cast { expr, data_type, .. } => match figure(expr) {
            Some((name, Strength::Strong)) => strong(&name),
            _ => Some((type_name(data_type), Strength::Weak)),
        },
        Expr::TypedString(typed) => Some((type_name(&typed.data_type), Strength::Weak)),
        Expr::Interval(_) => Some(("interval".to_owned(), Strength::Weak)),
        Expr::Case { else_result, .. } => match else_result.as_deref().and_then(figure) {
            Some((name, Strength::Strong)) => strong(&name),
            _ => Some(("case".to_owned(), Strength::Weak)),
        },
        Expr::Exists { negated: false, .. } => strong("exists"),
        Expr::Subquery(query) => subquery_name(query),
        Expr::Extract { .. } => strong("extract"),
        Expr::Ceil { .. } => strong("ceil"),
        Expr::Floor { .. } => strong("floor"),
        Expr::Position { .. } => strong("position"),
        Expr::Substring { shorthand: true, .. } => strong("substr"),
        Expr::Substring { .. } => strong("substring"),
        Expr::CompoundFieldAccess { root, access_chain } => {
            let field = access_chain.iter().rev().find_map(|access| match access {
                AccessExpr::Dot(Expr::Identifier(field)) => Some(ident_name(field)),
                _ => None,
            });
            field.map_or_else(|| figure(root), |field| strong(&field))
        }
        Expr::BinaryOp { op: BinaryOperator::Overlaps, .. } => strong("overlaps"),
        Expr::Overlay { .. } => strong("overlay"),
        Expr::Trim { trim_where, .. } => strong(match trim_where {
            Some(TrimWhereField::Leading) => "ltrim",
            Some(TrimWhereField::Trailing) => "rtrim",
            _ => "btrim",
        }),
        Expr::AtTimeZone { .. } => strong("timezone"),
        Expr::Array(_) => strong("array"),
        Expr::Tuple(_) => strong("row"),
        _ => None,
    }
}

/// The name of a scalar subquery's one column.
fn subquery_name(query: &Query) -> Option<(String, Strength)> {
    first_name(&query.body)
}

fn first_name(body: &SetExpr) -> Option<(String, Strength)> {
    let select = match body {
        SetExpr::Select(select) => select,
        SetExpr::Query(query) => return subquery_name(query),
        SetExpr::SetOperation { left, .. } => return first_name(left),
        SetExpr::Values(_) => return Some(("column1".to_owned(), Strength::Strong)),
        _ => return None,
    };
    match select.projection.first()? {
        SelectItem::UnnamedExpr(expr) => figure(expr),
        SelectItem::ExprWithAlias { alias, .. } => Some((ident_name(alias), Strength::Strong)),
        _ => None,
    }
}

/// PostgreSQL's internal name of a type; of an array that of its elements.
fn type_name(ty: &DataType) -> String {
    if matches!(ty, DataType::Interval { .. }) {
        return "interval".to_owned();
    }
    match sql::data_type(ty) {
        Ok(types::DataType::Array(element)) => internal_name(&element.data_type()),
        Ok(ty) => internal_name(&ty),
        Err(_) => types::ident::fold(&ty.to_string()),
    }
}

fn internal_name(ty: &types::DataType) -> String {
    use types::DataType as Sql;
    let name = match ty {
        Sql::Boolean => "bool",
        Sql::SmallInt => "int2",
        Sql::Integer => "int4",
        Sql::BigInt => "int8",
        Sql::Real => "float4",
        Sql::Double => "float8",
        Sql::Varchar(_) => "varchar",
        Sql::Char(_) => "bpchar",
        Sql::Varbinary(_) | Sql::Binary(_) => "bytea",
        Sql::Time(_) => "time",
        Sql::Timestamp(_) => "timestamp",
        Sql::TimestampTz(_) => "timestamptz",
        other => other.base_name(),
    };
    name.to_owned()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let parsed = sql::parse(text).unwrap();
        let sql::Statement::Query(query) = parsed[0].statement.clone() else { panic!("{text}") };
        let mut statement = Statement::Query(query);
        name_columns(&mut statement);
        let Statement::Query(query) = statement else { panic!("{text}") };
        let SetExpr::Select(select) = *query.body else { panic!("{text}") };
        let name = |item: &SelectItem| match item {
            SelectItem::ExprWithAlias { alias, .. } => ident_name(alias).replace(MARK, "#"),
            other => other.to_string(),
        };
        select.projection.iter().map(name).collect()
    }

    #[test]
    fn names_are_those_of_postgresql() {
        assert_eq!(names("select 1, 'a', a + 1, -1"), ["?column?", "?column?#1", "?column?#2", "?column?#3"]);
        assert_eq!(
            names("select COUNT(*), upper(a), a::text, 1::int8, cast('x' as varchar(3))"),
            ["count", "upper", "a", "int8", "varchar"]
        );
        assert_eq!(names("select case when a then 1 end, case when a then 1 else b end"), ["case", "b"]);
        assert_eq!(
            names("select true, (select max(x) from t), exists (select 1), current_date"),
            ["?column?", "max", "exists", "current_date"]
        );
        assert_eq!(
            names("select (array[1])[1], a[1], '{1}'::int[], '{a}'::text[], substr('abc', 2), substring('abc', 2)"),
            ["array", "a", "int4", "text", "substr", "substring"]
        );
        assert_eq!(names("select (a, b) overlaps (c, d)"), ["overlaps"]);
    }

    #[test]
    fn repeated_names_are_told_apart_and_shown_alike() {
        assert_eq!(names("select a, a, b as a"), ["a", "a#1", "a#2"]);
        assert_eq!(names("select *, a from t"), ["*", "a#0"]);
        assert_eq!(names("select t.id, u.id from t, u"), ["t.id", "u.id"]);
        assert_eq!(shown("a\u{1}2"), "a");
    }
}
