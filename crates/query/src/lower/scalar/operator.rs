//! Operators with PostgreSQL's semantics.

use crate::convert::arrow_type;
use crate::functions::{checked_arithmetic, checked_negative, interval_span, numeric_quotient, regex_pattern};
use crate::lower::Lowering;
use crate::lower::error::LowerResult;
use crate::lower::scalar::comparable::{Side, pad};
use crate::lower::scalar::pattern::matches;
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::{BinaryExpr, Cast, Expr, ExprSchemable, Operator};
use types::DataType;

impl Lowering<'_> {
    /// `left op right` for operands whose types are resolved.
    ///
    /// # Errors
    /// Errors of a constant pattern.
    pub(in crate::lower) fn binary(
        &self,
        op: Operator,
        mut left: Expr,
        mut right: Expr,
        schema: &DFSchema,
    ) -> LowerResult<Expr> {
        match op {
            Operator::Plus | Operator::Minus | Operator::Multiply | Operator::Divide | Operator::Modulo => {
                Ok(arithmetic(op, left, right, schema))
            }
            Operator::RegexMatch | Operator::RegexIMatch | Operator::RegexNotMatch | Operator::RegexNotIMatch => {
                regex(op, left, right, schema)
            }
            Operator::IsDistinctFrom | Operator::IsNotDistinctFrom => {
                self.comparable_bits((&mut left, schema), (&mut right, schema));
                Ok(plain(left, op, right))
            }
            _ => {
                self.comparable((&mut left, schema), (&mut right, schema));
                let order = matches!(op, Operator::Lt | Operator::LtEq | Operator::Gt | Operator::GtEq);
                if let Side::Known(ty @ DataType::Array(_)) = Side::of(&left, schema)
                    && let Side::Known(other @ DataType::Array(_)) = Side::of(&right, schema)
                    && (order || left.get_type(schema)? != right.get_type(schema)?)
                {
                    let sign = if op == Operator::NotEq { "<>".to_owned() } else { op.to_string() };
                    return self.sql_call(&format!("operator {sign}"), &[ty, other], vec![left, right]);
                }
                let is_interval = |side: &Expr| Side::of(side, schema) == Side::Known(DataType::Interval);
                if is_interval(&left) && is_interval(&right) {
                    (left, right) = (interval_span(left), interval_span(right));
                }
                Ok(plain(left, op, right))
            }
        }
    }
}

/// `-value`, checked: the smallest integer has no negation.
pub(in crate::lower) fn negative(value: Expr, schema: &DFSchema) -> Expr {
    match value.get_type(schema) {
        Ok(ty) if ty.is_signed_integer() || ty.is_floating() => checked_negative(value),
        _ => Expr::Negative(Box::new(value)),
    }
}

/// Regular expression operators. DataFusion's operator takes translated constant patterns; our own function handles all
/// others.
fn regex(op: Operator, mut text: Expr, pattern: Expr, schema: &DFSchema) -> LowerResult<Expr> {
    pad(&mut text, schema);
    if let Expr::Literal(ScalarValue::Utf8(Some(given)), _) = &pattern
        && let Some(spelled) = regex_pattern(given)?
    {
        return Ok(plain(text, op, Expr::Literal(ScalarValue::Utf8(Some(spelled)), None)));
    }
    if Side::of(&pattern, schema) == Side::Null {
        return Ok(plain(text, op, pattern));
    }
    let folds = matches!(op, Operator::RegexIMatch | Operator::RegexNotIMatch);
    let negated = matches!(op, Operator::RegexNotMatch | Operator::RegexNotIMatch);
    matches(text, pattern, folds, negated)
}

fn plain(left: Expr, op: Operator, right: Expr) -> Expr {
    Expr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(right)))
}

/// Arithmetic. Integers and floats fail on overflow instead of wrapping or becoming infinite, and float division by
/// zero fails.
fn arithmetic(op: Operator, left: Expr, right: Expr, schema: &DFSchema) -> Expr {
    let (Ok(a), Ok(b)) = (left.get_type(schema), right.get_type(schema)) else { return plain(left, op, right) };
    let is_checked = match op {
        Operator::Plus | Operator::Minus | Operator::Multiply => a.is_signed_integer() && b.is_signed_integer(),
        _ => false,
    };
    if is_checked || op != Operator::Modulo && (a.is_floating() || b.is_floating()) {
        let wide = wider(&a, &b);
        return checked_arithmetic(op, in_type(left, &a, &wide), in_type(right, &b, &wide));
    }
    if a.is_decimal() || b.is_decimal() {
        return numeric(op, left, right, schema);
    }
    plain(left, op, right)
}

/// The type in which an operator computes numbers of different widths.
fn wider(a: &ArrowType, b: &ArrowType) -> ArrowType {
    use ArrowType::{Float32, Float64, Int16, Int32, Int64};
    [Float64, Float32, Int64, Int32, Int16].into_iter().find(|ty| ty == a || ty == b).unwrap_or_else(|| a.clone())
}

fn in_type(value: Expr, own: &ArrowType, ty: &ArrowType) -> Expr {
    if own == ty { value } else { Expr::Cast(Cast::new(Box::new(value), ty.clone())) }
}

/// Arithmetic of numerics. A quotient keeps as many digits as numeric allows, and products are limited to its
/// precision.
fn numeric(op: Operator, left: Expr, right: Expr, schema: &DFSchema) -> Expr {
    match op {
        Operator::Divide => numeric_quotient(left, right),
        Operator::Multiply => {
            let product = plain(left, op, right);
            let wide = product.get_type(schema).is_ok_and(|ty| matches!(ty, ArrowType::Decimal256(..)));
            let free = arrow_type(&DataType::Numeric(None));
            if wide { Expr::Cast(Cast::new(Box::new(product), free)) } else { product }
        }
        _ => plain(left, op, right),
    }
}
