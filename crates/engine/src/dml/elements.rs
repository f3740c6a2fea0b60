//! Assignments to elements of arrays: `SET tags[2] = 'x', m[1][2] = 0`.
//!
//! Several assignments to one column apply in order, the first to the existing array, each other to the result so
//! far.

use super::target::Target;
use super::value::Given;
use crate::error::{EngineResult, Fault, fail};
use query::Refusal;
use types::{DataType, Datum};

/// Maximum number of elements of an array that grows by an assignment, as for `array_fill`.
const MOST: usize = types::array::MAX_ITEMS;

/// One element assignment.
#[derive(Clone, Debug)]
pub(crate) struct ElementChange {
    places: Vec<Source>,
    value: Source,
}

#[derive(Clone, Debug)]
pub(super) enum Source {
    /// A constant of the target type.
    Constant(Datum),
    /// `$n`, counted from 0.
    Param(usize),
    /// The n-th of the statement's computed expressions.
    Computed(usize),
}

impl ElementChange {
    pub(super) fn new(places: Vec<Source>, value: Source) -> Self {
        Self { places, value }
    }

    /// Returns the array with the element changed.
    pub(super) fn apply(&self, target: &Target, at: usize, array: Datum, given: &Given<'_>) -> EngineResult<Datum> {
        let Some(item) = target.column(at).and_then(|column| column.ty.item()) else { return Ok(array) };
        let mut places = Vec::with_capacity(self.places.len());
        for place in &self.places {
            match target.assign_as(at, &DataType::Integer, place.get(given)?)?.as_i64() {
                Some(place) => places.push(place),
                None => {
                    return Err(Refusal::Null.because("array subscript in assignment must not be null").into());
                }
            }
        }
        let value = target.assign_as(at, &item, self.value.get(given)?)?;
        let items = match array {
            Datum::Array(items) => items,
            _ => Vec::new(),
        };
        Ok(Datum::Array(changed(items, &places, value)?))
    }
}

impl Source {
    fn get(&self, given: &Given<'_>) -> EngineResult<Datum> {
        match self {
            Self::Constant(value) => Ok(value.clone()),
            Self::Param(index) => {
                given.params.get(*index).cloned().ok_or_else(|| Fault::NoSuchParameter { number: index + 1 }.into())
            }
            Self::Computed(index) => {
                let missing = || Fault::Internal { detail: format!("no computed value {index}") }.into();
                given.computed.get(*index).cloned().ok_or_else(missing)
            }
        }
    }
}

/// Follows PostgreSQL: a one-dimensional array grows, with NULLs up to the new element; a multidimensional array does
/// not grow; an empty array gets the dimensions of the subscripts.
fn changed(mut items: Vec<Datum>, places: &[i64], value: Datum) -> EngineResult<Vec<Datum>> {
    let outside = || Refusal::Subscript.because("array subscript out of range");
    if places.len() > types::array::MAX_DIMENSIONS {
        return Err(types::TypeError::TooManyDimensions { found: places.len() }.into());
    }
    let dimensions = types::array::dimensions(&items).len();
    if dimensions != 0 && dimensions != places.len() {
        return Err(Refusal::Subscript.because("wrong number of array subscripts").into());
    }
    let Some((first, inner)) = places.split_first() else { return Ok(items) };
    let place = usize::try_from(*first).ok().and_then(|place| place.checked_sub(1));
    let grows = inner.is_empty() && dimensions == 1;
    let Some(place) = place.filter(|place| dimensions != 0 || *place == 0) else {
        if dimensions > 1 {
            return Err(outside().into());
        }
        return fail(Fault::Unsupported { feature: "an array whose lower bound is not 1".to_owned() });
    };
    if dimensions == 0 {
        items.push(if inner.is_empty() { value } else { Datum::Array(changed(Vec::new(), inner, value)?) });
        return Ok(items);
    }
    if grows && place >= items.len() {
        if place >= MOST {
            return Err(Refusal::Size.because(format!("array size exceeds the maximum allowed ({MOST})")).into());
        }
        items.resize(place + 1, Datum::Null);
    }
    within(items, places, value)
}

/// Assigns within the existing bounds: a multidimensional array does not grow.
fn within(mut items: Vec<Datum>, places: &[i64], value: Datum) -> EngineResult<Vec<Datum>> {
    let outside = || Refusal::Subscript.because("array subscript out of range");
    let Some((first, inner)) = places.split_first() else { return Ok(items) };
    let place = usize::try_from(*first).ok().and_then(|place| place.checked_sub(1));
    match place.and_then(|place| items.get_mut(place)) {
        Some(slot) if inner.is_empty() => *slot = value,
        Some(Datum::Array(part)) => *part = within(std::mem::take(part), inner, value)?,
        _ => return Err(outside().into()),
    }
    Ok(items)
}
