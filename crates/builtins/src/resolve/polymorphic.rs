//! Pseudo-types: whether arguments agree with `anyelement` and the like, and which types these are in a call.

use super::coercion::can_coerce;
use super::common_type::common_id;
use crate::TypeId;
use crate::table::CastContext;

/// The types that pseudo-types are in a call.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Substitution {
    /// The type of `anyelement`.
    element: Option<TypeId>,
    /// The type of `anycompatible`.
    compatible: Option<TypeId>,
    /// No parameter is polymorphic, so a pseudo-type as the result stays one.
    silent: bool,
}

/// Returns whether the arguments agree with the declared pseudo-types. Literals of unknown type always agree.
pub(super) fn is_consistent(actual: &[TypeId], declared: &[TypeId]) -> bool {
    elements(actual, declared).is_ok() && compatibles(actual, declared).is_ok()
}

/// The error for arguments that do not agree.
struct Inconsistent;

/// Returns the type of `anyelement`, `anynonarray` and elements of `anyarray`; `None` if only literals determine it.
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

/// Returns the type of `anycompatible`: the common type of its arguments and of the elements of its arrays.
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
    /// Returns the types that pseudo-types are in a call; `None` if the arguments do not determine them.
    pub(super) fn of(actual: &[TypeId], declared: &[TypeId]) -> Option<Self> {
        if !declared.iter().any(|ty| ty.is_polymorphic()) {
            return Some(Self { silent: true, ..Self::default() });
        }
        let element = elements(actual, declared).ok()?;
        if element.is_none() && declared.iter().any(|ty| ty.is_any_element()) {
            return None;
        }
        // Without other arguments, literals of unknown type are texts.
        let compatible = compatibles(actual, declared).ok()?.or(Some(TypeId::TEXT));
        Some(Self { element, compatible, silent: false })
    }

    /// Returns the type that a declared type is in this call; `None` if it is not determined.
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
