//! What depends on the session's time zone and style, where these are not UTC and PostgreSQL's own.
//!
//! ```text
//!   moment::text, ::date, ::timestamp, and back      casts that know the zone
//!   float::text, interval::text, text::date          casts that know the style
//!   extract(hour from moment), to_char, age          of the local time: timezone('Europe/Berlin', moment)
//!   date_trunc('day', moment)                        date_trunc('day', moment, 'Europe/Berlin')
//!   moment + interval                                by the zone's days
//! ```
//! A pass of its own over represented plans: in UTC, which most sessions have, none of it is there. Plans are kept by zone.

use super::adapt::Side;
use super::zoned_rows::{zoned_join, zoned_union, zoned_within};
use crate::convert::{arrow_type, sql_type_of};
use crate::error::QueryError;
use crate::functions::{self, SqlFunction, Zone, cast_in_zone, cast_target};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::{Between, InList, ScalarFunction};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{BinaryExpr, Cast, Expr, LogicalPlan};
use types::{DataType, DateOrder, ElementType, IntervalStyle, Style};

/// Gives a represented plan the zone's meaning.
///
/// # Errors
/// None of a plan that was represented.
pub(crate) fn in_zone(plan: LogicalPlan, zone: &Zone) -> Result<LogicalPlan> {
    plan.transform_up_with_subqueries(|node| {
        let schema = merge_schema(&node.inputs());
        let names = NamePreserver::new(&node);
        let zoned = node.map_expressions(|expr| {
            let name = names.save(&expr);
            let zoned = expr.transform_up(|expr| zoned(expr, &Place { schema: &schema, zone }))?;
            Ok(zoned.update_data(|expr| name.restore(expr)))
        })?;
        let place = Place { schema: &schema, zone };
        let zoned = zoned.map_data(|node| match node {
            LogicalPlan::Union(union) => Ok(LogicalPlan::Union(zoned_union(union, &place)?)),
            LogicalPlan::Join(join) => Ok(LogicalPlan::Join(zoned_join(join, &place))),
            node => Ok(node),
        })?;
        zoned.map_data(LogicalPlan::recompute_schema)
    })
    .data()
}

/// Where an expression stands.
pub(super) struct Place<'a> {
    schema: &'a DFSchema,
    zone: &'a Zone,
}

impl<'a> Place<'a> {
    /// The same zone over other columns.
    pub(super) fn within(&self, schema: &'a DFSchema) -> Self {
        Self { schema, zone: self.zone }
    }

    /// Is the column at `at` one of moments?
    pub(super) fn is_moment_at(&self, at: usize) -> bool {
        self.schema.columns().into_iter().nth(at).is_some_and(|column| self.is_moment(&Expr::Column(column)))
    }

    fn ty(&self, expr: &Expr) -> Option<DataType> {
        match Side::of(expr, self.schema) {
            Side::Known(ty) => Some(ty),
            Side::Quoted(_) => Some(DataType::Text),
            _ => None,
        }
    }

    pub(super) fn is_moment(&self, expr: &Expr) -> bool {
        matches!(self.ty(expr), Some(DataType::TimestampTz(_)))
    }

    /// Does a cast depend on the zone or the style?
    fn has_a_say(&self, from: &DataType, to: &DataType) -> bool {
        let style = self.zone.style();
        let styled = from.is_text() && is_read_in(style, to) || to.is_text() && is_shown_in(style, from);
        styled || reads_clocks(from, to)
    }

    /// Is it a value whose text depends on one of them?
    fn is_shown(&self, expr: &Expr) -> bool {
        self.ty(expr).is_some_and(|ty| self.has_a_say(&ty, &DataType::Text) && !ty.is_text())
    }

    fn zone(&self) -> Expr {
        Expr::Literal(ScalarValue::Utf8(Some(self.zone.name().to_owned())), None)
    }

    /// What local clocks show at a moment, or the moment at which they show it.
    fn other_side(&self, expr: Expr) -> Result<Expr> {
        call("timezone", vec![self.zone(), expr])
    }

    pub(super) fn as_moment(&self, expr: Expr) -> Expr {
        match self.ty(&expr) {
            Some(DataType::Timestamp(_) | DataType::Date) => cast_in_zone(expr, DataType::TimestampTz(None), self.zone),
            _ => expr,
        }
    }
}

fn zoned(expr: Expr, place: &Place<'_>) -> Result<Transformed<Expr>> {
    match expr {
        Expr::Cast(cast) => Ok(zoned_cast(cast, place)),
        Expr::ScalarFunction(mut call) => match (cast_target(&call), place.ty_of_only(&call)) {
            (Some(to), Some(from)) if place.has_a_say(&from, &to) => match call.args.pop() {
                Some(value) => Ok(Transformed::yes(cast_in_zone(value, to, place.zone))),
                None => Ok(Transformed::no(Expr::ScalarFunction(call))),
            },
            (None, _) if call.func.inner().downcast_ref::<SqlFunction>().is_some() => zoned_call(call, place),
            _ => Ok(Transformed::no(Expr::ScalarFunction(call))),
        },
        Expr::BinaryExpr(BinaryExpr { left, op, right })
            if op.supports_propagation() && place.is_moment(&left) != place.is_moment(&right) =>
        {
            let (left, right) = (place.as_moment(*left), place.as_moment(*right));
            Ok(Transformed::yes(Expr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(right)))))
        }
        Expr::Between(Between { expr, negated, low, high }) if place.is_moment(&expr) => {
            let (low, high) = (place.as_moment(*low), place.as_moment(*high));
            Ok(Transformed::yes(Expr::Between(Between::new(expr, negated, Box::new(low), Box::new(high)))))
        }
        Expr::InList(InList { expr, list, negated }) if place.is_moment(&expr) => {
            let list = list.into_iter().map(|item| place.as_moment(item)).collect();
            Ok(Transformed::yes(Expr::InList(InList::new(expr, list, negated))))
        }
        Expr::InSubquery(within) => {
            zoned_within(within, place).map(|within| Transformed::yes(Expr::InSubquery(within)))
        }
        other => Ok(Transformed::no(other)),
    }
}

impl Place<'_> {
    fn ty_of_only(&self, call: &ScalarFunction) -> Option<DataType> {
        self.ty(call.args.first()?)
    }
}

/// Do texts of that type mean something else in that style?
fn is_read_in(style: Style, ty: &DataType) -> bool {
    match ty {
        DataType::Array(element) => is_read_in(style, &element.data_type()),
        DataType::Interval => style.intervals != IntervalStyle::Postgres,
        ty => ty.is_temporal() && style.dates != DateOrder::MonthDayYear,
    }
}

/// Have values of that type another text in that style?
fn is_shown_in(style: Style, ty: &DataType) -> bool {
    match ty {
        DataType::Array(element) => is_shown_in(style, &element.data_type()),
        DataType::Interval => style.intervals != IntervalStyle::Postgres,
        ty => ty.is_float() && style.float_digits <= 0,
    }
}

/// Does a cast depend on the zone?
fn reads_clocks(from: &DataType, to: &DataType) -> bool {
    use DataType as T;
    const MOMENTS: DataType = T::Array(ElementType::TimestampTz);
    match (from, to) {
        (T::TimestampTz(_), to) => to.is_text() || matches!(to, T::Date | T::Time(_) | T::Timestamp(_)),
        (from, T::TimestampTz(_)) => from.is_text() || matches!(from, T::Date | T::Timestamp(_)),
        (T::Array(_), T::Array(_)) => (*from == MOMENTS) != (*to == MOMENTS),
        (from, to) => (*from == MOMENTS && to.is_text()) || (*to == MOMENTS && from.is_text()),
    }
}

fn zoned_cast(cast: Cast, place: &Place<'_>) -> Transformed<Expr> {
    match (place.ty(&cast.expr), sql_type_of(&cast.field)) {
        (Some(from), Some(to)) if *cast.field.data_type() == arrow_type(&to) && place.has_a_say(&from, &to) => {
            Transformed::yes(cast_in_zone(*cast.expr, to, place.zone))
        }
        _ => Transformed::no(Expr::Cast(cast)),
    }
}

/// Phoenix's functions of one field.
const FIELDS: [&str; 9] = ["year", "month", "week", "dayofyear", "dayofmonth", "dayofweek", "hour", "minute", "second"];

/// Functions that show values as casts to text do.
const SHOWN: [&str; 4] = ["concat", "concat_ws", "format", "operator ||"];

fn zoned_call(call: ScalarFunction, place: &Place<'_>) -> Result<Transformed<Expr>> {
    let name = call.func.name().to_owned();
    let moments: Vec<bool> = call.args.iter().map(|arg| place.is_moment(arg)).collect();
    let replaced = match (name.as_str(), moments.as_slice()) {
        ("extract" | "date_part", [_, true]) => extract(call, place)?,
        ("date_trunc", [_, true]) => with_zone_last(call, place),
        ("to_char", [true, _]) => {
            self::call("to_char in zone", std::iter::once(place.zone()).chain(call.args).collect())?
        }
        ("age", [true, true]) => local_arguments(call, place)?,
        (name, [true]) if FIELDS.contains(&name) => local_arguments(call, place)?,
        ("operator +", [true, false]) => shifted("plus in zone", call, false, place)?,
        ("operator +", [false, true]) => shifted("plus in zone", call, true, place)?,
        ("operator -", [true, false]) => shifted("minus in zone", call, false, place)?,
        ("make_timestamptz", [_, _, _, _, _, _]) => place.other_side(self::call("make_timestamp", call.args)?)?,
        ("to_timestamp", [_, _]) => {
            let utc = Expr::Literal(ScalarValue::Utf8(Some("UTC".to_owned())), None);
            place.other_side(self::call("timezone", vec![utc, Expr::ScalarFunction(call)])?)?
        }
        ("generate_series", [true, true, _]) => {
            let local = local_arguments(call, place)?;
            cast_in_zone(local, DataType::Array(ElementType::TimestampTz), place.zone)
        }
        (name, _) if SHOWN.contains(&name) && call.args.iter().any(|arg| place.is_shown(arg)) => as_texts(call, place),
        _ => return Ok(Transformed::no(Expr::ScalarFunction(call))),
    };
    Ok(Transformed::yes(replaced))
}

fn call(name: &str, args: Vec<Expr>) -> Result<Expr> {
    match functions::function_named(name) {
        Some(definition) => Ok(functions::call_of(definition, args)),
        None => Err(QueryError::internal(format!("no function {name}")).into()),
    }
}

/// The call with local times instead of moments.
fn local_arguments(mut call: ScalarFunction, place: &Place<'_>) -> Result<Expr> {
    for arg in &mut call.args {
        if place.is_moment(arg) {
            *arg = place.other_side(std::mem::take(arg))?;
        }
    }
    Ok(Expr::ScalarFunction(call))
}

fn with_zone_last(mut call: ScalarFunction, place: &Place<'_>) -> Expr {
    call.args.push(place.zone());
    Expr::ScalarFunction(call)
}

/// Seconds since 1970 are the same everywhere, and the offset is the zone's own.
fn extract(call: ScalarFunction, place: &Place<'_>) -> Result<Expr> {
    let field = match call.args.first() {
        Some(Expr::Literal(ScalarValue::Utf8(Some(field)), _)) => field.to_ascii_lowercase(),
        _ => String::new(),
    };
    match field.as_str() {
        "epoch" => Ok(Expr::ScalarFunction(call)),
        "timezone" | "timezone_hour" | "timezone_minute" => {
            let part = Expr::Literal(ScalarValue::Utf8(Some(field)), None);
            let double = call.func.name() == "date_part";
            let offset = self::call(
                "offset in zone",
                [part, place.zone()].into_iter().chain(call.args.into_iter().skip(1)).collect(),
            )?;
            let wanted = if double { DataType::Double } else { DataType::Numeric(Some((10, 0))) };
            Ok(Expr::Cast(Cast::new(Box::new(offset), arrow_type(&wanted))))
        }
        _ => local_arguments(call, place),
    }
}

fn shifted(name: &str, mut call: ScalarFunction, flipped: bool, place: &Place<'_>) -> Result<Expr> {
    if flipped {
        call.args.reverse();
    }
    self::call(name, std::iter::once(place.zone()).chain(call.args).collect())
}

fn as_texts(mut call: ScalarFunction, place: &Place<'_>) -> Expr {
    for arg in &mut call.args {
        if place.is_shown(arg) {
            *arg = cast_in_zone(std::mem::take(arg), DataType::Text, place.zone);
        }
    }
    Expr::ScalarFunction(call)
}
