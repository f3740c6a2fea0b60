//! Expressions with a syntax of their own as calls of functions: `EXTRACT`, `SUBSTRING`, subscripts, `= ANY (array)`.

use super::query_values::{array_of, row_in_query};
use super::rewrite::call;
use super::{array_casts, intervals};
use crate::functions::WITH_EACH;
use crate::pg_semantics::{DISTINCT, NOT_DISTINCT};
use sql::ast::{
    AccessExpr, ArrayElemTypeDef, BinaryOperator, CastKind, CeilFloorKind, DataType, DateTimeField, ExactNumberInfo,
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Subscript, TimezoneInfo, TrimWhereField,
    UnaryOperator, Value, ValueWithSpan,
};

/// The expression as the planner should see it.
pub(super) fn rewrite(expr: Expr) -> Expr {
    match expr {
        Expr::AtTimeZone { timestamp, time_zone } => call("timezone", vec![*time_zone, *timestamp]),
        Expr::Interval(interval) => intervals::literal(interval),
        Expr::Cast { expr, data_type: DataType::Interval { fields, precision }, .. }
            if fields.is_some() || precision.is_some() =>
        {
            intervals::limited(*expr, fields, precision)
        }
        Expr::Cast { expr, data_type, kind, array, format } => {
            let limited = array_casts::limited(&expr, &data_type);
            limited.unwrap_or(Expr::Cast { expr, data_type, kind, array, format })
        }
        Expr::Extract { field, expr, .. } => {
            let field = match field {
                DateTimeField::Custom(name) => name.value,
                field => field.to_string(),
            };
            call("extract", vec![quoted(&field), *expr])
        }
        Expr::Like { negated, any, expr, pattern, escape_char } if is_empty_text(escape_char.as_ref()) => {
            Expr::Like { negated, any, expr, pattern: Box::new(without_escape(*pattern)), escape_char: None }
        }
        Expr::ILike { negated, any, expr, pattern, escape_char } if is_empty_text(escape_char.as_ref()) => {
            Expr::ILike { negated, any, expr, pattern: Box::new(without_escape(*pattern)), escape_char: None }
        }
        Expr::Substring { expr, substring_from, substring_for, .. } => {
            let from = substring_from.map_or_else(|| Expr::value(Value::Number("1".to_owned(), false)), |from| *from);
            call("substring", std::iter::once(*expr).chain([from]).chain(substring_for.map(|length| *length)).collect())
        }
        Expr::Position { expr, r#in } => call("position", vec![*expr, *r#in]),
        Expr::Overlay { expr, overlay_what, overlay_from, overlay_for } => {
            let args = [*expr, *overlay_what, *overlay_from];
            call("overlay", args.into_iter().chain(overlay_for.map(|length| *length)).collect())
        }
        Expr::Trim { trim_where, trim_what, expr, trim_characters } => {
            let letters = trim_what.map(|what| *what).into_iter().chain(trim_characters.unwrap_or_default());
            call(trim_of(trim_where), std::iter::once(*expr).chain(letters).collect())
        }
        Expr::Ceil { expr, field: CeilFloorKind::DateTimeField(DateTimeField::NoDateTime) } => {
            call("ceil", vec![*expr])
        }
        Expr::Floor { expr, field: CeilFloorKind::DateTimeField(DateTimeField::NoDateTime) } => {
            call("floor", vec![*expr])
        }
        Expr::UnaryOp { op, expr } => unary(op, expr),
        Expr::AnyOp { left, compare_op, right, .. } => quantified(*left, &compare_op, *right, false),
        Expr::AllOp { left, compare_op, right } => quantified(*left, &compare_op, *right, true),
        // The planner's own tuples are of names and constants alone.
        Expr::Tuple(parts) => call(ROW, parts),
        Expr::InSubquery { expr, subquery, negated } => match row_parts(&expr) {
            Some(parts) => row_in_query(parts, subquery, negated),
            None => Expr::InSubquery { expr, subquery, negated },
        },
        Expr::CompoundFieldAccess { root, access_chain } => access(*root, access_chain),
        Expr::BinaryOp { left, op: BinaryOperator::Overlaps, right } => overlaps(*left, *right),
        Expr::Value(value) => match &value.value {
            Value::Number(number, _) if !fits_numeric(number) => {
                cast(quoted(number), DataType::Double(ExactNumberInfo::None))
            }
            _ => Expr::Value(value),
        },
        Expr::IsNull(row) | Expr::IsNotNull(row) if row_parts(&row).is_some_and(|parts| parts.is_empty()) => {
            Expr::value(Value::Boolean(true))
        }
        Expr::IsDistinctFrom(left, right) => {
            Expr::BinaryOp { left, op: BinaryOperator::Custom(DISTINCT.to_owned()), right }
        }
        Expr::IsNotDistinctFrom(left, right) => {
            Expr::BinaryOp { left, op: BinaryOperator::Custom(NOT_DISTINCT.to_owned()), right }
        }
        // The only one of its kind that sqlparser takes for a column.
        Expr::Identifier(name) if name.quote_style.is_none() && name.value.eq_ignore_ascii_case("current_schema") => {
            call("current_schema", Vec::new())
        }
        Expr::Identifier(name) if name.quote_style.is_none() && name.value.eq_ignore_ascii_case("current_role") => {
            call("current_user", Vec::new())
        }
        other => other,
    }
}

fn is_empty_text(value: Option<&ValueWithSpan>) -> bool {
    matches!(value.map(|value| &value.value), Some(Value::SingleQuotedString(text)) if text.is_empty())
}

/// A pattern in which a backslash is a letter like others.
fn without_escape(pattern: Expr) -> Expr {
    match pattern {
        Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(text), .. }) => {
            quoted(&text.replace('\\', "\\\\"))
        }
        pattern => call("replace", vec![pattern, quoted("\\"), quoted("\\\\")]),
    }
}

fn trim_of(end: Option<TrimWhereField>) -> &'static str {
    match end {
        Some(TrimWhereField::Leading) => "ltrim",
        Some(TrimWhereField::Trailing) => "rtrim",
        _ => "btrim",
    }
}

/// `current_timestamp(3)`: `current_timestamp::timestamptz(3)`.
pub(super) fn in_digits(function: &Function) -> Option<Expr> {
    let name = function.name.to_string().to_lowercase();
    let ty: fn(Option<u64>) -> DataType = match name.as_str() {
        "current_timestamp" => |digits| DataType::Timestamp(digits, TimezoneInfo::WithTimeZone),
        "localtimestamp" => |digits| DataType::Timestamp(digits, TimezoneInfo::None),
        "current_time" | "localtime" => |digits| DataType::Time(digits, TimezoneInfo::None),
        _ => return None,
    };
    let FunctionArguments::List(list) = &function.args else { return None };
    let [FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Value(digits)))] = list.args.as_slice() else { return None };
    let Value::Number(digits, _) = &digits.value else { return None };
    Some(cast(call(&name, Vec::new()), ty(Some(digits.parse().ok()?))))
}

/// The planner's function that makes a row of values.
pub(super) const ROW: &str = "struct";

/// The parts of a row value.
pub(super) fn row_parts(expr: &Expr) -> Option<Vec<Expr>> {
    match expr {
        Expr::Tuple(parts) => Some(parts.clone()),
        Expr::Function(function) if function.name.to_string() == ROW => match &function.args {
            FunctionArguments::List(list) => list.args.iter().map(argument).collect(),
            _ => None,
        },
        _ => None,
    }
}

fn argument(arg: &FunctionArg) -> Option<Expr> {
    match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr.clone()),
        _ => None,
    }
}

pub(super) fn quoted(text: &str) -> Expr {
    Expr::value(Value::SingleQuotedString(text.to_owned()))
}

pub(super) fn cast(expr: Expr, data_type: DataType) -> Expr {
    Expr::Cast { kind: CastKind::DoubleColon, expr: Box::new(expr), data_type, array: false, format: None }
}

/// A number that numeric cannot hold is read as a double.
fn fits_numeric(number: &str) -> bool {
    if number.bytes().all(|byte| byte.is_ascii_digit()) && number.len() <= 38 {
        return true;
    }
    let literal = types::decimal::Literal::parse(number);
    // What is no decimal number is left to the planner: 0x1F.
    literal.is_none_or(|literal| literal.exact(types::NUMERIC_MAX_SCALE).is_some())
}

fn unary(op: UnaryOperator, expr: Box<Expr>) -> Expr {
    match op {
        UnaryOperator::PGAbs => call("abs", vec![*expr]),
        UnaryOperator::PGSquareRoot => call("sqrt", vec![*expr]),
        UnaryOperator::PGCubeRoot => call("cbrt", vec![*expr]),
        UnaryOperator::BitwiseNot => call("prefix ~", vec![*expr]),
        UnaryOperator::Minus => match negated_constant(&expr) {
            Some(constant) => constant,
            None => Expr::UnaryOp { op, expr },
        },
        op => Expr::UnaryOp { op, expr },
    }
}

/// `-(5)` and `-(-5)` are constants, and so of the smallest type that holds them.
fn negated_constant(operand: &Expr) -> Option<Expr> {
    match operand {
        Expr::Nested(inner) => match inner.as_ref() {
            Expr::Value(ValueWithSpan { value: Value::Number(..), .. }) => {
                Some(Expr::UnaryOp { op: UnaryOperator::Minus, expr: inner.clone() })
            }
            inner => negated_constant(inner),
        },
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => match expr.as_ref() {
            number @ Expr::Value(ValueWithSpan { value: Value::Number(..), .. }) => Some(number.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// `left op ANY (array)`.
fn quantified(left: Expr, op: &BinaryOperator, right: Expr, all: bool) -> Expr {
    let right = match right {
        Expr::Nested(inner) => *inner,
        other => other,
    };
    // A list of values is what key ranges are made of.
    let negated = match op {
        BinaryOperator::Eq if !all => Some(false),
        BinaryOperator::NotEq if all => Some(true),
        _ => None,
    };
    let right = match negated.map(|negated| (negated, items_of(&right))) {
        Some((negated, Some(items))) => return list_of_array(left, items, negated),
        _ => right,
    };
    match (op, right) {
        (BinaryOperator::Eq, Expr::Subquery(subquery)) if !all => {
            rewrite(Expr::InSubquery { expr: Box::new(left), subquery, negated: false })
        }
        (BinaryOperator::NotEq, Expr::Subquery(subquery)) if all => {
            rewrite(Expr::InSubquery { expr: Box::new(left), subquery, negated: true })
        }
        (op, Expr::Subquery(query)) => {
            let name = format!("{op} {}", if all { "all" } else { "any" });
            match array_of(query.clone()) {
                Some(array) => call(&name, vec![left, array]),
                None => call(&name, vec![left, Expr::Subquery(query)]),
            }
        }
        (op, right) => call(&format!("{op} {}", if all { "all" } else { "any" }), vec![left, right]),
    }
}

/// The items of an array that is written out, `ARRAY[…]` or `ARRAY[…]::t[]`: then each is a `t`.
fn items_of(array: &Expr) -> Option<Vec<Expr>> {
    match array {
        Expr::Nested(inner) => items_of(inner),
        Expr::Array(array) if !array.elem.is_empty() => Some(array.elem.clone()),
        Expr::Cast { expr, data_type: DataType::Array(ArrayElemTypeDef::SquareBracket(item, None)), .. } => {
            let is_flat = |items: &Vec<Expr>| !items.iter().any(|item| matches!(item, Expr::Array(_)));
            let items = items_of(expr).filter(is_flat)?;
            Some(items.into_iter().map(|value| cast(value, item.as_ref().clone())).collect())
        }
        _ => None,
    }
}

/// The items of an array as a list, none of which becomes a real because the value is one.
fn list_of_array(left: Expr, items: Vec<Expr>, negated: bool) -> Expr {
    Expr::InList { expr: Box::new(call(WITH_EACH, vec![left])), list: items, negated }
}

/// Subscripts and slices; fields of rows stay.
fn access(root: Expr, chain: Vec<AccessExpr>) -> Expr {
    let (mut value, rest) = whole_name(root, chain);
    let mut places = Vec::new();
    let mut slices = 0_usize;
    for access in rest {
        match access {
            AccessExpr::Subscript(Subscript::Index { index }) => places.push(index),
            AccessExpr::Subscript(Subscript::Slice { lower_bound, upper_bound, .. }) => {
                let bound = |bound: Option<Expr>| bound.unwrap_or_else(|| Expr::value(Value::Null));
                let (lower, upper) = (bound(lower_bound), bound(upper_bound));
                value = match slices {
                    0 => call("array slice", vec![value, lower, upper]),
                    before => {
                        let dimension = Expr::value(Value::Number(before.to_string(), false));
                        call("array slice inside", vec![value, lower, upper, dimension])
                    }
                };
                slices += 1;
            }
            AccessExpr::Dot(field) => value = field_of(subscripted(value, std::mem::take(&mut places)), field),
        }
    }
    subscripted(value, places)
}

/// Without parentheses `t.a` is a name, whatever comes behind it.
fn whole_name(root: Expr, chain: Vec<AccessExpr>) -> (Expr, Vec<AccessExpr>) {
    let mut parts = match &root {
        Expr::Identifier(name) => vec![name.clone()],
        Expr::CompoundIdentifier(parts) => parts.clone(),
        _ => return (root, chain),
    };
    let own = parts.len();
    let named = chain.iter().map_while(|access| match access {
        AccessExpr::Dot(Expr::Identifier(name)) => Some(name.clone()),
        _ => None,
    });
    parts.extend(named);
    let rest = chain.into_iter().skip(parts.len() - own).collect();
    if parts.len() == own { (root, rest) } else { (Expr::CompoundIdentifier(parts), rest) }
}

fn subscripted(array: Expr, places: Vec<Expr>) -> Expr {
    if places.is_empty() { array } else { call("array subscript", std::iter::once(array).chain(places).collect()) }
}

/// The planner wants the field's name quoted.
fn field_of(record: Expr, field: Expr) -> Expr {
    let name = match &field {
        Expr::Identifier(name) if name.quote_style.is_none() => quoted(&types::ident::fold(&name.value)),
        Expr::Identifier(name) => quoted(&name.value),
        _ => field,
    };
    Expr::CompoundFieldAccess { root: Box::new(record), access_chain: vec![AccessExpr::Dot(name)] }
}

/// `(a, b) OVERLAPS (c, d)`.
fn overlaps(left: Expr, right: Expr) -> Expr {
    match (row_parts(&left), row_parts(&right)) {
        (Some(first), Some(second)) if first.len() == 2 && second.len() == 2 => {
            call("overlaps", first.into_iter().chain(second).collect())
        }
        _ => Expr::BinaryOp { left: Box::new(left), op: BinaryOperator::Overlaps, right: Box::new(right) },
    }
}
