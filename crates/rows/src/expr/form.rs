//! The scale of numeric results, equal to that of plans: see `builtins::digits`.

use crate::WhyNot;
use builtins::{EvalError, Ty, TypeId};
use types::Datum;

/// The scale with which a numeric is represented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A fixed scale.
    Scale(u8),
    /// The smallest exact scale.
    Shortest,
}

impl Form {
    /// The form of a type; `None` if it is not numeric.
    ///
    /// # Errors
    /// For arrays of numerics, whose elements have forms of their own.
    pub(crate) fn of(ty: Ty) -> Result<Option<Self>, WhyNot> {
        match (ty.id, ty.digits) {
            (TypeId::NUMERIC, Some((_, scale))) => Ok(Some(Self::Scale(scale))),
            (TypeId::NUMERIC, None) => Ok(Some(Self::Shortest)),
            (id, _) if id.element() == Some(TypeId::NUMERIC) => Err(WhyNot::Expression { what: "array of numerics" }),
            _ => Ok(None),
        }
    }

    /// Rescales the value.
    ///
    /// # Errors
    /// If the value does not fit with that scale.
    pub(crate) fn fit(self, value: Datum) -> Result<Datum, EvalError> {
        match (&value, self) {
            (Datum::Numeric(number), Self::Scale(scale)) if number.rescale(scale).is_none() => {
                Err(EvalError::OutOfRange { what: "numeric".to_owned() })
            }
            _ => Ok(self.apply(value)),
        }
    }

    /// Rescales the value. A value that does not fit stays unchanged, as in a plan.
    pub(crate) fn apply(self, value: Datum) -> Datum {
        match (value, self) {
            (Datum::Numeric(number), Self::Scale(scale)) => Datum::Numeric(number.rescale(scale).unwrap_or(number)),
            (Datum::Numeric(number), Self::Shortest) => Datum::Numeric(number.normalized()),
            (value, _) => value,
        }
    }
}
