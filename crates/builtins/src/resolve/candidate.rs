//! The choice among candidates that accept the arguments: steps 3.c to 3.f of 10.2, 4.c to 4.f of 10.3.

use super::coercion::can_coerce;
use crate::TypeId;
use crate::table::CastContext;

/// A candidate, with its parameter types for the given arguments.
pub(super) trait Candidate {
    fn types(&self) -> &[TypeId];
}

/// Returns the candidates that accept arguments of these types (step a).
pub(super) fn applicable<C: Candidate>(given: &[TypeId], candidates: Vec<C>) -> Vec<C> {
    candidates.into_iter().filter(|one| can_coerce(given, one.types(), CastContext::Implicit)).collect()
}

/// Returns the best of several candidates; `None` if several are equally good.
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

/// Returns whether `wanted` is the preferred type in the category of `given`.
fn is_preferred_for(given: TypeId, wanted: TypeId) -> bool {
    wanted.is_preferred() && wanted.category() == given.category()
}

/// Returns the candidates with the most matches among the arguments of known type (steps c and d).
fn with_most<C: Candidate>(given: &[TypeId], candidates: Vec<C>, matches: fn(TypeId, TypeId) -> bool) -> Vec<C> {
    let count = |one: &C| {
        let known = given.iter().zip(one.types()).filter(|(given, _)| **given != TypeId::UNKNOWN);
        known.filter(|(given, wanted)| matches(**given, **wanted)).count()
    };
    let most = candidates.iter().map(count).max().unwrap_or_default();
    candidates.into_iter().filter(|one| count(one) == most).collect()
}

/// Returns the candidates that fit the category of literals of unknown type: string if any candidate accepts it, else
/// the category that all accept (step e). Returns all candidates if there is no such category, or none of them fits.
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

/// Returns the category of an argument, and whether a candidate accepts its preferred type; `None` if candidates
/// differ.
fn category<C: Candidate>(at: usize, candidates: &[C]) -> Option<(&'static str, bool)> {
    let types = || candidates.iter().filter_map(|one| one.types().get(at));
    let first = types().next()?.category();
    let category = if types().any(|ty| ty.category() == "S") { "S" } else { first };
    if category != "S" && types().any(|ty| ty.category() != category) {
        return None;
    }
    Some((category, types().any(|ty| ty.category() == category && ty.is_preferred())))
}

/// If all arguments of known type have one type, returns the only candidate that accepts it for all arguments (step f).
fn all_of_one_type<C: Candidate>(given: &[TypeId], candidates: Vec<C>) -> Option<C> {
    let mut known = given.iter().copied().filter(|ty| *ty != TypeId::UNKNOWN);
    let one = known.next()?;
    if known.any(|other| other != one) {
        return None;
    }
    only(applicable(&vec![one; given.len()], candidates)).ok()
}
