//! Forms of array functions and operators. The binder has already made the types of arrays and elements agree.

use crate::functions::sql::{Body, Form};
use types::DataType;

/// The result type of a form.
#[derive(Clone, Copy)]
pub(in crate::functions) enum Returns {
    Known(DataType),
    /// The type of the array.
    Array,
    /// The type of the array's elements.
    Element,
}

/// Returns the form of a function whose first array is argument `at`.
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
