//! Columns of type `regproc` in catalogs: numbers that are compared as such, and names where they are text.
//!
//! `typinput::text` is the function's name, and in `typinput = 'array_in'` the constant is a function's.

use crate::context::QueryContext;
use crate::error::QueryResult;
use arrow::datatypes::{DataType as ArrowType, Field};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Cast, Expr, ExprSchemable, LogicalPlan, ScalarUDF};
use std::sync::Arc;

/// Where a field says which type of `pg_type` it is, for types that SQL has not here.
const PG_TYPE_KEY: &str = "bennu.pg_type";

/// Does it hold oids of functions?
pub(super) fn is_regproc(field: &Field) -> bool {
    *field.data_type() == ArrowType::Int64 && field.metadata().get(PG_TYPE_KEY).is_some_and(|name| name == "regproc")
}

/// Puts names and numbers where they are meant.
///
/// # Errors
/// Those of the planner's own rewriting.
pub(super) fn settle(plan: LogicalPlan, cx: &QueryContext) -> QueryResult<LogicalPlan> {
    let (Some(name), Some(oid)) = ((cx.functions)("regproc_name"), (cx.functions)("regproc_oid")) else {
        return Ok(plan);
    };
    let settled = plan.transform_up_with_subqueries(|node| {
        let schema = merge_schema(&node.inputs());
        if !schema.fields().iter().any(|field| is_regproc(field)) {
            return Ok(Transformed::no(node));
        }
        let names = NamePreserver::new(&node);
        node.map_expressions(|expr| {
            let saved = names.save(&expr);
            let settled = expr.transform_up(|expr| settle_one(expr, &schema, &name, &oid))?;
            Ok(settled.update_data(|expr| saved.restore(expr)))
        })
    });
    Ok(settled?.data)
}

fn settle_one(expr: Expr, schema: &DFSchema, name: &Arc<ScalarUDF>, oid: &Arc<ScalarUDF>) -> Result<Transformed<Expr>> {
    let is_column = |expr: &Expr| {
        matches!(expr, Expr::Column(_)) && expr.to_field(schema).is_ok_and(|(_, field)| is_regproc(&field))
    };
    let is_text = |expr: &Expr| matches!(expr, Expr::Literal(ScalarValue::Utf8(Some(_)), _));
    Ok(match expr {
        Expr::Cast(Cast { expr, field }) if *field.data_type() == ArrowType::Utf8 && is_column(&expr) => {
            Transformed::yes(Expr::Cast(Cast { expr: Box::new(name.call(vec![*expr])), field }))
        }
        Expr::BinaryExpr(mut binary) if is_column(&binary.left) && is_text(&binary.right) => {
            *binary.right = oid.call(vec![*binary.right]);
            Transformed::yes(Expr::BinaryExpr(binary))
        }
        Expr::BinaryExpr(mut binary) if is_text(&binary.left) && is_column(&binary.right) => {
            *binary.left = oid.call(vec![*binary.left]);
            Transformed::yes(Expr::BinaryExpr(binary))
        }
        Expr::InList(mut list) if is_column(&list.expr) && list.list.iter().any(is_text) => {
            for item in list.list.iter_mut().filter(|item| is_text(item)) {
                *item = oid.call(vec![std::mem::take(item)]);
            }
            Transformed::yes(Expr::InList(list))
        }
        Expr::Case(mut case) if case.expr.as_ref().is_some_and(|expr| is_column(expr)) => {
            for (when, _) in case.when_then_expr.iter_mut().filter(|(when, _)| is_text(when)) {
                **when = oid.call(vec![std::mem::take(when)]);
            }
            Transformed::yes(Expr::Case(case))
        }
        other => Transformed::no(other),
    })
}
