//! Functions written value by value, for row programs: the same bodies without DataFusion.
//!
//! Only such a function is given away as means the same in both: its values look as those of a plan do, it asks for no session,
//! and its arguments and its result are of types whose values hold all of themselves (no `char(n)`, no arrays).

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
    /// The body of a function for arguments of these types; `None`: it runs in plans only.
    pub fn row_body(&self, func: FuncId, args: &[Ty], returns: Ty) -> Option<RowBody> {
        let function = builtins::function(func)?;
        if !may_run_alone(function, args) || !args.iter().chain([&returns]).all(holds_all) {
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
        if kind(&form.returns) != kind(&returns.held_type()?) {
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

/// Is a call one of a scalar function that asks the session for nothing?
fn may_run_alone(function: &Function, args: &[Ty]) -> bool {
    if function.kind != Kind::Scalar || function.returns_set || LOWERED_OTHERWISE.contains(&function.name) {
        return false;
    }
    match function.volatility {
        Volatility::Immutable => true,
        // The session has a part in how other values are printed.
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

/// Are its values printed alike in all sessions?
fn prints_alike(ty: &DataType) -> bool {
    match ty {
        DataType::TimestampTz(_) | DataType::Interval | DataType::LimitedInterval(_) => false,
        DataType::Boolean | DataType::Uuid => true,
        ty => ty.is_number() || ty.is_text() || ty.is_temporal(),
    }
}

/// Do values of the type hold all of themselves, and do plans order them alike? DataFusion has NULLs before all other elements of
/// an array.
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
