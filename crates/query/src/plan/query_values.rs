//! Queries as values: `ARRAY (query)`, `x > ALL (query)`, `(a, b) IN (query)`.

use super::rewrite::call;
use super::set_functions::parse;
use sql::ast::{
    BinaryOperator, Expr, Function, FunctionArgumentClause, FunctionArguments, GroupByExpr, Ident, OrderByExpr,
    OrderByKind, Query, SelectItem, SetExpr, TableAliasColumnDef, TableFactor, Value,
};

/// `(a, b) IN (query)` as a search for a row of it.
pub(super) fn row_in_query(row: Expr, subquery: Box<Query>) -> Expr {
    let parts = match row {
        Expr::Tuple(parts) => parts,
        other => vec![other],
    };
    let names: Vec<Ident> = (0..parts.len()).map(|at| Ident::new(format!("_in{at}"))).collect();
    let equal = |(part, name): (&Expr, &Ident)| Expr::BinaryOp {
        left: Box::new(part.clone()),
        op: BinaryOperator::Eq,
        right: Box::new(Expr::CompoundIdentifier(vec![Ident::new("_in"), name.clone()])),
    };
    let both = |a: Expr, b: Expr| Expr::BinaryOp { left: Box::new(a), op: BinaryOperator::And, right: Box::new(b) };
    let all = parts.iter().zip(&names).map(equal).reduce(both);
    let one = SelectItem::UnnamedExpr(Expr::value(Value::Number("1".to_owned(), false)));
    match select_from(subquery.clone(), names, one, all) {
        Some(subquery) => Expr::Exists { subquery, negated: false },
        None => Expr::InSubquery { expr: Box::new(Expr::Tuple(parts)), subquery, negated: false },
    }
}

/// `SELECT item FROM (query) AS _in(names) WHERE condition`.
fn select_from(query: Box<Query>, names: Vec<Ident>, item: SelectItem, condition: Option<Expr>) -> Option<Box<Query>> {
    let mut outer = parse("SELECT 1 FROM (SELECT 1) AS _in")?;
    let SetExpr::Select(select) = outer.body.as_mut() else { return None };
    select.projection = vec![item];
    select.selection = condition;
    let TableFactor::Derived { subquery, alias: Some(alias), .. } = &mut select.from.first_mut()?.relation else {
        return None;
    };
    *subquery = query;
    alias.columns = names.into_iter().map(|name| TableAliasColumnDef { name, data_type: None }).collect();
    Some(outer)
}

/// The values of a query of one column as an array, empty if it has no rows.
pub(super) fn array_of(mut query: Box<Query>) -> Option<Expr> {
    if collect(&mut query).is_none() {
        let name = Ident::new("_item");
        let item = SelectItem::UnnamedExpr(call("array_agg", vec![Expr::Identifier(name.clone())]));
        query = select_from(query, vec![name], item, None)?;
    }
    Some(call("array_or_empty", vec![Expr::Subquery(query)]))
}

/// Puts `array_agg` round the one value of a plain SELECT, where it may name columns of an outer query; `None` for
/// any other query, which stays as it is.
fn collect(query: &mut Query) -> Option<()> {
    let order = match &query.order_by {
        None => Vec::new(),
        Some(order) => match &order.kind {
            OrderByKind::Expressions(by) => by.clone(),
            OrderByKind::All(_) => return None,
        },
    };
    let plain = query.with.is_none() && query.limit_clause.is_none() && query.fetch.is_none();
    let SetExpr::Select(select) = query.body.as_mut() else { return None };
    let grouped = !matches!(&select.group_by, GroupByExpr::Expressions(by, _) if by.is_empty());
    if !plain || grouped || select.having.is_some() || select.distinct.is_some() {
        return None;
    }
    let [item] = select.projection.as_mut_slice() else { return None };
    let (SelectItem::UnnamedExpr(value) | SelectItem::ExprWithAlias { expr: value, .. }) = &*item else { return None };
    if !is_row_value(value) {
        return None;
    }
    let order: Vec<OrderByExpr> = order.into_iter().map(|by| by_column(by, value)).collect();
    let mut collected = call("array_agg", vec![value.clone()]);
    if let (Expr::Function(Function { args: FunctionArguments::List(list), .. }), false) =
        (&mut collected, order.is_empty())
    {
        list.clauses.push(FunctionArgumentClause::OrderBy(order));
    }
    *item = SelectItem::UnnamedExpr(collected);
    query.order_by = None;
    Some(())
}

/// Is it worked out for each row by itself? Sets, aggregates and window functions, which are calls all, are not.
fn is_row_value(value: &Expr) -> bool {
    match value {
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) | Expr::Value(_) => true,
        Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => is_row_value(inner),
        Expr::BinaryOp { left, right, .. } => is_row_value(left) && is_row_value(right),
        Expr::Function(function) => {
            let name = function.name.to_string().to_lowercase();
            let listed = ["format_type", "pg_get_expr", "quote_ident", "lower", "upper", "concat", "coalesce"];
            listed.contains(&name.trim_start_matches("pg_catalog.")) && function.over.is_none()
        }
        _ => false,
    }
}

/// `ORDER BY 1` by the column itself.
fn by_column(mut by: OrderByExpr, column: &Expr) -> OrderByExpr {
    if matches!(&by.expr, Expr::Value(value) if matches!(value.value, Value::Number(..))) {
        by.expr = column.clone();
    }
    by
}
