//! Parameters and quoted constants in places that say their type: `WHERE $1` is a boolean, `setval('s', $1)` takes a bigint,
//! `ARRAY[$1]::int[]` has items of that type.
//!
//! The planner asks only operators and casts what they are, so here they get the cast that the place implies.

use super::joins::constraint_mut;
use super::rewrite_expr::cast;
use sql::ast::{
    ArrayElemTypeDef, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Select, Statement,
    TableFactor, TableWithJoins, UnaryOperator, Value, VisitMut, VisitorMut,
};
use std::ops::ControlFlow;

/// Casts such parameters of a statement.
pub(super) fn give_types(statement: &mut Statement) {
    let _ = statement.visit(&mut Typer);
}

struct Typer;

impl VisitorMut for Typer {
    type Break = ();

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        select.selection.iter_mut().chain(&mut select.having).for_each(condition);
        select.from.iter_mut().for_each(conditions_of);
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { name, args: Some(args), .. } = factor {
            arguments(&name.to_string(), &mut args.args);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        match expr {
            Expr::Case { operand: None, conditions, .. } => {
                conditions.iter_mut().for_each(|branch| condition(&mut branch.condition));
            }
            Expr::UnaryOp { op: UnaryOperator::Not, expr }
            | Expr::IsTrue(expr)
            | Expr::IsNotTrue(expr)
            | Expr::IsFalse(expr)
            | Expr::IsNotFalse(expr)
            | Expr::IsUnknown(expr)
            | Expr::IsNotUnknown(expr) => condition(expr),
            Expr::Function(function) => of_call(function),
            Expr::Cast { expr, data_type: DataType::Array(ArrayElemTypeDef::SquareBracket(item, _)), .. } => {
                if let Expr::Array(array) = expr.as_mut()
                    && !matches!(item.as_ref(), DataType::Array(_))
                {
                    array.elem.iter_mut().filter(|elem| is_parameter(elem)).for_each(|elem| typed(elem, item));
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

fn conditions_of(table: &mut TableWithJoins) {
    for join in &mut table.joins {
        if let Some(sql::ast::JoinConstraint::On(on)) = constraint_mut(&mut join.join_operator) {
            condition(on);
        }
    }
}

fn of_call(function: &mut Function) {
    if let Some(filter) = &mut function.filter {
        condition(filter);
    }
    if let FunctionArguments::List(list) = &mut function.args {
        arguments(&function.name.to_string(), &mut list.args);
    }
}

/// Arguments of functions that the planner knows, or that look like each other whatever their types are.
fn arguments(function: &str, args: &mut [FunctionArg]) {
    let types: &[DataType] = match function.to_lowercase().as_str() {
        "bool_and" | "bool_or" | "every" => &[DataType::Boolean],
        "set_config" => &[DataType::Text, DataType::Text, DataType::Boolean],
        "setval" => &[DataType::Text, DataType::BigInt(None), DataType::Boolean],
        "generate_series" if args.iter().any(is_integer) => &[const { DataType::Integer(None) }; 3],
        _ => return,
    };
    for (arg, ty) in args.iter_mut().zip(types) {
        if let FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) = arg {
            typed(expr, ty);
        }
    }
}

fn is_integer(arg: &FunctionArg) -> bool {
    let FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Value(value))) = arg else { return false };
    matches!(&value.value, Value::Number(number, _) if number.parse::<i32>().is_ok())
}

fn condition(expr: &mut Expr) {
    typed(expr, &DataType::Boolean);
}

/// The parameter or constant as one of this type; anything else stays.
fn typed(expr: &mut Expr, ty: &DataType) {
    match expr {
        Expr::Nested(inner) => typed(inner, ty),
        parameter if is_parameter(parameter) || is_quoted(parameter) => {
            let taken = std::mem::replace(parameter, Expr::value(Value::Null));
            *parameter = cast(taken, ty.clone());
        }
        _ => {}
    }
}

fn is_quoted(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(value) if matches!(value.value, Value::SingleQuotedString(_)))
}

pub(super) fn is_parameter(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(value) if matches!(value.value, Value::Placeholder(_)))
}
