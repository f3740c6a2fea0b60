//! Forms of functions and operators of arrays: the binder has made the types of arrays and elements agree.

use crate::functions::sql::{Body, Form};
use types::DataType;

/// The type of a result.
#[derive(Clone, Copy)]
pub(in crate::functions) enum Returns {
    Known(DataType),
    /// That of the array.
    Array,
    /// That of the array's elements.
    Element,
}

/// Of arguments whose first array has the place `at`.
pub(in crate::functions) fn of_array(
    types: &[DataType],
    at: usize,
    returns: Returns,
    strict: bool,
    body: Body,
) -> Option<Form> {
    let DataType::Array(element) = types.get(at)? else { return None };
    let returns = match returns {
        Returns::Known(ty) => ty,
        Returns::Array => DataType::Array(*element),
        Returns::Element => element.data_type(),
    };
    Some(Form { types: types.to_vec(), returns, strict, body })
}
