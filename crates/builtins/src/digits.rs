//! Digits of numerics: the precision and the scale that all values of an expression have.
//!
//! A column `numeric(p,s)` has digits, and so has arithmetic of such columns. Values of an expression without digits
//! (`None`: `numeric` without precision, quotients, averages) print without trailing zeros. Both executors follow these
//! rules, so that a statement prints the same in either of them.

use crate::{Ty, TypeId};
use types::{Datum, NUMERIC_MAX_SCALE};

/// Precision and scale; `None` if every value has its own.
pub type Digits = Option<(u8, u8)>;

/// Maximum precision.
const MOST: u8 = 38;

/// Returns the digits of an integer type as an operand beside numerics.
pub fn of_integer(ty: TypeId) -> Digits {
    match ty {
        TypeId::INT2 => Some((5, 0)),
        TypeId::INT4 => Some((10, 0)),
        TypeId::INT8 => Some((20, 0)),
        _ => None,
    }
}

/// Returns the digits of the result of an operator's function, or of a similar one, for numeric arguments.
pub fn of_call(function: &str, args: &[Ty]) -> Digits {
    let forms: Vec<(u8, u8)> = args.iter().map(|ty| ty.digits).collect::<Option<_>>()?;
    match (function, forms.as_slice()) {
        ("numeric_add" | "numeric_sub", [a, b]) => form(whole(*a).max(whole(*b)) + 1, a.1.max(b.1)),
        ("numeric_mul", [a, b]) => match a.1.checked_add(b.1)? {
            scale if scale <= MOST => Some((a.0.saturating_add(b.0).saturating_add(1).min(MOST), scale)),
            _ => None,
        },
        ("numeric_mod", [a, b]) => form(whole(*a).min(whole(*b)), a.1.max(b.1)),
        ("numeric_uminus" | "numeric_uplus" | "numeric_abs", [a]) => Some(*a),
        _ => None,
    }
}

/// Returns the digits of a function whose constant arguments determine the scale: `round(x, 2)` has scale 2.
pub fn of_constants<'a>(function: &str, args: &[Ty], constant: &dyn Fn(usize) -> Option<&'a Datum>) -> Digits {
    let scale = match (function, args.len()) {
        ("round" | "trunc", 2) => match constant(1)? {
            Datum::Int4(digits) => u8::try_from((*digits).max(0)).ok().filter(|digits| *digits <= NUMERIC_MAX_SCALE)?,
            _ => return None,
        },
        ("round" | "trunc" | "ceil" | "ceiling" | "floor", 1) => 0,
        ("extract", 2) => match constant(0)? {
            Datum::Text(field) => of_field(field, args.get(1)?.id == TypeId::DATE)?,
            _ => return None,
        },
        _ => return None,
    };
    Some((MOST, scale))
}

/// Returns the scale of a field of a date or time.
fn of_field(field: &str, of_date: bool) -> Option<u8> {
    match field.to_ascii_lowercase().as_str() {
        "second" => Some(6),
        "milliseconds" => Some(3),
        "epoch" if !of_date => Some(6),
        _ => None,
    }
}

/// Returns the digits of an aggregate of numerics or bigints.
pub fn of_aggregate(function: &str, arg: Option<&Ty>, distinct: bool) -> Digits {
    let arg = arg?;
    let (precision, scale) = match arg.id {
        TypeId::INT8 if function == "sum" => (19, 0),
        _ => arg.digits?,
    };
    match function {
        "min" | "max" => Some((precision, scale)),
        "sum" if distinct && precision > MOST - 10 => None,
        "sum" => Some((precision.saturating_add(10).min(MOST), scale)),
        _ => None,
    }
}

/// Returns the digits that hold all values with the given digits.
pub fn common(all: impl IntoIterator<Item = Digits>) -> Digits {
    let mut all = all.into_iter();
    let first = all.next()??;
    all.try_fold(first, |a, b| {
        let b = b?;
        form(whole(a).max(whole(b)), a.1.max(b.1))
    })
}

/// Returns the number of digits before the decimal point.
fn whole(form: (u8, u8)) -> u8 {
    form.0.saturating_sub(form.1)
}

fn form(whole: u8, scale: u8) -> Digits {
    Some((whole.saturating_add(scale).min(MOST), scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numeric(digits: Digits) -> Ty {
        Ty { digits, ..Ty::plain(TypeId::NUMERIC) }
    }

    #[test]
    fn arithmetic_has_the_form_that_plans_give_it() {
        let (price, count) = (numeric(Some((10, 2))), numeric(of_integer(TypeId::INT4)));
        assert_eq!(of_call("numeric_mul", &[price, count]), Some((21, 2)));
        assert_eq!(of_call("numeric_add", &[price, count]), Some((13, 2)));
        assert_eq!(of_call("numeric_mod", &[price, count]), Some((10, 2)));
        assert_eq!(of_call("numeric_div", &[price, count]), None);
        assert_eq!(of_call("numeric_add", &[price, numeric(None)]), None);
        assert_eq!(of_aggregate("sum", Some(&price), false), Some((20, 2)));
        assert_eq!(of_aggregate("avg", Some(&price), false), None);
        assert_eq!(common([Some((10, 2)), Some((5, 4))]), Some((12, 4)));
    }
}
