//! Aggregates computed row by row: `count`, `min`, `max`, `sum` and `avg` of exact numbers, `bool_and`, `bool_or`,
//! `array_agg` and `string_agg`.
//! DataFusion alone computes the others: sums of floats depend on the order of rows, and intervals or arrays that
//! compare as equal can differ.

use crate::bodies::{WideSum, out_of_range, quotient, wrong};
use crate::{EvalError, FuncId, Function, Kind, Reason, TypeId, function};
use std::mem::size_of_val;
use types::{Datum, Decimal, Interval, compare};

/// One aggregate over one group.
pub trait Accumulator: Send {
    /// Adds a row's arguments. They may contain values that the aggregate ignores, such as NULLs.
    ///
    /// # Errors
    /// Errors of the aggregate's transition function, such as a sum out of range.
    fn add(&mut self, args: &[Datum]) -> Result<(), EvalError>;

    /// Returns the result so far.
    ///
    /// # Errors
    /// Errors of the aggregate's final function.
    fn finish(&mut self) -> Result<Datum, EvalError>;

    /// Returns the approximate memory in bytes.
    fn held_bytes(&self) -> usize;
}

/// Returns a new accumulator of an aggregate; `None` if only DataFusion computes the aggregate.
pub fn accumulator(id: FuncId) -> Option<Box<dyn Accumulator>> {
    let function = function(id).filter(|function| function.kind == Kind::Aggregate)?;
    Some(Box::new(Fold { state: initial(function)? }))
}

fn initial(function: &Function) -> Option<State> {
    use TypeId as T;
    Some(match (function.name, function.args.as_slice()) {
        ("count", [] | [T::ANY]) => State::Count { rows: function.args.is_empty(), count: 0 },
        ("min", [ty]) if has_plain_order(*ty) => State::Extreme { max: false, best: Datum::Null },
        ("max", [ty]) if has_plain_order(*ty) => State::Extreme { max: true, best: Datum::Null },
        ("sum", [T::INT2 | T::INT4]) => State::Integers { sum: None },
        ("sum", [T::INT8 | T::NUMERIC]) => State::Numerics { sum: WideSum::default(), count: 0, average: false },
        ("avg", [T::INT2 | T::INT4 | T::INT8 | T::NUMERIC]) => {
            State::Numerics { sum: WideSum::default(), count: 0, average: true }
        }
        ("sum", [T::INTERVAL]) => State::Intervals { sum: None },
        ("bool_and" | "every", [T::BOOL]) => State::Bools { all: true, result: None },
        ("bool_or", [T::BOOL]) => State::Bools { all: false, result: None },
        ("array_agg", [T::ANYNONARRAY]) => State::Items { items: None, bytes: 0 },
        ("string_agg", [T::TEXT, T::TEXT]) => State::Text { text: None },
        ("string_agg", [T::BYTEA, T::BYTEA]) => State::Bytes { joined: None },
        _ => return None,
    })
}

fn has_plain_order(ty: TypeId) -> bool {
    ty.element().is_none() && ty != TypeId::INTERVAL && !ty.is_polymorphic()
}

/// The state of an aggregate for a group.
enum State {
    Count { rows: bool, count: i64 },
    Extreme { max: bool, best: Datum },
    Integers { sum: Option<i64> },
    Numerics { sum: WideSum, count: i64, average: bool },
    Intervals { sum: Option<Interval> },
    Bools { all: bool, result: Option<bool> },
    Items { items: Option<Vec<Datum>>, bytes: usize },
    Text { text: Option<String> },
    Bytes { joined: Option<Vec<u8>> },
}

struct Fold {
    state: State,
}

impl Accumulator for Fold {
    fn add(&mut self, args: &[Datum]) -> Result<(), EvalError> {
        match (&mut self.state, args) {
            (State::Count { rows: true, count }, _) => *count += 1,
            (State::Items { items, bytes }, [item]) => {
                *bytes += item.memory_size();
                items.get_or_insert_default().push(item.clone());
            }
            (_, [Datum::Null, ..]) => {}
            (State::Count { count, .. }, _) => *count += 1,
            (State::Extreme { max, best }, [value]) => {
                let order = compare::compare(value, best);
                // Of equal values the last one is kept, as in PostgreSQL.
                if best.is_null() || if *max { order.is_ge() } else { order.is_le() } {
                    *best = value.clone();
                }
            }
            (State::Integers { sum }, [value]) => {
                let value = value.as_i64().ok_or_else(|| wrong(args))?;
                *sum = Some(sum.unwrap_or(0).checked_add(value).ok_or_else(|| out_of_range("bigint"))?);
            }
            (State::Numerics { sum, count, .. }, [value]) => {
                sum.add(decimal(value).ok_or_else(|| wrong(args))?)?;
                *count += 1;
            }
            (State::Intervals { sum }, [Datum::Interval(value)]) => {
                let range = || Reason::DateTime.because("interval out of range");
                *sum = Some(sum.unwrap_or_default().checked_add(*value).ok_or_else(range)?);
            }
            (State::Bools { all, result }, [Datum::Bool(value)]) => {
                let so_far = result.unwrap_or(*all);
                *result = Some(if *all { so_far && *value } else { so_far || *value });
            }
            (State::Text { text }, [Datum::Text(value), between]) => match (text, between) {
                (Some(text), Datum::Text(between)) => text.extend([between.as_str(), value]),
                (Some(text), _) => text.push_str(value),
                (text, _) => *text = Some(value.clone()),
            },
            (State::Bytes { joined }, [Datum::Bytes(value), between]) => match (joined, between) {
                (Some(joined), Datum::Bytes(between)) => joined.extend(between.iter().chain(value)),
                (Some(joined), _) => joined.extend(value),
                (joined, _) => *joined = Some(value.clone()),
            },
            _ => return Err(wrong(args)),
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<Datum, EvalError> {
        Ok(match &self.state {
            State::Count { count, .. } => Datum::Int8(*count),
            State::Extreme { best, .. } => best.clone(),
            State::Integers { sum } => sum.map_or(Datum::Null, Datum::Int8),
            State::Numerics { count: 0, .. } => Datum::Null,
            State::Numerics { sum, count, average: true } => Datum::Numeric(quotient(sum.total()?, (*count).into())?),
            State::Numerics { sum, .. } => Datum::Numeric(sum.total()?),
            State::Intervals { sum } => sum.map_or(Datum::Null, Datum::Interval),
            State::Bools { result, .. } => result.map_or(Datum::Null, Datum::Bool),
            State::Items { items, .. } => items.clone().map_or(Datum::Null, Datum::Array),
            State::Text { text } => text.clone().map_or(Datum::Null, Datum::Text),
            State::Bytes { joined } => joined.clone().map_or(Datum::Null, Datum::Bytes),
        })
    }

    fn held_bytes(&self) -> usize {
        size_of_val(self)
            + match &self.state {
                State::Items { bytes, .. } => *bytes,
                State::Text { text: Some(text) } => text.capacity(),
                State::Bytes { joined: Some(joined) } => joined.capacity(),
                State::Extreme { best, .. } => best.heap_size(),
                _ => 0,
            }
    }
}

fn decimal(value: &Datum) -> Option<Decimal> {
    match value {
        Datum::Numeric(value) => Some(*value),
        other => other.as_i64().map(Decimal::from),
    }
}
