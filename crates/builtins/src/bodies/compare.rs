//! `=`, `<>`, `<`, `<=`, `>`, `>=` of all types whose values [`types::compare`] orders.

use super::wrong;
use crate::lists::{Routine, operators};
use crate::{Body, Env, EvalError, FuncId, TypeId};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::LazyLock;
use types::temporal::DAY;
use types::{CompareOp, Datum, compare};

/// Comparisons by the oid of their function, with the types of both sides.
static COMPARISONS: LazyLock<HashMap<u32, (CompareOp, TypeId, TypeId)>> = LazyLock::new(|| {
    let of_sign = |operator: &crate::Operator| {
        let op = CompareOp::of_sign(operator.name)?;
        Some((operator.function, (op, TypeId(operator.left), TypeId(operator.right))))
    };
    operators().iter().filter_map(of_sign).collect()
});

/// Returns the comparison that the function of an operator computes, if it uses the order of [`types::compare`] alone:
/// the sides have one type, or types with the same representation.
pub fn comparison(func: FuncId) -> Option<CompareOp> {
    let (op, left, right) = COMPARISONS.get(&func.0).copied()?;
    matches!(pair(left, right)?, Pair::Same).then_some(op)
}

/// How two sides are compared.
#[derive(Clone, Copy)]
enum Pair {
    Same,
    /// Ignores trailing blanks of a `char(n)`.
    Blanks,
    Floats,
    Days,
}

fn pair(left: TypeId, right: TypeId) -> Option<Pair> {
    let integer = |ty| matches!(ty, TypeId::INT2 | TypeId::INT4 | TypeId::INT8);
    let text = |ty| matches!(ty, TypeId::TEXT | TypeId::NAME);
    let moments = [TypeId::DATE, TypeId::TIMESTAMP];
    match (left, right) {
        (TypeId::RECORD, _) | (TypeId(28), _) => None,
        (TypeId::BPCHAR, TypeId::BPCHAR) => Some(Pair::Blanks),
        (left, right) if left == right => Some(Pair::Same),
        (left, right) if integer(left) && integer(right) || text(left) && text(right) => Some(Pair::Same),
        (TypeId::FLOAT4, TypeId::FLOAT8) | (TypeId::FLOAT8, TypeId::FLOAT4) => Some(Pair::Floats),
        (left, right) if moments.contains(&left) && moments.contains(&right) => Some(Pair::Days),
        _ => None,
    }
}

pub(super) fn find(routine: &Routine) -> Option<Body> {
    let (op, left, right) = COMPARISONS.get(&routine.oid).copied()?;
    // In the order of `CompareOp::ALL`.
    let bodies: [Body; 6] = match pair(left, right)? {
        Pair::Same => [ordered::<0>, ordered::<1>, ordered::<2>, ordered::<3>, ordered::<4>, ordered::<5>],
        Pair::Blanks => [blanks::<0>, blanks::<1>, blanks::<2>, blanks::<3>, blanks::<4>, blanks::<5>],
        Pair::Floats => [floats::<0>, floats::<1>, floats::<2>, floats::<3>, floats::<4>, floats::<5>],
        Pair::Days => [days::<0>, days::<1>, days::<2>, days::<3>, days::<4>, days::<5>],
    };
    bodies.get(op as usize).copied()
}

/// The operator is a number, because a body is a plain function.
fn holds<const OP: usize>(order: Ordering) -> Datum {
    Datum::Bool(CompareOp::ALL.get(OP).is_some_and(|op| op.matches(order)))
}

fn ordered<const OP: usize>(_: &Env, args: &[Datum]) -> Result<Datum, EvalError> {
    let [left, right] = args else { return Err(wrong(args)) };
    Ok(holds::<OP>(compare::compare(left, right)))
}

fn blanks<const OP: usize>(_: &Env, args: &[Datum]) -> Result<Datum, EvalError> {
    let [Datum::Text(left), Datum::Text(right)] = args else { return Err(wrong(args)) };
    let bare = |text: &str| text.trim_end_matches(' ').len();
    let (left, right) = (left.as_bytes().get(..bare(left)), right.as_bytes().get(..bare(right)));
    Ok(holds::<OP>(left.cmp(&right)))
}

fn floats<const OP: usize>(_: &Env, args: &[Datum]) -> Result<Datum, EvalError> {
    let order = match args {
        [Datum::Float4(left), Datum::Float8(right)] => compare::compare_floats(f64::from(*left), *right),
        [Datum::Float8(left), Datum::Float4(right)] => compare::compare_floats(*left, f64::from(*right)),
        _ => return Err(wrong(args)),
    };
    Ok(holds::<OP>(order))
}

/// Compares a date as its midnight, also beyond the range of timestamps.
fn days<const OP: usize>(_: &Env, args: &[Datum]) -> Result<Datum, EvalError> {
    let micros = |value: &Datum| match *value {
        Datum::Date(i32::MIN) => Some(i128::from(i64::MIN)),
        Datum::Date(i32::MAX) => Some(i128::MAX),
        Datum::Date(days) => Some(i128::from(days) * i128::from(DAY)),
        Datum::Timestamp(i64::MAX) => Some(i128::MAX),
        Datum::Timestamp(micros) => Some(i128::from(micros)),
        _ => None,
    };
    let [left, right] = args else { return Err(wrong(args)) };
    let (Some(left), Some(right)) = (micros(left), micros(right)) else { return Err(wrong(args)) };
    Ok(holds::<OP>(left.cmp(&right)))
}
