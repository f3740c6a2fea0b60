//! What INSERT and UPSERT do with a row that is there already.

use super::row_exprs::{Exprs, Scope};
use super::sequence_values::Taker;
use super::target::{Row, Target};
use super::value::{Given, Value};
use crate::error::{EngineResult, Fault, fail};
use types::Datum;

/// What happens when the key is there.
#[derive(Debug)]
pub(crate) enum Action {
    /// 23505.
    Refuse,
    /// The old row stays.
    Keep,
    /// The new row replaces it, unread: all its columns are given.
    Replace,
    /// These columns are overwritten, the others keep their values.
    Overwrite(Vec<usize>),
    /// Assignments are evaluated over both rows.
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
    /// PostgreSQL refuses to update a row twice; Phoenix applies both in order.
    once: bool,
    /// Of values of sequences that the assignments ask for.
    taker: Option<Taker>,
}

/// A row that is there, and the one that wants in.
pub(crate) struct Existing<'r> {
    pub(crate) old: &'r Row,
    pub(crate) new: Row,
    /// Was the old one written by this statement?
    pub(crate) twice: bool,
}

impl Action {
    /// Is a new row only some columns of the one that it makes with an old one?
    pub(crate) fn completes_row(&self) -> bool {
        matches!(self, Self::Overwrite(_))
    }

    pub(crate) fn needs_context(&self) -> bool {
        matches!(self, Self::Update(update) if update.filter.needs_context() || update.computed.needs_context())
    }

    pub(crate) fn is_cacheable(&self) -> bool {
        match self {
            // The sequences' values are noted in the session that compiled it.
            Self::Update(update) => {
                update.taker.is_none() && update.filter.is_cacheable() && update.computed.is_cacheable()
            }
            _ => true,
        }
    }

    /// How EXPLAIN calls it.
    pub(crate) fn label(&self) -> Option<&'static str> {
        match self {
            Self::Refuse => None,
            Self::Keep => Some("NOTHING"),
            Self::Replace => Some("REPLACE"),
            Self::Overwrite(_) => Some("OVERWRITE"),
            Self::Update(_) => Some("UPDATE"),
        }
    }

    /// The row as it becomes; `None`: it stays.
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
        taker: Option<Taker>,
    ) -> Self {
        Self { assignments, computed, filter, once, taker }
    }

    /// The columns that it assigns to.
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
