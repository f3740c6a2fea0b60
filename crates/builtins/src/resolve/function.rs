//! Resolution of function calls (10.3).

use super::Failure;
use super::candidate::{Candidate, applicable, best};
use super::coercion::{Via, coercion};
use super::polymorphic::Substitution;
use crate::lists::PgType;
use crate::table::{CastContext, functions_named};
use crate::{Function, Ty, TypeId};

/// The result of resolving a call.
#[derive(Clone, Debug)]
pub enum Resolved {
    /// A call of a function.
    Call(FunctionCall),
    /// A cast: the name is that of a type.
    Cast(Ty),
}

/// A chosen function.
#[derive(Clone, Debug)]
pub struct FunctionCall {
    /// Its row in the table.
    pub function: &'static Function,
    /// The types that the given arguments are cast to; omitted arguments are not included.
    pub args: Vec<Ty>,
    /// The result type; for a set, the type of a row.
    pub returns: Ty,
    /// How many of the last given arguments are elements of the variadic argument; `None` without such an argument, or
    /// if VARIADIC passes it as an array.
    pub variadic: Option<usize>,
    /// How many arguments were omitted.
    pub defaults: usize,
}

/// A function, expanded to a number of arguments.
struct OneOf {
    function: &'static Function,
    types: Vec<TypeId>,
    variadic: Option<usize>,
    defaults: usize,
}

impl Candidate for OneOf {
    fn types(&self) -> &[TypeId] {
        &self.types
    }
}

/// Returns the function of that name for arguments of these types. With `as_array`, the last argument follows VARIADIC.
///
/// # Errors
/// [`Failure`].
pub fn function(name: &str, given: &[Ty], as_array: bool) -> Result<Resolved, Failure> {
    let given: Vec<TypeId> = given.iter().map(|ty| ty.id).collect();
    let candidates = candidates(name, given.len(), as_array);
    if let Some(exact) = candidates.iter().position(|one| one.types == given) {
        return candidates.into_iter().nth(exact).map_or(Err(Failure::None), |one| call(&one, &given));
    }
    if let ([from], false) = (given.as_slice(), as_array)
        && let Some(cast) = as_cast(name, *from)
    {
        return Ok(Resolved::Cast(cast));
    }
    let mut candidates = applicable(&given, candidates);
    let chosen = match candidates.len() {
        0 => return Err(Failure::None),
        1 => candidates.pop(),
        _ => best(&given, candidates),
    };
    call(&chosen.ok_or(Failure::Ambiguous)?, &given)
}

/// Returns the functions that accept so many arguments. Of two with the same parameter types, only the one without
/// variadic arguments or defaults is returned.
fn candidates(name: &str, count: usize, as_array: bool) -> Vec<OneOf> {
    let mut all: Vec<OneOf> = Vec::new();
    for one in functions_named(name).filter_map(|function| expand_candidate(function, count, as_array)) {
        let rank = |one: &OneOf| (one.variadic.is_some(), one.defaults);
        match all.iter_mut().find(|other| other.types == one.types) {
            Some(other) if rank(&one) < rank(other) => *other = one,
            Some(_) => {}
            None => all.push(one),
        }
    }
    all
}

fn expand_candidate(function: &'static Function, count: usize, as_array: bool) -> Option<OneOf> {
    let declared = function.args.len();
    let element = function.variadic.filter(|_| !as_array);
    if as_array && function.variadic.is_none() {
        return None;
    }
    if let Some(element) = element.filter(|_| declared <= count) {
        let fixed = declared.checked_sub(1)?;
        let mut types = function.args.get(..fixed)?.to_vec();
        types.resize(count, element);
        return Some(OneOf { function, types, variadic: Some(count - fixed), defaults: 0 });
    }
    let defaults = declared.checked_sub(count).filter(|left_out| *left_out <= function.defaults)?;
    Some(OneOf { function, types: function.args.get(..count)?.to_vec(), variadic: None, defaults })
}

/// Step 3: the name of a type with one argument is a cast, if the cast needs no function.
fn as_cast(name: &str, from: TypeId) -> Option<Ty> {
    let to = PgType::by_name(name).filter(|ty| ty.kind == "b").map(|ty| TypeId(ty.oid))?;
    let is_cast = from == TypeId::UNKNOWN
        || match coercion(from, to, CastContext::Explicit) {
            Some(Via::Relabel) => true,
            Some(Via::Text) => !(from == TypeId::RECORD && to.category() == "S"),
            _ => false,
        };
    is_cast.then(|| Ty::plain(to))
}

fn call(chosen: &OneOf, given: &[TypeId]) -> Result<Resolved, Failure> {
    let substitution = Substitution::of(given, &chosen.types).ok_or(Failure::Undetermined)?;
    let apply = |declared: TypeId| substitution.apply(declared).map(Ty::plain).ok_or(Failure::Undetermined);
    Ok(Resolved::Call(FunctionCall {
        function: chosen.function,
        args: chosen.types.iter().map(|ty| apply(*ty)).collect::<Result<_, _>>()?,
        returns: apply(chosen.function.returns)?,
        variadic: chosen.variadic,
        defaults: chosen.defaults,
    }))
}
