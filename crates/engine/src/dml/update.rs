//! UPDATE.

use super::insert::set;
use super::key_match::KeyMatch;
use super::returning::Returning;
use super::row_exprs::{Exprs, Scope};
use super::row_source::RowSource;
use super::rows_changed::{Changes, Locked, StampRead};
use super::target::{FAMILY, Row, Target};
use super::value::{Given, Value};
use super::{MAX_ATTEMPTS, Outcome};
use crate::Session;
use crate::block::work::{ManyRows, Work};
use crate::error::EngineResult;
use crate::row_writer::{Change, NewRow, Old};
use query::{OutputColumn, Plan};
use std::collections::HashSet;
use std::sync::Arc;
use store::{Bytes, CommitNo};
use txn::LockMode;
use types::Datum;

/// A compiled UPDATE.
#[derive(Debug)]
pub(crate) struct UpdateProgram {
    pub(crate) target: Target,
    pub(super) assignments: Vec<(usize, Value)>,
    pub(crate) rows: Rows,
    /// Number of values that the row set computes; joined columns follow them.
    pub(super) computed: usize,
    pub(crate) returning: Option<Returning>,
}

/// The result of a row set query: row keys with the values computed for each, and the stamps that were read.
type RowSet = (Vec<(Bytes, Row)>, Vec<StampRead>);

/// A row given by its key.
#[derive(Debug)]
pub(crate) struct OneRow {
    pub(super) key: KeyMatch,
    /// The conditions other than those on the key, as one expression.
    pub(super) filter: Exprs,
    /// Values computed over the row, if the filter holds.
    pub(super) computed: Exprs,
}

/// The rows that a statement changes.
#[derive(Debug)]
pub(crate) enum Rows {
    /// The row with one key.
    Point(Box<OneRow>),
    /// The rows of a query that returns key columns, then computed values.
    Query {
        source: RowSource,
        /// Whether the conditions depend on the row alone: false with joins, subqueries and limits.
        own: bool,
    },
}

impl Rows {
    pub(crate) fn is_cacheable(&self) -> bool {
        match self {
            Self::Point(one) => one.filter.is_cacheable() && one.computed.is_cacheable(),
            Self::Query { source, .. } => source.plan.cacheable,
        }
    }

    pub(crate) fn needs_context(&self) -> bool {
        matches!(self, Self::Point(one) if one.filter.needs_context() || one.computed.needs_context())
    }

    /// The columns of the query that follow the key and `computed` computed values.
    pub(crate) fn columns_behind(&self, target: &Target, computed: usize) -> &[OutputColumn] {
        let first = target.codec.key_columns().len() + computed;
        self.plan().and_then(|plan| plan.columns.get(first..)).unwrap_or_default()
    }

    pub(crate) fn plan(&self) -> Option<&Arc<Plan>> {
        match self {
            Self::Query { source, .. } => Some(&source.plan),
            Self::Point(_) => None,
        }
    }
}

impl UpdateProgram {
    pub(crate) fn is_cacheable(&self) -> bool {
        self.rows.is_cacheable()
    }

    /// The lock mode for its rows.
    fn lock_mode(&self) -> LockMode {
        self.target.lock_mode(self.assignments.iter().map(|(at, _)| *at))
    }

    /// Builds the new row; the row writer checks its constraints.
    pub(super) fn new_row(&self, old: &[Datum], given: Given<'_>) -> EngineResult<NewRow> {
        let given = Given { own: old, ..given };
        let mut row = old.to_vec();
        for (at, value) in &self.assignments {
            set(&mut row, *at, value.get(&self.target, *at, &given)?);
        }
        NewRow::new(&self.target, row)
    }
}

impl Session {
    pub(crate) async fn update(
        &mut self,
        work: &mut Work,
        program: &UpdateProgram,
        scope: &Scope<'_>,
    ) -> EngineResult<Outcome> {
        let (params, mode) = (scope.params, program.lock_mode());
        let changes = match &program.rows {
            Rows::Point(one) => match self.point_row(work, &program.target, one, (scope, mode)).await? {
                Some((key, old, computed)) => {
                    let next = self.take_values_for(&program.assignments, 1).await?;
                    let given = Given { params, computed: &computed, next: Some(&next), ..Given::default() };
                    let new = Some(program.new_row(&old, given)?);
                    vec![(Change { old: Old::Row { key, row: old }, new }, Row::new())]
                }
                None => Vec::new(),
            },
            Rows::Query { source, own } => {
                let found = Box::pin(self.locked_rows(work, &program.target, source, *own, (params, mode))).await?;
                let Some(found) = found else {
                    return Box::pin(self.update_many(work, program, &source.plan, params)).await;
                };
                let next = self.take_values_for(&program.assignments, found.len()).await?;
                let new = |(key, old, mut computed): (Bytes, Row, Row)| {
                    let given = Given { params, computed: &computed, next: Some(&next), ..Given::default() };
                    let new = Some(program.new_row(&old, given)?);
                    let joined = computed.split_off(program.computed.min(computed.len()));
                    Ok((Change { old: Old::Row { key, row: old }, new }, joined))
                };
                found.into_iter().map(new).collect::<EngineResult<Vec<_>>>()?
            }
        };
        let mut outcome = Outcome::default();
        for (change, joined) in &changes {
            let new = change.new.as_ref().map(NewRow::row);
            new.inspect(|new| outcome.keep(program.returning.as_ref(), new, joined));
        }
        let changes = changes.into_iter().map(|(change, _)| change).collect();
        self.row_writer(work, &program.target).write_all(changes).await?;
        Ok(outcome)
    }

    /// Locks the row with that key and returns its newest state with its computed values.
    pub(crate) async fn point_row(
        &mut self,
        work: &mut Work,
        target: &Target,
        one: &OneRow,
        (scope, mode): (&Scope<'_>, LockMode),
    ) -> EngineResult<Option<(Bytes, Row, Vec<Datum>)>> {
        let Some(key) = one.key.key(target, scope.params)? else { return Ok(None) };
        self.row_writer(work, target).lock_row(&key, mode).await?;
        let Some(fragment) = work.newest(target.storage, FAMILY, &key).await? else { return Ok(None) };
        let old = target.decode(&key, &fragment)?;
        if !one.filter.holds(scope, &old, None).await? {
            return Ok(None);
        }
        let computed = one.computed.eval(scope, &old, None).await?;
        Ok(Some((key, old, computed)))
    }

    /// Locks the rows of a query and returns their newest state and computed values. Runs the query again if other
    /// transactions changed rows meanwhile. `None`: the rows do not fit in memory.
    ///
    /// A locked row cannot change, so the second run is the last: as in PostgreSQL it rechecks the locked rows and
    /// looks for no others. Further rows are locked, and may have changed in turn, only if a row may have moved to
    /// another key or the choice of rows depends on other rows.
    pub(crate) async fn locked_rows(
        &mut self,
        work: &mut Work,
        target: &Target,
        source: &RowSource,
        own: bool,
        (params, mode): (&[Datum], LockMode),
    ) -> EngineResult<Option<Vec<(Bytes, Row, Row)>>> {
        let mut changes = Changes { seen: self.last_commit, gone: false };
        let mut locked: HashSet<Bytes> = HashSet::new();
        let mut attempt = 0;
        loop {
            if attempt > 0 {
                self.engine.counters().retries.add(1);
            }
            let set = self.row_set(work, target, source, params, changes.seen).await?;
            let Some((mut found, mut read)) = set else { return Ok(None) };
            let any = attempt == 0 || (attempt < MAX_ATTEMPTS && (changes.gone || !own));
            if !any {
                let stays = |((key, _), _): &((Bytes, Row), StampRead)| locked.contains(key);
                (found, read) = found.into_iter().zip(read).filter(stays).unzip();
            }
            let keys: Vec<Bytes> = found.iter().map(|(key, _)| key.clone()).collect();
            match self.lock_row_set(work, target, (&keys, &read), mode).await? {
                Locked::Same(rows) => {
                    let all = found.into_iter().zip(rows);
                    return Ok(Some(all.filter_map(|((key, computed), old)| Some((key, old?, computed))).collect()));
                }
                Locked::Changed(found) => changes = found,
            }
            locked.extend(keys);
            attempt += 1;
        }
    }

    /// The rows of a query in a snapshot that includes commit `seen`: their keys, and the values after the key.
    /// `None` if they do not fit in memory and can be changed batch by batch ([`super::many_rows`]).
    async fn row_set(
        &mut self,
        work: &mut Work,
        target: &Target,
        source: &RowSource,
        params: &[Datum],
        seen: CommitNo,
    ) -> EngineResult<Option<RowSet>> {
        // This releases the memory of the previous attempt.
        let memory = self.hold_rows();
        work.rows = Some(Arc::clone(&memory));
        let view = work.view(self.engine.store().as_ref(), seen).await?;
        let found = match self.few_rows(source, &view, params).await? {
            Some(rows) => Some(rows),
            None => {
                let (context, plan, params) =
                    (self.query_context(view.clone()), Arc::clone(&source.plan), params.to_vec());
                match work.many_rows {
                    ManyRows::Refused => Some(self.collect(context, plan, params, memory).await?),
                    ManyRows::Streamed => self.collect_few(context, plan, params, memory).await?,
                }
            }
        };
        let Some(found) = found else { return Ok(None) };
        let width = target.codec.key_columns().len();
        let (mut keys, mut values) = (Vec::with_capacity(found.len()), Vec::with_capacity(found.len()));
        for mut row in found {
            let mut key = Vec::with_capacity(32);
            values.push(row.split_off(width.min(row.len())));
            target.codec.encode_key_values(&row, &mut key)?;
            keys.push(Bytes::from(key));
        }
        let read = self.stamps_read(work, target, &view, &keys).await?;
        Ok(Some((keys.into_iter().zip(values).collect(), read)))
    }
}
