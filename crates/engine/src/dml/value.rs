//! Sources of assigned values.

use super::elements::ElementChange;
use super::sequence_values::NextValues;
use super::target::Target;
use crate::error::{EngineResult, Fault, fail};
use catalog::TableOid;
use types::Datum;

/// The source of a column's new value.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// A constant of the column's type.
    Constant(Datum),
    /// `$n`, counted from 0.
    Param(usize),
    /// A column of the existing row.
    Own(usize),
    /// A column of `excluded`.
    Excluded(usize),
    /// The n-th of the statement's computed expressions.
    Computed(usize),
    /// The next value of a sequence.
    Next(TableOid),
    /// The existing array with some elements changed.
    Elements(Vec<ElementChange>),
}

/// Inputs of a [`Value`] in one execution; empty where there are none.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Given<'a> {
    pub(crate) params: &'a [Datum],
    /// Values of the computed expressions.
    pub(crate) computed: &'a [Datum],
    pub(crate) own: &'a [Datum],
    pub(crate) excluded: &'a [Datum],
    /// Sequence values.
    pub(crate) next: Option<&'a NextValues>,
}

/// Columns not in `given` that default to the next value of a sequence.
pub(crate) fn sequence_defaults(target: &Target, given: &[usize]) -> Vec<(usize, TableOid)> {
    let columns = target.table.columns.iter().enumerate().filter(|(at, _)| !given.contains(at));
    columns.filter_map(|(at, column)| column.sequence.map(|sequence| (at, sequence))).collect()
}

impl Value {
    /// Returns the value, cast to the type of column `at`.
    pub(crate) fn get(&self, target: &Target, at: usize, given: &Given<'_>) -> EngineResult<Datum> {
        match self {
            Self::Constant(value) => Ok(value.clone()),
            Self::Own(from) => target.assign(at, of_row(given.own, *from)?),
            Self::Excluded(from) => target.assign(at, of_row(given.excluded, *from)?),
            Self::Elements(changes) => {
                let own = given.own.get(at).cloned().unwrap_or(Datum::Null);
                changes.iter().try_fold(own, |array, change| change.apply(target, at, array, given))
            }
            Self::Next(sequence) => match given.next.and_then(|values| values.take(*sequence)) {
                Some(value) => target.assign(at, Datum::Int8(value)),
                None => fail(Fault::Internal { detail: "no value of a sequence".to_string() }),
            },
            Self::Param(index) => match given.params.get(*index) {
                Some(value) => target.assign(at, value.clone()),
                None => fail(Fault::NoSuchParameter { number: index + 1 }),
            },
            Self::Computed(index) => match given.computed.get(*index) {
                Some(value) => target.assign(at, value.clone()),
                None => fail(Fault::Internal { detail: format!("no computed value {index}") }),
            },
        }
    }
}

fn of_row(row: &[Datum], at: usize) -> EngineResult<Datum> {
    row.get(at).cloned().ok_or_else(|| Fault::Internal { detail: "a row without a value".to_string() }.into())
}
