//! Which arguments functions and operators of arrays take, and what they give: PostgreSQL's anyarray and anyelement.

use super::sql::{Argument, Body, Chosen, widens};
use types::DataType::{self, Boolean, Integer};
use types::ElementType;

/// The type of a result.
#[derive(Clone, Copy)]
pub(super) enum Returns {
    Known(DataType),
    /// That of the array.
    Array,
}

impl Returns {
    fn of(self, array: DataType) -> DataType {
        match self {
            Self::Known(ty) => ty,
            Self::Array => array,
        }
    }
}

/// The array type of an argument; an unknown one has none.
pub(super) fn array_of(arg: &Argument) -> Option<ElementType> {
    match arg {
        Argument::Known(DataType::Array(element)) => Some(*element),
        _ => None,
    }
}

/// An element type that both fit in.
fn common(array: ElementType, other: &DataType) -> Option<ElementType> {
    let own = array.data_type();
    let other = match other {
        DataType::Char(_) | DataType::Varchar(_) | DataType::Text if own.is_text() => return Some(array),
        other => other.unlimited(),
    };
    if own == other || widens(&other, &own) {
        Some(array)
    } else if widens(&own, &other) {
        ElementType::of(&other)
    } else {
        None
    }
}

/// An array and an element of it, at these places.
pub(super) fn with_element(
    args: &[Argument],
    at: (usize, usize),
    returns: Returns,
    strict: bool,
    body: Body,
) -> Option<Chosen> {
    let [_, _] = args else {
        // `array_position(array, element, start)`.
        let [array, element, _] = args else { return None };
        let mut chosen = with_element(&[array.clone(), element.clone()], at, returns, strict, body)?;
        if !matches!(returns, Returns::Known(Integer)) {
            return None;
        }
        chosen.types.push(Integer);
        return Some(chosen);
    };
    let (array, element) = (args.get(at.0)?, args.get(at.1)?);
    let item = match (array_of(array), element) {
        (Some(item), Argument::Known(ty)) => common(item, ty)?,
        (Some(item), Argument::Unknown) => item,
        (None, Argument::Known(ty)) if *array == Argument::Unknown => ElementType::of(ty)?,
        _ => return None,
    };
    let (array, element) = (DataType::Array(item), item.data_type());
    let types = if at.0 == 0 { vec![array, element] } else { vec![element, array] };
    Some(Chosen { types, returns: returns.of(array), strict, body })
}

pub(super) fn two_arrays(args: &[Argument], returns: Returns, strict: bool, body: Body) -> Option<Chosen> {
    let [a, b] = args else { return None };
    let item = match (array_of(a), array_of(b)) {
        (Some(a), Some(b)) => common(a, &b.data_type())?,
        (Some(item), None) if *b == Argument::Unknown => item,
        (None, Some(item)) if *a == Argument::Unknown => item,
        _ => return None,
    };
    let array = DataType::Array(item);
    Some(Chosen { types: vec![array, array], returns: returns.of(array), strict, body })
}

/// DataFusion compares arrays too, with NULLs before all other elements; here they come behind.
pub(super) fn ordered(args: &[Argument], body: Body) -> Option<Chosen> {
    two_arrays(args, Returns::Known(Boolean), true, body)
}

pub(super) fn array_and(
    args: &[Argument],
    more: &[DataType],
    returns: Returns,
    strict: bool,
    body: Body,
) -> Option<Chosen> {
    let (array, rest) = args.split_first()?;
    let fits = |(arg, ty): (&Argument, &DataType)| match arg {
        Argument::Unknown => true,
        Argument::Known(own) => own == ty || widens(own, ty) || own.is_text() && ty.is_text(),
    };
    if rest.len() != more.len() || !rest.iter().zip(more).all(fits) {
        return None;
    }
    let array = DataType::Array(array_of(array)?);
    let types = std::iter::once(array).chain(more.iter().copied()).collect();
    Some(Chosen { types, returns: returns.of(array), strict, body })
}

/// A value and an array to compare it with each item of: as operators do, so a real and any other number as doubles.
pub(super) fn compare_all(args: &[Argument], body: Body) -> Option<Chosen> {
    if let [Argument::Known(value), Argument::Known(DataType::Array(item))] = args
        && (*value == DataType::Real) != (*item == ElementType::Real)
        && value.is_number()
        && item.data_type().is_number()
    {
        let types = vec![DataType::Double, DataType::Array(ElementType::Double)];
        return Some(Chosen { types, returns: Boolean, strict: false, body });
    }
    with_element(&flipped_arguments(args)?, (0, 1), Returns::Known(Boolean), false, body)
        .map(|chosen| Chosen { types: chosen.types.into_iter().rev().collect(), ..chosen })
}

fn flipped_arguments(args: &[Argument]) -> Option<[Argument; 2]> {
    let [value, array] = args else { return None };
    let array = match (array, value) {
        // `x = ANY ('{1,2}')`: an array of the value's type.
        (Argument::Unknown, Argument::Known(ty)) => Argument::Known(DataType::Array(ElementType::of(ty)?)),
        (Argument::Unknown, Argument::Unknown) => Argument::Known(DataType::Array(ElementType::Text)),
        (array, _) => array.clone(),
    };
    Some([array, value.clone()])
}
