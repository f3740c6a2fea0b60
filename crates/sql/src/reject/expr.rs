//! Expressions that the binder would ignore, or that only other databases have.

use super::{Verdict, invalid, refuse_if, unsupported};
use sqlparser::ast::{
    AccessExpr, CastKind, DateTimeField, Expr, Function, FunctionArguments, Interval, Spanned, Value,
};
use std::ops::ControlFlow;

/// Checks one expression, without those inside it.
pub(super) fn check(expr: &Expr) -> Verdict {
    match expr {
        Expr::Function(function) => check_function(function),
        Expr::Like { any, .. } | Expr::ILike { any, .. } => refuse_if(*any, "LIKE ANY", expr.span()),
        Expr::Cast { kind, format, array, .. } => {
            let try_cast = matches!(kind, CastKind::TryCast | CastKind::SafeCast);
            refuse_if(try_cast, "TRY_CAST", expr.span())?;
            refuse_if(format.is_some() || *array, "CAST with FORMAT or ARRAY", expr.span())
        }
        Expr::CompoundFieldAccess { root, access_chain } => check_access(root, access_chain),
        Expr::Interval(interval) if !matches!(*interval.value, Expr::Value(_)) => {
            invalid("INTERVAL takes a string", interval.value.span())
        }
        Expr::Interval(interval) => check_fields(interval),
        Expr::Value(value) => check_value(&value.value, expr),
        Expr::Collate { collation, .. } => unsupported(format!("collation {collation}"), collation.span()),
        Expr::IsNormalized { .. } => unsupported("IS NORMALIZED", expr.span()),
        Expr::JsonAccess { .. }
        | Expr::InUnnest { .. }
        | Expr::RLike { .. }
        | Expr::Convert { .. }
        | Expr::Prefixed { .. }
        | Expr::Struct { .. }
        | Expr::Named { .. }
        | Expr::Dictionary(_)
        | Expr::Map(_)
        | Expr::MatchAgainst { .. }
        | Expr::OuterJoin(_)
        | Expr::Prior(_)
        | Expr::Lambda(_)
        | Expr::MemberOf(_) => unsupported(format!("the expression {expr}"), expr.span()),
        _ => ControlFlow::Continue(()),
    }
}

/// sqlparser accepts any two fields.
fn check_fields(interval: &Interval) -> Verdict {
    use DateTimeField::{Day, Hour, Minute, Month, Second, Year};
    let Interval { value, leading_field, last_field, .. } = interval;
    let bounds = (leading_field, last_field);
    let known = matches!(
        bounds,
        (_, None)
            | (Some(Year), Some(Month))
            | (Some(Day), Some(Hour | Minute | Second))
            | (Some(Hour), Some(Minute | Second))
            | (Some(Minute), Some(Second))
    );
    if known { ControlFlow::Continue(()) } else { invalid("an interval has no such fields", value.span()) }
}

/// sqlparser accepts anything on both sides of the period: `1 . x` (which prints as `1.x`), `x . f(1)`.
fn check_access(root: &Expr, chain: &[AccessExpr]) -> Verdict {
    let is_parameter = |value: &Value| matches!(value, Value::Placeholder(_));
    if matches!(root, Expr::Value(value) if !is_parameter(&value.value)) {
        return invalid("a constant has no fields and no elements: cast it to an array first", root.span());
    }
    chain.iter().try_for_each(|access| match access {
        AccessExpr::Dot(Expr::Identifier(_)) | AccessExpr::Subscript(_) => ControlFlow::Continue(()),
        AccessExpr::Dot(other) => invalid("only a name can stand behind the point", other.span()),
    })
}

fn check_function(function: &Function) -> Verdict {
    let Function {
        name,
        uses_odbc_syntax,
        parameters,
        args: _,
        filter: _,
        null_treatment: _,
        over: _,
        within_group: _,
    } = function;
    refuse_if(*uses_odbc_syntax, "{fn …}", name.span())?;
    refuse_if(!matches!(parameters, FunctionArguments::None), "a function with two argument lists", name.span())
}

fn check_value(value: &Value, expr: &Expr) -> Verdict {
    match value {
        Value::SingleQuotedByteStringLiteral(_) => unsupported("a bit string literal", expr.span()),
        Value::Number(..)
        | Value::SingleQuotedString(_)
        | Value::DollarQuotedString(_)
        | Value::EscapedStringLiteral(_)
        | Value::UnicodeStringLiteral(_)
        | Value::NationalStringLiteral(_)
        | Value::HexStringLiteral(_)
        | Value::Boolean(_)
        | Value::Null => ControlFlow::Continue(()),
        Value::Placeholder(name) => refuse_if(!name.starts_with('$'), "a parameter other than $1 and ?", expr.span()),
        _ => unsupported(format!("the literal {value}"), expr.span()),
    }
}
