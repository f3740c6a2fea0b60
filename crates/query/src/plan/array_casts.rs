//! Casts to arrays whose items have a length, digits or a scale: `x::varchar(5)[]`.
//!
//! The type of an array says nothing of these, so its items are cut or rounded behind the cast:
//! `limit items(x::varchar[], 1043, 9)`, where the numbers are PostgreSQL's of `varchar(5)`.

use super::rewrite::call;
use super::rewrite_expr::{cast, quoted};
use sql::ast::{ArrayElemTypeDef, DataType, ExactNumberInfo, Expr, TimezoneInfo, UnaryOperator, Value};
use types::{DataType as Sql, Datum, ElementType};

/// The cast with its limits, if the type has some.
pub(super) fn limited(expr: &Expr, data_type: &DataType) -> Option<Expr> {
    let DataType::Array(_) = data_type else { return None };
    // One that is wrong is told by the cast.
    let item = sql::data_type(item_of(data_type)).ok()?;
    let plain = match item {
        Sql::Varchar(Some(_)) => DataType::Varchar(None),
        Sql::Char(_) => DataType::Text,
        Sql::Numeric(Some(_)) => DataType::Numeric(ExactNumberInfo::None),
        Sql::Time(Some(_)) => DataType::Time(None, TimezoneInfo::None),
        Sql::Timestamp(Some(_)) => DataType::Timestamp(None, TimezoneInfo::None),
        Sql::TimestampTz(Some(_)) => DataType::Timestamp(None, TimezoneInfo::WithTimeZone),
        _ => return None,
    };
    let array = DataType::Array(ArrayElemTypeDef::SquareBracket(Box::new(plain), None));
    if let Some(constant) = constant(expr, &item) {
        return Some(cast(quoted(&constant), array));
    }
    if let Expr::Array(outer) = expr
        && outer.elem.iter().any(|item| matches!(item, Expr::Array(_)))
    {
        return Some(each_item(expr.clone(), item_of(data_type)));
    }
    let oid = i32::try_from(item.oid()).ok()?;
    let items = vec![cast(expr.clone(), array.clone()), number(oid), number(item.typmod())];
    // The name of the type goes with the cast.
    Some(cast(call("limit items", items), array))
}

/// Of an array that is written out in several dimensions each item is cast.
fn each_item(expr: Expr, item: &DataType) -> Expr {
    match expr {
        Expr::Array(mut array) => {
            array.elem = array.elem.into_iter().map(|expr| each_item(expr, item)).collect();
            Expr::Array(array)
        }
        value => cast(value, item.clone()),
    }
}

/// The text of a constant array with its items as they should be; `None` where that depends on the session, or fails.
fn constant(expr: &Expr, item: &Sql) -> Option<String> {
    let Expr::Value(value) = expr else { return None };
    let Value::SingleQuotedString(input) = &value.value else { return None };
    if item.is_temporal() {
        return None;
    }
    let array = Sql::Array(ElementType::of(item)?);
    let items = limited_items(types::text::parse(&array, input.trim()).ok()?, item)?;
    let mut shown = String::new();
    types::text::print(&array, &items, &mut shown);
    Some(shown)
}

fn limited_items(value: Datum, item: &Sql) -> Option<Datum> {
    match value {
        Datum::Array(items) => {
            let items = items.into_iter().map(|value| limited_items(value, item));
            Some(Datum::Array(items.collect::<Option<_>>()?))
        }
        Datum::Null => Some(Datum::Null),
        value => types::coerce::cast(item, value).ok(),
    }
}

fn item_of(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Array(ArrayElemTypeDef::SquareBracket(inner, _)) => item_of(inner),
        other => other,
    }
}

fn number(value: i32) -> Expr {
    let digits = Expr::value(Value::Number(value.unsigned_abs().to_string(), false));
    if value < 0 { Expr::UnaryOp { op: UnaryOperator::Minus, expr: Box::new(digits) } } else { digits }
}
