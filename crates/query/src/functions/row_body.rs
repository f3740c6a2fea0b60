//! Bodies of functions for row programs, which run without DataFusion.
//!
//! A function is offered only if it has the same result in a row program and in a plan: it does not depend on the
//! session, and a [`Datum`] holds the full value of its argument and result types (not so for `char(n)` and arrays).

use super::function_named;
use crate::error::QueryError;
use crate::functions::allowance::Allowance;
use crate::functions::sql::kind;
use crate::lower::{LOWERED_OTHERWISE, depends_on_zone, operator_name, parameter_type, planned_name, prefix_function};
use crate::plan::Planner;
use builtins::{EvalError, FuncId, Function, Kind, Ty, Volatility};
use std::borrow::Cow;
use std::sync::Arc;
use types::{DataType, Datum};

/// Computes one value.
pub type RowBody = Box<dyn Fn(&[Datum]) -> Result<Datum, EvalError> + Send + Sync>;

impl Planner {
    /// Returns the body of a function for these argument types; `None` if the function runs in plans only.
    pub fn row_body(&self, func: FuncId, args: &[Ty], returns: Ty) -> Option<RowBody> {
        let function = builtins::function(func)?;
        if !depends_on_arguments_only(function, args) || !args.iter().chain([&returns]).all(holds_all) {
            return None;
        }
        let planned = planned_function(func, function.name, args.len())?;
        let types = args.iter().enumerate().map(|(at, ty)| parameter_type(function, at, *ty));
        let types: Vec<DataType> = types.collect();
        let is_moment = |ty: &Ty| matches!(ty.data_type(), Some(DataType::TimestampTz(_)));
        let of_moments = types.contains(&DataType::TimestampTz(None)) || is_moment(&returns);
        if of_moments && depends_on_zone(&planned, &types) {
            return None;
        }
        let form = function_named(&planned)?.form(&types)?;
        if kind(&form.returns) != kind(&returns.runtime_type()?) {
            return None;
        }
        let allowance = Allowance::of(self.options());
        let name = function.name;
        Some(Box::new(move |args| {
            if form.strict && args.iter().any(Datum::is_null) {
                return Ok(Datum::Null);
            }
            allowance.during(1, || (form.body)(args)).map_err(|error| outside(error, name))
        }))
    }
}

/// Returns whether a call of a scalar function depends on its arguments alone.
fn depends_on_arguments_only(function: &Function, args: &[Ty]) -> bool {
    if function.kind != Kind::Scalar || function.returns_set || LOWERED_OTHERWISE.contains(&function.name) {
        return false;
    }
    match function.volatility {
        Volatility::Immutable => true,
        // Settings of the session affect how values of some types are printed.
        Volatility::Stable => args.iter().all(|ty| ty.data_type().is_some_and(|ty| prints_alike(&ty))),
        Volatility::Volatile => false,
    }
}

/// The name by which lowering finds the function (`lower/scalar/call.rs`).
fn planned_function(func: FuncId, name: &'static str, args: usize) -> Option<Cow<'static, str>> {
    Some(match operator_name(func, args) {
        Some(sign) if args > 1 => format!("operator {sign}").into(),
        Some(sign) => prefix_function(sign)?.into(),
        None => planned_name(name).into(),
    })
}

/// Returns whether all sessions print values of `ty` alike.
fn prints_alike(ty: &DataType) -> bool {
    match ty {
        DataType::TimestampTz(_) | DataType::Interval | DataType::LimitedInterval(_) => false,
        DataType::Boolean | DataType::Uuid => true,
        ty => ty.is_number() || ty.is_text() || ty.is_temporal(),
    }
}

/// Returns whether a [`Datum`] holds the full value of the type, and plans order values alike. DataFusion sorts NULL
/// elements of an array before all others.
fn holds_all(ty: &Ty) -> bool {
    let only_partly =
        |ty| matches!(ty, DataType::Char(_) | DataType::Json | DataType::Array(_) | DataType::LimitedArray(_));
    ty.data_type().is_some_and(|ty| !only_partly(ty))
}

fn outside(error: QueryError, name: &str) -> EvalError {
    match error {
        QueryError::Stopped => EvalError::Stopped,
        QueryError::DivisionByZero => EvalError::DivisionByZero,
        QueryError::OutOfRange { what } => EvalError::OutOfRange { what },
        QueryError::Type(error) => EvalError::Type(error),
        QueryError::Eval(error) => error,
        QueryError::Internal { detail } => EvalError::Internal { detail: format!("{name}(): {detail}") },
        other => EvalError::Outside(Arc::new(other)),
    }
}
