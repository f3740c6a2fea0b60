//! Formats physical expressions.

use super::{cast_text, in_rows, is_type, literal, looser, operator_of, readable, sign, type_name};
use crate::functions::rows_of;
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::expressions::{
    BinaryExpr, CaseExpr, CastExpr, Column, InListExpr, IsNotNullExpr, IsNullExpr, LikeExpr, Literal, NotExpr,
};
use datafusion::physical_expr::{PhysicalExpr, PhysicalSortExpr, ScalarFunctionExpr};

/// Formats a physical expression as SQL, or as DataFusion does if SQL has no syntax for it.
pub(in super::super) fn physical(expr: &dyn PhysicalExpr) -> String {
    if let Some(column) = expr.downcast_ref::<Column>() {
        return readable(column.name());
    }
    if let Some(constant) = expr.downcast_ref::<Literal>() {
        return literal(constant.value());
    }
    if let Some(binary) = expr.downcast_ref::<BinaryExpr>() {
        let side = |side: &dyn PhysicalExpr| operand(side, Some(*binary.op()));
        return format!("{} {} {}", side(binary.left().as_ref()), sign(*binary.op()), side(binary.right().as_ref()));
    }
    if let Some(call) = expr.downcast_ref::<ScalarFunctionExpr>() {
        return called(call);
    }
    if let Some(cast) = expr.downcast_ref::<CastExpr>() {
        return cast_text(operand(cast.expr().as_ref(), None), &type_name(cast.target_field()));
    }
    predicate(expr).or_else(|| case(expr)).unwrap_or_else(|| readable(&expr.to_string()))
}

fn called(call: &ScalarFunctionExpr) -> String {
    if let Some(rows) = rows_of(call.fun()) {
        let args: Vec<String> = call.args().iter().map(|arg| physical(arg.as_ref())).collect();
        return in_rows(&args, rows);
    }
    match (call.args(), operator_of(call.name())) {
        ([value], _) if is_type(call.name()) => cast_text(operand(value.as_ref(), None), call.name()),
        // An average is computed from its sum and count.
        ([sum, count], _) if call.name() == "average_of_sum" => {
            format!("{} / {}", operand(sum.as_ref(), None), operand(count.as_ref(), None))
        }
        ([left, right], Some(sign)) => {
            format!("{} {sign} {}", operand(left.as_ref(), None), operand(right.as_ref(), None))
        }
        ([only], Some(sign)) => format!("{sign} {}", operand(only.as_ref(), None)),
        (args, _) => {
            let args: Vec<String> = args.iter().map(|arg| physical(arg.as_ref())).collect();
            format!("{}({})", call.name(), args.join(", "))
        }
    }
}

fn predicate(expr: &dyn PhysicalExpr) -> Option<String> {
    let not = |negated: bool| if negated { "NOT " } else { "" };
    if let Some(test) = expr.downcast_ref::<IsNullExpr>() {
        return Some(format!("{} IS NULL", operand(test.arg().as_ref(), None)));
    }
    if let Some(test) = expr.downcast_ref::<IsNotNullExpr>() {
        return Some(format!("{} IS NOT NULL", operand(test.arg().as_ref(), None)));
    }
    if let Some(inner) = expr.downcast_ref::<NotExpr>() {
        return Some(format!("NOT ({})", physical(inner.arg().as_ref())));
    }
    if let Some(like) = expr.downcast_ref::<LikeExpr>() {
        let (word, not) = (if like.case_insensitive() { "ILIKE" } else { "LIKE" }, not(like.negated()));
        let (text, pattern) = (operand(like.expr().as_ref(), None), operand(like.pattern().as_ref(), None));
        return Some(format!("{text} {not}{word} {pattern}"));
    }
    let list = expr.downcast_ref::<InListExpr>()?;
    let items: Vec<String> = list.list().iter().map(|item| physical(item.as_ref())).collect();
    Some(format!("{} {}IN ({})", operand(list.expr().as_ref(), None), not(list.negated()), items.join(", ")))
}

fn case(expr: &dyn PhysicalExpr) -> Option<String> {
    let case = expr.downcast_ref::<CaseExpr>()?;
    let mut text = case.expr().map_or("CASE".to_owned(), |of| format!("CASE {}", physical(of.as_ref())));
    for (when, then) in case.when_then_expr() {
        text += &format!(" WHEN {} THEN {}", physical(when.as_ref()), physical(then.as_ref()));
    }
    if let Some(otherwise) = case.else_expr() {
        text += &format!(" ELSE {}", physical(otherwise.as_ref()));
    }
    Some(text + " END")
}

/// Formats an operand, in parentheses if it is an operator that binds looser or whose outer operator is unknown.
fn operand(expr: &dyn PhysicalExpr, outer: Option<Operator>) -> String {
    let brackets = match (expr.downcast_ref::<BinaryExpr>(), outer) {
        (Some(inner), Some(outer)) => looser(*inner.op(), outer),
        (Some(_), None) => true,
        (None, _) => {
            expr.is::<LikeExpr>()
                || expr.is::<InListExpr>()
                || expr.downcast_ref::<ScalarFunctionExpr>().is_some_and(|call| operator_of(call.name()).is_some())
        }
    };
    if brackets { format!("({})", physical(expr)) } else { physical(expr) }
}

/// Formats a sort order. The defaults are omitted: NULLs last for ascending, NULLs first for descending order.
pub(in super::super) fn order<'a>(order: impl IntoIterator<Item = &'a PhysicalSortExpr>) -> String {
    let text = |sort: &PhysicalSortExpr| {
        let way = match (sort.options.descending, sort.options.nulls_first) {
            (false, false) => "",
            (false, true) => " NULLS FIRST",
            (true, true) => " DESC",
            (true, false) => " DESC NULLS LAST",
        };
        format!("{}{way}", physical(sort.expr.as_ref()))
    };
    order.into_iter().map(text).collect::<Vec<_>>().join(", ")
}
