//! Digits of numerics, as both executors show them: see `builtins::digits`.

use crate::WhyNot;
use builtins::{EvalError, Ty, TypeId};
use types::Datum;

/// How many digits behind its point a numeric is kept with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// So many.
    Scale(u8),
    /// As many as it needs.
    Shortest,
}

impl Form {
    /// That of a type; `None`: its values are no numerics.
    ///
    /// # Errors
    /// Arrays of numerics, whose elements have forms of their own.
    pub(crate) fn of(ty: Ty) -> Result<Option<Self>, WhyNot> {
        match (ty.id, ty.digits) {
            (TypeId::NUMERIC, Some((_, scale))) => Ok(Some(Self::Scale(scale))),
            (TypeId::NUMERIC, None) => Ok(Some(Self::Shortest)),
            (id, _) if id.element() == Some(TypeId::NUMERIC) => Err(WhyNot::Expression { what: "array of numerics" }),
            _ => Ok(None),
        }
    }

    /// The value in this form.
    ///
    /// # Errors
    /// No room for so many digits.
    pub(crate) fn fit(self, value: Datum) -> Result<Datum, EvalError> {
        match (&value, self) {
            (Datum::Numeric(number), Self::Scale(scale)) if number.rescale(scale).is_none() => {
                Err(EvalError::OutOfRange { what: "numeric".to_owned() })
            }
            _ => Ok(self.apply(value)),
        }
    }

    /// The value in this form. One that has no room for so many digits stays as it is, as it does in a plan.
    pub(crate) fn apply(self, value: Datum) -> Datum {
        match (value, self) {
            (Datum::Numeric(number), Self::Scale(scale)) => Datum::Numeric(number.rescale(scale).unwrap_or(number)),
            (Datum::Numeric(number), Self::Shortest) => Datum::Numeric(number.normalized()),
            (value, _) => value,
        }
    }
}
