//! Bodies of cast functions.

use super::wrong;
use crate::lists::{Routine, casts};
use crate::{Body, Env, EvalError, Ty, TypeId};
use types::{DataType, Datum, coerce};

/// Returns the body of a cast function that a row of `pg_cast` names.
pub(super) fn find(routine: &Routine) -> Option<Body> {
    let [source] = routine.arguments.as_slice() else { return None };
    let (source, target) = (TypeId(*source), TypeId(routine.result));
    if source == target || !casts().iter().any(|cast| cast.function == routine.oid) {
        return None;
    }
    match (source, target) {
        (TypeId::INT4, TypeId::BOOL) => Some(integer_to_bool),
        (TypeId::BOOL, TypeId::INT4) => Some(bool_to_integer),
        (TypeId::DATE | TypeId::TIMESTAMPTZ, TypeId::TIMESTAMP) => Some(assigned::<1114>),
        (TypeId::DATE | TypeId::TIMESTAMP, TypeId::TIMESTAMPTZ) => Some(assigned::<1184>),
        (TypeId::TIMESTAMP | TypeId::TIMESTAMPTZ, TypeId::DATE) => Some(assigned::<1082>),
        (TypeId::TIMESTAMP | TypeId::TIMESTAMPTZ, TypeId::TIME) => Some(assigned::<1083>),
        (TypeId::TIME, TypeId::INTERVAL) => Some(assigned::<1186>),
        (TypeId::BOOL, TypeId::TEXT) => Some(assigned::<25>),
        (source, target) if is_number(source) => number(target),
        _ => None,
    }
}

fn is_number(ty: TypeId) -> bool {
    use TypeId as T;
    matches!(ty, T::INT2 | T::INT4 | T::INT8 | T::FLOAT4 | T::FLOAT8 | T::NUMERIC)
}

fn number(target: TypeId) -> Option<Body> {
    Some(match target {
        TypeId::INT2 => assigned::<21>,
        TypeId::INT4 => assigned::<23>,
        TypeId::INT8 => assigned::<20>,
        TypeId::FLOAT4 => assigned::<700>,
        TypeId::FLOAT8 => assigned::<701>,
        TypeId::NUMERIC => to_numeric,
        _ => return None,
    })
}

/// Casts by the rules of assignment to the type of that oid, without type modifiers.
fn assigned<const OID: u32>(env: &Env, args: &[Datum]) -> Result<Datum, EvalError> {
    let ([value], Some(ty)) = (args, Ty::plain(TypeId(OID)).data_type()) else { return Err(wrong(args)) };
    Ok(env.zone.assign(&ty, value.clone())?)
}

fn to_numeric(_: &Env, args: &[Datum]) -> Result<Datum, EvalError> {
    let [value] = args else { return Err(wrong(args)) };
    Ok(coerce::assign(&DataType::Numeric(None), value.clone())?)
}

fn integer_to_bool(_: &Env, args: &[Datum]) -> Result<Datum, EvalError> {
    let [Datum::Int4(value)] = args else { return Err(wrong(args)) };
    Ok(Datum::Bool(*value != 0))
}

fn bool_to_integer(_: &Env, args: &[Datum]) -> Result<Datum, EvalError> {
    let [Datum::Bool(value)] = args else { return Err(wrong(args)) };
    Ok(Datum::Int4(i32::from(*value)))
}
