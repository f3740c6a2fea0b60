//! Functions written value by value, for row programs: the same bodies without DataFusion.
//!
//! Only such a function is given away as means the same in both: its values look as those of a plan do, it asks for no session,
//! and its arguments and its result are of types whose values hold all of themselves (no `char(n)`, no arrays, no zones).

use super::allowance::Allowance;
use super::sql::{Argument, Definition, resolve};
use super::{function_named, operator};
use crate::error::QueryError;
use crate::lower::{LOWERED_OTHERWISE, operator_name, planned_name};
use crate::plan::Planner;
use builtins::{EvalError, FuncId, Function, Kind, Ty, Volatility};
use std::sync::Arc;
use types::{DataType, Datum, coerce};

/// Computes one value.
pub type RowBody = Box<dyn Fn(&[Datum]) -> Result<Datum, EvalError> + Send + Sync>;

impl Planner {
    /// The body of a function for arguments of these types; `None`: it runs in plans only.
    pub fn row_body(&self, func: FuncId, args: &[Ty], returns: Ty) -> Option<RowBody> {
        let function = builtins::function(func)?;
        if !may_run_alone(function, args) {
            return None;
        }
        let definition = definition_of(func, function.name, args.len())?;
        let types = args.iter().map(|ty| whole_type(*ty)).collect::<Option<Vec<DataType>>>()?;
        let given: Vec<Argument> = types.iter().map(|ty| Argument::Known(*ty)).collect();
        let chosen = resolve(&definition.forms, &given)?;
        if kind(&chosen.returns) != kind(&whole_type(returns)?) {
            return None;
        }
        let wanted: Vec<Option<DataType>> = types
            .iter()
            .zip(&chosen.types)
            .map(|(given, wanted)| (kind(given) != kind(wanted)).then_some(*wanted))
            .collect();
        let allowance = Allowance::of(self.options());
        let name = function.name;
        Some(Box::new(move |args| {
            if chosen.strict && args.iter().any(Datum::is_null) {
                return Ok(Datum::Null);
            }
            let body = || match wanted.iter().all(Option::is_none) {
                true => (chosen.body)(args),
                false => (chosen.body)(&coerced(args, &wanted)?),
            };
            allowance.during(1, body).map_err(|error| outside(error, name))
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

/// As lowering finds it (`lower/call.rs`).
fn definition_of(func: FuncId, name: &'static str, args: usize) -> Option<&'static Definition> {
    match operator_name(func, args) {
        Some(sign) => operator(sign),
        None => function_named(planned_name(name)),
    }
}

/// Are its values printed alike in all sessions?
fn prints_alike(ty: &DataType) -> bool {
    ty.is_number() || ty.is_text() || *ty == DataType::Boolean
}

/// The type, if its values hold all of themselves.
fn whole_type(ty: Ty) -> Option<DataType> {
    match ty.data_type()? {
        DataType::Char(_)
        | DataType::Json
        | DataType::TimestampTz(_)
        | DataType::Array(_)
        | DataType::LimitedArray(_) => None,
        other => Some(other.unlimited()),
    }
}

fn kind(ty: &DataType) -> DataType {
    match ty {
        DataType::Varchar(_) => DataType::Text,
        other => other.unlimited(),
    }
}

fn coerced(args: &[Datum], wanted: &[Option<DataType>]) -> Result<Vec<Datum>, QueryError> {
    let value = |(value, wanted): (&Datum, &Option<DataType>)| match wanted {
        Some(ty) => Ok(coerce::cast(ty, value.clone())?),
        None => Ok(value.clone()),
    };
    args.iter().zip(wanted).map(value).collect()
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
