//! One pass over a fresh plan: types of constants, comparisons that are no operators, functions of the session.

use super::absent::{settle_not_in, settle_scalar_subquery};
use super::adapt::{self, Side};
use super::aggregates::{settle_aggregate, settle_function};
use super::casts::settle_cast;
use super::common_type::{as_named, settle_branches, settle_common, unify};
use super::equality::{equal, settle_distinct, settle_keys, settle_within};
use super::interval_keys::{by_length, keyed_by_length};
use super::lists::{in_list, settle_between, settle_list};
use super::named_columns::{keep_types, needs_name};
use super::patterns::{settle_like, similar_to};
use super::recursive::settle_recursive;
use super::shared_aggregates::share;
use super::signless_zero::{compared, distinct_rows, signless};
use super::simple_case::compare_operand;
use super::united_columns::unite_values;
use super::window_calls::settle_neighbour;
use super::window_frames::{count_peers, settle_range};
use crate::Refusal;
use crate::convert::arrow_type;
use crate::error::{QueryError, QueryResult};
use crate::functions::{
    self, Argument, SqlFunction, as_summed, postgres_cast, prints_as_vector, resolve, session_constant,
};
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::functions::core::nullif;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    BinaryExpr, Cast, Expr, ExprSchemable, LogicalPlan, Operator, Values, WindowFunctionDefinition, lit, when,
};
use datafusion::sql::utils::UNNEST_PLACEHOLDER;
use std::ops::Range;
use std::sync::Arc;
use types::{DataType, ElementType};

/// Gives the plan PostgreSQL's types. See the module's head.
///
/// # Errors
/// [`QueryError::NoSuchOperator`] and [`QueryError::Type`] as comparisons ask for.
pub(crate) fn settle(plan: LogicalPlan) -> QueryResult<LogicalPlan> {
    let settled = plan.transform_down_up_with_subqueries(
        |node| match node {
            LogicalPlan::RecursiveQuery(query) => {
                let settled = LogicalPlan::RecursiveQuery(settle_recursive(query)?);
                Ok(Transformed::new(settled, true, TreeNodeRecursion::Jump))
            }
            node => Ok(Transformed::no(node)),
        },
        |node| match node {
            LogicalPlan::RecursiveQuery(_) => Ok(Transformed::no(node)),
            node => settle_node(node),
        },
    );
    Ok(settled.data()?)
}

fn settle_node(node: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    check_limit(&node)?;
    if let LogicalPlan::Distinct(distinct) = &node {
        for field in distinct.input().schema().fields() {
            refuse_json(&Side::of_field(field), "equality")?;
        }
    }
    let node = match node {
        LogicalPlan::Values(values) => narrow_values(unite_values(values)?)?,
        node => node,
    };
    // LIMIT wants bigint constants, and the columns of VALUES are typed as a whole.
    let narrow = !matches!(node, LogicalPlan::Limit(_) | LogicalPlan::Values(_));
    let schema = merge_schema(&node.inputs());
    let names = NamePreserver::new(&node);
    let sorted = matches!(node, LogicalPlan::Sort(_));
    let grouped = matches!(node, LogicalPlan::Aggregate(_));
    let settled = node.map_expressions(|expr| {
        let name = names.save(&expr);
        let settled = settle_tree(expr, &schema, narrow)?;
        let settled = settled.update_data(|expr| elements(expr, &schema));
        let settled = if grouped { settled.update_data(|expr| signless_group(expr, &schema)) } else { settled };
        let settled = settled.update_data(|expr| name.restore(expr));
        if sorted || grouped && !matches!(settled.data, Expr::AggregateFunction(_)) {
            refuse_json(&Side::of(&settled.data, &schema), if sorted { "ordering" } else { "equality" })?;
        }
        if sorted && Side::of(&settled.data, &schema) == Side::Known(DataType::Interval) {
            return Ok(Transformed::yes(functions::interval_span(settled.data)));
        }
        let settled = if sorted { settled.update_data(|expr| compared(expr, &schema)) } else { settled };
        Ok(settled)
    })?;
    // Types of the inputs may have changed too.
    let settled = settled.update_data(|node| whole_counts(node, &schema));
    settled.map_data(|node| {
        let node = share(distinct_rows(keep_types(node.recompute_schema()?)?)?)?;
        match keyed_by_length(node)? {
            LogicalPlan::Join(join) => Ok(LogicalPlan::Join(settle_keys(join)?)),
            node => Ok(node),
        }
    })
}

/// JSON has neither order nor equality.
fn refuse_json(side: &Side, operator: &str) -> QueryResult<()> {
    if *side != Side::Known(DataType::Json) {
        return Ok(());
    }
    Err(Refusal::Incomparable.because(format!("could not identify an {operator} operator for type json")))
}

/// What the planner is to take apart into rows: of an array of more dimensions its innermost elements.
fn elements(expr: Expr, schema: &DFSchema) -> Expr {
    match expr {
        Expr::Alias(mut alias)
            if alias.name.starts_with(UNNEST_PLACEHOLDER)
                && alias.expr.get_type(schema).is_ok_and(|ty| functions::is_nested(&ty)) =>
        {
            alias.expr = Box::new(functions::flat(*alias.expr));
            Expr::Alias(alias)
        }
        other => other,
    }
}

/// What an aggregate groups by; its functions are seen to where they are settled.
fn signless_group(expr: Expr, schema: &DFSchema) -> Expr {
    if matches!(expr, Expr::AggregateFunction(_)) { expr } else { signless(expr, schema) }
}

/// `LIMIT 1.5` is of two rows.
fn whole_counts(mut node: LogicalPlan, schema: &DFSchema) -> LogicalPlan {
    if let LogicalPlan::Limit(limit) = &mut node {
        for count in [&mut limit.skip, &mut limit.fetch].into_iter().flatten() {
            if let Ok((_, field)) = count.to_field(schema)
                && (field.data_type().is_decimal() || field.data_type().is_floating())
                && let Some(whole) = postgres_cast(count, &field, &DataType::BigInt)
            {
                **count = whole;
            }
        }
    }
    node
}

/// Counts of rows are not negative.
///
/// # Errors
/// 2201W and 2201X.
pub(crate) fn check_limit(node: &LogicalPlan) -> QueryResult<()> {
    let LogicalPlan::Limit(limit) = node else { return Ok(()) };
    let negative = |bound: &Option<Box<Expr>>| {
        bound.as_deref().is_some_and(|bound| match bound {
            Expr::Literal(ScalarValue::Int64(Some(count)), _) => *count < 0,
            Expr::Negative(inner) => matches!(inner.as_ref(), Expr::Literal(ScalarValue::Int64(Some(1..)), _)),
            _ => false,
        })
    };
    if negative(&limit.fetch) {
        return Err(Refusal::Limit.because("LIMIT must not be negative"));
    }
    if negative(&limit.skip) {
        return Err(Refusal::Offset.because("OFFSET must not be negative"));
    }
    Ok(())
}

/// A column of VALUES that has nothing but small integers is one of integers.
fn narrow_values(mut values: Values) -> Result<LogicalPlan> {
    let small = |expr: &Expr| match expr {
        Expr::Literal(ScalarValue::Int64(Some(value)), None) => i32::try_from(*value).is_ok(),
        Expr::Literal(value, None) => value.is_null(),
        _ => false,
    };
    let is_wide = |at: usize| values.schema.field(at).data_type() == &ArrowType::Int64;
    let columns: Vec<usize> = (0..values.schema.fields().len())
        .filter(|at| is_wide(*at) && values.values.iter().all(|row| row.get(*at).is_some_and(small)))
        .collect();
    if columns.is_empty() {
        return Ok(LogicalPlan::Values(values));
    }
    for row in &mut values.values {
        for at in &columns {
            if let Some(expr) = row.get_mut(*at) {
                let value = match expr {
                    Expr::Literal(ScalarValue::Int64(Some(value)), _) => i32::try_from(*value).ok(),
                    _ => None,
                };
                *expr = Expr::Literal(ScalarValue::Int32(value), None);
            }
        }
    }
    let fields = values.schema.iter().enumerate().map(|(at, (qualifier, field))| {
        let ty = if columns.contains(&at) { ArrowType::Int32 } else { field.data_type().clone() };
        (qualifier.cloned(), Arc::new(field.as_ref().clone().with_data_type(ty)))
    });
    let fields = fields.collect::<Vec<_>>();
    values.schema = Arc::new(DFSchema::new_with_metadata(fields, values.schema.metadata().clone())?);
    Ok(LogicalPlan::Values(values))
}

fn settle_tree(expr: Expr, schema: &DFSchema, narrow: bool) -> Result<Transformed<Expr>> {
    expr.transform_down_up(|expr| settle_window(expr, schema), |expr| settle_expr(expr, schema, narrow))
}

/// Offsets and buckets are read by a window function as bigint. Sums are as wide as those of groups.
fn settle_window(expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    if !matches!(expr, Expr::WindowFunction(_)) {
        return Ok(Transformed::no(expr));
    }
    // Its arguments come first among its children.
    let counts = counting_arguments(&expr);
    let mut at = 0;
    let settled = expr.map_children(|child| {
        at += 1;
        settle_tree(child, schema, !counts.contains(&(at - 1)))
    })?;
    let mut window = settled.data;
    if let Expr::WindowFunction(call) = &mut window {
        settle_range(&mut call.params, schema)?;
        if matches!(call.fun.name(), "lag" | "lead" | "nth_value") {
            settle_neighbour(call.fun.name(), &mut call.params.args, schema)?;
        }
        let by = call.params.partition_by.iter_mut();
        for expr in by.chain(call.params.order_by.iter_mut().map(|by| &mut by.expr)) {
            *expr = by_length(compared(std::mem::take(expr), schema), schema);
        }
        count_peers(&mut call.params, schema);
        if let WindowFunctionDefinition::AggregateUDF(function) = &mut call.fun {
            settle_function(function, &mut call.params.args, call.params.distinct, schema)?;
        }
    }
    Ok(Transformed::new(window, true, TreeNodeRecursion::Jump))
}

/// The places of those arguments of a window function that count rows.
fn counting_arguments(window: &Expr) -> Range<usize> {
    match window {
        Expr::WindowFunction(call) => match (&call.fun, call.fun.name()) {
            (WindowFunctionDefinition::AggregateUDF(_), _) => 0..0,
            (_, "ntile") => 0..call.params.args.len().min(1),
            _ => 1..call.params.args.len().min(2),
        },
        _ => 0..0,
    }
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
        Expr::ScalarFunction(call) if call.func.name() == "nullif" => settle_nullif(call, schema),
        Expr::ScalarFunction(call) if functions::planners_own(call.func.name()).is_some() => {
            match settle_common(&call, schema)? {
                Some(settled) => Ok(Transformed::yes(settled)),
                None => Ok(Transformed::no(Expr::ScalarFunction(call))),
            }
        }
        Expr::ScalarFunction(call) if call.func.name() == "nullif" => settle_nullif(call, schema),
        Expr::ScalarFunction(call) if call.func.inner().downcast_ref::<SqlFunction>().is_some() => {
            Ok(Transformed::yes(settle_call(call, schema)?))
        }
        Expr::ScalarFunction(call) if call.func.name() == "make_array" => settle_array(call, schema),
        Expr::ScalarFunction(call) if let Some(value) = as_summed(&call, schema) => Ok(Transformed::yes(value)),
        Expr::ScalarFunction(call) => match (name_of_type(&call, schema), session_constant(&call)?) {
            (Some(constant), _) | (None, Some(constant)) => Ok(Transformed::yes(constant)),
            (None, None) => Ok(Transformed::no(Expr::ScalarFunction(call))),
        },
        Expr::Cast(cast) => settle_cast(cast, schema),
        Expr::ScalarSubquery(subquery) => settle_scalar_subquery(subquery),
        Expr::Case(case) if case.expr.is_none() => {
            case.when_then_expr.iter().try_for_each(|(when, _)| must_be_boolean(when, "CASE/WHEN", schema))?;
            Ok(settle_branches(case, schema)?)
        }
        Expr::Case(case) => Ok(settle_branches(compare_operand(case, schema)?, schema)?),
        Expr::BinaryExpr(binary) if matches!(binary.op, Operator::IsDistinctFrom | Operator::IsNotDistinctFrom) => {
            Ok(Transformed::yes(settle_distinct(binary, schema)?))
        }
        Expr::BinaryExpr(binary) if is_comparison(binary.op) => Ok(settle_comparison(binary, schema)?),
        Expr::InSubquery(within) => settle_not_in(settle_within(within, schema)?, schema),
        Expr::Not(inner) => {
            must_be_boolean(&inner, "NOT", schema)?;
            Ok(Transformed::no(Expr::Not(inner)))
        }
        Expr::SimilarTo(like) => Ok(Transformed::yes(similar_to(like, schema)?)),
        Expr::InList(list) => Ok(Transformed::yes(settle_list(list, schema)?)),
        Expr::Between(between) => Ok(Transformed::yes(settle_between(between, schema)?)),
        Expr::Like(like) => Ok(Transformed::yes(settle_like(like, schema)?)),
        Expr::AggregateFunction(call) => Ok(settle_aggregate(call, schema)?),
        other => Ok(Transformed::no(other)),
    }
}

/// `pg_typeof` of a type that its Arrow type does not tell: operators drop the name on its way.
fn name_of_type(call: &ScalarFunction, schema: &DFSchema) -> Option<Expr> {
    let [value] = call.args.as_slice() else { return None };
    match Side::of(value, schema) {
        Side::Known(ty) if call.func.name() == "pg_typeof" && needs_name(&ty) => Some(lit(ty.base_name())),
        _ => None,
    }
}

/// Anything but a boolean is refused, `place` it stands in.
///
/// # Errors
/// 42804.
pub(super) fn must_be_boolean(expr: &Expr, place: &str, schema: &DFSchema) -> QueryResult<()> {
    match Side::of(expr, schema) {
        Side::Known(ty) if ty != DataType::Boolean => {
            let message = format!("argument of {place} must be type boolean, not type {}", ty.base_name());
            Err(QueryError::TypeMismatch { message })
        }
        _ => Ok(()),
    }
}

/// Functions that take any type as it is shown, and so a `char(n)` with its blanks.
const SHOWN: [&str; 4] = ["concat", "concat_ws", "format", "octet_length"];

/// Gives a function of ours arguments of the types that its overload asks for.
fn settle_call(mut call: ScalarFunction, schema: &DFSchema) -> QueryResult<Expr> {
    let vector = from_zero(&mut call, schema)?;
    let func = Arc::clone(&call.func);
    let Some(function) = func.inner().downcast_ref::<SqlFunction>() else { return Ok(Expr::ScalarFunction(call)) };
    if function.definition.name == "array_to_string" {
        pad_elements(&mut call.args, schema);
    }
    let sides: Vec<Side> = call.args.iter().map(|arg| Side::of(arg, schema)).collect();
    refuse_untyped(function.definition.name, &sides)?;
    let arguments: Vec<Argument> = sides.iter().map(Side::argument).collect();
    let chosen = resolve(&function.definition.forms, &arguments).ok_or_else(|| {
        let names: Vec<String> = sides.iter().map(Side::name).collect();
        no_such_function(function.definition.name, &names)
    })?;
    for ((arg, side), ty) in call.args.iter_mut().zip(&sides).zip(&chosen.types) {
        match side {
            Side::Known(DataType::Char(_)) if SHOWN.contains(&function.definition.name) => adapt::pad(arg, side),
            Side::Known(own) => widen(arg, own, ty, schema)?,
            side => adapt::give_type(arg, side, ty)?,
        }
    }
    let call = in_list(&call)?.unwrap_or(Expr::ScalarFunction(call));
    Ok(if vector == Vector::Bound { call - lit(1_i32) } else { call })
}

/// Functions of moments and of other things, asked of a constant that may be any of them.
fn refuse_untyped(name: &str, sides: &[Side]) -> QueryResult<()> {
    let subject = match name {
        "extract" | "date_part" => sides.get(1),
        "to_char" => sides.first(),
        _ => None,
    };
    if !matches!(subject, Some(Side::Quoted(_))) {
        return Ok(());
    }
    let schema = if name == "extract" { "pg_catalog." } else { "" };
    let types: Vec<String> = sides.iter().map(Side::name).collect();
    let message = format!("function {schema}{name}({}) is not unique", types.join(", "));
    Err(Refusal::AmbiguousOperator.because(message))
}

/// Elements of an array that is only made to be shown.
fn pad_elements(args: &mut [Expr], schema: &DFSchema) {
    if let Some(Expr::ScalarFunction(array)) = args.first_mut()
        && array.func.name() == "make_array"
    {
        for element in &mut array.args {
            let side = Side::of(element, schema);
            adapt::pad(element, &side);
        }
    }
}

/// What a call asks of a vector, whose subscripts begin with 0.
#[derive(PartialEq, Eq)]
enum Vector {
    /// Its first or last subscript.
    Bound,
    Other,
}

/// Vectors of catalogs are kept as arrays, whose subscripts begin with 1.
fn from_zero(call: &mut ScalarFunction, schema: &DFSchema) -> Result<Vector> {
    let Some((array, places)) = call.args.split_first_mut() else { return Ok(Vector::Other) };
    if !matches!(array, Expr::Column(_) | Expr::OuterReferenceColumn(..))
        || !prints_as_vector(&array.to_field(schema)?.1)
    {
        return Ok(Vector::Other);
    }
    match call.func.name() {
        "array_lower" | "array_upper" => return Ok(Vector::Bound),
        "array subscript" | "array slice" => {
            for place in places {
                *place = std::mem::take(place) + lit(1_i32);
            }
        }
        _ => {}
    }
    Ok(Vector::Other)
}

/// Operators are functions whose name no query can write.
fn no_such_function(name: &str, types: &[String]) -> QueryError {
    match (name.split_once(' '), types) {
        (Some(("operator", operator)), [left, right]) => {
            QueryError::NoSuchOperator { left: left.clone(), operator: operator.to_owned(), right: right.clone() }
        }
        (Some(("prefix", operator)), [right]) => {
            QueryError::NoSuchPrefixOperator { operator: operator.to_owned(), right: right.clone() }
        }
        _ => QueryError::NoSuchFunction { signature: format!("{name}({})", types.join(", ")) },
    }
}

/// An implicit cast. Decimals are taken as they come.
fn widen(arg: &mut Expr, own: &DataType, ty: &DataType, schema: &DFSchema) -> QueryResult<()> {
    let both_numeric = matches!((own, ty), (DataType::Numeric(_), DataType::Numeric(None)));
    let arrays = matches!((own, ty), (DataType::Array(own), DataType::Array(ty)) if own == ty);
    if both_numeric || arrays || arrow_type(own) == arrow_type(ty) {
        return Ok(());
    }
    let (_, from) = arg.to_field(schema)?;
    let taken = std::mem::take(arg);
    *arg = match postgres_cast(&taken, &from, ty) {
        Some(cast) => cast,
        None => Expr::Cast(Cast::new(Box::new(taken), arrow_type(ty))),
    };
    Ok(())
}

fn is_comparison(op: Operator) -> bool {
    op.supports_propagation()
}

/// Intervals are compared by their length: a day is 24 hours, a month 30 days.
fn settle_comparison(mut binary: BinaryExpr, schema: &DFSchema) -> QueryResult<Transformed<Expr>> {
    // Columns of VALUES and UNION have got their types since.
    let float = |side: &Expr| matches!(Side::of(side, schema), Side::Known(DataType::Real | DataType::Double));
    if float(&binary.left) != float(&binary.right) {
        adapt::compare(&mut binary.left, &binary.op.to_string(), &mut binary.right, schema)?;
    }
    let array = |side: &Expr| matches!(Side::of(side, schema), Side::Known(DataType::Array(_)));
    let order = matches!(binary.op, Operator::Lt | Operator::LtEq | Operator::Gt | Operator::GtEq);
    if order
        && array(&binary.left)
        && array(&binary.right)
        && let Some(definition) = functions::operator(&binary.op.to_string())
        && let Expr::ScalarFunction(call) =
            functions::call_of(definition, vec![*binary.left.clone(), *binary.right.clone()])
    {
        return Ok(Transformed::yes(settle_call(call, schema)?));
    }
    let interval = |side: &Expr| Side::of(side, schema) == Side::Known(DataType::Interval);
    let both = interval(&binary.left) && interval(&binary.right);
    if both {
        for side in [&mut binary.left, &mut binary.right] {
            **side = functions::interval_span(std::mem::take(side.as_mut()));
        }
    }
    Ok(Transformed::new_transformed(Expr::BinaryExpr(binary), both))
}

/// `nullif(a, b)` compares as `a = b` does, and gives `a` as it is, or as the double that it is compared as.
fn settle_nullif(call: ScalarFunction, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let Ok([value, mut other]) = <[Expr; 2]>::try_from(call.args) else {
        return Err(no_such_function("nullif", &[]).into());
    };
    let ty = match Side::of(&value, schema) {
        Side::Known(ty) => Some(ty),
        _ => None,
    };
    let mut compared = value.clone();
    adapt::compare(&mut compared, "=", &mut other, schema)?;
    let other_ty = Side::of(&other, schema);
    let stays =
        matches!((&ty, &other_ty), (Some(ty), Side::Known(other)) if ty != other && keeps_type_beside(ty, other));
    // The planner's own function has no form of these.
    let strange = matches!(&ty, Some(DataType::Boolean | DataType::Uuid | DataType::Interval));
    if compared == value && !stays && !strange {
        return Ok(Transformed::yes(as_named(nullif().call(vec![value, other]), ty)));
    }
    // A real stays one, which is compared with doubles; another number is a double, though a constant is compared as a real.
    let is_float = |expr: &Expr| expr.get_type(schema).is_ok_and(|ty| ty.is_floating());
    let value = match (is_float(&compared) && !is_float(&value), &ty) {
        (true, Some(_)) => Expr::Cast(Cast::new(Box::new(value), ArrowType::Float64)),
        (true, None) => compared.clone(),
        (false, _) => value,
    };
    let equal = equal(compared, other, schema)?;
    Ok(Transformed::yes(as_named(when(equal, lit(ScalarValue::Null)).otherwise(value)?, ty)))
}

/// Types that `=` compares without making one of them the other.
fn keeps_type_beside(ty: &DataType, other: &DataType) -> bool {
    let moment = |ty: &DataType| matches!(ty, DataType::Date | DataType::Timestamp | DataType::TimestampTz);
    ty.is_integer() && other.is_integer() || moment(ty) && moment(other)
}

/// ARRAY[…]: its elements are of one type, and arrays among them of one size.
fn settle_array(mut call: ScalarFunction, schema: &DFSchema) -> Result<Transformed<Expr>> {
    // Of nothing but empty arrays PostgreSQL makes one.
    if !call.args.is_empty() && call.args.iter().all(is_empty_array) {
        return Ok(Transformed::yes(call.args.swap_remove(0)));
    }
    let ty = unify(&mut call.args.iter_mut().collect::<Vec<_>>(), "ARRAY", schema)?;
    let array = Expr::ScalarFunction(call);
    if array.get_type(schema).is_ok_and(|ty| functions::is_nested(&ty)) {
        return Ok(Transformed::yes(functions::even(array)));
    }
    let ty = ty.and_then(|ty| ElementType::of(&ty)).map(DataType::Array);
    Ok(Transformed::yes(as_named(array, ty)))
}

fn is_empty_array(expr: &Expr) -> bool {
    matches!(expr, Expr::ScalarFunction(call) if call.func.name() == "make_array" && call.args.is_empty())
}
