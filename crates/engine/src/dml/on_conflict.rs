//! Conflict actions of INSERT and UPSERT.

use super::row_exprs::{Exprs, Scope};
use super::sequence_values::SequenceSource;
use super::target::{Row, Target};
use super::value::{Given, Value};
use crate::error::{EngineResult, Fault, fail};
use types::Datum;

/// The action on a conflict.
#[derive(Debug)]
pub(crate) enum Action {
    /// Raises 23505.
    Refuse,
    /// Keeps the existing row.
    Keep,
    /// Replaces the existing row, whose values are not needed because all columns are given.
    Replace,
    /// Overwrites these columns; the others keep their values.
    Overwrite(Vec<usize>),
    /// Evaluates assignments over the existing and the new row.
    Update(Box<OnUpdate>),
}

/// DO UPDATE SET, ON DUPLICATE KEY UPDATE.
#[derive(Debug)]
pub(crate) struct OnUpdate {
    assignments: Vec<(usize, Value)>,
    /// Values computed for the assignments.
    computed: Exprs,
    /// The WHERE, as one expression.
    filter: Exprs,
    /// Whether updating a row twice is an error, as in PostgreSQL; Phoenix applies both updates in order.
    once: bool,
    /// Source of the sequence values that the assignments take.
    taker: Option<SequenceSource>,
}

/// The existing row, and the row to insert.
pub(crate) struct Existing<'r> {
    pub(crate) old: &'r Row,
    pub(crate) new: Row,
    /// Whether this statement wrote the existing row.
    pub(crate) twice: bool,
}

impl Action {
    /// Whether an inserted row holds only some columns, and the existing row provides the others.
    pub(crate) fn inserts_partial_row(&self) -> bool {
        matches!(self, Self::Overwrite(_))
    }

    pub(crate) fn needs_context(&self) -> bool {
        matches!(self, Self::Update(update) if update.filter.needs_context() || update.computed.needs_context())
    }

    pub(crate) fn is_cacheable(&self) -> bool {
        match self {
            // The taker records sequence values in the session that compiled the statement.
            Self::Update(update) => {
                update.taker.is_none() && update.filter.is_cacheable() && update.computed.is_cacheable()
            }
            _ => true,
        }
    }

    /// The action's name in EXPLAIN.
    pub(crate) fn label(&self) -> Option<&'static str> {
        match self {
            Self::Refuse => None,
            Self::Keep => Some("NOTHING"),
            Self::Replace => Some("REPLACE"),
            Self::Overwrite(_) => Some("OVERWRITE"),
            Self::Update(_) => Some("UPDATE"),
        }
    }

    /// Applies the action to the existing row. `None` keeps it.
    pub(crate) async fn merge(
        &self,
        target: &Target,
        rows: Existing<'_>,
        scope: &Scope<'_>,
    ) -> EngineResult<Option<Row>> {
        let Existing { old, new, twice } = rows;
        match self {
            Self::Refuse | Self::Keep => Ok(None),
            Self::Replace => Ok(Some(new)),
            Self::Overwrite(columns) => {
                let mut merged = old.clone();
                for at in columns {
                    if let (Some(slot), Some(value)) = (merged.get_mut(*at), new.get(*at)) {
                        slot.clone_from(value);
                    }
                }
                Ok(Some(merged))
            }
            Self::Update(update) => {
                if update.once && twice {
                    return fail(Fault::RowTwice);
                }
                update.apply(target, old, &new, scope).await
            }
        }
    }
}

impl OnUpdate {
    pub(super) fn new(
        assignments: Vec<(usize, Value)>,
        computed: Exprs,
        filter: Exprs,
        once: bool,
        taker: Option<SequenceSource>,
    ) -> Self {
        Self { assignments, computed, filter, once, taker }
    }

    /// The assigned columns.
    pub(super) fn columns(&self) -> impl Iterator<Item = usize> {
        self.assignments.iter().map(|(at, _)| *at)
    }

    async fn apply(&self, target: &Target, old: &Row, new: &[Datum], scope: &Scope<'_>) -> EngineResult<Option<Row>> {
        if !self.filter.holds(scope, old, Some(new)).await? {
            return Ok(None);
        }
        let computed = self.computed.eval(scope, old, Some(new)).await?;
        let next = match &self.taker {
            Some(taker) => Some(taker.take_for(&self.assignments).await?),
            None => None,
        };
        let given = Given { params: scope.params, computed: &computed, own: old, excluded: new, next: next.as_ref() };
        let mut row = old.clone();
        for (at, value) in &self.assignments {
            super::insert::set(&mut row, *at, value.get(target, *at, &given)?);
        }
        Ok(Some(row))
    }
}
