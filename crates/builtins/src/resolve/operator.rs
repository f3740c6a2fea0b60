//! Resolution of operators (10.2).

use super::Failure;
use super::candidate::{Candidate, applicable, best};
use super::polymorphic::Substitution;
use crate::lists::Operator;
use crate::table::operators_named;
use crate::{FuncId, Ty, TypeId};

/// A chosen operator.
#[derive(Clone, Copy, Debug)]
pub struct OperatorCall {
    /// Its row in the table.
    pub operator: &'static Operator,
    /// The function that computes it.
    pub func: FuncId,
    /// The type that the left operand is cast to, if there is one.
    pub left: Option<Ty>,
    /// The type that the right operand is cast to.
    pub right: Ty,
    /// The result type.
    pub returns: Ty,
}

struct OneOf(&'static Operator, Vec<TypeId>);

impl Candidate for OneOf {
    fn types(&self) -> &[TypeId] {
        &self.1
    }
}

/// Returns the operator of that name for operands of these types; a prefix operator if `left` is `None`.
///
/// # Errors
/// [`Failure`].
pub fn operator(name: &str, left: Option<Ty>, right: Ty) -> Result<OperatorCall, Failure> {
    let given: Vec<TypeId> = left.iter().map(|left| left.id).chain([right.id]).collect();
    let of_kind = operators_named(name).iter().filter(|one| (one.left != 0) == left.is_some());
    let candidates: Vec<OneOf> = of_kind.map(|one| OneOf(one, types_of(one))).collect();
    // Step 2.a: a literal of unknown type takes the type of the other operand, if that is an exact match.
    let assumed = match given.as_slice() {
        [TypeId::UNKNOWN, other] | [other, TypeId::UNKNOWN] => vec![*other; 2],
        _ => given.clone(),
    };
    if let Some(exact) = candidates.iter().find(|one| one.1 == assumed) {
        return call(exact.0, &exact.1, &given);
    }
    let mut candidates = applicable(&given, candidates);
    let chosen = match candidates.len() {
        0 => return Err(Failure::None),
        1 => candidates.pop(),
        _ => best(&given, candidates),
    };
    let OneOf(chosen, types) = chosen.ok_or(Failure::Ambiguous)?;
    call(chosen, &types, &given)
}

fn types_of(operator: &Operator) -> Vec<TypeId> {
    [operator.left, operator.right].into_iter().filter(|oid| *oid != 0).map(TypeId).collect()
}

fn call(operator: &'static Operator, declared: &[TypeId], given: &[TypeId]) -> Result<OperatorCall, Failure> {
    let substitution = Substitution::of(given, declared).ok_or(Failure::Undetermined)?;
    let apply = |declared: TypeId| substitution.apply(declared).map(Ty::plain).ok_or(Failure::Undetermined);
    Ok(OperatorCall {
        operator,
        func: FuncId(operator.function),
        left: (operator.left != 0).then(|| apply(TypeId(operator.left))).transpose()?,
        right: apply(TypeId(operator.right))?,
        returns: apply(TypeId(operator.result))?,
    })
}
