//! SELECT: from FROM to its output columns.
//!
//! ```text
//!   FROM, WHERE ──> [keys and arguments ──> Aggregate ──> HAVING] ──> outputs ──> DISTINCT ──> ORDER BY
//! ```

mod frame;
mod group_keys;
mod grouping;
mod keys;
mod output;
mod sets;
mod window;

use group_keys::Groups;
pub(crate) use grouping::{PendingAggregate, PendingGrouping, holds_subquery};
pub(crate) use keys::Target;
pub(crate) use window::PendingWindow;

use crate::binder::Binder;
use crate::clause::Clause;
use crate::error::{BindErrorKind, BindResult};
use crate::same::{same, written_alike};
use crate::scalar::calls_volatile;
use crate::scope::Scope;
use crate::tree::{ColId, ColRef, Key, Kind, Rel, Scalar, Span};
use sql::ast;

/// Maximum number of columns of a row (PostgreSQL's `MaxTupleAttributeNumber`), those that only sort it included.
const MAX_ENTRIES: usize = 1664;

/// A query whose outputs may still be expressions over its rows.
#[derive(Debug)]
pub(crate) struct Selected {
    pub(crate) rel: Rel,
    pub(crate) outputs: Vec<(String, Scalar)>,
}

/// A key of ORDER BY or DISTINCT ON.
struct SortKey {
    target: Target,
    desc: bool,
    nulls_first: bool,
}

/// The expressions above a grouping.
struct Above<'s> {
    outputs: &'s mut Vec<(String, Scalar)>,
    order: &'s mut Vec<SortKey>,
    on: &'s mut Option<Vec<Target>>,
}

impl Binder<'_> {
    /// Binds a SELECT with its ORDER BY. If `untyped`, outputs may keep the type unknown, since the enclosing set
    /// operation or INSERT determines it.
    pub(crate) fn select(
        &mut self,
        select: &ast::Select,
        order_by: &[ast::OrderByExpr],
        untyped: bool,
    ) -> BindResult<Selected> {
        self.scopes.push(Scope::new());
        let bound = self.select_in_scope(select, order_by, untyped);
        self.last_query_items = self.scopes.pop().map(|scope| scope.items).unwrap_or_default();
        bound
    }

    fn select_in_scope(
        &mut self,
        select: &ast::Select,
        order_by: &[ast::OrderByExpr],
        untyped: bool,
    ) -> BindResult<Selected> {
        self.begin_locks(select)?;
        let mut rel = self.from(&select.from)?;
        self.check_locks()?;
        if let Some(condition) = &select.selection {
            let all = self.in_clause(Clause::Where, |binder| binder.conditions(condition, "WHERE"))?;
            rel = Rel::Filter { input: Box::new(rel), all };
        }
        self.name_windows(&select.named_window)?;
        let mut outputs = self.in_clause(Clause::SelectList, |binder| binder.outputs(&select.projection))?;
        let plain = select.distinct.is_none() && order_by.is_empty();
        if !(untyped && plain) {
            for (_, value) in &mut outputs {
                *value = self.output_type(value.clone())?;
            }
        }
        let groups = self.group_keys(&select.group_by, &outputs)?;
        let having = match &select.having {
            Some(condition) => self.in_clause(Clause::Having, |binder| binder.conditions(condition, "HAVING"))?,
            None => Vec::new(),
        };
        let mut order = self.sort_keys(order_by, &outputs)?;
        let beside = order.iter().filter(|key| matches!(key.target, Target::Expr(_))).count();
        if outputs.len() + beside > MAX_ENTRIES {
            return self.error(BindErrorKind::TooManyEntries { limit: MAX_ENTRIES }, Span::default());
        }
        let mut on = self.distinct_keys(select.distinct.as_ref(), &outputs)?;
        self.check_locked_rows()?;
        let scope = self.scope();
        let calls = !scope.aggregates.is_empty() || !scope.groupings.is_empty();
        let grouped = groups.has_group_by || calls || select.having.is_some();
        let above = Above { outputs: &mut outputs, order: &mut order, on: &mut on };
        rel = self.above_rows(rel, grouped, &groups, having, above)?;
        let selected = Selected { rel, outputs };
        match (select.distinct.as_ref(), plain) {
            (_, true) => Ok(selected),
            (distinct, false) => self.arrange(selected, distinct, on, order),
        }
    }

    /// Adds groups, HAVING, windows and sets above the rows of WHERE. Not inlined, to keep the recursive frame small.
    #[inline(never)]
    fn above_rows(
        &mut self,
        mut rel: Rel,
        grouped: bool,
        groups: &Groups,
        mut having: Vec<Scalar>,
        above: Above<'_>,
    ) -> BindResult<Rel> {
        let Above { outputs, order, on } = above;
        let mut windows = std::mem::take(&mut self.scope().windows);
        let mut of_windows: Vec<ColId> = windows.iter().map(|window| window.col).collect();
        let mut sets = std::mem::take(&mut self.scope().sets);
        rel = sets::with_sets(rel, sets::read_by(&mut sets, groups.keys.iter()));
        let read = windows.iter_mut().flat_map(PendingWindow::values_mut).map(|value| &*value);
        let mut window_sets = sets::read_by(&mut sets, read);
        of_windows.extend(sets::set_cols(&sets).into_iter().chain(sets::set_cols(&window_sets)));
        if grouped {
            let orders = order.iter_mut().map(|key| &mut key.target).chain(on.iter_mut().flatten());
            let extra = orders.filter_map(Target::expression);
            let inside = windows.iter_mut().flat_map(PendingWindow::values_mut);
            let inside = inside.chain(sets.iter_mut().chain(&mut window_sets).flat_map(|set| &mut set.args));
            let above = outputs.iter_mut().map(|(_, value)| value).chain(&mut having).chain(extra).chain(inside);
            rel = self.group(rel, groups, above.collect(), of_windows)?;
        }
        if !having.is_empty() {
            rel = Rel::Filter { input: Box::new(rel), all: having };
        }
        let rel = self.windowed(sets::with_sets(rel, window_sets), windows)?;
        Ok(sets::with_sets(rel, sets))
    }

    /// Applies DISTINCT and ORDER BY, and turns the outputs into columns.
    fn arrange(
        &mut self,
        selected: Selected,
        distinct: Option<&ast::Distinct>,
        on: Option<Vec<Target>>,
        order: Vec<SortKey>,
    ) -> BindResult<Selected> {
        let (mut rel, mut outputs, mut exprs) = (selected.rel, selected.outputs, Vec::new());
        let distinct_rows = matches!(distinct, Some(ast::Distinct::Distinct));
        let targets = order.iter().map(|key| &key.target).chain(on.iter().flatten());
        let read: Vec<usize> = targets.filter_map(Target::output).collect();
        let mut cols = Vec::with_capacity(outputs.len());
        for (at, (name, value)) in outputs.iter_mut().enumerate() {
            // As in PostgreSQL, volatile functions are called for the sorted rows.
            if !distinct_rows && !read.contains(&at) && calls_volatile(value) {
                cols.push(None);
                continue;
            }
            let col = self.column_of(name, value, &mut exprs)?;
            *value = Scalar { kind: Kind::Col(ColRef { id: col, level: 0 }), ty: value.ty, span: value.span };
            cols.push(Some(col));
        }
        let mut keys = Vec::with_capacity(order.len());
        for key in order {
            let (col, span) = self.target_col(key.target, &cols, &mut exprs, distinct_rows)?;
            self.ordering(self.col_ty(col), span)?;
            keys.push(Key { col, desc: key.desc, nulls_first: key.nulls_first });
        }
        let mut first_of = Vec::new();
        for target in on.into_iter().flatten() {
            first_of.push(self.target_col(target, &cols, &mut exprs, false)?);
        }
        if !exprs.is_empty() {
            rel = Rel::Project { input: Box::new(rel), exprs };
        }
        let input = Box::new(rel);
        rel = match distinct {
            Some(ast::Distinct::Distinct) => {
                let cols: Vec<ColId> = cols.into_iter().flatten().collect();
                for col in &cols {
                    self.equality(self.col_ty(*col), Default::default())?;
                }
                Rel::Distinct { input, on: cols, order: None }
            }
            Some(ast::Distinct::On(_)) => {
                self.check_distinct_on(&first_of, &keys)?;
                let on = first_of.into_iter().map(|(col, _)| col).collect();
                Rel::Distinct { input, on, order: Some(keys.clone()) }
            }
            Some(ast::Distinct::All) | None => *input,
        };
        if !keys.is_empty() {
            rel = Rel::Sort { input: Box::new(rel), keys };
        }
        Ok(Selected { rel, outputs })
    }

    /// Turns outputs with volatile functions into columns: below OFFSET they are computed for the skipped rows too.
    pub(crate) fn computed_below(&mut self, selected: Selected) -> BindResult<Selected> {
        let (Selected { mut rel, mut outputs }, mut exprs) = (selected, Vec::new());
        for (name, value) in outputs.iter_mut().filter(|(_, value)| calls_volatile(value)) {
            let id = self.column_of(name, value, &mut exprs)?;
            value.kind = Kind::Col(ColRef { id, level: 0 });
        }
        if !exprs.is_empty() {
            rel = Rel::Project { input: Box::new(rel), exprs };
        }
        Ok(Selected { rel, outputs })
    }

    /// Returns the column of a key: an output, or an expression beside the outputs.
    fn target_col(
        &mut self,
        target: Target,
        outputs: &[Option<ColId>],
        exprs: &mut Vec<(ColId, Scalar)>,
        only_outputs: bool,
    ) -> BindResult<(ColId, crate::tree::Span)> {
        match target {
            Target::Output(at, span) => match outputs.get(at).copied().flatten() {
                Some(col) => Ok((col, span)),
                None => Err(self.internal("an output that is out of range")),
            },
            Target::Expr(value) if only_outputs => self.error(BindErrorKind::DistinctOrder, value.span),
            Target::Expr(value) => {
                // A key of ORDER BY is the key of DISTINCT ON that is written alike, also if it is volatile.
                let known = exprs.iter().find(|(_, other)| written_alike(other, &value)).map(|(id, _)| *id);
                let col = known.map_or_else(|| self.column_of("order", &value, exprs), Ok)?;
                Ok((col, value.span))
            }
        }
    }

    /// Returns a column with that value: the column itself, one that is already computed, or a new one.
    pub(crate) fn column_of(
        &mut self,
        name: &str,
        value: &Scalar,
        exprs: &mut Vec<(ColId, Scalar)>,
    ) -> BindResult<ColId> {
        if let Kind::Col(ColRef { id, level: 0 }) = value.kind {
            return Ok(id);
        }
        if let Some((id, _)) = exprs.iter().find(|(_, other)| same(other, value)) {
            return Ok(*id);
        }
        let id = self.computed(name, value)?;
        exprs.push((id, value.clone()));
        Ok(id)
    }

    /// Checks that the keys of DISTINCT ON are the first ones of ORDER BY, in any order.
    fn check_distinct_on(&self, on: &[(ColId, crate::tree::Span)], order: &[Key]) -> BindResult<()> {
        let is_on = |key: &&Key| on.iter().any(|(col, _)| *col == key.col);
        let leading = order.iter().take_while(is_on).map(|key| key.col);
        let leading: std::collections::BTreeSet<ColId> = leading.collect();
        let missing = on.iter().find(|(col, _)| !leading.contains(col));
        let all = order.iter().map(|key| key.col).collect::<std::collections::BTreeSet<_>>().len();
        match missing {
            Some((_, span)) if leading.len() < all => self.error(BindErrorKind::DistinctOnOrder, *span),
            _ => Ok(()),
        }
    }
}
