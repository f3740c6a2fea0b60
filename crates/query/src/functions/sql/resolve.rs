//! Which overload a call means: PostgreSQL's rules for functions, for the types that are here.

use super::{Chosen, Forms, Overload};
use types::{DataType, ElementType};

/// What is known of an argument.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Argument {
    /// A quoted constant, NULL or a parameter: of whatever type is wanted.
    Unknown,
    /// Of this type.
    Known(DataType),
}

/// Of two arguments of which one is unknown, that is first taken for one of the other's type.
fn alike(overloads: &[Overload], arguments: &[Argument]) -> Option<(Overload, Vec<DataType>)> {
    let known = match arguments {
        [Argument::Known(ty), Argument::Unknown] | [Argument::Unknown, Argument::Known(ty)] => *ty,
        _ => return None,
    };
    let fits =
        |overload: &&Overload| overload.args.len() == 2 && overload.args.iter().all(|arg| kind(arg) == kind(&known));
    overloads.iter().find(fits).map(|overload| (*overload, overload.args.to_vec()))
}

/// The form that a call means; `None` when none fits.
pub(crate) fn resolve(forms: &Forms, arguments: &[Argument]) -> Option<Chosen> {
    match forms {
        Forms::Rule(rule) => rule(arguments),
        Forms::Overloads(overloads) => {
            let (overload, types) = match alike(overloads, arguments) {
                Some(chosen) => chosen,
                None => best(overloads, arguments).map(|(overload, types)| (*overload, types))?,
            };
            let Overload { returns, strict, body, .. } = overload;
            Some(Chosen { types, returns, strict, body })
        }
    }
}

fn best<'a>(overloads: &'a [Overload], arguments: &[Argument]) -> Option<(&'a Overload, Vec<DataType>)> {
    let candidates: Vec<(&Overload, Vec<DataType>)> = overloads
        .iter()
        .filter_map(|overload| Some((overload, parameter_types(overload, arguments.len())?)))
        .filter(|(_, wanted)| wanted.iter().zip(arguments).all(|(wanted, given)| accepts(wanted, given)))
        .collect();
    // The first of the best: overloads are listed with the preferred one in front.
    let mut best: Option<(u32, (&Overload, Vec<DataType>))> = None;
    for candidate in candidates {
        let score = candidate.1.iter().zip(arguments).map(|(wanted, given)| closeness(wanted, given)).sum();
        if best.as_ref().is_none_or(|(most, _)| score > *most) {
            best = Some((score, candidate));
        }
    }
    best.map(|(_, chosen)| chosen)
}

fn parameter_types(overload: &Overload, count: usize) -> Option<Vec<DataType>> {
    let fixed = overload.args.len();
    if count == fixed {
        return Some(overload.args.to_vec());
    }
    let last = overload.args.last().filter(|_| overload.variadic && count >= fixed)?;
    Some(overload.args.iter().copied().chain(std::iter::repeat_n(*last, count - fixed)).collect())
}

fn accepts(wanted: &DataType, given: &Argument) -> bool {
    match given {
        Argument::Unknown => true,
        Argument::Known(given) => kind(given) == kind(wanted) || widens(given, wanted),
    }
}

/// An exact type counts most, then the preferred type of its family; of unknown ones text is the best guess.
fn closeness(wanted: &DataType, given: &Argument) -> u32 {
    match given {
        Argument::Unknown if wanted.is_text() => 3,
        Argument::Unknown => u32::from(is_preferred(wanted)),
        Argument::Known(given) if kind(given) == kind(wanted) => 100,
        Argument::Known(_) if is_preferred(wanted) => 10,
        Argument::Known(_) => 1,
    }
}

fn is_preferred(ty: &DataType) -> bool {
    matches!(ty, DataType::Text | DataType::Double | DataType::TimestampTz(_) | DataType::Interval | DataType::Boolean)
}

/// The type without its parameters; all texts are one, all bytes are one.
fn kind(ty: &DataType) -> DataType {
    match ty {
        ty if ty.is_text() => DataType::Text,
        DataType::Array(ElementType::Varchar) => DataType::Array(ElementType::Text),
        ty => ty.unlimited(),
    }
}

/// PostgreSQL's implicit casts.
pub(crate) fn widens(from: &DataType, to: &DataType) -> bool {
    const NUMBERS: [fn(&DataType) -> bool; 6] = [
        |ty| *ty == DataType::SmallInt,
        |ty| *ty == DataType::Integer,
        |ty| *ty == DataType::BigInt,
        |ty| matches!(ty, DataType::Numeric(_)),
        |ty| *ty == DataType::Real,
        |ty| *ty == DataType::Double,
    ];
    let rank = |ty: &DataType| NUMBERS.iter().position(|is| is(ty));
    if let (Some(from), Some(to)) = (rank(from), rank(to)) {
        return from < to;
    }
    matches!(
        (from, to),
        (DataType::Date, DataType::Timestamp(_) | DataType::TimestampTz(_))
            | (DataType::Timestamp(_), DataType::TimestampTz(_))
            | (DataType::Time(_), DataType::Interval)
            // Wider than in PostgreSQL: numbers of objects are bigints to all functions.
            | (DataType::Oid, DataType::BigInt)
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::super::clocks::{TIMESTAMP, TIMESTAMPTZ};
    use super::super::strict;
    use super::*;
    use Argument::{Known, Unknown};
    use DataType::{Double, Integer, Numeric, SmallInt, Text};

    const ROUND: &[Overload] = &[
        strict(&[Double], Double, |_| Ok(types::Datum::Null)),
        strict(&[Numeric(None)], Numeric(None), |_| Ok(types::Datum::Null)),
        strict(&[Numeric(None), Integer], Numeric(None), |_| Ok(types::Datum::Null)),
    ];

    fn chosen(arguments: &[Argument]) -> Option<Vec<DataType>> {
        best(ROUND, arguments).map(|(_, types)| types)
    }

    #[test]
    fn integers_go_to_the_preferred_type_and_exact_types_win() {
        assert_eq!(chosen(&[Known(SmallInt)]), Some(vec![Double]));
        assert_eq!(chosen(&[Known(Numeric(Some((5, 2))))]), Some(vec![Numeric(None)]));
        assert_eq!(chosen(&[Unknown]), Some(vec![Double]));
        assert_eq!(chosen(&[Known(Integer), Known(Integer)]), Some(vec![Numeric(None), Integer]));
        assert_eq!(chosen(&[Known(Double), Known(Integer)]), None);
        assert_eq!(chosen(&[Known(Text)]), None);
    }

    #[test]
    fn casts_go_one_way() {
        assert!(widens(&TIMESTAMP, &TIMESTAMPTZ) && !widens(&TIMESTAMPTZ, &TIMESTAMP));
        assert!(widens(&Integer, &Double) && !widens(&Double, &Integer));
    }
}
