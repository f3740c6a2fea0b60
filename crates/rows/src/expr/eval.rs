//! Evaluates row expressions, with three-valued logic and SQL's short-circuit rules.

use super::operations::{compare_rows, element, extreme, in_list, is, print};
use super::{Callee, Comparison, Frame, RowExpr, Stop, SubqueryValue};
use builtins::EvalError;
use std::borrow::Cow;
use types::{Datum, coerce, compare, interrupt, text};

/// A value, borrowed from the frame or the expression if possible.
pub(super) type Value<'a> = Cow<'a, Datum>;

/// The largest number of arguments that are collected without an allocation.
const FEW: usize = 4;
/// The cost of a call, in units of `types::interrupt`.
const STEPS_OF_A_CALL: usize = 4;

impl RowExpr {
    /// Evaluates the expression for a row.
    ///
    /// # Errors
    /// Errors of functions and casts; [`Stop::Subquery`] if the rows of a subquery are needed.
    pub(crate) fn eval<'a>(&'a self, frame: &Frame<'a>) -> Result<Value<'a>, Stop> {
        Ok(match self {
            Self::Col(at) => Cow::Borrowed(value_at(frame.row, *at)?),
            Self::Outer(slot) => Cow::Borrowed(value_at(&frame.values.outer, *slot)?),
            Self::Param(at) => Cow::Borrowed(value_at(frame.values.params, *at)?),
            Self::Const(value) => Cow::Borrowed(value),
            Self::TransactionTime => Cow::Owned(Datum::TimestampTz(frame.values.env.transaction_time)),
            Self::Call(callee, args) => Cow::Owned(callee.call(args, frame)?),
            Self::Outside(_, body, args) => {
                let values =
                    args.iter().map(|arg| Ok(arg.eval(frame)?.into_owned())).collect::<Result<Vec<_>, Stop>>()?;
                interrupt::spend(cost(&values)).map_err(EvalError::from)?;
                Cow::Owned(body.call(&values)?)
            }
            Self::Compare(by, sides) => {
                truth(by.holds(sides.0.eval(frame)?.as_ref(), sides.1.eval(frame)?.as_ref(), frame)?)
            }
            Self::And(list) => truth(combined(false, list.iter().map(|item| item.truth(frame)))?),
            Self::Or(list) => truth(combined(true, list.iter().map(|item| item.truth(frame)))?),
            Self::Not(arg) => truth(arg.truth(frame)?.map(|value| !value)),
            Self::IsNull(arg) => truth(Some(arg.eval(frame)?.is_null())),
            Self::Is(arg, test) => truth(Some(is(arg.truth(frame)?, *test))),
            Self::Case(arms, other) => return case(arms, other.as_deref(), frame),
            Self::Coalesce(list) => return first_value(list, frame),
            Self::Extreme(max, by, list) => return extreme(*max, by, list, frame),
            Self::NullIf(by, args) => {
                let equal = by.holds(args.1.eval(frame)?.as_ref(), args.2.eval(frame)?.as_ref(), frame)?;
                if equal == Some(true) { Cow::Owned(Datum::Null) } else { args.0.eval(frame)? }
            }
            Self::Distinct(by, sides, negated) => {
                let (left, right) = (sides.0.eval(frame)?, sides.1.eval(frame)?);
                let equal = match (left.is_null(), right.is_null()) {
                    (false, false) => by.holds(&left, &right, frame)? == Some(true),
                    (left, right) => left && right,
                };
                truth(Some(equal == *negated))
            }
            Self::InList(by, arg, list, negated) => {
                let found = in_list(by, arg.eval(frame)?.as_ref(), list, frame)?;
                truth(found.map(|found| found != *negated))
            }
            Self::AnyArray(by, sides, all) => {
                let (left, array) = (sides.0.eval(frame)?, sides.1.eval(frame)?);
                truth(any_of_array(by, &left, &array, *all, frame)?)
            }
            Self::RowCompare(op, pairs) => truth(compare_rows(*op, pairs, frame)?),
            Self::Array(list) => {
                let items = list.iter().map(|item| Ok(item.eval(frame)?.into_owned())).collect::<Result<_, Stop>>()?;
                Cow::Owned(Datum::Array(items))
            }
            Self::Element(array, at) => Cow::Owned(element(array.eval(frame)?.as_ref(), at, frame)?),
            Self::Fit(ty, arg, explicit) => {
                let value = arg.eval(frame)?.into_owned();
                let fitted = if *explicit { coerce::cast(ty, value) } else { coerce::assign(ty, value) };
                Cow::Owned(fitted.map_err(EvalError::from)?)
            }
            Self::Print(ty, arg) => Cow::Owned(print(ty, arg.eval(frame)?.as_ref(), frame)),
            Self::Parse(ty, arg) => match arg.eval(frame)?.as_ref() {
                Datum::Text(text) => Cow::Owned(text::parse(ty, text).map_err(EvalError::from)?),
                Datum::Null => Cow::Owned(Datum::Null),
                _ => return Err(defect("a cast from text of another value")),
            },
            Self::Form(form, arg) => Cow::Owned(form.apply(arg.eval(frame)?.into_owned())),
            Self::Subquery(number, made) => return subquery(*number, made, frame),
        })
    }

    /// The value of a condition: `None` is NULL.
    ///
    /// # Errors
    /// Like [`Self::eval`].
    pub(crate) fn truth(&self, frame: &Frame<'_>) -> Result<Option<bool>, Stop> {
        match self.eval(frame)?.as_ref() {
            Datum::Bool(value) => Ok(Some(*value)),
            Datum::Null => Ok(None),
            _ => Err(defect("a condition that is not boolean")),
        }
    }
}

impl Callee {
    fn call(self, args: &[RowExpr], frame: &Frame<'_>) -> Result<Datum, Stop> {
        if args.len() > FEW {
            let values = args.iter().map(|arg| Ok(arg.eval(frame)?.into_owned())).collect::<Result<Vec<_>, Stop>>()?;
            return self.call_with(&values, frame);
        }
        let mut values = [const { Datum::Null }; FEW];
        for (value, arg) in values.iter_mut().zip(args) {
            *value = arg.eval(frame)?.into_owned();
        }
        self.call_with(values.get(..args.len()).unwrap_or_default(), frame)
    }

    fn call_with(self, values: &[Datum], frame: &Frame<'_>) -> Result<Datum, Stop> {
        if self.strict && values.iter().any(Datum::is_null) {
            return Ok(Datum::Null);
        }
        interrupt::spend(cost(values)).map_err(EvalError::from)?;
        Ok((self.body)(frame.values.env, values)?)
    }
}

impl Comparison {
    /// Does the comparison hold for the two values?
    pub(super) fn holds(self, left: &Datum, right: &Datum, frame: &Frame<'_>) -> Result<Option<bool>, Stop> {
        match self {
            Self::Inline(_) if left.is_null() || right.is_null() => Ok(None),
            Self::Inline(op) => Ok(Some(op.matches(compare::compare(left, right)))),
            Self::Call(callee) => match callee.call_with(&[left.clone(), right.clone()], frame)? {
                Datum::Bool(value) => Ok(Some(value)),
                Datum::Null => Ok(None),
                _ => Err(defect("a comparison that is not boolean")),
            },
        }
    }
}

/// The cost of a call with these values.
fn cost(values: &[Datum]) -> usize {
    STEPS_OF_A_CALL + values.iter().map(length).sum::<usize>() / 8
}

/// The length of a text or byte string.
fn length(value: &Datum) -> usize {
    match value {
        Datum::Text(text) => text.len(),
        Datum::Bytes(bytes) => bytes.len(),
        _ => 0,
    }
}

pub(super) fn defect(detail: &str) -> Stop {
    Stop::Error(EvalError::Internal { detail: detail.to_owned() })
}

fn value_at(values: &[Datum], at: usize) -> Result<&Datum, Stop> {
    values.get(at).ok_or_else(|| defect("a place outside of the row"))
}

fn truth(value: Option<bool>) -> Value<'static> {
    Cow::Owned(value.map_or(Datum::Null, Datum::Bool))
}

/// AND of the truth values; OR if `decides` is true. A value equal to `decides` ends the evaluation; otherwise a NULL
/// makes the result NULL.
pub(super) fn combined(
    decides: bool,
    truths: impl Iterator<Item = Result<Option<bool>, Stop>>,
) -> Result<Option<bool>, Stop> {
    let mut known = Some(!decides);
    for truth in truths {
        match truth? {
            Some(truth) if truth == decides => return Ok(Some(decides)),
            Some(_) => {}
            None => known = None,
        }
    }
    Ok(known)
}

fn case<'a>(arms: &'a [(RowExpr, RowExpr)], other: Option<&'a RowExpr>, frame: &Frame<'a>) -> Result<Value<'a>, Stop> {
    for (when, then) in arms {
        if when.truth(frame)? == Some(true) {
            return then.eval(frame);
        }
    }
    other.map_or(Ok(Cow::Owned(Datum::Null)), |other| other.eval(frame))
}

fn first_value<'a>(list: &'a [RowExpr], frame: &Frame<'a>) -> Result<Value<'a>, Stop> {
    for item in list {
        let value = item.eval(frame)?;
        if !value.is_null() {
            return Ok(value);
        }
    }
    Ok(Cow::Owned(Datum::Null))
}

/// ANY, or ALL, over the results of comparisons.
fn quantified(outcomes: impl Iterator<Item = Result<Option<bool>, Stop>>, all: bool) -> Result<Option<bool>, Stop> {
    let mut known = Some(all);
    for outcome in outcomes {
        match outcome? {
            Some(value) if value != all => return Ok(Some(value)),
            Some(_) => {}
            None => known = None,
        }
    }
    Ok(known)
}

fn any_of_array(
    by: &Comparison,
    left: &Datum,
    array: &Datum,
    all: bool,
    frame: &Frame<'_>,
) -> Result<Option<bool>, Stop> {
    /// The elements of all dimensions.
    fn leaves<'a>(items: &'a [Datum], into: &mut Vec<&'a Datum>) {
        for item in items {
            match item {
                Datum::Array(items) => leaves(items, into),
                item => into.push(item),
            }
        }
    }
    let Datum::Array(items) = array else { return Ok(None) };
    let mut flat = Vec::with_capacity(items.len());
    leaves(items, &mut flat);
    quantified(flat.into_iter().map(|item| by.holds(left, item, frame)), all)
}

fn subquery<'a>(number: usize, made: &'a SubqueryValue, frame: &Frame<'a>) -> Result<Value<'a>, Stop> {
    let rows = frame.values.answers.get(number).and_then(Option::as_ref).ok_or(Stop::Subquery(number))?;
    match made {
        SubqueryValue::Scalar => {
            Ok(rows.first().and_then(|row| row.first()).map_or(Cow::Owned(Datum::Null), Cow::Borrowed))
        }
        SubqueryValue::Exists => Ok(truth(Some(!rows.is_empty()))),
        SubqueryValue::Array => {
            let items = rows.iter().filter_map(|row| row.first().cloned()).collect();
            Ok(Cow::Owned(Datum::Array(items)))
        }
        SubqueryValue::Quantified(left, all) => {
            if rows.is_empty() {
                return Ok(truth(Some(*all)));
            }
            let values =
                left.iter().map(|(by, expr)| Ok((*by, expr.eval(frame)?))).collect::<Result<Vec<_>, Stop>>()?;
            let outcomes = rows.iter().map(|row| row_holds(&values, row, *all, frame));
            Ok(truth(quantified(outcomes, *all)?))
        }
    }
}

/// Do all comparisons of a row hold, or with `differs`, does one of them?
fn row_holds(
    left: &[(Comparison, Value<'_>)],
    row: &[Datum],
    differs: bool,
    frame: &Frame<'_>,
) -> Result<Option<bool>, Stop> {
    let mut known = Some(!differs);
    for ((by, left), right) in left.iter().zip(row) {
        match by.holds(left, right, frame)? {
            Some(holds) if holds == differs => return Ok(Some(differs)),
            Some(_) => {}
            None => known = None,
        }
    }
    Ok(known)
}
