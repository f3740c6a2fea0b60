//! `=`, `<>`, `<`, `<=`, `>`, `>=` of all types whose values the order of `types` compares.

use super::wrong;
use crate::lists::{Routine, operators};
use crate::{Body, Env, EvalError, FuncId, TypeId};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::LazyLock;
use types::temporal::DAY;
use types::{Datum, compare};

/// What a comparison is true for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `<>`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

/// Comparisons by the oid of their function, with the types of their sides.
static COMPARISONS: LazyLock<HashMap<u32, (Comparison, TypeId, TypeId)>> = LazyLock::new(|| {
    let of_sign = |operator: &crate::Operator| {
        let comparison = match operator.name {
            "=" => Comparison::Equal,
            "<>" => Comparison::NotEqual,
            "<" => Comparison::Less,
            "<=" => Comparison::LessOrEqual,
            ">" => Comparison::Greater,
            ">=" => Comparison::GreaterOrEqual,
            _ => return None,
        };
        Some((operator.function, (comparison, TypeId(operator.left), TypeId(operator.right))))
    };
    operators().iter().filter_map(of_sign).collect()
});

/// Which comparison the function of an operator is, if it compares by the order of [`types::compare`] alone: two values of
/// one type or of types that are kept alike.
pub fn comparison(func: FuncId) -> Option<Comparison> {
    let (comparison, left, right) = COMPARISONS.get(&func.0).copied()?;
    matches!(pair(left, right)?, Pair::Same).then_some(comparison)
}

/// How two sides are compared.
#[derive(Clone, Copy)]
enum Pair {
    Same,
    /// Blanks at the end of a `char(n)` do not count.
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
    let (comparison, left, right) = COMPARISONS.get(&routine.oid).copied()?;
    Some(match pair(left, right)? {
        Pair::Same => {
            with(comparison, [ordered::<0>, ordered::<1>, ordered::<2>, ordered::<3>, ordered::<4>, ordered::<5>])
        }
        Pair::Blanks => {
            with(comparison, [blanks::<0>, blanks::<1>, blanks::<2>, blanks::<3>, blanks::<4>, blanks::<5>])
        }
        Pair::Floats => {
            with(comparison, [floats::<0>, floats::<1>, floats::<2>, floats::<3>, floats::<4>, floats::<5>])
        }
        Pair::Days => with(comparison, [days::<0>, days::<1>, days::<2>, days::<3>, days::<4>, days::<5>]),
    })
}

/// The bodies of one kind of pair, in the order of the signs.
fn with(comparison: Comparison, bodies: [Body; 6]) -> Body {
    let [eq, ne, lt, le, gt, ge] = bodies;
    match comparison {
        Comparison::Equal => eq,
        Comparison::NotEqual => ne,
        Comparison::Less => lt,
        Comparison::LessOrEqual => le,
        Comparison::Greater => gt,
        Comparison::GreaterOrEqual => ge,
    }
}

/// Signs by number: a body is a plain function.
fn holds<const SIGN: u8>(order: Ordering) -> Datum {
    Datum::Bool(match SIGN {
        0 => order.is_eq(),
        1 => order.is_ne(),
        2 => order.is_lt(),
        3 => order.is_le(),
        4 => order.is_gt(),
        _ => order.is_ge(),
    })
}

fn ordered<const SIGN: u8>(_: &Env, args: &[Datum]) -> Result<Datum, EvalError> {
    let [left, right] = args else { return Err(wrong(args)) };
    Ok(holds::<SIGN>(compare::compare(left, right)))
}

fn blanks<const SIGN: u8>(_: &Env, args: &[Datum]) -> Result<Datum, EvalError> {
    let [Datum::Text(left), Datum::Text(right)] = args else { return Err(wrong(args)) };
    let bare = |text: &str| text.trim_end_matches(' ').len();
    let (left, right) = (left.as_bytes().get(..bare(left)), right.as_bytes().get(..bare(right)));
    Ok(holds::<SIGN>(left.cmp(&right)))
}

fn floats<const SIGN: u8>(_: &Env, args: &[Datum]) -> Result<Datum, EvalError> {
    let order = match args {
        [Datum::Float4(left), Datum::Float8(right)] => compare::compare_floats(f64::from(*left), *right),
        [Datum::Float8(left), Datum::Float4(right)] => compare::compare_floats(*left, f64::from(*right)),
        _ => return Err(wrong(args)),
    };
    Ok(holds::<SIGN>(order))
}

/// A date is its midnight, also where no timestamp reaches.
fn days<const SIGN: u8>(_: &Env, args: &[Datum]) -> Result<Datum, EvalError> {
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
    Ok(holds::<SIGN>(left.cmp(&right)))
}
