//! Forms that the planner does not know, as forms that it knows.
//!
//! - `x AT TIME ZONE z` is `timezone(z, x)`; `mod(a, b)` is `a % b`; `variance` is `var_samp`; `to_timestamp(x)` has a
//!   time zone.
//! - `EXISTS (…)` in a SELECT list is `(SELECT count(*) …) > 0`.
//! - `ARRAY[a, 1]` is `make_array(a, 1)`: in the former the planner does not see columns of outer queries.
//! - `t.tableoid` is `'t'::regclass`, see `table_oid`.
//! - Set-returning functions in FROM whose arguments are columns are LATERAL subqueries, see `set_returning`.

use super::{merged_columns, set_returning, table_oid};
use sql::ast::{
    BinaryOperator, CastKind, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList,
    FunctionArguments, GroupByExpr, Ident, ObjectName, Query, Select, SelectItem, SetExpr, Statement, TableFactor,
    TimezoneInfo, Value, VisitMut, VisitorMut,
};
use std::ops::ControlFlow;

/// Rewrites a whole statement.
pub(super) fn rewrite(statement: &mut Statement) {
    let _ = statement.visit(&mut Rewriter);
}

struct Rewriter;

impl VisitorMut for Rewriter {
    type Break = ();

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        table_oid::rewrite(select);
        merged_columns::rewrite(select);
        for item in &mut select.projection {
            if let SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } = item {
                let _ = expr.visit(&mut ExistsToCount { depth: 0 });
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        set_returning::rewrite(factor);
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        let taken = std::mem::replace(expr, Expr::value(Value::Null));
        *expr = match taken {
            Expr::AtTimeZone { timestamp, time_zone } => call("timezone", vec![*time_zone, *timestamp]),
            Expr::Function(function) => rewrite_function(function),
            Expr::Array(array) if array.elem.iter().any(set_returning::has_column) => call("make_array", array.elem),
            other => other,
        };
        ControlFlow::Continue(())
    }
}

pub(super) fn call(name: &str, args: Vec<Expr>) -> Expr {
    let args = args.into_iter().map(|arg| FunctionArg::Unnamed(FunctionArgExpr::Expr(arg))).collect();
    Expr::Function(Function {
        name: ObjectName::from(vec![Ident::new(name)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList { duplicate_treatment: None, args, clauses: Vec::new() }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}

fn rewrite_function(mut function: Function) -> Expr {
    let name = function.name.to_string().to_lowercase();
    match name.as_str() {
        "variance" => function.name = ObjectName::from(vec![Ident::new("var_samp")]),
        "sign" => function.name = ObjectName::from(vec![Ident::new("signum")]),
        "to_timestamp" => {
            let data_type = DataType::Timestamp(None, TimezoneInfo::WithTimeZone);
            let expr = Box::new(Expr::Function(function));
            return Expr::Cast { kind: CastKind::Cast, expr, data_type, array: false, format: None };
        }
        "every" => function.name = ObjectName::from(vec![Ident::new("bool_and")]),
        "mod" => {
            if let FunctionArguments::List(list) = &function.args
                && let [
                    FunctionArg::Unnamed(FunctionArgExpr::Expr(left)),
                    FunctionArg::Unnamed(FunctionArgExpr::Expr(right)),
                ] = list.args.as_slice()
            {
                let nested = |expr: &Expr| Box::new(Expr::Nested(Box::new(expr.clone())));
                let (left, right) = (nested(left), nested(right));
                return Expr::Nested(Box::new(Expr::BinaryOp { left, op: BinaryOperator::Modulo, right }));
            }
        }
        _ => {}
    }
    Expr::Function(function)
}

/// Only in the expression itself: EXISTS in the WHERE of a query inside it is left to the planner.
struct ExistsToCount {
    depth: usize,
}

impl VisitorMut for ExistsToCount {
    type Break = ();

    fn pre_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if self.depth == 0
            && let Expr::Exists { subquery, negated } = expr
            && counts_rows(subquery)
        {
            let op = if *negated { BinaryOperator::Eq } else { BinaryOperator::Gt };
            let count = Expr::Subquery(subquery.clone());
            let zero = Expr::value(Value::Number("0".to_owned(), false));
            let compared = Expr::BinaryOp { left: Box::new(count), op, right: Box::new(zero) };
            *expr = Expr::Nested(Box::new(compared));
        }
        ControlFlow::Continue(())
    }
}

/// Makes a plain query count its rows; false when it is not plain.
fn counts_rows(query: &mut Query) -> bool {
    let limited = query.limit_clause.is_some() || query.fetch.is_some();
    let SetExpr::Select(select) = query.body.as_mut() else { return false };
    let grouped = !matches!(&select.group_by, GroupByExpr::Expressions(by, _) if by.is_empty());
    if limited || grouped || select.having.is_some() || select.distinct.is_some() || select.qualify.is_some() {
        return false;
    }
    let star = FunctionArg::Unnamed(FunctionArgExpr::Wildcard);
    let mut count = call("count", Vec::new());
    if let Expr::Function(Function { args: FunctionArguments::List(list), .. }) = &mut count {
        list.args.push(star);
    }
    select.projection = vec![SelectItem::UnnamedExpr(count)];
    query.order_by = None;
    true
}
