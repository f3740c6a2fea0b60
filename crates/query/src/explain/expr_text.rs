//! Expressions as a person writes them in SQL.

use crate::convert::{scalar_to_datum, sql_type_of};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Expr, Operator};
use datafusion::physical_expr::expressions::BinaryExpr;
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use types::DataType;

/// A planner's expression.
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
            format!("{} {} {}", side(&binary.left), binary.op, side(&binary.right))
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
        Expr::Cast(cast) => {
            let ty = sql_type_of(&cast.field).map_or_else(|| cast.field.data_type().to_string(), |ty| ty.sql_name());
            format!("{}::{ty}", logical(&cast.expr))
        }
        Expr::ScalarFunction(call) if is_type(call.name()) => match call.args.as_slice() {
            [value] => format!("{}::{}", logical(value), call.name()),
            _ => expr.to_string(),
        },
        other => other.to_string(),
    }
}

/// Is a function called like a type, as our casts are?
fn is_type(name: &str) -> bool {
    DataType::from_name(name, &[]).is_ok_and(|ty| ty.sql_name() == name)
}

/// Needs `inner` brackets below `outer`?
fn looser(inner: Operator, outer: Operator) -> bool {
    inner.precedence() < outer.precedence() || (inner == Operator::Or && outer == Operator::And)
}

fn literal(value: &ScalarValue) -> String {
    match scalar_to_datum(value) {
        Ok(datum) => datum.to_literal(),
        Err(_) => value.to_string(),
    }
}

/// An operator's expression: as the planner prints it, without the numbers of columns, our operators as such.
pub(super) fn physical(expr: &dyn PhysicalExpr) -> String {
    if let Some(binary) = expr.downcast_ref::<BinaryExpr>() {
        let side = |side: &dyn PhysicalExpr| operand(side, Some(*binary.op()));
        return format!("{} {} {}", side(binary.left().as_ref()), binary.op(), side(binary.right().as_ref()));
    }
    match (own_operator(expr), expr.children().as_slice()) {
        (Some(op), [left, right]) => {
            format!("{} {op} {}", operand(left.as_ref(), None), operand(right.as_ref(), None))
        }
        (Some(op), [only]) => format!("{op} {}", operand(only.as_ref(), None)),
        _ => without_numbers(&expr.to_string()),
    }
}

/// One side of an operator, in brackets where it is one itself that binds looser or nobody knows.
fn operand(expr: &dyn PhysicalExpr, outer: Option<Operator>) -> String {
    let brackets = match (expr.downcast_ref::<BinaryExpr>(), outer) {
        (Some(inner), Some(outer)) => looser(*inner.op(), outer),
        (Some(_), None) => true,
        (None, _) => own_operator(expr).is_some(),
    };
    if brackets { format!("({})", physical(expr)) } else { physical(expr) }
}

/// The operator whose function this is a call of.
fn own_operator(expr: &dyn PhysicalExpr) -> Option<&str> {
    expr.downcast_ref::<ScalarFunctionExpr>().and_then(|call| call.name().strip_prefix("operator "))
}

/// An aggregate's name: the planner counts ones where a query counts rows.
pub(super) fn aggregate_text(name: &str) -> String {
    without_numbers(name).replace("count(Int64(1))", "count(*)")
}

/// `delay@4 > 5` without `@4`.
pub(super) fn without_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter == '@' && letters.peek().is_some_and(char::is_ascii_digit) {
            while letters.next_if(char::is_ascii_digit).is_some() {}
        } else if letter != '\u{1}' {
            out.push(letter);
        }
    }
    out
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
    }

    #[test]
    fn numbers_of_columns_go_and_others_stay() {
        assert_eq!(without_numbers("delay@4 > 5 AND mail = a@b"), "delay > 5 AND mail = a@b");
    }
}
