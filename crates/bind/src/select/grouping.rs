//! Grouping: keys and aggregate arguments are projected first, and the expressions above read columns only.

use super::group_keys::Groups;
use crate::binder::Binder;
use crate::call_error::AggregateError;
use crate::clause::Clause;
use crate::error::{BindError, BindErrorKind, BindResult};
use crate::same::{alike, same};
use crate::scope::ItemColumns;
use crate::tree::{AggCall, ColId, ColInfo, ColRef, ColSet, Key, Kind, Rel, Scalar, Span};
use builtins::{FuncId, Ty};
use sql::ast;
use std::collections::BTreeSet;

/// Maximum number of arguments of GROUPING: its result has a bit for each.
const MOST_GROUPING_ARGUMENTS: usize = 31;

/// An aggregate call whose arguments are not columns yet.
#[derive(Clone, Debug)]
pub(crate) struct PendingAggregate {
    /// The column of its result.
    pub(crate) col: Option<ColId>,
    pub(crate) func: FuncId,
    pub(crate) args: Vec<Scalar>,
    /// Direct arguments of an ordered-set aggregate.
    pub(crate) direct: Vec<Scalar>,
    pub(crate) distinct: bool,
    pub(crate) filter: Option<Scalar>,
    /// Value, descending, NULLs first.
    pub(crate) order: Vec<(Scalar, bool, bool)>,
    pub(crate) ty: Ty,
}

impl PendingAggregate {
    /// Do they compute the same value?
    pub(crate) fn same_as(&self, other: &Self) -> bool {
        let all = |a: &[Scalar], b: &[Scalar]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b));
        let filters = match (&self.filter, &other.filter) {
            (Some(a), Some(b)) => same(a, b),
            (None, None) => true,
            _ => false,
        };
        let orders = self.order.len() == other.order.len()
            && self.order.iter().zip(&other.order).all(|(a, b)| same(&a.0, &b.0) && (a.1, a.2) == (b.1, b.2));
        self.func == other.func
            && self.distinct == other.distinct
            && filters
            && orders
            && all(&self.args, &other.args)
            && all(&self.direct, &other.direct)
    }
}

/// A GROUPING call.
#[derive(Clone, Debug)]
pub(crate) struct PendingGrouping {
    /// The column of its result.
    pub(crate) col: ColId,
    pub(crate) args: Vec<Scalar>,
}

/// The columns that expressions above a grouping can read.
struct Grouped {
    /// Keys that are expressions, and their columns.
    computed: Vec<(Scalar, ColId)>,
    /// Columns of the grouping.
    cols: BTreeSet<ColId>,
    /// Columns that depend on a grouped primary key: they become keys if they are read.
    dependent: BTreeSet<ColId>,
}

impl Binder<'_> {
    /// Is it an aggregate of this query, or does it contain one?
    pub(super) fn is_aggregate(&self, value: &Scalar) -> bool {
        let aggregates = self.scopes.last().map_or(&[][..], |scope| &scope.aggregates);
        let mut found = match value.kind {
            Kind::Col(ColRef { id, level: 0 }) => aggregates.iter().any(|aggregate| aggregate.col == Some(id)),
            _ => false,
        };
        value.each_operand(&mut |operand| found = found || self.is_aggregate(operand));
        found
    }

    /// Groups rows, and makes the expressions above read the groups. `windows` are columns that are computed above
    /// them.
    pub(super) fn group(
        &mut self,
        rel: Rel,
        groups: &Groups,
        above: Vec<&mut Scalar>,
        windows: Vec<ColId>,
    ) -> BindResult<Rel> {
        let mut exprs: Vec<(ColId, Scalar)> = Vec::new();
        let mut grouped = Grouped { computed: Vec::new(), cols: BTreeSet::new(), dependent: BTreeSet::new() };
        let mut key_cols = Vec::with_capacity(groups.keys.len());
        for key in &groups.keys {
            let col = self.column_of("key", key, &mut exprs)?;
            if !matches!(key.kind, Kind::Col(ColRef { level: 0, .. })) {
                grouped.computed.push((key.clone(), col));
            }
            grouped.cols.insert(col);
            key_cols.push(col);
        }
        let mut calls = Vec::new();
        for pending in std::mem::take(&mut self.scope().aggregates) {
            let Some(col) = pending.col else { continue };
            grouped.cols.insert(col);
            calls.push((col, self.aggregate_call(pending, &mut exprs)?));
        }
        let groupings = self.groupings_of(groups, &key_cols)?;
        grouped.cols.extend(groupings.iter().map(|(col, _)| *col));
        // A group of a set without a table's key has many rows of the table.
        if groups.sets.is_empty() {
            grouped.dependent = self.dependent_columns(&grouped.cols)?;
        }
        let sets = self.sets_of(groups, &key_cols);
        let mut read = BTreeSet::new();
        let mut direct = std::mem::take(&mut self.scope().direct);
        for value in calls.iter_mut().flat_map(|(_, call)| &mut call.direct).chain(&mut direct) {
            self.regroup(value, &grouped, &mut read).map_err(direct_error)?;
        }
        grouped.cols.extend(windows);
        for value in above {
            self.regroup(value, &grouped, &mut read)?;
        }
        key_cols.extend(read);
        let input = match exprs.is_empty() {
            true => Box::new(rel),
            false => Box::new(Rel::Project { input: Box::new(rel), exprs }),
        };
        Ok(Rel::Aggregate { input, keys: key_cols, sets, calls, groupings })
    }

    /// Returns the grouping sets as columns. A column that a set lacks is NULL in its groups.
    fn sets_of(&mut self, groups: &Groups, key_cols: &[ColId]) -> Vec<ColSet> {
        let cols = |set: &Vec<usize>| set.iter().filter_map(|at| key_cols.get(*at)).copied().collect();
        let sets: Vec<ColSet> = groups.sets.iter().map(cols).collect();
        for col in key_cols {
            if sets.iter().any(|set| !set.contains(col))
                && let Some(info) = self.cols.get_mut(col.index())
            {
                info.nullable = true;
            }
        }
        sets
    }

    /// Binds `GROUPING(a, b)`.
    pub(crate) fn grouping_call(&mut self, list: &ast::FunctionArgumentList, span: Span) -> BindResult<Scalar> {
        let scope = self.scope();
        let (clause, nested) = (scope.clause, scope.in_aggregate);
        let above_groups = matches!(
            clause,
            Clause::SelectList | Clause::Having | Clause::OrderBy | Clause::DistinctOn | Clause::WindowDefinition
        );
        if !above_groups {
            return self.error(BindErrorKind::GroupingNotAllowed { clause }, span);
        }
        if nested {
            return self.error(BindErrorKind::NestedAggregate, span);
        }
        if list.args.is_empty() {
            return self.error(BindErrorKind::Syntax { message: "syntax error at or near \")\"" }, span);
        }
        if list.args.len() > MOST_GROUPING_ARGUMENTS {
            return self.error(BindErrorKind::TooManyGroupingArguments, span);
        }
        let args = self.arguments(list)?;
        let info = ColInfo { name: "grouping".to_owned(), ty: Ty::INT4, nullable: false, origin: None };
        let col = self.new_col(info)?;
        self.scope().groupings.push(PendingGrouping { col, args });
        Ok(Scalar { kind: Kind::Col(ColRef { id: col, level: 0 }), ty: Ty::INT4, span })
    }

    fn groupings_of(&mut self, groups: &Groups, key_cols: &[ColId]) -> BindResult<Vec<(ColId, Vec<ColId>)>> {
        let mut all = Vec::new();
        for PendingGrouping { col, args } in std::mem::take(&mut self.scope().groupings) {
            let mut of = Vec::with_capacity(args.len());
            for arg in &args {
                let at = groups.keys.iter().position(|key| same(key, arg));
                match at.and_then(|at| key_cols.get(at)) {
                    Some(key) => of.push(*key),
                    None => return self.error(BindErrorKind::GroupingArguments, arg.span),
                }
            }
            all.push((col, of));
        }
        Ok(all)
    }

    fn aggregate_call(&mut self, pending: PendingAggregate, exprs: &mut Vec<(ColId, Scalar)>) -> BindResult<AggCall> {
        let mut args = Vec::with_capacity(pending.args.len());
        for arg in &pending.args {
            args.push(self.column_of("argument", arg, exprs)?);
        }
        let filter = pending.filter.as_ref().map(|filter| self.column_of("filter", filter, exprs)).transpose()?;
        let mut order = Vec::with_capacity(pending.order.len());
        for (value, desc, nulls_first) in &pending.order {
            let col = self.column_of("order", value, exprs)?;
            order.push(Key { col, desc: *desc, nulls_first: *nulls_first });
        }
        let PendingAggregate { func, direct, distinct, ty, .. } = pending;
        Ok(AggCall { func, args, direct, distinct, filter, order, ty })
    }

    /// Returns the columns of tables whose whole primary key is grouped by.
    fn dependent_columns(&mut self, grouped: &BTreeSet<ColId>) -> BindResult<BTreeSet<ColId>> {
        let mut dependent = BTreeSet::new();
        let items = self.scope().items.clone();
        for item in items {
            let ItemColumns::Table { rel, .. } = item.columns else { continue };
            let Some(scanned) = self.scans.get(rel.0 as usize) else { continue };
            let (table, ids) = (&scanned.table, &scanned.ids);
            let is_grouped = |part: &catalog::KeyColumn| {
                let at = table.columns.iter().position(|column| column.id == part.column && column.not_null);
                let id = at.and_then(|at| ids.get(at).copied().flatten());
                id.is_some_and(|id| grouped.contains(&id))
            };
            if table.key_name.is_some() && table.key.iter().all(is_grouped) {
                dependent.extend(ids.iter().flatten());
            }
        }
        Ok(dependent)
    }

    /// Replaces keys by columns of the grouping; any other reference to an input column is an error.
    fn regroup(&self, value: &mut Scalar, grouped: &Grouped, read: &mut BTreeSet<ColId>) -> BindResult<()> {
        if let Some((_, col)) = grouped.computed.iter().find(|(key, _)| alike(key, value, &self.scans, &self.computed))
        {
            value.kind = Kind::Col(ColRef { id: *col, level: 0 });
            return Ok(());
        }
        match &value.kind {
            Kind::Col(ColRef { id, level: 0 }) => {
                if !self.is_grouped(*id, grouped, read) {
                    let column = self.shown_column(*id);
                    return self.error(BindErrorKind::Ungrouped { column }, value.span);
                }
                return Ok(());
            }
            Kind::Subquery(subquery) => {
                for col in subquery.free.iter().filter(|col| col.level == 0) {
                    if self.is_grouped(col.id, grouped, read) {
                        continue;
                    }
                    let column = self.shown_column(col.id);
                    return self.error(BindErrorKind::UngroupedOuter { column }, Span::default());
                }
            }
            _ => {}
        }
        let mut outcome = Ok(());
        value.each_operand_mut(&mut |operand| {
            if outcome.is_ok() {
                outcome = self.regroup(operand, grouped, read);
            }
        });
        outcome
    }

    fn is_grouped(&self, id: ColId, grouped: &Grouped, read: &mut BTreeSet<ColId>) -> bool {
        if grouped.cols.contains(&id) {
            return true;
        }
        let dependent = grouped.dependent.contains(&id);
        if dependent {
            read.insert(id);
        }
        dependent
    }

    /// Returns the column as messages name it: `t.a`.
    fn shown_column(&self, id: ColId) -> String {
        for item in self.scopes.last().map_or(&[][..], |scope| &scope.items) {
            let at = match &item.columns {
                ItemColumns::Named(columns) | ItemColumns::Computed { columns, .. } => {
                    columns.iter().position(|(_, col)| *col == id)
                }
                ItemColumns::Table { rel, .. } => {
                    let scanned = self.scans.get(rel.0 as usize);
                    scanned.and_then(|scanned| scanned.ids.iter().position(|col| *col == Some(id)))
                }
            };
            if let Some(name) = at.and_then(|at| self.column_name(item, at)) {
                return item.name.as_ref().map_or_else(|| name.to_owned(), |relation| format!("{relation}.{name}"));
            }
        }
        self.cols.get(id.index()).map(|info| info.name.clone()).unwrap_or_default()
    }
}

/// Converts the error for a direct argument of an ordered-set aggregate.
fn direct_error(error: BindError) -> BindError {
    match *error.kind {
        BindErrorKind::Ungrouped { column } => {
            BindError::new(AggregateError::UngroupedDirect { column }.into(), error.span)
        }
        kind => BindError { kind: Box::new(kind), ..error },
    }
}

pub(crate) fn holds_subquery(value: &Scalar) -> bool {
    let mut found = matches!(value.kind, Kind::Subquery(_));
    value.each_operand(&mut |operand| found = found || holds_subquery(operand));
    found
}
