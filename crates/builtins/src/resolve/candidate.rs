//! The choice among candidates that all take the arguments: steps 3.c to 3.f of 10.2, 4.c to 4.f of 10.3.

use super::coercion::can_coerce;
use crate::TypeId;
use crate::table::CastContext;

/// What may be chosen, with the types that it wants for the arguments given.
pub(super) trait Candidate {
    fn types(&self) -> &[TypeId];
}

/// Those that take arguments of these types (step a).
pub(super) fn applicable<C: Candidate>(given: &[TypeId], candidates: Vec<C>) -> Vec<C> {
    candidates.into_iter().filter(|one| can_coerce(given, one.types(), CastContext::Implicit)).collect()
}

/// The best of several; `None` if they are alike.
pub(super) fn best<C: Candidate>(given: &[TypeId], candidates: Vec<C>) -> Option<C> {
    let exact = |given: TypeId, wanted: TypeId| given == wanted;
    let candidates = match only(with_most(given, candidates, exact)) {
        Ok(one) => return Some(one),
        Err(several) => several,
    };
    let preferred = |given: TypeId, wanted: TypeId| given == wanted || is_preferred_for(given, wanted);
    let candidates = match only(with_most(given, candidates, preferred)) {
        Ok(one) => return Some(one),
        Err(several) => several,
    };
    if !given.contains(&TypeId::UNKNOWN) {
        return None;
    }
    let candidates = match only(by_categories(given, candidates)) {
        Ok(one) => return Some(one),
        Err(several) => several,
    };
    all_of_one_type(given, candidates)
}

fn only<C>(mut candidates: Vec<C>) -> Result<C, Vec<C>> {
    match candidates.pop() {
        Some(one) if candidates.is_empty() => Ok(one),
        Some(last) => {
            candidates.push(last);
            Err(candidates)
        }
        None => Err(candidates),
    }
}

/// Is it the preferred type of the given one's category?
fn is_preferred_for(given: TypeId, wanted: TypeId) -> bool {
    wanted.is_preferred() && wanted.category() == given.category()
}

/// Those with the most arguments of known type that match (steps c and d).
fn with_most<C: Candidate>(given: &[TypeId], candidates: Vec<C>, matches: fn(TypeId, TypeId) -> bool) -> Vec<C> {
    let count = |one: &C| {
        let known = given.iter().zip(one.types()).filter(|(given, _)| **given != TypeId::UNKNOWN);
        known.filter(|(given, wanted)| matches(**given, **wanted)).count()
    };
    let most = candidates.iter().map(count).max().unwrap_or_default();
    candidates.into_iter().filter(|one| count(one) == most).collect()
}

/// Those that take for literals of unknown type what most speaks for: a string where any does, else the one category
/// that all take (step e). As they were if nothing speaks for any.
fn by_categories<C: Candidate>(given: &[TypeId], candidates: Vec<C>) -> Vec<C> {
    let unknown = given.iter().enumerate().filter(|(_, ty)| **ty == TypeId::UNKNOWN).map(|(at, _)| at);
    let wanted: Option<Vec<_>> = unknown.map(|at| category(at, &candidates).map(|wanted| (at, wanted))).collect();
    let Some(wanted) = wanted else { return candidates };
    let fits = |one: &C| {
        wanted.iter().all(|(at, (category, preferred))| {
            let ty = one.types().get(*at);
            ty.is_some_and(|ty| ty.category() == *category && (!preferred || ty.is_preferred()))
        })
    };
    if candidates.iter().any(fits) { candidates.into_iter().filter(fits).collect() } else { candidates }
}

/// The category of an argument, and whether a candidate takes its preferred type there; `None` if candidates differ.
fn category<C: Candidate>(at: usize, candidates: &[C]) -> Option<(&'static str, bool)> {
    let types = || candidates.iter().filter_map(|one| one.types().get(at));
    let first = types().next()?.category();
    let category = if types().any(|ty| ty.category() == "S") { "S" } else { first };
    if category != "S" && types().any(|ty| ty.category() != category) {
        return None;
    }
    Some((category, types().any(|ty| ty.category() == category && ty.is_preferred())))
}

/// If all arguments of known type have one, the only candidate that takes it for all (step f).
fn all_of_one_type<C: Candidate>(given: &[TypeId], candidates: Vec<C>) -> Option<C> {
    let mut known = given.iter().copied().filter(|ty| *ty != TypeId::UNKNOWN);
    let one = known.next()?;
    if known.any(|other| other != one) {
        return None;
    }
    only(applicable(&vec![one; given.len()], candidates)).ok()
}
