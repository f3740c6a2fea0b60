//! SELECT … FOR UPDATE and other locking clauses: which tables of FROM are locked, and which columns are their keys.
//!
//! A locking clause applies to the tables of FROM, and through derived tables and views to the tables of their FROM.
//! The keys of the tables are columns of the query's rows: the nodes above a scan pass columns of their input on, and
//! queries with nodes that do not (grouping, DISTINCT, set operations) cannot be locked.

use crate::binder::Binder;
use crate::error::{BindErrorKind, BindResult};
use crate::select::holds_subquery;
use crate::tree::{Body, JoinKind, LockedRows, LockedTable, Output, Query, Rel, RelId, Scalar, Span};
use catalog::Table;
use sql::{LockingSelect, RowLock, RowLockStrength, RowLockWait, ast};
use std::sync::Arc;

/// A locking clause that applies to a SELECT.
#[derive(Clone, Debug)]
pub(crate) struct Locking {
    lock: RowLock,
    /// Is a query without lockable rows an error? Not if the clause reaches it through a derived table that it does not
    /// name.
    strict: bool,
}

/// A reference to a table whose rows are locked.
#[derive(Debug)]
pub(crate) struct LockedScan {
    table: Arc<Table>,
    rel: RelId,
    lock: Lock,
}

/// The combination of the locking clauses that apply to one relation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lock {
    strength: RowLockStrength,
    wait: RowLockWait,
    /// Is the relation named by OF, rather than locked with all others?
    named: bool,
}

impl Binder<'_> {
    pub(crate) fn statement_locking(&mut self, select: &LockingSelect) -> BindResult<Body> {
        let query = select.query.as_ref();
        self.pending_locks = select.locks.iter().map(|lock| Locking { lock: lock.clone(), strict: true }).collect();
        let rows = self.subquery_rows(query)?;
        let mut rel = rows.rel;
        let bounded = query.limit_clause.is_some() || query.fetch.is_some();
        let (limit, offset) = if bounded { self.take_limit(&mut rel, select)? } else { (None, None) };
        let outputs = rows.outputs.into_iter().map(|(name, col)| Output { col, name }).collect();
        let ctes = std::mem::take(&mut self.cte_bodies);
        let mut tables = Vec::new();
        for scan in std::mem::take(&mut self.locked) {
            let key = self.key_columns(&scan.table, scan.rel)?;
            let Lock { strength, wait, .. } = scan.lock;
            tables.push(LockedTable { table: scan.table, strength, wait, key });
        }
        let own = !bounded && ctes.is_empty() && tables.len() < 2 && is_one_scan(&rel);
        Ok(Body::Lock(Box::new(LockedRows { query: Query { ctes, rel, outputs }, tables, limit, offset, own })))
    }

    /// Removes LIMIT and OFFSET from a query: they count locked rows.
    fn take_limit(&self, rel: &mut Rel, select: &LockingSelect) -> BindResult<(Option<Scalar>, Option<Scalar>)> {
        match rel {
            Rel::Project { input, .. } => self.take_limit(input, select),
            Rel::Limit { ties, .. } if !ties.is_empty() => {
                let words = select.locks.first().map_or("FOR UPDATE", |lock| lock.strength.words());
                self.row_lock_error(format!("{words} is not allowed with WITH TIES"))
            }
            Rel::Limit { input, offset, count, .. } => {
                let bounds = (count.take(), offset.take());
                let inner = std::mem::replace(input.as_mut(), Rel::OneRow);
                *rel = inner;
                Ok(bounds)
            }
            _ => Ok((None, None)),
        }
    }

    /// Refuses locking clauses for a query that is not a SELECT.
    pub(crate) fn refuse_locks_of(&mut self, body: &ast::SetExpr) -> BindResult<()> {
        let Some(first) = self.pending_locks.first() else { return Ok(()) };
        let strength = first.lock.strength;
        match body {
            ast::SetExpr::SetOperation { .. } => self.not_allowed_with(strength, "UNION/INTERSECT/EXCEPT"),
            ast::SetExpr::Values(_) if first.strict => self.not_applied_to(strength, "VALUES"),
            ast::SetExpr::Values(_) => {
                self.pending_locks.clear();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Starts a SELECT: its scope takes over the locking clauses.
    pub(crate) fn begin_locks(&mut self, select: &ast::Select) -> BindResult<()> {
        let locks = std::mem::take(&mut self.pending_locks);
        let grouped = match &select.group_by {
            ast::GroupByExpr::All(_) => true,
            ast::GroupByExpr::Expressions(exprs, _) => !exprs.is_empty(),
        };
        let what = match () {
            () if select.distinct.is_some() => Some("DISTINCT clause"),
            () if grouped => Some("GROUP BY clause"),
            () if select.having.is_some() => Some("HAVING clause"),
            () => None,
        };
        if let (Some(what), Some(first)) = (what, locks.first()) {
            return self.not_allowed_with(first.lock.strength, what);
        }
        self.scope().locks = locks;
        Ok(())
    }

    /// Checks after FROM that the names of OF are in it.
    pub(crate) fn check_locks(&mut self) -> BindResult<()> {
        let scope = self.scope();
        let is_there = |name: &ast::Ident| scope.items.iter().any(|item| item.name.as_ref() == Some(&name.value));
        let absent = scope.locks.iter().find_map(|locking| {
            let name = locking.lock.of.iter().find(|name| !is_there(name))?;
            Some((name.clone(), locking.lock.strength.words()))
        });
        match absent {
            None => Ok(()),
            Some((name, clause)) => {
                let span = self.lines.span(name.span);
                self.error(BindErrorKind::LockedNotInFrom { name: name.value, clause }, span)
            }
        }
    }

    /// Checks after the output list that the rows are rows of tables, not of groups, windows or sets.
    pub(crate) fn check_locked_rows(&mut self) -> BindResult<()> {
        let scope = self.scope();
        let Some(strength) = scope.locks.first().map(|locking| locking.lock.strength) else { return Ok(()) };
        let what = match () {
            () if !scope.aggregates.is_empty() => "aggregate functions",
            () if !scope.windows.is_empty() => "window functions",
            () if !scope.sets.is_empty() => "set-returning functions in the target list",
            () => return Ok(()),
        };
        self.not_allowed_with(strength, what)
    }

    /// Returns the lock that the clauses of the innermost query put on a relation of its FROM.
    pub(crate) fn lock_of(&mut self, name: &str) -> Option<Lock> {
        let about =
            |locking: &&Locking| locking.lock.of.is_empty() || locking.lock.of.iter().any(|of| of.value == name);
        let lock = |locking: &Locking| {
            let RowLock { strength, wait, of } = &locking.lock;
            Lock { strength: *strength, wait: *wait, named: !of.is_empty() }
        };
        let stronger = |a: Lock, b: Lock| Lock {
            strength: a.strength.max(b.strength),
            wait: a.wait.max(b.wait),
            named: a.named || b.named,
        };
        self.scope().locks.iter().filter(about).map(lock).reduce(stronger)
    }

    /// Locks the rows of a table of FROM, if a clause applies to it.
    pub(crate) fn lock_table(&mut self, name: &str, table: &Arc<Table>, rel: RelId) -> BindResult<()> {
        let Some(lock) = self.lock_of(name) else { return Ok(()) };
        if table.materialized.is_some() {
            return self.error(BindErrorKind::LockedView { name: table.name.clone() }, Span::default());
        }
        self.locked.push(LockedScan { table: Arc::clone(table), rel, lock });
        Ok(())
    }

    /// Refuses a clause that names an item of FROM without rows of its own.
    pub(crate) fn refuse_lock(&mut self, name: &str, what: &str) -> BindResult<()> {
        match self.lock_of(name) {
            Some(lock) if lock.named => self.not_applied_to(lock.strength, what),
            _ => Ok(()),
        }
    }

    /// Refuses to lock the rows of a computed relation.
    pub(crate) fn refuse_computed_lock(&mut self, name: &str) -> BindResult<()> {
        match self.lock_of(name) {
            None => Ok(()),
            Some(lock) => self.unsupported(format!("{} of \"{name}\"", lock.strength.words())),
        }
    }

    /// Applies the clauses of a derived table or a view to the FROM of its query.
    pub(crate) fn lock_within(&mut self, name: &str, query: &ast::Query) -> BindResult<()> {
        let Some(Lock { strength, wait, named }) = self.lock_of(name) else { return Ok(()) };
        if wait == RowLockWait::Skip && (query.limit_clause.is_some() || query.fetch.is_some()) {
            return self.unsupported("SKIP LOCKED of a subquery with LIMIT");
        }
        self.pending_locks = vec![Locking { lock: RowLock { strength, of: Vec::new(), wait }, strict: named }];
        Ok(())
    }

    /// Refuses to lock tables on the nullable side of an outer join. The tables `left..right` are on its left side.
    pub(crate) fn refuse_nullable_locks(&self, kind: JoinKind, left: usize, right: usize) -> BindResult<()> {
        let on_left = matches!(kind, JoinKind::Right | JoinKind::Full).then(|| self.locked.get(left..right));
        let on_right = matches!(kind, JoinKind::Left | JoinKind::Full).then(|| self.locked.get(right..));
        match [on_left, on_right].into_iter().flatten().flatten().flatten().next() {
            None => Ok(()),
            Some(scan) => self.not_applied_to(scan.lock.strength, "the nullable side of an outer join"),
        }
    }

    fn not_allowed_with<T>(&self, strength: RowLockStrength, what: &str) -> BindResult<T> {
        self.row_lock_error(format!("{} is not allowed with {what}", strength.words()))
    }

    fn not_applied_to<T>(&self, strength: RowLockStrength, what: &str) -> BindResult<T> {
        self.row_lock_error(format!("{} cannot be applied to {what}", strength.words()))
    }

    fn row_lock_error<T>(&self, message: String) -> BindResult<T> {
        self.error(BindErrorKind::RowLock { message }, Span::default())
    }
}

/// Does it scan one table only, without subqueries?
fn is_one_scan(rel: &Rel) -> bool {
    match rel {
        Rel::Scan { .. } => true,
        Rel::Project { input, exprs } => !exprs.iter().any(|(_, value)| holds_subquery(value)) && is_one_scan(input),
        Rel::Filter { input, all } => !all.iter().any(holds_subquery) && is_one_scan(input),
        Rel::Sort { input, .. } => is_one_scan(input),
        _ => false,
    }
}
