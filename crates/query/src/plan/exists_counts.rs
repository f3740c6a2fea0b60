//! EXISTS in a SELECT list as a count of rows, which the planner makes a join of.

use super::query_values;
use super::rewrite::call;
use sql::ast::{
    BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, GroupByExpr, Query, Select,
    SelectItem, SetExpr, Value,
};

/// `EXISTS (…)` of a plain query as a count of its rows.
pub(super) fn exists_to_count(expr: &mut Expr) {
    if let Expr::Exists { subquery, negated } = expr
        && counts_rows(subquery)
    {
        let op = if *negated { BinaryOperator::Eq } else { BinaryOperator::Gt };
        let count = Expr::Subquery(subquery.clone());
        let zero = Expr::value(Value::Number("0".to_owned(), false));
        let compared = Expr::BinaryOp { left: Box::new(count), op, right: Box::new(zero) };
        *expr = Expr::Nested(Box::new(compared));
    }
}

/// Makes a plain query count its rows; false when it is not plain.
fn counts_rows(query: &mut Query) -> bool {
    let limited = query.limit_clause.is_some() || query.fetch.is_some();
    let SetExpr::Select(select) = query.body.as_mut() else { return false };
    if limited || !has_plain_groups(select) || select.having.is_some() || select.qualify.is_some() {
        return false;
    }
    // An aggregate makes one row of all, a set several of each or none.
    let is_plain = |item: &SelectItem| match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => query_values::is_row_value(expr),
        _ => true,
    };
    if !select.projection.iter().all(is_plain) {
        return false;
    }
    // There is a group, and a row unlike others, where there is a row.
    (select.distinct, select.group_by) = (None, GroupByExpr::Expressions(Vec::new(), Vec::new()));
    select.projection = vec![SelectItem::UnnamedExpr(count_of_rows())];
    query.order_by = None;
    true
}

/// No groups, or such as have rows.
fn has_plain_groups(select: &Select) -> bool {
    let of_rows = |group: &Expr| match group {
        Expr::Rollup(_) | Expr::Cube(_) | Expr::GroupingSets(_) => false,
        Expr::Function(call) => !["rollup", "cube"].contains(&call.name.to_string().to_lowercase().as_str()),
        Expr::Tuple(parts) => !parts.is_empty(),
        _ => true,
    };
    matches!(&select.group_by, GroupByExpr::Expressions(by, with) if with.is_empty() && by.iter().all(of_rows))
}

/// `count(*)`.
pub(super) fn count_of_rows() -> Expr {
    let star = FunctionArg::Unnamed(FunctionArgExpr::Wildcard);
    let mut count = call("count", Vec::new());
    if let Expr::Function(Function { args: FunctionArguments::List(list), .. }) = &mut count {
        list.args.push(star);
    }
    count
}
