//! Formats expressions as SQL.

mod names;
mod physical;

pub(super) use names::readable;
pub(super) use physical::{order, physical};

use crate::convert::{scalar_to_datum, sql_type_of};
use crate::functions::{ListedRows, cast_target, label_of, rows_of};
use datafusion::arrow::datatypes::Field;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{Expr, Operator};
use types::DataType;

/// Formats a logical expression.
pub(super) fn logical(expr: &Expr) -> String {
    match expr {
        Expr::Column(column) => column.name.clone(),
        Expr::Literal(value, _) => literal(value),
        Expr::Alias(alias) => logical(&alias.expr),
        Expr::BinaryExpr(binary) => {
            let side = |expr: &Expr| match expr {
                Expr::BinaryExpr(inner) if looser(inner.op, binary.op) => format!("({})", logical(expr)),
                _ => logical(expr),
            };
            format!("{} {} {}", side(&binary.left), sign(binary.op), side(&binary.right))
        }
        Expr::InList(list) => {
            let not = if list.negated { "NOT " } else { "" };
            let items: Vec<String> = list.list.iter().map(logical).collect();
            format!("{} {not}IN ({})", logical(&list.expr), items.join(", "))
        }
        Expr::Between(between) => {
            let not = if between.negated { "NOT " } else { "" };
            let (low, high) = (logical(&between.low), logical(&between.high));
            format!("{} {not}BETWEEN {low} AND {high}", logical(&between.expr))
        }
        Expr::Like(like) => {
            let not = if like.negated { "NOT " } else { "" };
            let word = if like.case_insensitive { "ILIKE" } else { "LIKE" };
            format!("{} {not}{word} {}", logical(&like.expr), logical(&like.pattern))
        }
        Expr::Not(inner) => format!("NOT ({})", logical(inner)),
        Expr::IsNull(inner) => format!("{} IS NULL", logical(inner)),
        Expr::IsNotNull(inner) => format!("{} IS NOT NULL", logical(inner)),
        Expr::Cast(cast) => cast_text(bracketed(&cast.expr), &type_name(&cast.field)),
        Expr::ScalarFunction(call) => called(call),
        other => readable(&other.to_string()),
    }
}

fn called(call: &ScalarFunction) -> String {
    let args = || call.args.iter().map(logical).collect::<Vec<_>>();
    if let Some(rows) = rows_of(&call.func) {
        return in_rows(&args(), rows);
    }
    match (call.args.as_slice(), operator_of(call.name())) {
        ([value], _) if label_of(call).is_some() => logical(value),
        ([value], _) if cast_target(call).is_some() => {
            let ty = cast_target(call).map(|ty| ty.sql_name()).unwrap_or_default();
            cast_text(bracketed(value), &ty)
        }
        ([left, right], Some(sign)) => format!("{} {sign} {}", bracketed(left), bracketed(right)),
        ([only], Some(sign)) => format!("{sign} {}", bracketed(only)),
        _ => format!("{}({})", call.name(), args().join(", ")),
    }
}

/// How many rows of a list are shown.
const SHOWN_ROWS: usize = 3;

/// Formats `(a, b) IN ((1, 2), (3, 4), and 98 more)` from the texts of all arguments of the call.
fn in_rows(args: &[String], rows: ListedRows<'_>) -> String {
    let (left, items) = args.split_at_checked(rows.width).unwrap_or((args, &[]));
    let row = |values: &[String]| format!("({})", values.join(", "));
    let of_set = |at| (0..rows.width).filter_map(|column| Some(literal(&rows.value(at, column)?))).collect::<Vec<_>>();
    let (mut shown, count): (Vec<String>, usize) = match rows.count() {
        Some(count) => ((0..count.min(SHOWN_ROWS)).map(|at| row(&of_set(at))).collect(), count),
        None => {
            let all = items.chunks(rows.width.max(1));
            (all.clone().take(SHOWN_ROWS).map(row).collect(), all.len())
        }
    };
    if count > shown.len() {
        shown.push(format!("and {} more", count - shown.len()));
    }
    format!("{} IN ({})", row(left), shown.join(", "))
}

/// Formats a cast. Two nested casts to one SQL type are shown as one: a plan has values of the type in several forms.
fn cast_text(value: String, ty: &str) -> String {
    let cast = format!("::{ty}");
    if value.ends_with(&cast) { value } else { value + &cast }
}

/// Formats an operand, in parentheses if it is an operator itself.
fn bracketed(expr: &Expr) -> String {
    match expr {
        Expr::BinaryExpr(_) | Expr::Like(_) | Expr::Between(_) | Expr::InList(_) => format!("({})", logical(expr)),
        Expr::ScalarFunction(call) if operator_of(call.name()).is_some() => format!("({})", logical(expr)),
        _ => logical(expr),
    }
}

/// Returns the operator that one of Bennu's functions implements.
fn operator_of(function: &str) -> Option<&str> {
    Some(match function {
        "checked_add" => "+",
        "checked_sub" | "checked_neg" => "-",
        "checked_mul" => "*",
        "checked_div" => "/",
        other => return other.strip_prefix("operator "),
    })
}

/// Formats an operator as SQL.
fn sign(op: Operator) -> String {
    match op {
        Operator::NotEq => "<>".to_owned(),
        other => other.to_string(),
    }
}

/// Returns SQL's name of a type.
fn type_name(field: &Field) -> String {
    sql_type_of(field).map_or_else(|| field.data_type().to_string(), |ty| ty.sql_name())
}

/// Returns whether a function has the name of a type, as Bennu's casts do.
fn is_type(name: &str) -> bool {
    DataType::from_name(name, &[]).is_ok_and(|ty| ty.sql_name() == name)
}

/// Returns whether `inner` needs parentheses below `outer`.
fn looser(inner: Operator, outer: Operator) -> bool {
    inner.precedence() < outer.precedence() || (inner == Operator::Or && outer == Operator::And)
}

fn literal(value: &ScalarValue) -> String {
    match scalar_to_datum(value) {
        Ok(datum) => datum.to_literal(),
        Err(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::logical_expr::{col, lit};

    #[test]
    fn brackets_stand_where_they_are_needed() {
        let either = col("a").eq(lit(1)).or(col("b").lt(lit("x")));
        assert_eq!(logical(&either.clone().and(col("c").is_null())), "(a = 1 OR b < 'x') AND c IS NULL");
        assert_eq!(logical(&either.or(col("c"))), "a = 1 OR b < 'x' OR c");
        assert_eq!(logical(&col("a").not_eq(lit("it's"))), "a <> 'it''s'");
    }
}
