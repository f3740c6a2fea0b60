//! One pass over a fresh plan: types of constants, comparisons that are no operators, functions of the session.

use super::adapt;
use super::rows::{compare_rows, join, parts_of};
use crate::convert::{arrow_type, sql_type_of};
use crate::error::{QueryError, QueryResult};
use crate::functions::{postgres_cast, session_constant, translate_pattern};
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::{Between, InList, Like};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{BinaryExpr, Cast, Expr, ExprSchemable, LogicalPlan, Operator};
use types::DataType;

/// Gives the plan PostgreSQL's types. See the module's head.
///
/// # Errors
/// [`QueryError::NoSuchOperator`] and [`QueryError::Type`] as comparisons ask for.
pub(crate) fn settle(plan: LogicalPlan) -> QueryResult<LogicalPlan> {
    // The two sides of a recursive query were made for each other: narrower constants on one would part them.
    let recursive = plan.exists(|node| Ok(matches!(node, LogicalPlan::RecursiveQuery(_))))?;
    let settled = plan.transform_up_with_subqueries(|node| settle_node(node, !recursive)).data()?;
    Ok(settled)
}

fn settle_node(node: LogicalPlan, narrow: bool) -> Result<Transformed<LogicalPlan>> {
    // LIMIT wants bigint constants, and the columns of VALUES are typed as a whole.
    let narrow = narrow && !matches!(node, LogicalPlan::Limit(_) | LogicalPlan::Values(_));
    let schema = merge_schema(&node.inputs());
    let names = NamePreserver::new(&node);
    let settled = node.map_expressions(|expr| {
        let name = names.save(&expr);
        let settled =
            expr.transform_down_up(|expr| Ok(skip_windows(expr)), |expr| settle_expr(expr, &schema, narrow))?;
        Ok(settled.update_data(|expr| name.restore(expr)))
    })?;
    if settled.transformed { settled.map_data(LogicalPlan::recompute_schema) } else { Ok(settled) }
}

/// Constants among the arguments of a window function (offsets, buckets) are read by it as bigint.
fn skip_windows(expr: Expr) -> Transformed<Expr> {
    let recursion =
        if matches!(expr, Expr::WindowFunction(_)) { TreeNodeRecursion::Jump } else { TreeNodeRecursion::Continue };
    Transformed::new(expr, false, recursion)
}

fn settle_expr(expr: Expr, schema: &DFSchema, narrow: bool) -> Result<Transformed<Expr>> {
    match expr {
        Expr::Literal(ScalarValue::Int64(Some(value)), metadata) if narrow => match i32::try_from(value) {
            Ok(small) => Ok(Transformed::yes(Expr::Literal(ScalarValue::Int32(Some(small)), metadata))),
            Err(_) => Ok(Transformed::no(Expr::Literal(ScalarValue::Int64(Some(value)), metadata))),
        },
        Expr::Literal(ScalarValue::UInt64(Some(value)), metadata) => {
            let wide = ScalarValue::Decimal128(Some(i128::from(value)), 20, 0);
            Ok(Transformed::yes(Expr::Literal(wide, metadata)))
        }
        Expr::ScalarFunction(call) => match session_constant(&call)? {
            Some(parameter) => Ok(Transformed::yes(parameter)),
            None => Ok(Transformed::yes(Expr::ScalarFunction(translate_pattern(call)?))),
        },
        Expr::Cast(cast) => Ok(settle_cast(cast, schema)),
        Expr::SimilarTo(like) => Ok(Transformed::yes(similar_to(like)?)),
        Expr::InList(list) => Ok(Transformed::yes(settle_list(list, schema)?)),
        Expr::Between(between) => Ok(Transformed::yes(settle_between(between, schema)?)),
        Expr::Like(like) => Ok(Transformed::yes(settle_like(like, schema)?)),
        Expr::AggregateFunction(mut call) if call.func.name() == "sum" => {
            let wide = widen_sum(&mut call.params.args, schema);
            Ok(Transformed::new_transformed(Expr::AggregateFunction(call), wide))
        }
        other => Ok(Transformed::no(other)),
    }
}

/// A cast that the query wrote.
fn settle_cast(cast: Cast, schema: &DFSchema) -> Transformed<Expr> {
    let replaced = match (cast.expr.to_field(schema), sql_type_of(&cast.field)) {
        // A parameter without a type takes the cast's.
        _ if matches!(cast.expr.as_ref(), Expr::Placeholder(parameter) if parameter.field.is_none()) => None,
        (Ok((_, from)), Some(ty)) if *cast.field.data_type() == arrow_type(&ty) => {
            postgres_cast(&cast.expr, &from, &ty)
        }
        _ => None,
    };
    match replaced {
        Some(call) => Transformed::yes(call),
        None => Transformed::no(Expr::Cast(cast)),
    }
}

/// `SIMILAR TO` as the regular expression that it means.
fn similar_to(like: Like) -> QueryResult<Expr> {
    let Expr::Literal(ScalarValue::Utf8(Some(pattern)), _) = like.pattern.as_ref() else {
        return Err(QueryError::Unsupported { feature: "SIMILAR TO with a pattern that varies".to_owned() });
    };
    if like.escape_char.is_some_and(|escape| escape != '\\') {
        return Err(QueryError::Unsupported { feature: "SIMILAR TO with ESCAPE".to_owned() });
    }
    let regex = similar_pattern(pattern);
    let op = if like.negated { Operator::RegexNotMatch } else { Operator::RegexMatch };
    let regex = Expr::Literal(ScalarValue::Utf8(Some(regex)), None);
    Ok(Expr::BinaryExpr(BinaryExpr::new(like.expr, op, Box::new(regex))))
}

/// `%` and `_` are LIKE's; `|`, `*`, `+`, `?`, braces, brackets and classes are those of regular expressions.
fn similar_pattern(pattern: &str) -> String {
    let mut out = String::from("^(?:");
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '%' => out.push_str(".*"),
            '_' => out.push('.'),
            '.' | '^' | '$' => out.extend(['\\', letter]),
            '\\' => out.extend(std::iter::once('\\').chain(letters.next())),
            other => out.push(other),
        }
    }
    out.push_str(")$");
    out
}

/// The sum of bigints is numeric: it may be larger than a bigint.
fn widen_sum(args: &mut [Expr], schema: &DFSchema) -> bool {
    let [arg] = args else { return false };
    if !arg.get_type(schema).is_ok_and(|ty| ty == ArrowType::Int64) {
        return false;
    }
    let inner = std::mem::take(arg);
    *arg = Expr::Cast(Cast::new(Box::new(inner), ArrowType::Decimal128(19, 0)));
    true
}

fn settle_list(list: InList, schema: &DFSchema) -> QueryResult<Expr> {
    let InList { expr, list, negated } = list;
    let op = if negated { Operator::NotEq } else { Operator::Eq };
    if let Some(parts) = parts_of(&expr) {
        let mut rows = Vec::with_capacity(list.len());
        for item in &list {
            let row = parts_of(item).ok_or_else(|| QueryError::TypeMismatch {
                message: "a row value can only be IN a list of row values".to_owned(),
            })?;
            rows.push(compare_rows(parts, op, row, &|a, op, b| comparison(a, op, b, schema))?);
        }
        return join(if negated { Operator::And } else { Operator::Or }, rows);
    }
    let mut items = Vec::with_capacity(list.len());
    for mut item in list {
        let mut left = expr.as_ref().clone();
        adapt::compare(&mut left, "=", &mut item, schema)?;
        items.push(item);
    }
    Ok(Expr::InList(InList::new(expr, items, negated)))
}

fn comparison(mut left: Expr, op: Operator, mut right: Expr, schema: &DFSchema) -> QueryResult<Expr> {
    adapt::compare(&mut left, &op.to_string(), &mut right, schema)?;
    Ok(Expr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(right))))
}

fn settle_between(between: Between, schema: &DFSchema) -> QueryResult<Expr> {
    let Between { expr, negated, mut low, mut high } = between;
    let mut left = expr.as_ref().clone();
    adapt::compare(&mut left, if negated { "<" } else { ">=" }, &mut low, schema)?;
    adapt::compare(&mut left, if negated { ">" } else { "<=" }, &mut high, schema)?;
    Ok(Expr::Between(Between::new(expr, negated, low, high)))
}

/// LIKE is an operator of texts.
fn settle_like(mut like: Like, schema: &DFSchema) -> QueryResult<Expr> {
    for side in [&mut like.expr, &mut like.pattern] {
        if adapt::Side::of(side, schema) == adapt::Side::Parameter {
            adapt::give_type(side, &adapt::Side::Parameter, &DataType::Text)?;
        }
    }
    if let (Some(escape), Expr::Literal(ScalarValue::Utf8(Some(pattern)), _)) =
        (like.escape_char, like.pattern.as_mut())
    {
        *pattern = with_backslashes(pattern, escape);
        like.escape_char = None;
    }
    let (left, right) = (adapt::Side::of(&like.expr, schema), adapt::Side::of(&like.pattern, schema));
    let not_text = |side: &adapt::Side| matches!(side, adapt::Side::Known(ty) if !ty.is_text());
    if not_text(&left) || not_text(&right) {
        let operator = if like.case_insensitive { "~~*" } else { "~~" };
        return Err(QueryError::NoSuchOperator {
            left: left.name(),
            operator: operator.to_owned(),
            right: right.name(),
        });
    }
    Ok(Expr::Like(like))
}

/// A LIKE pattern with the planner's escape, a backslash, instead of its own.
fn with_backslashes(pattern: &str, escape: char) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        if letter == escape {
            out.push('\\');
            out.extend(letters.next());
        } else if letter == '\\' {
            out.push_str("\\\\");
        } else {
            out.push(letter);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_keep_their_meaning() {
        assert_eq!(similar_pattern("a%(b|c)_.d"), r"^(?:a.*(b|c).\.d)$");
        assert_eq!(with_backslashes(r"10!%\x%", '!'), r"10\%\\x%");
    }
}
