//! Queries as values: `ARRAY (query)`, `x > ALL (query)`, `(a, b) IN (query)`.

use super::checks::returns_set;
use super::rewrite::{self, call};
use super::set_functions::parse;
use datafusion::functions_aggregate::all_default_aggregate_functions;
use sql::ast::helpers::attached_token::AttachedToken;
use sql::ast::{
    BinaryOperator, CaseWhen, Expr, Function, FunctionArgumentClause, FunctionArguments, GroupByExpr, Ident,
    OrderByExpr, OrderByKind, Query, SelectItem, SetExpr, TableAliasColumnDef, TableFactor, Value, visit_expressions,
};
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::LazyLock;

/// `(a, b) IN (query)`: true if a row of it is equal, unknown if one may be for its NULLs.
///
/// ```text
///   SELECT CASE WHEN bool_or(e) THEN true WHEN bool_or(e IS NULL) THEN NULL ELSE false END
///   FROM (query) AS _in(_in0, _in1)                             where e is a = _in0 AND b = _in1
/// ```
pub(super) fn row_in_query(parts: Vec<Expr>, subquery: Box<Query>, negated: bool) -> Expr {
    let names = row_names(parts.len());
    let equal = row_equal(&parts, &names);
    let any = |expr: Expr| call("bool_or", vec![expr]);
    let constant = |value: Value| Expr::value(value);
    let when = |condition, result| CaseWhen { condition, result };
    let unknown = Expr::IsNull(Box::new(Expr::Nested(Box::new(equal.clone()))));
    let answer = Expr::Case {
        case_token: AttachedToken::empty(),
        end_token: AttachedToken::empty(),
        operand: None,
        conditions: vec![
            when(any(equal), constant(Value::Boolean(!negated))),
            when(any(unknown), constant(Value::Null)),
        ],
        else_result: Some(Box::new(constant(Value::Boolean(negated)))),
    };
    match select_from(subquery.clone(), names, SelectItem::UnnamedExpr(answer), None) {
        Some(subquery) => Expr::Subquery(subquery),
        None => Expr::InSubquery { expr: Box::new(Expr::Tuple(parts)), subquery, negated },
    }
}

/// The same where unknown is as good as false, in WHERE: a search for such a row, which is a join.
pub(super) fn row_exists(parts: &[Expr], subquery: Box<Query>) -> Option<Expr> {
    let names = row_names(parts.len());
    let equal = row_equal(parts, &names);
    let one = SelectItem::UnnamedExpr(Expr::value(Value::Number("1".to_owned(), false)));
    let subquery = select_from(subquery, names, one, Some(equal))?;
    Some(Expr::Exists { subquery, negated: false })
}

fn row_names(count: usize) -> Vec<Ident> {
    (0..count).map(|at| Ident::new(format!("_in{at}"))).collect()
}

fn row_equal(parts: &[Expr], names: &[Ident]) -> Expr {
    let equal = |(part, name): (&Expr, &Ident)| Expr::BinaryOp {
        left: Box::new(Expr::Nested(Box::new(part.clone()))),
        op: BinaryOperator::Eq,
        right: Box::new(Expr::CompoundIdentifier(vec![Ident::new("_in"), name.clone()])),
    };
    let both = |a: Expr, b: Expr| Expr::BinaryOp { left: Box::new(a), op: BinaryOperator::And, right: Box::new(b) };
    parts.iter().zip(names).map(equal).reduce(both).unwrap_or_else(|| Expr::value(Value::Boolean(true)))
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

/// Is it worked out for each row by itself? Sets, aggregates and window functions are not.
pub(super) fn is_row_value(value: &Expr) -> bool {
    let other = |part: &Expr| match part {
        Expr::Function(call) if call.over.is_some() || is_aggregate(&call.name.to_string().to_lowercase()) => {
            ControlFlow::Break(())
        }
        part if returns_set(part) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    visit_expressions(value, other).is_continue()
}

fn is_aggregate(name: &str) -> bool {
    static AGGREGATES: LazyLock<HashSet<String>> = LazyLock::new(|| {
        let all = all_default_aggregate_functions();
        all.iter().flat_map(|function| function.aliases().iter().cloned().chain([function.name().to_owned()])).collect()
    });
    AGGREGATES.contains(name) || rewrite::is_aggregate(name)
}

/// `ORDER BY 1` by the column itself.
fn by_column(mut by: OrderByExpr, column: &Expr) -> OrderByExpr {
    if matches!(&by.expr, Expr::Value(value) if matches!(value.value, Value::Number(..))) {
        by.expr = column.clone();
    }
    by
}
