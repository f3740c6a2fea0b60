//! Pseudo-types: whether arguments agree with `anyelement` and its like, and for which types those stand in a call.

use super::coercion::can_coerce;
use super::common_type::common_id;
use crate::TypeId;
use crate::table::CastContext;

/// The types that the pseudo-types of a call stand for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Substitution {
    /// Of `anyelement`.
    element: Option<TypeId>,
    /// Of `anycompatible`.
    compatible: Option<TypeId>,
    /// Arguments of other types only tell nothing, and a pseudo-type as the result stays one.
    silent: bool,
}

/// Do the arguments agree with each other as the declared types want it? Literals of unknown type agree with all.
pub(super) fn is_consistent(actual: &[TypeId], declared: &[TypeId]) -> bool {
    elements(actual, declared).is_ok() && compatibles(actual, declared).is_ok()
}

/// Arguments that do not agree.
struct Inconsistent;

/// What `anyelement`, `anynonarray` and the elements of `anyarray` are; `None` if only literals tell.
fn elements(actual: &[TypeId], declared: &[TypeId]) -> Result<Option<TypeId>, Inconsistent> {
    let mut found: Option<TypeId> = None;
    let known = actual.iter().zip(declared).filter(|(actual, _)| **actual != TypeId::UNKNOWN);
    for (actual, declared) in known.filter(|(_, declared)| declared.is_any_element()) {
        let element = match *declared {
            TypeId::ANYARRAY => actual.element().ok_or(Inconsistent)?,
            _ => *actual,
        };
        if found.is_some_and(|found| found != element) {
            return Err(Inconsistent);
        }
        found = Some(element);
    }
    let scalar = declared.contains(&TypeId::ANYNONARRAY);
    if scalar && found.is_some_and(|found| found.element().is_some()) {
        return Err(Inconsistent);
    }
    Ok(found)
}

/// What `anycompatible` is: the common type of its arguments and of the elements of its arrays.
fn compatibles(actual: &[TypeId], declared: &[TypeId]) -> Result<Option<TypeId>, Inconsistent> {
    let known = actual.iter().zip(declared).filter(|(actual, _)| **actual != TypeId::UNKNOWN);
    let types = known.filter(|(_, declared)| declared.is_any_compatible()).map(|(actual, declared)| match *declared {
        TypeId::ANYCOMPATIBLEARRAY => actual.element().ok_or(Inconsistent),
        _ => Ok(*actual),
    });
    let types: Vec<TypeId> = types.collect::<Result<_, _>>()?;
    if types.is_empty() {
        return Ok(None);
    }
    let common = common_id(&types).map_err(|_| Inconsistent)?;
    let scalar = declared.contains(&TypeId::ANYCOMPATIBLENONARRAY);
    let reached = types.iter().all(|ty| can_coerce(&[*ty], &[common], CastContext::Implicit));
    if !reached || (scalar && common.element().is_some()) {
        return Err(Inconsistent);
    }
    Ok(Some(common))
}

impl Substitution {
    /// The types that pseudo-types stand for in a call; `None` if the arguments do not tell.
    pub(super) fn of(actual: &[TypeId], declared: &[TypeId]) -> Option<Self> {
        if !declared.iter().any(|ty| ty.is_polymorphic()) {
            return Some(Self { silent: true, ..Self::default() });
        }
        let element = elements(actual, declared).ok()?;
        if element.is_none() && declared.iter().any(|ty| ty.is_any_element()) {
            return None;
        }
        // Where only literals of unknown type are to agree, they are texts.
        let compatible = compatibles(actual, declared).ok()?.or(Some(TypeId::TEXT));
        Some(Self { element, compatible, silent: false })
    }

    /// The type that a declared one is in this call; `None` if nothing tells.
    pub(super) fn apply(&self, declared: TypeId) -> Option<TypeId> {
        match declared {
            declared if self.silent => Some(declared),
            TypeId::ANYELEMENT | TypeId::ANYNONARRAY => self.element,
            TypeId::ANYARRAY => self.element?.array(),
            TypeId::ANYCOMPATIBLE | TypeId::ANYCOMPATIBLENONARRAY => self.compatible,
            TypeId::ANYCOMPATIBLEARRAY => self.compatible?.array(),
            other => Some(other),
        }
    }
}
