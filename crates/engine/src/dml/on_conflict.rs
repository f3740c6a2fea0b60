//! What INSERT and UPSERT do with a row that is there already.

use super::arbiters::Arbiters;
use super::params::ParamTypes;
use super::row_exprs::{Exprs, Scope, Second, has_subquery};
use super::row_value::{Given, Rows};
use super::sequence_values::Taker;
use super::target::{Row, Target};
use super::update::compile_assignments;
use super::value::{Computed, Value};
use crate::Session;
use crate::error::{EngineResult, Fault, fail};
use catalog::Catalog;
use sql::{Conflict, ConflictAction, ConflictTarget, Insert, OnDuplicate};
use std::sync::Arc;
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
    exprs: Exprs,
    /// Which of `exprs` is the WHERE.
    filter: Option<usize>,
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
        matches!(self, Self::Update(update) if update.exprs.needs_context())
    }

    pub(crate) fn is_cacheable(&self) -> bool {
        match self {
            // The sequences' values are noted in the session that compiled it.
            Self::Update(update) => update.taker.is_none() && update.exprs.is_cacheable(),
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
        exprs: Exprs,
        filter: Option<usize>,
        once: bool,
        taker: Option<Taker>,
    ) -> Self {
        Self { assignments, exprs, filter, once, taker }
    }

    async fn apply(&self, target: &Target, old: &Row, new: &[Datum], scope: &Scope<'_>) -> EngineResult<Option<Row>> {
        let computed = self.exprs.eval(scope, old, Some(new)).await?;
        if let Some(filter) = self.filter
            && !matches!(computed.get(filter), Some(Datum::Bool(true)))
        {
            return Ok(None);
        }
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

impl Session {
    pub(crate) async fn compile_action(
        &mut self,
        catalog: &Arc<Catalog>,
        target: &Target,
        alias: &str,
        insert: &Insert,
        named: &[usize],
        params: &mut ParamTypes,
    ) -> EngineResult<(Action, Arbiters)> {
        let key = Arbiters::key;
        let mut computed = Computed::default();
        let (assignments, selection, arbiters) = match (&insert.on_conflict, &insert.on_duplicate) {
            (None, None) if insert.upsert => return Ok((upsert(target, named), key())),
            (None, None) => return Ok((Action::Refuse, key())),
            (_, Some(OnDuplicate::Ignore)) => return Ok((Action::Keep, key())),
            (_, Some(OnDuplicate::Update(assignments))) => {
                let assignments = compile_assignments(target, assignments, Rows::Own { alias }, params, &mut computed)?;
                if let Some((at, _)) = assignments.iter().find(|(at, _)| target.is_key(*at)) {
                    let column = target.column(*at).map(|column| column.name.clone()).unwrap_or_default();
                    return fail(Fault::KeyAssigned { column });
                }
                (assignments, None, None)
            }
            (Some(conflict), None) => {
                let arbiters = Arbiters::find(target, conflict)?;
                self.check_predicate(catalog, target, alias, conflict, params).await?;
                match &conflict.action {
                    ConflictAction::DoNothing => return Ok((Action::Keep, arbiters)),
                    ConflictAction::DoUpdate { assignments, selection } => {
                        let rows = Rows::OwnAndExcluded { alias };
                        let assignments = compile_assignments(target, assignments, rows, params, &mut computed)?;
                        (assignments, selection.as_ref(), Some(arbiters))
                    }
                }
            }
        };
        let once = arbiters.is_some();
        let filter = selection.map(|expr| computed.add(expr.clone()));
        let second = if once { Second::Excluded } else { Second::None };
        let exprs = self.row_exprs(catalog, target, alias, second, &computed.0, params).await?;
        let asks = assignments.iter().any(|(_, value)| matches!(value, Value::Next(_)));
        let taker = asks.then(|| Taker { engine: Arc::clone(&self.engine), taken: Arc::clone(&self.taken) });
        let update = Action::Update(Box::new(OnUpdate { assignments, exprs, filter, once, taker }));
        Ok((update, arbiters.unwrap_or_else(key)))
    }
}

impl Session {
    /// `ON CONFLICT (k) WHERE …`: a key holds all rows, so any predicate that means something will do.
    async fn check_predicate(
        &mut self,
        catalog: &Arc<Catalog>,
        target: &Target,
        alias: &str,
        conflict: &Conflict,
        params: &mut ParamTypes,
    ) -> EngineResult<()> {
        let Some(ConflictTarget::Columns { predicate: Some(predicate), .. }) = &conflict.target else { return Ok(()) };
        if has_subquery(predicate) {
            return fail(Fault::Unsupported { feature: "a subquery in an index predicate".to_owned() });
        }
        self.engine.planner().check_clause(predicate, "index predicates")?;
        self.row_exprs(catalog, target, alias, Second::None, std::slice::from_ref(predicate), params).await?;
        Ok(())
    }
}

/// Phoenix: a row that is there keeps the columns that are not named.
fn upsert(target: &Target, named: &[usize]) -> Action {
    let all = target.table.columns.iter().enumerate().all(|(at, column)| column.hidden || named.contains(&at));
    if all { Action::Replace } else { Action::Overwrite(named.to_vec()) }
}
