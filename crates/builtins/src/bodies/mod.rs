//! Bodies of functions, operators and casts, which compute them row by row.
//!
//! A row of the list finds its body by PostgreSQL's name of the function and, if several functions have that name, by
//! the types of its arguments. Only DataFusion computes functions without a body.

mod casts;
mod compare;
pub mod floats;
pub mod integers;
pub mod intervals;
mod like;
pub mod numerics;
pub mod texts;

pub use compare::comparison;
pub use like::{like_escape, like_of_bytes};
pub(crate) use numerics::{WideSum, quotient};

use crate::lists::Routine;
use crate::{Body, EvalError};
use types::Datum;

/// Returns the body of a function of the list.
pub(crate) fn find(routine: &Routine) -> Option<Body> {
    if routine.kind != 'f' || routine.returns_set {
        return None;
    }
    let args = routine.arguments.as_slice();
    compare::find(routine)
        .or_else(|| integers::find(&routine.name, args, routine.result))
        .or_else(|| floats::find(&routine.name, args))
        .or_else(|| numerics::find(&routine.name))
        .or_else(|| intervals::find(&routine.name))
        .or_else(|| like::find(&routine.name))
        .or_else(|| texts::find(&routine.name, args))
        .or_else(|| casts::find(routine))
}

/// The error for arguments that binding should have refused.
pub(crate) fn wrong(args: &[Datum]) -> EvalError {
    let kinds: Vec<&str> = args.iter().map(Datum::kind_name).collect();
    EvalError::Internal { detail: format!("a body was called with ({})", kinds.join(", ")) }
}

/// The error for a number out of the range of its type.
pub(crate) fn out_of_range(what: &str) -> EvalError {
    EvalError::OutOfRange { what: what.to_owned() }
}
